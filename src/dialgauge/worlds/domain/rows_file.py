"""The rows of a service: a CSV file with a header, or a JSON list of objects. Every cell is the text as written."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from dialgauge.errors import DialgaugeError

#: What no table of rows that a person keeps exceeds.
_MOST_BYTES = 1 << 28
_SPACE = " \t\r\n"


class RowsFile(NamedTuple):
    """What a file of rows holds: columns as declared, and for each row its line and its known cells."""

    file: str
    columns: tuple[str, ...]
    rows: list[tuple[int, dict[str, str]]]


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
        if path.is_dir():
            raise DialgaugeError("it is a folder; a file is expected", file=str(path))
        if path.stat().st_size > _MOST_BYTES:
            raise DialgaugeError(f"it is larger than {_MOST_BYTES:,} bytes, too large for a domain", file=str(path))
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DialgaugeError(f"it cannot be read ({reason})", file=str(path)) from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DialgaugeError("it is not UTF-8 text; save it as UTF-8", file=str(path), line=line) from error


def _from_csv(text: str, file: str) -> RowsFile:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    lines = _csv_lines(reader, file)
    header_line, header = next(lines, (1, []))
    if not any(cell.strip() for cell in header):
        raise DialgaugeError("there is no header; the first line names the columns", file=file, line=header_line)
    columns = tuple(cell.strip() for cell in header)
    _refuse_repeated(columns, file, header_line)
    rows = []
    for line, cells in lines:
        if len(cells) != len(columns):
            raise DialgaugeError(
                f"this row has {len(cells)} cells where the header has {len(columns)} columns; put a cell that holds a "
                "comma in double quotes",
                file=file,
                line=line,
            )
        rows.append((line, {column: cell.strip() for column, cell in zip(columns, cells, strict=True) if cell.strip()}))
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


def _refuse_repeated(columns: tuple[str, ...], file: str, line: int) -> None:
    seen: set[str] = set()
    for index, column in enumerate(columns, start=1):
        if not column:
            raise DialgaugeError(f"column {index} of the header has no name", file=file, line=line)
        if column in seen:
            raise DialgaugeError(f"the column '{column}' appears twice", file=file, line=line)
        seen.add(column)


def _from_json(text: str, file: str) -> RowsFile:
    rows: list[tuple[int, dict[str, str]]] = []
    columns: dict[str, None] = {}
    for line, item in _json_items(text, file):
        if not isinstance(item, dict):
            raise DialgaugeError("an object is expected here: rows are a JSON list of objects", file=file, line=line)
        columns |= dict.fromkeys(item)
        rows.append((line, {name: value for name, cell in item.items() if (value := _cell(name, cell, file, line))}))
    return RowsFile(file, tuple(columns), rows)


def _cell(name: str, cell: Any, file: str, line: int) -> str:
    if not isinstance(cell, str | None):
        raise DialgaugeError(
            f"the value of '{name}' is nested; a cell is a text, a number or null", file=file, line=line
        )
    return (cell or "").strip()


def _json_items(text: str, file: str) -> Iterator[tuple[int, Any]]:
    """The elements of a JSON list, each with its line."""
    offset = _skipped(text, 0)
    if text[offset : offset + 1] != "[":
        raise DialgaugeError("rows are a JSON list of objects: [{…}, {…}]", file=file, line=1)
    offset = _skipped(text, offset + 1)
    line, counted = 1, 0
    first = True
    while text[offset : offset + 1] != "]":
        if not first:
            if text[offset : offset + 1] != ",":
                raise DialgaugeError("it is not valid JSON (',' or ']' is expected)", file=file, line=line)
            offset = _skipped(text, offset + 1)
        first = False
        line, counted = line + text.count("\n", counted, offset), offset
        item, offset = decode_json(text, offset, file, line)
        yield line, item
        offset = _skipped(text, offset)
    if _skipped(text, offset + 1) != len(text):
        raise DialgaugeError("it is not valid JSON (something follows the list)", file=file, line=line)


def decode_json(text: str, offset: int, file: str, line: int) -> tuple[Any, int]:
    """A JSON value with scalars as texts, and where it ends. A key that stands twice is an error."""
    try:
        return _DECODER.raw_decode(text, offset)
    except DialgaugeError as error:
        raise error.at(file=file, line=line) from None
    except json.JSONDecodeError as error:
        at = line + text.count("\n", offset, error.pos)
        raise DialgaugeError(f"it is not valid JSON ({error.msg})", file=file, line=at) from error
    except RecursionError as error:
        raise DialgaugeError("it is nested too deeply", file=file, line=line) from error


def _skipped(text: str, offset: int) -> int:
    while offset < len(text) and text[offset] in _SPACE:
        offset += 1
    return offset


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
