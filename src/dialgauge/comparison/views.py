"""What a family adds to a comparison of its runs: scores of turns, where runs diverge, tables and figures of its own.

A family subclasses :class:`ComparisonView` and names one instance in the record of its kind (``kinds.py``). Runs of a
kind without one get the default view, which compares what was said.

Task 7 of one benchmark is not task 7 of another, nor always that of its next version. Whether what runs have under one
id is the same thing, what the user was told decides: the same words, whatever the white space, or the same slots.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Goal, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.kinds import kind_named
from dialgauge.text import Note, counted, some_of

if TYPE_CHECKING:
    from typing import Self

    import polars

    from dialgauge.comparison.result import Comparison
    from dialgauge.comparison.verdict import Verdict
    from dialgauge.rendering import Table
    from dialgauge.runs import Run

#: How an empty slot, or a turn that one side does not have, is written.
NOTHING = "-"


class ItemDifference(Struct, frozen=True):
    """One thing (a slot, a reply, a constraint) that two runs have differently; without gold, ``gold`` is None."""

    item: str
    gold: str | None
    first: str
    second: str


class TurnDivergence(Struct, frozen=True):
    """Where two runs diverge in a dialogue: the first turn that differs, on how many turns they do, and in what.

    ``turn`` is the position of the turn in the dialogue, from 0, as in every table of a run.
    """

    turn: int
    turns: int
    items: tuple[ItemDifference, ...] = ()


class ComparisonView:
    """A family's view of its runs; every method has a default, so a family overrides what it has more to say about."""

    #: Parts of a signature, beyond the usual ones, in which compared runs may differ without a warning.
    own_parts: frozenset[str] = frozenset()
    #: Parts of a signature in which a difference forbids a ranking, with the reason.
    cautions: ClassVar[Mapping[str, str]] = {}
    #: What is paired and resampled: mostly a dialogue; a task where runs have several trials of each.
    unit: str = "dialogue"
    #: What several dialogues of a run may be trials of, such as a task. Trials are not independent: where a run has
    #: some, these are paired, each with all its trials.
    trial_unit: str = ""
    #: Those of its tables that are always shown.
    always: tuple[str, ...] = ()
    #: Whether what a file lacks can be scored as if it were there and empty.
    scores_missing_as_empty = False
    #: Units that all runs have by id and that are not the same in all: never paired.
    unlike: tuple[str, ...] = ()

    def of_same_units(self, runs: Sequence[Run], *, by_domain: bool = False) -> Self:
        """The view of these runs without units that only share their id; runs on other units are refused.

        With ``by_domain`` the domains of dialogues are those of their tasks, and must be the same too.
        """
        view = copy(self)
        view.unlike = unlike_units(runs, {run.id: self.units(run) for run in runs}, self.unit, by_domain=by_domain)
        return view

    def unlike_sentences(self) -> list[str]:
        """Which units only share their id, without the full stop."""
        if not self.unlike:
            return []
        single = len(self.unlike) == 1
        message = (
            f"{counted(len(self.unlike), self.unit)} left out, as {'it has' if single else 'they have'} different "
            f"goals or instructions under the same id: {some_of(self.unlike, _NAMED)}"
        )
        return [Note("unlike_units", message)]

    def for_runs(self, runs: Sequence[Run]) -> ComparisonView:
        """The view of these very runs, which pairs trial units where a run has several trials of one.

        What has the same id and is not the same, such as goals of another town, is never paired.
        """
        if not self.trial_unit:
            return self
        view = copy(self)
        if any(len(set(units.values())) < len(units) for units in map(self.trials, runs)):
            view.unit = self.trial_unit
        return view.of_same_units(runs, by_domain=self.names_domains(runs))

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
        return _without(given, self.unlike) if self.unlike else given

    def verdict(self, comparison: Comparison) -> Verdict:
        """Who is ahead by the headline measure of the kind, and what the other measures say."""
        from dialgauge.comparison.verdict import verdict_of

        return verdict_of(comparison)

    def told_first(self, runs: Sequence[Run]) -> list[str]:
        """What must be read before any number, a sentence each without its full stop."""
        return self.unlike_sentences()

    def headlines(self, measures: Sequence[str]) -> Sequence[str]:
        """The measures that are compared where nobody names any."""
        return measures

    def notes(self, runs: Sequence[Run]) -> list[str]:
        """What must be said beside all scores of these runs."""
        return []

    def reading_notes(self, runs: Sequence[Run]) -> list[str]:
        """How the inputs of these runs were read, as it is said beside the scores of each."""
        return []

    def uncounted(self, run: Run, measure: str) -> Collection[str]:
        """Dialogues that a measure leaves out for this run, and so for every run it is compared with."""
        return ()

    def turn_scores(self, run: Run) -> polars.DataFrame | None:
        """The scores of every turn: ``dialogue``, ``turn`` and a column for each measure; None where there are none."""
        return None

    def scored_turns(self, run: Run) -> polars.DataFrame | None:
        """``dialogue`` and ``turn`` of every scored turn: dialogues scored on different turns are not compared."""
        frame = self.turn_scores(run)
        return None if frame is None else frame.select("dialogue", "turn")

    def divergence(self, first: Run, second: Run, dialogue: str) -> TurnDivergence | None:
        """Where two runs diverge in a dialogue; None where they do not. Here: the first turn with another text.

        Trials of one unit are different conversations: there is no turn to show.
        """
        if self.unit == self.trial_unit:
            return None
        mine, theirs = (
            dialogue_rows(run, "turns", dialogue).select("speaker", "text").rows() for run in (first, second)
        )
        length = max(len(mine), len(theirs))
        absent = ("", NOTHING)
        mine, theirs = (turns + [absent] * (length - len(turns)) for turns in (mine, theirs))
        unlike = [index for index in range(length) if mine[index] != theirs[index]]
        if not unlike:
            return None
        (speaker, text), (other_speaker, other) = mine[unlike[0]], theirs[unlike[0]]
        return TurnDivergence(unlike[0], len(unlike), (ItemDifference(speaker or other_speaker, None, text, other),))

    def tables(self, comparison: Comparison) -> Mapping[str, Callable[[], list[Table]]]:
        """Tables by the name under which they are asked for, such as ``sweep``; made when asked for."""
        return {}

    def documents(self, comparison: Comparison) -> Mapping[str, Callable[[], Any]]:
        """The same as plain values for JSON; the records of the tables where a name is not here."""
        return {}

    def figures(self, comparison: Comparison) -> Mapping[str, Callable[[], Any]]:
        """File name without ending to the function that draws the figure."""
        return {}


