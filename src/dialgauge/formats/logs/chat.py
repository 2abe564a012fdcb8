"""Logs of agents as chat messages: records with documented names, in JSON, JSON lines or, without messages, CSV.

A record is a conversation: ``messages`` with, as far as they are known, ``task_id``, ``trial``, ``success`` or
``passed`` or ``reward``, ``scores``, ``cost``, ``tokens``, ``seconds``, ``model``, ``instruction``, ``knows``,
``expected_calls`` and ``id``. Records without messages are results. Other members are not read, which the notes say.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat
from dialgauge.formats.json_text import decode
from dialgauge.formats.large_json import large_values
from dialgauge.formats.logs.logged import NAMES, VERDICTS, Numbering, facts_of, logged_dialogue
from dialgauge.formats.logs.messages import LogMessages, is_message, read_messages
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part

_RECORD = msgspec.json.Decoder(dict[str, Any])
#: What records of other formats have.
_OTHERS = frozenset(
    {"traj", "turns", "termination_reason", "dialogue_id", "custom_id", "state", "predicted", "prediction", "pred"}
)
_RECORDS = msgspec.json.Decoder(list[dict[str, Any]])


class ChatMessages(DialogueFormat):
    """Conversations of agents, or their results alone."""

    name = "messages"
    summary = "logs of agents: records with messages, task_id, trial and success; or CSV of results"
    fields = frozenset({"text", "calls", "source", "goal", "outcome"})
    goes_on = True

    def recognise(self, peek: Peek) -> bool:
        if isinstance(peek.json, list):
            first = peek.json[0] if peek.json else None
        elif isinstance(peek.json, dict) and len(peek.lines) > 1 and peek.first_line is None:
            first = peek.json
        else:
            first = peek.first_line
        if isinstance(first, dict):
            return is_record(first)
        return peek.json is None and is_results_header(peek.lines)

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        return (dialogue for _, dialogue in self.read_parts([part], notes))

    def read_parts(self, parts: Sequence[Part], notes: Notes) -> Iterator[tuple[Part, Dialogue]]:
        numbering = Numbering(notes)
        for part in parts:
            for number, record in _records(part):
                try:
                    yield part, _dialogue(record, number, numbering, part, notes)
                except DialgaugeError as error:
                    named = str(record.get("id") or record.get("task_id") or f"number {number}")
                    notes.refuse(error.at(file=part.name, dialogue=named))


def is_record(record: Mapping[str, Any]) -> bool:
    """True for a record of the layout: messages, or a task or trial with a verdict or scores."""
    if not _OTHERS.isdisjoint(record):
        return False
    messages = record.get("messages")
    if isinstance(messages, list):
        return not messages or is_message(messages[0])
    return "task_id" in record and not {*VERDICTS, "scores"}.isdisjoint(record)


def is_results_header(lines: Sequence[str]) -> bool:
    """True for a first line of CSV that names tasks and verdicts."""
    names = set(first_cells(lines))
    return len(names) > 1 and "task_id" in names and not {*VERDICTS}.isdisjoint(names)


def first_cells(lines: Sequence[str]) -> list[str]:
    """The cells of a first line of CSV; none where it is no such line."""
    try:
        return [cell.strip() for cell in next(csv.reader(lines[:1]), [])]
    except csv.Error:
        return []


def _records(part: Part) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records of a file with their numbers, from 1."""
    start = part.head(1 << 12).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if start == b"[":
        yield from enumerate(_listed(part), start=1)
    elif start == b"{":
        yield from _lines(part)
    else:
        yield from _rows(part)


def _listed(part: Part) -> Iterable[dict[str, Any]]:
    if not part.is_large:
        return decode(_RECORDS, part.read(), part)
    return (decode(_RECORD, raw, part) for raw in large_values(part))


def _lines(part: Part) -> Iterator[tuple[int, dict[str, Any]]]:
    """JSON lines, or one object over several lines."""
    lines = part.lines()
    for number, line in lines:
        if not line.strip():
            continue
        try:
            yield number, _RECORD.decode(line)
        except msgspec.ValidationError:
            raise
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            if number > 1:
                decode(_RECORD, line, part, line=number)
            yield 1, decode(_RECORD, part.read(), part)
            return


def _rows(part: Part) -> Iterator[tuple[int, dict[str, Any]]]:
    text = io.StringIO(part.read().decode("utf-8-sig", "replace"), newline="")
    reader = csv.DictReader(text)
    names = [name.strip() for name in reader.fieldnames or ()]
    if len(set(names)) < len(names):
        raise DialgaugeError("two columns have the same name", file=part.name)
    try:
        for number, row in enumerate(reader, start=2):
            if None in row or None in row.values():
                raise DialgaugeError(f"the row does not have {len(names)} cells", file=part.name, line=number)
            yield number, {str(name).strip(): cell.strip() for name, cell in row.items()}
    except csv.Error as error:
        raise DialgaugeError(f"it is no CSV ({error})", file=part.name) from error


def _dialogue(record: Mapping[str, Any], number: int, numbering: Numbering, part: Part, notes: Notes) -> Dialogue:
    if why := _misfit(record):
        seen = ", ".join(str(name)[:30] for name in list(record)[:12])
        raise DialgaugeError(f"{why} (it has {seen}); 'dialgauge data map {part.name}' proposes how to read it")
    for name in record:
        if name not in NAMES and record[name] not in (None, "", [], {}):
            notes.add(f"field {str(name)[:60]} not read")
    given = record.get("messages")
    messages = read_messages(given, notes) if isinstance(given, list) else LogMessages((), ())
    facts = facts_of(record, notes)
    return logged_dialogue("chat", messages, facts, numbering.take(facts, f"number-{number}", part.name))


def _misfit(record: Mapping[str, Any]) -> str:
    """Why a record is not of the layout: what it says stands under other names; empty where it is."""
    if not is_record(record):
        return "it has no 'messages' with a role each, nor 'task_id' with a verdict"
    others = {name: value for name, value in record.items() if name not in NAMES and value not in (None, "")}
    for name, value in others.items():
        if isinstance(value, dict) and (inside := next((key for key in value if key in NAMES - {"id"}), "")):
            return f"'{inside}' is read beside the messages only, and stands inside of '{name}'"
    if "messages" not in record and (held := [name for name, value in others.items() if _may_talk(value)]):
        return f"it has no 'messages', and '{held[0]}' may be these"
    if "trial" in record and "task_id" not in record:
        return "it has a 'trial' and no 'task_id'"
    named = record.get("task_id") is not None or record.get("id") is not None
    if not named and (names := [name for name, value in others.items() if isinstance(value, str | int)]):
        return f"it has no 'task_id' and no 'id', and '{names[0]}' may be one"
    return ""


def _may_talk(value: Any) -> bool:
    """True for what a conversation could stand in: a list, an object, a text of several lines."""
    return isinstance(value, list | dict) or (isinstance(value, str) and "\n" in value)
