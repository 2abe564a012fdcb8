"""Which failures of a goal are real: a ``fail_info`` is *live* when the database has nothing for it.

Many recorded goals carry a ``fail_info`` although the search would succeed; nobody ever asked for those (0 of 329 in
MultiWOZ 2.1). Taking them for constraints to be stated costs every user, human or simulated, recall it did not lose.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from dialgauge.dialogue import Fact, Goal, Task
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Notes
from dialgauge.formats.registry import recognise
from dialgauge.formats.source import resolve

Rows = list[dict[str, str]]

#: Values of a goal that every entity satisfies.
_ANYTHING = frozenset({"dontcare", "do not care", "don't care", ""})
_ENDING = "_db.json"


class Database:
    """The entities of each domain, asked whether any fits some constraints."""

    def __init__(self, rows: Mapping[str, Rows]) -> None:
        self._rows = rows
        self._answers: dict[tuple[str, tuple[tuple[str, str], ...]], bool] = {}

    def __contains__(self, domain: str) -> bool:
        return domain in self._rows

    def finds(self, domain: str, constraints: Mapping[str, str]) -> bool:
        """Is there an entity that satisfies all constraints whose slots the domain's entities have?"""
        wanted = tuple((slot.lower(), _folded(value)) for slot, value in constraints.items())
        key = (domain, tuple(sorted(wanted)))
        if key not in self._answers:
            chosen = [(slot, value) for slot, value in wanted if value not in _ANYTHING]
            self._answers[key] = any(
                all(row.get(slot, value) == value for slot, value in chosen) for row in self._rows[domain]
            )
        return self._answers[key]


def load_database(source: str | Path) -> Database:
    """The databases ``DOMAIN_db.json`` of a folder or archive."""
    rows: dict[str, Rows] = {}
    for part in resolve(source):
        if not part.stem.endswith(_ENDING):
            continue
        found = recognise(part)
        if isinstance(found, DialogueFormat) or found.kind != "knowledge base":
            raise DialgaugeError("it is no database", file=part.name)
        rows[part.stem.removesuffix(_ENDING)] = _entities(found.load(part, Notes()).facts)
    if not rows:
        raise DialgaugeError("it holds no database: files named like hotel_db.json", file=str(source))
    return Database(rows)


def live_goal(goal: Goal, database: Database, typos: Mapping[str, str]) -> Goal:
    """The goal with misspelt values put right and without the ``fail_info`` that the database can satisfy."""
    return Goal(
        tasks={domain: _live_task(domain, task, database, typos) for domain, task in goal.tasks.items()},
        message=goal.message,
    )


def _live_task(domain: str, task: Task, database: Database, typos: Mapping[str, str]) -> Task:
    info, failing = (
        {slot: typos.get(value.lower(), value) for slot, value in constraints.items()}
        for constraints in (task.info, task.fail_info)
    )
    if failing and domain in database and database.finds(domain, failing):
        failing = {}
    return msgspec.structs.replace(task, info=info, fail_info=failing)


def _entities(facts: Iterable[Fact]) -> Rows:
    rows: dict[str, dict[str, str]] = {}
    for fact in facts:
        rows.setdefault(fact.entity, {})[fact.relation.lower()] = _folded(fact.value)
    return list(rows.values())


def _folded(value: str) -> str:
    return " ".join(value.lower().split())
