"""The desk of a domain with services: search and booking for one conversation, as methods and as tools.

A booking is refused when it is incomplete or ill-typed, names no row, or agrees with what the goal has refused first:
by the values asked for, not by counting, so that it is the same however a system asks. As tools, each service has
``search_NAME`` and ``book_NAME`` with its own slots; a value that no row has is answered with those that exist.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, TypeAlias

from msgspec import Struct, json

from dialgauge.dialogue import Call, State
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import plain, some_of, upper_first
from dialgauge.values import DAYS, NO_CONSTRAINT, comparable
from dialgauge.worlds.desk import CallOutcome, Side, as_arguments
from dialgauge.worlds.domain.domain import FEW, Domain, SearchSlot, Service, SlotType
from dialgauge.worlds.domain.goals import DomainGoal
from dialgauge.worlds.domain.search import DomainSearch, Entity

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SIGNS = f"{_LETTERS}0123456789"
_LENGTH = 8
_PRICE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(.*)")
#: Rows of a search that the record names; values that an answer lists; characters of an argument.
_ROWS, _MOST_VALUES, _LONGEST = 5, 40, 200
_CLOCK = "^([01]?[0-9]|2[0-4]):[0-5][0-9]$"

BookingOutcome: TypeAlias = Literal["booked", "refused", "incomplete", "ill-typed", "no such entity"]


class Booking(Struct, frozen=True):
    """What came of an attempt to book."""

    outcome: BookingOutcome
    #: What the booking gives, by slot.
    gives: dict[str, str] = {}
    #: Slots that were refused, are missing, or have a value that cannot be.
    slots: tuple[str, ...] = ()
    #: What is wrong with a value, by slot: "must be a number".
    problems: dict[str, str] = {}
    #: Values that were refused, by slot.
    refused: dict[str, str] = {}
    #: The price of all that was booked, where it has one.
    total: str = ""

    def sentence(self, service: Service) -> str:
        """The outcome for a person or a model."""
        listed = ", ".join(self.slots)
        if self.outcome == "booked":
            given = ", ".join(f"{slot}: {value}" for slot, value in self.gives.items())
            return f"Booked. {upper_first(given)}" if given else "Booked."
        if self.outcome == "incomplete":
            return f"Not booked: {listed} is missing." if len(self.slots) == 1 else f"Not booked: {listed} are missing."
        if self.outcome == "ill-typed":
            return f"Not booked: {'; '.join(f'{slot} {why}' for slot, why in self.problems.items())}."
        if self.outcome == "refused":
            refused = ", ".join(f"{slot}: {value}" for slot, value in self.refused.items())
            return f"Not booked: it is not available for {refused}."
        known = f" by {service.name_slot}" if service.name_slot else ""
        return f"Not booked: say which one{known}."


class ServiceDesk:
    """Search and booking during one conversation."""

    ended = False

    def __init__(self, search: DomainSearch, draws: Draws, goal: DomainGoal | None = None) -> None:
        self.domain: Domain = search.domain
        self.title, self.policy = self.domain.title, self.domain.policy
        #: What tools were last searched and booked with, by service.
        self.state: State = {}
        self._search, self._draws = search, draws
        self._calls: list[Call] = []
        self._found: dict[str, tuple[Entity, ...]] = {}
        self._refused: dict[str, dict[str, str]] = {}
        for task in goal.tasks if goal else ():
            if task.book_first is not None and task.book is not None:
                self._refused[task.domain] = {
                    slot: value for slot, value in task.book_first.items() if task.book.get(slot) != value
                }

    def take_calls(self) -> tuple[Call, ...]:
        """The calls since this was last asked."""
        calls = tuple(self._calls)
        self._calls.clear()
        return calls

    def search(self, service: str, wishes: Mapping[str, str]) -> tuple[Entity, ...]:
        """The rows that fit."""
        rows = self._search.find(service, wishes)
        numbers = tuple([row.number for row in rows[:_ROWS]])
        self._calls.append(Call(name="search", domain=service, arguments=dict(wishes), found=len(rows), rows=numbers))
        return rows

    def named(self, service: str, text: str) -> tuple[Entity, ...]:
        """The rows that a text names, by id or by name."""
        return self._search.named(service, text)

    def book(self, service: str, slots: Mapping[str, str], row: Entity | None = None) -> Booking:
        """Book a row of a service, or the service itself where it has none; booking again replaces what was booked."""
        known = self.domain.services.get(service)
        if known is None:
            raise DialgaugeError(f"there is no service '{service}'.{nearest(service, self.domain.services)}")
        answer = self._booked(known, slots, row)
        booked = answer.outcome == "booked"
        result = {**answer.gives, "total": answer.total} if answer.total else answer.gives
        self._calls.append(
            Call(
                name=known.call,
                domain=service,
                arguments=dict(slots),
                result=json.encode(result).decode() if booked else answer.outcome,
                failed=not booked,
                rows=() if row is None else (row.number,),
            )
        )
        return answer

    def _booked(self, service: Service, slots: Mapping[str, str], row: Entity | None) -> Booking:
        spec = service.book
        if spec is None or (service.rows is not None and row is None):
            return Booking("no such entity")
        if missing := spec.missing(slots):
            return Booking("incomplete", slots=tuple(missing))
        if problems := self._problems(service, slots):
            return Booking("ill-typed", slots=tuple(problems), problems=problems)
        if refused := self._refuses(service, slots):
            return Booking("refused", slots=refused, refused={slot: slots[slot] for slot in refused})
        gives = {slot: self._made(spec.made.get(slot, ())) for slot in spec.gives}
        return Booking("booked", gives, total="" if row is None else _total(service, row, slots))

    def _problems(self, service: Service, slots: Mapping[str, str]) -> dict[str, str]:
        return {
            slot: problem
            for slot, value in slots.items()
            if (
                problem := service.booking_slots[slot].problem(value)
                if slot in service.booking_slots
                else "is not a slot of the booking"
            )
        }

    def _refuses(self, service: Service, slots: Mapping[str, str]) -> tuple[str, ...]:
        """The slots in which a booking agrees with what the goal has refused first; none where it does not."""
        script = self._refused.get(service.name)
        if script and all(slot in slots and service.same(slots[slot], script[slot]) for slot in script):
            return tuple(script)
        return ()

    def _made(self, parts: tuple[tuple[str, ...], ...]) -> str:
        """One of each part; without any a text of letters and digits unlike any value of the rows."""
        if parts:
            return "".join(part[0] if len(part) == 1 else self._draws.pick(part) for part in parts)
        while True:
            signs = [self._draws.pick(_SIGNS) for _ in range(_LENGTH)]
            if not any(sign in _LETTERS for sign in signs):
                signs[0] = self._draws.pick(_LETTERS)
            text = "".join(signs)
            if text.casefold() not in self._search.told:
                return text

    # The same as tools

    def tools(self, side: Side = "system") -> list[dict[str, Any]]:
        """Name, description and parameters (JSON Schema) of each tool; users have none."""
        return [] if side == "user" else self._tools

    @cached_property
    def _tools(self) -> list[dict[str, Any]]:
        tools = []
        for service in self.domain.services.values():
            if service.rows is not None:
                tools.append(_search_tool(self.domain, service))
            if service.book is not None:
                tools.append(_book_tool(self.domain, service))
        return tools

    def call(self, name: str, arguments: object, side: Side = "system") -> CallOutcome:
        """Call a tool; a mistake of the caller is told to the caller."""
        names = [tool["name"] for tool in self.tools(side)]
        if name not in names:
            known = f"{nearest(name, names)} Tools are: {', '.join(names)}"
            return CallOutcome("unknown", reason=f"there is no tool '{name[:_LONGEST]}'.{known}")
        given = as_arguments(arguments)
        if not isinstance(given, dict):
            return CallOutcome("error", reason="the arguments must be a JSON object")
        kind, _, service = name.partition("_")
        use = self._search_tool if kind == "search" else self._book_tool
        try:
            return CallOutcome("ok", use(self.domain.services[service], given))
        except DialgaugeError as error:
            return CallOutcome("error", reason=str(error))

    def _search_tool(self, service: Service, arguments: dict[str, Any]) -> dict[str, Any]:
        given = _slots(arguments, service.wishes, "can be searched by")
        wishes = {}
        for slot, text in given.items():
            value = self.domain.value_meant(slot, text)
            if problem := service.wishes[slot].problem(value):
                raise DialgaugeError(f"{slot} {problem} (got '{value}')")
            if value not in NO_CONSTRAINT:
                wishes[slot] = value
        rows = self.search(service.name, wishes)
        self._believe(service.name, wishes, tuple(service.wishes), service.takes)
        self._found[service.name] = rows
        result: dict[str, Any] = {
            "count": len(rows),
            "rows": [_cells(service, row.values) for row in rows[:_ROWS]],
        }
        if len(rows) > _ROWS:
            result["note"] = f"these are the first {_ROWS} of {len(rows)}; narrow the search to see others"
        elif not rows and (notes := [note for item in wishes.items() if (note := self._missing(service, *item))]):
            result["note"] = " ".join(notes)
        return result

    def _missing(self, service: Service, slot: str, value: str) -> str:
        """Which values there are, where no row has this one."""
        wish = service.wishes[slot]
        if wish.match not in ("same", "contains") or comparable(value) in map(comparable, wish.values):
            return ""
        known = some_of(sorted(wish.values), _MOST_VALUES)
        return f"No {service.name} has {self.domain.label(service, slot)} '{value}'. Values are: {known}."

    def _book_tool(self, service: Service, arguments: dict[str, Any]) -> dict[str, Any]:
        named = [slot for slot in (service.id_slot, service.name_slot) if slot]
        given = _slots(arguments, {**service.booking_slots, **dict.fromkeys(named)}, "can be booked with")
        called = [given.pop(slot) for slot in named if slot in given]
        row = self._row(service, called[0] if called else "") if service.rows is not None else None
        problems = [
            f"{slot} {why} (got '{given[slot]}')"
            for slot, kind in service.booking_slots.items()
            if slot in given and (why := kind.problem(given[slot]))
        ]
        if problems:
            raise DialgaugeError("; ".join(problems))
        booking = self.book(service.name, given, row)
        self._believe(service.name, given, tuple(service.booking_slots), tuple(service.wishes))
        answer: dict[str, Any] = {"outcome": booking.outcome, "message": booking.sentence(service)}
        answer |= {slot.replace(" ", "_"): value for slot, value in booking.gives.items() if slot in service.slots}
        return answer | ({"total": booking.total} if booking.total else {})

    def _row(self, service: Service, name: str) -> Entity:
        called = service.id_slot or service.name_slot
        if not name:
            raise DialgaugeError(
                f"the argument {service.name_slot} is missing: which {service.name} to book, by {called}"
            )
        seen = [row for row in self._found.get(service.name, ()) if comparable(row.name) == comparable(name)]
        rows = seen or list(self.named(service.name, name))
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


def _total(service: Service, row: Entity, slots: Mapping[str, str]) -> str:
    """The price times what multiplies it, to the penny; empty where the service has no such thing."""
    for price, times in service.total.items():
        cost = _PRICE.fullmatch(row.values.get(price, "").strip())
        count = slots.get(times, "")
        if cost is not None and count.isdecimal():
            pence = round(float(cost[1]) * 100)
            return f"{pence * int(count) / 100:.2f}{cost[2]}"
    return ""


def _cells(service: Service, values: Mapping[str, str]) -> dict[str, str | None]:
    """All that can be told of a row; None is unknown."""
    slots = dict.fromkeys(filter(None, (service.name_slot, service.id_slot, *service.wishes, *service.answer)))
    return {slot.replace(" ", "_"): values.get(slot) for slot in slots}


def _slots(arguments: dict[str, Any], known: Mapping[str, object], what: str) -> dict[str, str]:
    """Arguments as texts by slot; empty ones are left out, an unknown one is an error."""
    by_name = {slot.replace(" ", "_").lower(): slot for slot in known if slot}
    texts = {}
    for name, value in arguments.items():
        named = plain(name)[:_LONGEST]
        slot = by_name.get(named.replace(" ", "_").lower())
        if slot is None:
            raise DialgaugeError(f"it {what} other fields, not by '{named}'.{nearest(named, by_name)}")
        if isinstance(value, list | dict):
            raise DialgaugeError(f"{named} takes one value as text or number, not a list or an object")
        if text := _written(value):
            texts[slot] = text
    return texts


def _written(value: object) -> str:
    """An argument as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, int) and abs(value) >= 10**_LONGEST:
        return "a number too large to write"
    return "" if value is None else plain(str(value)).strip()[:_LONGEST]


