"""Conversations and results by a mapping: rows put together to conversations, with what is known of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.formats.logs.logged import NAMES, Numbering, facts_of, judged, logged_dialogue, number_in
from dialgauge.formats.logs.messages import LogMessages, read_messages
from dialgauge.formats.mapping import FACTS, Field, Mapping, unread_fields
from dialgauge.formats.notes import Notes
from dialgauge.formats.predictions.states import Misfit, opened, shown
from dialgauge.formats.row_paths import Pattern, Row, as_text, inside
from dialgauge.formats.source import Part

if TYPE_CHECKING:
    from dialgauge.formats.documented import Records


class LogReader:
    """Reads conversations and results by a mapping; ``place`` says in which line of it a field stands.

    ``documented``: nobody wrote the mapping, so that every record is checked, and says all that has a documented name.
    """

    def __init__(
        self,
        mapping: Mapping,
        notes: Notes,
        place: Callable[..., str] = lambda *path: "",
        documented: Records | None = None,
    ) -> None:
        self._mapping = replace(mapping, success=notes.verdict) if notes.verdict else mapping
        self._notes, self._place, self._documented = notes, place, documented
        self._numbering = Numbering(notes)
        #: Fields that some row has, and why those that none has yet are missing.
        self._found: set[str] = set()
        self._missing: dict[str, Misfit] = {}

    def read(self, chosen: Sequence[Row], part: Part) -> Iterator[Dialogue]:
        """The conversations of the rows of one file."""
        if (reading := self._notes.reading) is not None:
            reading.mapping = self._mapping
            unread = dict.fromkeys((*reading.unread, *unread_fields(self._mapping, chosen[:200])))
            reading.unread = tuple(name for name in unread if not self._documented or name not in NAMES)
        for group in self._conversations(chosen):
            row = group[0]
            try:
                for each in group:
                    each.require_single_keys()
                for number, (record, verdict) in enumerate(self._records(group)):
                    facts = facts_of(record, self._notes)
                    if not self._documented or self._notes.verdict:
                        field = self._mapping.field("success") or Field()
                        named = bool(self._notes.verdict)
                        success = judged(field.at or "success", verdict, field, self._notes, named=named)
                        facts = replace(facts, success=success, reward=number_in(record.get("reward")))
                    fallback = f"number-{row.number + 1}{f'.{number}' if number else ''}"
                    filed = self._numbering.take(facts, fallback, part.name)
                    dialogue = logged_dialogue("chat", self._messages(group), facts, filed)
                    if self._documented:
                        self._documented.check(row, dialogue)
                    yield dialogue
            except Misfit as error:
                self._notes.refuse(DialgaugeError(f"row {row.number + 1}: {error}", file=part.name))
            except DialgaugeError as error:
                self._notes.refuse(error.at(file=part.name, dialogue=f"row {row.number + 1}"))

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
        success = mapping.field("success")
        record = self._documented.record(held[0]) if self._documented else self._ids(held)
        for name in () if self._documented else FACTS:
            given = getattr(mapping, name)
            if isinstance(given, dict):
                record[name] = {score: self._value(held, f"scores.{score}", at) for score, at in given.items()}
            elif given is not None:
                record[name] = self._value(held, name, given)
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
