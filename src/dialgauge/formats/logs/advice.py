"""What a file lacks to be a log of an agent: said with its own keys, and with an example made of its first record."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.formats.logs.conversations import group_of
from dialgauge.formats.logs.fact_names import (
    FAILED,
    ID,
    LABELS,
    READ,
    SUCCESS,
    TASK,
    TRIAL,
    TRIAL_NAME,
    VERDICTS,
    is_score,
    may_be_calls,
    names_fault,
    plain_key,
)
from dialgauge.formats.logs.fact_values import number_in, said_success, score_in
from dialgauge.formats.logs.messages import is_message, read_messages, transcript
from dialgauge.formats.logs.record_fields import identifier_in, members_inside, task_and_trial
from dialgauge.formats.logs.transcripts import messages_of
from dialgauge.formats.logs.written_values import TRANSCRIPTS, value_in
from dialgauge.formats.notes import Notes
from dialgauge.formats.parquet import MAGIC, rows_in
from dialgauge.formats.peek import Peek
from dialgauge.formats.predictions.free_form import sample
from dialgauge.formats.source import Part
from dialgauge.formats.tau_messages import as_text
from dialgauge.text import plain, some_of

_LACKING = (
    "missing: the messages of each conversation, with who said them, and beside them its task and whether it succeeded "
    "(where messages were not kept, task and success alone will do)"
)
_DEEPEST, _SHOWN, _LONGEST = 5, 6, 40
#: How many records an example is made of, and what a task is called in it that has no name.
_LINES, _TASK = 3, "t1"
#: Ids that a program drew, and how many records and messages are looked at for an example.
_DRAWN, _MOST_READ = re.compile(r"[0-9a-f-]{8,}|[0-9]{1,20}", re.IGNORECASE), 20
#: What a text is called that is one conversation.
_TRANSCRIPT = "a transcript"
#: What a text looks like in which nothing is found, and what to do about it.
_LOOKS = (
    (re.compile(r"\s{0,99}<(?:\?xml|test|html|!DOCTYPE|\w)", re.I), "it is XML: write a line for each test case"),
    (re.compile(r"[\w.'\"-]{1,80}:\s{0,9}\n[ -]|- \w{1,80}: "), "it looks like YAML: write a line for each run in it"),
    (re.compile(r"[\[({\s]{1,9}'"), "it looks like Python: write it with json.dump"),
)
#: How a text tells of a call.
_CALLED = re.compile(r"(?:tool|function)[ _-]?call", re.IGNORECASE)
#: Names of numbers that are no verdicts.
_COUNTS = re.compile(
    r"index|idx|count|num|seed|trial|attempt|run|epoch|rate|mean|avg|average|total|elapsed|duration|time|latency|second"
    r"|abort|truncat|terminat|stream|cache|verbose|debug|enable|use_",
    re.IGNORECASE,
)
#: Names of numbers that may be verdicts where they are 0 or 1.
_JUDGES = re.compile(
    r"match|correct|acc|\bem\b|reward|score|win|goal|done|succ|pass|solv|complet|valid|ok\b|achiev|result|outcome|verdict"
    r"|grade",
    re.IGNORECASE,
)
#: How people write numbers that are not read: with a comma, and as so much of so much.
_COMMA, _OF = re.compile(r"([0-9]{1,9}),([0-9]{1,9})"), re.compile(r"([0-9]{1,9})\s?(?:/|of)\s?([0-9]{1,9})")
#: What names a test, and how a time begins, which names nothing.
_TESTS, _TIME = ("test",), re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{2}:[0-9]{2}")
#: Ids that may name a task, too; others are those of runs.
_DIALOGUES = ("dialogueid", "dialogid", "conversationid")
#: A longer text, or one of more words, names no task.
_LONGEST_NAME, _MOST_WORDS = 40, 3
#: Names that agents' logs have and predictions do not.
_SIGNS = re.compile(rb'"(?:role|messages|success|passed|reward|trial|trials|task_id|instance_id|scores)"\s{0,9}:')
#: Names that predictions have.
_STATES = re.compile(rb"state|pred|belief|slot|turn", re.IGNORECASE)


def may_be_log(part: Part) -> bool:
    """Does a file that could be predictions look more like a log of an agent, or have no name of a state?"""
    head = part.head()
    return _SIGNS.search(head) is not None or _STATES.search(head) is None


def log_advice(part: Part) -> tuple[str, str]:
    """What the first record lacks, and how the first three could be written."""
    kind, value = _written(part)
    lacking, first = _advice(value)
    if value is None and not kind:
        head = part.head(1 << 12).decode("utf-8", "replace")
        lacking = next(
            (f"{look}, with its task and whether it succeeded" for pattern, look in _LOOKS if pattern.match(head)),
            lacking,
        )
    if kind == _TRANSCRIPT:
        lacking = "nothing in it says which task it is a trial of, and how it went"
    rows = value if isinstance(value, list) else max(dict(_lists(_first_record(value))).values(), key=len, default=[])
    made = list(
        {_trial_said(row) or number: _advice([row])[1] for number, row in enumerate(_alike(rows)[:_MOST_READ])}.values()
    )
    records = ([record for record in made if "messages" in record] or made)[:_LINES]
    if not records or (isinstance(value, dict) and records[0].keys() != first.keys()):
        records = [first]  # what is lacking is not of these rows
    lines = (msgspec.json.encode(record).decode() for record in _told_apart(records))
    looks = f"it is {'read as ' if value is not None else ''}{kind}: " if kind else ""
    return f"{looks}{lacking}", "\n".join(lines)


def _written(part: Part) -> tuple[str, Any]:
    """What kind of a text a file is where it is neither JSON nor CSV, and its beginning as plain Python, or None."""
    peek = Peek(part)
    if peek.head.startswith(MAGIC):
        return "a Parquet table", list(rows_in(part, _LINES))
    if b"\x00" in peek.head[:4096] or peek.head[:1] == b"\x80":
        return "a binary file, such as a pickle or a database", None
    text = peek.head.decode("utf-8", "replace")
    if turns := transcript(text):
        return _TRANSCRIPT, [{"id": Path(peek.stem).stem, "messages": messages_of(turns)}]
    try:
        plain_value = sample(peek)
    except DialgaugeError:
        plain_value = None
    return ("", plain_value) if plain_value else value_in(text) or ("", None)


def text_advice(part: Part) -> tuple[str, str] | None:
    """The same of a text in which there are conversations; None of others."""
    kind, _ = _written(part)
    return log_advice(part) if kind in (TRANSCRIPTS, _TRANSCRIPT) else None


def _trial_said(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The task and the trial that a record, or an object in it, says it is of; each further one goes on with it."""
    inside = (task_and_trial(held) for held in (row, *row.values()) if isinstance(held, dict))
    said = next(filter(None, inside), [])
    return tuple(said) if all(said) else ()


