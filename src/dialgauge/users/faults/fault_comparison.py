"""What runs of user faults add to a comparison: tasks are paired where they have trials, and what is lacking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from dialgauge.comparison import ComparisonView, TurnDivergence
from dialgauge.text import Note
from dialgauge.users.faults.fault_presentation import missing_sentence
from dialgauge.users.faults.recorded_tasks import task_of, told_in

if TYPE_CHECKING:
    from dialgauge.runs import Run


class FaultsView(ComparisonView):
    """Conversations about the same tasks, one about each: a dialogue is the unit, and what is missing is told first."""

    def for_runs(self, runs: Sequence[Run]) -> ComparisonView:
        """Trials of one task are not independent: where a run has some, tasks are paired, each with all its trials."""
        view = TASK_VIEW if any(_has_trials(run) for run in runs) else self
        return view.of_same_units(runs, by_domain=any(_is_of_a_benchmark(run) for run in runs))

    def told_first(self, runs: Sequence[Run]) -> list[str]:
        """What a file lacks."""
        lacking = [Note("lacking", told.removesuffix(".")) for run in runs if (told := missing_sentence(run))]
        return [*lacking, *self.unlike_sentences()]


class FaultTasksView(FaultsView):
    """Several trials of a task: a task is the unit, as in the runs' own intervals."""

    unit = "task"

    def for_runs(self, runs: Sequence[Run]) -> ComparisonView:
        """Itself: it was chosen for its runs."""
        return self

    def units(self, run: Run) -> Mapping[str, str]:
        """The task of each conversation."""
        return _tasks(run)

    def divergence(self, first: Run, second: Run, dialogue: str) -> TurnDivergence | None:
        """Trials of one task are different conversations: there is no turn to show."""
        return None


_known: WeakKeyDictionary[Run, dict[str, str]] = WeakKeyDictionary()


def _tasks(run: Run) -> dict[str, str]:
    """The task of each conversation, read once per run."""
    if run not in _known:
        _known[run] = {one.id: task_of(one) for one in run.dialogues()}
    return _known[run]


def _is_of_a_benchmark(run: Run) -> bool:
    """Do its conversations say which benchmark they are of, and so name the domain of the task?"""
    return any(told_in(one, "benchmark") for one in run.dialogues())


def _has_trials(run: Run) -> bool:
    tasks = _tasks(run)
    return len(set(tasks.values())) < len(tasks)


VIEW = FaultsView()
TASK_VIEW = FaultTasksView()
