"""By what the beginning of a file is known for conversations of an agent, or for results without messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from io import BytesIO
from itertools import chain, islice
from typing import Any

from dialgauge.errors import DialgaugeError
from dialgauge.formats.logs.conversations import FoundConversation, group_of, kind_of, of_value
from dialgauge.formats.logs.csv_tables import first_rows
from dialgauge.formats.logs.fact_names import plain_key, says_outcome
from dialgauge.formats.logs.messages import is_message, is_spoken
from dialgauge.formats.logs.record_fields import PROMPTFOO, is_inner_run, names_conversation, task_and_trial
from dialgauge.formats.logs.record_messages import has_role
from dialgauge.formats.logs.record_verdicts import lacks_verdict
from dialgauge.formats.logs.results import are_results, is_flat_result, is_result
from dialgauge.formats.logs.sample_events import is_part
from dialgauge.formats.notes import Notes
from dialgauge.formats.parquet import rows_in
from dialgauge.formats.peek import Peek, first_object
from dialgauge.formats.source import Part

#: One of these is in every file of messages, as the table of formats says; others are asked about when nothing fits.
_SIGNS = (b'"role"', b'"from"', b'"messages"', b'"conversation"', b'"transcript"', b'"sender"', b'"human"')
#: Lines before the first message that are looked at.
LOOKED_AT = 10
#: The keys of JSON, and what they are called in predictions and not in results.
_KEYS = re.compile(rb'"([^"\\]{1,60})"\s{0,9}:')
#: Columns of dialogue data.
_OF_DATA = frozenset({"record", "turns", "turn", "state", "predicted", "speaker"})
#: Names that agents' logs have and predictions do not, and those that predictions have.
_OF_LOGS = re.compile(rb'"(?:role|messages|success|passed|reward|trial|trials|task_id|instance_id|scores)"\s{0,9}:')
_OF_STATES = re.compile(rb"state|pred|belief|slot|turn", re.IGNORECASE)
_TURN = re.compile(r"(?<![\w-])turn(?:_?(?:id|idx|index|number|num))?(?![\w-])", re.IGNORECASE)
_PREDICTED = re.compile(r"state|pred|belief|slot|frame|turn(?!s\b)|dial(?:og|ogue)?_?id|output|generat", re.IGNORECASE)


def holds_conversations(peek: Peek) -> bool:
    """Does a file begin with conversations, or with results that say task and verdict in rows of facts?"""
    begun = peek.json if isinstance(peek.json, list) else map(first_object, peek.lines[:LOOKED_AT])
    if any(map(is_part, islice(begun, LOOKED_AT))):
        return True
    given = peek.json if peek.json is not None else _first_message(peek)
    if given is None:
        return _is_table(peek)
    kind = kind_of(given)
    if not kind and not isinstance(peek.json, dict):  # one alone is the outcome of a conversation beside it
        return is_flat_result(given[0] if isinstance(given, list) and given else given) and not _are_predictions(peek)
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
    if first is not None and first.record.keys() >= PROMPTFOO:
        return True
    if first is not None and _are_states(first) and _are_predictions(peek):
        return False
    if first is None or has_sign:
        doubtful = (
            bool(notes.counts) if first is None else (bool(notes.counts) and not first.grouped) or _is_spoken(first)
        )
        return has_sign and not (doubtful and _are_predictions(peek))
    listed = any(is_message(message) and "speaker" not in message for message in first.messages[:LOOKED_AT])
    return (listed or says_outcome(first.record)) and not _are_predictions(peek)


def holds_results(peek: Peek) -> bool:
    """Is it results without messages, in a file that no format recognises, and no predictions, which may look alike?"""
    if peek.shape == "text":
        first = _first_row(peek.head)
        spans = any(plain_key(key).endswith("spanid") for key in first)
        return are_results([first]) and not spans and _is_no_prediction(" ".join(first), peek)
    given = peek.json if peek.json is not None else _first_message(peek)
    if not are_results([given] if peek.json is None or is_result(given) else given):
        return False
    return _is_no_prediction(" ".join(key.decode("utf-8", "replace") for key in _KEYS.findall(peek.head)), peek)


def may_be_log(part: Part) -> bool:
    """Does a file that could be predictions look more like a log of an agent, or have no name of a state?"""
    head = part.head()
    return _OF_LOGS.search(head) is not None or _OF_STATES.search(head) is None


def are_log_rows(part: Part) -> bool:
    """Are the rows of a Parquet table conversations of an agent, or results, and none of dialogue data?"""
    try:
        rows = list(rows_in(part, LOOKED_AT))
    except DialgaugeError:  # said when it is read
        return False
    first = _judged(rows[0], rows) if rows else {}
    if not _OF_DATA.isdisjoint(first):
        return False
    if is_message(first):
        return bool(group_of(first))
    return kind_of(first) == "conversation" or is_result(first)


def _is_no_prediction(keys: str, peek: Peek) -> bool:
    """Are these no keys of predictions? What numbers turns is of them, also where nobody finds states in it."""
    return not _TURN.search(keys) and (not _PREDICTED.search(keys) or not _are_predictions(peek))


def _first_message(peek: Peek) -> dict[str, Any] | None:
    """The first line that holds a message or a conversation, after what a session notes of itself or a heading."""
    lines = (first_object(line) for line in peek.lines[:LOOKED_AT] if line.strip())
    spoken = (value for value in lines if value is None or not is_inner_run(value))
    values = (value for value in spoken if value is None or not is_event(value) or is_flat_result(value))
    first, second = [*islice(values, 2), None, None][:2]
    if is_heading(first):
        return second if second is not None and (kind_of(second) or is_result(second)) else first
    return first if first is None else _judged(first, chain([second], values))


def _judged(first: dict[str, Any], others: Iterable[Any]) -> dict[str, Any]:
    """The first row that has a verdict, of those with the same names, where nobody judged what the first tells of."""
    if kind_of(first) or is_result(first) or not lacks_verdict(first):
        return first
    alike = (row for row in others if isinstance(row, dict) and row.keys() == first.keys())
    return next(filter(is_result, alike), first)


def is_heading(value: Any) -> bool:
    """Is it what a file says of all of its conversations, before the first?"""
    return isinstance(value, dict) and not kind_of(value) and not names_conversation(value)


def is_event(value: Any) -> bool:
    """Is it something else than a message, by its own word: ``{"type": "summary", ...}``?"""
    return isinstance(value, dict) and bool(event_name(value)) and not kind_of(value)


def event_name(value: Mapping[str, Any]) -> str:
    """What kind of a thing a line says that it is; empty where it does not."""
    return next((value[key][:40] for key in ("type", "event") if isinstance(value.get(key), str)), "")


def is_text(line: bytes) -> bool:
    """Does a line begin as no JSON does?"""
    return line.lstrip()[:1] not in (b"{", b"[")


def _is_table(peek: Peek) -> bool:
    """Is it a table of messages that say whose they are, or of conversations?"""
    first = _first_row(peek.head)
    columns = dict.fromkeys(first, "user")
    if is_message(columns) or is_message(first):
        return bool(group_of(columns)) and (says_outcome(first) or not _are_predictions(peek))
    read = kind_of(first) == "conversation" or is_result(first)
    return read and (_is_judged_task(first) or not _are_predictions(peek))


def _is_judged_task(row: Mapping[str, str]) -> bool:
    """Does a row name a task and say how it went, and neither a turn nor a state, as predictions do?"""
    data = not _OF_DATA.isdisjoint(row) or _TURN.search(" ".join(row))
    return bool(task_and_trial(row)) and is_result(row) and not data


def _first_row(head: bytes) -> dict[str, str]:
    """The first row of a table, by its heading, or the first with a verdict; empty where it is none."""
    rows = first_rows(head.decode("utf-8", "replace"))
    return _judged(rows[0], rows) if rows else {}


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


def _are_states(first: FoundConversation) -> bool:
    """Does a model answer messages with dialogue states, of which one is not empty?"""
    return False


def _is_turn(given: Mapping[str, Any]) -> bool:
    """Is it one turn, with the messages to a model that answers with an object?"""
    return False


def _answers_with_state(response: Any) -> bool:
    return False


def _are_predictions(peek: Peek) -> bool:
    from dialgauge.formats.common_layouts import common_mapping
    from dialgauge.formats.predictions.states import Misfit
    from dialgauge.formats.row_paths import beginning

    try:
        common_mapping(beginning(peek, Part(peek.stem, lambda: BytesIO(peek.head), len(peek.head) + 1)))
    except (Misfit, DialgaugeError):
        return False
    return True
