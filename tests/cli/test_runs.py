from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import polars
import pytest

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.measures import Count, Coverage, Score, Scores, Signature
from dialgauge.runs import Annotations, Store, new_run
from support.agent_results import tau2_file
from support.commands import Outcome, dialgauge
from support.forgery import forge

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


def test_listing_an_empty_store_says_so(place: Place) -> None:
    outcome = place.run("runs", "list")
    assert (outcome.code, outcome.out) == (0, "")
    assert "no runs in" in outcome.err


def test_listing_shows_scores_and_coverage(place: Place) -> None:
    tracker, bot = place.add("augpt"), place.add("memory", kind="responses")
    outcome = place.run("runs", "list", "--wide")
    assert outcome.code == 0
    lines = [line for line in outcome.out.splitlines() if line.startswith("2")]
    assert [line.split()[0] for line in lines] == [tracker, bot]
    assert "2 of 3 dialogues" in lines[0]
    assert re.search(r"JGA 66.67% \(2 of 3\) +SA 90.00%, length 6.5000 turns", lines[0])
    assert place.run("runs", "list", "--kind", "responses").out.count("memory") == 2


def test_listing_for_programs(place: Place, tmp_path: Path) -> None:
    id_ = place.add("augpt")
    printed = place.run("runs", "list", "--json", "-")
    (row,) = json.loads(printed.out)["runs"]
    assert (row["id"], row["scores"]["JGA"]["value"], row["scores"]["JGA"]["low"]) == (id_, 4 / 6, 0.5)
    assert row["tables"] == {"dialogues": 2, "turns": 4, "dialogue_scores": 2}
    assert row["coverage"]["units"]["turns"]["scored"] == 6
    assert place.run("runs", "list", "--json", tmp_path / "list.json").code == 0
    assert json.loads((tmp_path / "list.json").read_text())["runs"] == [row]


def test_listing_goes_on_past_damage_and_exits_with_1(place: Place) -> None:
    whole, damaged = place.add("whole"), place.add("damaged")
    (place.store.folder / damaged / "run.json").write_text("{")
    outcome = place.run("runs", "list")
    assert outcome.code == 1
    assert whole in outcome.out
    assert damaged in outcome.err
    assert "cannot be understood" in outcome.err


def test_listing_names_unfinished_work(place: Place) -> None:
    with pytest.raises(RuntimeError), place.store.kept_units(kind="lab", name="n", config={}):
        raise RuntimeError
    outcome = place.run("runs", "list")
    assert "unfinished: resume-lab-n-" in outcome.err
    (name,) = place.store.unfinished()
    assert place.run("runs", "rm", name, "--yes").code == 0
    assert place.store.unfinished() == []


def test_showing_a_run(place: Place) -> None:
    id_ = place.add("augpt")
    narrow = place.run("runs", "show", id_[:-3], "--limit", 1).out
    assert "Settings of each score" not in narrow and "--wide and files have the settings of each score." in narrow
    outcome = place.run("runs", "show", id_[:-3], "--limit", 1, "--wide")
    assert outcome.code == 0
    for text in (id_, "profile:exact|gold:ab12", "nested.depth", "66.67 [50.00, 100.00]", "corpus"):
        assert text in outcome.out
    assert "Table dialogue_scores: 2 rows" in outcome.out
    assert " b " not in outcome.out.split("Table dialogue_scores")[1]
    assert ["length", "6.5000", "turns", "lower"] in [line.split() for line in outcome.out.splitlines()]
    assert ["turns", "9", "6", "6", "–"] in [line.split() for line in outcome.out.splitlines()]
    assert "JGA         measure:JGA(over=turns)" in outcome.out
    manifest = json.loads(place.run("runs", "show", id_, "--json", "-").out)
    assert (manifest["id"], manifest["seeds"], manifest["scores"]["undefined"]["value"]) == (id_, [7], None)
    assert manifest["scores"]["JGA"]["higher_is_better"] is True


