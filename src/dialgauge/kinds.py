"""One record per kind of run: where its family keeps its measures, how its runs are paired and how they are shown.

A record is data, so that naming a kind imports nothing but the record; a part is loaded when it is first needed. Our
own records are listed in ``BUILT_IN``, those of other packages are entry points of the group ``dialgauge.kinds``. No
other module keeps a list of kinds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar

from dialgauge import plugins

T = TypeVar("T")

#: Kind of run to its record. Two kinds may have a measure of the same name: the first of them is meant where none is
#: named, so ``outcomes`` stands before ``tasks``, as its Success knows the rule sets of both.
BUILT_IN = {
    "tracking": "dialgauge.tracking.kind:TRACKING",
    "responses": "dialgauge.responses.kind:RESPONSES",
    "training": "dialgauge.responses.kind:TRAINING",
    "users": "dialgauge.users.kind:USERS",
    "faults": "dialgauge.users.faults.kind:FAULTS",
    "outcomes": "dialgauge.tasks.kind:OUTCOMES",
    "trials": "dialgauge.trials.kind:TRIALS",
    "tasks": "dialgauge.tasks.kind:TASKS",
    "lab": "dialgauge.lab.kind:LAB",
    "interaction": "dialgauge.lab.kind:INTERACTION",
    "study": "dialgauge.lab.kind:STUDY",
}


@dataclass(frozen=True)
class Mistakes:
    """What counts as a mistake in a dialogue: columns of a table, summed over the dialogue's rows."""

    name: str
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
        return plugins.load_part(plugins.KINDS, self.name, target, contract, BUILT_IN) if target else None


def kind_named(name: str) -> Kind:
    """The record of a kind; an empty one where no installed package knows it."""
    if name not in BUILT_IN and name not in plugins.names(plugins.KINDS, BUILT_IN):
        return Kind(name)
    return plugins.load(plugins.KINDS, name, Kind, BUILT_IN)


def run_kinds() -> list[str]:
    """The kinds that runs are of, ours first. A record of ours without a view only lends its measures to other runs."""
    ours = [name for name in BUILT_IN if kind_named(name).view]
    return [*ours, *(name for name in plugins.names(plugins.KINDS, BUILT_IN) if name not in BUILT_IN)]
