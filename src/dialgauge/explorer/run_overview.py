"""What the page of a run shows first: the number that counts, charts that lead somewhere, what to read, its trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.explorer.breakdowns import BarChart, bar_charts
from dialgauge.explorer.reading_list import reading_groups
from dialgauge.explorer.run_list import headline_of
from dialgauge.presentation import pages_of
from dialgauge.rendering import SHARE

if TYPE_CHECKING:
    from dialgauge.explorer.dialogue_list import DialogueList
    from dialgauge.explorer.library import Library
    from dialgauge.explorer.reading_list import ReadingGroup
    from dialgauge.measures import Score
    from dialgauge.presentation import Reading, Trial
    from dialgauge.runs import Run

#: Other measures with an interval that stand below the headline.
_MINOR = 5
_READ = 5
#: The smallest share of its width that a strip gives to one of its parts.
_NARROWEST = 0.09


class TaskTrials(Struct, frozen=True):
    """A task with its trials; it flips where some pass and some do not."""

    task: str
    trials: Sequence[Trial]
    goal: str = ""

    @property
    def passed(self) -> int:
        return sum(trial.success is True for trial in self.trials)

    @property
    def outcome(self) -> str:
        """``flip``, ``never`` or ``always``."""
        if 0 < self.passed < len(self.trials):
            return "flip"
        return "always" if self.passed else "never"


class TrialGrid(Struct, frozen=True):
    """Tasks with several trials, in the order of their numbers."""

    tasks: Sequence[TaskTrials]

    def with_outcome(self, outcome: str) -> list[TaskTrials]:
        return [task for task in self.tasks if task.outcome == outcome]

    @property
    def most(self) -> int:
        """The largest number of trials of a task."""
        return max((len(task.trials) for task in self.tasks), default=0)

    @property
    def strip(self) -> list[tuple[int, int, float, float]]:
        """How many tasks pass in each number of trials: passed, tasks, and start and width in percent.

        Each has room for its number.
        """
        counts = Counter(task.passed for task in self.tasks)
        widths = {passed: max(tasks / len(self.tasks), _NARROWEST) for passed, tasks in sorted(counts.items())}
        scale = 100 / sum(widths.values()) if widths else 0.0
        bars, start = [], 0.0
        for passed, width in widths.items():
            bars.append((passed, counts[passed], round(start, 2), round(scale * width, 2)))
            start += scale * width
        return bars


class RunOverview(Struct, frozen=True):
    """The answer of a run's page."""

    headline: str
    score: Score | None
    minor: Sequence[tuple[str, Score]]
    charts: Sequence[BarChart]
    reading: Sequence[ReadingGroup]
    #: The run's own list of what to read first.
    first: Sequence[Reading]
    grid: TrialGrid


def run_overview(library: Library, run: Run, listed: DialogueList | None) -> RunOverview:
    """What is known of a run; parts whose tables are damaged are left out, as its tables say so."""
    headline = headline_of(run)
    names = pages_of(run.kind).columns(run) if run.scores else []
    family = [name for name in run.scores if name.partition("^")[0] == headline.partition("^")[0] and "^" in name]
    minor = [
        (name, run.scores[name])
        for name in dict.fromkeys([*family, *names])
        if name != headline
        and run.scores[name].unit == SHARE
        and None not in (run.scores[name].low, run.scores[name].value)
    ]
    charts: list[BarChart] = []
    reading: list[ReadingGroup] = []
    first: list[Reading] = []
    grid = TrialGrid([])
    if listed is not None:
        try:
            charts = library.beside_run("bars", run, list[BarChart], lambda: bar_charts(listed))
            reading = library.of_run("reading", run, lambda: reading_groups(library, run, listed, _READ))
            first = library.of_run("first", run, lambda: listed.pages.readings(library, run))
            grid = trial_grid(library, run)
        except DialgaugeError:
            pass
    return RunOverview(headline, run.scores.get(headline), minor[:_MINOR], charts, reading, first, grid)


def trial_grid(library: Library, run: Run, *, goals: bool = False) -> TrialGrid:
    """Tasks with several trials that are judged, and what the user wants in each where ``goals`` are asked for."""
    tasks: dict[str, list[Trial]] = {}
    for trial in pages_of(run.kind).trials(library, run):
        if trial.success is not None:
            tasks.setdefault(trial.task, []).append(trial)
    several = {task: sorted(trials, key=lambda each: each.number) for task, trials in tasks.items() if len(trials) > 1}
    wishes = _goals(library, run, [trials[0].dialogue for trials in several.values()]) if goals else {}
    return TrialGrid(
        [
            TaskTrials(task, several[task], wishes.get(several[task][0].dialogue, ""))
            for task in sorted(several, key=numeric)
        ]
    )


def _goals(library: Library, run: Run, names: Sequence[str]) -> dict[str, str]:
    goals = {}
    for name in names:
        goal = library.dialogue(run, name).goal
        if goal is not None and goal.instruction:
            goals[name] = " ".join(goal.instruction)
        elif goal is not None:
            goals[name] = ", ".join(goal.tasks)
    return goals


def numeric(text: str) -> list[tuple[int, int, str]]:
    """A key that sorts numbers in texts by their size.

    >>> sorted(["10", "9", "a2", "a10"], key=numeric)
    ['9', '10', 'a2', 'a10']
    """
    pieces = ("".join(piece) for _, piece in groupby(text, lambda sign: sign in "0123456789"))
    return [(0, int(piece[:18]), piece) if piece[0] in "0123456789" else (1, 0, piece) for piece in pieces]