def test_annotating_a_run_and_its_dialogues(place: Place) -> None:
    id_, other = place.add("augpt"), place.add("other")
    assert "tags" not in place.run("runs", "list").out
    note = "a note of more words than one line of a screen has room for,\nso that it \x1b[31mgoes on in the next one"
    said = place.run("runs", "annotate", id_[:-2], "--tag", "baseline", "--tag", "half", "--note", note)
    assert (said.code, said.out, said.err) == (0, "", "")
    assert place.run("runs", "annotate", id_, "--dialogue", "b", "--label", "wrong area", "--note", "x").code == 0
    listed = place.run("runs", "list", "--wide").out.splitlines()
    assert [line.endswith("baseline, half") for line in listed if line.startswith("2")] == [True, False]
    shown = place.run("runs", "show", id_).out
    assert ["tag", "baseline"] in [line.split() for line in shown.splitlines()]
    assert "1 dialogue with labels or notes" in shown
    assert "\x1b[31m" not in shown
    assert max(map(len, shown.partition("\nCommand:")[0].splitlines())) <= 80
    assert "Annotations" not in place.run("runs", "show", other).out
    (row, _) = json.loads(place.run("runs", "list", "--json", "-").out)["runs"]
    assert (row["tags"], row["note"]) == (["baseline", "half"], note)
    written = json.loads(place.run("runs", "show", id_, "--json", "-").out)["annotations"]
    assert written["dialogues"] == {"b": {"labels": ["wrong area"], "note": "x"}}
    assert "wrong area" in place.run("sql", "SELECT text FROM annotations WHERE kind = 'label'").out


def test_an_empty_text_removes_an_annotation(place: Place) -> None:
    id_ = place.add("augpt")
    place.run("runs", "annotate", id_, "--tag", "first")
    assert place.run("runs", "tag", id_, "t", "first").code == 0
    assert Store(None).annotations(id_).tags == ("first", "t") and place.run("runs", "show", "t").code == 0
    place.run("runs", "annotate", id_, "--tag", "t", "--note", "n")
    place.run("runs", "annotate", id_, "--dialogue", "a", "--label", "l")
    assert place.run("runs", "annotate", id_, "--tag", "").code == 0
    assert place.store.annotations(id_).note == "n"
    assert place.run("runs", "annotate", id_, "--note", "").code == 0
    assert place.run("runs", "annotate", id_, "--dialogue", "a", "--label", "").code == 0
    assert place.store.annotations(id_) == Annotations()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "nothing to annotate: give --tag, --label or --note"),
        (["--dialogue", "a"], "nothing to annotate"),
        (["--dialogue", "nobody", "--note", "x"], "has no dialogue 'nobody'"),
        (["--note", "x" * 10_001], "a note can have at most 10,000 characters"),
        (["--tag", "a", "--tag", ""], "a tag cannot be empty"),
    ],
)
def test_what_cannot_be_annotated_is_one_sentence(place: Place, arguments: list[str], said: str) -> None:
    id_ = place.add("augpt")
    outcome = place.run("runs", "annotate", id_, *arguments)
    assert outcome.code == 2
    assert said in " ".join(outcome.err.split())
    assert "Traceback" not in outcome.err
    assert place.store.annotations(id_) == Annotations()


def test_damaged_annotations_are_told_and_the_run_still_shown(place: Place) -> None:
    id_ = place.add("augpt")
    (place.store.folder / id_ / "annotations.json").write_text("{")
    for arguments in (["list"], ["show", id_]):
        outcome = place.run("runs", *arguments)
        assert outcome.code == 1
        assert "the annotations are damaged" in " ".join(outcome.err.split())
        assert "66.67" in outcome.out
    assert place.run("runs", "annotate", id_, "--note", "x").code == 2


