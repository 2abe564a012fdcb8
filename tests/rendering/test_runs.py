"""A run as tables."""

from __future__ import annotations

import polars

from dialgauge.dialogue import Dialogue
from dialgauge.measures import Score
from dialgauge.rendering import run_tables, score_column
from dialgauge.runs import Run, new_run
from runs.contract import scores_of


def a_run() -> Run:
    return new_run(
        kind="juggling",
        name="<b>clubs</b>",
        scores=scores_of(["d1", "d2"], {"JGA": ([1.0, 2.0], [2.0, 2.0])}),
        corpus=[Dialogue(id="d1", turns=()), Dialogue(id="d2", turns=())],
        tables={"throws": polars.DataFrame({"dialogue": ["d1"]})},
        config={"a": {"b": "|".join(f"part{place}:value" for place in range(30))}},
        notes=["five clubs"],
    )


def test_the_column_of_a_score_knows_its_scale() -> None:
    share, turns = Score(value=0.5, unit="share", higher_is_better=True), Score(value=5.0, unit="turns")
    assert score_column("", share).text(0.5) == "50.00"
    assert score_column("", turns).text(5.0) == "5.0000"


def test_everything_the_manifest_says_fits_a_screen() -> None:
    tables = run_tables(a_run())
    assert list(tables) == ["run", "scores", "coverage", "configuration", "notes"]
    assert tables["scores"].records()[0] == {"measure": "JGA", "score": 0.75, "unit": "percent", "better": "higher"}
    assert len(tables["configuration"].records()) == 1, "files have a value in one piece"
    lines = tables["configuration"].render("terminal").text().splitlines()[3:]
    assert len(lines) > 1
    assert all(len(line) <= 80 for line in lines)
    assert all(line.endswith("value|") for line in lines[:-1])
