"""Proposes a mapping for a log of agents, by trying where its messages, tasks and verdicts may stand.

Names are only hints here. A verdict is written down unasked where it is called success or passed and says true or
false; everything else that may be one is left open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from msgspec.structs import replace

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.formats.logs.chat import LogReader
from dialgauge.formats.logs.logged import WORDS, number_in
from dialgauge.formats.logs.messages import ROLES, is_message
from dialgauge.formats.mapping import Field, Mapping
from dialgauge.formats.notes import Notes
from dialgauge.formats.predictions.states import EMPTY, Misfit
from dialgauge.formats.row_paths import Row, as_text, inside, is_object, rows
from dialgauge.formats.row_structure import field_names, plain_name, possible_paths, ranked
from dialgauge.formats.source import Part

_IDS = (
    *("conversationid", "dialogueid", "sessionid", "threadid", "chatid", "traceid", "callid", "runid", "id", "uuid"),
    *("conversation", "session", "sid", "thread", "ticket", "ticketid", "qid", "uid", "key", "name"),
)
_TASKS = (
    *("taskid", "task", "taskname", "problemid", "problem", "scenarioid", "scenario", "caseid", "case", "testid"),
    *("test", "instanceid", "questionid", "exampleid", "itemid"),
)
_TRIALS = ("trial", "trialid", "trialindex", "run", "attempt", "epoch", "iteration", "repeat", "rep", "try")
_VERDICTS = (
    *("success", "passed", "pass", "resolved", "solved", "correct", "completed", "succeeded", "verdict", "outcome"),
    *("result", "status", "label", "reward", "score", "grade", "rating"),
)
_ROLES = ("role", "from", "speaker", "author", "sender", "who", "type", "side")
_CONTENTS = ("content", "value", "text", "utterance", "message", "body", "said")
_ASKED = ("prompt", "question", "query", "input", "user")
_ANSWERED = ("response", "answer", "completion", "output", "reply", "assistant")
_SPEAKERS = {
    **dict.fromkeys(("customer", "client", "caller", "guest", "visitor", "usr", "person"), "user"),
    **dict.fromkeys(("bot", "gpt", "operator", "support", "sys", "chatbot", "llm"), "assistant"),
    "observation": "tool",
}
#: The end of a path that goes through a list inside of what another path gives.
_LAST_LIST = re.compile(r'\.?(?:[^.\[\]{}"]+|"[^"]+")\[(?:\{turn\})?\]$')
_NUMBERED = re.compile(r"(\D+)(\d{1,3})")
_SAMPLE, _MOST_WORDS = 200, 8
#: Words of states: a file that has them holds predictions, whatever else it holds.
_STATES = frozenset({"predicted", "prediction", "pred", "state", "beliefstate", "dialoguestate", "belief", "goldstate"})


def log_mapping(content: Any, part: Part) -> Mapping | None:
    """The mapping that reads most of a log; None where nothing in a file looks like conversations or verdicts."""
    best: tuple[int, Mapping] | None = None
    paths = list(possible_paths(content))
    around = [_LAST_LIST.sub("", path) for path in paths]
    for path in dict.fromkeys([*([""] if is_object(content) else []), *filter(None, around), *paths]):
        try:
            sample = list(islice(rows(content, path, part.name), _SAMPLE))
        except Misfit:
            continue
        names = field_names(sample)
        if not sample or {plain_name(name) for name in names} & _STATES:
            continue
        for mapping in _talks(path, sample, names):
            read = read_sample(mapping, sample, part)
            turns = sum(len(dialogue.turns) for dialogue in read)
            if turns and (best is None or turns > best[0]):
                best = turns, mapping
        wide = _column_per_trial(names)
        if best is None and ranked(names, (*_TASKS, *_IDS)) and (wide or _verdicts(names, sample)):
            success = Field(columns=wide) if wide else None
            results = _with_ids(Mapping(reads="results", rows=path, success=success), names, sample)
            best = (0, results) if read_sample(results, sample, part) else None
    return best[1] if best else None


def _column_per_trial(names: Sequence[str]) -> str:
    """A pattern for columns such as ``run 1`` and ``run 2``; empty where there are none."""
    numbered = [match for name in names if "." not in name and (match := _NUMBERED.fullmatch(name.strip('"')))]
    first = [match for match in numbered if match[1] == numbered[0][1]]
    return rf"^{re.escape(first[0][1])}(?P<trial>\d+)$" if len(first) > 1 else ""


def read_sample(mapping: Mapping, sample: Sequence[Row], part: Part) -> list[Dialogue]:
    """What a mapping reads of some rows; nothing where it does not fit."""
    try:
        return list(LogReader(mapping, Notes()).read(sample, part))
    except (DialgaugeError, Misfit):
        return []


def open_verdict(mapping: Mapping, sample: Sequence[Row], keys: dict[str, Any]) -> list[str]:
    """Adds the verdict to the keys of a proposal; what a person must choose."""
    found = _verdicts(field_names(sample), sample)
    if not found or mapping.success is not None:
        return []
    name, values = next(iter(found.items()))
    clear = plain_name(name) in ("success", "passed") and all(as_text(each).lower() in WORDS for each in values)
    if clear and sum(plain_name(other) in ("success", "passed") for other in found) == 1:
        keys["success"] = name
        return []
    success: dict[str, Any] = {"at": {"CHOOSE": list(found)}}
    keys["success"] = success
    open_ones = [f"which field says that a conversation passed: {' or '.join(found)}"]
    words = list(dict.fromkeys(as_text(each) for each in values if as_text(each).lower() not in WORDS))
    if words and all(number_in(word) is not None for word in words):
        numbers = sorted({number for word in words if (number := number_in(word)) is not None})
        passing = numbers[1:] or numbers  # from the lowest on all would pass
        success["at_least"] = {"CHOOSE": passing[:_MOST_WORDS]} if len(passing) > 1 else passing[0]
        open_ones += ["from which number on it passed"] if len(passing) > 1 else []
    elif words:
        success |= {"true_values": {"CHOOSE": words}, "false_values": {"CHOOSE": [*words]}}
        open_ones.append(f"which words of '{name}' mean passed and failed (lists): {', '.join(words)}")
    return open_ones


def _verdicts(names: Sequence[str], sample: Sequence[Row]) -> dict[str, list[Any]]:
    """Fields that may say whether a conversation passed, likeliest first, with their values."""
    found = {name: [each for each in _values(name, sample) if each not in EMPTY] for name in ranked(names, _VERDICTS)}
    return {
        name: values
        for name, values in found.items()
        if values
        and all(isinstance(each, str | int | float) for each in values)
        and (len(set(map(as_text, values))) <= _MOST_WORDS or all(number_in(each) is not None for each in values))
    }


def _values(name: str, sample: Sequence[Row]) -> list[Any]:
    found = []
    for row in sample:
        try:
            found.append(row.get(name))
        except Misfit:
            continue
    return found


def _with_ids(mapping: Mapping, names: Sequence[str], sample: Sequence[Row]) -> Mapping:
    """The mapping with the ids of tasks, trials and conversations."""
    bound = ["{dialogue}"] if "dialogue" in sample[0].bound else []

    def named(known: Sequence[str]) -> str | None:
        for name in ranked([*names, *bound], known):
            values = _values(name, sample)
            if len(values) == len(sample) and all(map(_is_id, values)):
                return name
        return None

    dialogue, task, trial = named(_IDS), named(_TASKS), named(_TRIALS)
    numbers = [number_in(value) for value in _values(trial, sample)] if trial else []
    whole = all(number is not None and number >= 0 and number.is_integer() for number in numbers)
    dialogue = dialogue or next(iter(bound), None)
    return replace(mapping, dialogue=dialogue, task=task, trial=trial if whole else None)


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and len(str(value)) < 200


def _talks(path: str, sample: Sequence[Row], names: Sequence[str]) -> Iterator[Mapping]:
    """Mappings of conversations that may fit rows."""
    base = _with_ids(Mapping(reads="conversations", rows=path), names, sample)
    whole = [""] if all(isinstance(row.value, list) for row in sample) else []
    for name in [*whole, *(name for name in names if not name.startswith("^"))]:
        listed = [each for each in _values(name, sample) if each not in EMPTY]
        if listed and all(isinstance(each, list) for each in listed):
            messages = [message for each in listed for message in each[:50]]
            if (how := _speaking(messages)) is not None:
                yield replace(base, messages=(name,), **how)
    values = [row.value for row in sample]
    if (how := _speaking(values)) is not None:
        yield replace(base, **{"role": "role", **how})
    asked, answered = (
        [name for name in ranked(names, known) if any(isinstance(each, str) for each in _values(name, sample))]
        for known in (_ASKED, _ANSWERED)
    )
    if asked and answered and base.task is None:
        said = (Field(at=asked[0], role="user"), Field(at=answered[0], role="assistant"))
        yield replace(base, messages=said)


def _speaking(messages: Sequence[Any]) -> dict[str, Any] | None:
    """How messages say who speaks and what: nothing where they are written as usual, None where they are none."""
    if not messages or not all(isinstance(message, dict) for message in messages):
        return None
    if all(map(is_message, messages)):
        return {}
    names = list(dict.fromkeys(name for message in messages for name in message))
    roles, contents = ranked(names, _ROLES), ranked(names, _CONTENTS)
    if not roles or not contents:
        return None
    try:
        words = dict.fromkeys(as_text(inside(message, roles[0])) for message in messages)
    except Misfit:
        return None
    if not 1 < len(words) <= _MOST_WORDS:
        return None
    others = [word for word in words if word.strip().lower() not in ROLES]
    given = {word: _SPEAKERS.get(word.strip().lower()) for word in others}
    return {
        **({"role": roles[0]} if roles[0] != "role" else {}),
        **({"content": contents[0]} if contents[0] != "content" else {}),
        **({"roles": given} if given else {}),
    }
