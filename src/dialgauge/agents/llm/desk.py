"""A domain's backend as tools of a language model: whatever the model asks for, it gets an answer and no crash.

Each service has ``search_NAME`` and ``book_NAME`` with its own slots. A value that nothing has is answered with those
that exist. What a model passes to its tools is also
what it believes the user to want, the only belief of it that can be seen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from dialgauge.agents.llm.chat import clean_text
from dialgauge.agents.vocabulary import ServiceWords, Vocabulary, phrase_of
from dialgauge.dialogue import State
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import some_of
from dialgauge.values import DAYS, NO_CONSTRAINT, comparable
from dialgauge.worlds.domain import FEW, DomainBackend, Entity, SearchSlot, Service, SlotType

#: Characters of an argument; no value of a domain is longer.
_LONGEST = 200
#: Values that a tool's answer names where none fits.
_MOST_VALUES = 40
_CLOCK = "^([01]?[0-9]|2[0-4]):[0-5][0-9]$"
_TEXT = {"type": "string"}
Result = dict[str, Any]


class Desk:
    """Uses the tools, and remembers what the last search of each service found."""

    def __init__(self, backend: object, *, rows: int = 5) -> None:
        if not isinstance(backend, DomainBackend):
            raise DialgaugeError("there is no search and booking to make tools of; this conversation has none")
        self._backend, self._most = backend, rows
        #: Who the system works for, and what it must and must not do.
        self.title, self.policy = backend.domain.title, backend.domain.policy
        self._vocabulary = Vocabulary.of(backend.domain)
        #: By service: the wishes of the last search, and what was last given to book.
        self.state: State = {}
        self._found: dict[str, tuple[Entity, ...]] = {}
        self.tools = tools_of(self._vocabulary)
        self._names = {tool["name"]: tool for tool in self.tools}

    def use(self, name: str, arguments: object) -> Result:
        """What a tool answers; a mistake of the model is told to the model."""
        if name not in self._names:
            known = ", ".join(self._names)
            return {"error": f"there is no tool '{name[:_LONGEST]}'.{nearest(name, self._names)} Tools are: {known}"}
        if isinstance(arguments, str):
            given: object = None
            with suppress(ValueError, RecursionError):
                given = json.loads(arguments or "{}")
            arguments = given
        if not isinstance(arguments, dict):
            return {"error": "the arguments must be a JSON object"}
        kind, _, service = name.partition("_")
        words = self._vocabulary[service]
        try:
            return self._search(words, arguments) if kind == "search" else self._book(words, arguments)
        except DialgaugeError as error:
            return {"error": str(error)}

    def _search(self, words: ServiceWords, arguments: dict[str, Any]) -> Result:
        service = words.service
        given = _slots(arguments, service.wishes, "can be searched by")
        wishes = {
            slot: self._as_written(words, slot, value) for slot, value in given.items() if value not in NO_CONSTRAINT
        }
        rows = self._backend.search(service.name, wishes).rows
        self._believe(service.name, wishes, tuple(service.wishes), service.takes)
        self._found[service.name] = rows
        result: Result = {"count": len(rows), "rows": [_cells(service, row.values) for row in rows[: self._most]]}
        if len(rows) > self._most:
            result["note"] = f"these are the first {self._most} of {len(rows)}; narrow the search to see others"
        elif not rows and (notes := [note for slot, value in wishes.items() if (note := _missing(words, slot, value))]):
            result["note"] = " ".join(notes)
        return result

    def _as_written(self, words: ServiceWords, slot: str, value: str) -> str:
        """A wish in the domain's own spelling; one that cannot be meant is an error."""
        wish = words.service.wishes[slot]
        if wish.match in ("same", "contains"):
            value = words.slots[slot].phrases.get(phrase_of(value), value)
        if problem := wish.problem(value):
            raise DialgaugeError(f"{words.service.declared(slot)} {problem} (got '{value}')")
        return value

    def _book(self, words: ServiceWords, arguments: dict[str, Any]) -> Result:
        service = words.service
        spec = service.book
        if spec is None:
            raise DialgaugeError(f"{service.name} cannot be booked")
        named = [slot for slot in (service.id_slot, service.name_slot) if slot]
        given = _slots(arguments, {**spec.takes, **dict.fromkeys(named)}, "can be booked with")
        called = [given.pop(slot) for slot in named if slot in given]
        row = self._row(service, called[0] if called else "") if service.rows is not None else None
        problems = [
            f"{service.declared(slot)} {why} (got '{given[slot]}')"
            for slot, kind in spec.takes.items()
            if slot in given and (why := kind.problem(given[slot]))
        ]
        if problems:
            raise DialgaugeError("; ".join(problems))
        booking = self._backend.book(service.name, given, row)
        self._believe(service.name, given, tuple(spec.takes), tuple(service.wishes))
        answer: Result = {"outcome": booking.outcome, "message": booking.sentence(service)}
        answer |= {slot.replace(" ", "_"): value for slot, value in booking.gives.items() if slot in service.slots}
        return answer | ({"total": booking.total} if booking.total else {})

    def _row(self, service: Service, name: str) -> Entity:
        called = service.declared(service.id_slot or service.name_slot)
        if not name:
            raise DialgaugeError(
                f"the argument {service.name_slot} is missing: which {service.name} to book, by {called}"
            )
        seen = [row for row in self._found.get(service.name, ()) if comparable(row.name) == comparable(name)]
        rows = seen or list(self._backend.named(service.name, name))
        if not rows:
            raise DialgaugeError(
                f"there is no {service.name} named '{name}'; search first and use the {called} of one that was found"
            )
        return rows[0]

    def _believe(self, service: str, given: Mapping[str, str], slots: tuple[str, ...], kept: tuple[str, ...]) -> None:
        """Take values of some slots for those given, and keep those of others."""
        before = self.state.get(service, {})
        known = {slot: values for slot, values in before.items() if slot in kept and slot not in slots}
        known |= {slot: (given[slot].lower(),) for slot in slots if slot in given}
        self.state = {**self.state, service: known}


