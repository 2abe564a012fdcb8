"""Results of tau-bench: language-model agents in conversation with language-model users.

A JSON list of ``{task_id, reward, info, traj, trial}``, also under ``results``, or a line each. What becomes of a
conversation: ``tau_messages``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from dialgauge.dialogue import Dialogue, Goal, Outcome, SideUsage
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat
from dialgauge.formats.jsonfile import begins, elements_of, members_of, values_of_lines
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part
from dialgauge.formats.tau_messages import (
    ENDED_BY,
    FIELDS,
    MOST,
    TauMessage,
    TrialNames,
    as_text,
    checksum,
    each_conversation,
    end_of,
    expected_calls,
    given_facts,
    is_tau_result,
    succeeded,
    task_set,
    turns_of,
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
    actions: Any = None


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
        pieces = _results(part)
        told = (result for _, result in each_conversation(_TAU, pieces, part, Notes(tolerant=True)))
        tasks, names = task_set(_instructions(told, part)), TrialNames(notes)
        for name, result in each_conversation(_TAU, pieces, part, notes):
            try:
                yield _tau_dialogue(result, names.name(str(result.task_id), result.trial), tasks)
            except DialgaugeError as error:
                notes.refuse(error.at(file=part.name, dialogue=name))


def _results(part: Part) -> Iterable[Raw]:
    """The results of a file: a list, the same in an object under its name, or a line each."""
    content = part.buffer()
    if begins(content) == b"[":
        return elements_of(content, part)
    try:
        wrapped = dict(members_of(content, part)).get(_WRAPPER)
    except DialgaugeError:
        wrapped = None
    return elements_of(wrapped, part) if wrapped is not None else list(values_of_lines(content, part))


def _tau_dialogue(result: _TauResult, name: str, tasks: str) -> Dialogue:
    info, task = result.info, result.info.task or _TauTask()
    judged = info.reward_info if isinstance(info.reward_info, _TauRewardInfo) else None
    parts = {
        key: float(value)
        for key, value in ((judged.info if judged else None) or {}).items()
        if key.startswith("r_") and isinstance(value, int | float) and abs(value) < MOST
    }
    stored = expected_calls(judged.actions) if judged else None
    prompt = "\n".join(message.content or "" for message in result.traj if message.role == "system")
    reason, success = _end(result), succeeded(result.reward)
    return Dialogue(
        id=name,
        turns=tuple(turns_of(result.traj)),
        goal=Goal(message=(task.instruction,)) if task.instruction else None,
        outcome=Outcome(
            success=success,
            end=end_of(reason, judging=success is None),
            reason=reason,
            ended_by=ENDED_BY.get(reason, ""),
            benchmark="tau",
            task=str(result.task_id),
            trial=result.trial,
            reward=result.reward,
            parts=parts,
            usage={} if info.user_cost is None else {"user": SideUsage(cost=info.user_cost)},
            expected=expected_calls(task.actions) if stored is None else stored,
            graded=stored is not None,
            outputs=tuple(map(as_text, task.outputs or ())),
            facts={
                **given_facts(error=info.error, stopped_by=info.source, task_set=tasks),
                **({"policy": checksum(prompt)} if prompt else {}),
            },
        ),
    )


def _end(result: _TauResult) -> str:
    """How a conversation ended, in tau2-bench's words; tau-bench leaves it to be concluded.

    A conversation that comes to its end is judged; one that does not was stopped by an error, or has used up its steps.
    Files that others made lack these signs (UNSET): then the user's own stop tells it, or nothing does.
    """
    if result.info.error is not None:
        return "error"
    reward_info, by_tool = result.info.reward_info, result.info.source not in ("user", None)
    if reward_info is not UNSET and reward_info is not None:
        return "agent_stop" if by_tool else "user_stop"
    last = next((message.content or "" for message in reversed(result.traj) if message.role == "user"), "")
    if _STOP in last and not by_tool:
        return "user_stop"
    return "max_steps" if reward_info is None and (by_tool or not result.reward) else ""


def _instructions(results: Iterable[_TauResult], part: Part) -> dict[str, str]:
    """What the user of each task was told, by most trials of its id.

    The trials of a task were told the same. Where they were not, and most of what they were told stands under other
    ids as well, conversations are filed under wrong ids: the check of integrity says which.
    """
    by_task: dict[str, Counter[str]] = {}
    filed: dict[str, set[str]] = {}
    for tau_result in results:
        task, instruction = str(tau_result.task_id), tau_result.info.task.instruction if tau_result.info.task else ""
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
    return {task: counts.most_common(1)[0][0] if counts else "" for task, counts in by_task.items()}
