"""Chat messages in JSON or JSON Lines, in the ways in which people keep them.

``{"messages": [...]}`` a line or a file, a list of such objects, an object of them by id, lists of messages, messages
one a line with the id of their conversation, ShareGPT (``conversations``), OpenAI's *responses* (``input`` and
``output``), prompts with their completions, trials by their task, tables with a message a row. What stands beside the
messages is read by ``facts``.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Notes, Peek, decode
from dialgauge.formats.located import members_of
from dialgauge.formats.logs.beside import outcome_beside
from dialgauge.formats.logs.facts import Numbering, facts_of, logged_dialogue, message_tokens, plain_key, says_outcome
from dialgauge.formats.logs.messages import is_message, is_spoken, is_talk, read_messages, unwrapped
from dialgauge.formats.source import Part

#: Where the messages of a conversation stand, and where a file keeps its conversations.
_MESSAGES = ("messages", "conversations", "conversation", "dialogue", "dialog", "chat", "chat_history", "history",
             "transcript", "traj", "trajectory", "items", "turns", "message_history", "full_history",
             "contents")  # fmt: skip
_WRAPPERS = ("conversations", "data", "dialogues", "dialogs", "chats", "results", "samples", "logs", "records", "runs",
             "episodes", "trajectories", "rollouts", "items", "threads", "sessions", "simulations", "trials",
             "attempts", "tasks")  # fmt: skip
#: What a conversation is asked to go on with, and how it went on.
_BEGUN = ("input", "prompt", "request")
_ENDED = ("output", "completion", "response", "responses", "choices")
_CONVERSATION_ID = ("conversationid", "dialogueid", "dialogid", "sessionid", "threadid", "chatid", "convid", "dialogue",
                    "conversation", "session", "thread")  # fmt: skip
_LIST = msgspec.json.Decoder(list[Raw])
_ANY: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Any)
#: One of these is in every file of messages, as the table of formats says; others are asked about when nothing fits.
_SIGNS = (b'"role"', b'"from"', b'"messages"', b'"conversation"', b'"transcript"', b'"sender"', b'"human"')
#: No conversation is longer; a longer line is something else.
_LONGEST_LINE = 256 << 20
_LOOKED_AT = 3
#: How a folder is called that holds one trial.
_TRIAL_FOLDER = re.compile(r"(?:trial|epoch|run|attempt|rollout|repeat|repetition)[-_ ]?([0-9]{1,6})", re.IGNORECASE)
#: How deep conversations lie in lists and objects.
_DEEPEST = 6
#: Messages that were written as a text.
_LISTED = re.compile(r'\s*\[\s*\{\s*"')
_MESSAGE_LIST: msgspec.json.Decoder[list[Any]] = msgspec.json.Decoder(list[Any])


class _Found(Struct):
    """A conversation as a file has it: what else its record says, which keys hold its messages, and these."""

    record: Mapping[str, Any]
    used: tuple[str, ...]
    messages: Sequence[Any]
    #: What it is called where the file names it from outside.
    key: str = ""
    #: Is this the name of several of them?
    grouped: bool = False


class ChatMessages(DialogueFormat):
    """Conversations as lists of messages with roles."""

    name = "messages"
    summary = "chat messages (role, content, tool_calls) in JSON or JSON Lines, with scores beside them; ShareGPT"
    fields = frozenset({"text", "calls", "source", "goal", "domains", "outcome"})
    goes_on = True

    def recognise(self, peek: Peek) -> bool:
        given = peek.json if peek.json is not None else peek.first_line
        if (_is_table(peek.lines[0]) if given is None else _is_unusual(given)) and _are_predictions(peek):
            return False
        if given is None:
            return _is_table(peek.lines[0])
        kind = _kind(given)
        if not kind or (isinstance(given, dict) and {"speaker", "text"} <= given.keys()):
            return False
        if peek.has_escaped_letters or any(word in peek.head for word in _SIGNS):
            return not (_is_spoken(given, kind) and _are_predictions(peek))
        first = next(_of_value(given, kind), None)
        return first is not None and says_outcome(first.record) and not _are_predictions(peek)

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        return _dialogues(part, notes, Numbering())

    def read_parts(self, parts: Sequence[Part], notes: Notes) -> Iterator[tuple[Part, Dialogue]]:
        """The conversations of several files; where these share a name, their folders say which is which."""
        counts = Counter(part.folder for part in parts)
        outcomes = {part.folder: (part, told) for part in parts if (told := _outcome(part, counts)) is not None}
        talks = [part for part in parts if outcomes.get(part.folder, (None,))[0] is not part]
        numbering, stems = Numbering(), Counter(_stem(part) for part in talks)
        for part in talks:
            folders = _folders(part, several=len(stems) > 1) if stems[_stem(part)] > 1 else None
            _, beside = outcomes.get(part.folder, (part, {}))
            yield from ((part, dialogue) for dialogue in _dialogues(part, notes, numbering, folders, beside))


def _outcome(part: Part, folders: Mapping[str, int]) -> dict[str, Any] | None:
    """What a file without messages says of the conversation beside it."""
    told = outcome_beside(part, folders)
    return told if told is not None and not _kind(told) else None


def _stem(part: Part) -> str:
    return part.stem.removesuffix(".jsonl").removesuffix(".json").removesuffix(".ndjson")


def _folders(part: Part, *, several: bool) -> tuple[str, int] | None:
    """The task and the trial of a file whose name others have too: TASK/trial_1/log.json, trial_1/TASK.json."""
    outer, inner, _ = ("", "", *re.split(r"[/\\]", part.name))[-3:]
    trial = _TRIAL_FOLDER.fullmatch(inner)
    return (_stem(part) if several else outer, int(trial[1])) if trial else None


def _is_unusual(given: Any) -> bool:
    """May it be predictions with what led to them: trials by name, messages as a text or in Gemini's words?"""
    if not isinstance(given, dict) or not given:
        return False
    grouped = _kind(given) == "keyed" and _kind(next(iter(given.values()))) == "list"
    return grouped or isinstance(given.get("messages"), str) or "contents" in given


