"""``dialgauge compare`` of stored runs and of printed scores."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dialgauge import Dialogue, score
from support.commands import Outcome, dialgauge
from support.trackers import gold_dialogues, tracker

#: Share of errors of each system.
SYSTEMS = {"good": 0.05, "bad": 0.4, "alike": 0.06}


def store_systems(folder: Path, gold: list[Dialogue], systems: dict[str, list[Dialogue]]) -> None:
    score(gold, systems, measures="JGA,SA,RSA,F1,AGA,FGA@0.5,FGA@1", intervals=False).save(folder)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with a run of each system."""
    gold = gold_dialogues()
    systems = {name: tracker(gold, error, seed) for seed, (name, error) in enumerate(SYSTEMS.items())}
    store_systems(tmp_path / "runs", gold, systems)
    return tmp_path / "runs"


def compared(capsys: pytest.CaptureFixture[str], store: Path, *words: object) -> Outcome:
    return dialgauge(capsys, "compare", *words, "--store", store, "--resamples", 300)


def test_files_have_everything_that_was_asked_for(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ("--json", tmp_path / "all.json", "--table", tmp_path / "all.tex", "--figures", tmp_path / "drawn")
    assert compared(capsys, store, *SYSTEMS, "-m", "JGA,RSA", "--all", *files).code == 0
    document: dict[str, Any] = json.loads((tmp_path / "all.json").read_text())
    assert [run["name"] for run in document["runs"]] == list(SYSTEMS)
    tables = document["page"]["tables"]
    assert len(tables["differences"]["rows"]) == 6
    ranks = {row["system"]: row["JGA"] for row in tables["ranks"]["rows"]}
    assert ranks == {"good": "1-2", "alike": "1-2", "bad": "3"}
    assert r"\toprule" in (tmp_path / "all.tex").read_text()
    assert (tmp_path / "drawn" / "sweep.svg").read_bytes().startswith(b"<svg")


def test_the_hash_seed_does_not_matter(store: Path) -> None:
    """Two processes with different hash seeds write the same bytes."""
    words = ["compare", *SYSTEMS, "--store", str(store), "--resamples", "200", "--all", "--json", "-"]
    outputs = [
        subprocess.run(
            [sys.executable, "-m", "dialgauge", *words],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]


def test_an_incomplete_run_is_named_first_and_is_exit_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = gold_dialogues()
    systems = {"whole": tracker(gold, 0.05, 1), "short": tracker(gold, 0.4, 2)[9:]}
    store_systems(tmp_path / "runs", gold, systems)
    outcome = compared(capsys, tmp_path / "runs", *systems, "-m", "JGA")
    assert outcome.code == 1
    warnings = outcome.out.partition("Scores")[0].replace("\n", " ")
    assert "short lacks 9 of 40 dialogues." in warnings
    assert "All systems are compared on the 31 dialogues that all of them have, which moves JGA: whole" in warnings


def test_printed_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, written = tmp_path / "systems.csv", tmp_path / "out.csv"
    source.write_text("system,JGA,BLEU\na,0.25,18.0\nb,75%,17.0\n")
    shown = dialgauge(capsys, "compare", "--printed", source, "--table", written).out
    assert re.search(r"^JGA +2 +50\.00 +25\.00 +35\.36 +25\.00 +75\.00 +50\.00$", shown, re.MULTILINE), shown
    assert re.search(r"^BLEU +2 +17\.50 +0\.50 ", shown, re.MULTILINE)
    assert "JGA,2,0.5,0.25," in written.read_text()
    refused = dialgauge(capsys, "compare", "some-run", "--printed", source, "--seed", 2).err
    assert "RUN RUN..., --seed" in refused
