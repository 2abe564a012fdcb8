"""What a record of a log says beside its messages, under a few documented names; nothing else is read."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Call, Dialogue, Goal, Outcome, SideUsage, Turn, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.formats.logs.messages import (
    ENDED_BY,
    LogMessages,
    as_text,
    checksum,
    end_of,
    expected_calls,
    prompt_of,
)
from dialgauge.formats.mapping import Field, words
from dialgauge.formats.notes import NEXT_TRIAL, Notes

#: The names by which a record says whether its task was done.
VERDICTS = ("success", "passed", "reward")
#: All names that are read of a record.
NAMES = frozenset(
    {"id", "task_id", "trial", "messages", *VERDICTS, "scores", "cost", "tokens", "seconds", "model", "instruction",
     "knows", "secret", "expected_calls"}
)  # fmt: skip
#: A reward this close to 1 is a pass.
TOLERANCE = 1e-6
WORDS = {"true": True, "1": True, "1.0": True, "yes": True, "false": False, "0": False, "0.0": False, "no": False}
#: Last words of fields whose true means that it did not pass.
FAILURES = ("failed", "failure", "fail", "failing", "error")
#: Words of fields that may contradict a verdict; they are not read.
_RIVALS = frozenset({"resolved", "solved", "correct", "succeeded", "override"})
_MOST = 1e15
_LONGEST_LABEL, _MOST_TRIALS = 60, 1_000_000
_STOP_TOKEN = re.compile(r"###\s?STOP\s?###")


class Facts(Struct, kw_only=True):
    """What is known of a conversation; an empty text, and None, is what the log does not say."""

    id: str = ""
    task: str = ""
    trial: int | None = None
    success: bool | None = None
    reward: float | None = None
    #: How it ended, in tau2-bench's words; None where the messages may say it.
    reason: str | None = None
    error: str = ""
    parts: dict[str, float] = {}
    scores: dict[str, float | str] = {}
    usage: dict[str, SideUsage] = {}
    seconds: float | None = None
    planned: tuple[int, int] | None = None
    expected: tuple[Call, ...] | None = None
    #: The expected calls are those that the log was graded by.
    graded: bool = False
    outputs: tuple[str, ...] = ()
    model: str = ""
    goal: Goal | None = None
    domains: tuple[str, ...] = ()
    shown: dict[str, str] = {}


def facts_of(record: Mapping[str, Any], notes: Notes) -> Facts:
    """The facts of a record under the documented names."""
    scores = scores_of(record.get("scores"), notes)
    success, reward = verdict_of(record, notes)
    cost, tokens = amount_in(record, "cost"), amount_in(record, "tokens")
    used = {"both": SideUsage(cost=cost, tokens=tokens)} if (cost, tokens) != (None, None) else {}
    return Facts(
        id=_name(record, "id"),
        task=_name(record, "task_id"),
        trial=_trial(record.get("trial")),
        success=success,
        reward=reward,
        scores=scores,
        usage=used,
        seconds=amount_in(record, "seconds"),
        expected=expected_calls(record.get("expected_calls")),
        model=_name(record, "model"),
        goal=_goal(record),
    )


def verdict_of(record: Mapping[str, Any], notes: Notes) -> tuple[bool | None, float | None]:
    """Whether a record passed, and its reward.

    The verdict is ``success`` or ``passed`` (true or false, 1 or 0), else ``reward``, which passes within 1e-6 of 1; or
    the one field that the reading names. Two of these that differ in one record are an error, as is a field that is
    called like a verdict and says the opposite.
    """
    reward = number_in(record.get("reward"))
    if name := notes.verdict:
        return judged(name, _at(record, name), Field(), notes, named=True), reward
    told = {name: judged(name, record[name], Field(), notes) for name in VERDICTS if record.get(name) not in (None, "")}
    verdicts = {name: verdict for name, verdict in told.items() if verdict is not None}
    success = next(iter(verdicts.values()), None)
    for name, value in record.items() if success is not None else ():
        if name not in NAMES and isinstance(value, bool) and (_words(name) & _RIVALS or _words(name) == {"failed"}):
            verdicts[name] = not value if _words(name) == {"failed"} else value
    if len(set(verdicts.values())) > 1:
        both = " and ".join(f"'{name}' ({as_text(record[name])})" for name in verdicts)
        named = " or ".join(f"--success {name}" for name in verdicts)
        raise DialgaugeError(f"{both} contradict each other; name the verdict with {named}")
    return success, reward


def _words(name: str) -> set[str]:
    return set(re.split(r"[^a-z]+", name.lower()))


def judged(name: str, value: Any, how: Field, notes: Notes, *, named: bool = False) -> bool | None:
    """Whether a field says that a conversation passed; None, and a note, for another word.

    A reward passes at 1, and so does a number from 0 to 1 in a field that was ``named`` as the verdict.
    """
    if value in (None, ""):
        return None
    number, word = number_in(value), as_text(value).strip().lower()
    if how.at_least is not None:
        passed = None if number is None else number >= how.at_least - TOLERANCE
    elif how.true_values:
        known = {True: words(how.true_values), False: words(how.false_values)}
        passed = next((verdict for verdict, names in known.items() if word in names), None)
    elif re.split(r"[^a-z]+", name.lower())[-1] in FAILURES:
        raise DialgaugeError(
            f"'{name}' names a failure, and true would count as passed; read it by a mapping with success: {{at: "
            f"{name}, true_values: [false, 0], false_values: [true, 1]}}"
        )
    elif name == "reward" or (named and number is not None and 0 <= number <= 1):
        passed = None if number is None else abs(number - 1) <= TOLERANCE
    elif isinstance(value, str):
        passed = WORDS.get(word)
    elif number is not None and min(abs(number), abs(number - 1)) > TOLERANCE:
        raise DialgaugeError(
            f"{name}: {number:g} is neither 1 nor 0; in a mapping, at_least says from where on it passes"
        )
    else:
        passed = None if number is None else number > 0.5
    if passed is None:
        notes.add(f"{name} is '{as_text(value)[:40]}', which is neither passed nor failed: not judged")
        notes.unjudged.setdefault(name, {})[as_text(value)[:40]] = None
    return passed


def _at(record: Mapping[str, Any], path: str) -> Any:
    """The value under a name, or under names joined by dots."""
    if path in record:
        return record[path]
    value: Any = record
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def number_in(value: Any) -> float | None:
    """A finite number, also where it is written as a text."""
    if isinstance(value, bool):
        return float(value)
    try:
        number = float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < _MOST else None


def amount_in(record: Mapping[str, Any], name: str) -> float | None:
    """A number of 0 or more; anything else under the name is an error."""
    value = record.get(name)
    if value is None or value == "":
        return None
    number = number_in(value)
    if number is None or number < 0 or isinstance(value, bool):
        raise DialgaugeError(f"'{name}' must be a number of 0 or more (got '{as_text(value)[:40]}')")
    return number


def scores_of(given: Any, notes: Notes) -> dict[str, float | str]:
    """Scores by name: numbers, true and false, labels; what else stands there is noted."""
    scores: dict[str, float | str] = {}
    for name, value in given.items() if isinstance(given, dict) else ():
        score = score_in(value)
        if score is not None:
            scores[str(name)] = score
        elif value is not None:
            notes.add(f"score '{str(name)[:40]}' is no number and no label: not read")
    return scores


def score_in(value: Any) -> float | str | None:
    """A number, or a short text."""
    number = number_in(value)
    if number is not None:
        return number
    is_label = isinstance(value, str) and 0 < len(value.strip()) <= _LONGEST_LABEL and "\n" not in value
    return value.strip() if is_label else None


def _name(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise DialgaugeError(f"'{key}' must be a text or a whole number (got {as_text(value)[:40]})")
    return str(value).strip()


def _trial(value: Any) -> int | None:
    if value is None or value == "":
        return None
    number = number_in(value)
    if number is None or isinstance(value, bool) or not number.is_integer() or not 0 <= number < _MOST_TRIALS:
        raise DialgaugeError(f"'trial' must be a whole number from 0 on (got '{as_text(value)[:40]}')")
    return int(number)


def _goal(record: Mapping[str, Any]) -> Goal | None:
    """What the user was told, values by name that it knows, and names of those it is not to give."""
    instruction, knows = record.get("instruction"), record.get("knows")
    lines = instruction if isinstance(instruction, list) else [instruction]
    texts = tuple(line for line in lines if isinstance(line, str) and line.strip())
    values = {str(name): as_text(value) for name, value in knows.items()} if isinstance(knows, dict) else {}
    names = record.get("secret")
    secret = tuple(map(as_text, names)) if isinstance(names, list) else ()
    return Goal(message=texts, knows=values, secret=secret) if texts or values else None


class Numbering:
    """Tasks and trials of a log as it is read: a task that comes again in a file without a trial is its next trial."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._trials: Counter[tuple[str, str]] = Counter()
        self._places: dict[str, str] = {}

    def take(self, facts: Facts, fallback: str, file: str) -> tuple[str, str, int]:
        """The id of a conversation, its task and its trial. ``fallback`` names one that has no name of its own."""
        task = facts.task or facts.id or fallback
        trial = self._trials[file, task] if facts.trial is None else facts.trial
        self._notes.add(NEXT_TRIAL, facts.trial is None and trial > 0)
        self._trials[file, task] += 1
        name = f"{task}#{trial}" if facts.task or facts.trial is not None else task
        if dialogue_key(name) in self._places:
            raise DialgaugeError(
                f"task '{task}', trial {trial} stands twice (first in {self._places[dialogue_key(name)]}): give each "
                "conversation of a task its own 'trial', or none to any of them",
                file=file, dialogue=name,
            )  # fmt: skip
        self._places[dialogue_key(name)] = file
        return name, task, trial