def _is_spoken(given: Any, kind: str) -> bool:
    """Are the messages of the first conversation in the words of dialogue data?"""
    try:
        first = next(_of_value(given, kind), None)
    except DialgaugeError:  # said when it is read
        return False
    if first is None or not first.messages:
        return False
    return is_spoken(first.messages[0]) or ("turns" in first.used and not _has_role(first.messages[0]))


def _are_predictions(peek: Peek) -> bool:
    from dialgauge.formats.predictions.free_form import problem

    return problem(peek) is None


def _dialogues(
    part: Part,
    notes: Notes,
    numbering: Numbering,
    folders: tuple[str, int] | None = None,
    beside: Mapping[str, Any] | None = None,
) -> Iterator[Dialogue]:
    stem = _stem(part)
    for number, (found, alone) in enumerate(_with_last(_conversations(part)), start=1):
        fallback = found.key or (stem if alone else f"{stem}-{number:04d}")
        if beside and not alone:
            told = "it holds several conversations, and a file beside it has one outcome; put outcomes into this file"
            raise DialgaugeError(told, file=part.name)
        if beside:
            notes.add("outcomes taken from files beside the messages")
        try:
            facts = facts_of({**(beside or {}), **found.record}, notes, found.used)
            said = read_messages(found.messages, notes)
            if "tokens" not in facts.details and (
                tokens := message_tokens(unwrapped(one) for one in found.messages if isinstance(one, dict))
            ):
                facts.details["tokens"] = tokens
            if found.grouped and not facts.id and not facts.task:
                facts.task = found.key
                notes.add("the name of a list of conversations taken for the task that they are trials of")
            if folders and alone and not (facts.id or facts.task or found.key) and facts.trial is None:
                notes.add("task and trial taken from the names of folders")
                facts.task, facts.trial = folders
            if found.key and not facts.id:
                facts.id = found.key
            yield logged_dialogue("chat", said, facts, numbering.take(facts, fallback, part.name), {})
        except DialgaugeError as error:
            notes.refuse(error.at(file=part.name, dialogue=fallback))


