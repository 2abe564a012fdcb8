"""Small CSV files that people write by hand: tables of systems, ratings."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from pathlib import Path

from dialgauge.errors import DialgaugeError
from dialgauge.text import counted

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,2})?", re.ASCII | re.IGNORECASE)


def read_csv(path: Path) -> list[tuple[int, list[str]]]:
    """The lines that hold something, with their numbers, cells without outer spaces; all as long as the first."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            lines = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except UnicodeDecodeError as error:
        raise DialgaugeError("it is not a text file; write CSV in UTF-8", file=str(path)) from error
    except (OSError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise DialgaugeError(f"it cannot be read as CSV ({reason})", file=str(path)) from error
    filled = [(line, row) for line, row in lines if any(row)]
    for line, row in filled:
        if len(row) != len(filled[0][1]):
            raise DialgaugeError(
                f"it has {counted(len(row), 'cell')} where the first line has {len(filled[0][1])}",
                file=str(path),
                line=line,
            )
    return filled


def check_names(names: Sequence[str], what: str, path: Path, line: int | None = None) -> None:
    """Every name must be there, and only once."""
    if "" in names:
        raise DialgaugeError(f"a {what} has no name", file=str(path), line=line)
    twice = next((name for index, name in enumerate(names) if name in names[:index]), None)
    if twice is not None:
        raise DialgaugeError(f"the {what} '{twice}' appears twice", file=str(path), line=line)


def parse_number(text: str) -> float | None:
    """A number as people write it; None for anything else, such as ``nan``, ``1_000`` or ``1e999``.

    >>> parse_number("0.5"), parse_number("1_0")
    (0.5, None)
    """
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None
