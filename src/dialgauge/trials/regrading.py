"""A recorded log graded again under another version of its tasks: which verdicts flip, and what becomes of pass^k."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.measures import pass_chance
from dialgauge.trials.log_audit import log_world, replay_conversation
from dialgauge.trials.trial_log import has_passed, read_log
from dialgauge.worlds.tools import ToolDomain, ToolTask, read_tool_tasks

#: Of a part that a replay cannot tell, the field of a task that says what it is about.
_ABOUT = {"NL_ASSERTION": "nl_assertions", "ENV_ASSERTION": "env_assertions"}


class Flip(Struct, frozen=True):
    """A conversation whose verdict is another under the other tasks."""

    conversation: str
    before: bool
    after: bool


class RegradedPass(Struct, frozen=True, kw_only=True):
    """pass^k under both versions, over the same tasks, and the difference with its interval (resampling tasks)."""

    k: int
    tasks: int
    before: float
    after: float
    difference: float
    low: float | None
    high: float | None


class Regrading(Struct, frozen=True, kw_only=True):
    """What came of grading a log again."""

    name: str
    graded: int
    flips: tuple[Flip, ...]
    pass_k: tuple[RegradedPass, ...]
    #: Tasks of the log whose user was told something else, so that the conversation is no trial of the new task.
    other_instruction: tuple[str, ...]
    #: Tasks of the log that the other version does not have.
    missing: tuple[str, ...]
    #: Conversations with a part that only a model could judge again.
    open: tuple[str, ...]


def regrade(
    source: str | Path,
    tasks: Path,
    *,
    name: str = "",
    domain: str | None = None,
    root: Path | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Regrading:
    """Grade the conversations of a log under the tasks of a file, where their instructions are the same."""
    log = read_log(source, name)
    log.refuse_others()
    world = log_world(log, domain, root)
    if world is None:
        raise DialgaugeError(
            "its calls cannot be made again: the records and tools of its domain are not here; name the domain's "
            "folder with --domain",
            file=log.file,
        )
    # The tasks under which the log was recorded: those it stores, in τ-bench with each conversation.
    before = {task.id: task for task in log.tasks() or world.tasks}
    after = {task.id: task for task in read_tool_tasks(tasks)}
    tried = log.tried
    missing = [task for task in tried if task not in after]
    told = {task: [each[task].instruction.split() for each in (before, after) if task in each] for task in tried}
    changed = [task for task, words in told.items() if len(words) == 2 and words[0] != words[1]]
    gradable = [
        dialogue for dialogue in log.dialogues if dialogue.ended.task in after and dialogue.ended.task not in changed
    ]
    verdicts: list[tuple[Dialogue, bool, bool]] = []
    undecided = []
    for conversation in gradable:
        old = has_passed(conversation)
        new = _verdict(conversation, before.get(conversation.ended.task), after[conversation.ended.task], world)
        if new is None:
            undecided.append(conversation.id)
        else:
            verdicts.append((conversation, old, new))
    return Regrading(
        name=name or Path(source).name,
        graded=len(verdicts),
        flips=tuple(Flip(conversation.id, old, new) for conversation, old, new in verdicts if old != new),
        pass_k=tuple(_both(verdicts, resamples, seed)),
        other_instruction=tuple(changed),
        missing=tuple(missing),
        open=tuple(undecided),
    )


def _verdict(conversation: Dialogue, before: ToolTask | None, after: ToolTask, world: ToolDomain) -> bool | None:
    """The new verdict. A part that a replay cannot tell is the stored one, as long as it is about the same."""
    graded = replay_conversation(conversation, after, world)
    if graded.finished is False or False in graded.replay_parts.values():
        return False
    for part in (part for part, holds in graded.replay_parts.items() if holds is None):
        field = _ABOUT.get(part)
        same = before is not None and field is not None and getattr(before, field) == getattr(after, field)
        if not same or part not in graded.recorded_parts:
            return None
        if not graded.recorded_parts[part]:
            return False
    return graded.finished  # None: it is not told how it ended


def _both(verdicts: Sequence[tuple[Dialogue, bool, bool]], resamples: int, seed: int) -> list[RegradedPass]:
    trials: dict[str, list[tuple[bool, bool]]] = {}
    for conversation, old, new in verdicts:
        trials.setdefault(conversation.ended.task, []).append((old, new))
    made = []
    for k in range(1, max(map(len, trials.values()), default=0) + 1):
        enough = [each for each in trials.values() if len(each) >= k]
        chances = np.array(
            [[pass_chance(sum(each[side] for each in task), len(task), k) for side in (0, 1)] for task in enough]
        )
        before, after = chances.mean(axis=0)
        low, high = _interval(chances[:, 1] - chances[:, 0], resamples, seed)
        numbers = {"before": float(before), "after": float(after), "difference": float(after - before)}
        made.append(RegradedPass(k=k, tasks=len(enough), **numbers, low=low, high=high))
    return made


def _interval(differences: np.ndarray, resamples: int, seed: int) -> tuple[float | None, float | None]:
    """The middle 95% of the mean difference over resampled tasks."""
    if not resamples:
        return None, None
    draws = np.random.default_rng(seed).integers(len(differences), size=(resamples, len(differences)))
    low, high = np.quantile(differences[draws].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)
