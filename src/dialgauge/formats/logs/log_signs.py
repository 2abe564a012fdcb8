"""By what the beginning of a file is known for conversations of an agent, or for results without messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain, islice
from typing import Any

from dialgauge.errors import DialgaugeError
from dialgauge.formats.logs.conversations import FoundConversation, group_of, kind_of, of_value
from dialgauge.formats.logs.csv_tables import first_rows
from dialgauge.formats.logs.fact_names import plain_key, says_outcome
from dialgauge.formats.logs.messages import is_message, is_spoken
from dialgauge.formats.logs.record_fields import PROMPTFOO, has_trial, is_inner_run, names_conversation, task_and_trial
from dialgauge.formats.logs.record_messages import has_role
from dialgauge.formats.logs.record_verdicts import lacks_verdict
from dialgauge.formats.logs.report_lines import in_lines
from dialgauge.formats.logs.results import are_results, is_flat_result, is_result, sums_up
from dialgauge.formats.logs.sample_events import is_part
from dialgauge.formats.logs.transcripts import is_judged_transcript
from dialgauge.formats.logs.wide_tables import has_verdict_columns, is_wide
from dialgauge.formats.logs.written_values import TRANSCRIPTS, value_in
from dialgauge.formats.notes import Notes
from dialgauge.formats.parquet import rows_in
from dialgauge.formats.peek import Peek, first_object
from dialgauge.formats.source import Part

#: One of these is in every file of messages, as the table of formats says; others are asked about when nothing fits.
_SIGNS = (b'"role"', b'"from"', b'"messages"', b'"conversation"', b'"transcript"', b'"sender"', b'"human"')
#: Lines before the first message that are looked at.
LOOKED_AT = 10
#: How a line of text begins that looks like JSON.
_STAMPED = re.compile(rb"\s{0,9}\[(?:PASS|FAIL|gw[0-9]|[0-9]{2,4}[-:])")
#: The keys of JSON, and what they are called in predictions and not in results.
_KEYS = re.compile(rb'"([^"\\]{1,60})"\s{0,9}:')
#: Columns of dialogue data.
_OF_DATA = frozenset({"record", "turns", "turn", "state", "predicted", "speaker"})
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
    if peek.json is None and (peek.shape == "text" or _STAMPED.match(peek.head)):
        first = first_row(peek.head)
        if is_wide(first) or (not is_table(first) and in_lines(peek.lines)):
            return True
        if are_results([first]):
            spans = any(plain_key(key).endswith("spanid") for key in first)
            return not spans and _is_no_prediction(" ".join(first), peek)
        return is_written(peek.head) and not _are_predictions(peek)
    given = peek.json if peek.json is not None else _first_message(peek)
    if isinstance(given, list) and given and is_wide(given[0]):
        return True
    if not are_results([given] if peek.json is None or is_result(given) else given):
        return peek.json is None and is_written(peek.head) and not _are_predictions(peek)
    return _is_no_prediction(" ".join(key.decode("utf-8", "replace") for key in _KEYS.findall(peek.head)), peek)


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
    return kind_of(first) == "conversation" or is_result(first) or is_wide(first)


def is_written(head: bytes) -> bool:
    """Are there results, or conversations, in a text that is neither JSON nor CSV?"""
    text = head.decode("utf-8", "replace")
    written = value_in(text) or value_in(text.rpartition("\n---\n")[0])
    if written is None or (written[0] == TRANSCRIPTS and not all(map(is_judged_transcript, written[1]))):
        return False
    value = written[1]
    if isinstance(value, list) and len(value) > 1:
        value = value[:-1] if sums_up(value[-1], numbered=has_trial(value[0])) else value
        if is_wide(value[0]):
            return True
    return bool(kind_of(value)) or are_results(value)


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
    return line.lstrip()[:1] not in (b"{", b"[") or _STAMPED.match(line) is not None


def _is_table(peek: Peek) -> bool:
    """Is it a table of messages that say whose they are, or of conversations, or lines of verdicts?"""
    first = first_row(peek.head)
    columns = dict.fromkeys(first, "user")
    if is_message(columns) or is_message(first):
        return bool(group_of(columns)) and (says_outcome(first) or not _are_predictions(peek))
    return is_row(first) and not is_wide(first) and (_is_judged_task(first) or not _are_predictions(peek))


def _is_judged_task(row: Mapping[str, str]) -> bool:
    """Does a row name a task and say how it went, and neither a turn nor a state, as predictions do?"""
    data = not _OF_DATA.isdisjoint(row) or _TURN.search(" ".join(row))
    return bool(task_and_trial(row)) and is_result(row) and not data


def first_row(head: bytes) -> dict[str, str]:
    """The first row of a table, by its heading, or the first with a verdict; empty where it is none."""
    rows = first_rows(head.decode("utf-8", "replace"))
    return _judged(rows[0], rows) if rows else {}


def is_row(first: Mapping[str, str]) -> bool:
    """Is it a row of a table that can be read?"""
    if is_message(first) or is_message(dict.fromkeys(first, "user")) or is_wide(first):
        return True
    return kind_of(first) == "conversation" or is_result(first)


def is_table(first: Mapping[str, str]) -> bool:
    """Is it a row of a table, also of one whose columns do not say what their verdicts are of?"""
    return is_row(first) or has_verdict_columns(first)


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
    from dialgauge.formats.predictions.dialogue_turns import answered_states

    answers = answered_states(list(first.messages))
    return not says_outcome(first.record) and any('":' in answer for answer in answers)


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