def _alike(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """The records that have the keys of most, without what describes the file before or after them."""
    records = [row for row in rows if isinstance(row, dict)]
    most = Counter(map(frozenset, records)).most_common(1)
    return [row for row in records if row.keys() == most[0][0]] if most and most[0][1] > 1 else records


def _told_apart(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Records in which no task has one trial twice; made-up tasks are counted."""
    trials: dict[str, set[int]] = {}
    for number, record in enumerate(records, start=1):
        if "conversation_id" in record:
            yield record
            continue
        task = f"t{number}" if record["task_id"] == _TASK else record["task_id"]
        known = trials.setdefault(task.casefold(), set())
        trial = record["trial"] if record["trial"] not in known else max(known) + 1
        known.add(trial)
        yield {**record, "task_id": task, "trial": trial}


def _advice(written: Any) -> tuple[str, dict[str, Any]]:
    """What the first record of a value lacks, and how it could be written."""
    record = _first_record(written)
    lists = dict(_lists(record))
    spoken = [path for path, entries in lists.items() if any(map(is_message, entries[:_SHOWN]))]
    task = _own_name(record)
    if is_message(record) and not group_of(record):
        shown = {key: value for key, value in list(record.items())[:_SHOWN] if isinstance(value, str | int)}
        advice = "its rows are messages, and no column says whose: add 'conversation_id', or 'task_id' and 'trial'"
        return advice, {"conversation_id": "c1", "task_id": _TASK, "success": True, **shown}
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
    rows = [row for row in written if isinstance(row, dict)] if isinstance(written, list) else []
    if unread := next(filter(None, map(_unread_advice, (rows, *lists.values()))), None):
        return unread
    for path in sorted(lists, key=lambda path: len(_text(lists[path][0])), reverse=True)[:1]:
        entries = lists[path]
        keys = ", ".join(plain(str(key))[:30] for key in list(entries[0])[:_SHOWN])
        advice = f"{_LACKING}. A message needs 'role' (user, assistant, system or tool) and 'content'; entries of "
        return f"{advice}'{path}' have {keys}", _example(task, entries)
    if record and not lists:
        named, trial = _task_and_trial(record)
        return _LACKING, {"task_id": named, "trial": trial, "success": True}
    return _LACKING, _example(task, [])


def _result_advice(record: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """What a record lacks that tells of a conversation with a yes or no, and has no messages."""
    facts = {key: value for key, value in record.items() if isinstance(value, str | bool | int | float)}
    known = {*TASK, *TRIAL, *ID}
    verdicts = {
        key: verdict
        for key, value in facts.items()
        if plain_key(key) not in known and _may_judge(key, value) and (verdict := said_success(value)) is not None
    }
    if not verdicts or all(isinstance(value, int | float) and not isinstance(value, bool) for value in facts.values()):
        return None
    task, trial = _task_and_trial(record, verdicts)
    lacking = "" if task_and_trial(record) else "call what names the task 'task_id', "
    good = {key: verdict for key, verdict in verdicts.items() if not names_fault(key)}
    keys = some_of((f"'{plain(key)[:_LONGEST]}'" for key in good or verdicts), _SHOWN)
    if good:
        is_one = "is yes or no" if len(good) == 1 else "are yes or no"
        advice = f"{keys} {is_one}: {lacking}call what says whether it was done 'success', and number trials in 'trial'"
        if len(good) > 1:
            advice += " (if each of them is a trial, call them 'trial_1', 'trial_2', ...; if each is an agent, write a "
            advice += "file for each)"
    else:
        bad, failed = next(iter(verdicts.items()))
        passes = "0" if number_in(facts[bad]) is not None and not isinstance(facts[bad], bool) else "no"
        advice = (
            f"{keys} may say what failed: {lacking}write 'success' as true where '{plain(bad)[:_LONGEST]}' is {passes} "
            "and else as false, if that says whether the task was done, and number trials in 'trial'"
        )
        good = {bad: not failed}
    return advice, {"task_id": task, "trial": trial, "success": next(iter(good.values()))}


def _may_judge(key: str, value: Any) -> bool:
    """May it be a verdict? A number is one only under a name that judges."""
    if _COUNTS.search(key) and not _JUDGES.search(key):
        return False
    return number_in(value) is None or isinstance(value, bool) or names_fault(key) or _JUDGES.search(key) is not None


def _own_name(record: Mapping[str, Any]) -> tuple[str, int]:
    """The task and the trial that a record names, or an object in it, or its own id, unless a program drew that."""
    inside = (task_and_trial(held) for held in record.values() if isinstance(held, dict))
    if said := task_and_trial(record) or next(filter(None, inside), []):
        return said[0], int(number_in(said[1]) or 0)
    own = identifier_in({plain_key(key): value for key, value in record.items()}, ID)
    return (own if own and not _DRAWN.fullmatch(own) else _TASK), 0


def _task_and_trial(record: Mapping[str, Any], others: Collection[str] = ()) -> tuple[str, int]:
    """The task and the trial that a record names, or what may name the task in it; that of a run or a text does not."""
    task = task_and_trial(record)
    if task:
        return plain(task[0])[:_LONGEST], int(number_in(task[1]) or 0)
    texts = {path: str(value) for path, value in members_inside(record) if isinstance(value, str | int)}
    short = {
        path: text
        for path, text in texts.items()
        if 0 < len(text.strip()) <= _LONGEST_NAME and len(text.split()) <= _MOST_WORDS and path not in others
    }
    ends = {path: plain_key(path.rpartition(".")[2]) for path in short}
    for called in (TASK, _TESTS, LABELS):
        for path, name in ends.items():
            if name in called:
                return plain(short[path]), 0
    named = (
        text
        for path, text in short.items()
        if any(map(str.isalpha, text))
        and not _TIME.match(text)
        and (ends[path] in _DIALOGUES or not (ends[path].endswith("id") or ends[path] in READ))
    )
    return plain(next(named, _TASK)), 0


def _unread_advice(rows: Sequence[Any]) -> tuple[str, dict[str, Any]] | None:
    """What stands where verdicts should, in records that name a task, and is neither yes nor no."""
    records = [row for row in rows if isinstance(row, dict)]
    if not records or not task_and_trial(records[0]):
        return None
    unread: dict[str, dict[str, None]] = {}
    for key in filter(_holds_verdict, records[0]):
        texts = [row[key].strip() for row in records if isinstance(row.get(key), str)]
        unknown = [text for text in texts if said_success(text) is None and score_in(text) is None]
        if any(unknown):
            unread[key] = dict.fromkeys(unknown)
    if not unread:
        return None
    keys = some_of((f"'{plain(key)[:_LONGEST]}'" for key in unread), _SHOWN)
    texts = list(dict.fromkeys(text for several in unread.values() for text in several))
    shown = some_of((f"'{plain(text)[:_LONGEST]}'" if text else "empty" for text in texts), _SHOWN)
    point = ", and numbers with a point" if any(map(_COMMA.fullmatch, texts)) else ""
    verb = "is" if len(unread) == 1 else "are"
    advice = (
        f"{keys} {verb} not read, being neither yes nor no nor a number ({shown}): write 'success' as true or false"
    )
    success = _meant(str(records[0][next(iter(unread))]))
    if success is None:
        return f"{advice}{point}", {"task_id": _TASK, "trial": 0, "success": True}
    task, trial = _task_and_trial(records[0])
    return f"{advice}{point}", {"task_id": task, "trial": trial, "success": success}


def _holds_verdict(key: str) -> bool:
    return (
        plain_key(key) in (*SUCCESS, *FAILED, *VERDICTS)
        or is_score(key)
        or TRIAL_NAME.fullmatch(key.strip()) is not None
    )


def _meant(text: str) -> bool | None:
    """What a number that is not read most likely means: 1,0 and 1/1 are a success, 0,0 and 0/1 none."""
    if comma := _COMMA.fullmatch(text.strip()):
        return said_success(f"{comma[1]}.{comma[2]}")
    share = _OF.fullmatch(text.strip())
    return share[1] == share[2] if share and share[1] in ("0", share[2]) else None


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


def _example(named: tuple[str, int], entries: Sequence[Any]) -> dict[str, Any]:
    messages = _own_messages(entries) or _guessed_messages(entries)
    if not any("tool_calls" in message for message in messages) and _tell_of_calls(entries):
        messages.append({"role": "assistant", "tool_calls": [{"name": "NAME", "arguments": {}}]})
    return {"task_id": named[0][:_LONGEST], "trial": named[1], "messages": messages, "success": True}


def _tell_of_calls(entries: Sequence[Any]) -> bool:
    """May there be calls of tools in what nobody reads as such?"""
    shown = [entry for entry in entries[:_MOST_READ] if isinstance(entry, dict)]
    return any(may_be_calls(key) or (isinstance(value, str) and _CALLED.search(value) is not None)
               for entry in shown for key, value in entry.items())  # fmt: skip


def _own_messages(entries: Sequence[Any]) -> list[dict[str, Any]]:
    """The first two messages with words beside the prompt, and the first call, under the roles that they have."""
    try:
        said = read_messages(entries[:_MOST_READ], Notes()).messages
    except DialgaugeError:
        return []
    worded = [message for message in said if message.content]
    shown = [message for message in worded if message.role == "system"][:1]
    shown += [message for message in worded if message.role in ("user", "assistant")][:2]
    made = [call for message in said for call in message.tool_calls or ()][:1]
    calls = [{"name": call.name, "arguments": _short(call.arguments)} for call in made]
    return [
        *({"role": message.role, "content": plain(message.content or "")[:_LONGEST]} for message in shown),
        *([{"role": "assistant", "tool_calls": calls}] if calls else []),
    ]


def _short(arguments: Any) -> Any:
    return arguments if arguments and len(as_text(arguments)) <= 2 * _LONGEST else {}


def _guessed_messages(entries: Sequence[Any]) -> list[dict[str, Any]]:
    """The first two texts of entries that nothing is known of."""
    texts = [plain(text)[:_LONGEST] for entry in entries if (text := _text(entry))][:2]
    asked, answered = texts if len(texts) == 2 else ("hi", "hello")
    return [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}]
