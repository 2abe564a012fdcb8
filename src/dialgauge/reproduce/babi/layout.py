"""Tables 2 and 10 as the paper sets them: tasks down, methods across, per-dialog accuracy in brackets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from dialgauge.rendering import BOLD, Cell, Column, Table
from dialgauge.reproduce.babi.kept import TRAINING_NAMES
from dialgauge.responses import published

#: Training, model and column to per-response and per-dialog accuracy; what is not trained stands under every training.
Accuracies: TypeAlias = dict[tuple[str, str, str], tuple[float, float]]

#: The methods of each table in the paper's order. Rules take no part in what is best, as in the paper.
_METHODS = {
    "Table 2": ("rules", "tfidf", "tfidf-type", "nearest", "embeddings", "memn2n", "memn2n-type"),
    "Table 10": ("embeddings", "embeddings-type", "embeddings-bigrams", "memn2n", "memn2n-type"),
}
_TITLES = {
    "rules": "rules", "tfidf": "TF-IDF", "tfidf-type": "TF-IDF + type", "nearest": "nearest",
    "embeddings": "embeddings",
    "embeddings-type": "embeddings + type", "embeddings-bigrams": "embeddings + bigrams", "memn2n": "MemN2N",
    "memn2n-type": "MemN2N + type",
}  # fmt: skip
_LEGEND = "Per-response accuracy in percent, per-dialog in brackets."
_BEST = "Bold: the best method (rules aside), and those within 0.1 of it."
#: A tenth of a point.
_AS_GOOD = 0.001


def in_layout(part: str, accuracies: Accuracies, trainings: Sequence[str]) -> list[Table]:
    """The paper's numbers, then ours with each training, in one shape."""
    theirs = {
        (model, column): accuracy
        for model in _METHODS[part]
        for column in published().columns
        if (accuracy := published().accuracy(model, column)) is not None
    }
    tables = [_table(f"{part} as printed", part, theirs)]
    for training in trainings:
        ours = {(model, column): reached for (name, model, column), reached in accuracies.items() if name == training}
        tables.append(_table(f"{part}, ours: {TRAINING_NAMES[training]}", part, ours))
    return tables


def _table(title: str, part: str, accuracies: Mapping[tuple[str, str], tuple[float, float]]) -> Table:
    methods = _METHODS[part]
    columns = [Column("task", exact=True), *(Column(_TITLES[method], align="right") for method in methods)]
    table = Table(title, columns, notes=[_LEGEND])
    table.explain(_BEST, BOLD)
    for column in published().columns:
        reached = {method: accuracies.get((method, column)) for method in methods}
        best = max((shown[0] for method, shown in reached.items() if shown and method != "rules"), default=0.0)
        table.add(column, *(_cell(method, shown, best) for method, shown in reached.items()))
    return table


def _cell(method: str, reached: tuple[float, float] | None, best: float) -> Cell:
    if reached is None:
        return Cell(None)
    bold = method != "rules" and reached[0] >= best - _AS_GOOD - 1e-9
    return Cell(f"{as_printed(reached[0])} ({as_printed(reached[1])})", bold=bold)


def as_printed(value: float) -> str:
    """A share in percent as the paper prints it: one digit, except for 100 and 0."""
    text = f"{100 * value:.1f}"
    return text.removesuffix(".0") if text in ("100.0", "0.0") else text
