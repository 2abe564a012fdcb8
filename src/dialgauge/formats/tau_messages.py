"""Messages of tau-bench and tau2-bench as turns: texts, tool calls of both sides, and the results of these.

Every message with a text, and every message without tool calls, is a turn; ``Turn.source`` is its place in the file.
Tool calls belong to the next turn of the side that made them; where it says nothing more, to a turn without words.
A text beside tool calls is a turn of its own: it went to the tools, and the other side never saw it. So a turn that
another of the same speaker follows was not heard.

What results of both have in common is here, too. A conversation's id is ``TASK#TRIAL``; a task and trial that stands
again is numbered on, as conversations filed under wrong ids must reach the check that finds them. Success is a reward
of 1.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from dialgauge.dialogue import Call, End, Outcome, Speaker, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats.jsonfile import decode
from dialgauge.formats.notes import Notes
from dialgauge.formats.source import Part

ENDED_BY = {"user_stop": "user", "agent_stop": "system"}
#: The words for ends that are known.
ENDS: dict[str, End] = {
    "": "unknown",
    **dict.fromkeys(("user_stop", "agent_stop"), "finished"),
    **dict.fromkeys(("max_steps", "too_many_errors", "agent_error", "max_tokens"), "limit"),
    **dict.fromkeys(
        ("message_limit", "token_limit", "time_limit", "working_limit", "cost_limit", "turn_limit", "custom_limit",
         "operator_limit", "context_limit"), "limit",
    ),
    **dict.fromkeys(
        ("error", "infrastructure_error", "unexpected_error", "user_error", "timeout", "context_window_exceeded"),
        "infrastructure",
    ),
}  # fmt: skip
#: How simulated users say that they were not told what they are asked.
OUT_OF_SCOPE = re.compile(r"###\s?OUT-OF-SCOPE\s?###")

_SPEAKERS: dict[str, Speaker] = {"user": "user", "assistant": "system"}
_OBJECT = msgspec.json.Decoder(dict[str, Any])


class _Function(Struct, frozen=True, gc=False):
    name: str
    arguments: str | dict[str, Any] | None = None


class WrittenToolCall(Struct, frozen=True, gc=False):
    """A call as tau2-bench writes it, or under ``function`` as tau-bench does."""

    id: str | None = None
    name: str | None = None
    arguments: str | dict[str, Any] | None = None
    function: _Function | None = None


class ToolResult(Struct, frozen=True, gc=False):
    """What a tool gave, and the call that it answers."""

    id: str | None = None
    content: str | None = None
    error: bool | None = None


class TauMessage(Struct, frozen=True, gc=False):
    """One message of either benchmark."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str | None = None
    tool_calls: tuple[WrittenToolCall, ...] | None = None
    #: Of a tool: which call it answers, by tau2-bench and by tau-bench, and whether it is an error.
    id: str | None = None
    tool_call_id: str | None = None
    error: bool | None = None
    #: Several answers in one message.
    tool_messages: tuple[ToolResult, ...] | None = None
    timestamp: str | int | float | None = None


def is_tau_result(value: object) -> bool:
    """Is it a result of tau-bench, or what others keep of one: its trial, or what more is known of it?"""
    return (
        isinstance(value, dict)
        and value.keys() >= {"task_id", "traj", "reward"}
        and bool({"info", "trial"} & value.keys())
    )


class _Pending(Struct, frozen=True):
    """Calls that wait for the turn they precede."""

    speaker: Speaker
    place: int
    calls: tuple[Call, ...]


