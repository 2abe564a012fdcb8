"""Dialogues beyond the limit lie in a file: whatever is made of them is the same."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import dialgauge
from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.formats import SpooledDialogues, carries, read


def talk(number: int) -> Dialogue:
    states: list[State] = [
        {"hotel": {"area": ("north",), "stars": (str(number % 5),)}},
        {"hotel": {"area": ("north",)}},
    ]
    turns = [Turn(speaker="user", text=f"turn {number} ü", state=state) for state in states]
    return Dialogue(id=f"d{number}", turns=(turns[0], Turn(speaker="system", text="yes"), turns[1]), domains=("hotel",))


@pytest.fixture
def few_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialgauge.formats.held.MOST_HELD", 10_000)


def test_a_file_of_dialogues_is_the_sequence_that_it_was_made_of() -> None:
    dialogues = [talk(number) for number in range(300)]
    spooled = SpooledDialogues(dialogues)
    assert list(spooled) == list(spooled) == dialogues
    assert len(spooled) == 300
    assert (spooled[0], spooled[7], spooled[-1]) == (dialogues[0], dialogues[7], dialogues[-1])
    assert spooled[5:290:7] == dialogues[5:290:7]
    with pytest.raises(IndexError):
        spooled[300]
    assert pickle.loads(pickle.dumps(spooled)) == dialogues
    fields = ("state", "predicted", "blank", "acts")
    assert [carries(spooled, name) for name in fields] == [carries(dialogues, name) for name in fields]


def test_a_small_source_is_a_list_and_a_large_one_a_file(tmp_path: Path, few_held: None) -> None:
    for number, kind in ((20, list), (200, SpooledDialogues)):
        file = tmp_path / f"{number}.jsonl"
        dialgauge.write((talk(place) for place in range(number)), file, format="native")
        corpus = read(file)
        assert isinstance(corpus.dialogues, kind)
        assert list(corpus) == [talk(place) for place in range(number)]
        assert corpus["D7.json"] == talk(7)