# What models are told of the tools


def _search_tool(domain: Domain, service: Service) -> dict[str, Any]:
    properties = {
        slot.replace(" ", "_"): _wish_schema(domain, service, slot, wish) for slot, wish in service.wishes.items()
    }
    description = (
        f"Find {service.title}. Give only what the customer wants; leave out the rest. Returns how many fit and the "
        f"first of them with all that is known of each."
    )
    return _described(f"search_{service.name}", description, properties, [])


def _wish_schema(domain: Domain, service: Service, slot: str, wish: SearchSlot) -> dict[str, Any]:
    label, unit = domain.label(service, slot), f" ({wish.unit})" if wish.unit else ""
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
    if slot == service.name_slot:
        schema["description"] = f"{label}: only where the customer named one"
    elif 0 < len(wish.values) <= FEW:
        schema["enum"] = list(wish.values)
    return schema


def _book_tool(domain: Domain, service: Service) -> dict[str, Any]:
    spec = service.book
    properties: dict[str, Any] = {}
    required = []
    if service.rows is not None:
        name = service.name_slot.replace(" ", "_")
        label = domain.label(service, service.id_slot or service.name_slot)
        called = "name" if label == service.name else label
        properties[name] = {"type": "string", "description": f"which one to book: its {called}, as a search gave it"}
        required.append(name)
    if spec is not None:
        for slot, kind in spec.takes.items():
            label = domain.label(service, slot)
            about = label if label == slot else f"{slot}: {label}"
            properties[slot.replace(" ", "_")] = _type_schema(about, kind)
        required += [slot.replace(" ", "_") for slot in spec.needs]
    groups = [" or ".join(domain.label(service, slot) for slot in group) for group in (spec.one_of if spec else ())]
    needs = f" It also needs {' and '.join(groups)}." if groups else ""
    gives = " and ".join(domain.label(service, slot) for slot in service.gives)
    description = f"Book {service.title}.{needs}" + (f" Returns the {gives}; tell it to the customer." if gives else "")
    return _described(f"book_{service.name}", description, properties, required)


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
    return {"type": "string", "description": label}


def _described(name: str, description: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"name": name, "description": description, "parameters": parameters}
