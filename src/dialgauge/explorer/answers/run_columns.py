"""What is read of a run to speak about it: columns of the expected types, defined scores, counts of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialgauge.explorer.answers.phrases import is_number
from dialgauge.measures import Score
from dialgauge.runs import Run

if TYPE_CHECKING:
    import polars


def columns(
    run: Run, table: str, *, text: tuple[str, ...] = (), number: tuple[str, ...] = ()
) -> polars.DataFrame | None:
    """Some columns of a table of a run, of the types that are expected; None where it does not have them."""
    import polars as pl

    if table not in run.tables:
        return None
    frame = run.table(table)
    kinds = frame.schema
    if not all(isinstance(kinds.get(name), pl.String | pl.Categorical | pl.Enum | pl.Null) for name in text):
        return None
    if not all(name in kinds and (kinds[name].is_numeric() or kinds[name] == pl.Boolean) for name in number):
        return None
    numbers = [pl.col(name).cast(pl.Float64).fill_null(0.0).fill_nan(0.0) for name in number]
    return frame.select(*(pl.col(name).cast(pl.String) for name in text), *numbers)


def known(run: Run, measure: str) -> Score | None:
    """The score of a measure, if it has a value."""
    score = run.scores.get(measure)
    return score if score is not None and is_number(score.value) else None


def tallied(values: polars.Series) -> list[tuple[str, int]]:
    """The texts of a column, the most frequent first, with their number; absent ones are left out."""
    counts = values.drop_nulls().to_frame("value").group_by("value", maintain_order=True).len()
    rows = [(str(value), int(count)) for value, count in counts.iter_rows()]
    return sorted(rows, key=lambda row: (-row[1], row[0]))
