"""Which run is better, and two runs side by side: what is shown of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from dialgauge.comparison import (
    MISSING_OPTIONS,
    Comparison,
    DialogueDivergence,
    Difference,
    TurnDivergence,
    Verdict,
    comparison_figures,
    comparison_tables,
    divergence_sizes,
    divergences,
)
from dialgauge.dialogue import Dialogue, Turn, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.explorer.difference_plot import DifferencePlot, difference_plot
from dialgauge.explorer.run_names import distinct_names, shared_words
from dialgauge.explorer.templating import short_name
from dialgauge.presentation import DialogueView, TurnView, pages_of
from dialgauge.text import REMARK, note_kind

if TYPE_CHECKING:
    from dialgauge.explorer.library import Library
    from dialgauge.report import Table
    from dialgauge.runs import Run

#: Dialogues that the page of a comparison lists: of both signs, and where one system is better.
_LISTED, _LISTED_BETTER = 20, 100
MOST_SIDES = 4
#: Notes that say how measures were compared, or what another note sums up.
_REMARKS = ("end_of_test", "no_sums", "not_paired", "not_shared", "trials_differ", "uneven_trials")
#: Notes that a page has no use for: options of the command line, and that nothing is missing.
_UNSAID = (MISSING_OPTIONS, "complete")


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
            replace(
                one,
                measure=short_name(one.measure),
                leader=self.short.get(one.leader, one.leader),
                runner_up=self.short.get(one.runner_up, one.runner_up),
                best=tuple(self.short.get(name, name) for name in one.best),
            )
            for one in whole.measures
        )
        return replace(whole, systems=tuple(self.short[name] for name in whole.systems), measures=measures)

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
        """What puts the verdict in doubt; options of the command line are of no use on a page."""
        return [note for note in self.comparison.notes if note_kind(note) not in (*_REMARKS, *_UNSAID)]

    @property
    def remarks(self) -> list[str]:
        """What is good to know, and changes nothing."""
        return [note for note in self.comparison.notes if note_kind(note) in _REMARKS]


def ranking(
    library: Library, ids: Sequence[str], measure: str = "", pair: Sequence[str] = (), better: str = ""
) -> Ranking:
    """The comparison of runs; ``measure``, ``pair`` and ``better`` choose which dialogues are listed."""
    comparison = library.comparison(ids)
    runs = list(comparison.runs.values())
    tables = comparison_tables(comparison)
    told = {note_kind(note) for note in comparison.notes} - {REMARK}
    for table in tables:  # what the page says on top, or leaves out
        table.notes[:] = [note for note in table.notes if note_kind(note) not in told]
    many = len(comparison.systems) > 2
    chosen = _measure(comparison, measure)
    first, second = _pair(comparison, pair)
    trials = _telling_trials(library, comparison, chosen, (first, second))
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
            _parting_row(library, comparison, (first, second), one, trials.get(one.dialogue, one.dialogue))
            for one in divergences(comparison, first, second, chosen, most, better=winner)
        ],
        better=better,
        telling_trials=trials,
        short=dict(zip(comparison.systems, distinct_names(comparison.systems), strict=True)),
        plot=difference_plot(comparison, first, second),
    )


def _parting_row(
    library: Library, comparison: Comparison, pair: tuple[str, str], one: DialogueDivergence, conversation: str
) -> PartingRow:
    first, second = (_turns(library, comparison.runs[name], conversation) for name in pair)
    turn = one.turn
    if turn is None and conversation != one.dialogue:  # a trial of what is compared
        turn = comparison.divergence(*pair, conversation) or _first_unlike(first, second)
    place = turn.turn if turn is not None else max(len(first), len(second))
    words = [_said(turns[place]) if place < len(turns) else "" for turns in (first, second)]
    return PartingRow(replace(one, turn=turn), conversation, (words[0], words[1]))


def _turns(library: Library, run: Run, conversation: str) -> Sequence[Turn]:
    """The turns of a conversation; none where it is gone, as scores can be compared all the same."""
    try:
        return library.dialogue(run, conversation).turns if conversation else ()
    except DialgaugeError:
        return ()


def _said(turn: Turn) -> str:
    """The words of a turn, or what it does where nobody put that into words."""
    acts = ([act.name, *([f"{act.slot} = {', '.join(act.values)}"] if act.slot else [])] for act in turn.acts or ())
    return turn.text or "; ".join(map(" ".join, acts))


def _first_unlike(first: Sequence[Turn], second: Sequence[Turn]) -> TurnDivergence | None:
    """The first turn in which two conversations are not the same, and how many there are."""
    unlike = [place for place, (one, other) in enumerate(zip_longest(first, second)) if one != other]
    return TurnDivergence(unlike[0], len(unlike)) if unlike and first and second else None


def ranking_charts(comparison: Comparison) -> dict[str, Callable[[], Any]]:
    """The charts of a comparison by name; the spread over systems says nothing where there are two."""
    figures = comparison_figures(comparison)
    return {name: draw for name, draw in figures.items() if name != "mean_spread" or len(comparison.systems) > 2}


@dataclass(frozen=True)
class SideTurn:
    """The turns of several runs at one place, any of which may be missing, and whether they differ."""

    place: int
    sides: tuple[TurnView | None, ...]
    same_words: bool
    differs: bool

    @property
    def speaker(self) -> str:
        """Whose turn it is, in the first run that has it."""
        return next(side.speaker for side in self.sides if side is not None)


@dataclass(frozen=True)
class SideBySide:
    """One dialogue in several runs, turn by turn, and where the first two of them part."""

    runs: tuple[Run, ...]
    titles: tuple[str, ...]
    dialogues: tuple[Dialogue, ...]
    views: tuple[DialogueView, ...]
    turns: Sequence[SideTurn]
    parting: TurnDivergence | None
    problem: str = ""
    prefix: str = ""

    @property
    def verdicts_differ(self) -> bool:
        """Whether the first two runs say otherwise whether the dialogue succeeded."""
        verdicts = {one.outcome.success for one in self.dialogues[:2] if one.outcome is not None}
        return verdicts == {True, False}

    @property
    def same_words(self) -> bool:
        """Whether all runs are about the same words, so that those need to be shown once only."""
        return all(turn.same_words for turn in self.turns)


@dataclass(frozen=True)
class Neighbours:
    """Where a dialogue stands among those on which the first two runs score differently by a measure."""

    measures: Sequence[str] = ()
    measure: str = ""
    before: str | None = None
    after: str | None = None
    number: int = 0
    found: int = 0


def side_by_side(library: Library, ids: Sequence[str], dialogue: str, prefix: str = "") -> SideBySide:
    """One dialogue in two to four runs."""
    if not 2 <= len(set(ids)) <= MOST_SIDES:
        raise DialgaugeError(f"two to {MOST_SIDES} runs can be shown side by side; choose that many")
    runs = tuple(library.run(name) for name in dict.fromkeys(ids))
    dialogues = tuple(library.dialogue(run, dialogue) for run in runs)
    views = tuple(pages_of(run.kind).dialogue(library, run, one) for run, one in zip(runs, dialogues, strict=True))
    comparison, problem = _comparable(library, runs)
    turns = _aligned(views)
    parting = comparison.divergence(comparison.systems[0], comparison.systems[1], dialogue) if comparison else None
    titles = tuple(distinct_names([run.name for run in runs]))
    return SideBySide(runs, titles, dialogues, views, turns, parting or _first_difference(turns), problem, prefix)


def _first_difference(turns: Sequence[SideTurn]) -> TurnDivergence | None:
    """Where a family has no more to say of it: the first turn that is not the same in all runs."""
    unlike = [turn.place for turn in turns if turn.differs]
    return TurnDivergence(unlike[0], len(unlike)) if unlike else None


def trials_side_by_side(library: Library, run: Run, task: str) -> SideBySide:
    """The trials of one task of a run, at most as many as fit."""
    names = pages_of(run.kind).trials_of(library, run, task)[:MOST_SIDES]
    if not names:
        raise DialgaugeError(f"the run '{run.id}' has no trials of a task '{task}'")
    return _columns(library, run, names)


def dialogues_side_by_side(library: Library, run: Run, names: Sequence[str]) -> SideBySide:
    """Two to four dialogues of one run."""
    chosen = list(dict.fromkeys(names))
    if not 2 <= len(chosen) <= MOST_SIDES:
        raise DialgaugeError(f"two to {MOST_SIDES} dialogues can be shown side by side; choose that many")
    return _columns(library, run, chosen)


def _columns(library: Library, run: Run, names: Sequence[str]) -> SideBySide:
    pages = pages_of(run.kind)
    dialogues = tuple(library.dialogue(run, name) for name in names)
    views = tuple(pages.dialogue(library, run, dialogue) for dialogue in dialogues)
    titles = tuple(
        f"{dialogue.id}: {view.badges[0].text}" if view.badges else dialogue.id
        for dialogue, view in zip(dialogues, views, strict=True)
    )
    return SideBySide((run,) * len(names), titles, dialogues, views, _aligned(views), None)


def neighbours(library: Library, ids: Sequence[str], dialogue: str, measure: str = "") -> Neighbours:
    """The dialogues before and after one, the largest difference first; nothing where runs cannot be compared."""
    runs = tuple(library.run(name) for name in dict.fromkeys(ids))
    comparison, _ = _comparable(library, runs)
    if comparison is None:
        return Neighbours()
    chosen = _measure(comparison, measure)
    order = _order(library, comparison, chosen)
    first = next(iter(comparison.runs.values()))
    unit = comparison.view.units(first).get(library.dialogue(first, dialogue).id, dialogue)
    before, after, number = _beside(order, unit)
    trials = _telling_trials(library, comparison, chosen, comparison.systems[:2])
    before, after = (name and (trials.get(name, name) or None) for name in (before, after))
    return Neighbours(comparison.measures, chosen, before, after, number, len(order))


def _telling_trials(library: Library, comparison: Comparison, measure: str, pair: Sequence[str]) -> dict[str, str]:
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
        one, two = (values.get(name, {}) for values in scores)
        # A measure over several trials, such as pass^k, gives the same to all of them and so tells of none.
        telling = _varied(units, one) | _varied(units, two)
        for dialogue, unit in units.items():
            if unit in telling - decided and dialogue in one and dialogue in two and one[dialogue] != two[dialogue]:
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
    """By measure and dialogue."""
    values: dict[str, dict[str, tuple[float, float]]] = {}
    for dialogue, measure, num, den in (
        run.table("dialogue_scores").select("dialogue", "measure", "num", "den").iter_rows()
    ):
        values.setdefault(measure, {})[dialogue] = (num, den)
    return values


def _comparable(library: Library, runs: Sequence[Run]) -> tuple[Comparison | None, str]:
    try:
        return library.comparison([run.id for run in runs]), ""
    except DialgaugeError as error:
        return None, str(error)


def _order(library: Library, comparison: Comparison, measure: str) -> list[str]:
    """The units on which two systems score differently, the largest difference first."""
    key = ("parting", comparison.signature, *(run.id for run in comparison.runs.values()), measure)
    return library.kept(
        key, lambda: list(divergence_sizes(comparison, comparison.systems[0], comparison.systems[1], measure))
    )


def _beside(order: Sequence[str], dialogue: str) -> tuple[str | None, str | None, int]:
    keys: Mapping[str, int] = {dialogue_key(name): place for place, name in enumerate(order)}
    place = keys.get(dialogue_key(dialogue))
    if place is None:
        return None, order[0] if order else None, 0
    before = order[place - 1] if place else None
    return before, order[place + 1] if place + 1 < len(order) else None, place + 1


def _aligned(views: Sequence[DialogueView]) -> list[SideTurn]:
    turns = []
    for place in range(max(len(view.turns) for view in views)):
        sides = tuple(view.turns[place] if place < len(view.turns) else None for view in views)
        words = {(side.speaker, side.text) if side else None for side in sides}
        first = sides[0]
        cells = [side.cell for side in sides if side]
        same = len(words) == 1 and first is not None
        turns.append(SideTurn(place, sides, same, not same or any(cell != cells[0] for cell in cells)))
    return turns


def _measure(comparison: Comparison, wanted: str) -> str:
    if not wanted:
        return comparison.measures[0]
    if wanted not in comparison.measures:
        raise DialgaugeError(f"these runs share no measure '{wanted}'; they share {', '.join(comparison.measures)}")
    return wanted


def _pair(comparison: Comparison, wanted: Sequence[str]) -> tuple[str, str]:
    names = {run.id: name for name, run in comparison.runs.items()}
    known = [names[run] for run in wanted if run in names]
    first, second = known if len(known) == 2 and known[0] != known[1] else comparison.systems[:2]
    return first, second
