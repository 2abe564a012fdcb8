"""MultiWOZ_Evaluation files: the shape of the turns, and the eight public files."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.dialogue import Turn
from dialgauge.formats import read
from support.examples import EXAMPLES
from support.reading import read_bytes, read_json


def test_each_entry_is_a_user_turn_and_the_answer_to_it() -> None:
    [dialogue], _ = read_bytes("mwzeval", EXAMPLES["mwzeval"])
    assert dialogue.turns == (
        Turn(speaker="user", predicted={"hotel": {"area": ("east",)}}, active=("hotel",)),
        Turn(speaker="system", text="which area ?"),
    )


def test_without_states_nothing_is_predicted() -> None:
    [dialogue], _ = read_json("mwzeval", {"a": [{"response": "hello"}, {"response": "bye", "state": {}}]})
    assert [turn.predicted for turn in dialogue.user_turns()] == [None, {}]


@pytest.mark.parametrize(
    ("name", "dialogues", "turns", "predicted"),
    [
        ("augpt", 1000, 7372, 7372),
        ("dots", 1000, 7372, 7372),
        ("mintl", 999, 7354, 7354),
        ("ubar", 1000, 7372, 7372),
        ("galaxy-policy", 1000, 7372, 0),
        ("hdsa", 1000, 7372, 0),
        ("lava", 1000, 7372, 0),
        ("sfn", 1000, 7372, 0),
    ],
)
def test_public_files(shared_data: Path, name: str, dialogues: int, turns: int, predicted: int) -> None:
    corpus = read(shared_data / "dst_predictions" / f"{name}.json.gz")
    user_turns = [turn for dialogue in corpus.dialogues for turn in dialogue.user_turns()]
    assert (corpus.format, len(corpus.dialogues), len(user_turns)) == ("mwzeval", dialogues, turns)
    assert sum(turn.predicted is not None for turn in user_turns) == predicted
    assert not corpus.notes.counts


def test_values_come_as_written(shared_data: Path) -> None:
    folder = shared_data / "dst_predictions"
    values = {
        name: {
            value
            for dialogue in read(folder / f"{name}.json.gz").dialogues
            for turn in dialogue.user_turns()
            for slots in (turn.predicted or {}).values()
            for options in slots.values()
            for value in options
        }
        for name in ("augpt", "dots", "mintl")
    }
    assert "dontcare" not in values["augpt"] and any("|" in value for value in values["augpt"])
    assert "18 : 00" in values["dots"] and "18 :00" in values["mintl"]
