"""Conversations in values of JSON, wherever people put them.

Records stand alone, in lists, by name, or wrapped, with what they share beside the list; where their messages are not
under a usual name, a note says where they were. Messages may also be rows that say whose they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dialgauge.formats.json_text import rows_by_columns
from dialgauge.formats.logs.fact_names import TRIAL_NAME, is_of_one, plain_key, says_outcome
from dialgauge.formats.logs.messages import is_message
from dialgauge.formats.logs.record_fields import (
    as_of,
    has_trial,
    is_inner_run,
    of_all,
    own_names,
    plain_columns,
    task_and_trial,
    usage_inside,
)
from dialgauge.formats.logs.record_messages import (
    ANSWERS,
    ENDED,
    NOT_SAID,
    are_messages,
    exchange,
    hidden,
    is_other,
    messages_key,
    opened_messages,
    said_by,
    same_message,
)
from dialgauge.formats.logs.record_verdicts import says_success
from dialgauge.formats.notes import INNER_RUNS, Notes

#: Where a file keeps its conversations.
WRAPPERS = ("conversations", "data", "dialogues", "dialogs", "chats", "results", "samples", "logs", "records", "runs",
            "episodes", "trajectories", "rollouts", "items", "threads", "sessions", "simulations", "trials",
            "attempts", "tasks")  # fmt: skip
#: Where the first message of a conversation stands that is beside the list of the others.
_OPENING = "source"
_CONVERSATION_ID = ("conversationid", "dialogueid", "dialogid", "sessionid", "threadid", "chatid", "convid", "dialogue",
                    "conversation", "session", "thread")  # fmt: skip
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
#: How deep conversations lie in lists and objects, and in lists under usual names.
_DEEPEST, _DEEPEST_WRAPPED = 6, 3


class FoundConversation(Struct):
    """A conversation as a file has it: what else its record says, which keys hold its messages, and these."""

    record: Mapping[str, Any]
    used: tuple[str, ...]
    messages: Sequence[Any]
    #: What it is called where the file names it from outside.
    key: str = ""
    #: Is this the name of several of them?
    grouped: bool = False


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
    if messages_key(value) or exchange(value):
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
    return "held" if _names_held(value, depth) else "conversation" if hidden(value) else ""


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
        are_messages(rows[0].get("messages"))
        or exchange(rows[0], texts=says_outcome(rows[0]))
        or ("columns" in value and exchange(rows[0]))
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
        if (talk := exchange(record) or hidden(record)) is None:
            return None
        if talk.path:
            notes.add(talk.how.format(path=".".join(name[:60] for name in talk.path)))
        others = {name: member for name, member in record.items() if name not in talk.used}
        own = says_success(others) or plain_key(talk.used[0]) in _SENT
        beside = as_of(talk.used[0], talk.beside) if own else talk.beside
        spent = list(usage_inside(record.get(name) for name in talk.used if name in ENDED))
        usage = {"usage": spent[0]} if len(spent) == 1 and "usage" not in others else {}
        opening = [others.pop(_OPENING)] if is_message(others.get(_OPENING)) else []
        return FoundConversation({**beside, **others, **usage}, (), [*opening, *talk.messages])
    messages = list(opened_messages(record[key]))
    for name in ANSWERS:
        answer = record.get(name)
        if isinstance(answer, dict) and not is_message(answer) and {"choices", "output"}.isdisjoint(answer):
            continue
        if added := said_by(answer, "assistant"):
            repeated = messages and isinstance(messages[-1], dict) and same_message(messages[-1], added[-1])
            return FoundConversation(record, (key, name), messages if repeated else [*messages, *added])
    return FoundConversation(record, (key,), messages)


def _wrapper(record: Mapping[str, Any], depth: int = 0) -> tuple[str, ...]:
    """Where a record keeps a list of conversations, under usual names."""
    for key in WRAPPERS:
        held = record.get(key)
        if _is_list_of_conversations(held, depth):
            return (key,)
        if isinstance(held, dict) and depth < _DEEPEST_WRAPPED and (path := _wrapper(held, depth + 1)):
            return (key, *path)
    return ()


def _names_held(record: Mapping[str, Any], depth: int = 0) -> str:
    """Under which usual name a record keeps conversations, or tasks with their trials, by their names."""
    held = (key for key in WRAPPERS if isinstance(record.get(key), dict))
    return next((key for key in held if kind_of(record[key], depth + 1) == "keyed"), "")


def _only_list(record: Mapping[str, Any], depth: int = 0) -> tuple[str, ...]:
    """The only list of conversations that a record has, under no usual name."""
    keys = (key for key in record if plain_key(key) not in NOT_SAID and key not in WRAPPERS)
    lists = [key for key in keys if _is_list_of_conversations(record[key], depth)]
    return tuple(lists) if len(lists) == 1 else ()


def _is_list_of_conversations(given: Any, depth: int) -> bool:
    return isinstance(given, list) and bool(given) and kind_of(given[0], depth + 1) in _CONVERSATIONS
