"""Small trackers for tests: gold states, and predictions that go wrong at random."""

from __future__ import annotations

import json
import random
from pathlib import Path

from dialgauge.dialogue import Dialogue, State, Turn

SLOTS = [("hotel", "area"), ("hotel", "stars"), ("restaurant", "food"), ("train", "day")]
VALUES = ("north", "south", "4", "monday")


def gold_dialogues(dialogues: int = 40, seed: int = 0) -> list[Dialogue]:
    """Dialogues of three to six turns whose states grow."""
    chance = random.Random(seed)
    return [_dialogue(f"MUL{number:04}.json", chance) for number in range(dialogues)]


def _dialogue(name: str, chance: random.Random) -> Dialogue:
    state: State = {}
    turns = []
    for _ in range(chance.randint(3, 6)):
        domain, slot = chance.choice(SLOTS)
        state = {**state, domain: {**state.get(domain, {}), slot: (chance.choice(VALUES),)}}
        turns.append(Turn(speaker="user", state=state))
    return Dialogue(id=name, turns=tuple(turns))


def tracker(gold: list[Dialogue], error: float, seed: int) -> list[Dialogue]:
    """Predictions that miss each slot of a turn with a probability."""
    chance = random.Random(seed)
    return [
        Dialogue(
            id=dialogue.id,
            turns=tuple(
                Turn(speaker="user", predicted=_missing(turn.state or {}, error, chance)) for turn in dialogue.turns
            ),
        )
        for dialogue in gold
    ]


def _missing(state: State, error: float, chance: random.Random) -> State:
    kept = {
        domain: {slot: values for slot, values in slots.items() if chance.random() >= error}
        for domain, slots in state.items()
    }
    return {domain: slots for domain, slots in kept.items() if slots}


def write_predictions(path: Path, gold: list[Dialogue], predicted: list[Dialogue]) -> Path:
    """Gold and predicted states as the nested files of the FGA paper."""
    content = {
        one.id: {
            str(number): {"gt": _flat(right.state), "pr": _flat(turn.predicted)}
            for number, (right, turn) in enumerate(zip(other.turns, one.turns, strict=True))
        }
        for other, one in zip(gold, predicted, strict=True)
    }
    path.write_text(json.dumps(content))
    return path


def _flat(state: State | None) -> dict[str, dict[str, str]]:
    return {domain: {slot: values[0] for slot, values in slots.items()} for domain, slots in (state or {}).items()}
