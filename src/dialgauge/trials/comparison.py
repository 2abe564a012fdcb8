"""What results of agents add to a comparison: tasks are paired and resampled, and what would settle a difference.

The variance of a task's difference has two sources: tasks on which the agents truly differ, and the chance of few
trials. More trials shrink the second only, more tasks both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct

from dialgauge.comparison import Pairing
from dialgauge.errors import DialgaugeError
from dialgauge.measures import PASS, flip_chance, uneven_trials
from dialgauge.report import PERCENT, Column, Number, Table
from dialgauge.text import MANY_NAMED, REMARK, Note, counted, note_kind, some_of
from dialgauge.trials.conversations import per_task_stands, rows
from dialgauge.trials.words import coverage_sentence

if TYPE_CHECKING:
    from dialgauge.comparison import Comparison
    from dialgauge.runs import Run

PASS_1 = f"{PASS}^1"
#: Measures that are compared where nobody names any.
_HEADLINES = (PASS, "Reward", "Score", "Label", "Cost", "ModelTokens", "Turns")
#: A difference below this is none: the last bits of two equal means.
_NOTHING = 1e-12


class Settling(Struct, frozen=True, kw_only=True):
    """What it would take to settle the difference in pass^1 that was seen; None is not known, or not possible."""

    difference: float
    #: The true difference that these tasks and trials show 8 times in 10.
    detectable: float | None = None
    #: How many trials of each task, with these tasks, would show the difference seen 8 times in 10.
    trials_needed: int | None = None
    #: How many tasks like these, with these trials.
    tasks_needed: int | None = None
    why: str = ""


def settling(comparison: Comparison, first: str, second: str) -> Settling:
    """What would settle the difference of two runs in pass^1."""
    difference = comparison.difference(first, second, PASS_1).difference
    detectable = comparison.detectable_between(first, second, PASS_1)
    if not math.isfinite(detectable):
        return Settling(difference=difference, why="nothing varies, or there are too few tasks")
    if abs(difference) < _NOTHING:
        return Settling(difference=difference, detectable=detectable, why="no difference was seen")
    # What is detected 8 times in 10 grows with the error, the root of the variance.
    shrunk = (difference / detectable) ** 2
    counts = [_counts(comparison.runs[name], comparison.dialogues) for name in (first, second)]
    trials_needed, why = _trials_needed(counts, shrunk)
    return Settling(
        difference=difference,
        detectable=detectable,
        trials_needed=trials_needed,
        tasks_needed=math.ceil(round(len(comparison.dialogues) / shrunk, 6)),
        why=why,
    )


def _trials_needed(counts: Sequence[Sequence[tuple[int, int]]], shrunk: float) -> tuple[int | None, str]:
    """How many trials of each task shrink the variance of a task's difference to this share of it."""
    if any(trials < 2 for count in counts for _, trials in count):
        return None, "some tasks were tried once, so it is unknown how much is chance"
    single = [[flip_chance(*each) / 2 for each in count] for count in counts]
    chance = sum(
        float(np.mean([value / trials for value, (_, trials) in zip(values, count, strict=True)]))
        for values, count in zip(single, counts, strict=True)
    )
    rates = [np.array([passed / trials for passed, trials in count]) for count in counts]
    variance = float(np.var(rates[0] - rates[1], ddof=1))
    between, allowed = max(0.0, variance - chance), variance * shrunk
    if allowed <= between:
        return None, "the agents differ on different tasks, which more trials would not change: more tasks are needed"
    return max(1, math.ceil(round(sum(map(float, map(np.mean, single))) / (allowed - between), 6))), ""


def _counts(run: Run, tasks: Sequence[str]) -> list[tuple[int, int]]:
    """Successes and trials of these tasks."""
    scored = run.table("trials").filter("scored").group_by("task").agg(pl.col("success").sum(), pl.len())
    by_task = {task: (int(passed), int(trials)) for task, passed, trials in scored.iter_rows()}
    return [by_task.get(task, (0, 0)) for task in tasks]


def settled(comparison: Comparison) -> Table | None:
    """What it would take to settle the differences in pass^1."""
    if PASS_1 not in comparison.measures:
        return None
    table = Table(
        "What would settle the difference in pass^1?",
        [
            Column("first"),
            Column("second"),
            Column("difference", Number(percent=True, signed=True)),
            Column("detectable", PERCENT, help="the true difference that is found with 80% power"),
            Column("trials needed", help="of each of these tasks, to find a true difference of this size"),
            Column("tasks needed", help="or this many tasks like these, with as many trials"),
            Column("unknown because", spare=1),
        ],
    )
    for pair in comparison.pairs:
        names = [comparison.systems[place] for place in pair]
        made = settling(comparison, *names)
        table.add(*names, made.difference, made.detectable, made.trials_needed, made.tasks_needed, made.why)
    return table


