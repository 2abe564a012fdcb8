"""Where two systems diverge: the dialogues that make the difference, the first turn that differs, and in what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dialgauge.comparison.result import Comparison
from dialgauge.comparison.views import TurnDivergence
from dialgauge.dialogue import dialogue_key
from dialgauge.errors import UnknownNameError, nearest
from dialgauge.rendering import SHARE, Cell, Column, Table, score_column

#: Values that differ by no more count as equal, as in the counts of wins and losses.
_TIE = 1e-12


@dataclass(frozen=True)
class DialogueDivergence:
    """A dialogue on which two systems score differently; ``size`` is its share of the corpus difference.

    ``turn`` says where in the dialogue they diverge, where the runs show it.
    """

    dialogue: str
    first: float | None
    second: float | None
    size: float
    turn: TurnDivergence | None = None


def divergences(
    comparison: Comparison, first: str, second: str, measure: str, most: int, *, better: str = ""
) -> list[DialogueDivergence]:
    """The dialogues that contribute most to the difference of two systems on a measure, largest first.

    ``better``: only those on which this one of the two systems is better, or higher where nothing says which is better.

    A dialogue contributes ``num_a / sum(den_a) - num_b / sum(den_b)``; over all of them that adds up to the difference.
    Where a value comes from several sums, such as BLEU, it contributes what the difference would lose without it.
    """
    scores = comparison.scores
    a, b = scores.place_of_system(first), scores.place_of_system(second)
    values = scores.by_dialogue[:, scores.place_of_measure(measure)]
    sizes = divergence_sizes(comparison, first, second, measure)
    rows = {name: row for row, name in enumerate(scores.dialogues)}
    names = list(sizes)
    if better:
        ahead = (
            values[a] - values[b]
            if (better == first) == (scores.higher_is_better(measure) is not False)
            else values[b] - values[a]
        )
        names = [name for name in names if ahead[rows[name]] > _TIE]
    return [
        DialogueDivergence(
            name,
            _defined(values[a, rows[name]]),
            _defined(values[b, rows[name]]),
            sizes[name],
            comparison.divergence(first, second, name),
        )
        for name in names[:most]
    ]


def divergence_sizes(comparison: Comparison, first: str, second: str, measure: str) -> dict[str, float]:
    """What each dialogue contributes to the difference of two systems, those that contribute most first."""
    scores = comparison.scores
    a, b = scores.place_of_system(first), scores.place_of_system(second)
    added = scores.contributions(measure)
    sizes = [round(size, 12) for size in (added[a] - added[b]).tolist()]
    differing = [row for row, size in enumerate(sizes) if size]
    order = sorted(differing, key=lambda row: (-abs(sizes[row]), scores.dialogues[row]))
    return {scores.dialogues[row]: sizes[row] for row in order}


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def divergence_tables(comparison: Comparison, first: str, second: str, measure: str, most: int) -> list[Table]:
    """The dialogues, and where runs show it the first turn on which the systems differ."""
    parts = divergences(comparison, first, second, measure, most)
    located = any(part.turn for part in parts)
    score = comparison.scores.run_score(measure)
    shares = score is not None and score.unit == SHARE
    columns = [
        Column("dialogue"),
        score_column(first, score),
        score_column(second, score),
        score_column("points of the difference" if shares else "part of the difference", score, signed=True),
    ]
    table = Table(
        f"Where {first} and {second} diverge: {measure}",
        [*columns, *(["turns that differ", "first such turn"] if located else [])],
        notes=[] if parts else [f"No dialogue has a different {measure}."],
    )
    for part in parts:
        turn = part.turn
        extra = [turn.turns if turn else 0, turn.turn if turn else None] if located else []
        table.add(part.dialogue, part.first, part.second, part.size, *extra)
    return [table, *_item_tables(parts, first, second)]


def _item_tables(parts: Sequence[DialogueDivergence], first: str, second: str) -> list[Table]:
    """What differs on the first turn that does; without gold, there is no column for it."""
    rows = [(part.dialogue, part.turn.turn, item) for part in parts if part.turn for item in part.turn.items]
    if not rows:
        return []
    gold = any(item.gold is not None for _, _, item in rows)
    heading = ["dialogue", "turn", "item", *(["gold"] if gold else []), first, second]
    table = Table(f"First difference between {first} and {second}", heading)
    for dialogue, turn, item in rows:
        table.add(dialogue, turn, item.item, *([item.gold] if gold else []), item.first, item.second)
    table.notes.append("Turns are counted from 0 over both speakers, as in the run's table turns.")
    return [table]


def dialogue_tables(comparison: Comparison, dialogue: str) -> list[Table]:
    """The scores of all systems in one dialogue, and the first turn on which the first and each other one part."""
    keys = {dialogue_key(name): index for index, name in enumerate(comparison.dialogues)}
    if dialogue_key(dialogue) not in keys:
        raise UnknownNameError(f"there is no compared dialogue '{dialogue}'.{nearest(dialogue, comparison.dialogues)}")
    position, by_dialogue = keys[dialogue_key(dialogue)], comparison.scores.by_dialogue
    name = comparison.dialogues[position]
    table = Table(name, ["measure", *(Column(system, align="right") for system in comparison.systems)])
    for column, measure in enumerate(comparison.measures):
        look = score_column(measure, comparison.scores.run_score(measure))
        values = by_dialogue[:, column, position].tolist()
        table.add(measure, *(Cell(_defined(value), like=look) for value in values))
    shown = [table]
    first, *others = comparison.systems
    for other in others:
        if (parted := comparison.divergence(first, other, name)) is not None:
            title = f"{first} and {other} diverge in turn {parted.turn} (counted from 0 over both speakers)"
            items = Table(title, ["what", "gold", first, other])
            for item in parted.items:
                items.add(item.item, item.gold, item.first, item.second)
            shown.append(items)
    return shown
