"""Files that go with dialogues: schemas, canonical maps, tasks and records of tool domains, lists of ids.

Tasks and records are listed and counted here; ``dialgauge.worlds.tools`` makes a domain of them.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Ontology, SlotSpec
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import Resource, ResourceFormat
from dialgauge.formats.json_text import decode
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part, decode_utf8


class _Slot(Struct, gc=False):
    name: str
    description: str = ""
    is_categorical: bool = False
    possible_values: list[str] = []


class _Intent(Struct, gc=False):
    name: str


class _Service(Struct, gc=False):
    service_name: str
    slots: list[_Slot]
    intents: list[_Intent] = []
    description: msgspec.Raw = msgspec.Raw()


_FILE = msgspec.json.Decoder(list[msgspec.Raw])
_SERVICE = msgspec.json.Decoder(_Service)


class SchemaFormat(ResourceFormat):
    """Services (domains here) of SGD, MultiWOZ 2.2 and GCDF1: slots with values and descriptions, names of intents."""

    name = "schema"
    summary = "schema.json of SGD, MultiWOZ 2.2 or GCDF1: services with slots, values and intents"
    kind = "ontology"

    def recognise(self, peek: Peek) -> bool:
        first = peek.first[1] if isinstance(peek.json, list) and peek.first else None
        return isinstance(first, dict) and "service_name" in first

    def load(self, part: Part, notes: Notes) -> Resource:
        pieces = decode(_FILE, part.read(), part)
        services = [_service(raw, number, part) for number, raw in enumerate(pieces, start=1)]
        domains: dict[str, dict[str, SlotSpec]] = {}
        for service in services:
            if service.service_name in domains:
                raise DialgaugeError(f"the service {service.service_name!r} is listed twice", file=part.name)
            domains[service.service_name] = _slots(service, part)
            notes.add("description of a service dropped", int(bool(service.description)))
        notes.add("details of an intent dropped (only its name is kept)", sum(len(each.intents) for each in services))
        intents = {each.service_name: tuple(intent.name for intent in each.intents) for each in services}
        return Resource(kind="ontology", ontology=Ontology(domains=domains, intents=intents))


def _service(raw: msgspec.Raw, number: int, part: Part) -> _Service:
    try:
        return decode(_SERVICE, raw, part)
    except DialgaugeError as error:
        raise DialgaugeError(f"service number {number}: {error.message}", file=part.name) from error


def _slots(service: _Service, part: Part) -> dict[str, SlotSpec]:
    slots: dict[str, SlotSpec] = {}
    for slot in service.slots:
        if slot.name in slots:
            message = f"the slot {slot.name!r} of the service {service.service_name!r} is listed twice"
            raise DialgaugeError(message, file=part.name)
        slots[slot.name] = SlotSpec(
            values=tuple(slot.possible_values), categorical=slot.is_categorical, description=slot.description
        )
    return slots


SPECIAL = "special_keys"

_MAP = msgspec.json.Decoder(dict[str, dict[str, Any]])


class CanonicalMapFile(ResourceFormat):
    """The values a dataset's goals use, each with the ways people write it; some slots are split by domain first."""

    name = "canonical-map"
    summary = "canonical values and their paraphrases by slot, as GCDF1 uses them"
    kind = "values"

    def recognise(self, peek: Peek) -> bool:
        if not isinstance(peek.json, dict) or peek.first is None or not isinstance(peek.first[1], dict):
            return False
        slots = peek.json.values()
        return all(isinstance(table, dict) for table in slots) and any(_is_table(table) for table in slots)

    def load(self, part: Part, notes: Notes) -> Resource:
        content = decode(_MAP, part.read(), part)
        for slot, table in content.items():
            tables = [(slot, table)] if SPECIAL in table else [(f"{slot}.{key}", sub) for key, sub in table.items()]
            for name, each in tables:
                _check(name, each, part)
        return Resource(kind="values", values=content)


def _is_table(table: dict[str, Any]) -> bool:
    """Does it look like canonical values to lists of paraphrases, perhaps under a domain?"""
    if SPECIAL in table:
        return isinstance(table[SPECIAL], dict) and "not_in_goal" in table[SPECIAL]
    return any(isinstance(sub, dict) and SPECIAL in sub for sub in table.values())


def _check(name: str, table: Any, part: Part) -> None:
    if not isinstance(table, dict) or SPECIAL not in table:
        slot, _, key = name.partition(".")
        raise DialgaugeError(
            f"the slot {slot} has no {SPECIAL}, and the domain {key} within it has none either; "
            f'add "{SPECIAL}": {{"not_in_goal": {{}}}} to the slot, or to each of its domains',
            file=part.name,
        )
    for value, paraphrases in table.items():
        if value == SPECIAL:
            _check_special(name, paraphrases, part)
        elif not _is_texts(paraphrases):
            raise DialgaugeError(f"the value {value!r} of {name} must have a list of paraphrases", file=part.name)


