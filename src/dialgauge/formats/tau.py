"""Results of tau-bench: language-model agents in conversation with language-model users.

A JSON list of ``{task_id, reward, info, traj, trial}``, also under ``results``, or a line each. What becomes of a
conversation: ``tau_outcomes``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from dialgauge.dialogue import Dialogue, Goal, Outcome
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat
from dialgauge.formats.json_text import decode
from dialgauge.formats.large_json import large_values
from dialgauge.formats.located import members_of
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part
from dialgauge.formats.tau_messages import ENDED_BY, TauMessage, checksum, is_tau_result, turns_of
from dialgauge.formats.tau_outcomes import (
    FIELDS,
    MOST,
    RAW,
    RAW_LIST,
    each_conversation,
    given_details,
    reward_details,
    succeeded,
    task_set,
)

#: How the simulated user ends a conversation.
_STOP = "###STOP###"
#: What a list of results stands under in an object.
_WRAPPER = "results"


class _TauTask(Struct, frozen=True, gc=False):
    instruction: str = ""
    actions: list[dict[str, Any]] | None = None
    outputs: list[Any] | None = None


class _TauRewardInfo(Struct, frozen=True, gc=False):
    info: dict[str, Any] | None = None


class _TauInfo(Struct, frozen=True, gc=False):
    task: _TauTask | None = None
    source: str | None = None
    user_cost: float | None = None
    #: Null where the end was not judged; a file that has no such key says nothing of it.
    reward_info: _TauRewardInfo | UnsetType | None = UNSET
    error: str | None = None


class _TauResult(Struct, frozen=True, gc=False):
    task_id: int | str
    reward: float | None
    traj: tuple[TauMessage, ...]
    info: _TauInfo = _TauInfo()
    trial: int = 0


_TAU = msgspec.json.Decoder(_TauResult)


class Tau(DialogueFormat):
    """A list of results, one for each trial of each task."""

    name = "tau"
    summary = "tau-bench results: a list of task_id, reward, info, traj and trial"
    fields = FIELDS

    def recognise(self, peek: Peek) -> bool:
        if isinstance(peek.json, list):
            return bool(peek.json) and is_tau_result(peek.json[0])
        wrapped = peek.json.get(_WRAPPER) if isinstance(peek.json, dict) else None
        first = wrapped[0] if isinstance(wrapped, list) and wrapped else peek.first_line
        return is_tau_result(first)

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        large = tau_results(part) if part.is_large else None
        results = each_conversation(_TAU, large or tau_results(part), part, notes)
        if large is None:
            results = list(results)
        instructions, trials = _instructions(results, part)
        shared = {"planned_tasks": str(len(instructions)), "task_set": task_set(instructions)}
        if trials:
            # The file does not say how many trials were planned: those that it has, whatever their numbers.
            shared["planned_trials"] = str(len(trials))
        for name, result in each_conversation(_TAU, large, part, Notes(tolerant=True)) if large else results:
            try:
                yield _tau_dialogue(result, shared)
            except DialgaugeError as error:
                notes.refuse(error.at(file=part.name, dialogue=name))


def tau_results(part: Part) -> Iterable[Raw]:
    """The results of a file: a list, the same in an object under its name, or a line each."""
    if part.is_large:
        return large_values(part, _WRAPPER)
    content = part.read()
    if content.lstrip()[:1] == b"[":
        return decode(RAW_LIST, content, part)
    lines = [line for line in content.split(b"\n") if line.strip()]
    try:
        wrapped = _WRAPPER in msgspec.json.decode(lines[0], type=dict[str, Raw])
    except (msgspec.DecodeError, RecursionError):
        wrapped = True  # an object over several lines
    if not wrapped:
        return [decode(RAW, line, part, line=number) for number, line in enumerate(lines, start=1)]
    return decode(RAW_LIST, dict(members_of(content, part)).get(_WRAPPER, Raw(b"[]")), part)


def _tau_dialogue(result: _TauResult, shared: Mapping[str, str]) -> Dialogue:
    info, task = result.info, result.info.task or _TauTask()
    judged = info.reward_info if isinstance(info.reward_info, _TauRewardInfo) else None
    parts = {
        key: float(value)
        for key, value in ((judged.info if judged else None) or {}).items()
        if key.startswith("r_") and isinstance(value, int | float) and abs(value) < MOST
    }
    prompt = "\n".join(message.content or "" for message in result.traj if message.role == "system")
    details = {
        "benchmark": "tau",
        "task": str(result.task_id),
        "trial": str(result.trial),
        **reward_details(result.reward, parts),
        **given_details(
            user_cost=info.user_cost,
            error=info.error,
            stopped_by=info.source,
            expected_actions=task.actions,
            expected_outputs=task.outputs,
        ),
        **shared,
        **({"policy": checksum(prompt)} if prompt else {}),
    }
    reason = tau_end(
        result.traj, reward=result.reward, error=info.error, source=info.source, reward_info=info.reward_info
    )
    return Dialogue(
        id=f"{result.task_id}#{result.trial}",
        turns=tuple(turns_of(result.traj)),
        goal=Goal(message=(task.instruction,)) if task.instruction else None,
        outcome=Outcome(
            success=succeeded(result.reward), reason=reason, ended_by=ENDED_BY.get(reason, ""), details=details
        ),
    )


def tau_end(
    traj: Sequence[TauMessage], *, reward: float | None, error: object, source: object, reward_info: object
) -> str:
    """How a conversation ended, in tau2-bench's words; tau-bench leaves it to be concluded.

    A conversation that comes to its end is judged; one that does not was stopped by an error, or has used up its steps.
    Files that others made lack these signs (UNSET): then the user's own stop tells it, or nothing does.
    """
    if error is not None:
        return "error"
    by_tool = source not in ("user", None)
    if reward_info is not UNSET and reward_info is not None:
        return "agent_stop" if by_tool else "user_stop"
    last = next((message.content or "" for message in reversed(traj) if message.role == "user"), "")
    if _STOP in last and not by_tool:
        return "user_stop"
    return "max_steps" if reward_info is None and (by_tool or not reward) else ""


def _instructions(results: Iterable[tuple[str, _TauResult]], part: Part) -> tuple[dict[str, str], set[int]]:
    """What the user of each task was told, by most trials of its id, and the numbers of trials.

    The trials of a task were told the same. Where they were not, and most of what they were told stands under other
    ids as well, conversations are filed under wrong ids: the check of integrity says which.
    """
    by_task: dict[str, Counter[str]] = {}
    filed: dict[str, set[str]] = {}
    trials: set[int] = set()
    for _, tau_result in results:
        task, instruction = str(tau_result.task_id), tau_result.info.task.instruction if tau_result.info.task else ""
        trials.add(tau_result.trial)
        counts = by_task.setdefault(task, Counter())
        if instruction:
            counts[instruction] += 1
            filed.setdefault(instruction, set()).add(task)
    differing = {task: counts for task, counts in by_task.items() if len(counts) > 1}
    contested = {instruction for counts in differing.values() for instruction in counts}
    if 2 * sum(len(filed[instruction]) == 1 for instruction in contested) > len(contested):
        raise DialgaugeError(
            f"two different tasks have the id '{next(iter(differing))}': its trials have different instructions. Are "
            "these the results of two task sets? Then keep each in a file of its own. Or were instructions changed "
            "between trials? Then give each version an id of its own",
            file=part.name,
        )
    return {task: counts.most_common(1)[0][0] if counts else "" for task, counts in by_task.items()}, trials
