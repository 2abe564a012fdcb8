"""How runs of one kind are paired: what the units are, which of them are the same, and in what runs may differ.

A family whose runs need more than the defaults subclasses :class:`Pairing` and names an instance in the record of its
kind (``kinds.py``).

Task 7 of one benchmark is not task 7 of another, nor always that of its next version. Whether what runs have under one
id is the same thing, what the user was told decides: the same words, whatever the white space, or the same slots.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, ClassVar

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Goal, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.kinds import kind_named
from dialgauge.text import MANY_NAMED, Note, counted, some_of

if TYPE_CHECKING:
    import polars

    from dialgauge.runs import Run

#: If at most one shared id in so many differs in content (a benchmark mended a task), it is left out; above that the
#: runs are refused: they are about other tasks.
_FEW = 10
_DIFFERENCE = "have different goals or instructions, or different domains"


class Pairing:
    """How runs of a kind are paired. Every method has a default."""

    #: Parts of a signature, beyond the usual ones, in which compared runs may differ without a warning.
    own_parts: frozenset[str] = frozenset()
    #: Parts of a signature in which a difference forbids a ranking, with the reason.
    cautions: ClassVar[Mapping[str, str]] = {}
    #: What is paired and resampled: mostly a dialogue; a task where runs have several trials of each.
    unit: str = "dialogue"
    #: What several dialogues of a run may be trials of, such as a task. Trials are not independent: where a run has
    #: some, these are paired, each with all its trials.
    trial_unit: str = ""
    #: Units that all runs have by id and that are not the same in all: never paired.
    mismatched: tuple[str, ...] = ()

    def for_runs(self, runs: Sequence[Run]) -> Pairing:
        """The pairing of these very runs: of tasks where a run has several trials of one, without mismatched units."""
        if not self.trial_unit:
            return self
        pairing = copy(self)
        if any(len(set(units.values())) < len(units) for units in map(self.trials, runs)):
            pairing.unit = self.trial_unit
        pairing.mismatched = _mismatched(pairing, runs)
        return pairing

    def trials(self, run: Run) -> Mapping[str, str]:
        """The trial unit of each dialogue of a run."""
        return {}

    def names_domains(self, runs: Sequence[Run]) -> bool:
        """Whether the domains of dialogues are those of their tasks."""
        return False

    def units(self, run: Run) -> Mapping[str, str]:
        """The unit of each dialogue of a run; nothing where dialogues are the units."""
        return self.trials(run) if self.unit == self.trial_unit else {}

    def unit_table(self, run: Run, table: str) -> polars.DataFrame:
        """``dialogue_scores`` or ``dialogue_sums`` of a run; where the unit is no dialogue, with units in its place."""
        units = self.units(run)
        given = _summed_by_unit(run.table(table), units) if units else run.table(table)
        return _without(given, self.mismatched) if self.mismatched else given

    def headlines(self, measures: Sequence[str]) -> Sequence[str]:
        """The measures that are compared where nobody names any."""
        return measures

    def excluded(self, run: Run, measure: str) -> Collection[str]:
        """Dialogues that a measure leaves out for this run, and so for every run it is compared with."""
        return ()

    def turn_scores(self, run: Run) -> polars.DataFrame | None:
        """The scores of every turn: ``dialogue``, ``turn`` and a column for each measure; None where there are none."""
        return None

    def scored_turns(self, run: Run) -> polars.DataFrame | None:
        """``dialogue`` and ``turn`` of every scored turn: dialogues scored on different turns are not compared."""
        frame = self.turn_scores(run)
        return None if frame is None else frame.select("dialogue", "turn")

    def warnings(self, runs: Sequence[Run]) -> list[str]:
        """What must be read before any number, a sentence each without its full stop."""
        if not self.mismatched:
            return []
        number, named = counted(len(self.mismatched), self.unit), some_of(self.mismatched, MANY_NAMED)
        return [Note("unlike_units", f"{number} left out, which {_DIFFERENCE}: {named}")]

    def notes(self, runs: Sequence[Run]) -> list[str]:
        """What must be said beside all scores of these runs, such as how their inputs were read."""
        return []


def pairing_of(runs: Sequence[Run]) -> Pairing:
    """The pairing of runs of one kind; the default one where there are none."""
    if not runs:
        return Pairing()
    return (kind_named(runs[0].kind).part("pairing", Pairing) or Pairing()).for_runs(runs)


def _summed_by_unit(frame: polars.DataFrame, units: Mapping[str, str]) -> polars.DataFrame:
    """A table of scores or sums by dialogue, with the unit of each dialogue in its place and their sums together."""
    import polars as pl

    values = [name for name in ("num", "den", "sum") if name in frame.columns]
    keys = [name for name in frame.columns if name not in values]
    renamed = frame.with_columns(pl.col("dialogue").replace(dict(units)))
    return renamed.group_by(keys, maintain_order=True).agg(pl.col(values).sum()).select(frame.columns)


def _without(frame: polars.DataFrame, units: Collection[str]) -> polars.DataFrame:
    keys = {dialogue_key(unit) for unit in units}
    names = [name for name in frame["dialogue"].unique() if dialogue_key(name) in keys]
    return frame.filter(~frame["dialogue"].is_in(names))


def _mismatched(pairing: Pairing, runs: Sequence[Run]) -> tuple[str, ...]:
    """The units that all runs have by id and that are not the same in all; more than a few are an error."""
    by_domain = pairing.names_domains(runs)
    contents = [_contents(run, pairing.units(run), by_domain=by_domain) for run in runs]
    shared = [key for key in contents[0] if all(key in other for other in contents[1:])]
    unlike = [contents[0][key].name for key in shared if _differ([content[key] for content in contents])]
    if len(unlike) > max(1, len(shared) // _FEW) or (unlike and len(unlike) == len(shared)):
        distinct = len({run.name for run in runs}) == len(runs)
        names = " and ".join(run.name if distinct else run.id for run in runs)
        raise DialgaugeError(
            f"{names} cannot be compared: {len(unlike):,} of the {counted(len(shared), pairing.unit)} that they "
            f"share by id {_DIFFERENCE} ({some_of(unlike, MANY_NAMED)}); compare runs on the same {pairing.unit}s"
        )
    return tuple(unlike)


class _Unit(Struct):
    """A unit as a run spells it, its domains where they are named, and the goals of its trials, each in one form."""

    name: str
    domains: frozenset[str]
    goals: frozenset[str]


def _differ(units: Sequence[_Unit]) -> bool:
    """Is anything known to be different? What a run does not say is not."""
    domains, goals = ({getattr(unit, part) for unit in units} - {frozenset()} for part in ("domains", "goals"))
    return len(domains) > 1 or len(goals) > 1


def _contents(run: Run, units: Mapping[str, str], *, by_domain: bool) -> dict[str, _Unit]:
    """The units of a run by their key."""
    try:
        rows = run.table("dialogues").select("dialogue", "domains", "goal").rows()
    except DialgaugeError:  # its scores can be compared though its dialogues are gone
        return {}
    contents: dict[str, _Unit] = {}
    for dialogue, domains, goal in rows:
        name = units.get(dialogue, dialogue)
        own = frozenset(domains or ()) if by_domain else frozenset[str]()
        unit = contents.setdefault(dialogue_key(name), _Unit(name, own, frozenset()))
        unit.goals |= frozenset(filter(None, [_one_form(goal)]))
    return contents


def _one_form(written: str | None) -> str:
    """A goal such that equal ones are equal texts; empty where there is none."""
    if written is None:
        return ""
    goal = msgspec.json.decode(written, type=Goal)
    if goal.tasks:
        return msgspec.json.encode(goal.tasks, order="sorted").decode()
    return "\n".join(" ".join(text.split()) for text in goal.instruction)
