"""``dialgauge score`` from end to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dialgauge as package
from dialgauge.dialogue import Dialogue, State, Turn
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
    assert "2 of 2 gold turns in 1 dialogue scored" in done.out
    [run] = runs(target)
    assert (run["name"], list(run["scores"])) == ("mine", DEFAULTS)
    assert run["scores"]["JGA"]["value"] == 0.5
    [manifest] = package.Store().list()
    assert manifest.id == run["id"] and manifest.id in done.err
    assert [one.role for one in manifest.inputs] == ["gold", "predictions"]
    assert dialgauge(capsys, "score", *files[:2], "--no-store", "--store", tmp_path / "no").code == 0
    assert len(package.Store().list()) == 1 and not (tmp_path / "no").exists()


def test_missing_predictions_show_in_the_exit_code(
    capsys: pytest.CaptureFixture[str], files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    short = save(tmp_path, "short.jsonl", Dialogue(id="a", turns=(Turn(speaker="user", predicted=NORTH),)))
    target = tmp_path / "out.json"
    done = dialgauge(capsys, "score", files[0], short, "--json", target)
    assert done.code == 1
    assert "no prediction for 1 turn: left out" in " ".join(done.out.split())
    assert runs(target)[0]["scores"]["JGA"]["value"] == 1.0
    assert runs(target)[0]["coverage"]["units"]["turns"] == {"expected": 2, "read": 1, "scored": 1, "failed": 0}
    assert "of the scored turns" in done.out
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