def _with_last(found: Iterable[_Found]) -> Iterator[tuple[_Found, bool]]:
    """Each conversation, and whether it is the only one of its file."""
    several = False
    before: _Found | None = None
    for one in found:
        if before is not None:
            several = True
            yield before, False
        before = one
    if before is not None:
        yield before, not several


def _conversations(part: Part) -> Iterator[_Found]:
    """One after another; JSON lines are read as they come."""
    for _, line in part.lines(_LONGEST_LINE):
        if not line.strip():
            continue
        if line.lstrip()[:1] == b"{" and _is_whole(line):
            yield from _of_records(_json_lines(part), part)
        elif _is_table(line.decode("utf-8", "replace")):
            yield from _of_records(_table_rows(part), part)
        else:
            yield from _of_document(part)
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


def _is_table(header: str) -> bool:
    """Does a line name the columns of messages: who speaks, what, and in which conversation?"""
    try:
        columns = dict.fromkeys(next(csv.reader([header], delimiter=_delimiter(header)), ()), "user")
    except csv.Error:
        return False
    return is_message(columns) and bool(_conversation_id(columns))


def _delimiter(header: str) -> str:
    return max(",;\t", key=header.count)


def _table_rows(part: Part) -> Iterator[tuple[int, Any]]:
    text = part.text()
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=_delimiter(text.partition("\n")[0]))
    try:
        for row in reader:
            if None in row or None in row.values():
                told = "the row has another number of cells than the header"
                raise DialgaugeError(told, file=part.name, line=reader.line_num)
            yield reader.line_num, {key: value for key, value in row.items() if value}
    except csv.Error as error:
        raise DialgaugeError(f"it is no valid CSV ({error})", file=part.name, line=reader.line_num) from error


def _of_records(records: Iterator[tuple[int, Any]], part: Part) -> Iterator[_Found]:
    rows: list[dict[str, Any]] = []
    begun: set[str] = set()
    for number, value in records:
        kind = _kind(value)
        if kind != "row" and rows:
            yield _of_rows(rows)
            rows = []
        if kind == "row":
            name = _conversation_id(value)
            if rows and name != _conversation_id(rows[-1]):
                yield _of_rows(rows)
                rows = []
            if not rows and name:
                _begin(name, begun, part, number)
            rows.append(value)
        elif kind:
            yield from _of_value(value, kind)
        else:
            raise DialgaugeError(
                f"it is no conversation{_seen(value)}; lines before it have messages", file=part.name, line=number
            )
    if rows:
        yield _of_rows(rows)


def _begin(name: str, begun: set[str], part: Part, line: int) -> None:
    if name in begun:
        raise DialgaugeError(
            f"the conversation '{name}' goes on here after another one; keep its messages together",
            file=part.name,
            line=line,
        )
    begun.add(name)


def _of_document(part: Part) -> Iterator[_Found]:
    """A file that is one JSON value: a list is decoded entry by entry, an object member by member."""
    content = part.read()
    if content.lstrip()[:1] == b"[":
        entries = decode(_LIST, content, part)
        first = decode(_ANY, entries[0], part) if entries else None
        if is_message(first):
            yield from _of_message_list([decode(_ANY, raw, part) for raw in entries])
            return
        for number, raw in enumerate(entries, start=1):
            yield from _entry(decode(_ANY, raw, part, dialogue=f"number {number}"), number, part)
        return
    members = dict(members_of(content, part))
    wrapper = next((key for key in _WRAPPERS if bytes(members.get(key, Raw(b""))).lstrip()[:1] == b"["), "")
    value = {key: decode(_ANY, raw, part) for key, raw in members.items() if key != wrapper}
    if wrapper and not _messages_key({wrapper: _beginning(members[wrapper], part), **value}):
        wrapped: list[Raw] = decode(_LIST, members[wrapper], part)
        for number, raw in enumerate(wrapped, start=1):
            for found in _entry(decode(_ANY, raw, part, dialogue=f"number {number}"), number, part):
                yield _Found({**value, **found.record}, found.used, found.messages, found.key)
        return
    if wrapper:
        value[wrapper] = decode(_ANY, members[wrapper], part)
    kind = _kind(value)
    if not kind:
        raise DialgaugeError(f"it has no messages{_seen(value)}", file=part.name)
    yield from _of_value(value, kind)