def turns_of(messages: Sequence[TauMessage], places: Sequence[int] | None = None) -> Iterator[Turn]:
    """The turns of a conversation. Results are found by the ids of their calls, or by their order where these lack.

    ``places`` are the messages' places in the file, where they were taken apart or put together on the way here.
    """
    results = results_of_calls(messages)
    waiting: _Pending | None = None
    for number, message in enumerate(messages):
        source = number if places is None else places[number]
        speaker = _SPEAKERS.get(message.role)
        if speaker is None:
            continue
        if waiting is not None and waiting.speaker != speaker:
            yield _wordless(waiting)
            waiting = None
        if message.content or not message.tool_calls:
            calls = waiting.calls if waiting is not None else None
            yield Turn(speaker=speaker, text=message.content or "", calls=calls, source=source)
            waiting = None
        if message.tool_calls:
            made = tuple(
                _call(call, results.get((number, rank)), source) for rank, call in enumerate(message.tool_calls)
            )
            first = source if waiting is None else waiting.place
            waiting = _Pending(speaker, first, (waiting.calls if waiting is not None else ()) + made)
    if waiting is not None:
        yield _wordless(waiting)


def _wordless(waiting: _Pending) -> Turn:
    return Turn(speaker=waiting.speaker, calls=waiting.calls, source=waiting.place)


def seconds_by_side(messages: Sequence[TauMessage]) -> dict[str, float]:
    """How long the messages of each side took, by their times; nothing where a message has no such time."""
    sides = {"assistant": "agent", "user": "user"}
    try:
        times = [datetime.fromisoformat(str(message.timestamp)).timestamp() for message in messages]
    except ValueError:
        return {}
    seconds: dict[str, float] = {}
    for message, before, after in zip(messages[1:], times, times[1:], strict=False):
        if message.role in sides:
            side = sides[message.role]
            seconds[side] = round(seconds.get(side, 0.0) + max(after - before, 0.0), 6)
    return seconds


def results_of_calls(messages: Sequence[TauMessage]) -> dict[tuple[int, int], ToolResult]:
    """The result of each call, by the place of its message and its number in it."""
    by_call: dict[tuple[int, int], ToolResult] = {}
    open_calls: list[tuple[int, int, str | None]] = []
    late: dict[str, tuple[int, int]] = {}  # calls that other calls followed before their results came
    for index, message in enumerate(messages):
        if message.role in _SPEAKERS and message.tool_calls:
            late.update({name: (asked, rank) for asked, rank, name in open_calls if name is not None})
            open_calls = [(index, number, call.id) for number, call in enumerate(message.tool_calls)]
        for result in _tool_results(message):
            match = next(
                (open_call for open_call in open_calls if result.id is not None and open_call[2] == result.id), None
            )
            match = match or next(
                (open_call for open_call in open_calls if result.id is None or open_call[2] is None), None
            )
            if match is not None:
                open_calls.remove(match)
                by_call[match[:2]] = result
            elif result.id in late:
                by_call[late.pop(result.id)] = result
    return by_call


def _tool_results(message: TauMessage) -> Iterable[ToolResult]:
    if message.role != "tool":
        return ()
    if message.tool_messages is not None:
        return message.tool_messages
    return (ToolResult(message.id or message.tool_call_id, message.content, message.error),)


def _call(call: WrittenToolCall, result: ToolResult | None, message: int) -> Call:
    name = call.function.name if call.function else call.name
    if name is None:
        raise DialgaugeError("a tool call has no name", turn=message)
    given = call.function.arguments if call.function else call.arguments
    text = None if result is None else result.content or ""
    return Call(name=name, arguments=_arguments(given), result=text, failed=_failed(result), message=message)


def _failed(result: ToolResult | None) -> bool:
    """tau2-bench says whether it is an error; tau-bench's tools begin their errors with that word."""
    if result is None:
        return False
    return (result.content or "").startswith("Error") if result.error is None else result.error


def _arguments(given: str | dict[str, Any] | None) -> Any:
    """Arguments as JSON; what a model wrote that is no JSON object stays a text."""
    if not isinstance(given, str):
        return given or {}
    try:
        return _OBJECT.decode(given)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return given or {}


def expected_calls(actions: Any) -> tuple[Call, ...] | None:
    """Expected calls as tau-bench (``kwargs``) or tau2-bench write them; None where one has no name."""
    if not isinstance(actions, list):
        return None
    calls = []
    for action in actions:
        if not isinstance(action, dict) or not isinstance(action.get("name"), str):
            return None
        arguments = action.get("arguments", action.get("kwargs"))
        domain = "user" if action.get("requestor") == "user" else ""
        calls.append(Call(name=action["name"], arguments={} if arguments is None else arguments, domain=domain))
    return tuple(calls)


