"""One system and what people said of its dialogues."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dialgauge
from dialgauge.report import run_page
from dialgauge.tracking import write_rating_sheets
from support.commands import dialgauge as command
from support.doc_pages import DOCS

pytestmark = pytest.mark.usefixtures("own_folder")


def _talks(rng: np.random.Generator, dialogues: int) -> tuple[dict[str, list[dict[str, str]]], ...]:
    """Gold states that grow by a slot a turn, and predictions that go wrong in a turn and stay so, or not at all."""
    gold = {f"d{n}": [{f"hotel-s{i}": "x" for i in range(turn + 1)} for turn in range(8)] for n in range(dialogues)}
    predicted = {}
    for name, states in gold.items():
        first = int(rng.integers(0, 12))
        predicted[name] = [
            {slot: "y" if first < 8 and slot == f"hotel-s{first}" else value for slot, value in state.items()}
            for state in states
        ]
    return gold, predicted


def test_the_rate_behind_the_ratings_is_found(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    gold, predicted = _talks(rng, 150)
    options = {"measures": "JGA,FGA@0.4", "profile": "verbatim", "intervals": False}
    run = dialgauge.score(gold, {"mine": predicted}, **options)["mine"]  # type: ignore[arg-type]
    fga = run.table("dialogue_scores").filter(measure="FGA@0.4")
    lines = ["dialogue,rater,rating"]
    for name, num, den in fga.select("dialogue", "num", "den").iter_rows():
        lines += [f"{name},r{rater},{num / den + rng.normal(0, 0.02):.4f}" for rater in range(3)]
    (tmp_path / "ratings.csv").write_text("\n".join(lines) + "\n")
    run = dialgauge.score(gold, {"mine": predicted}, ratings=tmp_path / "ratings.csv", **options)[0]  # type: ignore[arg-type]
    facts = {row["fact"]: row for row in run.table("rating_facts").rows(named=True)}
    fit = facts["fitted lambda"]
    assert fit["low"] <= 0.4 <= fit["high"] and fit["high"] - fit["low"] < 0.5
    assert facts["Pearson's correlation at the fitted lambda"]["value"] > 0.97
    jga, forgiving = run.table("rating_correlations").filter(kind="pearson").rows(named=True)
    assert forgiving["behind"] is None and jga["behind_low"] > 0, "JGA falls short of the measure behind the ratings"
    assert forgiving["low"] <= forgiving["mean"] <= forgiving["high"]
    assert "goes with these ratings best at" in run_page(run, ["ratings"]).tables["ratings"].answer


def test_sheets_are_drawn_by_a_seed_scored_again_and_rated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold, careful = (DOCS / "examples" / f"{name}.jsonl" for name in ("gold", "careful"))
    folder = tmp_path / "sheets"
    first = dialgauge.score(gold, careful, profile="verbatim", measures="JGA", intervals=False)
    write_rating_sheets(first.runs, folder, dialogues=2, raters=2)
    table = (folder / "ratings.csv").read_text().splitlines()
    assert len(table) == 1 + 2 * 2 and table[0].startswith("dialogue,system,rater,rating,question,scale")
    sheets = sorted(folder.glob("*.txt"))
    again = dialgauge.score(None, [str(path) for path in sheets], profile="verbatim", measures="JGA", intervals=False)
    matched = [line for path in sheets for line in path.read_text().splitlines() if line.startswith("Matched")]
    assert sum("True" in line for line in matched) > 0 and len(sheets) == 2
    assert [run["JGA"].n for run in again.values()] == [1, 1] and first["careful"]["JGA"].n == 3
    options = ("--ratings", folder / "ratings.csv", "--no-store")
    assert "holds no ratings" in command(capsys, "score", gold, careful, *options).err
    filled = [line.replace(",,Would", f",{place % 2},Would") for place, line in enumerate(table)]
    (folder / "ratings.csv").write_text("\n".join(filled) + "\n")
    rated = command(capsys, "score", gold, careful, *options)
    assert rated.code == 0 and "4 ratings of 2 dialogues by 2 raters" in " ".join(rated.out.split())
