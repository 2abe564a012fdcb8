"""What results of agents add to a comparison: tasks are paired and resampled, and what would settle a difference.

The variance of a task's difference has two sources: tasks on which the agents truly differ, and the chance of few
trials. More trials shrink the second only, more tasks both.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from msgspec import Struct, structs

from dialgauge.comparison import Pairing
from dialgauge.errors import DialgaugeError
from dialgauge.measures import PASS, flip_chance, uneven_trials
from dialgauge.text import Note, counted, note_kind, some_of
from dialgauge.trials.conversations import per_task_stands, stored_integrity
from dialgauge.trials.words import coverage_sentence

#: Notes on what is counted as a pass, or as a task.
PASS_NOTES = frozenset({"verdict"})

if TYPE_CHECKING:
    from dialgauge.comparison import Comparison
    from dialgauge.runs import Run

PASS_1 = f"{PASS}^1"
#: Measures that are compared where nobody names any begin with these.
_HEADLINES = (f"{PASS}^", "Reward", "Score[", "Label[", "Cost", "ModelTokens", "Turns")
#: A difference below this is none: the last bits of two equal means.
_NOTHING = 1e-12
#: How many tasks are named that only one file has.
_NAMED = 10


class Settling(Struct, frozen=True, kw_only=True):
    """What it would take to settle the difference in pass^1 that was seen; None is not known, or not possible."""

    first: str
    second: str
    difference: float
    settled: bool
    #: The true difference that these tasks and trials show 8 times in 10.
    detectable: float | None
    tasks: int
    trials: tuple[int, int]
    #: How many trials of each task, with these tasks, would show the difference seen 8 times in 10.
    trials_needed: int | None
    #: How many tasks like these, with these trials.
    tasks_needed: int | None
    why: str = ""


def settling(comparison: Comparison, first: str, second: str) -> Settling:
    """What would settle the difference of two runs in pass^1."""
    difference = comparison.difference(first, second, PASS_1)
    counts = [_counts(comparison.runs[name], comparison.dialogues) for name in (first, second)]
    trials = tuple(max(trials for _, trials in count) for count in counts)
    detectable = comparison.detectable_between(first, second, PASS_1)
    known = math.isfinite(detectable)
    made = Settling(
        first=first,
        second=second,
        difference=difference.difference,
        settled=difference.significant,
        detectable=detectable if known else None,
        tasks=len(comparison.dialogues),
        trials=(trials[0], trials[1]),
        trials_needed=None,
        tasks_needed=None,
    )
    if not known or abs(difference.difference) < _NOTHING:
        why = "no difference was seen" if known else "nothing varies, or there are too few tasks"
        return structs.replace(made, why=why)
    # What is detected 8 times in 10 grows with the error, the root of the variance.
    shrunk = (difference.difference / detectable) ** 2
    trials_needed, why = _trials_needed(counts, shrunk)
    tasks_needed = math.ceil(round(made.tasks / shrunk, 6))
    return structs.replace(made, trials_needed=trials_needed, tasks_needed=tasks_needed, why=why)


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
        chosen = [name for begun in _HEADLINES for name in measures if name.startswith(begun)]
        return [name for name in chosen if "(" not in name.partition("[")[0]] or measures

    def trials(self, run: Run) -> Mapping[str, str]:
        return dict(run.table("trials").select("dialogue", "task").rows())

    def warnings(self, runs: Sequence[Run]) -> list[str]:
        """How much of each file there is, and which tasks not all files have."""
        notes: list[str] = [
            Note("complete" if run.coverage.complete else "coverage", f"{run.name}: {coverage_sentence(run)}")
            for run in runs
        ]
        notes += [
            Note("integrity", f"{run.name}: {counted(len(integrity.foreign), 'conversation')} of another task")
            for run in runs
            if (integrity := stored_integrity(run)) is not None and integrity.foreign
        ]
        notes += [
            Note(note_kind(note), f"{run.name}: {note}")
            for run in runs
            for note in run.notes
            if note_kind(note) in PASS_NOTES
        ]
        notes += [
            Note("uneven_trials", f"{run.name}: {uneven}")
            for run in runs
            if (uneven := uneven_trials(run.details.get("pass_tasks", {})))
        ]
        tasks = {run.id: run.table("trials")["task"].unique(maintain_order=True).to_list() for run in runs}
        shared = set.intersection(*map(set, tasks.values())) if tasks else set()
        for run in runs:
            alone = [task for task in tasks[run.id] if task not in shared]
            if alone:
                listed = f"{counted(len(alone), 'task')} that not all have, left out: {some_of(alone, _NAMED)}"
                notes.append(Note("not_shared", f"{run.name}: {listed}"))
        return [*notes, *super().warnings(runs)]

    def notes(self, runs: Sequence[Run]) -> list[str]:
        """Different numbers of trials change the noise, and nothing else; the same words ask for the same verdict."""
        shared: dict[str, list[str]] = {}
        for run in runs:
            for note in run.notes:
                if note_kind(note) not in PASS_NOTES:  # these are said of each run as warnings
                    shared.setdefault(str(note), []).append(run.name)
        own = [f"{', '.join(names)}: {note}" for note, names in shared.items()]
        return [*_judged_apart(runs), *self._trial_notes(runs), *own]

    def _trial_notes(self, runs: Sequence[Run]) -> list[str]:
        trials = {run.name: run.details["planned"]["trials"] for run in runs}
        if len(set(trials.values())) < 2:
            return []
        listed = ", ".join(f"{name} {number:,}" for name, number in trials.items())
        sentence = (
            f"the numbers of trials differ ({listed}): pass^k and Flips compare all the same, TrialNoise does not"
        )
        return [Note("trials_differ", sentence)]

    def excluded(self, run: Run, measure: str) -> Collection[str]:
        """Tasks that a run has without a score on a measure, such as pass^4 where only two trials were made."""
        scores = run.table("dialogue_scores").filter(pl.col("measure") == measure)
        if not scores.height:
            return ()
        tasks = run.table("trials")
        having = set(tasks.join(scores, on="dialogue", how="semi")["task"])
        return [task for task in tasks["task"].unique(maintain_order=True) if task not in having]


def _judged_apart(runs: Sequence[Run]) -> list[str]:
    """Conversations of two runs that are word for word the same, and have other verdicts: what was changed is these."""
    if len(runs) != 2 or not all(run.has_corpus for run in runs):
        return []
    first, second = (run.table("trials").select("dialogue", "success", "turns", "calls") for run in runs)
    said = first.filter(first["turns"] > 0)  # of others nobody kept what was said
    alike = said.join(second, on=["dialogue", "turns", "calls"], nulls_equal=True)
    other = set(alike.filter(alike["success"] != alike["success_right"])["dialogue"])
    if not other:
        return []
    turns = [{each.id: each.turns for each in run.dialogues() if each.id in other} for run in runs]
    same = sum(turns[0].get(name) == turns[1].get(name) for name in other)
    if not same:
        return []
    sentence = (
        f"{counted(same, 'conversation')} of {runs[0].name} and {runs[1].name} are word for word the same, and judged"
    )
    return [Note("judged_apart", f"{sentence} otherwise: there the verdicts changed, not the agent")]


PAIRING = TrialsPairing()