def end_of(reason: str, *, judging: bool = False) -> End:
    """What a word for the end of a conversation means; ``judging``: a benchmark that judges all, and not this one."""
    return ENDS.get(reason, "infrastructure" if judging else "unknown")


def as_text(value: Any) -> str:
    """A value of JSON as a text: texts as they are, everything else as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def checksum(content: str | bytes) -> str:
    """A short checksum of a text."""
    written = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.sha256(written).hexdigest()[:12]


# -- results of both benchmarks --------------------------------------------------------------------------------------

#: A reward this close to 1 is a success, as both benchmarks have it.
TOLERANCE = 1e-6
#: Beyond any trial, or reward, that somebody meant.
MOST = 1_000_000
_MEMBERS = msgspec.json.Decoder(dict[str, Raw])
FIELDS = frozenset({"text", "calls", "source", "goal", "domains", "outcome"})


#: The test of the data, as tau-bench and tau2-bench call it.
_DATA_PARTS = frozenset({"r_actions", "DB"})


def each_conversation(
    decoder: msgspec.json.Decoder[Any], pieces: Iterable[Raw], part: Part, notes: Notes
) -> Iterable[tuple[str, Any]]:
    """Each conversation with its name; those of the wrong shape are refused."""
    for number, raw in enumerate(pieces, start=1):
        name = _name(raw, number)
        try:
            record = decode(decoder, raw, part, dialogue=name)
            if not 0 <= (record.trial or 0) < MOST:
                raise DialgaugeError(
                    f"the trial must be from 0 to {MOST - 1:,} (got {record.trial})",
                    file=part.name,
                    dialogue=name,
                )
        except DialgaugeError as error:
            notes.refuse(error)
        else:
            yield name, record


def _name(raw: Raw, number: int) -> str:
    """What an error calls a conversation: by task and trial, or by its number in the file."""
    try:
        given = _MEMBERS.decode(raw)
        task, trial = (msgspec.json.decode(given[key]) for key in ("task_id", "trial"))
    except (msgspec.DecodeError, UnicodeError, RecursionError, KeyError):
        return f"number {number}"
    return f"{task}#{trial}" if isinstance(task, str | int) and isinstance(trial, int) else f"number {number}"


def succeeded(reward: float | None) -> bool | None:
    """Whether a reward is that of a success; None where there is none."""
    return None if reward is None else abs(reward - 1) <= TOLERANCE


def contradicts_parts(outcome: Outcome) -> bool:
    """Whether a reward of either benchmark is not the product of the parts stored with it.

    tau-bench stores only the last part, so that what was told does not say all.
    """
    if outcome.reward is None or not outcome.parts or outcome.benchmark not in ("tau", "tau2"):
        return False
    fulfilled = all(value >= 1 - TOLERANCE for value in outcome.parts.values())
    if outcome.reward >= 1 - TOLERANCE:
        return not fulfilled
    return fulfilled and (outcome.benchmark == "tau2" or not _DATA_PARTS.isdisjoint(outcome.parts))


def given_facts(**values: Any) -> dict[str, str]:
    """What the file says, as texts."""
    return {name: as_text(value) for name, value in values.items() if value is not None}


class TrialNames:
    """Ids of the conversations of a file, by task and trial."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._seen: Counter[tuple[str, int]] = Counter()

    def name(self, task: str, trial: int) -> str:
        """``TASK#TRIAL``; one that stands again is numbered on, and noted."""
        self._seen[task, trial] += 1
        if (number := self._seen[task, trial]) == 1:
            return f"{task}#{trial}"
        self._notes.add("a task and trial given again, numbered on")
        return f"{task}#{trial} ({number})"


def task_set(instructions: Mapping[str, str]) -> str:
    """The checksum of tasks with their instructions, whatever order they stand in."""
    return checksum(msgspec.json.encode(sorted(instructions.items())))
