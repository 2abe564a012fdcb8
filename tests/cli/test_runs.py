from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.measures import Count, Coverage, Score, Scores, Signature
from dialgauge.runs import Store, new_run
from support.commands import Outcome, dialgauge

SUMS = {"JGA": (np.array([1.0, 3.0]), np.array([2.0, 4.0]))}


def score_of(measure: str, value: float | None, unit: str = "share", low: float | None = None) -> Score:
    return Score(
        value=value,
        low=low,
        high=None if low is None else 1.0,
        unit=unit,
        higher_is_better=unit == "share",
        signature=Signature(measure=f"{measure}(over=turns)", profile="exact", gold="ab12").long(),
    )


def measured() -> Scores:
    scores = {"JGA": score_of("JGA", 4 / 6, low=0.5), "SA": score_of("SA", 0.9), "undefined": score_of("x", None)}
    counts = {"dialogues": Count(expected=3, read=2, scored=2, failed=0), "turns": Count(expected=9, read=6, scored=6)}
    return Scores(
        dialogues=["a", "b"],
        sums=SUMS,
        scores={**scores, "length": score_of("length", 6.5, "turns")},
        coverage=Coverage(counts, policy="intersection"),
    )


class Place:
    """A store, and the commands over it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.store = Store(folder)
        self._capsys = capsys

    def run(self, *arguments: object) -> Outcome:
        return dialgauge(self._capsys, *arguments)

    def add(self, name: str, kind: str = "tracking", replies: str = "yes") -> str:
        turns = (Turn(speaker="user", text="a table, please " * 9), Turn(speaker="system", text=replies))
        run = new_run(
            kind=kind,
            name=name,
            scores=measured(),
            corpus=[Dialogue(id=one, turns=turns) for one in ("a", "b")],
            config={"profile": "exact", "nested": {"depth": 2}, "long": "word " * 40},
            seeds=7,
            notes=["a note of more words than one line of a screen has room for, so that it goes on in the next one"],
        )
        return self.store.add(run).id


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("DIALGAUGE_RUNS", str(tmp_path / "runs"))
    return Place(tmp_path / "runs", capsys)


def test_listing_shows_scores_tags_and_what_is_missing(place: Place) -> None:
    tracker, bot = place.add("augpt"), place.add("memory", kind="responses")
    assert place.run("runs", "tag", tracker, "baseline", "half").err == ""
    outcome = place.run("runs", "list", "--wide", "--json", "-")
    first, second = json.loads(outcome.out)["page"]["tables"]["runs"]["rows"]
    assert (first["run"], first["measure"], first["score"], first["tags"]) == (tracker, "JGA", 4 / 6, "baseline, half")
    assert (second["run"], second["scored"]) == (bot, "2 of 3 dialogues")
    narrow = place.run("runs", "list").out
    assert tracker in narrow and "66.67" in narrow and max(map(len, narrow.splitlines())) <= 80


def test_tags_are_given_and_taken_away_and_the_run_is_named(place: Place) -> None:
    id_ = place.add("augpt")
    assert place.run("runs", "tag", "latest", "first", "second").err == f"latest: run {id_}\n"
    place.run("runs", "tag", "first", "second", "--remove")
    assert Store(None).annotations(id_).tags == ("first",)
    refused = place.run("runs", "tag", id_, "latest")
    assert refused.code == 2 and "cannot be a tag" in refused.err


def test_damaged_annotations_are_told_and_the_runs_still_listed(place: Place) -> None:
    id_ = place.add("augpt")
    (place.store.folder / id_ / "annotations.json").write_text("{")
    outcome = place.run("runs", "list")
    assert outcome.code == 1 and "66.67" in outcome.out
    assert "the annotations are damaged" in " ".join(outcome.out.split())


def test_listing_goes_on_past_damage_and_exits_with_1(place: Place) -> None:
    whole, damaged = place.add("whole"), place.add("damaged")
    (place.store.folder / damaged / "run.json").write_text("{")
    outcome = place.run("runs", "list")
    assert outcome.code == 1
    assert whole in outcome.out
    assert f"{damaged}/run.json" in outcome.out.replace("\n", "")


def test_listing_names_unfinished_work(place: Place) -> None:
    with pytest.raises(RuntimeError), place.store.kept_units(kind="lab", name="n", config={}) as units:
        units["one"] = b"done"
        raise RuntimeError
    outcome = place.run("runs", "list")
    assert "unfinished: resume-lab-n-" in outcome.out
    (name,) = place.store.unfinished()
    assert place.run("runs", "rm", name, "--yes").code == 0
    assert place.store.unfinished() == []


def test_removing_asks_first(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = place.add("one"), place.add("two")
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert place.run("runs", "rm", one).code == 2
    assert len(place.store.list()) == 2
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert place.run("runs", "rm", one).code == 0
    assert [manifest.id for manifest in place.store.list()] == [two]


def test_hostile_names_do_not_reach_the_terminal(place: Place) -> None:
    id_ = place.add("\x1b[31mred [bold]x[/nothing]", "juggling")
    for command in (("runs", "list", "--wide"), ("show", id_), ("sql", "SELECT name FROM runs")):
        outcome = place.run(*command)
        assert outcome.code == 0
        assert "\x1b" not in outcome.out
        assert "[bold]x[/nothing]" in outcome.out
    content = (place.store.folder / id_ / "run.json").read_text()
    (place.store.folder / id_ / "run.json").write_text(content.replace(id_, "\\u001b[31m"))
    assert "\x1b" not in place.run("runs", "list").out
    outcome = place.run("show", id_)
    assert outcome.code == 2
    assert "\x1b" not in outcome.err


def answer(document: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = json.loads(document)["page"]["tables"]["answer"]["rows"]
    return rows


def test_sql_shows_100_rows_and_writes_all(place: Place, tmp_path: Path) -> None:
    query = "SELECT * FROM range(150) AS t(x)"
    outcome = place.run("sql", query, "--table", tmp_path / "a.csv")
    assert "99\n50 more rows (--all)" in outcome.out
    assert len((tmp_path / "a.csv").read_text().splitlines()) == 151
    assert place.run("sql", query, "--all").out.split()[-1] == "149"
    assert place.run("sql", "SELECT 1 AS x, 2 AS y WHERE false").out == "No rows of x, y.\n"


def test_sql_writes_files_for_programs(place: Place, tmp_path: Path) -> None:
    place.add("augpt")
    query = (
        "SELECT name, [1, 2] AS list, 'NaN'::DOUBLE AS nothing, NULL AS none, DATE '2026-11-15' AS day, "
        "sum(1) AS total, 'a,\"b' AS quoted FROM runs GROUP BY name"
    )
    files = {ending: tmp_path / f"a.{ending}" for ending in ("csv", "json")}
    outcome = place.run("sql", query, "--table", files["csv"], "--json", files["json"])
    assert outcome.code == 0
    with (tmp_path / "a.csv").open(newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert row == {
        "name": "augpt",
        "list": "[1,2]",
        "nothing": "",
        "none": "",
        "day": "2026-11-15",
        "total": "1",
        "quoted": 'a,"b',
    }
    (record,) = answer(files["json"].read_text())
    assert (record["list"], record["nothing"], record["day"], record["total"]) == ("[1,2]", None, "2026-11-15", 1)
    assert answer(place.run("sql", "SELECT 1 AS x", "--json", "-").out) == [{"x": 1}]


def test_a_line_break_begins_no_row_of_the_csv_file_and_no_formula(place: Place, tmp_path: Path) -> None:
    cells = ["a\r=1+1", "a\n=1+1", "a\r\n=1+1", "\r=1+1", "=1+1", "+x", "-x", "@x", "\t=1"]
    query = ", ".join(f"'{cell}' AS \"c{number}\r=2\"" for number, cell in enumerate(cells))
    assert place.run("sql", f"SELECT {query}", "--table", tmp_path / "a.csv").code == 0
    with (tmp_path / "a.csv").open(newline="") as stream:
        names, row = csv.reader(stream)
    assert names == [f"c{number}\n=2" for number in range(len(cells))]
    written = [cell.replace("\r\n", "\n").replace("\r", "\n") for cell in cells]
    assert row == [cell if cell.startswith("a") else f"'{cell}" for cell in written]


def test_sql_leaves_damaged_runs_out_and_exits_with_1(place: Place) -> None:
    whole, damaged = place.add("whole"), place.add("damaged")
    path = place.store.folder / damaged / "dialogue_scores.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    outcome = place.run("sql", "SELECT DISTINCT run FROM dialogue_scores")
    assert outcome.code == 1
    assert whole in outcome.out
    assert f"{damaged}/dialogue_scores.parquet" in outcome.out.replace("\n", "")


@pytest.mark.parametrize("query", ["SELECT * FROM '/etc/passwd'", "SELEC", "SELECT * FROM rums"])
def test_sql_that_fails_is_one_sentence(place: Place, query: str) -> None:
    outcome = place.run("sql", query)
    assert (outcome.code, outcome.out) == (2, "")
    assert len(outcome.err.splitlines()) == 1