def logged_dialogue(
    benchmark: str, messages: LogMessages, facts: Facts, named: tuple[str, str, int], *, judging: bool = False
) -> Dialogue:
    """A conversation of a log with everything that is known of it; ``judging``: of a benchmark that judges all."""
    name, task, trial = named
    turns, prompt = messages.turns(), prompt_of(messages.messages)
    judged = facts.success is not None or bool(facts.scores)
    reason = facts.reason
    if reason is None:
        reason = "error" if facts.error and not judged else _stop(turns)
    return Dialogue(
        id=name,
        turns=turns,
        goal=facts.goal,
        domains=facts.domains,
        outcome=Outcome(
            success=facts.success,
            end=end_of(reason, judging=judging and facts.success is None),
            reason=reason,
            ended_by=ENDED_BY.get(reason, ""),
            benchmark=benchmark,
            task=task,
            trial=trial,
            planned=facts.planned,
            reward=facts.reward,
            parts=facts.parts,
            scores=facts.scores,
            seconds=facts.seconds,
            usage=facts.usage,
            expected=facts.expected,
            graded=facts.graded,
            outputs=facts.outputs,
            facts={
                **({"agent": facts.model} if facts.model else {}),
                **({"error": facts.error[:1000]} if facts.error else {}),
                **({"policy": checksum(prompt)} if prompt else {}),
                **facts.shown,
            },
        ),
    )


def _stop(turns: tuple[Turn, ...]) -> str:
    """Whether the user ended it by the token that simulated users have for it."""
    last = next((turn for turn in reversed(turns) if turn.speaker == "user"), None)
    return "user_stop" if last is not None and _STOP_TOKEN.search(last.text) else ""


def decoded(text: str) -> Any:
    """The JSON in a text; the text itself where it is none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return text