def _cells(service: Service, values: Mapping[str, str]) -> dict[str, str | None]:
    """All that can be told of a row; None is unknown."""
    slots = dict.fromkeys(filter(None, (service.name_slot, service.id_slot, *service.wishes, *service.answer)))
    return {slot.replace(" ", "_"): values.get(slot) for slot in slots}


def _missing(words: ServiceWords, slot: str, value: str) -> str:
    """Which values there are, where nothing has this one."""
    wish = words.service.wishes[slot]
    if wish.match not in ("same", "contains") or comparable(value) in map(comparable, wish.values):
        return ""
    known = some_of(sorted(wish.values), _MOST_VALUES)
    return f"No {words.service.name} has {words.label(slot)} '{value}'. Values are: {known}."


def _written(value: float) -> str:
    """A number without exponent or needless decimals."""
    return f"{value:.15g}"


def _scalar(name: str, value: object) -> str:
    """An argument as text; a list of one is that one, anything else that holds several is an error."""
    if isinstance(value, list) and len(value) <= 1:
        value = value[0] if value else ""
    if isinstance(value, list | dict):
        kind = "a list" if isinstance(value, list) else "an object"
        raise DialgaugeError(f"{clean_text(name)[:_LONGEST]} takes one value as text or number, not {kind}")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**_LONGEST else "a number too large to write"
    return _written(value) if isinstance(value, float) else clean_text(value)[:_LONGEST]


def _slots(arguments: dict[str, Any], known: Mapping[str, object], what: str) -> dict[str, str]:
    """Arguments as texts by slot; empty ones are none, an unknown one is an error."""
    by_name = {slot.replace(" ", "_").lower(): slot for slot in known if slot}
    texts = {}
    for name, value in arguments.items():
        slot = by_name.get(clean_text(name)[:_LONGEST].replace(" ", "_").lower())
        if slot is None:
            named = clean_text(name)[:_LONGEST]
            raise DialgaugeError(f"it {what} other fields, not by '{named}'.{nearest(named, by_name)}")
        if text := _scalar(name, value):
            texts[slot] = text
    return texts