class TrialsPairing(Pairing):
    """Tasks are paired, whatever their numbers of trials; the user, the tasks and the limits must be the same."""

    own_parts = frozenset({"trials"})
    unit = trial_unit = "task"

    def for_runs(self, runs: Sequence[Run]) -> Pairing:
        """The same; runs whose conversations do not match their tasks cannot be paired by task."""
        for run in runs:
            if not per_task_stands(run):
                raise DialgaugeError(
                    f"{run.name}: too many conversations do not match the task they are filed under, and a comparison "
                    "pairs tasks ('dialgauge review' shows which)"
                )
        return super().for_runs(runs)

    def names_domains(self, runs: Sequence[Run]) -> bool:
        """Tasks are of one domain, and have the same instructions."""
        return True

    def headlines(self, measures: Sequence[str]) -> Sequence[str]:
        """pass^k, rewards and scores, then cost and turns of both sides together."""
        whole = [name for name in measures if "(" not in name.partition("[")[0]]
        return [name for head in _HEADLINES for name in whole if re.split(r"[\^[]", name)[0] == head] or measures

    def trials(self, run: Run) -> Mapping[str, str]:
        return dict(run.table("trials").select("dialogue", "task").rows())

    def warnings(self, runs: Sequence[Run]) -> list[str]:
        """How much of each log there is, what counts as a pass, and which tasks not all logs have."""
        notes: list[str] = []
        tasks = {run.id: run.table("trials")["task"].unique(maintain_order=True).to_list() for run in runs}
        shared = set.intersection(*map(set, tasks.values())) if tasks else set()
        for run in runs:
            found = [Note(REMARK if run.coverage.complete else "coverage", coverage_sentence(run))]
            if foreign := rows(run, "task_match", match="foreign"):
                found.append(Note("integrity", f"{counted(len(foreign), 'conversation')} of another task"))
            found += [Note("verdict", note) for note in run.notes if note_kind(note) == "verdict"]
            if uneven := uneven_trials(run.details.get("pass_tasks", {})):
                found.append(Note(REMARK, uneven))
            if alone := [task for task in tasks[run.id] if task not in shared]:
                listed = f"{counted(len(alone), 'task')} that not all have, left out: {some_of(alone, MANY_NAMED)}"
                found.append(Note(REMARK, listed))
            notes += [Note(note.kind, f"{run.name}: {note}") for note in found]
        return [*notes, *super().warnings(runs)]

    def notes(self, runs: Sequence[Run]) -> list[str]:
        """Whether verdicts changed and not agents, different numbers of trials, and what is noted of each run."""
        notes = _judged_apart(runs)
        trials = {run.name: run.details["planned"]["trials"] for run in runs}
        if len(set(trials.values())) > 1:
            listed = ", ".join(f"{name} {number:,}" for name, number in trials.items())
            sentence = f"the numbers of trials differ ({listed}): pass^k and Flips can be compared, TrialNoise cannot"
            notes.append(Note(REMARK, sentence))
        noted: dict[str, list[str]] = {}
        for run in runs:
            for note in run.notes:
                if note_kind(note) != "verdict":  # said of each run as a warning
                    noted.setdefault(note, []).append(run.name)
        return [*notes, *(f"{', '.join(names)}: {note}" for note, names in noted.items())]

    def excluded(self, run: Run, measure: str) -> Collection[str]:
        """Tasks that a run has without a score on a measure, such as pass^4 where only two trials were made."""
        scores = run.table("dialogue_scores").filter(pl.col("measure") == measure)
        if not scores.height:
            return ()
        tasks = run.table("trials")
        having = set(tasks.join(scores, on="dialogue", how="semi")["task"])
        return [task for task in tasks["task"].unique(maintain_order=True) if task not in having]


def _judged_apart(runs: Sequence[Run]) -> list[str]:
    """Conversations of two runs that are word for word the same and have different verdicts."""
    if len(runs) != 2 or not all(run.has_corpus for run in runs):
        return []
    first, second = (run.table("trials").select("dialogue", "success", "turns", "calls") for run in runs)
    said = first.filter(first["turns"] > 0)  # of others nobody kept what was said
    alike = said.join(second, on=["dialogue", "turns", "calls"], nulls_equal=True)
    other = set(alike.filter(alike["success"] != alike["success_right"])["dialogue"])
    turns = [{each.id: each.turns for each in run.dialogues() if each.id in other} for run in runs] if other else []
    same = sum(turns[0].get(name) == turns[1].get(name) for name in other)
    if not same:
        return []
    names = f"{runs[0].name} and {runs[1].name}"
    sentence = f"{counted(same, 'conversation')} of {names} are word for word the same and judged differently"
    return [Note("judged_apart", f"{sentence}: there the verdicts changed, not the agent")]


PAIRING = TrialsPairing()
