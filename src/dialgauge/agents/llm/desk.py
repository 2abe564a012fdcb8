"""The town's backend as tools of a language model: whatever the model asks for, it gets an answer and no crash.

What it passes to its tools is also what it believes the user to want, the only belief of it that can be seen.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from dialgauge.agents.llm.chat import clean_text
from dialgauge.dialogue import State
from dialgauge.errors import DialgaugeError
from dialgauge.values import same_value
from dialgauge.worlds.domain import Entity
from dialgauge.worlds.town import (
    BOOK_SLOTS,
    DATABASE_DOMAINS,
    SEARCH_SLOTS,
    Backend,
)

#: Characters of an argument; no value of the town is longer.
_LONGEST = 200
_RIDE = ("departure", "destination", "leaveAt", "arriveBy")
_SEARCHED = tuple(domain for domain in SEARCH_SLOTS if domain in (*DATABASE_DOMAINS, "hospital", "police"))
Result = dict[str, Any]


class Desk:
    """Uses the tools, and remembers what the last search in each domain found: "book TR1234" means one of those."""

    def __init__(self, backend: Backend, *, rows: int = 5) -> None:
        self._backend, self._most = backend, rows
        #: By domain: the constraints of the last search, and what was last given to book.
        self.state: State = {}
        self._found: dict[str, tuple[Entity, ...]] = {}
        self._tools = {"search": self._search, "details": self._details, "book": self._book, "taxi": self._taxi}

    def use(self, name: str, arguments: object) -> Result:
        """What a tool answers; a mistake of the model is told to the model."""
        tool = self._tools.get(name)
        if tool is None:
            return {"error": f"there is no tool '{name[:_LONGEST]}'; tools are {', '.join(self._tools)}"}
        if isinstance(arguments, str):
            given: object = None
            with suppress(ValueError, RecursionError):
                given = json.loads(arguments or "{}")
            arguments = given
        if not isinstance(arguments, dict):
            return {"error": "the arguments must be a JSON object"}
        try:
            return tool(arguments)
        except DialgaugeError as error:
            return {"error": str(error)}

    def _search(self, arguments: dict[str, Any]) -> Result:
        domain = _domain(arguments, _SEARCHED)
        nested = arguments.get("constraints")
        given = nested if isinstance(nested, dict) else {**arguments, "domain": None}
        constraints = _texts(given)
        rows = self._backend.search(domain, constraints).rows
        self._believe(domain, constraints, SEARCH_SLOTS[domain], BOOK_SLOTS.get(domain, ()))
        self._found[domain] = rows
        return {"count": len(rows), "rows": [row.values for row in rows[: self._most]]}

    def _details(self, arguments: dict[str, Any]) -> Result:
        return dict(self._row(_domain(arguments, _SEARCHED), arguments).values)

    def _book(self, arguments: dict[str, Any]) -> Result:
        domain = _domain(arguments, tuple(BOOK_SLOTS))
        slots = {slot: value for slot, value in _texts(arguments).items() if slot in BOOK_SLOTS[domain]}
        booking = self._backend.book(domain, slots, self._row(domain, arguments))
        self._believe(domain, slots, BOOK_SLOTS[domain], SEARCH_SLOTS[domain])
        told: Result = {"outcome": booking.outcome}
        if booking.gives:
            told["reference"] = next(iter(booking.gives.values()))
        if booking.slots:
            told["refused" if booking.outcome == "refused" else "missing"] = list(booking.slots)
        return told | ({"total": booking.total} if booking.total else {})

    def _taxi(self, arguments: dict[str, Any]) -> Result:
        wanted = {slot: text for slot, text in _texts(arguments).items() if slot in _RIDE}
        taxi = self._backend.book("taxi", wanted)
        self._believe("taxi", wanted, _RIDE, ())
        if taxi.slots:
            return {"outcome": "incomplete", "missing": list(taxi.slots)}
        return {"outcome": "booked", **taxi.gives}

    def _believe(self, domain: str, given: dict[str, str], slots: tuple[str, ...], kept: tuple[str, ...]) -> None:
        """Take values of some slots for those given, and keep those of others."""
        before = self.state.get(domain, {})
        known = {slot: values for slot, values in before.items() if slot in kept and slot not in slots}
        known |= {slot: (given[slot].lower(),) for slot in slots if slot in given}
        self.state = {**self.state, domain: known}

    def _row(self, domain: str, arguments: dict[str, Any]) -> Entity:
        name = _texts(arguments).get("name", "")
        if not name:
            raise DialgaugeError("the argument name is missing: the name of a venue, or the id of a train")
        seen = [row for row in self._found.get(domain, ()) if same_value(row.name, name)]
        if not seen:
            seen = list(self._backend.search(domain, {_NAMED_BY.get(domain, "name"): name}).rows)
        if not seen:
            raise DialgaugeError(f"there is no {domain} named '{name}'")
        return seen[0]


_NAMED_BY = {"train": "trainID", "hospital": "department"}


def _domain(arguments: dict[str, Any], known: tuple[str, ...]) -> str:
    domain = clean_text(arguments.get("domain")).lower()
    if domain not in known:
        raise DialgaugeError(f"the argument domain must be one of {', '.join(known)}")
    return domain


def _texts(given: dict[str, Any]) -> dict[str, str]:
    """Arguments as texts; lists, objects and nothing at all are none."""
    texts = {}
    for slot, value in given.items():
        text = ("yes" if value else "no") if isinstance(value, bool) else value
        if isinstance(text, int | float):
            text = f"{text:g}"
        cleaned = clean_text(text)[:_LONGEST]
        if cleaned:
            texts[clean_text(slot)[:_LONGEST]] = cleaned
    return texts


def _described(name: str, description: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"name": name, "description": description, "parameters": parameters}


_TEXT = {"type": "string"}
_CONSTRAINTS = sorted({slot for domain in _SEARCHED for slot in SEARCH_SLOTS[domain]})
_BOOKED = sorted({slot for slots in BOOK_SLOTS.values() for slot in slots})

#: The tools as the protocol describes functions.
TOOLS = (
    _described(
        "search",
        "Find venues or trains. Times are HH:MM; leaveAt is the earliest departure, arriveBy the latest arrival.",
        {
            "domain": {"type": "string", "enum": list(_SEARCHED)},
            "constraints": {
                "type": "object",
                "properties": dict.fromkeys(_CONSTRAINTS, _TEXT),
                "additionalProperties": False,
            },
        },
        ["domain", "constraints"],
    ),
    _described(
        "details",
        "All that is known of one venue or train: address, phone, postcode, price and so on.",
        {"domain": {"type": "string", "enum": list(_SEARCHED)}, "name": _TEXT},
        ["domain", "name"],
    ),
    _described(
        "book",
        "Book a restaurant (day, people, time), a hotel (day, people, stay) or a train (people).",
        {
            "domain": {"type": "string", "enum": list(BOOK_SLOTS)},
            "name": _TEXT,
            **dict.fromkeys(_BOOKED, _TEXT),
        },
        ["domain", "name"],
    ),
    _described("taxi", "Send a taxi; it needs both ends and one time.", dict.fromkeys(_RIDE, _TEXT),
               ["departure", "destination"]),
)  # fmt: skip