# What the protocol is told of the tools


def tools_of(vocabulary: Vocabulary) -> tuple[dict[str, Any], ...]:
    """The tools of a domain as the protocol describes functions."""
    tools = []
    for words in vocabulary.services.values():
        if words.service.rows is not None:
            tools.append(_search_tool(words))
        if words.service.book is not None:
            tools.append(_book_tool(words))
    return tuple(tools)


def _search_tool(words: ServiceWords) -> dict[str, Any]:
    service = words.service
    properties = {slot.replace(" ", "_"): _wish_schema(words, slot, wish) for slot, wish in service.wishes.items()}
    description = (
        f"Find {service.title}. Give only what the customer wants; leave out the rest. Returns how many fit and the "
        f"first of them with all that is known of each."
    )
    return _described(f"search_{service.name}", description, properties, [])


def _wish_schema(words: ServiceWords, slot: str, wish: SearchSlot) -> dict[str, Any]:
    label, unit = words.label(slot), f" ({wish.unit})" if wish.unit else ""
    if wish.match == "yes-no":
        return {"type": "string", "enum": ["yes", "no"], "description": label}
    if wish.match in ("at-least", "at-most"):
        bound = "at least" if wish.match == "at-least" else "at most"
        if wish.timed:
            when = "or later" if wish.match == "at-least" else "or earlier"
            return {"type": "string", "pattern": _CLOCK, "description": f"{label}: HH:MM {when}"}
        return {"type": "number", "description": ", ".join(filter(None, (f"{label}: {bound} this", wish.unit)))}
    schema: dict[str, Any] = {"type": "string", "description": f"{label}{unit}"}
    if wish.match == "contains":
        schema["description"] = f"{label}: one that should be among them"
    if slot == words.service.name_slot:
        schema["description"] = f"{label}: only where the customer named one"
    elif 0 < len(wish.values) <= FEW:
        schema["enum"] = list(wish.values)
    return schema


def _book_tool(words: ServiceWords) -> dict[str, Any]:
    service = words.service
    spec = service.book
    properties: dict[str, Any] = {}
    required = []
    if service.rows is not None:
        name = service.name_slot.replace(" ", "_")
        label = words.label(service.id_slot or service.name_slot)
        called = "name" if label == service.name else label
        properties[name] = {"type": "string", "description": f"which one to book: its {called}, as a search gave it"}
        required.append(name)
    if spec is not None:
        properties |= {
            slot.replace(" ", "_"): _type_schema(_described_slot(words, slot), kind)
            for slot, kind in spec.takes.items()
        }
        required += [slot.replace(" ", "_") for slot in spec.needs]
    groups = [" or ".join(map(words.label, group)) for group in (spec.one_of if spec else ())]
    needs = f" It also needs {' and '.join(groups)}." if groups else ""
    gives = " and ".join(map(words.label, spec.gives)) if spec else ""
    description = f"Book {service.title}.{needs}" + (f" Returns the {gives}; tell it to the customer." if gives else "")
    return _described(f"book_{service.name}", description, properties, required)


def _described_slot(words: ServiceWords, slot: str) -> str:
    """What a slot is called, with its label where that says more: "stay: nights"."""
    name, label = words.service.declared(slot), words.label(slot)
    return label if label == name else f"{name}: {label}"


def _type_schema(label: str, kind: SlotType) -> dict[str, Any]:
    if kind.kind == "number":
        bounds = {} if kind.low is None else {"minimum": kind.low, "maximum": kind.high}
        return {"type": "number" if kind.low is None else "integer", "description": label, **bounds}
    if kind.kind == "day":
        return {"type": "string", "enum": list(DAYS), "description": label}
    if kind.kind == "time":
        return {"type": "string", "pattern": _CLOCK, "description": f"{label}: HH:MM"}
    if kind.kind == "words":
        return {"type": "string", "enum": list(kind.words), "description": label}
    return {**_TEXT, "description": label}


def _described(name: str, description: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"name": name, "description": description, "parameters": parameters}