DEFAULT_VIEW = ComparisonView()


def view_of(kind: str) -> ComparisonView:
    """The view of a kind of run."""
    return kind_named(kind).part("comparison", ComparisonView) or DEFAULT_VIEW


def view_of_runs(runs: Sequence[Run]) -> ComparisonView:
    """The view of runs of one kind; the default one where there are none."""
    return view_of(runs[0].kind).for_runs(runs) if runs else DEFAULT_VIEW


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


_tables: WeakKeyDictionary[Run, dict[str, _ByDialogue]] = WeakKeyDictionary()


def dialogue_rows(run: Run, table: str, dialogue: str) -> polars.DataFrame:
    """The rows of one dialogue in a table of a run, whatever way its id is written; the table is read once per run."""
    tables = _tables.setdefault(run, {})
    if table not in tables:
        tables[table] = _ByDialogue(run.table(table))
    return tables[table].rows(dialogue)


class _ByDialogue:
    """A table, and where the rows of each dialogue lie in it: stretches, mostly one for each dialogue."""

    def __init__(self, frame: polars.DataFrame) -> None:
        self._frame = frame
        self._places: dict[str, tuple[str, list[tuple[int, int]]]] = {}
        start = 0
        for length, name in frame["dialogue"].rle().struct.unnest().rows():
            key = dialogue_key(name)
            if key not in self._places or self._places[key][0] != name:
                self._places[key] = (name, [])
            self._places[key][1].append((start, length))
            start += length

    def rows(self, dialogue: str) -> polars.DataFrame:
        import polars

        _, stretches = self._places.get(dialogue_key(dialogue), ("", []))
        parts = [self._frame.slice(*stretch) for stretch in stretches]
        return polars.concat(parts) if parts else self._frame.clear()


