"""What the names of files and the files beside them say of conversations.

Trials may be told by folders; and a file without messages may say how conversations went that lie in others:
``result.json`` beside one, or ``results.csv`` and ``verdicts.json`` that name the files of all.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.formats.logs.conversations import kind_of, of_value
from dialgauge.formats.logs.fact_names import AGENT_NAME, ID, TRIAL_NAME, TRIAL_WORDS, plain_key, says_outcome
from dialgauge.formats.logs.fact_values import truth
from dialgauge.formats.logs.facts import facts_of
from dialgauge.formats.logs.folder_trials import is_trial
from dialgauge.formats.logs.log_signs import first_row, is_text
from dialgauge.formats.logs.messages import is_message
from dialgauge.formats.logs.record_fields import identifier_in, task_and_trial
from dialgauge.formats.logs.record_verdicts import says_verdict
from dialgauge.formats.logs.results import NAME, outcome_of, results_in
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import first_object
from dialgauge.formats.source import Part

#: What is longer holds more than outcomes.
_LONGEST = 1 << 20
#: Files by whose name a file may be results of others, and how long one of yes and no by name may be.
_RESULTS = re.compile(
    r"result|verdict|score|outcome|summary|label|grade|eval|report|annot|success|rating", re.IGNORECASE
)
_BARE = 1 << 16
#: How the name of a file or folder says how a conversation went; and how many files are looked into.
_VERDICT = re.compile(
    r"(?:\A|[-_ ./\\])(pass|passed|fail|failed|success|failure|error|errored|timeout|crashed|skipped)\Z", re.IGNORECASE
)
_FEW = 20
_MOST_TALKS = 5000
_OBJECT: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])
_COUNT = re.compile(r"[0-9]{1,3}")
#: The trial in the name of a file or its folder, and numbers that may be one: no version is.
_TRIAL_IN_NAME = re.compile(rf"[-_ .]?(?<![a-z])(?:{TRIAL_WORDS})[-_ =]?[0-9]{{1,6}}(?![0-9])", re.IGNORECASE)
_MERE_NUMBER = re.compile(r"(?<![0-9v])[0-9]{1,20}(?![0-9])", re.IGNORECASE)
_NUMBERED = re.compile(rf"[-_ .#]{{1,2}}(?:{TRIAL_WORDS})?[-_ =]?([0-9]{{1,6}})\Z", re.IGNORECASE)
#: The columns that name the file of a conversation.
_FILE = ("file", "filename", "path", "log", "transcript", "conversation_file", NAME, "conversation_id", "conversation")


def without_trial(name: str) -> str:
    """The name of a file without the number of its trial; numbers of a model stay."""
    named = _TRIAL_IN_NAME.sub("*", name)
    return named if AGENT_NAME.search(named) else _MERE_NUMBER.sub("*", named)


def outcome_beside(part: Part, folders: Mapping[str, int]) -> dict[str, Any] | None:
    """What a file says of the only other one of its folder: an object that names a task, a verdict or a score."""
    if folders.get(part.folder) != 2 or is_trial(stem_of(part)):  # a trial beside another one
        return None
    try:
        record = _OBJECT.decode(part.head(_LONGEST))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    return record if says_outcome(record) else None


def tells_of_others(part: Part, folders: Mapping[str, int]) -> bool:
    """Does a file say how conversations went that are in the only other one of its folder?"""
    return outcome_beside(part, folders) is not None or (folders.get(part.folder) == 2 and bool(_labels(part)))


def outcomes_beside(parts: Sequence[Part], notes: Notes) -> tuple[list[Part], dict[str, dict[str, Any]]]:
    """The files that hold conversations, and by their names what others say of these."""
    folders = Counter(part.folder for part in parts)
    outcomes: dict[str, dict[str, Any]] = {}
    others: set[str] = set()
    for part in parts:
        record = outcome_beside(part, folders)
        if record is not None and not kind_of(record) and not results_in(record):
            others.add(part.name)
            if any(map(_are_judged, (talk for talk in parts if talk.folder == part.folder and talk is not part))):
                notes.add(f"what {part.stem} says of the whole left out: the conversations say how they went")
                continue
            outcomes |= {talk.name: record for talk in parts if talk.folder == part.folder and talk is not part}
    for part in parts if len(parts) > 2 and not others else ():
        stems = {stem_of(talk): talk.name for talk in parts if talk is not part}
        listed = _rows(part) if _RESULTS.search(part.stem) else []
        rows = {_named_file(row): row for row in listed}
        if not rows.keys() & stems.keys():
            folders_say = trials_of_files([talk for talk in parts if talk is not part])
            stems = {f"{task}_{trial}": name for name, (task, trial) in folders_say.items()} or {
                _with_number(stem): name for stem, name in stems.items()
            }
            rows = {"_".join(pair): row for row in listed if all(pair := task_and_trial(row)) and pair}
        if 2 * len(rows.keys() & stems.keys()) > len(stems):
            others.add(part.name)
            outcomes |= {stems[stem]: row for stem, row in rows.items() if stem in stems}
            lost = len(rows.keys() - stems.keys())
            notes.add(f"rows of {part.stem} about conversations that are not there left out", lost)
    notes.add("outcomes taken from files beside the messages", len(outcomes))
    talks = [part for part in parts if part.name not in others]
    _refuse_bare(talks)
    if not outcomes and (named := _named_verdicts(talks)):
        notes.add("whether a conversation passed taken from the name of its file or folder", len(named))
        outcomes = dict(named)
    return talks, outcomes


def _are_judged(part: Part) -> bool:
    """Does a file hold several results, each with its verdict?"""
    try:
        return len(results_in(msgspec.json.decode(part.head(_LONGEST)))) > 1
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, DialgaugeError):
        return False


def _with_number(stem: str) -> str:
    """The name of a file of a task and a trial, as ``t01_0``, whatever stands between them."""
    trial = _NUMBERED.search(stem)
    return f"{stem[: trial.start()]}_{trial[1]}" if trial else stem


def labels_beside(parts: Sequence[Part], notes: Notes) -> tuple[Sequence[Part], dict[str, dict[str, Any]]]:
    """The files of conversations, and what another one says of each by its id: ``labels.csv``."""
    for part in parts if 1 < len(parts) <= _MOST_TALKS else ():
        talks = [other for other in parts if other is not part]
        if not (labels := _labels(part)):
            continue
        first, *others = (talk.head(_LONGEST) for talk in talks[:_FEW])
        known = sum(f'"{name}"'.encode() in first for name in list(labels)[:_FEW])
        named = 2 * known > min(len(labels), _FEW) if not others else _are_labelled([first, *others], labels)
        if named and all(map(_is_unjudged, (first, *others))):
            notes.add(f"outcomes taken from {part.stem}, by the ids of conversations", len(labels))
            return talks, labels
    return parts, {}


def _are_labelled(heads: Iterable[bytes], labels: Mapping[str, Any]) -> bool:
    """Has the first conversation of each file a label?"""
    return all((first := first_record(head)) is not None and named_conversation(first) in labels for head in heads)


def _labels(part: Part) -> dict[str, dict[str, Any]]:
    """What each row of a file of labels says of the conversation whose id it has; nothing where a row has none."""
    rows = _rows(part)
    labels = {name: label for row in rows if (name := named_conversation(row)) and (label := _label(row))}
    return labels if len(labels) == len(rows) > 1 else {}


def named_conversation(row: Mapping[str, Any]) -> str:
    """The id of the conversation that a row is about."""
    return identifier_in({plain_key(key): value for key, value in row.items()}, ID)


def _label(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a row says of a conversation: its own verdict, or the only yes or no in it."""
    if says_verdict(row):
        return dict(row)
    verdicts = [key for key, value in row.items() if isinstance(value, str | bool) and truth(value) is not None]
    return {"success" if key == verdicts[0] else key: value for key, value in row.items()} if len(verdicts) == 1 else {}


