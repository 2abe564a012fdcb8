"""The goal a user is measured against: recorded with the dialogue, or else derived from its own states and requests.

A derived goal is made of what was said, so it cannot tell what was left unsaid. Precision is all it can measure: no
recall, and no F1.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from dialgauge.dialogue import Dialogue, Goal, State, Task
from dialgauge.errors import DialgaugeError
from dialgauge.formats import DialogueFormat, Notes, recognise, resolve
from dialgauge.values import NOT_IN_GOAL, SPECIAL, CanonicalMap, canonical, constrains

#: Domain to its entities, each from slot to value.
VenueRows: TypeAlias = dict[str, list[dict[str, str]]]

# Goals for datasets that record none: a dialogue's own final states and requests.
#
# For each service, the goal's constraints are the slots of the state after the last user turn, with the first of their
# acceptable values, and its requests are all slots the user asked for in that service, in order of first mention. The
# acceptable values of a slot in any turn that agree with the final ones are ways of writing the same value: they make
# the dialogue's own canonical map. Values the user replaced on the way are no part of the goal.


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
    content = _open_slots(dialogue)
    for service, slots in _final_state(dialogue).items():
        for slot, values in slots.items():
            spellings = _spellings(dialogue, service, slot, set(values))
            table = _table(content, slot, service)
            table[values[0].lower()] = list(dict.fromkeys(text.lower() for text in [*values, *sorted(spellings)]))
    return CanonicalMap(content)


def spelling_map(dialogue: Dialogue, goal: Goal) -> CanonicalMap:
    """The values of a recorded goal with all spellings that the dialogue's states accept for them."""
    content = _open_slots(dialogue)
    for service, task in goal.tasks.items():
        for constraints in (task.book, task.fail_book, task.info, task.fail_info):
            for slot, value in constraints.items():
                spellings = _spellings(dialogue, service, slot, _accepted(dialogue, service, slot, value))
                table = _table(content, slot, service)
                table[value.lower()] = list(dict.fromkeys(text.lower() for text in [value, *sorted(spellings)]))
    return CanonicalMap(content)


def _open_slots(dialogue: Dialogue) -> dict[str, dict[str, Any]]:
    """A table without values for every slot that is spoken of."""
    content: dict[str, dict[str, Any]] = {}
    for turn in dialogue.turns:
        for act in turn.acts or ():
            _table(content, act.slot, act.domain)
    return content


def _accepted(dialogue: Dialogue, service: str, slot: str, value: str) -> set[str]:
    """A value in every mixture of small and capital letters that a state has."""
    states = (turn.state for turn in dialogue.turns if turn.state)
    texts = {text for state in states for text in state.get(service, {}).get(slot, ())}
    return {value, *(text for text in texts if text.lower() == value.lower())}


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


# Which failures of a goal are real: a ``fail_info`` is *live* when the database has nothing for it.
#
# Many recorded goals carry a ``fail_info`` although the search would succeed; nobody ever asked for those (0 of 329 in
# MultiWOZ 2.1). Taking them for constraints to be stated costs every user, human or simulated, recall it did not lose.

_ENDING = "_db.json"


class VenueDatabase:
    """The entities of each domain, asked whether any fits some constraints."""

    def __init__(self, rows: VenueRows) -> None:
        self._rows = rows
        self._answers: dict[tuple[str, tuple[tuple[str, str], ...]], bool] = {}

    def __contains__(self, domain: str) -> bool:
        return domain in self._rows

    def finds(self, domain: str, constraints: Mapping[str, str]) -> bool:
        """Is there an entity that satisfies all constraints whose slots the domain's entities have?"""
        wanted = tuple((slot.lower(), canonical(value)) for slot, value in constraints.items())
        key = (domain, tuple(sorted(wanted)))
        if key not in self._answers:
            chosen = [(slot, value) for slot, value in wanted if constrains(value)]
            self._answers[key] = any(
                all(row.get(slot, value) == value for slot, value in chosen) for row in self._rows[domain]
            )
        return self._answers[key]


def load_database(source: str | Path) -> VenueRows:
    """The entities in the files ``DOMAIN_db.json`` of a folder or archive."""
    rows: VenueRows = {}
    for part in resolve(source):
        if not part.stem.endswith(_ENDING):
            continue
        reader = recognise(part)
        if isinstance(reader, DialogueFormat) or reader.kind != "knowledge base":
            raise DialgaugeError("it is not a database", file=part.name)
        entities: dict[str, dict[str, str]] = {}
        for fact in reader.load(part, Notes()).facts:
            entities.setdefault(fact.entity, {})[fact.relation.lower()] = canonical(fact.value)
        rows[part.stem.removesuffix(_ENDING)] = list(entities.values())
    if not rows:
        raise DialgaugeError("it holds no database: files named like hotel_db.json", file=str(source))
    return rows


def live_goal(goal: Goal, database: VenueDatabase, typos: Mapping[str, str]) -> Goal:
    """The goal with misspelt values put right and without the ``fail_info`` that the database can satisfy."""
    tasks = {}
    for domain, task in goal.tasks.items():
        info, failing = (
            {slot: typos.get(value.lower(), value) for slot, value in constraints.items()}
            for constraints in (task.info, task.fail_info)
        )
        if failing and domain in database and database.finds(domain, failing):
            failing = {}
        tasks[domain] = msgspec.structs.replace(task, info=info, fail_info=failing)
    return msgspec.structs.replace(goal, tasks=tasks)