def _beginning(raw: Raw, part: Part) -> list[Any]:
    """The first entries of a list."""
    return [decode(_ANY, one, part) for one in decode(_LIST, raw, part)[:1]]


def _entry(value: Any, number: int, part: Part) -> Iterator[_Found]:
    kind = _kind(value)
    if kind not in ("conversation", "messages", "wrapped"):
        raise DialgaugeError(f"entry {number:,} is no conversation{_seen(value)}", file=part.name)
    yield from _of_value(value, kind)


def _of_value(value: Any, kind: str) -> Iterator[_Found]:
    if kind == "conversation":
        yield _conversation(value)
    elif kind == "row":
        yield _of_rows([value])
    elif kind == "messages":
        yield from _of_message_list(value)
    elif kind == "list":
        for one in value:
            if inner := _kind(one):
                yield from _of_value(one, inner)
    elif kind == "wrapped":
        key = _wrapper_key(value)
        shared = {name: one for name, one in value.items() if name != key}
        for found in _of_value(value[key], "list"):
            yield _Found({**shared, **found.record}, found.used, found.messages, found.key)
    else:
        for name, one in value.items():
            kind = _kind(one)
            for found in _of_value(one, kind) if kind else ():
                yield _Found(found.record, found.used, found.messages, name, kind == "list")


def _of_message_list(messages: Sequence[Any]) -> Iterator[_Found]:
    """Messages in one list: one conversation, or several that are told apart by an id in each message."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for message in messages:
        groups.setdefault(_conversation_id(message) if isinstance(message, dict) else "", []).append(message)
    if len(groups) == 1:
        yield _of_rows(messages)
    else:
        for rows in groups.values():
            yield _of_rows(rows)


def _of_rows(rows: Sequence[Any]) -> _Found:
    """Messages that each carry what is known of their conversation."""
    record: dict[str, Any] = {}
    for row in rows:
        if isinstance(row, dict):
            known = ((key, value) for key, value in row.items() if plain_key(key) not in _OF_MESSAGES)
            record.update({key: value for key, value in known if value is not None})
    name = next((_conversation_id(row) for row in rows if isinstance(row, dict)), "")
    return _Found(record, tuple(record) if not name else (), rows, name)


#: What belongs to a message and not to its conversation.
_OF_MESSAGES = frozenset(
    """
    role from speaker sender author type content value text parts message utterance toolcalls functioncall
    toolcallid name id timestamp turn turnid index callid arguments output status metadata model usage createdat
    messageid function error refusal
    """.split()  # noqa: SIM905
)


def _conversation_id(row: Mapping[str, Any]) -> str:
    known = {plain_key(key): value for key, value in row.items()}
    given = next((known[name] for name in _CONVERSATION_ID if isinstance(known.get(name), str | int)), "")
    return str(given)


def _conversation(record: Mapping[str, Any]) -> _Found:
    key = _messages_key(record)
    used = [key] if key else []
    messages = list(_opened(record[key])) if key else []
    if not key:
        begun = next(name for name in _BEGUN if name in record)
        used.append(begun)
        given = record[begun]
        if isinstance(given, dict):
            inner = given.get("messages", given.get("input"))
            given = inner if inner is not None else given
        messages += _as_messages(given, "user")
    for name in _ENDED:
        if name in record and (added := _as_messages(_answer(record[name]), "assistant")):
            used.append(name)
            messages += added
            break
    return _Found(record, tuple(used), messages)


def _answer(given: Any) -> Any:
    """The messages of an answer as a model's endpoint gives it."""
    if isinstance(given, dict):
        given = given.get("choices", given.get("output", [given] if is_message(given) else []))
    if isinstance(given, list) and given and isinstance(given[0], dict) and isinstance(given[0].get("message"), dict):
        return [given[0]["message"]]
    return given