def _check_special(name: str, special: Any, part: Part) -> None:
    outside = special.get("not_in_goal", {}) if isinstance(special, dict) else None
    if not isinstance(outside, dict):
        raise DialgaugeError(f"{SPECIAL}.not_in_goal of {name} must be an object", file=part.name)
    for key, entry in outside.items():
        if not _is_texts(entry) and not (isinstance(entry, dict) and all(map(_is_texts, entry.values()))):
            raise DialgaugeError(
                f"{SPECIAL}.not_in_goal.{key} of {name} must be a list of paraphrases, or such lists by value",
                file=part.name,
            )


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


#: What a task has, in the first version of the benchmark and in the second.
_TASKS = ({"instruction", "actions"}, {"user_scenario", "evaluation_criteria"})
#: What a record of a flight, reservation, user or product has.
_RECORDS = (
    {"flight_number", "dates"},
    {"reservation_id", "payment_history"},
    {"email", "payment_methods"},
    {"product_id", "variants"},
)
_LIST = msgspec.json.Decoder(list[dict[str, Any]])
_OBJECT = msgspec.json.Decoder(dict[str, dict[str, Any]])


class ToolTasks(ResourceFormat):
    """A list of tasks."""

    name = "tool-tasks"
    summary = "tasks of agents that call tools, as tau-bench (JSON) or tau2-bench writes them"
    kind = "tasks"

    def recognise(self, peek: Peek) -> bool:
        first = peek.first[1] if isinstance(peek.json, list) and peek.first else None
        return isinstance(first, dict) and any(keys <= first.keys() for keys in _TASKS)

    def load(self, part: Part, notes: Notes) -> Resource:
        tasks = decode(_LIST, part.read(), part)
        odd = next((index for index, task in enumerate(tasks) if not any(keys <= task.keys() for keys in _TASKS)), None)
        if odd is not None:
            raise DialgaugeError(
                f"entry {odd} is not a task: it has no instruction or no expected actions", file=part.name
            )
        return Resource(kind="tasks", texts=tuple(str(task.get("id", index)) for index, task in enumerate(tasks)))


class ToolRecords(ResourceFormat):
    """One table of records by id, or several tables."""

    name = "tool-records"
    summary = "records of a tool domain: flights, reservations, users, products, orders by id"
    kind = "records"

    def recognise(self, peek: Peek) -> bool:
        if not isinstance(peek.json, dict) or peek.first is None or not isinstance(peek.first[1], dict):
            return False
        inner = next(iter(peek.first[1].values()), None)
        return _is_record(peek.first[1]) or _is_record(inner)

    def load(self, part: Part, notes: Notes) -> Resource:
        tables = decode(_OBJECT, part.read(), part)
        if all(map(_is_record, tables.values())):
            return Resource(kind="records", texts=tuple(tables))
        for name, table in tables.items():
            if not all(isinstance(record, dict) for record in table.values()):
                raise DialgaugeError(f"'{name}' is neither a record nor a table of records", file=part.name)
        return Resource(kind="records", texts=tuple(key for table in tables.values() for key in table))


def _is_record(value: Any) -> bool:
    return isinstance(value, dict) and any(keys <= value.keys() for keys in _RECORDS)


#: No space inside, and a digit somewhere: words of prose on a line of their own are no ids.
_ID = re.compile(r"(?=\S*\d)[A-Za-z0-9][\w.+-]*")
_WIDEST = 200


class IdList(ResourceFormat):
    """Dialogue ids, one per line, as MultiWOZ publishes its splits (``testListFile.txt``)."""

    name = "ids"
    summary = "a list of dialogue ids, one per line, as in testListFile.txt"
    kind = "ids"

    def recognise(self, peek: Peek) -> bool:
        lines = [line.strip() for line in peek.lines if line.strip()]
        return bool(lines) and all(len(line) <= _WIDEST and _ID.fullmatch(line) for line in lines)

    def load(self, part: Part, notes: Notes) -> Resource:
        seen: dict[str, int] = {}
        for number, raw in part.lines():
            line = decode_utf8(raw, part.name, number).strip()
            if not line:
                continue
            if not _ID.fullmatch(line):
                raise DialgaugeError(f"{line[:40]!r} is not a dialogue id", file=part.name, line=number)
            if line in seen:
                raise DialgaugeError(f"the id is listed twice, first in line {seen[line]}", file=part.name, line=number)
            seen[line] = number
        if not seen:
            raise DialgaugeError("the file is empty", file=part.name)
        return Resource(kind="ids", texts=tuple(seen))
