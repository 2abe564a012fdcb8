"""Chat messages in JSON, JSON Lines or tables, in the ways in which people keep them.

``{"messages": [...]}`` a line or a file, a list of such objects, an object of them by id, lists of messages, messages
one a line or row with the id of their conversation, ShareGPT (``conversations``), OpenAI's *responses* (``input`` and
``output``), prompts with their completions, trials by their task, transcripts. ``conversations`` finds them; what
stands beside the messages is read by ``facts``.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec
from msgspec import Raw

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Notes, Peek, decode, first_object
from dialgauge.formats.located import members_of
from dialgauge.formats.logs.beside import outcome_beside
from dialgauge.formats.logs.conversations import (
    PROMPTFOO,
    TRIAL_NAME,
    WRAPPERS,
    FoundConversation,
    conversation_id,
    group_of,
    has_role,
    is_result,
    kind_of,
    of_rows,
    of_value,
    shared_by,
    without_messages,
)
from dialgauge.formats.logs.fact_names import plain_key, says_outcome
from dialgauge.formats.logs.fact_values import message_tokens, number_in
from dialgauge.formats.logs.facts import CONTINUES, VARIANT, facts_of
from dialgauge.formats.logs.logged import Numbering, logged_dialogue
from dialgauge.formats.logs.messages import (
    LogMessages,
    content_of,
    is_message,
    is_spoken,
    read_messages,
    role_of,
    unwrapped,
)
from dialgauge.formats.source import Part

_LIST = msgspec.json.Decoder(list[Raw])
_ANY: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Any)
#: One of these is in every file of messages, as the table of formats says; others are asked about when nothing fits.
_SIGNS = (b'"role"', b'"from"', b'"messages"', b'"conversation"', b'"transcript"', b'"sender"', b'"human"')
#: No conversation is longer; a longer line is something else.
_LONGEST_LINE = 256 << 20
#: Lines before the first message that are looked at.
_LOOKED_AT = 10
_COUNT = re.compile(r"[0-9]{1,3}")
#: The trial in the name of a file or its folder.
_TRIAL_IN_NAME = re.compile(
    r"[-_ .]?(?<![a-z])(?:trial|epoch|run|attempt|rollout|repeat|repetition|rep|seed|iteration|iter)[-_ =]?[0-9]{1,6}"
    r"(?![0-9])",
    re.IGNORECASE,
)
#: How messages are numbered in their conversation.
_TURNS = ("turn", "turnid", "turnidx", "turnindex", "turnnumber", "messageindex", "messageidx", "step", "index")


class ChatMessages(DialogueFormat):
    """Conversations as lists of messages with roles."""

    name = "messages"
    summary = "chat messages (role, content, tool_calls) in JSON or JSON Lines, with scores beside them; ShareGPT"
    fields = frozenset({"text", "calls", "source", "goal", "domains", "outcome"})
    goes_on = True

    def recognise(self, peek: Peek) -> bool:
        given = peek.json if peek.json is not None else _first_message(peek)
        if given is None:
            return _is_table(peek)
        kind = kind_of(given)
        if not kind and not isinstance(peek.json, dict):  # one alone is the outcome of a conversation beside it
            return is_result(given[0] if isinstance(given, list) and given else given) and not _are_predictions(peek)
        if not kind or (isinstance(given, dict) and {"speaker", "text"} <= given.keys()):
            return False
        if _is_unusual(given) and _are_predictions(peek):
            return False
        notes = Notes()
        has_sign = peek.has_escaped_letters or any(word in peek.head for word in _SIGNS)
        try:
            first = next(of_value(given, kind, notes), None)
        except DialgaugeError:  # said when it is read
            return has_sign
        if first is None or has_sign:
            doubtful = (
                bool(notes.counts) if first is None else (bool(notes.counts) and not first.grouped) or _is_spoken(first)
            )
            return has_sign and not (doubtful and _are_predictions(peek))
        listed = any(is_message(message) and "speaker" not in message for message in first.messages[:_LOOKED_AT])
        meant = first.record.keys() >= PROMPTFOO
        return meant or ((listed or says_outcome(first.record)) and not _are_predictions(peek))

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        return _dialogues(part, notes, Numbering())

    def read_parts(self, parts: Sequence[Part], notes: Notes) -> Iterator[tuple[Part, Dialogue]]:
        """The conversations of several files; where these share a name, their folders say which is which."""
        counts = Counter(part.folder for part in parts)
        outcomes = {part.folder: (part, outcome) for part in parts if (outcome := _outcome(part, counts)) is not None}
        talks = [part for part in parts if outcomes.get(part.folder, (None,))[0] is not part]
        numbering, trials = Numbering(), _trials_of_files(talks)
        for part in talks:
            folders = trials.get(part.name)
            _, beside = outcomes.get(part.folder, (part, {}))
            several = len(talks) > 1
            yield from ((part, one) for one in _dialogues(part, notes, numbering, folders, beside, several=several))


def _outcome(part: Part, folders: Mapping[str, int]) -> dict[str, Any] | None:
    """What a file without messages says of the conversation beside it."""
    outcome = outcome_beside(part, folders)
    return outcome if outcome is not None and not kind_of(outcome) else None


def _stem(part: Part) -> str:
    return part.stem.removesuffix(".jsonl").removesuffix(".json").removesuffix(".ndjson")


def _trials_of_files(parts: Sequence[Part]) -> dict[str, tuple[str, int]]:
    """The task and the trial of files whose names others have too.

    ``TASK/trial_1/log.json``, ``trial_1/TASK.json``, ``TASK/trial_1.json``; or mere numbers, ``TASK/1/log.json`` and
    ``TASK/1.json``, where they count the same trials of several tasks, which are no fewer.
    """
    stems = Counter(map(_stem, parts))
    places = {
        part.name: (*("", "", *re.split(r"[/\\]", part.name))[-3:-1], _stem(part))
        for part in parts
        if stems[_stem(part)] > 1
    }
    named: dict[str, tuple[str, int]] = {}
    numbered: dict[str, tuple[str, int]] = {}
    for name, (outer, inner, stem) in places.items():
        if trial := TRIAL_NAME.fullmatch(inner):
            named[name] = (stem if len(stems) > 1 else outer, int(trial[1]))
        elif trial := TRIAL_NAME.fullmatch(stem):
            named[name] = (inner, int(trial[1]))
        elif len(stems) == 1 and _COUNT.fullmatch(inner):
            numbered[name] = (outer, int(inner))
        elif _COUNT.fullmatch(stem):
            numbered[name] = (inner, int(stem))
    trials: dict[str, set[int]] = {}
    for task, number in numbered.values():
        trials.setdefault(task, set()).add(number)
    first = next(iter(trials.values()), set())
    same = all(numbers == first for numbers in trials.values()) and len(numbered) == len(parts)
    counted = sorted(first) in (list(range(len(first))), list(range(1, len(first) + 1)))
    return named or (numbered if same and counted and 1 < len(first) <= len(trials) else {})


def _is_unusual(given: Any) -> bool:
    """May it be predictions with what led to them: trials by name, a turn's messages, a text of them, a batch's?"""
    if not isinstance(given, dict) or not given:
        return False
    kind = kind_of(given)
    grouped = (kind == "columns" and not says_outcome(given)) or (
        kind == "keyed" and kind_of(next(iter(given.values()))) == "list"
    )
    answered = "contents" in given or ("custom_id" in given and _answers_with_state(given.get("response")))
    return grouped or _is_turn(given) or isinstance(given.get("messages"), str) or answered


def _is_spoken(first: FoundConversation) -> bool:
    """Are its messages in the words of dialogue data?"""
    if not first.messages:
        return False
    return is_spoken(first.messages[0]) or ("turns" in first.used and not has_role(first.messages[0]))


def _first_message(peek: Peek) -> dict[str, Any] | None:
    """The first line that holds a message or a conversation, after what a session notes of itself."""
    lines = (first_object(line) for line in peek.lines[:_LOOKED_AT] if line.strip())
    return next((value for value in lines if value is None or not _is_event(value)), None)


def _is_event(value: Any) -> bool:
    """Is it something else than a message, by its own word: ``{"type": "summary", ...}``?"""
    return isinstance(value, dict) and bool(_event_name(value)) and not kind_of(value)


def _event_name(value: Mapping[str, Any]) -> str:
    return next((value[key][:40] for key in ("type", "event") if isinstance(value.get(key), str)), "")


def _is_turn(given: Mapping[str, Any]) -> bool:
    """Is it one turn, with the messages to a model that answers with an object?"""
    from dialgauge.formats.predictions.records import is_object, last_answer

    numbered = any(plain_key(key).startswith("turn") for key in given)
    return numbered and not says_outcome(given) and is_object(last_answer(given.get("messages")))


def _answers_with_state(response: Any) -> bool:
    from dialgauge.formats.predictions.model_answers import answers_with_state

    return answers_with_state(response)


def _are_predictions(peek: Peek) -> bool:
    from dialgauge.formats.predictions.free_form import problem

    return problem(peek) is None


def _dialogues(
    part: Part,
    notes: Notes,
    numbering: Numbering,
    folders: tuple[str, int] | None = None,
    beside: Mapping[str, Any] | None = None,
    *,
    several: bool = False,
) -> Iterator[Dialogue]:
    stem, whose = _stem(part), _TRIAL_IN_NAME.sub("*", part.name)
    said_before: set[tuple[str, int]] = set()
    beginnings = _Beginnings()
    for number, (conversation, alone) in enumerate(_with_last(_conversations(part, notes)), start=1):
        fallback = conversation.key or (stem if alone else f"{stem}-{number:04d}")
        if beside and not alone:
            reason = "it holds several conversations, and a file beside it has one outcome; put outcomes into this file"
            raise DialgaugeError(reason, file=part.name)
        if beside:
            notes.add("outcomes taken from files beside the messages")
        try:
            facts = facts_of({**(beside or {}), **conversation.record}, notes, conversation.used)
            messages = read_messages(conversation.messages, notes)
            if "tokens" not in facts.details and (
                tokens := message_tokens(
                    unwrapped(message) for message in conversation.messages if isinstance(message, dict)
                )
            ):
                facts.details["tokens"] = tokens
            if conversation.grouped and not facts.id and not facts.task:
                facts.task = conversation.key
                notes.add("the name of a list of conversations taken for the task that they are trials of")
            if folders and alone and not (facts.id or facts.task or conversation.key) and facts.trial is None:
                notes.add("task and trial taken from the names of folders")
                facts.task, facts.trial = folders
            if conversation.key and not facts.id:
                facts.id = conversation.key
            if several and facts.trial is None:
                if not folders:
                    facts.details[f"{VARIANT}[file]"] = part.name
                if whose != part.name:
                    facts.details[f"{VARIANT}[name of the file]"] = whose
            named = numbering.take(facts, fallback, part.name)
            if facts.task and (begun := beginnings.of(facts.task, named[0], messages)):
                facts.details[CONTINUES] = begun
            dialogue = logged_dialogue("chat", messages, facts, named, {})
            if facts.task and facts.trial is None and dialogue.turns:
                words = (facts.task, hash(tuple((turn.speaker, turn.text) for turn in dialogue.turns)))
                notes.add("conversations that are word for word another one of their task", words in said_before)
                said_before.add(words)
            yield dialogue
        except DialgaugeError as error:
            notes.refuse(error.at(file=part.name, dialogue=fallback))


class _Beginnings:
    """Conversations that are the beginning of a later one of their task, as where each step is written anew."""

    def __init__(self) -> None:
        self._whole: dict[tuple[str, int], str] = {}

    def of(self, task: str, name: str, messages: LogMessages) -> str:
        """The id of the longest conversation before that this one goes on with; empty without one."""
        begun, words = "", 0
        for message in messages.messages:
            begun = self._whole.get((task, words), begun) if words else begun
            words = hash((words, message.role, message.content, len(message.tool_calls or ())))
        if words:
            self._whole.setdefault((task, words), name)
        return begun


def _with_last(conversations: Iterable[FoundConversation]) -> Iterator[tuple[FoundConversation, bool]]:
    """Each conversation, and whether it is the only one of its file."""
    several = False
    before: FoundConversation | None = None
    for conversation in conversations:
        if before is not None:
            several = True
            yield before, False
        before = conversation
    if before is not None:
        yield before, not several


def _conversations(part: Part, notes: Notes) -> Iterator[FoundConversation]:
    """One after another; JSON lines are read as they come."""
    for _, line in part.lines(_LONGEST_LINE):
        if not line.strip():
            continue
        if line.lstrip()[:1] == b"{" and _is_whole(line):
            yield from _of_records(_json_lines(part), part, notes)
        elif line.lstrip()[:1] not in (b"{", b"[") and any(mark in line for mark in (b",", b";", b"\t")):
            yield from _of_records(_table_rows(part), part, notes)
        else:
            yield from _of_document(part, notes)
        return


def _is_whole(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _json_lines(part: Part) -> Iterator[tuple[int, Any]]:
    for number, line in part.lines(_LONGEST_LINE):
        if line.strip():
            yield number, decode(_ANY, line, part, line=number)


def _is_table(peek: Peek) -> bool:
    """Is it a table of messages that say whose they are, or of conversations?"""
    text = peek.head.decode("utf-8", "replace")
    try:
        header, *rows = islice(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(peek.lines[0])), 2)
    except (csv.Error, ValueError):
        return False
    first = dict(zip(header, rows[0], strict=False)) if rows else {}
    columns = dict.fromkeys(header, "user")
    if is_message(columns) or is_message(first):
        return bool(group_of(columns)) and (says_outcome(header) or not _are_predictions(peek))
    return (kind_of(first) == "conversation" or is_result(first)) and not _are_predictions(peek)


def _delimiter(header: str) -> str:
    return max(",;\t", key=header.count)


def _table_rows(part: Part) -> Iterator[tuple[int, Any]]:
    text = part.text()
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=_delimiter(text.partition("\n")[0]))
    try:
        for row in reader:
            if None in row or None in row.values():
                reason = "the row has another number of cells than the header"
                raise DialgaugeError(reason, file=part.name, line=reader.line_num)
            yield reader.line_num, {key: value for key, value in row.items() if key and value}
    except csv.Error as error:
        raise DialgaugeError(f"it is no valid CSV ({error})", file=part.name, line=reader.line_num) from error


def _of_records(records: Iterator[tuple[int, Any]], part: Part, notes: Notes) -> Iterator[FoundConversation]:
    rows: list[dict[str, Any]] = []
    begun: set[str] = set()
    only_rows = True
    for number, value in records:
        kind = kind_of(value)
        if rows and (kind != "row" if kind else not _is_event(value)):
            yield _of_one(rows, notes)
            rows = []
        if kind == "row":
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
        elif only_rows and _is_event(value):
            notes.add(f"lines of the kind {_event_name(value)} left out")
        elif bare := without_messages(value, notes):
            yield bare
        else:
            raise DialgaugeError(
                f"it is no conversation{_seen(value)}; lines before it have messages", file=part.name, line=number
            )
    if rows:
        yield _of_one(rows, notes)


def _of_one(rows: Sequence[Mapping[str, Any]], notes: Notes) -> FoundConversation:
    if group_of(rows[0]).endswith("#") and not conversation_id(rows[0]):
        notes.add("messages of a task without a trial or a conversation_id taken for one conversation")
    return of_rows(rows)


def _refuse_restart(rows: Sequence[Mapping[str, Any]], row: Mapping[str, Any], part: Part, line: int) -> None:
    """Turns that begin anew belong to another conversation, where only the task says whose they are."""
    if conversation_id(row) or not group_of(row):
        return
    known = ({plain_key(key): number_in(value) for key, value in each.items()} for each in (rows[-1], row))
    last, now = (next((each[name] for name in _TURNS if each.get(name) is not None), None) for each in known)
    again = (role_of(row), content_of(row)) == (role_of(rows[0]), content_of(rows[0])) and last is None
    if again or (last is not None and now is not None and now < last):
        raise DialgaugeError(
            "messages of the task begin anew: say whose they are in a column 'trial' or 'conversation_id'",
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
    content = part.read()
    if content.lstrip()[:1] == b"[":
        entries = decode(_LIST, content, part)
        first = decode(_ANY, entries[0], part) if entries else None
        if is_message(first):
            yield from of_value([decode(_ANY, raw, part) for raw in entries], "messages", notes)
            return
        for number, raw in enumerate(entries, start=1):
            yield from _entry(decode(_ANY, raw, part, dialogue=f"number {number}"), number, part, notes)
        return
    members = dict(members_of(content, part))
    wrapper = next((key for key in WRAPPERS if bytes(members.get(key, Raw(b""))).lstrip()[:1] == b"["), "")
    value = {key: decode(_ANY, raw, part) for key, raw in members.items() if key != wrapper}
    wrapped: list[Raw] = decode(_LIST, members[wrapper], part) if wrapper else []
    if wrapped and kind_of({wrapper: [decode(_ANY, wrapped[0], part)], **value}) == "wrapped":
        shared = shared_by(value, wrapper, len(wrapped), decode(_ANY, wrapped[0], part), notes)
        for number, raw in enumerate(wrapped, start=1):
            for conversation in _entry(decode(_ANY, raw, part, dialogue=f"number {number}"), number, part, notes):
                yield FoundConversation(
                    {**shared, **conversation.record}, conversation.used, conversation.messages, conversation.key
                )
        return
    if wrapper:
        value[wrapper] = decode(_ANY, members[wrapper], part)
    kind = kind_of(value)
    if not kind:
        raise DialgaugeError(f"it has no messages{_seen(value)}", file=part.name)
    yield from of_value(value, kind, notes)


def _entry(value: Any, number: int, part: Part, notes: Notes) -> Iterator[FoundConversation]:
    kind = kind_of(value)
    if not kind and (bare := without_messages(value, notes)):
        yield bare
        return
    if kind not in ("conversation", "messages", "wrapped"):
        raise DialgaugeError(f"entry {number:,} is no conversation{_seen(value)}", file=part.name)
    yield from of_value(value, kind, notes)


def _seen(value: Any) -> str:
    """The keys that an object has, for people to compare with those that are read."""
    if isinstance(value, dict):
        return f" (it has the keys {', '.join(str(key)[:30] for key in list(value)[:8])})"
    return f" (it is a {type(value).__name__})"
