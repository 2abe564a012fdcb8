"""``dialgauge score`` from end to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dialgauge as package
from dialgauge.dialogue import Dialogue, State, Turn
from runs.contract import assert_run_contract
from support.commands import dialgauge

pytestmark = pytest.mark.usefixtures("own_folder")

NORTH: State = {"hotel": {"area": ("north",)}}
SOUTH: State = {"hotel": {"area": ("South",), "book people": ("2",)}}
DEFAULTS = ["JGA", "SA", "AGA", "RSA", "F1", "FGA@0.5", "FGA@1"]
Capture = pytest.CaptureFixture[str]


def save(folder: Path, name: str, *dialogues: Dialogue) -> Path:
    path = folder / name
    package.write(list(dialogues), path, format="native")
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Gold, a prediction, and a prediction that carries its own gold."""
    gold = Dialogue(
        id="A.json",
        turns=(Turn(speaker="user", text="the north, please", state=NORTH), Turn(speaker="user", state=SOUTH)),
    )
    theirs = Dialogue(
        id="a",
        turns=(Turn(speaker="user", predicted=NORTH), Turn(speaker="user", predicted={"hotel": {"area": ("south",)}})),
    )
    both = Dialogue(id="a", turns=(Turn(speaker="user", state=SOUTH, predicted=SOUTH),))
    return save(tmp_path, "gold.jsonl", gold), save(tmp_path, "mine.jsonl", theirs), save(tmp_path, "own.jsonl", both)


def runs(path: Path) -> Any:
    return json.loads(path.read_text())["runs"]


