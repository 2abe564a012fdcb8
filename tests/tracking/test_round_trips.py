"""Gold written in another format and scored against itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

import dialgauge
from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.formats import DialogueFormat, formats

WRITERS = [
    name
    for name, found in formats().items()
    if isinstance(found, DialogueFormat) and found.writes and {"state", "predicted"} & found.fields
]


def sample() -> list[Dialogue]:
    """Two dialogues with deletions, changes and an empty state."""
    states: list[State] = [
        {},
        {"hotel": {"area": ("north",)}},
        {"hotel": {"area": ("south",), "stars": ("4",)}},
        {"train": {"day": ("monday",)}},
    ]
    return [
        Dialogue(
            id=f"MUL000{number}.json",
            turns=tuple(
                turn
                for state in states[number:]
                for turn in (
                    Turn(speaker="user", text="hello", acts=(), state=state, predicted=state),
                    Turn(speaker="system", text="welcome"),
                )
            ),
            domains=("hotel", "train"),
        )
        for number in range(2)
    ]


@pytest.mark.parametrize("name", WRITERS)
def test_gold_against_itself_is_perfect_in_every_format(name: str, tmp_path: Path) -> None:
    path = tmp_path / "gold.json"
    dialgauge.write(sample(), path, format=name)
    written = dialgauge.read(path, format=name)
    gold = [replace(one, turns=tuple(replace(turn, predicted=None) for turn in one.turns)) for one in sample()]
    found = dialgauge.score(gold, {"gold": written}, measures="all", intervals=False)[0]
    # In GCDF1 conversations states live in frames, and a turn about no service has none.
    missing = found.details["coverage"]["missing_turns"]
    assert not missing or (name == "gcdf1" and missing == 1)
    for measure, score in found.scores.items():
        assert score.value == 1.0 or measure == "RSA", measure