@pytest.mark.parametrize("kind", ["tracking", "responses", "users", "interaction", "training", "juggling"])
def test_a_run_of_every_kind_fits_a_screen(kind: str, place: Place) -> None:
    outcome = place.run("runs", "show", place.add("a-system-with-a-name-of-many-words", kind))
    assert max(map(len, outcome.out.partition("\nCommand:")[0].splitlines())) <= 80
    assert "{" in place.run("runs", "show", outcome.out.split()[1], "--wide").out  # a whole record


def test_showing_verifies_the_bytes(place: Place) -> None:
    id_ = place.add("augpt")
    path = place.store.folder / id_ / "dialogue_scores.parquet"
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)
    outcome = place.run("runs", "show", id_)
    assert outcome.code == 2
    assert "does not have the bytes that were written" in outcome.err


def test_a_mistyped_id_gets_the_nearest_one(place: Place) -> None:
    id_ = place.add("augpt")
    outcome = place.run("runs", "show", id_.replace("augpt", "agupt"))
    assert outcome.code == 2
    assert f"Did you mean '{id_}'?" in outcome.err


def test_a_run_is_shown_by_the_beginning_of_its_id_with_its_folder(place: Place) -> None:
    id_ = place.add("augpt")
    assert f"\n{place.store.folder / id_}\n" in place.run("runs", "show", id_[:-1]).out