def test_table_json_and_run(capsys: Capture, files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    done = dialgauge(capsys, "score", *files[:2], "--json", target)
    assert done.code == 0 and len(done.out.splitlines()) <= 20
    assert "JGA" in done.out and "50.00" in done.out
    assert "2 of 2 gold turns in 1 dialogue scored" in done.err
    [run] = runs(target)
    assert (run["name"], list(run["scores"])) == ("mine", DEFAULTS)
    assert run["scores"]["JGA"]["value"] == 0.5
    [manifest] = package.Store().list()
    assert manifest.id == run["id"] and manifest.id in done.err
    assert [one.role for one in manifest.inputs] == ["gold", "predictions"]
    assert dialgauge(capsys, "score", *files[:2], "--no-store", "--store", tmp_path / "no").code == 0
    assert len(package.Store().list()) == 1 and not (tmp_path / "no").exists()


def test_an_error_that_is_carried_over_is_folded(capsys: Capture, tmp_path: Path) -> None:
    gold = Dialogue(id="A", turns=(Turn(speaker="user", state=NORTH),) * 3)
    theirs = Dialogue(id="A", turns=(Turn(speaker="user", predicted={"hotel": {"area": ("east",)}}),) * 3)
    files = save(tmp_path, "gold.jsonl", gold), save(tmp_path, "mine.jsonl", theirs)
    assert dialgauge(capsys, "score", *files, "--resamples", 0).code == 0
    shown = dialgauge(capsys, "show", "latest", "--dialogue", "A").out
    assert shown.count("hotel-area   north") == 1 and shown.count("As before, and wrong: hotel-area.") == 2
    assert dialgauge(capsys, "show", "latest", "--dialogue", "A", "--all").out.count("hotel-area   north") == 3


@pytest.mark.parametrize("engine", [(), ("--engine", "local", "--workers", "1")])
def test_an_ontology_that_the_profile_would_ignore_is_refused(
    capsys: pytest.CaptureFixture[str],
    files: tuple[Path, Path, Path],
    tmp_path: Path,
    engine: tuple[str, ...],
) -> None:
    gold, mine, _ = files
    slots = tmp_path / "ontology.json"
    slots.write_text(json.dumps({"hotel-area": ["north", "south"], "hotel-book people": ["2"]}))
    done = dialgauge(capsys, "score", gold, mine, "--ontology", slots, *engine)
    assert done.code == 2
    assert "--ontology: the slots come with the profile (canon), so an ontology would be ignored" in done.err
    options = ("--ontology", slots, "-p", "verbatim", "-m", "SA", "--resamples", "0", "--json", "o.json")
    done = dialgauge(capsys, "score", gold, mine, *options, *engine)
    assert done.code == 0 and "|slots:2|" in runs(Path("o.json"))[0]["signature"]
    with pytest.raises(package.DialgaugeError, match="ontology: the slots come with the profile"):
        package.score(gold, [mine], ontology=package.Ontology(domains={}), intervals=False)


def test_missing_predictions_show_in_the_exit_code(
    capsys: pytest.CaptureFixture[str], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    short = save(tmp_path, "short.jsonl", Dialogue(id="a", turns=(Turn(speaker="user", predicted=NORTH),)))
    target = tmp_path / "out.json"
    done = dialgauge(capsys, "score", files[0], short, "--json", target)
    assert done.code == 1
    assert "no prediction for 1 turn: left out" in done.err
    assert runs(target)[0]["scores"]["JGA"]["value"] == 1.0
    assert runs(target)[0]["coverage"]["units"]["turns"] == {"expected": 2, "read": 1, "scored": 1, "failed": 0}
    assert "of the 1 of 2 turns that were scored" in done.out
    done = dialgauge(capsys, "score", files[0], short, "--coverage", "empty", "--json", target)
    assert done.code == 0
    assert runs(target)[0]["scores"]["JGA"]["value"] == 0.5


def test_published_set_of_test_dialogues(capsys: pytest.CaptureFixture[str], shared_data: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    done = dialgauge(
        capsys, "score", shared_data / "multiwoz21/test.json.gz", shared_data / "dst_predictions/augpt.json.gz",
        "--exclude", "PMUL1455", "--json", target, "--resamples", "0",
    )  # fmt: skip
    assert done.code == 0, done.err
    units = runs(target)[0]["coverage"]["units"]
    assert (units["dialogues"]["scored"], units["turns"]["scored"]) == (999, 7368)


SGD_SCHEMA = [
    {
        "service_name": "Hotels_1",
        "slots": [
            {"name": "city", "is_categorical": False, "possible_values": []},
            {"name": "stars", "is_categorical": True, "possible_values": ["1", "2"]},
        ],
        "intents": [{"name": "FindHotel"}],
    }
]


def sgd_dialogue(name: str, values: dict[str, list[str]]) -> dict[str, Any]:
    state = {"active_intent": "FindHotel", "requested_slots": [], "slot_values": values}
    frames = [{"service": "Hotels_1", "slots": [], "state": state}]
    return {
        "dialogue_id": name,
        "services": ["Hotels_1"],
        "turns": [{"speaker": "USER", "utterance": "hello", "frames": frames}],
    }


@pytest.fixture
def sgd_files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Gold, predictions of which the second is wrong, and their schema."""
    gold = [sgd_dialogue(name, {"city": ["Paris"], "stars": ["1"]}) for name in ("1_0", "1_1")]
    theirs = [gold[0], sgd_dialogue("1_1", {"city": ["Paris"], "stars": ["2"]})]
    paths = tmp_path / "gold.json", tmp_path / "theirs.json", tmp_path / "schema.json"
    for path, content in zip(paths, (gold, theirs, SGD_SCHEMA), strict=True):
        path.write_text(json.dumps(content))
    return paths


def test_official_scores_are_kept_signed_and_shown(capsys: Capture, sgd_files: tuple[Path, Path, Path]) -> None:
    gold, theirs, schema = sgd_files
    done = dialgauge(capsys, "score", gold, theirs, "--schema", schema, "--resamples", "0")
    assert done.code == 0 and "SGD's official scores" in done.out
    run = package.Store().open("latest")
    rows = run.table("dialogue_scores").filter(measure="SGD-JGA")
    assert rows["num"].to_numpy().sum() / rows["den"].to_numpy().sum() == 0.5 == run.scores["SGD-JGA"].value
    assert run.scores["SGD-JGA"].signature.startswith("measure:SGD-JGA(matching=levenshtein,joint=frame)")
    assert "slots:2" in run.scores["SGD-JGA"].signature
    parts = run.table("part_scores").filter(by="service", measure="SGD-JGA[Hotels_1]").rows(named=True)
    assert [(part["dialogues"], part["turns"], part["value"]) for part in parts] == [(2, 2, 0.5)]
    assert (run.coverage["turns"].scored, run.coverage["turns"].expected) == (2, 2)
    assert_run_contract(run)
    excluded = ("--exclude", "1_1", "--json", "one.json")
    assert dialgauge(capsys, "score", gold, theirs, "--schema", schema, *excluded).code == 0
    assert runs(Path("one.json"))[0]["scores"]["SGD-JGA"]["value"] == 1.0


def test_a_system_can_be_named_and_a_file_of_the_whole_name_goes_first(
    capsys: pytest.CaptureFixture[str], files: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.json"
    monkeypatch.chdir(tmp_path)
    named = dialgauge(capsys, "score", "gold.jsonl", "My tracker=mine.jsonl", "-m", "JGA", "--json", target)
    assert named.code == 0, named.err
    assert [one["name"] for one in runs(target)] == ["My tracker"]
    assert "My tracker" in named.out
    Path("x=mine.jsonl").write_bytes(files[1].read_bytes())
    assert dialgauge(capsys, "score", "gold.jsonl", "x=mine.jsonl", "--json", target).code == 0
    assert [one["name"] for one in runs(target)] == ["x=mine"]
    missing = dialgauge(capsys, "score", "gold.jsonl", "a=none.jsonl")
    assert missing.code == 2 and "none.jsonl" in missing.err
