"""What stands in a table: columns that say how numbers look, and cells that carry more than a number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

#: What a cell may hold. ``None`` and NaN are *undefined* and print as a dash, never as a number.
Value: TypeAlias = str | int | float | bool | None

UNDEFINED = "–"


@dataclass(frozen=True)
class Column:
    """A column's title and how its numbers look.

    ``percent`` prints 0.1234 as 12.34; ``best`` says which number is printed in bold; ``signed`` prints a plus sign.
    """

    title: str
    digits: int = 4
    percent: bool = False
    signed: bool = False
    best: Literal["max", "min"] | None = None
    align: Literal["left", "right"] | None = None

    def text(self, value: Value) -> str:
        """The value as people read it.

        >>> Column("JGA", digits=2, percent=True).text(0.48125)
        '48.12'
        """
        if is_undefined(value):
            return UNDEFINED
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, str):
            return value
        assert value is not None  # noqa: S101 - narrowed by is_undefined
        if isinstance(value, int) and not self.percent:
            return f"{value:+d}" if self.signed else f"{value:d}"
        number = 100.0 * value if self.percent else float(value)
        shown = f"{number:+.{self.digits}f}" if self.signed else f"{number:.{self.digits}f}"
        return shown.lstrip("-+") if not float(shown) and not self.signed else shown


@dataclass(frozen=True)
class Cell:
    """A value with what goes with it: an interval, a significance mark, bold print."""

    value: Value
    low: float | None = None
    high: float | None = None
    mark: str = ""
    bold: bool = False

    @property
    def has_interval(self) -> bool:
        """Whether both ends of an interval are known."""
        return not (is_undefined(self.low) or is_undefined(self.high))

    def interval(self, column: Column) -> str:
        """``[low, high]`` in the column's number format, or nothing."""
        return f"[{column.text(self.low)}, {column.text(self.high)}]" if self.has_interval else ""


def is_undefined(value: Value) -> bool:
    """Whether there is no value: None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_number(value: Value) -> bool:
    """Whether the value is a defined number (a truth value is none)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and not is_undefined(value)


def mark_best(column: Column, cells: Sequence[Cell]) -> list[Cell]:
    """The cells of one column with the best number in bold, and every number that prints the same."""
    numbers = [float(cell.value) for cell in cells if is_number(cell.value)]  # type: ignore[arg-type]
    if column.best is None or not numbers:
        return list(cells)
    best = column.text(max(numbers) if column.best == "max" else min(numbers))
    return [
        Cell(cell.value, cell.low, cell.high, cell.mark, bold=True)
        if is_number(cell.value) and column.text(float(cell.value)) == best  # type: ignore[arg-type]
        else cell
        for cell in cells
    ]
