"""One dialogue in several runs, or several dialogues of one run, turn by turn in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from dialgauge.comparison import Comparison, TurnDivergence, divergence_sizes
from dialgauge.dialogue import Dialogue, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.explorer.comparing import shared_measure, telling_trials
from dialgauge.explorer.run_names import distinct_names
from dialgauge.presentation import DialogueView, TurnView, pages_of

if TYPE_CHECKING:
    from dialgauge.explorer.library import Library
    from dialgauge.runs import Run

MOST_SIDES = 4


class SideTurn(Struct, frozen=True):
    """The turns of several runs at one place, any of which may be missing, and whether they differ."""

    place: int
    sides: tuple[TurnView | None, ...]
    same_words: bool
    differs: bool

    @property
    def speaker(self) -> str:
        """Whose turn it is, in the first run that has it."""
        return next(side.speaker for side in self.sides if side is not None)


class SideBySide(Struct, frozen=True):
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
        verdicts = {dialogue.outcome.success for dialogue in self.dialogues[:2] if dialogue.outcome is not None}
        return verdicts == {True, False}

    @property
    def same_words(self) -> bool:
        """Whether all runs are about the same words, so that those need to be shown once only."""
        return all(turn.same_words for turn in self.turns)


class Neighbours(Struct, frozen=True):
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
    views = tuple(pages_of(run.kind).dialogue(library, run, each) for run, each in zip(runs, dialogues, strict=True))
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
    chosen = shared_measure(comparison, measure)
    order = _order(library, comparison, chosen)
    first = next(iter(comparison.runs.values()))
    unit = comparison.view.units(first).get(library.dialogue(first, dialogue).id, dialogue)
    before, after, number = _beside(order, unit)
    trials = telling_trials(library, comparison, chosen, comparison.systems[:2])
    before, after = (name and (trials.get(name, name) or None) for name in (before, after))
    return Neighbours(comparison.measures, chosen, before, after, number, len(order))


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
    keys: Mapping[str, int] = {dialogue_key(name): index for index, name in enumerate(order)}
    index = keys.get(dialogue_key(dialogue))
    if index is None:
        return None, order[0] if order else None, 0
    before = order[index - 1] if index else None
    return before, order[index + 1] if index + 1 < len(order) else None, index + 1


def _aligned(views: Sequence[DialogueView]) -> list[SideTurn]:
    turns = []
    for index in range(max(len(view.turns) for view in views)):
        sides = tuple(view.turns[index] if index < len(view.turns) else None for view in views)
        words = {(side.speaker, side.text) if side else None for side in sides}
        first = sides[0]
        cells = [side.cell for side in sides if side]
        same = len(words) == 1 and first is not None
        turns.append(SideTurn(index, sides, same, not same or any(cell != cells[0] for cell in cells)))
    return turns
