"""Files of a domain's folder: rows as a CSV file with a header or a JSON list of objects, and JSON lines.

Every cell and every JSON scalar is the text as written; an empty cell or null is unknown.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from dialgauge.errors import DialgaugeError

#: What no table of rows that a person keeps exceeds.
_MOST_BYTES = 1 << 28


class RowsFile(NamedTuple):
    """What a file of rows holds: columns as declared, and for each row its line and its known cells."""

    file: str
    columns: tuple[str, ...]
    rows: list[tuple[int, dict[str, str]]]

    def refuse(self, line: int, message: str) -> NoReturn:
        """Raise an error at a row: in its line, or where JSON has none its number."""
        if self.file.lower().endswith(".json"):
            raise DialgaugeError(f"row {line}: {message.replace('in line', 'in row')}", file=self.file)
        raise DialgaugeError(message, file=self.file, line=line)


def read_rows(path: Path) -> RowsFile:
    """The rows of a file whose name ends in .csv or .json."""
    text = read_text(path)
    if path.suffix.lower() == ".csv":
        return _from_csv(text, str(path))
    if path.suffix.lower() == ".json":
        return _from_json(text, str(path))
    raise DialgaugeError("rows are a CSV file with a header or a JSON list of objects (.csv, .json)", file=str(path))


def read_text(path: Path) -> str:
    """A text file of a domain: UTF-8, with or without a byte order mark."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DialgaugeError(f"it cannot be read ({reason})", file=str(path)) from error
    if len(content) > _MOST_BYTES:
        raise DialgaugeError(f"it is larger than {_MOST_BYTES:,} bytes, too large for a domain", file=str(path))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DialgaugeError("it is not UTF-8 text; save it as UTF-8", file=str(path), line=line) from error


def _from_csv(text: str, file: str) -> RowsFile:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    columns: tuple[str, ...] = ()
    rows = []
    for line, cells in _csv_lines(reader, file):
        if not columns:
            columns = tuple(map(str.strip, cells))
            for index, column in enumerate(columns, start=1):
                if not column:
                    raise DialgaugeError(f"column {index} of the header has no name", file=file, line=line)
                if column in columns[: index - 1]:
                    raise DialgaugeError(f"the column '{column}' appears twice", file=file, line=line)
        elif len(cells) != len(columns):
            raise DialgaugeError(
                f"this row has {len(cells)} cells where the header has {len(columns)} columns; put a cell that holds a "
                "comma in double quotes",
                file=file,
                line=line,
            )
        else:
            rows.append(
                (line, {column: cell.strip() for column, cell in zip(columns, cells, strict=True) if cell.strip()})
            )
    return RowsFile(file, columns, rows)


def _csv_lines(reader: Any, file: str) -> Iterator[tuple[int, list[str]]]:
    """Each row with the line on which it begins; empty lines are none."""
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise DialgaugeError(f"it is not valid CSV ({error})", file=file, line=line) from error
        if cells is None:
            return
        if cells:
            yield line, cells


def _from_json(text: str, file: str) -> RowsFile:
    """Rows with their number in place of a line."""
    rows: list[tuple[int, dict[str, str]]] = []
    columns: dict[str, None] = {}
    content = decode_json(text, file)
    if not isinstance(content, list):
        raise DialgaugeError("rows are a JSON list of objects: [{…}, {…}]", file=file, line=1)
    for number, item in enumerate(content, start=1):
        if not isinstance(item, dict):
            raise DialgaugeError(f"row {number} is not an object; rows are a JSON list of objects", file=file)
        for name, cell in item.items():
            if not isinstance(cell, str | None):
                raise DialgaugeError(
                    f"the value of '{name}' in row {number} is nested; a cell is a text, a number or null", file=file
                )
        columns |= dict.fromkeys(item)
        rows.append((number, {name: cell.strip() for name, cell in item.items() if cell and cell.strip()}))
    return RowsFile(file, tuple(columns), rows)


def decode_json(text: str, file: str, line: int | None = None) -> Any:
    """A JSON value with scalars as texts. A key that stands twice is an error."""
    try:
        return _DECODER.decode(text)
    except DialgaugeError as error:
        raise error.at(file=file, line=line) from None
    except json.JSONDecodeError as error:
        at = (line or 1) + error.lineno - 1
        raise DialgaugeError(f"it is not valid JSON ({error.msg})", file=file, line=at) from error
    except RecursionError as error:
        raise DialgaugeError("it is nested too deeply", file=file, line=line) from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise DialgaugeError(f"the key '{key[:80]}' appears twice")
        content[key] = ("true" if value else "false") if isinstance(value, bool) else value
    return content


def _not_a_number(name: str) -> str:
    raise DialgaugeError(f"it is not valid JSON ({name} is no value)")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_float=str, parse_int=str, parse_constant=_not_a_number)
