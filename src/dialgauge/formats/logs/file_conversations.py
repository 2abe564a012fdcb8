"""The conversations of one file, whatever it is: JSON lines, one JSON value, a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from dialgauge.errors import DialgaugeError
from dialgauge.formats.json_text import decode, without_halves
from dialgauge.formats.large_json import LargeArray, is_large_document
from dialgauge.formats.logs.conversations import (
    NO_MESSAGES,
    FoundConversation,
    as_task,
    conversation_id,
    group_of,
    kind_of,
    of_each,
    of_rows,
    of_value,
    shared_by,
    without_messages,
)
from dialgauge.formats.logs.csv_tables import lines_above, table_rows
from dialgauge.formats.logs.fact_names import ID, plain_key
from dialgauge.formats.logs.fact_values import number_in
from dialgauge.formats.logs.json_objects import large_by_name, opened_object
from dialgauge.formats.logs.log_signs import (
    LOOKED_AT,
    event_name,
    is_event,
    is_heading,
    is_text,
)
from dialgauge.formats.logs.messages import (
    content_of,
    is_message,
    role_of,
)
from dialgauge.formats.logs.record_fields import has_trial, names_conversation, task_and_trial
from dialgauge.formats.logs.record_verdicts import lacks_verdict, unclear_verdicts
from dialgauge.formats.logs.results import NAME, TAKEN, is_flat_result, results_in, sums_up
from dialgauge.formats.logs.sample_events import put_together
from dialgauge.formats.notes import Notes
from dialgauge.formats.parquet import MAGIC, rows_in
from dialgauge.formats.peek import Peek, first_object
from dialgauge.formats.source import Part

_LIST = msgspec.json.Decoder(list[Raw])
_ANY: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Any)
#: No conversation is longer; a longer line is something else.
_LONGEST_LINE = 256 << 20
#: How steps of one conversation are numbered, and what else than a trial tells conversations of a task apart.
_STEPS, _EPISODES = ("step", "stepid", "stepidx", "stepindex", "stepnumber", "timestep"), ("episode", "episodeid")
#: Ids that are those of something else beside an ``id``.
_LESSER_IDS = frozenset(ID[ID.index("id") :])
#: How messages are numbered in their conversation.
_TURNS = ("turn", "turnid", "turnidx", "turnindex", "turnnumber", "messageindex", "messageidx", "step", "index")


def conversations_of(part: Part, notes: Notes) -> Iterator[FoundConversation]:
    """The conversations of a file, one after another, and results without messages."""
    try:
        yield from _found(part, notes)
    except DialgaugeError as error:
        raise error.at(file=part.name) from error


def _found(part: Part, notes: Notes) -> Iterator[FoundConversation]:
    """One after another; JSON lines are read as they come."""
    if part.head(len(MAGIC)) == MAGIC:
        yield from _of_records(enumerate(rows_in(part), start=1), part, notes)
        return
    if not is_text(part.head()) and is_large_document(part):
        yield from _of_document(part, notes)
        return
    above = len(lines_above(part.head().decode("utf-8", "replace")))
    for number, line in part.lines(_LONGEST_LINE):
        if not line.strip() or number <= above:
            continue
        if line.lstrip()[:1] == b"{" and _is_whole(line):
            first = map(first_object, Peek(part).lines[:LOOKED_AT])
            yield from _of_records(put_together(_json_lines(part, notes), first, notes), part, notes)
        elif is_text(line) and any(mark in line for mark in (b",", b";", b"\t")):
            yield from _of_records(table_rows(part, notes), part, notes)
        else:
            yield from _of_document(part, notes)
        return


def _is_whole(line: bytes) -> bool:
    try:
        msgspec.json.decode(without_halves(line), type=Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _json_lines(part: Part, notes: Notes) -> Iterator[tuple[int, Any]]:
    for number, line in part.lines(_LONGEST_LINE):
        if line.strip():
            yield number, decode(_ANY, line, part, line=number, notes=notes)


def _of_records(records: Iterator[tuple[int, Any]], part: Part, notes: Notes) -> Iterator[FoundConversation]:
    rows: list[dict[str, Any]] = []
    begun: set[str] = set()
    only_rows = True
    heading: Any = None
    before: Any = None
    counted: float | None = None
    lines, bare = 0, True
    for number, value in _without_summary(records, notes):
        lines += 1
        kind = kind_of(value)
        bare = bare and not kind
        if heading is not None:
            if not kind and not results_in([value]):
                raise DialgaugeError(f"it has no messages{_seen(heading)}", file=part.name, line=1)
            notes.add(f"what the first line says of the whole left out{_seen(heading)}")
            counted, heading = number_in(heading.get("total_count")), None
        if rows and (kind != "row" if kind else not is_event(value)):  # an event may tell of the conversation
            yield _of_one(rows, notes)
            rows = []
        if rows and is_event(value) and not conversation_id(value) and group_of(value) == group_of(rows[-1]) != "":
            notes.add(f"what lines of the kind {event_name(value)} say taken for their conversation")
            rows[-1] = {**{key: held for key, held in value.items() if key not in ("type", "event")}, **rows[-1]}
            continue
        if kind == "row" or (only_rows and is_event(value) and conversation_id(value)):
            name = group_of(value)
            if rows and name != group_of(rows[-1]):
                yield _of_one(rows, notes)
                rows = []
            if rows:
                _refuse_restart(rows, value, part, number)
            elif name:
                _begin(name, begun, part, number)
            rows.append(value)
        elif kind:
            only_rows = False
            yield from of_value(value, kind, notes)
        elif only_rows and is_event(value) and not (bare and is_flat_result(value)):
            notes.add(f"lines of the kind {event_name(value)} left out")
        elif results := list(_of_result(value, notes)):
            _refuse_steps(before, value, part, number)
            before = value
            yield from results
        elif number == 1 and is_heading(value):
            heading = value
        elif bare and names_conversation(value) and lacks_verdict(value):
            yield from _of_results([value], notes)
        else:
            raise DialgaugeError(
                _why_no_result(value) if bare else _why_no_messages(value), file=part.name, line=number
            )
    if heading is not None:
        raise DialgaugeError(f"it has no messages{_seen(heading)}", file=part.name, line=1)
    if counted is not None and counted != lines - 1:
        raise DialgaugeError(
            f"its first line counts {counted:,.0f} results, and {lines - 1:,} follow: those that passed may be left "
            "out, as in score files of BFCL; write a line for each of them, too, and take the first line away",
            file=part.name,
            example='{"id": "t1", "valid": true}',
        )
    if rows:
        yield _of_one(rows, notes)


def _without_summary(records: Iterator[tuple[int, Any]], notes: Notes) -> Iterator[tuple[int, Any]]:
    """The records but the last where it sums up the others."""
    before: tuple[int, Any] | None = None
    named = numbered = False
    for record in records:
        if before is not None:
            named = named or (isinstance(before[1], dict) and names_conversation(before[1]))
            numbered = numbered or has_trial(before[1])
            yield before
        before = record
    if before is None:
        return
    if named and not kind_of(before[1]) and sums_up(before[1], numbered=numbered):
        notes.add(f"the last line, which sums up the others, left out{_seen(before[1])}")
    else:
        yield before


def _of_result(value: Any, notes: Notes) -> Iterator[FoundConversation]:
    """What a record without messages tells of: several trials, one conversation, or results in it."""
    rows = results_in([value])
    if len(rows) < 2 and (bare := without_messages(value, notes)):
        yield bare
    else:
        yield from _of_results(rows or results_in(value), notes)


def _of_results(rows: Iterable[Mapping[str, Any]], notes: Notes) -> Iterator[FoundConversation]:
    for row in rows:
        notes.add(NO_MESSAGES)
        if taken := row.get(TAKEN):
            notes.add(taken)
        named = not task_and_trial(row)
        name = str(row.get(NAME, "")) if named else ""
        record = {key: value for key, value in row.items() if key != TAKEN and not (named and key == NAME)}
        if name:
            record = {key: value for key, value in record.items() if plain_key(key) not in _LESSER_IDS}
        yield FoundConversation(record, (), (), name)


def _of_one(rows: Sequence[Mapping[str, Any]], notes: Notes) -> FoundConversation:
    if group_of(rows[0]).endswith("#") and not conversation_id(rows[0]):
        notes.add("messages of a task without a trial or a conversation_id taken for one conversation")
    return of_rows(rows)


def _refuse_restart(rows: Sequence[Mapping[str, Any]], row: Mapping[str, Any], part: Part, line: int) -> None:
    """Turns that begin anew belong to another conversation, where only the task says whose they are."""
    if conversation_id(row) or not group_of(row):
        return
    known = [{plain_key(key): number_in(value) for key, value in each.items()} for each in (rows[-1], row)]
    last, now = (next((each[name] for name in _TURNS if each.get(name) is not None), None) for each in known)
    again = (role_of(row), content_of(row)) == (role_of(rows[0]), content_of(rows[0])) and last is None
    if again or (last is not None and now is not None and now < last):
        raise DialgaugeError(
            "messages of the task begin anew: say whose they are in a column 'trial' or 'conversation_id'",
            file=part.name,
            line=line,
        )


def _refuse_steps(before: Any, row: Any, part: Part, line: int) -> None:
    """Rows that count the steps of one conversation are no conversations."""
    known = [
        {plain_key(key): value for key, value in each.items()} if isinstance(each, dict) else {}
        for each in (before, row)
    ]
    steps = [next((number_in(each[name]) for name in _STEPS if name in each), None) for each in known]
    whose = [[task_and_trial(each), *(each.get(name) for name in _EPISODES)] for each in known]
    if steps[0] in (0, 1) and steps[1] == (steps[0] or 0) + 1 and whose[0] == whose[1]:
        raise DialgaugeError(
            "it has a row for each step of a conversation: write one line for each conversation, with its task, the "
            "number of the trial and, in 'success', how the whole of it went",
            file=part.name,
            line=line,
        )


def _begin(name: str, begun: set[str], part: Part, line: int) -> None:
    if name in begun:
        raise DialgaugeError(
            f"the conversation '{name}' goes on here after another one; keep its messages together",
            file=part.name,
            line=line,
        )
    begun.add(name)


def _of_document(part: Part, notes: Notes) -> Iterator[FoundConversation]:
    """A file that is one JSON value: a list is decoded entry by entry, an object member by member."""
    if part.head().lstrip()[:1] != b"[":
        yield from _of_object(part, notes)
        return
    entries = LargeArray(part) if part.is_large else decode(_LIST, part.read(), part, notes=notes)
    begun = next(iter(entries), None)
    first = None if begun is None else decode(_ANY, begun, part, notes=Notes())
    if is_message(first):
        yield from of_value([value for _, value in _numbered(entries, part, notes)], "messages", notes)
        return
    bare = isinstance(first, list) and not kind_of(first)
    if bare and (runs := results_in([value for _, value in _numbered(entries, part, notes)])):
        yield from _of_results(runs, notes)
        return
    for number, value in put_together(_numbered(entries, part, notes), [first], notes):
        yield from _entry(value, number, part, notes)


def _numbered(entries: Iterable[Raw], part: Part, notes: Notes) -> Iterator[tuple[int, Any]]:
    for number, raw in enumerate(entries, start=1):
        yield number, decode(_ANY, raw, part, dialogue=f"number {number}", notes=notes)


def _of_object(part: Part, notes: Notes) -> Iterator[FoundConversation]:
    if named := large_by_name(part):
        for name, raw in named.members():
            yield from of_value({name: decode(_ANY, raw, part, dialogue=name, notes=notes)}, "keyed", notes)
        return
    value, wrapper, entries, size = opened_object(part, notes)
    first = decode(_ANY, next(iter(entries)), part, notes=Notes()) if size else None
    if size and kind_of({wrapper: [first], **value}) == "wrapped":
        each = of_each(value, size)
        shared = shared_by(value, wrapper, size, first, notes)
        for number, entry in _numbered(entries, part, notes):
            for conversation in _entry(as_task(entry, wrapper), number, part, notes):
                record = {**shared, **each[number - 1], **conversation.record}
                yield FoundConversation(record, conversation.used, conversation.messages, conversation.key)
        return
    if wrapper:
        value[wrapper] = [entry for _, entry in _numbered(entries, part, notes)]
    if kind := kind_of(value):
        yield from of_value(value, kind, notes)
    elif rows := results_in(value):
        yield from _of_results(rows, notes)
    else:
        raise DialgaugeError(f"it has no messages{_seen(value)}", file=part.name)


def _entry(value: Any, number: int, part: Part, notes: Notes) -> Iterator[FoundConversation]:
    kind = kind_of(value)
    if not kind and (results := list(_of_result(value, notes))):
        yield from results
        return
    if kind not in ("conversation", "messages", "wrapped", "list"):
        raise DialgaugeError(f"entry {number:,} is no conversation{_seen(value)}", file=part.name)
    yield from of_value(value, kind, notes)


def _why_no_messages(value: Any) -> str:
    return f"it is no conversation{_seen(value)}; lines before it have messages"


def _why_no_result(value: Any) -> str:
    """What a line lacks, where those before it are results without messages."""
    if not isinstance(value, dict) or not names_conversation(value):
        lacking = f"it names no task{_seen(value)}, and lines before it do"
        return f"{lacking}: fill in the task where cells were merged, or take away a line that sums up the others"
    for name, word in unclear_verdicts(value.items()).items():
        return (
            f"'{name}' is '{word}', which is neither yes nor no, and lines before it say one of these: write 'success' "
            "(true or false) in every line, or null where nobody judged"
        )
    return f"it does not say how the task went{_seen(value)}, and lines before it do: write 'success' (true or false)"


def _seen(value: Any) -> str:
    """The keys that an object has, for people to compare with those that are read."""
    if isinstance(value, dict):
        return f" (it has the keys {', '.join(str(key)[:30] for key in list(value)[:8])})"
    return f" (it is a {type(value).__name__})"
