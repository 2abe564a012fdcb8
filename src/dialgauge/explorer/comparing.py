"""Which run is better: what is shown of a comparison, and the turns in which two runs differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from msgspec import structs

from dialgauge.comparison import (
    MISSING_OPTIONS,
    Comparison,
    DialogueDivergence,
    Difference,
    TurnDivergence,
    Verdict,
    comparison_figures,
    comparison_tables,
    divergences,
)
from dialgauge.dialogue import Act, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.explorer.difference_plot import DifferencePlot, difference_plot
from dialgauge.explorer.run_names import distinct_names, shared_words
from dialgauge.explorer.templating import short_name
from dialgauge.presentation import pages_of
from dialgauge.text import REMARK, note_kind

if TYPE_CHECKING:
    from dialgauge.explorer.library import Library
    from dialgauge.rendering import Table
    from dialgauge.runs import Run

#: Dialogues that the page of a comparison lists: of both signs, and where one system is better.
_LISTED, _LISTED_BETTER = 20, 100
#: Notes that say how measures were compared, or what another note sums up.
_REMARKS = ("end_of_test", "no_sums", "not_paired", "not_shared", "trials_differ", "uneven_trials")


@dataclass(frozen=True)
class PartingRow:
    """A unit on which two runs differ: the conversation to look at, and what each says in the turn where they part.

    ``conversation`` is empty where the runs have none in common.
    """

    difference: DialogueDivergence
    conversation: str
    words: tuple[str, str]


@dataclass(frozen=True)
class Ranking:
    """A comparison as a page shows it: the standings, what can be told apart, every pair, and where they part."""

    comparison: Comparison
    runs: Sequence[Run]
    standings: Sequence[Table]
    noise: Sequence[Table]
    pairs: Table
    pair: tuple[str, str]
    measure: str
    parting: Sequence[PartingRow]
    #: Whether only dialogues are listed on which the ``first`` or the ``second`` of the pair is better.
    better: str
    telling_trials: Mapping[str, str]
    #: What each system is called beside the others.
    short: Mapping[str, str]
    plot: DifferencePlot

    @property
    def verdict(self) -> Verdict:
        """The verdict with the short names of runs and measures."""
        whole = self.comparison.verdict
        measures = tuple(
            structs.replace(
                verdict,
                measure=short_name(verdict.measure),
                leader=self.short.get(verdict.leader, verdict.leader),
                runner_up=self.short.get(verdict.runner_up, verdict.runner_up),
                best=tuple(self.short.get(name, name) for name in verdict.best),
            )
            for verdict in (*whole.measures, *whole.undirected)
        )
        directed, undirected = measures[: len(whole.measures)], measures[len(whole.measures) :]
        systems = tuple(self.short[name] for name in whole.systems)
        return structs.replace(whole, systems=systems, measures=directed, undirected=undirected)

    @property
    def chosen(self) -> Difference:
        """The difference of the chosen pair by the chosen measure."""
        return self.comparison.difference(*self.pair, self.measure)

    @property
    def differing(self) -> int:
        """How many units there are of those that are listed."""
        wins, losses = self.chosen.wins, self.chosen.losses
        return {"first": wins, "second": losses}.get(self.better, wins + losses)

    @property
    def shared_words(self) -> str:
        """What the names of all runs have in common."""
        names = list(self.comparison.systems)
        return shared_words(names) if list(self.short.values()) != names else ""

    def conversation(self, unit: str) -> str:
        """The dialogue to look at for a unit of the comparison: a trial that differs where that is a task or a goal."""
        return self.telling_trials.get(unit, unit)

    @property
    def warnings(self) -> list[str]:
        """Notes that put the verdict in doubt, without advice on command-line options."""
        unsaid = (*_REMARKS, "complete", MISSING_OPTIONS)
        return [note for note in self.comparison.notes if note_kind(note) not in unsaid]

    @property
    def remarks(self) -> list[str]:
        """Notes that do not affect the verdict."""
        return [note for note in self.comparison.notes if note_kind(note) in _REMARKS]


def ranking(
    library: Library, ids: Sequence[str], measure: str = "", pair: Sequence[str] = (), better: str = ""
) -> Ranking:
    """The comparison of runs; ``measure``, ``pair`` and ``better`` choose which dialogues are listed."""
    comparison = library.comparison(ids)
    runs = list(comparison.runs.values())
    tables = comparison_tables(comparison)
    kinds = {note_kind(note) for note in comparison.notes} - {REMARK}
    for table in tables:  # what the page says on top, or leaves out
        table.notes[:] = [note for note in table.notes if note_kind(note) not in kinds]
    many = len(comparison.systems) > 2
    chosen = shared_measure(comparison, measure)
    first, second = _pair(comparison, pair)
    trials = telling_trials(library, comparison, chosen, (first, second))
    if better not in ("", "first", "second"):
        raise DialgaugeError(f"'better' is 'first' or 'second' (got '{better}')")
    winner = {"first": first, "second": second}.get(better, "")
    most = _LISTED_BETTER if winner else _LISTED
    return Ranking(
        comparison,
        runs,
        standings=tables[: 1 + many],
        noise=tables[2 + many :],
        pairs=tables[1 + many],
        pair=(first, second),
        measure=chosen,
        parting=[
            _parting_row(
                library, comparison, (first, second), divergence, trials.get(divergence.dialogue, divergence.dialogue)
            )
            for divergence in divergences(comparison, first, second, chosen, most, better=winner)
        ],
        better=better,
        telling_trials=trials,
        short=dict(zip(comparison.systems, distinct_names(comparison.systems), strict=True)),
        plot=difference_plot(comparison, first, second),
    )


def _parting_row(
    library: Library, comparison: Comparison, pair: tuple[str, str], divergence: DialogueDivergence, conversation: str
) -> PartingRow:
    first, second = (_turns(library, comparison.runs[name], conversation) for name in pair)
    turn = divergence.turn
    if turn is None and conversation != divergence.dialogue:  # a trial of what is compared
        turn = comparison.divergence(*pair, conversation) or _first_unlike(first, second)
    index = turn.turn if turn is not None else max(len(first), len(second))
    there = [turns[index] if index < len(turns) else None for turns in (first, second)]
    words = [_words(turn.text, turn.acts) if turn is not None else "" for turn in there]
    if words[0] == words[1]:
        words = [_words("", turn.heard, "heard: ") if turn is not None else "" for turn in there]
    return PartingRow(replace(divergence, turn=turn), conversation, (words[0], words[1]))


def _turns(library: Library, run: Run, conversation: str) -> Sequence[Turn]:
    """The turns of a conversation; none where it is gone, as scores can be compared all the same."""
    try:
        return library.dialogue(run, conversation).turns if conversation else ()
    except DialgaugeError:
        return ()


def _words(text: str, acts: Sequence[Act] | None, before: str = "") -> str:
    """The text of a turn; its acts if it has no text."""
    spelled = ([act.name, *([f"{act.slot} = {', '.join(act.values)}"] if act.slot else [])] for act in acts or ())
    return text or (f"{before}{'; '.join(map(' '.join, spelled)) or '–'}" if acts is not None else "")


def _first_unlike(first: Sequence[Turn], second: Sequence[Turn]) -> TurnDivergence | None:
    """The first turn in which two conversations are not the same, and how many there are."""
    unlike = [index for index, (own, other) in enumerate(zip_longest(first, second)) if own != other]
    return TurnDivergence(unlike[0], len(unlike)) if unlike and first and second else None


def ranking_charts(comparison: Comparison) -> dict[str, Callable[[], Any]]:
    """The charts of a comparison by name; the spread over systems says nothing where there are two."""
    figures = comparison_figures(comparison)
    return {name: draw for name, draw in figures.items() if name != "mean_spread" or len(comparison.systems) > 2}


def telling_trials(library: Library, comparison: Comparison, measure: str, pair: Sequence[str]) -> dict[str, str]:
    """For each unit a dialogue of both runs that only one of them passes, or in which they score differently, or the
    first; empty where they have none in common. Nothing where dialogues are the units."""
    first, second = (comparison.runs[name] for name in pair)
    units = comparison.view.units(first)
    if not units:
        return {}
    units = {dialogue: unit for dialogue, unit in units.items() if dialogue in comparison.view.units(second)}
    chosen = dict.fromkeys(comparison.dialogues, "")
    chosen |= {unit: dialogue for dialogue, unit in reversed(list(units.items()))}
    scores = [_dialogue_values(run) for run in (first, second)]
    verdicts = [
        {trial.dialogue: trial.success for trial in pages_of(run.kind).trials(library, run)} for run in (first, second)
    ]
    decided: set[str] = set()
    for dialogue, unit in units.items():
        if unit not in decided and {verdict.get(dialogue) for verdict in verdicts} == {True, False}:
            chosen[unit] = dialogue
            decided.add(unit)
    for name in (measure, *(name for name in first.scores if name != measure)):
        first_values, two = (values.get(name, {}) for values in scores)
        # A measure over several trials, such as pass^k, gives the same to all of them and so tells of none.
        telling = _varied(units, first_values) | _varied(units, two)
        for dialogue, unit in units.items():
            if (
                unit in telling - decided
                and dialogue in first_values
                and dialogue in two
                and first_values[dialogue] != two[dialogue]
            ):
                chosen[unit] = dialogue
                decided.add(unit)
    return chosen


def _varied(units: Mapping[str, str], values: Mapping[str, object]) -> set[str]:
    """The units whose dialogues do not all have the same value."""
    first: dict[str, object] = {}
    return {
        unit
        for dialogue, unit in units.items()
        if dialogue in values and first.setdefault(unit, values[dialogue]) != values[dialogue]
    }


def _dialogue_values(run: Run) -> dict[str, dict[str, tuple[float, float]]]:
    values: dict[str, dict[str, tuple[float, float]]] = {}
    for dialogue, measure, num, den in (
        run.table("dialogue_scores").select("dialogue", "measure", "num", "den").iter_rows()
    ):
        values.setdefault(measure, {})[dialogue] = (num, den)
    return values


def shared_measure(comparison: Comparison, wanted: str) -> str:
    """The measure that is asked for, which all runs must have; where none is, the first one in which some differ."""
    if not wanted:
        first, second, *_ = comparison.systems
        both = ((name, comparison.difference(first, second, name)) for name in comparison.measures)
        return next((name for name, apart in both if apart.wins or apart.losses), comparison.measures[0])
    if wanted not in comparison.measures:
        raise DialgaugeError(f"these runs share no measure '{wanted}'; they share {', '.join(comparison.measures)}")
    return wanted


def _pair(comparison: Comparison, wanted: Sequence[str]) -> tuple[str, str]:
    names = {run.id: name for name, run in comparison.runs.items()}
    known = [names[run] for run in wanted if run in names]
    first, second = known if len(known) == 2 and known[0] != known[1] else comparison.systems[:2]
    return first, second
