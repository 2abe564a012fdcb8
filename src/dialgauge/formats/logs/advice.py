"""What a file lacks to be a log of an agent: said with its own keys, and with an example made of its first record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from dialgauge.formats.base import Peek
from dialgauge.formats.logs.conversations import group_of
from dialgauge.formats.logs.fact_names import plain_key
from dialgauge.formats.logs.facts import task_and_trial
from dialgauge.formats.logs.messages import is_message
from dialgauge.formats.predictions.free_form import sample
from dialgauge.formats.source import Part
from dialgauge.text import plain

_LACKING = (
    "missing: the messages of each conversation, with who said them, and beside them its task and whether it succeeded "
    "(where messages were not kept, an empty list will do)"
)
_DEEPEST, _SHOWN, _LONGEST = 5, 6, 40


def log_advice(part: Part) -> tuple[str, str]:
    """What the first record lacks, and how it could be written."""
    record = _first_record(sample(Peek(part)))
    lists = dict(_lists(record))
    spoken = [path for path, entries in lists.items() if any(map(is_message, entries[:_SHOWN]))]
    task = next(iter(task_and_trial(record)), "") or "t1"
    if is_message(record) and not group_of(record):
        shown = {key: value for key, value in list(record.items())[:_SHOWN] if isinstance(value, str | int)}
        advice = "its rows are messages, and no column says whose: add 'conversation_id', or 'task_id' and 'trial'"
        return advice, _json({"conversation_id": "c1", "task_id": "t1", "success": True, **shown})
    if any(
        plain_key(key).endswith("spanid") for held in (record, *(each[0] for each in lists.values())) for key in held
    ):
        advice = (
            "it has spans of a tracer: export them as OTLP JSON ('dialgauge data formats otel'), or put the messages"
        )
        return f"{advice} of each conversation together", _example(task, [])
    if len(spoken) > 1:
        advice = (
            f"there are messages under {' and '.join(spoken[:3])}: give each conversation a record of its own, with its"
        )
        return f"{advice} messages under 'messages'", _example(task, lists[spoken[0]])
    if spoken:
        advice = (
            f"there are messages under {spoken[0]}, and nothing that is known says whose they are and how it went: give"
        )
        return f"{advice} each conversation a record with its messages, task and success", _example(
            task, lists[spoken[0]]
        )
    for path in sorted(lists, key=lambda path: len(_text(lists[path][0])), reverse=True)[:1]:
        entries = lists[path]
        keys = ", ".join(plain(str(key))[:30] for key in list(entries[0])[:_SHOWN])
        advice = f"{_LACKING}. A message needs 'role' (user, assistant, system or tool) and 'content'; entries of "
        return f"{advice}'{path}' have {keys}", _example(task, entries)
    return _LACKING, _example(task, [])


def _first_record(written: Any) -> Mapping[str, Any]:
    for _ in range(_DEEPEST):
        if isinstance(written, list) and written:
            written = written[0]
    return written if isinstance(written, dict) else {}


def _lists(record: Mapping[str, Any], path: str = "", depth: int = 0) -> Iterator[tuple[str, Sequence[Any]]]:
    """Lists of objects with texts in a record, and where they are, outer ones first."""
    for key, value in record.items():
        if isinstance(value, list) and value and isinstance(value[0], dict) and any(map(_text, value[:_SHOWN])):
            yield f"{path}{plain(key)[:30]}", value
    for key, value in record.items():
        inner = value[0] if isinstance(value, list) and value else value
        if isinstance(inner, dict) and depth < _DEEPEST:
            yield from _lists(inner, f"{path}{plain(key)[:30]}.", depth + 1)


def _text(entry: Any) -> str:
    """The longest text of an entry, which is most likely what was said."""
    texts = [value for value in entry.values() if isinstance(value, str)] if isinstance(entry, dict) else []
    return max(texts, key=len, default="")


def _example(task: str, entries: Sequence[Any]) -> str:
    texts = [plain(text)[:_LONGEST] for entry in entries if (text := _text(entry))][:2]
    asked, answered = texts if len(texts) == 2 else ("hi", "hello")
    messages = [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}]
    return _json({"task_id": task[:_LONGEST], "trial": 0, "messages": messages, "success": True})


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
