"""What a file lacks to be a log of an agent: said with its own keys, and with an example made of its first record."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from dialgauge.formats.base import Peek
from dialgauge.formats.logs.conversations import group_of
from dialgauge.formats.logs.fact_names import ID, TASK, TRIAL, plain_key
from dialgauge.formats.logs.fact_values import number_in, said_success
from dialgauge.formats.logs.messages import is_message
from dialgauge.formats.logs.record_fields import task_and_trial
from dialgauge.formats.predictions.free_form import sample
from dialgauge.formats.source import Part
from dialgauge.text import plain, some_of

_LACKING = (
    "missing: the messages of each conversation, with who said them, and beside them its task and whether it succeeded "
    "(where messages were not kept, task and success alone will do)"
)
_DEEPEST, _SHOWN, _LONGEST = 5, 6, 40
#: What a file that is no JSON and no table looks like, and what to do about it.
_LOOKS = (
    (re.compile(r"\s{0,99}<(?:\?xml|test|html|!DOCTYPE)", re.IGNORECASE), "it is XML: write a line for each test case"),
    (re.compile(r"[\w.'\"-]{1,80}:\s{0,9}\n[ -]|- \w{1,80}: "), "it looks like YAML: save it as JSON"),
    (re.compile(r"[\[({\s]{1,9}'"), "it looks like Python: write it with json.dump"),
)
#: Names of numbers that are no verdicts.
_COUNTS = re.compile(
    r"index|idx|count|num|trial|attempt|run|epoch|rate|mean|avg|average|total|elapsed|duration|time|latency|second",
    re.IGNORECASE,
)
#: Names that agents' logs have and predictions do not.
_SIGNS = re.compile(rb'"(?:role|messages|success|passed|reward|trial|trials|task_id|instance_id|scores)"\s{0,9}:')
#: Names that predictions have.
_STATES = re.compile(rb"state|pred|belief|slot|turn", re.IGNORECASE)


def may_be_log(part: Part) -> bool:
    """Does a file that could be predictions look more like a log of an agent, or have no name of a state?"""
    head = part.head()
    return _SIGNS.search(head) is not None or _STATES.search(head) is None


def log_advice(part: Part) -> tuple[str, str]:
    """What the first record lacks, and how it could be written."""
    peek = Peek(part)
    if look := next((what for pattern, what in _LOOKS if pattern.match(peek.head.decode("utf-8", "replace"))), ""):
        return f"{look}, with its task and whether it succeeded", _json({"task_id": "t1", "trial": 0, "success": True})
    if b"\x00" in peek.head[:4096] or peek.head[:1] == b"\x80":
        advice = "it is a binary file, such as a pickle or a database: write its records as lines of JSON"
        return advice, _json({"task_id": "t1", "trial": 0, "success": True})
    record = _first_record(sample(peek))
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
    results = map(_result_advice, (record, *(each[0] for each in lists.values())))
    if lacking := next(filter(None, results), None):
        return lacking
    for path in sorted(lists, key=lambda path: len(_text(lists[path][0])), reverse=True)[:1]:
        entries = lists[path]
        keys = ", ".join(plain(str(key))[:30] for key in list(entries[0])[:_SHOWN])
        advice = f"{_LACKING}. A message needs 'role' (user, assistant, system or tool) and 'content'; entries of "
        return f"{advice}'{path}' have {keys}", _example(task, entries)
    if record and not lists:
        return _LACKING, _json({"task_id": task[:_LONGEST], "trial": 0, "success": True})
    return _LACKING, _example(task, [])


def _result_advice(record: Mapping[str, Any]) -> tuple[str, str] | None:
    """What a record lacks that tells of a conversation with a yes or no, and has no messages."""
    facts = {key: value for key, value in record.items() if isinstance(value, str | bool | int | float)}
    known = {*TASK, *TRIAL, *ID}
    verdicts = {
        key: verdict
        for key, value in facts.items()
        if plain_key(key) not in known and not _COUNTS.search(key) and (verdict := said_success(value)) is not None
    }
    if not verdicts or all(isinstance(value, int | float) and not isinstance(value, bool) for value in facts.values()):
        return None
    texts = (str(value) for key, value in facts.items() if key not in verdicts and str(value).strip())
    task = task_and_trial(record)
    name = task[0] if task else next(texts, "t1")
    trial = number_in(task[1]) if task and task[1] else None
    keys = some_of((f"'{plain(key)[:_LONGEST]}'" for key in verdicts), _SHOWN)
    lacking = "" if task else "call what names the task 'task_id', "
    is_one = "is yes or no" if len(verdicts) == 1 else "are yes or no"
    advice = f"{keys} {is_one}: {lacking}call what says whether it was done 'success', and number trials in 'trial'"
    success = next(iter(verdicts.values()))
    return advice, _json({"task_id": plain(name)[:_LONGEST], "trial": int(trial or 0), "success": success})


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
