"""``dialgauge tasks`` from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.runs import Store
from support.commands import dialgauge
from support.town import responses, write_town

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write_town(tmp_path)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(responses()))
    return path


@pytest.fixture
def partial(tmp_path: Path) -> Path:
    dialogues = responses()
    del dialogues["sng0002"], dialogues["mul0001"][1]["state"]
    path = tmp_path / "partial.json"
    path.write_text(json.dumps(dialogues))
    return path


def test_scores_on_the_screen_and_as_json(capsys: Capture, gold: Path, mine: Path, tmp_path: Path) -> None:
    result = dialgauge(capsys, "tasks", "score", gold, mine, "--json", tmp_path / "out.json", "--by", "domain")
    assert result.code == 0
    for word in ("Rule set mwzeval", "Rule set grounded", "BLEU@mwz21-span", "human *", "By domain", "taxi"):
        assert (word in result.out) == (word != "taxi"), word
    assert "2 of 2 dialogues scored; 4 of 4 turns scored" in result.err
    assert "domains:file|states:file|missing:skip" in result.out
    written = json.loads((tmp_path / "out.json").read_text())
    (system,) = written["systems"]
    assert system["scores"]["Success"]["value"] == 1.0
    grounded = system["scores"]["Success(rules=grounded)"]
    assert 0 < grounded["low"] < grounded["value"] == grounded["high"] == 1.0
    assert system["by"]["domain"]["hotel"]["scores"]["Success"] == 1.0
    assert (system["domains"], system["states"], system["warnings"]) == ("file", "file", [])
    assert system["human"]["Inform"] == 1.0
    assert written["coverage"]["mine"]["dialogues"]["scored"] == 2


def test_what_is_incomplete_or_switched_is_said_and_exits_with_1(capsys: Capture, gold: Path, partial: Path) -> None:
    result = dialgauge(capsys, "tasks", "score", gold, partial)
    assert result.code == 1
    assert "1 of 2 dialogues scored; 3 of 4 turns scored" in result.err
    assert "no responses for SNG0002.json; under mwzeval a missing dialogue is not counted" in result.err
    assert "WARNING: 1 of 3 turns lacks the key 'state', so gold states are used for ALL turns" in result.err
    assert "partial *" in result.out
    assert dialgauge(capsys, "tasks", "score", gold, partial, "--unanswered", "fail").code == 0
    strict = dialgauge(capsys, "tasks", "score", gold, partial, "--strict")
    assert (strict.code, strict.out) == (2, "")
    assert "turn 1" in strict.err and "--strict" in strict.err


def test_warnings_are_said(capsys: Capture, gold: Path, tmp_path: Path) -> None:
    path = tmp_path / "dots.json"
    path.write_text(json.dumps(responses()))
    result = dialgauge(capsys, "tasks", "score", gold, path)
    assert "dots: WARNING: its published row was made with active domains from 'state'" in result.err
    assert result.code == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["GOLD"], "dialgauge tasks score GOLD PRED..."),
        ([], "dialgauge tasks score GOLD PRED..."),
        (["MINE", "GOLD"], "GOLD comes first: dialgauge tasks score GOLD PRED..."),
        (["GOLD", "GOLD"], "comes first: dialgauge tasks score GOLD PRED..."),
        (["GOLD", "MINE", "MINE"], "given twice"),
        (["GOLD", "MINE", "-m", "Sucess"], "Did you mean 'Success'"),
        (["GOLD", "MINE", "--references", "MINE"], "--references-are"),
        (["GOLD", "MINE", "--references-are", "raw"], "--references FILE"),
        (["GOLD", "MINE", "--database", "nowhere"], "restaurant_db.json"),
        (["GOLD", "MINE", "--from", "2026"], "--from shows a run that is already scored; leave out GOLD PRED"),
    ],
)
def test_mistakes_are_one_sentence_and_exit_with_2(
    capsys: Capture, gold: Path, mine: Path, arguments: list[str], says: str
) -> None:
    places = {"GOLD": str(gold), "MINE": str(mine)}
    result = dialgauge(capsys, "tasks", "score", *(places.get(each, each) for each in arguments))
    assert result.code == 2
    assert says in result.err.strip().splitlines()[-1]
    assert "Traceback" not in result.err


def test_a_gold_file_without_database_says_how_to_name_it(
    capsys: Capture, gold: Path, mine: Path, tmp_path: Path
) -> None:
    alone = tmp_path / "alone" / "gold.json"
    alone.parent.mkdir()
    alone.write_bytes(gold.read_bytes())
    result = dialgauge(capsys, "tasks", "score", alone, mine)
    assert result.code == 2
    assert "--database" in result.err
    assert dialgauge(capsys, "tasks", "score", alone, mine, "--database", tmp_path / "db").code == 0


def test_a_stored_run_shows_what_the_files_showed(capsys: Capture, gold: Path, mine: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs"
    fresh = dialgauge(capsys, "tasks", "score", gold, mine, "--run", "--store", store, "--worst", 2)
    (run,) = Store(store).list()
    stored = dialgauge(capsys, "tasks", "score", "--from", run.id, "--store", store, "--worst", 2)
    assert (stored.code, stored.out) == (0, fresh.out)
    lacking = dialgauge(capsys, "tasks", "score", "--from", run.id, "--store", store, "--by", "domain")
    assert lacking.code == 2
    assert "--by domain" in lacking.err
    explained = dialgauge(capsys, "tasks", "explain", "mul0001", "--from", run.id, "--store", store)
    assert explained.code == 0
    assert explained.out == dialgauge(capsys, "tasks", "explain", gold, mine, "mul0001").out
    assert explained.out == dialgauge(capsys, "tasks", "explain", gold, mine, "mul0001").out
    assert "rule set grounded" in explained.out
    for arguments in (["mul0001"], [gold, mine, "mul0001", "--from", run.id], [gold, "mul0001"]):
        assert dialgauge(capsys, "tasks", "explain", *arguments, "--store", store).code == 2


def test_two_runs_compare(capsys: Capture, gold: Path, mine: Path, tmp_path: Path) -> None:
    other = responses()
    other["sng0002"][0]["response"] = "sorry ."
    (tmp_path / "other.json").write_text(json.dumps(other))
    store = tmp_path / "runs"
    dialgauge(capsys, "tasks", "score", gold, mine, tmp_path / "other.json", "--run", "--store", store)
    ids = [run.id for run in Store(store).list()]
    result = dialgauge(
        capsys, "compare", *ids, "--store", store, "--show", 1, "--show-by", "Success", "--resamples", 50
    )
    assert result.code == 0
    assert "Success(rules=grounded)" in result.out
    assert "Combined" in result.out
    assert "cannot be compared" not in result.out
    assert "never told: address" in result.out


def test_files_of_one_name_are_told_apart_by_their_folders(
    capsys: Capture, gold: Path, mine: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again" / "mine.json"
    again.parent.mkdir()
    again.write_bytes(mine.read_bytes())
    result = dialgauge(capsys, "tasks", "score", gold, mine, again, "--no-human", "--resamples", 0, "--json", "-")
    written = json.loads(result.out)
    assert [system["name"] for system in written["systems"]] == [f"{tmp_path.name}/mine", "again/mine"]
    assert written["systems"][0]["human"] is None
    assert written["systems"][0]["scores"]["Inform"]["low"] is None


@pytest.mark.soak
def test_real_systems(capsys: Capture, shared_data: Path, tmp_path: Path) -> None:
    files = [shared_data / "dst_predictions" / f"{name}.json.gz" for name in ("mintl", "lava")]
    result = dialgauge(
        capsys, "tasks", "score", shared_data / "multiwoz21" / "test.json.gz", *files, "--resamples", 0,
        "--json", tmp_path / "out.json",
    )  # fmt: skip
    assert result.code == 1  # mintl lacks a dialogue
    assert "no responses for MUL0789" in result.err
    assert "lava: WARNING: only 37% of what it tells was asked for (human responses: 71%)" in result.err
    mintl, lava = json.loads((tmp_path / "out.json").read_text())["systems"]
    assert round(100 * mintl["scores"]["Success"]["value"], 1) == 65.4
    assert round(100 * lava["scores"]["Success(rules=grounded)"]["value"], 1) == 86.6