def _is_unjudged(head: bytes) -> bool:
    """Is the first record of a file a conversation that does not say itself how it went?"""
    first = first_record(head)
    return first is not None and kind_of(first) == "conversation" and not says_verdict(first)


def is_judged(part: Part) -> bool:
    """Does the first conversation of a file say how it went? What has none, and is a log, holds verdicts."""
    head = part.head(_LONGEST)
    if is_text(head):
        row = first_row(head)
        return not is_message(dict.fromkeys(row, "user")) or says_verdict(row)
    first = first_object(head.lstrip().partition(b"\n")[0].decode("utf-8", "replace"))
    try:
        value = msgspec.json.decode(head) if first is None else first
        kind = kind_of(value)
        found = next(of_value(value, kind, Notes()), None) if kind else None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, DialgaugeError):
        return False
    if found is None:
        return not kind
    return says_verdict(found.record) or facts_of(found.record, Notes(), found.used).success is not None


def first_record(head: bytes) -> dict[str, Any] | None:
    """The first record of JSON lines or of a list, or the only one; None where it is something else."""
    first = first_object(head.lstrip().partition(b"\n")[0].decode("utf-8", "replace"))
    if first is None:
        try:
            given = msgspec.json.decode(head)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return None
        first = given[0] if isinstance(given, list) and given else given
    return first if isinstance(first, dict) else None


