"""Conversations in values of JSON, wherever people put them.

The messages of a record stand under a usual name, or are its only list of messages, its only transcript, or what was
asked and how it was answered; where that is not usual, a note says where they were. Records stand alone, in lists, by
name, or wrapped, with what they share beside the list. Messages may also be rows that say whose they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dialgauge.errors import DialgaugeError
from dialgauge.formats.json_text import literal, rows_by_columns
from dialgauge.formats.logs.fact_names import TRIAL_NAME, is_of_one, plain_key, says_outcome
from dialgauge.formats.logs.messages import content_of, is_message, is_talk, role_of, transcript, unwrapped
from dialgauge.formats.logs.record_fields import (
    PROMPTFOO,
    as_of,
    has_trial,
    is_inner_run,
    of_all,
    own_names,
    plain_columns,
    task_and_trial,
    usage_inside,
)
from dialgauge.formats.logs.record_verdicts import says_done, says_success
from dialgauge.formats.notes import INNER_RUNS, Notes
from dialgauge.formats.tau_messages import is_tau_result

#: Where the messages of a conversation stand, and where a file keeps its conversations.
_MESSAGES = ("messages", "conversations", "conversation", "dialogue", "dialog", "chat", "chat_history", "history",
             "transcript", "traj", "trajectory", "items", "turns", "message_history", "full_history",
             "contents", "steps")  # fmt: skip
WRAPPERS = ("conversations", "data", "dialogues", "dialogs", "chats", "results", "samples", "logs", "records", "runs",
            "episodes", "trajectories", "rollouts", "items", "threads", "sessions", "simulations", "trials",
            "attempts", "tasks")  # fmt: skip
#: What a conversation is asked to go on with, and how it went on.
_BEGUN = ("input", "prompt", "request", "inputs", "question", "user_input", "query")
_ANSWERS = ("output", "completion", "response", "responses", "choices")
_ENDED = (*_ANSWERS, "outputs", "actual_output", "actualOutput")
#: Names under which a record has something that was said.
SPOKEN = frozenset((*_MESSAGES, *_BEGUN, *_ENDED))
#: Where the first message of a conversation stands that is beside the list of the others.
_OPENING = "source"
#: Where one side of an exchange keeps what it says.
_SIDE = ("messages", "contents", "input", "choices", "candidates", "output", "raw")
_CONVERSATION_ID = ("conversationid", "dialogueid", "dialogid", "sessionid", "threadid", "chatid", "convid", "dialogue",
                    "conversation", "session", "thread")  # fmt: skip
#: Members whose messages nobody said in this conversation.
_NOT_SAID = frozenset(
    """
    expected expectedoutput reference references gold golden target targets ideal example examples fewshot fewshots
    fewshotexamples demonstrations initialstate evaluationcriteria tools functions config testcase vars judge judges
    judgement judgment grader graders grading evaluator evaluation critic
    """.split()  # noqa: SIM905
)
#: Members whose success is that of a request.
_SENT = frozenset({"response", "request", "body", "payload"})
#: A member that no conversation is called by.
_WORDS = frozenset({"input", "output", "inputs", "outputs", "observations", "resourceSpans", "info", "eval", "values",
                    "state", "checkpoint", "channel_values", "result", "response", "trace"})  # fmt: skip
#: What belongs to a message and not to its conversation.
_OF_MESSAGES = frozenset(
    """
    role from speaker sender author type content value text parts message utterance toolcalls functioncall
    toolcallid name id timestamp turn turnid index callid arguments output status metadata model usage createdat
    messageid toolname functionname toolargs toolarguments toolinput toolparams toolparameters
    function error refusal source event direction kind blocks payload body
    """.split()  # noqa: SIM905
)
_TRIALS = ("trials", "attempts", "rollouts")
#: Lists whose entries bear the names of their tasks.
_CASES = frozenset({"testcases", "testresults", "conversationaltestcases"})
_CONVERSATIONS = ("conversation", "messages", "wrapped")
#: What is noted of a conversation of which only is said how it went.
NO_MESSAGES = "a conversation has no messages, and counts by what is said of it"
_LOOKED_AT = 3
#: How deep conversations lie in lists and objects, and messages in a record.
_DEEPEST, _DEEPEST_MESSAGES = 6, 3
#: Messages that were written as a text, by JSON or by Python; longer ones are none of Python's.
_EMPTY = re.compile(r"\s{0,99}\[\s{0,99}\]\s{0,99}")
_LISTED = re.compile(r"\s{0,99}\[\s{0,99}\{\s{0,99}[\"']")
_OPENED = re.compile(r"\s{0,99}[\[{]\s{0,99}[\[{\"']")
_LONGEST_LITERAL = 1 << 20


class FoundConversation(Struct):
    """A conversation as a file has it: what else its record says, which keys hold its messages, and these."""

    record: Mapping[str, Any]
    used: tuple[str, ...]
    messages: Sequence[Any]
    #: What it is called where the file names it from outside.
    key: str = ""
    #: Is this the name of several of them?
    grouped: bool = False


class _Talk(Struct):
    """The messages of a record, the keys that hold them, and what stands beside them further inside."""

    messages: Sequence[Any]
    used: tuple[str, ...]
    beside: Mapping[str, Any] = {}
    #: The keys that lead to what was read, where that is not usual, and what is told of it.
    path: tuple[str, ...] = ()
    how: str = "messages read from '{path}'"


def kind_of(value: Any, depth: int = 0) -> str:
    """What a JSON value is: a conversation, a row (one message), messages, or a list or an object of conversations."""
    if depth > _DEEPEST:
        return ""
    if isinstance(value, list):
        if value and is_message(value[0]):
            return "" if "dialogue_id" in value[0] and "turns" in value[0] else "messages"
        return "list" if value and kind_of(value[0], depth + 1) in (*_CONVERSATIONS, "list") else ""
    if not isinstance(value, dict) or not value or is_other(value):
        return ""
    if messages_key(value) or _exchange(value):
        return "conversation"
    if _table(value):
        return "columns"
    if is_message(value):
        return "row"
    if _wrapper(value, depth):
        return "wrapped"
    only = _only_list(value, depth)
    if len(value) == len(only) and not has_trial(value[only[0]][0]):  # its name is not that of a task
        return "wrapped"
    if _WORDS.isdisjoint(value) and kind_of(next(iter(value.values())), depth + 1) in _named_kinds(value):
        return "keyed"
    if only:
        return "wrapped"
    return "held" if _names_held(value, depth) else "conversation" if _hidden(value) else ""


def _named_kinds(value: Mapping[str, Any]) -> tuple[str, ...]:
    """What the members of an object may be whose names are those of conversations, or of tasks with their trials."""
    *firsts, last = value.values()
    if all(isinstance(member, dict) and member and all(map(TRIAL_NAME.fullmatch, member)) for member in value.values()):
        return ("conversation", "messages", "keyed")
    if not all(isinstance(one, list | dict) and one for one in firsts) or not isinstance(last, list | dict):
        return ("conversation",)
    return ("conversation", "messages", "list", *(("wrapped",) if set(WRAPPERS).isdisjoint(value) else ()))


def of_value(value: Any, kind: str, notes: Notes) -> Iterator[FoundConversation]:
    """The conversations of a value of that kind."""
    if kind == "conversation":
        if conversation := _conversation(value, notes):
            yield conversation
    elif kind == "row":
        yield of_rows([value])
    elif kind == "messages":
        yield from _of_message_list(value)
    elif kind == "list":
        for member in value:
            if inner := kind_of(member):
                yield from of_value(member, inner, notes)
            elif bare := without_messages(member, notes):
                yield bare
            else:
                notes.add("entries without messages left out")
    elif kind == "columns":
        for row in _table(value):
            if conversation := _conversation(row, notes):
                yield conversation
    elif kind == "wrapped":
        shared, entries = value, value
        for key in _wrapper(value) or _only_list(value):
            shared = {**shared, **{name: entry for name, entry in entries.items() if name != key}}
            shared.pop(key, None)
            entries = entries[key]
        each = of_each(shared, len(entries))
        shared = shared_by(shared, key, len(entries), entries[0], notes)
        for number, entry in enumerate(entries):
            for conversation in of_value([as_task(entry, key)], "list", notes):
                whole = {**shared, **each[number], **conversation.record}
                if plain_key(key) in _CASES and whole.get("name") and not task_and_trial(whole):
                    whole["task_id"] = whole["name"]
                yield FoundConversation(whole, conversation.used, conversation.messages, conversation.key)
    elif kind == "held":
        key = _names_held(value)
        shared = of_all({name: member for name, member in value.items() if name != key}, notes, several=True)
        for found in of_value(value[key], "keyed", notes):
            yield replace(found, record={**shared, **found.record})
    else:
        for name, member in value.items():
            inner = kind_of(member)
            if not inner:
                notes.add(f"'{name[:60]}' has no messages: left out")
            named = {"name": name, **member} if inner == "wrapped" else member
            for conversation in of_value(named, inner, notes) if inner else ():
                trial = TRIAL_NAME.fullmatch(conversation.key) if inner == "keyed" else None
                record = {"trial": int(trial[1]), **conversation.record} if trial else conversation.record
                yield FoundConversation(
                    record, conversation.used, conversation.messages, name, inner in ("list", "wrapped", "keyed")
                )


def as_task(entry: Any, key: str) -> Any:
    """An entry of a list of that name; one of tasks that holds its trials is called as its task is."""
    if key != "tasks" or not isinstance(entry, dict) or task_and_trial(entry) or kind_of(entry) != "wrapped":
        return entry
    named = entry.get("id", entry.get("name"))
    return entry if named is None else {**entry, "task_id": named}


def shared_by(record: Mapping[str, Any], key: str, number: int, first: Any, notes: Notes) -> dict[str, Any]:
    """What a record says of all conversations in its list of that name: so many, of which this is the first."""
    record = (
        {name: held for name, held in record.items() if name not in of_each(record, number)[0]} if number else record
    )
    named = record.get("id", record.get("name"))
    if key in _TRIALS and named and not task_and_trial(record):
        notes.add("trials taken for those of the task that has their list")
        record = {**record, "task_id": named}
    return of_all(record, notes, several=number > 1 or (isinstance(first, dict) and says_success(first)))


def of_each(record: Mapping[str, Any], number: int) -> list[dict[str, Any]]:
    """What lists beside one of so many conversations say of each: ``{"conversations": [...], "passed": [...]}``."""
    lists = {
        key: held
        for key, held in record.items()
        if isinstance(held, list) and len(held) == number > 1 and is_of_one(key)
        if not any(isinstance(member, list | dict) for member in held)
    }
    return [{key: held[place] for key, held in lists.items()} for place in range(number)]


def without_messages(value: Any, notes: Notes) -> FoundConversation | None:
    """A conversation of which only is said whose it is and how it went, as where it crashed."""
    if not isinstance(value, dict) or not group_of(value) or not says_outcome(value) or is_message(value):
        return None
    if is_inner_run(value):
        return None
    notes.add(NO_MESSAGES)
    return FoundConversation(own_names(value, notes), (), ())


def _table(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a table by columns, one of which has the messages of each conversation; none where it is no table."""
    rows = list(map(plain_columns, rows_by_columns(value))) if len(value) > 1 else []
    spoken = rows and (
        _are_messages(rows[0].get("messages"))
        or _exchange(rows[0], texts=says_outcome(rows[0]))
        or ("columns" in value and _exchange(rows[0]))
    )
    return rows if spoken else []


