"""Goals for datasets that record none: a dialogue's own final states and requests.

For each service, the goal's constraints are the slots of the state after the last user turn, with the first of their
acceptable values, and its requests are all slots the user asked for in that service, in order of first mention. The
acceptable values of a slot in any turn that agree with the final ones are ways of writing the same value: they make the
dialogue's own canonical map. Values the user replaced on the way are no part of the goal.
"""

from __future__ import annotations

from typing import Any

from dialgauge.dialogue import Dialogue, Goal, State, Task
from dialgauge.errors import DialgaugeError
from dialgauge.values.canonical_map import NOT_IN_GOAL, SPECIAL, CanonicalMap


def derived_goal(dialogue: Dialogue) -> Goal:
    """The goal the user can be said to have had, judged by where the dialogue ended."""
    final = _final_state(dialogue)
    requests: dict[str, dict[str, None]] = {}
    for turn in dialogue.user_turns():
        for service, slots in (turn.requested or {}).items():
            requests.setdefault(service, {}).update(dict.fromkeys(slots))
    services = dict.fromkeys([*final, *requests])
    return Goal(
        tasks={
            service: Task(
                info={slot: values[0] for slot, values in final.get(service, {}).items()},
                requests=tuple(requests.get(service, ())),
            )
            for service in services
        }
    )


def derived_map(dialogue: Dialogue) -> CanonicalMap:
    """The values of the final state with all their spellings, split by service; other slots have no known values."""
    content: dict[str, dict[str, Any]] = {}
    for turn in dialogue.turns:
        for act in turn.acts or ():
            _table(content, act.slot, act.domain)
    for service, slots in _final_state(dialogue).items():
        for slot, values in slots.items():
            spellings = _spellings(dialogue, service, slot, set(values))
            table = _table(content, slot, service)
            table[values[0].lower()] = list(dict.fromkeys(text.lower() for text in [*values, *sorted(spellings)]))
    return CanonicalMap(content)


def _final_state(dialogue: Dialogue) -> State:
    """The state after the last user turn; a slot without acceptable values is an empty slot."""
    states = [turn.state for turn in dialogue.user_turns() if turn.state is not None]
    if not states:
        raise DialgaugeError("it has no states to derive the user's goal from")
    return {
        service: {slot: values for slot, values in slots.items() if values} for service, slots in states[-1].items()
    }


def _spellings(dialogue: Dialogue, service: str, slot: str, known: set[str]) -> set[str]:
    """Going back from the end, every set of acceptable values that overlaps with those known belongs to them."""
    for turn in reversed(dialogue.turns):
        values = (turn.state or {}).get(service, {}).get(slot, ())
        if known.intersection(values):
            known.update(values)
    return known


def _table(content: dict[str, dict[str, Any]], slot: str, service: str) -> dict[str, Any]:
    by_service: dict[str, Any] = content.setdefault(slot.lower(), {})
    table: dict[str, Any] = by_service.setdefault(service, {SPECIAL: {NOT_IN_GOAL: {}}})
    return table
