"""Logs of agents as chat messages: records with documented names, in JSON, JSON lines or, without messages, CSV.

A record is a conversation: ``messages`` with, as far as they are known, ``task_id``, ``trial``, ``success`` or
``passed`` or ``reward``, ``scores``, ``cost``, ``tokens``, ``seconds``, ``model``, ``instruction``, ``knows``,
``expected_calls`` and ``id``. Records without messages are results. Other members are not read, which the notes say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats.base import DialogueFormat
from dialgauge.formats.logs.logged import (
    NAMES,
    VERDICTS,
    Numbering,
    facts_of,
    judged,
    logged_dialogue,
    number_in,
)
from dialgauge.formats.logs.messages import LogMessages, is_message, read_messages
from dialgauge.formats.mapping import FACTS, Field, Mapping, Reading, unread_fields
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.predictions.states import Misfit, opened, shown
from dialgauge.formats.row_paths import Pattern, Row, as_text, content_of, inside, is_object, rows
from dialgauge.formats.source import Part

#: What records of other formats have.
_OTHERS = frozenset(
    {"traj", "turns", "termination_reason", "dialogue_id", "custom_id", "state", "predicted", "prediction", "pred"}
)
#: Last words of fields in which a conversation may stand, and names that tell conversations of one task apart.
_TALK = frozenset({"input", "output", "prompt", "response", "question", "answer", "transcript", "conversation"})
_MARKS = frozenset({"variant", "agent", "model", "system", "config", "seed", "run", "attempt", "epoch", "repeat"})


class ChatMessages(DialogueFormat):
    """Conversations of agents, or their results alone."""

    name = "messages"
    summary = "logs of agents: records with messages, task_id, trial and success; or CSV of results"
    fields = frozenset({"text", "calls", "source", "goal", "outcome"})
    spans_files = True

    def recognise(self, peek: Peek) -> bool:
        if isinstance(peek.json, list):
            first = peek.json[0] if peek.json else None
        elif isinstance(peek.json, dict) and len(peek.lines) > 1 and peek.first_line is None:
            first = peek.json
        else:
            first = peek.first_line
        if isinstance(first, dict):
            return _is_record(first)
        return peek.json is None and _names_results(peek.lines[0])

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        return (dialogue for _, dialogue in self.read_parts([part], notes))

    def read_parts(self, parts: Sequence[Part], notes: Notes) -> Iterator[tuple[Part, Dialogue]]:
        numbering, seen = Numbering(notes), dict[str, None]()
        trials, path = _Trials(), "[]"
        for part in parts:
            content = _content(part)
            path = "" if is_object(content) else "[]"
            for row in rows(content, path, part.name):
                named = f"number {row.number + 1}"
                try:
                    record = _record(row, part)
                    named = str(record.get("id") or record.get("task_id") or named)
                    seen |= {name: None for name, value in record.items() if value not in (None, "", [], {})}
                    given = record.get("messages")
                    messages = read_messages(given, notes) if isinstance(given, list) else LogMessages()
                    facts = facts_of(record, notes)
                    filed = numbering.take(facts, f"number-{row.number + 1}", part.name)
                    dialogue = logged_dialogue("chat", messages, facts, filed)
                    _refuse_calls_in_texts(dialogue)
                    if facts.trial is None:
                        trials.refuse_other_things(part.name, record, dialogue)
                    yield part, dialogue
                except DialgaugeError as error:
                    notes.refuse(error.at(file=part.name, dialogue=named))
        if notes.verdict and seen and not {notes.verdict, notes.verdict.partition(".")[0]} & seen.keys():
            hint = nearest(notes.verdict, map(str, seen))
            raise DialgaugeError(f"no record says '{notes.verdict}', named as the verdict.{hint}", file=parts[0].name)
        unread = tuple(str(name)[:60] for name in seen if name not in NAMES and name != notes.verdict)
        notes.reading = Reading(_common_log(seen, path, notes.verdict), unread=unread)


def _common_log(names: Container[str], path: str, verdict: str = "") -> Mapping:
    """The mapping that says what the documented names say."""
    verdict = verdict or next((name for name in VERDICTS if name in names), "")
    facts = {name: name for name in ("trial", *FACTS) if name in names and name != verdict}
    return Mapping(
        reads="conversations" if "messages" in names else "results",
        rows=path,
        dialogue="id" if "id" in names else None,
        task="task_id" if "task_id" in names else None,
        messages=("messages",) if "messages" in names else (),
        success=Field(at=verdict, at_least=1) if verdict == "reward" else verdict or None,
        **facts,  # type: ignore[arg-type]
    )


def _is_record(record: dict[str, Any]) -> bool:
    """True for a record of the layout: messages, or a task or trial with a verdict or scores."""
    if not _OTHERS.isdisjoint(record):
        return False
    messages = record.get("messages")
    if isinstance(messages, list):
        return not messages or is_message(messages[0])
    return "task_id" in record and not {*VERDICTS, "scores"}.isdisjoint(record)


def _names_results(heading: str) -> bool:
    """True for the heading of a table with tasks and verdicts."""
    names = {cell.strip(' "\ufeff') for cell in re.split(r"[,;\t|]", heading)}
    return "task_id" in names and not names.isdisjoint(VERDICTS)


def _content(part: Part) -> Any:
    try:
        return content_of(part)
    except Misfit as error:
        raise DialgaugeError(str(error), file=part.name) from None


def _record(row: Row, part: Part) -> dict[str, Any]:
    record = row.value
    if not isinstance(record, dict):
        raise DialgaugeError(f"{shown(record)} is no object")
    try:
        row.require_single_keys()
    except Misfit as error:
        raise DialgaugeError(str(error)) from None
    if why := _misfit(record):
        seen = ", ".join(str(name)[:30] for name in list(record)[:12])
        raise DialgaugeError(f"{why} (it has {seen}); 'dialgauge data map {part.name}' proposes how to read it")
    return record


class _Trials:
    """Conversations without a trial, which are the next trial of their task: refused where they may be other things."""

    def __init__(self) -> None:
        self._before: dict[tuple[str, str], tuple[dict[str, Any], int, int]] = {}

    def refuse_other_things(self, file: str, record: dict[str, Any], dialogue: Dialogue) -> None:
        """An error for another agent or variant, and for a conversation that goes on from the one before."""
        task = dialogue.ended.task
        marks = {name: value for name, value in record.items() if name.lower() in _MARKS and value not in (None, "")}
        texts = [turn.text for turn in dialogue.turns]
        others, length, said = self._before.get((file, task), (marks, 0, 0))
        self._before[file, task] = marks, len(texts), hash(tuple(texts))
        if name := next((name for name in others if others[name] != marks.get(name)), ""):
            raise DialgaugeError(
                f"task '{task}' comes again without a trial, and '{name}' is {shown(others[name])} and "
                f"{shown(marks.get(name))}: is it another trial, or another agent? A mapping says it, which 'dialgauge "
                f"data map {file}' proposes"
            )
        if 2 <= length < len(texts) and hash(tuple(texts[:length])) == said:
            raise DialgaugeError(
                f"this conversation of task '{task}' goes on from the one before: is it one conversation as it grew? "
                "Keep the last; or give each a 'trial'"
            )


def _refuse_calls_in_texts(dialogue: Dialogue) -> None:
    for before, turn in pairwise(dialogue.turns):
        if turn.text.startswith("Observation:") and "\nAction:" in f"\n{before.text}":
            raise DialgaugeError(
                "calls and their results stand in texts (Action:, Observation:); give them as 'tool_calls' and "
                "messages of the role 'tool', or give a function from a record to a Dialogue"
            )


def _misfit(record: dict[str, Any]) -> str:
    """Why a record is not of the layout: what it says stands under other names; empty where it is."""
    if not _is_record(record):
        return "it has no 'messages' with a role each, nor 'task_id' with a verdict"
    others = {name: value for name, value in record.items() if name not in NAMES and value not in (None, "")}
    for name, value in others.items():
        if isinstance(value, dict) and (inside := next((key for key in value if key in NAMES - {"id"}), "")):
            return f"'{inside}' is read beside the messages only, and stands inside of '{name}'"
    if "messages" not in record and (held := [name for name, value in others.items() if _may_talk(name, value)]):
        return f"it has no 'messages', and '{held[0]}' may be these"
    if "trial" in record and "task_id" not in record:
        return "it has a 'trial' and no 'task_id'"
    named = record.get("task_id") is not None or record.get("id") is not None
    if not named and (names := [name for name, value in others.items() if isinstance(value, str | int)]):
        return f"it has no 'task_id' and no 'id', and '{names[0]}' may be one"
    return ""


def _may_talk(name: str, value: Any) -> bool:
    """True for what a conversation could stand in: a list, an object, a text of several lines or of such a name."""
    text = isinstance(value, str) and ("\n" in value or re.split(r"[^a-z]+", name.lower())[-1] in _TALK)
    return isinstance(value, list | dict) or text


# -- by a mapping ----------------------------------------------------------------------------------------------------


class LogReader:
    """Reads conversations and results by a mapping; ``place`` says in which line of it a field stands."""

    def __init__(self, mapping: Mapping, notes: Notes, place: Callable[..., str] = lambda *path: "") -> None:
        self._mapping = replace(mapping, success=notes.verdict) if notes.verdict else mapping
        self._notes, self._place = notes, place
        self._numbering = Numbering(notes)
        #: Fields that some row has, and why those that none has yet are missing.
        self._found: set[str] = set()
        self._missing: dict[str, Misfit] = {}

    def read(self, chosen: Sequence[Row], part: Part) -> Iterator[Dialogue]:
        """The conversations of the rows of one file."""
        if self._notes.reading is not None:
            self._notes.reading.mapping = self._mapping
            self._notes.reading.unread = unread_fields(self._mapping, chosen[:200])
        for held in self._conversations(chosen):
            where = f"row {held[0].number + 1}"
            try:
                for row in held:
                    row.require_single_keys()
                for number, (record, verdict) in enumerate(self._records(held)):
                    facts = facts_of(record, self._notes)
                    reward = number_in(record.get("reward"))
                    field = self._mapping.field("success") or Field()
                    success = judged(field.at or "success", verdict, field, self._notes)
                    facts = replace(facts, success=success, reward=reward)
                    fallback = f"number-{held[0].number + 1}{f'.{number}' if number else ''}"
                    named = self._numbering.take(facts, fallback, part.name)
                    yield logged_dialogue("chat", self._messages(held), facts, named)
            except Misfit as error:
                self._notes.refuse(DialgaugeError(f"{where}: {error}", file=part.name))
            except DialgaugeError as error:
                self._notes.refuse(error.at(file=part.name, dialogue=where))

    def require_found(self) -> None:
        """An error where a field stands in no row at all."""
        for name, error in self._missing.items():
            if name not in self._found:
                raise DialgaugeError(f"{name}: in every row, {error}{self._place(name)}")

    def _conversations(self, chosen: Sequence[Row]) -> Iterator[list[Row]]:
        """The rows of each conversation: one, or where each row is a message, those of the same ids."""
        if self._mapping.messages_at or self._mapping.reads == "results":
            yield from ([row] for row in chosen)
            return
        grouped: dict[tuple[tuple[str, Any], ...], list[Row]] = {}
        for row in chosen:
            try:
                grouped.setdefault(tuple(self._ids([row]).items()), []).append(row)
            except Misfit as error:
                raise DialgaugeError(f"row {row.number + 1}: {error}", file=row.file) from None
        yield from grouped.values()

    def _records(self, held: Sequence[Row]) -> Iterator[tuple[dict[str, Any], Any]]:
        """What the rows of a conversation say under the documented names, and the verdict as it is written.

        Of several rows the first that says something counts. A column for each trial gives a record for each.
        """
        mapping = self._mapping
        record = self._ids(held)
        for name in FACTS:
            given = getattr(mapping, name)
            if isinstance(given, dict):
                record[name] = {score: self._value(held, f"scores.{score}", at) for score, at in given.items()}
            elif given is not None:
                record[name] = self._value(held, name, given)
        success = mapping.field("success")
        if success is None or not success.columns:
            yield record, None if success is None else self._value(held, "success", success.at, single=True)
            return
        columns = list(held[0].value) if isinstance(held[0].value, dict) else []
        for column, groups in zip(columns, Pattern(success.columns).groups(columns), strict=True):
            if groups:
                self._found.add("success")
                yield {**record, **({"trial": groups["trial"]} if groups.get("trial") else {})}, held[0].value[column]
        self._missing.setdefault("success", Misfit(f"no column matches '{success.columns}'"))

    def _ids(self, held: Sequence[Row]) -> dict[str, Any]:
        """Dialogue, task and trial, under the documented names."""
        record: dict[str, Any] = {}
        for name, documented in (("dialogue", "id"), ("task", "task_id"), ("trial", "trial")):
            field = self._mapping.field(name)
            if field is None or (value := self._value(held, name, field.at)) in (None, ""):
                continue
            if isinstance(value, dict | list):
                raise Misfit(f"{name}: {shown(value)} is no text and no number{self._place(name)}")
            if not field.match:
                record[documented] = value
                continue
            cut = as_text(value)
            [groups] = Pattern(field.match).groups([cut[-300:] if field.at == "$path" else cut])
            if not groups:
                raise Misfit(f"{name}: {shown(value)} does not match {field.match}{self._place(name)}")
            named = {"dialogue": "id", "task": "task_id", "trial": "trial"}
            found = {named[group]: text for group, text in groups.items() if group in named and text is not None}
            record |= found or {documented: next(iter(groups.values())) or value}
        return record

    def _value(self, held: Sequence[Row], name: str, path: str, *, single: bool = False) -> Any:
        """The first value that is there; ``single``: the only one."""
        found = []
        for row in held:
            try:
                value = row.get(path)
            except Misfit as error:
                self._missing.setdefault(name, error)
                continue
            self._found.add(name)
            if value not in (None, ""):
                found.append(value)
                if not single:
                    break
        if len(set(map(as_text, found))) > 1:
            raise Misfit(f"{name}: messages of one conversation say {shown(found[0])} and {shown(found[-1])}")
        return found[0] if found else None

    def _messages(self, held: Sequence[Row]) -> LogMessages:
        """What was said and done, in the order of the mapping."""
        mapping = self._mapping
        if mapping.reads == "results":
            return LogMessages((), ())
        listed = [row.value for row in held] if not mapping.messages_at else []
        for field in mapping.messages_at:
            given = opened(self._value(held, "messages", field.at), field.chain)
            if isinstance(given, str) and field.role:
                given = {"role": field.role, "content": given}
            if given is not None and not isinstance(given, dict | list):
                raise Misfit(f"messages: {shown(given)} is no list of messages{self._place('messages')}")
            listed += given if isinstance(given, list) else [given] if given else []
        if mapping.role or mapping.content or mapping.roles:
            listed = list(self._renamed(listed))
        return read_messages(listed, self._notes)

    def _renamed(self, listed: Sequence[Any]) -> Iterator[dict[str, Any]]:
        """Messages with their role and content under these names."""
        mapping = self._mapping
        for number, message in enumerate(listed):
            try:
                role = inside(message, mapping.role or "role")
                content = inside(message, mapping.content or "content") if mapping.content else message.get("content")
            except Misfit as error:
                raise Misfit(f"message {number}: {error}{self._place('role' if mapping.role else 'content')}") from None
            if mapping.roles.get(as_text(role), role) is None:
                self._notes.add(f"messages by '{as_text(role)[:40]}' left out")
                continue
            yield {**message, "role": mapping.roles.get(as_text(role), role), "content": content}