def _of_message_list(messages: Sequence[Any]) -> Iterator[FoundConversation]:
    """Messages in one list: one conversation, or several that are told apart by an id in each message."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for message in messages:
        groups.setdefault(group_of(message) if isinstance(message, dict) else "", []).append(message)
    yield from map(of_rows, groups.values() if len(groups) > 1 else [messages])


def of_rows(rows: Sequence[Any]) -> FoundConversation:
    """Messages that each carry what is known of their conversation."""
    record: dict[str, Any] = {}
    for row in rows:
        if isinstance(row, dict):
            known = ((key, value) for key, value in row.items() if plain_key(key) not in _OF_MESSAGES)
            record.update({key: value for key, value in known if value is not None})
    first = next((row for row in rows if isinstance(row, dict)), {})
    return FoundConversation(record, () if group_of(first) else tuple(record), rows, conversation_id(first))


def conversation_id(row: Mapping[str, Any]) -> str:
    """The conversation that a message says it is of."""
    known = {plain_key(key): value for key, value in row.items()}
    names = (*_CONVERSATION_ID, "senderid") if "event" in known else _CONVERSATION_ID  # of Rasa's events
    given = next((known[name] for name in names if isinstance(known.get(name), str | int)), "")
    return str(given)


def group_of(row: Mapping[str, Any]) -> str:
    """What the messages of one conversation have in common: its id, or task and trial; empty where nothing says it."""
    return conversation_id(row) or "#".join(task_and_trial(row))


def _conversation(record: Mapping[str, Any], notes: Notes) -> FoundConversation | None:
    if is_inner_run(record):
        notes.add(INNER_RUNS)
        return None
    record = own_names(record, notes)
    key = messages_key(record)
    if not key:
        if (talk := _exchange(record) or _hidden(record)) is None:
            return None
        if talk.path:
            notes.add(talk.how.format(path=".".join(name[:60] for name in talk.path)))
        others = {name: member for name, member in record.items() if name not in talk.used}
        own = says_success(others) or plain_key(talk.used[0]) in _SENT
        beside = as_of(talk.used[0], talk.beside) if own else talk.beside
        spent = list(usage_inside(record.get(name) for name in talk.used if name in _ENDED))
        usage = {"usage": spent[0]} if len(spent) == 1 and "usage" not in others else {}
        opening = [others.pop(_OPENING)] if is_message(others.get(_OPENING)) else []
        return FoundConversation({**beside, **others, **usage}, (), [*opening, *talk.messages])
    messages = list(_opened(record[key]))
    for name in _ANSWERS:
        answer = record.get(name)
        if isinstance(answer, dict) and not is_message(answer) and {"choices", "output"}.isdisjoint(answer):
            continue
        if added := _side(answer, "assistant"):
            repeated = messages and isinstance(messages[-1], dict) and _same(messages[-1], added[-1])
            return FoundConversation(record, (key, name), messages if repeated else [*messages, *added])
    return FoundConversation(record, (key,), messages)


def messages_key(record: Mapping[str, Any]) -> str:
    """The usual name under which a record has its messages."""
    for key in _MESSAGES:
        given = record.get(key)
        if key == "messages" and isinstance(given, str) and _EMPTY.fullmatch(given):
            return key
        if isinstance(given, str) and _LISTED.match(given) and (key == "messages" or _are_messages(_literal(given))):
            return key
        if not isinstance(given, list):
            continue
        meant = not given or (isinstance(given[0], dict) and "role" in given[0])
        if meant and key == "messages":  # what is wrong with a message is said when it is read
            return key
        if given and is_message(given[0]) and (key != "turns" or has_role(given[0])):
            return key
        if given and is_talk(given[0]) and (says_outcome(record) or says_done(record)) and not _is_framed(record):
            return key
    return ""


def has_role(message: Any) -> bool:
    """Does a message name a role, as no turn of dialogue data does?"""
    return isinstance(message, dict) and not {"role", "from"}.isdisjoint(message)


def _is_framed(record: Mapping[str, Any]) -> bool:
    """Is it a dialogue of a format that has turns, too?"""
    return "metrics" in record or isinstance(record.get("goal"), dict)


def _opened(messages: Any) -> Any:
    """Messages, also where they are written as a text."""
    given = _literal(messages) if isinstance(messages, str) else messages
    if not isinstance(given, list):
        raise DialgaugeError("'messages' is a text, and no list of messages in JSON")
    return given


def _literal(text: str) -> list[Any] | dict[str, Any] | None:
    """The list or object that JSON or Python means by a text; None where it is none."""
    given = literal(text.strip(), _LONGEST_LITERAL)
    return given if isinstance(given, list | dict) else None


def _exchange(record: Mapping[str, Any], *, texts: bool = False) -> _Talk | None:
    """What was asked and how it was answered, of which at least one is messages; or with ``texts`` two texts."""
    begun = next((name for name in _BEGUN if record.get(name) is not None), "")
    ended = next((name for name in _ENDED if record.get(name) is not None), "")
    answered = _side(record.get(ended), "assistant")
    if not begun and answered and record.keys() >= PROMPTFOO and isinstance(record.get("vars"), dict):
        name, asked = max(record["vars"].items(), key=lambda each: len(each[1]) if isinstance(each[1], str) else 0)
        how = "'{path}' read as what the user said, as there is no prompt"
        return _Talk([*_side(asked, "user"), *answered], (ended,), {}, ("vars", name), how)
    asked = _side(record.get(begun), "user")
    if begun and not texts and _is_whole(answered) and not (asked and "speaker" not in asked[0]):
        held = record[ended] if isinstance(record[ended], dict) and not asked else {}
        beside = {key: member for key, member in held.items() if key not in _SIDE}
        how = f"'{{path}}' not read as a message: '{ended}' holds what the user said"
        return _Talk(answered, (ended,), beside, (begun,), how)
    if not begun or not ended or (isinstance(record[begun], dict) and not asked):
        return None
    if texts:
        how = f"'{{path}}' read as what the user said, '{ended}' as what the agent answered"
        both = asked and answered and not {"dialogue", "turn", "output"} <= record.keys()
        return _Talk([*asked, *answered], (begun, ended), {}, (begun,), how) if both else None
    if all("speaker" in message for message in (*asked[:1], *answered[:1])):
        return None
    used = tuple(name for name, side in ((begun, asked), (ended, answered)) if side)
    return _Talk([*asked, *answered[_repeated(asked, answered) :]], used)


def _is_whole(answered: Sequence[Any]) -> bool:
    """Is an answer a whole conversation, which the user begins?"""
    roles = (role_of(unwrapped(message)) for message in answered if isinstance(message, dict))
    return next((role for role in roles if role != "system"), "") == "user"


def _repeated(asked: Sequence[Any], answered: Sequence[Any]) -> int:
    """With how many messages an answer begins that were asked, as where it holds the whole."""
    for length in range(min(len(asked), len(answered)), 0, -1):
        if all(map(_same, asked[-length:], answered)):
            return length
    return 0


def _same(message: Any, other: Any) -> bool:
    first, second = unwrapped(message), unwrapped(other)
    return role_of(first) == role_of(second) and content_of(first) == content_of(second)


def _side(given: Any, role: str) -> list[Any]:
    """What one side of an exchange says, as messages, a text as that of a speaker; nothing where it is not clear."""
    if isinstance(given, str):
        opened = _side(_literal(given), role) if _OPENED.match(given) else []
        if opened and "speaker" not in opened[0]:
            return opened
        return [{"speaker": role, "text": given}] if given.strip() else []
    if isinstance(given, dict):
        if is_message(given):
            return [given]
        if key := next((name for name in _SIDE if name in given), ""):
            return _side(given[key], role)
        return _side(next(iter(given.values())), role) if len(given) == 1 else []
    first = given[0] if isinstance(given, list) and given and isinstance(given[0], dict) else {}
    for held in (first.get("message"), first.get("content")):  # of the first choice, or candidate
        if isinstance(held, dict) and (held is first.get("message") or is_message(held)):
            return [held]
    return given if _are_messages(given) else []


def _are_messages(given: Any) -> bool:
    return isinstance(given, list) and bool(given) and all(map(is_message, given[:_LOOKED_AT]))


def _hidden(record: Mapping[str, Any], depth: int = 0) -> _Talk | None:
    """Messages under no usual name: the only list of them, in an object inside, in a transcript, or two texts."""
    if any(plain_key(key).endswith("spanid") for key in record):  # a part of a trace
        return None
    members = {key: member for key, member in record.items() if plain_key(key) not in _NOT_SAID}
    lists = [key for key, member in members.items() if isinstance(member, list) and _holds_messages(member)]
    if lists:
        return _Talk(record[lists[0]], (lists[0],), {}, (lists[0],)) if len(lists) == 1 else None
    inner = [
        (key, member, talk)
        for key, member in members.items()
        if isinstance(member, dict) and depth < _DEEPEST_MESSAGES and (talk := _inside(member, depth + 1))
    ]
    if inner:
        key, held, talk = inner[0]
        beside = {**talk.beside, **{name: member for name, member in held.items() if name not in talk.used}}
        path = (key, *(talk.path or [" and ".join(talk.used)]))
        return _Talk(talk.messages, (key,), beside, path, talk.how) if len(inner) == 1 else None
    prompts = _BEGUN if any(name in record for name in _ENDED) else ()
    texts = [
        (key, turns)
        for key, member in members.items()
        if isinstance(member, str) and key not in prompts and (turns := transcript(member))
    ]
    if len(texts) == 1:
        key, turns = texts[0]
        return _Talk(turns, (key,), {}, (key,), "the text of '{path}' taken apart where lines begin with a speaker")
    return _exchange(record, texts=True) if depth == 0 and not texts and says_outcome(record) else None


def _inside(record: Mapping[str, Any], depth: int) -> _Talk | None:
    if is_other(record):
        return None
    key = messages_key(record)
    return _Talk(_opened(record[key]), (key,)) if key else _exchange(record) or _hidden(record, depth)


def _holds_messages(given: Sequence[Any]) -> bool:
    """Is it a list of messages, between which there may be events of other kinds?"""
    first = next((message for message in given[:20] if not _is_event(message)), None)
    return isinstance(first, dict) and is_message(first) and "speaker" not in first


def _is_event(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("event"), str) and not is_message(value)


def _wrapper(record: Mapping[str, Any], depth: int = 0) -> tuple[str, ...]:
    """Where a record keeps a list of conversations, under usual names."""
    for key in WRAPPERS:
        held = record.get(key)
        if _is_list_of_conversations(held, depth):
            return (key,)
        if isinstance(held, dict) and depth < _LOOKED_AT and (path := _wrapper(held, depth + 1)):
            return (key, *path)
    return ()


def _names_held(record: Mapping[str, Any], depth: int = 0) -> str:
    """Under which usual name a record keeps conversations, or tasks with their trials, by their names."""
    held = (key for key in WRAPPERS if isinstance(record.get(key), dict))
    return next((key for key in held if kind_of(record[key], depth + 1) == "keyed"), "")


def _only_list(record: Mapping[str, Any], depth: int = 0) -> tuple[str, ...]:
    """The only list of conversations that a record has, under no usual name."""
    keys = (key for key in record if plain_key(key) not in _NOT_SAID and key not in WRAPPERS)
    lists = [key for key in keys if _is_list_of_conversations(record[key], depth)]
    return tuple(lists) if len(lists) == 1 else ()


def _is_list_of_conversations(given: Any, depth: int) -> bool:
    return isinstance(given, list) and bool(given) and kind_of(given[0], depth + 1) in _CONVERSATIONS


def is_other(record: Mapping[str, Any]) -> bool:
    """A file of another family that also has messages in it."""
    keys = record.keys()
    tau2 = {"task_id", "termination_reason"} <= keys and bool({"reward_info", "ticks"} & keys)
    return (
        tau2
        or {"eval", "version"} <= keys
        or "observations" in keys
        or "resourceSpans" in keys
        or "evaluation_criteria" in keys
        or is_tau_result(record)
        or {"epoch", "target", "scores", "messages"} <= keys
    )


def has_messages(record: Mapping[str, Any]) -> bool:
    """Has a record messages under a usual name, or in what was asked and answered?"""
    return bool(messages_key(record)) or _exchange(record) is not None