#: Up to one in so many may be another task, as where a benchmark mended some; such are left out. Above, it is another
#: set of tasks, and the rest would be a chance selection of it.
_FEW = 10
#: How many are named.
_NAMED = 10

#: What a unit is: its domains where they are named, and the goals of its trials, each in one form.
_Content: TypeAlias = tuple[tuple[str, ...], frozenset[str]]


def unlike_units(
    runs: Sequence[Run], units: Mapping[str, Mapping[str, str]], noun: str, *, by_domain: bool
) -> tuple[str, ...]:
    """The units that all runs have by id and that are not the same in all; more than a few are an error.

    ``units`` has for each run's id the unit of each dialogue; with ``by_domain`` runs of different domains are refused.
    """
    if by_domain:
        _refuse_domains(runs)
    contents = [_contents(run, units.get(run.id, {})) for run in runs]
    shared = [key for key in contents[0] if all(key in other for other in contents[1:])]
    unlike = [contents[0][key][0] for key in shared if _differ([content[key][1] for content in contents], by_domain)]
    if len(unlike) > max(1, len(shared) // _FEW) or (unlike and len(unlike) == len(shared)):
        distinct = len({run.name for run in runs}) == len(runs)
        names = " and ".join(run.name if distinct else run.id for run in runs)
        raise DialgaugeError(
            f"{names} cannot be compared: {len(unlike):,} of the {counted(len(shared), noun)} that they share by id "
            f"{'has' if len(unlike) == 1 else 'have'} different goals or instructions ({some_of(unlike, _NAMED)}); "
            f"compare runs on the same {noun}s"
        )
    return tuple(unlike)


def _refuse_domains(runs: Sequence[Run]) -> None:
    named = {run.name: sorted({domain for domains, _ in _goals(run).values() for domain in domains}) for run in runs}
    known = {name: domains for name, domains in named.items() if domains}
    sets = [set(domains) for domains in known.values()]
    if any(not first & second for index, first in enumerate(sets) for second in sets[index + 1 :]):
        each = "; ".join(f"{name} {', '.join(domains)}" for name, domains in known.items())
        raise DialgaugeError(
            f"results in different domains cannot be compared, as their tasks are not the same ({each}); compare "
            "results in one domain"
        )


def _differ(contents: Sequence[_Content], by_domain: bool) -> bool:
    """Is anything known to be different? What a run does not say is not."""
    domains = {content[0] for content in contents if content[0]} if by_domain else set()
    goals = {content[1] for content in contents if content[1]}
    return len(domains) > 1 or len(goals) > 1


def _contents(run: Run, units: Mapping[str, str]) -> dict[str, tuple[str, _Content]]:
    """The units of a run by their key: how the run spells it, and what it is."""
    contents: dict[str, tuple[str, _Content]] = {}
    for dialogue, content in _goals(run).items():
        name = units.get(dialogue, dialogue)
        spelled, (domains, goals) = contents.get(dialogue_key(name), (name, content))
        contents[dialogue_key(name)] = spelled, (domains, goals | content[1])
    return contents


_known: WeakKeyDictionary[Run, dict[str, _Content]] = WeakKeyDictionary()


def _goals(run: Run) -> dict[str, _Content]:
    """What each dialogue of a run is about, read once."""
    if run not in _known:
        try:
            rows = run.table("dialogues").select("dialogue", "domains", "goal").rows()
        except DialgaugeError:  # its scores can be compared though its dialogues are gone
            rows = []
        _known[run] = {
            name: (tuple(sorted(domains or ())), frozenset(filter(None, [_one_form(goal)])))
            for name, domains, goal in rows
        }
    return _known[run]


def _one_form(written: str | None) -> str:
    """A goal such that equal ones are equal texts; empty where there is none."""
    if written is None:
        return ""
    try:
        goal = msgspec.json.decode(written, type=Goal)
    except msgspec.DecodeError:  # of a run that another version wrote
        return written
    if goal.tasks:
        return msgspec.json.encode(goal.tasks, order="sorted").decode()
    return "\n".join(" ".join(text.split()) for text in goal.instruction)