def _as_messages(given: Any, role: str) -> list[Any]:
    if isinstance(given, str):
        return [{"role": role, "content": given}] if given else []
    return given if isinstance(given, list) and all(map(is_message, given[:_LOOKED_AT])) else []


def _kind(value: Any, depth: int = 0) -> str:
    """What a JSON value is: a conversation, a row (one message), messages, or a list or an object of conversations."""
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list):
        if value and is_message(value[0]):
            return "" if _is_native(value[0]) else "messages"
        return "list" if value and _kind(value[0], depth + 1) in ("conversation", "messages", "wrapped") else ""
    if not isinstance(value, dict) or not value or _is_other(value):
        return ""
    if _messages_key(value) or _is_exchange(value):
        return "conversation"
    if is_message(value):
        return "row"
    if _wrapper_key(value, depth):
        return "wrapped"
    first = next(iter(value.values()))
    kind = _kind(first, depth + 1)
    return "keyed" if kind in ("conversation", "messages", "list") and not _WORDS & value.keys() else ""


#: A member that no conversation is called by.
_WORDS = frozenset({"input", "output", "observations", "resourceSpans", "info", "eval"})


def _is_native(first: Mapping[str, Any]) -> bool:
    return "dialogue_id" in first and "turns" in first


def _messages_key(record: Mapping[str, Any]) -> str:
    for key in _MESSAGES:
        given = record.get(key)
        if isinstance(given, str) and key == "messages" and _LISTED.match(given):
            return key
        if not isinstance(given, list):
            continue
        meant = not given or (isinstance(given[0], dict) and "role" in given[0])
        if meant and key == "messages":  # what is wrong with a message is said when it is read
            return key
        if given and is_message(given[0]) and (key != "turns" or _has_role(given[0])):
            return key
        if given and is_talk(given[0]) and says_outcome(record) and not _is_framed(record):
            return key
    return ""


def _has_role(message: Any) -> bool:
    return isinstance(message, dict) and not {"role", "from"}.isdisjoint(message)


def _is_framed(record: Mapping[str, Any]) -> bool:
    """Is it a dialogue of a format that has turns, too?"""
    return "metrics" in record or isinstance(record.get("goal"), dict)


def _opened(messages: Any) -> Any:
    """Messages, also where they are written as a text."""
    if not isinstance(messages, str):
        return messages
    try:
        return _MESSAGE_LIST.decode(messages)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DialgaugeError(f"'messages' is a text, and no list of messages in JSON ({error})") from error


def _wrapper_key(record: Mapping[str, Any], depth: int = 0) -> str:
    for key in _WRAPPERS:
        given = record.get(key)
        wrapped = isinstance(given, list) and given and _kind(given[0], depth + 1)
        if wrapped in ("conversation", "messages", "wrapped"):
            return key
    return ""


def _is_exchange(record: Mapping[str, Any]) -> bool:
    """What was asked and how it was answered: both sides are there, and at least one has messages or items."""
    begun = next((record[name] for name in _BEGUN if name in record), None)
    if isinstance(begun, dict):
        begun = begun.get("messages", begun.get("input"))
    ended = next((_answer(record[name]) for name in _ENDED if name in record), None)
    sides = [side for side in (begun, ended) if isinstance(side, list) and side and is_message(side[0])]
    return bool(sides) and begun is not None and ended is not None


def _is_other(record: Mapping[str, Any]) -> bool:
    """A file of another family that also has messages in it."""
    keys = record.keys()
    tau2 = {"task_id", "termination_reason"} <= keys and bool({"reward_info", "ticks"} & keys)
    return (
        tau2
        or {"eval", "version"} <= keys
        or "observations" in keys
        or "resourceSpans" in keys
        or {"task_id", "traj", "reward", "info"} <= keys
        or {"epoch", "target", "scores", "messages"} <= keys
    )


def _seen(value: Any) -> str:
    """The keys that an object has, for people to compare with those that are read."""
    if isinstance(value, dict):
        return f" (it has the keys {', '.join(str(key)[:30] for key in list(value)[:8])})"
    return f" (it is a {type(value).__name__})"
