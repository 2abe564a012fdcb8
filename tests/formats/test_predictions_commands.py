"""Prediction files through the command line: what a file is, what is wrong with it, and conversion to nested gt/pr."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.formats import DialogueFormat, Notes, format_named, read, resolve
from support.commands import dialgauge
from support.examples import EXAMPLES
from support.reading import read_json

WITH_STATES = ["hi-dst", "human-eval", "mwzeval", "simpletod", "som-dst", "t5-dst", "trade", "trippy"]


@pytest.mark.parametrize("name", [*WITH_STATES, "flags", "nested"])
def test_check_names_the_format(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "predictions"
    path.write_bytes(EXAMPLES[name])
    outcome = dialgauge(capsys, "data", "check", path, "--wide")
    assert name in outcome.out and "predictions" in outcome.out
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize("name", WITH_STATES)
def test_states_survive_conversion_to_nested(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "predictions", tmp_path / "nested.json"
    source.write_bytes(EXAMPLES[name])
    assert dialgauge(capsys, "data", "convert", source, target, "--to", "nested").code == 0
    before, after = read(source).dialogues, read(target).dialogues
    assert [[(turn.state, turn.predicted) for turn in dialogue.user_turns()] for dialogue in before] == [
        [(turn.state, turn.predicted) for turn in dialogue.turns] for dialogue in after
    ]


def test_check_points_at_the_hole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "preds.json"
    path.write_text(json.dumps({"MUL1_0": [[], []], "MUL1_2": [[], []]}))
    outcome = dialgauge(capsys, "data", "check", path, "--wide")
    assert "missing turns, left as holes (1)" in outcome.out
    assert "dialogue MUL1, turn 1" in outcome.out


def test_a_tolerant_reading_goes_on_after_a_bad_dialogue(tmp_path: Path) -> None:
    path = tmp_path / "preds.json"
    path.write_text(json.dumps({"a": {"0": {"gt": {"hotel": 3}}}, "b": {"0": {"pr": {}}}}))
    reader, notes = format_named("nested"), Notes(tolerant=True)
    assert isinstance(reader, DialogueFormat)
    [part] = resolve(path)
    assert [dialogue.id for dialogue in reader.read(part, notes)] == ["b"]
    assert [(error.dialogue, error.turn) for error in notes.refused] == [("a", 0)]


def test_a_file_of_empty_dialogues_holds_dialogues_without_turns() -> None:
    dialogues, notes = read_json("nested", {"a": {}, "b": {}})
    assert [(dialogue.id, dialogue.turns) for dialogue in dialogues] == [("a", ()), ("b", ())]
    assert not notes.counts