def test_removing_asks_first(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = place.add("one"), place.add("two")
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert place.run("runs", "rm", one).code == 2
    assert len(place.store.list()) == 2
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert place.run("runs", "rm", one).code == 0
    assert [manifest.id for manifest in place.store.list()] == [two]


def test_removing_several_checks_all_names_before_it_removes_any(place: Place) -> None:
    one, two = place.add("one"), place.add("two")
    assert place.run("runs", "rm", "--yes", one, "nothing").code == 2
    assert len(place.store.list()) == 2
    assert place.run("runs", "rm", "--yes", one, two, one).code == 0
    assert place.store.list() == []


def test_hostile_names_do_not_reach_the_terminal(place: Place) -> None:
    id_ = place.add("\x1b[31mred [bold]x[/nothing]")
    for command in (("runs", "list", "--wide"), ("runs", "show", id_), ("sql", "SELECT name FROM runs")):
        outcome = place.run(*command)
        assert outcome.code == 0
        assert "\x1b" not in outcome.out
        assert "[bold]x[/nothing]" in outcome.out
    content = (place.store.folder / id_ / "run.json").read_text()
    (place.store.folder / id_ / "run.json").write_text(content.replace(id_, "\\u001b[31m"))
    assert "\x1b" not in place.run("runs", "list").err
    outcome = place.run("runs", "show", id_)
    assert outcome.code == 2
    assert "\x1b" not in outcome.err


def test_sql_prints_a_table(place: Place) -> None:
    id_ = place.add("augpt")
    outcome = place.run(
        "sql", "SELECT run, sum(num) / sum(den) AS score, count(*) AS n FROM dialogue_scores GROUP BY run"
    )
    assert outcome.code == 0
    assert outcome.out.split() == ["run", "score", "n", "─" * len(outcome.out.splitlines()[1]), id_, "0.6667", "2"]


def test_sql_reads_the_query_from_standard_input(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.add("augpt")
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT name FROM runs"))
    assert "augpt" in place.run("sql", "-").out


def test_sql_cuts_what_it_shows_and_says_so(place: Place) -> None:
    outcome = place.run("sql", "SELECT * FROM range(150) AS t(x)")
    assert outcome.out.splitlines()[-1].strip() == "99"
    assert "100 of 150 rows" in outcome.err
    limited = place.run("sql", "SELECT * FROM range(150) AS t(x)", "--limit", "120")
    assert limited.out.splitlines()[-1].strip() == "119"
    whole = place.run("sql", "SELECT * FROM range(150) AS t(x)", "--limit", "0")
    assert (whole.out.splitlines()[-1].strip(), whole.err) == ("149", "")


def test_sql_limits_the_screen_and_no_file(place: Place, tmp_path: Path) -> None:
    """It once limited files too: a script that counts on it is told."""
    for limit, files in ((5, ("--csv", tmp_path / "a.csv")), (100, ("--table", tmp_path / "a.md"))):
        outcome = place.run("sql", "SELECT * FROM range(150) AS t(x)", "--limit", limit, *files)
        assert (outcome.code, outcome.out) == (2, "")
        assert (
            f"--limit only shortens what the screen shows; for a shorter file, write LIMIT {limit} in the query"
            in outcome.err
        )
        assert not files[1].exists()


def test_sql_writes_files_for_programs(place: Place, tmp_path: Path) -> None:
    place.add("augpt")
    query = (
        "SELECT name, [1, 2] AS list, 'NaN'::DOUBLE AS nothing, NULL AS none, DATE '2026-11-15' AS day, "
        "sum(1) AS total, 'a,\"b' AS quoted FROM runs GROUP BY name"
    )
    outcome = place.run(
        "sql", query, "--csv", tmp_path / "a.csv", "--json", tmp_path / "a.json", "--parquet", tmp_path / "a.parquet"
    )
    assert (outcome.code, outcome.out) == (0, "")
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
    assert place.run("sql", query, "--table", tmp_path / "b.csv").code == 0
    with (tmp_path / "b.csv").open(newline="") as stream:
        assert list(csv.DictReader(stream)) == [row], "one way to write lists and dates"
    (record,) = json.loads((tmp_path / "a.json").read_text())["rows"]
    assert (record["list"], record["nothing"], record["day"], record["total"]) == ([1, 2], None, "2026-11-15", 1)
    assert polars.read_parquet(tmp_path / "a.parquet")["list"].to_list() == [[1, 2]]
    assert json.loads(place.run("sql", "SELECT 1 AS x", "--json", "-").out)["rows"] == [{"x": 1}]


def test_a_line_break_begins_no_row_of_the_csv_file_and_no_formula(place: Place, tmp_path: Path) -> None:
    cells = ["a\r=1+1", "a\n=1+1", "a\r\n=1+1", "\r=1+1", "=1+1", "+x", "-x", "@x", "\t=1"]
    query = ", ".join(f"'{cell}' AS \"c{number}\r=2\"" for number, cell in enumerate(cells))
    assert place.run("sql", f"SELECT {query}", "--csv", tmp_path / "a.csv").code == 0
    with (tmp_path / "a.csv").open(newline="") as stream:
        names, row = csv.reader(stream)
    assert names == [f"c{number}\r=2" for number in range(len(cells))]
    assert row == [cell if cell.startswith("a") else f"'{cell}" for cell in cells]


def test_sql_leaves_damaged_runs_out_and_exits_with_1(place: Place) -> None:
    whole, damaged = place.add("whole"), place.add("damaged")
    forge(place.store.open(damaged), "dialogue_scores", b"not parquet")
    outcome = place.run("sql", "SELECT DISTINCT run FROM dialogue_scores")
    assert outcome.code == 1
    assert whole in outcome.out
    assert f"{damaged}/dialogue_scores.parquet: the run is damaged" in outcome.err


@pytest.mark.parametrize("query", ["DROP TABLE runs", "SELECT * FROM '/etc/passwd'", "SELEC", "SELECT * FROM rums"])
def test_sql_that_fails_is_one_sentence(place: Place, query: str) -> None:
    outcome = place.run("sql", query)
    assert (outcome.code, outcome.out) == (2, "")
    assert len(outcome.err.splitlines()) == 1


def test_another_store_can_be_named(place: Place, tmp_path: Path) -> None:
    id_ = place.add("augpt")
    assert id_ not in place.run("runs", "list", "--store", tmp_path / "other").out
    assert id_ in place.run("sql", "SELECT id FROM runs", "--store", place.store.folder).out


def test_comparing_stored_runs(place: Place, tmp_path: Path) -> None:
    ids = [place.add(name, "juggling", replies) for name, replies in (("a", "yes"), ("b", "no"))]
    options = ("--resamples", 50, "--show", 1, "-m", "JGA")
    here = place.run("compare", *ids, *options)
    assert (here.code, here.err) == (1, "")
    assert here.out.startswith("a lacks 1 of 3 dialogues.\nb lacks 1 of 3 dialogues.\n")
    assert "could be noise" in here.out
    assert "No dialogue has a different JGA." in here.out
    assert place.run("compare", *ids, *options, "--store", place.store.folder).out == here.out
    content = json.loads(place.run("compare", *ids, *options, "--json", "-").out)
    assert [system["run"] for system in content["systems"]] == ids
    assert content["systems"][0]["scores"]["JGA"]["value"] == 4 / 6
    refused = place.run("compare", *ids, "--profile", "exact", "--coverage", "empty")
    assert "stored runs are already scored; leave out --coverage, --profile" in refused.err


def test_runs_of_different_kinds_are_refused(place: Place) -> None:
    outcome = place.run("compare", place.add("a", "juggling"), place.add("b", "chess"))
    assert outcome.code == 2
    assert "runs of different kinds measure different things and cannot be compared" in outcome.err


def test_sql_sees_scores_with_unit_and_direction(place: Place) -> None:
    place.add("augpt")
    query = "SELECT measure, value, unit, higher_is_better FROM scores ORDER BY measure LIMIT 2"
    assert json.loads(place.run("sql", query, "--json", "-").out)["rows"] == [
        {"measure": "JGA", "value": 4 / 6, "unit": "share", "higher_is_better": True},
        {"measure": "SA", "value": 0.9, "unit": "share", "higher_is_better": True},
    ]


def test_long_ids_stay_whole_and_leave_the_scores_in_the_list(place: Place) -> None:
    ids = [place.add(f"our-organisation-experiment-2026-11-16-large-model-seed-{seed}") for seed in (0, 1)]
    ids += [place.add(f"nearest-task{task}-tst-oov") for task in (1, 5)]
    title, *lines = place.run("runs", "list").out.splitlines()
    assert title == f"Runs in {place.store.folder}"  # whole, to be copied: as long as the folder's name is
    assert [line.split()[0] for line in lines if line.startswith("2")] == ids
    assert sum("JGA 66.67%" in line for line in lines) == 4 and max(map(len, lines)) <= 80
    assert lines[-1] == "Left out to fit 80 columns: name, scored, more scores (--wide shows all)."


def test_a_shortened_id_can_be_typed_as_the_screen_shows_it(place: Place) -> None:
    id_ = place.add("our-organisation-experiment-2026-11-16-large-model-seed-0")
    assert f"\n{place.store.folder / id_}\n" in place.run("runs", "show", f"{id_[:12]}…{id_[-8:]}").out


def test_a_folder_is_shown_on_a_line_of_its_own(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    deep = Place(tmp_path / "a-folder-with-a-long-name" / ("and-another-one-" * 6), capsys)
    id_ = deep.add("augpt")
    for terminal in ("", "1"):
        if terminal:
            monkeypatch.setenv("TTY_COMPATIBLE", terminal)
        shown = deep.run("runs", "show", id_, "--store", deep.store.folder)
        assert str(deep.store.folder / id_) in shown.out.splitlines()


def test_files_have_long_texts_whole(place: Place, tmp_path: Path) -> None:
    id_ = place.add("augpt")
    assert place.run("runs", "show", id_, "--table", tmp_path / "run.csv").code == 0
    written = (tmp_path / "run.csv").read_text()
    assert ("a table, please " * 9).strip() in written and "…" not in written
    assert str(place.store.folder / id_) in written


def test_a_run_that_is_not_whole_never_shows_a_plain_number(
    place: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tau2_file(tmp_path / "cut.json", {"a": ("airline", [1.0, None]), "b": ("airline", [None, None])}, 2)
    dialgauge(capsys, "tasks", "score", file, "--run", "--store", place.store.folder)
    (row,) = [line for line in place.run("runs", "list").out.splitlines() if "trials" in line]
    assert "pass^1 100.00% (1 of 4)" in row
