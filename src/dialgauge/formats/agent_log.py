"""Logs of τ-bench and τ²-bench as they were written: calls with typed arguments, texts, and the verdict's parts.

``tau`` and ``tau2`` read such files into dialogues, where arguments are texts and calls belong to turns. Replaying and
checking a log needs what they cannot keep: whether an argument was ``100`` or ``"100"``, and which texts stood beside a
call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct

from dialgauge.dialogue import Speaker
from dialgauge.errors import DialgaugeError
from dialgauge.formats.held import hold_records
from dialgauge.formats.json_text import decode
from dialgauge.formats.large_json import LargeObject
from dialgauge.formats.peek import Peek
from dialgauge.formats.registry import recognise
from dialgauge.formats.source import Part, resolve
from dialgauge.formats.tau import tau_end, tau_results
from dialgauge.formats.tau2 import bare_simulations, is_results
from dialgauge.formats.tau_messages import TauMessage, results_of_calls
from dialgauge.formats.tau_outcomes import TOLERANCE
from dialgauge.text import counted

Benchmark: TypeAlias = Literal["tau", "tau2"]
#: Endings after which a conversation is judged, in τ²-bench's words.
FINISHED = frozenset({"agent_stop", "user_stop"})


_PASSED = 1 - TOLERANCE
#: The test of the data, as τ-bench and τ²-bench call it.
_DATA_PARTS = frozenset({"r_actions", "DB"})


class LoggedCall(Struct, frozen=True):
    """A call: ``arguments`` is None where they were no JSON object, ``result`` where none was recorded."""

    name: str
    arguments: dict[str, Any] | None
    speaker: Speaker
    result: str | None
    failed: bool
    #: The place of its message.
    place: int


class LoggedText(Struct, frozen=True):
    """What one message says, and whether a call stood beside it."""

    speaker: Speaker
    text: str
    with_call: bool
    place: int


class LoggedConversation(Struct, frozen=True, kw_only=True):
    """One trial of one task."""

    task: str
    trial: int
    reward: float | None
    #: None where the log does not tell how it ended.
    finished: bool | None
    #: How it ended, in the log's words: a termination reason of τ²-bench; ``error`` where τ-bench notes one.
    reason: str | None = None
    calls: tuple[LoggedCall, ...]
    texts: tuple[LoggedText, ...]
    #: The parts of the reward that the log stores: ``r_actions``, ``DB``, ``COMMUNICATE``.
    parts: dict[str, float]
    #: The expected actions that the verdict was given by, as the log stores them; None where it does not.
    gold: list[Any] | None
    #: The task as this conversation stores it (τ-bench): what it was, whatever id it is filed under.
    stored_task: dict[str, Any] | None = None

    @property
    def id(self) -> str:
        return f"{self.task}#{self.trial}"


def contradicts_parts(reward: float | None, parts: Mapping[str, float], benchmark: str) -> bool:
    """Whether a reward is not the product of the parts stored with it.

    τ-bench stores only the last part, so that what was told does not say all.
    """
    if reward is None or not parts or benchmark not in ("tau", "tau2"):
        return False
    fulfilled = all(value >= _PASSED for value in parts.values())
    if reward >= _PASSED:
        return not fulfilled
    return fulfilled and (benchmark == "tau2" or not _DATA_PARTS.isdisjoint(parts))


class LogPlan(Struct, frozen=True, kw_only=True):
    """How many conversations a log should have, and has; ``named``: it says so itself."""

    tasks: int
    trials: int
    present: int
    named: bool

    @property
    def missing(self) -> int:
        return self.tasks * self.trials - self.present

    def sentence(self) -> str:
        """What is missing, without the full stop; empty where nothing is."""
        if not self.missing:
            return ""
        plan = f"{counted(self.tasks, 'task')} x {counted(self.trials, 'trial')}"
        plan += " planned" if self.named else "; the file names no plan"
        return f"INCOMPLETE: {self.present:,} of {self.tasks * self.trials:,} conversations are there ({plan})"


class AgentLog(Struct, frozen=True, kw_only=True):
    """A log: which benchmark and domain, the tasks it stores (τ²), its conversations in order."""

    file: str
    benchmark: Benchmark
    domain: str
    tasks: tuple[dict[str, Any], ...]
    conversations: Sequence[LoggedConversation]
    planned_trials: int | None = None

    @property
    def plan(self) -> LogPlan:
        """As the file says or, where it does not, the tasks it has with the most trials that any has."""
        tried = Counter(conversation.task for conversation in self.conversations)
        numbers = len({conversation.trial for conversation in self.conversations})
        trials = self.planned_trials or max(numbers, *tried.values(), 0)
        return LogPlan(
            tasks=len({str(task.get("id")) for task in self.tasks} | tried.keys()),
            trials=trials,
            present=sum(min(count, trials) for count in tried.values()),
            named=bool(self.planned_trials and self.tasks),
        )

    @property
    def repeated_ids(self) -> list[str]:
        """Ids that several conversations have."""
        return [
            name for name, count in Counter(conversation.id for conversation in self.conversations).items() if count > 1
        ]

    @property
    def calls_in_prose(self) -> bool:
        """Whether the agent wrote its calls into texts (ReAct), so that none can be made again."""
        if any(conversation.calls for conversation in self.conversations):
            return False
        texts = (
            text.text for conversation in self.conversations for text in conversation.texts if text.speaker == "system"
        )
        return any("Action:" in text and '"name"' in text for text in texts)


class _TauResult(Struct, frozen=True):
    task_id: int | str
    reward: float | None
    traj: tuple[TauMessage, ...]
    info: dict[str, Any] = {}
    trial: int = 0


class _Simulation(Struct, frozen=True):
    task_id: int | str
    messages: tuple[TauMessage, ...]
    termination_reason: str | None = None
    reward_info: dict[str, Any] | None = None
    trial: int | None = None


class _ResultsFile(Struct, frozen=True):
    simulations: list[Raw]
    info: dict[str, Any] = {}
    tasks: list[dict[str, Any]] = []


class _Results(NamedTuple):
    simulations: Iterable[Raw]
    info: Mapping[str, Any] = {}
    tasks: Sequence[dict[str, Any]] = ()


_TAU, _SIMULATION = msgspec.json.Decoder(_TauResult), msgspec.json.Decoder(_Simulation)
_OBJECT, _TASKS = msgspec.json.Decoder(dict[str, Any]), msgspec.json.Decoder(list[dict[str, Any]])
_SPEAKERS: dict[str, Speaker] = {"assistant": "system", "user": "user"}


def read_agent_log(source: str | Path, format: str | None = None) -> AgentLog:
    """The log in a file of τ-bench or τ²-bench results, which its content says unless the format is named."""
    parts = resolve(source)
    named = (format or recognise(parts[0]).name) if len(parts) == 1 else ""
    if named == "tau":
        return _tau_log(parts[0])
    if named == "tau2":
        return _tau2_log(parts[0])
    raise DialgaugeError(
        "it is not a results file of τ-bench or τ²-bench, which alone have all that this needs: the tasks with "
        "instructions and expected calls, and every call as it was made (docs/formats/tau.md shows the "
        "layout). Of other logs, 'expected_actions' (names and arguments) beside the messages lets pages say which "
        "calls were missed, and 'instruction' lets 'dialgauge users faults' check the user",
        file=str(source),
    )


def _tau_log(part: Part) -> AgentLog:
    conversations = hold_records(_tau_conversations(part), LoggedConversation)
    return AgentLog(file=part.name, benchmark="tau", domain="", tasks=(), conversations=conversations)


def _tau_conversations(part: Part) -> Iterator[LoggedConversation]:
    for raw in tau_results(part):
        result = decode(_TAU, raw, part)
        error, reward_info = result.info.get("error"), result.info.get("reward_info", UNSET)
        end = tau_end(
            result.traj, reward=result.reward, error=error, source=result.info.get("source"), reward_info=reward_info
        )
        judged = _dict(reward_info)
        parts = {key: value for key, value in _dict(judged.get("info")).items() if key.startswith("r_")}
        gold = judged.get("actions")
        yield LoggedConversation(
            task=str(result.task_id),
            trial=result.trial,
            reward=result.reward,
            finished=end in FINISHED if end else None,
            reason="error" if error is not None else None,
            calls=tuple(_calls(result.traj, first_only=True)),
            texts=tuple(_texts(result.traj)),
            parts=_numbers(parts),
            gold=gold if isinstance(gold, list) else None,
            stored_task=_dict(result.info.get("task")) or None,
        )


def _tau2_log(part: Part) -> AgentLog:
    results = _tau2_results(part)
    planned = results.info.get("num_trials")
    return AgentLog(
        file=part.name,
        benchmark="tau2",
        domain=str(_dict(results.info.get("environment_info")).get("domain_name") or ""),
        tasks=tuple(results.tasks),
        conversations=hold_records(_tau2_conversations(results.simulations, part), LoggedConversation),
        planned_trials=planned if isinstance(planned, int) else None,
    )


def _tau2_results(part: Part) -> _Results:
    if not is_results(Peek(part)):
        return _Results(bare_simulations(part))
    if not part.is_large:
        results = decode(msgspec.json.Decoder(_ResultsFile), part.read(), part)
        return _Results(results.simulations, results.info, results.tasks)
    whole = LargeObject(part, "simulations")
    beside = {key: raw for key, raw in whole.members() if key != "simulations"}
    info = decode(_OBJECT, beside.get("info", Raw(b"{}")), part)
    tasks = decode(_TASKS, beside.get("tasks", Raw(b"[]")), part)
    return _Results(whole, info, tasks)


def _tau2_conversations(simulations: Iterable[Raw], part: Part) -> Iterator[LoggedConversation]:
    for raw in simulations:
        simulation = decode(_SIMULATION, raw, part)
        judged = simulation.reward_info or {}
        checks = judged.get("action_checks")
        reward = judged.get("reward")
        yield LoggedConversation(
            task=str(simulation.task_id),
            trial=simulation.trial or 0,
            reward=float(reward) if isinstance(reward, int | float) else None,
            finished=simulation.termination_reason in FINISHED if simulation.termination_reason else None,
            reason=simulation.termination_reason,
            calls=tuple(_calls(simulation.messages, first_only=False)),
            texts=tuple(_texts(simulation.messages)),
            parts=_numbers(_dict(judged.get("reward_breakdown"))),
            gold=[_dict(check).get("action") for check in checks] if isinstance(checks, list) else None,
        )


def _calls(messages: Sequence[TauMessage], *, first_only: bool) -> Iterator[LoggedCall]:
    results = results_of_calls(messages)
    for index, message in enumerate(messages):
        speaker = _SPEAKERS.get(message.role)
        if speaker is None or not message.tool_calls or (first_only and speaker == "user"):
            continue
        for number, call in enumerate(message.tool_calls[:1] if first_only else message.tool_calls):
            name = (call.function.name if call.function else call.name) or ""
            given = call.function.arguments if call.function else call.arguments
            answer = results.get((index, number))
            text = None if answer is None else answer.content or ""
            failed = text is not None and (text.startswith("Error") if first_only else bool(answer and answer.error))
            yield LoggedCall(name, _object(given), speaker, text, failed, index)


def _object(given: str | dict[str, Any] | None) -> dict[str, Any] | None:
    if not isinstance(given, str):
        return given if given is not None else {}
    try:
        return _OBJECT.decode(given)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _texts(messages: Sequence[TauMessage]) -> Iterator[LoggedText]:
    for index, message in enumerate(messages):
        speaker = _SPEAKERS.get(message.role)
        if speaker is not None and message.content:
            yield LoggedText(speaker, message.content, bool(message.tool_calls), index)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _numbers(values: dict[str, Any]) -> dict[str, float]:
    return {key: float(value) for key, value in values.items() if isinstance(value, int | float)}
