"""What runs of user faults add to a comparison: tasks are paired where they have trials, and what is lacking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from dialgauge.comparison import Pairing
from dialgauge.text import Note
from dialgauge.users.faults.fault_presentation import missing_sentence
from dialgauge.users.faults.recorded_tasks import task_of

if TYPE_CHECKING:
    from dialgauge.runs import Run


_known: WeakKeyDictionary[Run, dict[str, str]] = WeakKeyDictionary()


class FaultsPairing(Pairing):
    """Conversations about the same tasks; what is missing is told first."""

    trial_unit = "task"

    def trials(self, run: Run) -> Mapping[str, str]:
        """The task of each conversation, read once per run."""
        if run not in _known:
            _known[run] = {dialogue.id: task_of(dialogue) for dialogue in run.dialogues()}
        return _known[run]

    def names_domains(self, runs: Sequence[Run]) -> bool:
        """Whether conversations say which benchmark they are of, and so name the domain of the task."""
        return any(dialogue.ended.benchmark for run in runs for dialogue in run.dialogues())

    def warnings(self, runs: Sequence[Run]) -> list[str]:
        """What a file lacks."""
        lacking = [Note("lacking", missing.removesuffix(".")) for run in runs if (missing := missing_sentence(run))]
        return [*lacking, *self.mismatch_warnings()]


PAIRING = FaultsPairing()
