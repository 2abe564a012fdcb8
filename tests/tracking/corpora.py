"""Made-up dialogues, and what makes them ready to be scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.tracking import PreparedInputs, SystemInput


def prepared(gold: Sequence[Dialogue] | None, systems: Mapping[str, Sequence[Dialogue]], **how: Any) -> PreparedInputs:
    """Dialogues in memory, ready to be scored."""
    reference = None if gold is None else SystemInput("gold", gold)
    return PreparedInputs(reference, [SystemInput(name, own) for name, own in systems.items()], **how)


def flat_state(flat: Mapping[str, str]) -> State:
    """``{"hotel-book day": "monday"}`` as a state."""
    state: State = {}
    for name, value in flat.items():
        domain, _, slot = name.partition("-")
        state.setdefault(domain, {})[slot] = (value,)
    return state


def pair_of_dialogues(
    states: Sequence[tuple[Mapping[str, str], Mapping[str, str]]], name: str = "MUL0001.json"
) -> tuple[Dialogue, Dialogue]:
    """A gold and a predicted dialogue from flat states."""
    gold = [Turn(speaker="user", state=flat_state(wanted)) for wanted, _ in states]
    predicted = [Turn(speaker="user", predicted=flat_state(given)) for _, given in states]
    return Dialogue(id=name, turns=tuple(gold)), Dialogue(id=name, turns=tuple(predicted))


def three_dialogues() -> tuple[list[Dialogue], list[Dialogue]]:
    """Gold and predictions of dialogues A, B and C: a wrong value that is mended, no error, and one that comes back."""
    first = [
        ({"hotel-area": "north"}, {"hotel-area": "north"}),
        ({"hotel-area": "north", "hotel-stars": "4"}, {"hotel-area": "south"}),
        ({"hotel-area": "north", "hotel-stars": "4"}, {"hotel-area": "south", "hotel-stars": "4"}),
        (
            {"hotel-area": "north", "hotel-stars": "4"},
            {"hotel-area": "north", "hotel-stars": "4", "taxi-leaveat": "9:00"},
        ),
    ]
    second: list[tuple[dict[str, str], dict[str, str]]] = [({}, {}), ({"train-day": "monday"}, {"train-day": "monday"})]
    third: list[tuple[dict[str, str], dict[str, str]]] = [
        ({"train-day": "monday"}, {}),
        ({"train-day": "monday"}, {"train-day": "monday"}),
        ({}, {"train-day": "monday"}),
    ]
    pairs = [pair_of_dialogues(states, name) for states, name in ((first, "A"), (second, "B"), (third, "C"))]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]
