"""One record per kind of run: where its family keeps its measures, how its runs are paired and how they are shown.

Our own records stand here, those of other packages are entry points of the group ``dialgauge.kinds``. No other module
keeps a list of kinds. A record is data: a part is imported when it is first needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar

from dialgauge import plugins

T = TypeVar("T")


@dataclass(frozen=True)
class Mistakes:
    """What counts as a mistake in a dialogue: columns of a table, summed over the dialogue's rows."""

    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Verdicts:
    """Where a kind keeps whether each dialogue passed: a table, its column of yes and no, and the column of tasks."""

    table: str
    column: str
    task: str


@dataclass(frozen=True)
class Kind:
    """A kind of run. Parts are written ``module:attribute``; every one may be missing."""

    name: str
    #: What such runs are about, as a heading: "State tracking"; without one, the name.
    title: str = ""
    #: The cards of its measures, in a list or tuple.
    cards: str = ""
    #: The ``comparison.Pairing`` of its runs.
    pairing: str = ""
    #: The ``report.View``: how such runs are shown.
    view: str = ""
    #: What its measures are about, among those of other kinds in one run: "task", "tracker", "user".
    section: str = ""
    #: Keys of the configuration that say which dialogues a run is about: only runs that agree in them are compared.
    measured_on: tuple[str, ...] = ()
    #: The measures that decide which system is ahead, the most telling first: the first that a run has counts.
    headline: tuple[str, ...] = ()
    #: The measures that decide which dialogue is worst, the first that a run has; without any, the headline.
    worst_by: tuple[str, ...] = ()
    #: What decides between dialogues with the same value.
    mistakes: Mistakes | None = None
    #: What says which dialogues failed: they are worse than all that passed.
    verdicts: Verdicts | None = None

    @property
    def heading(self) -> str:
        """The title, or the name where there is none."""
        return self.title or self.name

    def part(
        self,
        part: Literal["cards", "pairing", "view"],
        contract: plugins.Kind[T],
    ) -> T | None:
        """A part, loaded and checked against its contract; None where the kind has none."""
        target: str = getattr(self, part)
        if not target:
            return None
        ours = {self.name: target} if self.name in BUILT_IN else {}
        return plugins.load_part(plugins.KINDS, self.name, target, contract, ours)


#: Kind of run to its record. Two kinds may have a measure of the same name: the first of them is meant where none is
#: named, so ``outcomes`` stands before ``tasks``, as its Success knows the rule sets of both.
BUILT_IN = {
    kind.name: kind
    for kind in (
        Kind(
            "tracking",
            section="tracker",
            title="State tracking",
            cards="dialgauge.tracking.measures:CARDS",
            pairing="dialgauge.tracking.comparing:PAIRING",
            view="dialgauge.tracking.views:VIEW",
            headline=("JGA",),
            worst_by=("FGA@0.5",),
            mistakes=Mistakes("turn_scores", ("wrong_value", "missed", "spurious")),
        ),
        Kind(
            "responses",
            title="Responses",
            cards="dialgauge.responses.measures:CARDS",
            pairing="dialgauge.responses.measures:PAIRING",
            view="dialgauge.responses.views:VIEW",
            measured_on=("task", "split"),
            headline=("per-response",),
        ),
        Kind("training", view="dialgauge.responses.views:VIEW", headline=("per-response",)),
        Kind(
            "users",
            section="user",
            title="Simulated users",
            cards="dialgauge.users.measures:CARDS",
            view="dialgauge.users.views:VIEW",
            headline=("I-GCDF1", "R-GCDF1"),
        ),
        Kind(
            "faults",
            title="Faults of users",
            cards="dialgauge.users.faults.results:CARDS",
            pairing="dialgauge.users.faults.results:PAIRING",
            view="dialgauge.users.faults.views:VIEW",
            headline=("UserFault",),
        ),
        # No run is of this kind: runs of the lab have these measures beside others.
        Kind(
            "outcomes",
            section="task",
            title="Outcomes of conversations",
            cards="dialgauge.tasks.recordings.measures:CARDS",
        ),
        Kind(
            "trials",
            section="task",
            title="Trials of agents",
            cards="dialgauge.trials.measures:CARDS",
            pairing="dialgauge.trials.comparison:PAIRING",
            view="dialgauge.trials.views:VIEW",
            headline=("pass^1",),
            worst_by=("Reward",),
            verdicts=Verdicts("trials", "success", "task"),
        ),
        Kind(
            "tasks",
            section="task",
            title="Recorded responses",
            cards="dialgauge.tasks.measures:CARDS",
            pairing="dialgauge.tasks.views:PAIRING",
            view="dialgauge.tasks.views:VIEW",
            headline=("Success", "Success(rules=grounded)", "Inform"),
        ),
        Kind(
            "lab",
            section="conversation",
            title="The lab",
            cards="dialgauge.lab.measures:CARDS",
            pairing="dialgauge.lab.pairing:LAB_PAIRING",
            view="dialgauge.lab.views:VIEW",
            headline=("Success(rules=strict)", "Success(rules=compat)"),
        ),
        Kind(
            "interaction",
            title="Live conversations",
            pairing="dialgauge.lab.pairing:PAIRING",
            view="dialgauge.responses.views:VIEW",
            measured_on=("task", "half"),
            headline=("completed",),
        ),
        Kind("study", title="Study", view="dialgauge.lab.study_views:VIEW"),
    )
}


def kind_named(name: str) -> Kind:
    """The record of a kind; an empty one where no installed package knows it."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    if name not in plugins.names(plugins.KINDS, {}):
        return Kind(name)
    return plugins.load(plugins.KINDS, name, Kind, {})