def _named_verdicts(parts: Sequence[Part]) -> dict[str, dict[str, Any]]:
    """What the names of all files or of their folders say, where both yes and no are among them and no file does."""
    for names in ([stem_of(part) for part in parts], [part.folder.rstrip("/\\!") for part in parts]):
        found = [_VERDICT.search(name) for name in names]
        words = [word[1] for word in found if word]
        said = len(words) == len(parts) and {True, False} == {*map(truth, words)} - {None}
        if said and not any(map(_says_verdict, parts[:_FEW])):
            return {part.name: outcome_of(word) for part, word in zip(parts, words, strict=True)}
    return {}


def _says_verdict(part: Part) -> bool:
    """Does a file say itself how its conversation went?"""
    try:
        record = msgspec.json.decode(part.head(_LONGEST))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return True
    return isinstance(record, dict) and says_verdict(record)


def _refuse_bare(parts: Sequence[Part]) -> None:
    """Yes or no by mere names may be settings, where other files have conversations."""
    bare = [part for part in parts if _is_bare(part)] if len(parts) > 1 else []
    if bare and len(bare) < len(parts) and not all(part in bare or _are_judged(part) for part in parts):
        raise DialgaugeError(
            "it has yes or no by name and no messages, while other files have conversations: if it says how these "
            "went, name their files in it, each once; else take it away",
            file=bare[0].name,
            example='{"FILE.json": true}',
        )


def _is_bare(part: Part) -> bool:
    head = part.head(_BARE + 1)
    if len(head) > _BARE or head.lstrip()[:1] != b"{" or b'"role"' in head:
        return False
    try:
        rows = results_in(msgspec.json.decode(head))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, DialgaugeError):
        return False
    return bool(rows) and all(row.keys() == {NAME, "success"} for row in rows)


def _named_file(row: Mapping[str, Any]) -> str:
    """The stem of the file that a row says it is about."""
    known = {key.strip().lower().replace(" ", "_"): value for key, value in row.items()}
    name = next((known[key] for key in _FILE if isinstance(known.get(key), str)), "")
    return _without_endings(re.split(r"[/\\]", name)[-1])


def _rows(part: Part) -> list[dict[str, Any]]:
    """The results of a small file that has nothing else in it."""
    content = part.head(_LONGEST + 1)
    if len(content) > _LONGEST:
        return []
    try:
        if content.lstrip()[:1] in (b"{", b"["):
            given = _lines_or_value(content)
            listed = isinstance(given, list) and all(isinstance(row, dict) for row in given)
            return results_in(given) or (given if listed else [])
        text = content.decode()
        rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=text.partition("\n")[0].count))
        return [{key: cell for key, cell in row.items() if key and isinstance(cell, str)} for row in rows]
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, csv.Error, DialgaugeError):
        return []


def _lines_or_value(content: bytes) -> Any:
    try:
        return msgspec.json.decode(content)
    except msgspec.DecodeError:
        return msgspec.json.Decoder().decode_lines(content)


def stem_of(part: Part) -> str:
    """The name of a file without its folders and endings."""
    return _without_endings(part.stem)


def _without_endings(name: str) -> str:
    return name.removesuffix(".jsonl").removesuffix(".json").removesuffix(".ndjson")


def trials_of_files(parts: Sequence[Part]) -> dict[str, tuple[str, int]]:
    """The task and the trial of files whose names others have too.

    ``TASK/trial_1/log.json``, ``trial_1/TASK.json``, ``TASK/trial_1.json``; or mere numbers, ``TASK/1/log.json`` and
    ``TASK/1.json``, where they count the same trials of several tasks, which are no fewer.
    """
    stems = Counter(map(stem_of, parts))
    places = {
        part.name: (*("", "", *re.split(r"[/\\]", part.name))[-3:-1], stem_of(part))
        for part in parts
        if stems[stem_of(part)] > 1
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
