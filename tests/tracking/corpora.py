"""Made-up corpora: hypothesis strategies with deletions, empty states, alternatives and missing turns, and examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.tracking import PreparedInputs, SystemInput

SLOTS = [("hotel", "area"), ("hotel", "book people"), ("train", "leaveAt"), ("taxi", "leaveat"), ("attraction", "name")]
VALUES = ["north", "Center", "centre", "2", "dontcare", "do n't care", "9:15", "09:15", "18 : 00", "b&b", "café", ""]


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


@st.composite
def states(draw: st.DrawFn, *, alternatives: bool) -> State:
    """A state over a few slots, so that gold and prediction often agree."""
    result: State = {}
    for domain, slot in draw(st.lists(st.sampled_from(SLOTS), unique=True, max_size=4)):
        many = draw(st.integers(1, 2)) if alternatives else 1
        values = draw(st.lists(st.sampled_from(VALUES), min_size=many, max_size=many, unique=True))
        result.setdefault(domain, {})[slot] = tuple(values)
    return result


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[Dialogue], list[Dialogue]]:
    """Gold and predictions: near copies with edits, missing turns and dialogues, extra ones, other order."""
    gold, predicted = [], []
    for number in range(draw(st.integers(1, 4))):
        wanted = [draw(states(alternatives=True)) for _ in range(draw(st.integers(1, 5)))]
        turns, theirs = [], []
        for place, state in enumerate(wanted):
            if place and draw(st.booleans()):
                state = {**wanted[place - 1], **state}
                wanted[place] = state
            turns.append(Turn(speaker="user", state=None if draw(st.integers(0, 9)) == 0 else state))
            turns.append(Turn(speaker="system", text="..."))
            given = state if draw(st.integers(0, 2)) else draw(states(alternatives=False))
            theirs.append(Turn(speaker="user", predicted=None if draw(st.integers(0, 9)) == 0 else given))
        cut = draw(st.integers(0, 1)) if number else 0
        gold.append(Dialogue(id=f"PMUL{number}.json", turns=tuple(turns)))
        if draw(st.integers(0, 5)):
            predicted.append(Dialogue(id=f"pmul{number}", turns=tuple(theirs[: len(theirs) - cut] or theirs)))
    predicted.append(Dialogue(id="extra", turns=(Turn(speaker="user", predicted={}),)))
    return gold, draw(st.permutations(predicted))
