"""Tables in text: where they begin, what parts their cells, and their rows by the names of the columns."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest

from dialgauge.errors import DialgaugeError
from dialgauge.formats.logs.fact_names import is_fact
from dialgauge.formats.logs.messages import CONTENT_KEYS
from dialgauge.formats.logs.record_fields import plain_columns
from dialgauge.formats.notes import Notes
from dialgauge.formats.source import HEAD_BYTES, Part

#: Lines that are looked at.
_LOOKED_AT = 10
#: How lines begin above a table that are no part of it.
_COMMENTS = ("# ", "//", "sep=")
#: A number as tables have it whose cells are parted by semicolons.
_DECIMAL_COMMA = re.compile(r"\A(-?[0-9]{1,15}),([0-9]{1,15})\Z")


def table_rows(part: Part, notes: Notes) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table, with their lines; empty cells are left out, but for the words of a message without any."""
    try:
        text = part.text()
    except DialgaugeError:
        text = _of_windows(part)
        notes.add("a table that is not UTF-8 read as Windows-1252, as Excel writes it")
    above = lines_above(text)
    if titles := [line.strip() for line in above if line.strip() and not line.startswith(_COMMENTS)]:
        notes.add(f"what stands above the heading of a table passed over, such as '{titles[0][:60]}'")
    text = text[sum(map(len, above)) :]
    delimiter = _delimiter_of(text.partition("\n")[0])
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    said = [key for key in reader.fieldnames or () if key.lower() in CONTENT_KEYS]
    try:
        for row in reader:
            if None in row or None in row.values():
                reason = "the row has another number of cells than the header"
                raise DialgaugeError(reason, file=part.name, line=len(above) + reader.line_num)
            if all(key == value for key, value in row.items()):
                notes.add("rows that repeat the heading passed over")
                continue
            cells = {key: value for key, value in row.items() if key and value}
            if said and cells.keys().isdisjoint(said) and any(key.lower() == "role" for key in cells):
                cells[said[0]] = ""
            if delimiter == ";" and any(map(_DECIMAL_COMMA.fullmatch, cells.values())):
                notes.add("rows whose numbers have a decimal comma, as 0,5 for 0.5")
                cells = {key: _DECIMAL_COMMA.sub(r"\1.\2", value) for key, value in cells.items()}
            yield len(above) + reader.line_num, plain_columns(cells)
    except csv.Error as error:
        raise DialgaugeError(
            f"it is no valid CSV ({error})", file=part.name, line=len(above) + reader.line_num
        ) from error


def _of_windows(part: Part) -> str:
    """A text in the code page of Windows; one that is in neither is refused as it would be without this."""
    with part.open() as stream:
        try:
            return stream.read().decode("cp1252")
        except UnicodeDecodeError:
            return part.text()


def first_rows(text: str) -> list[dict[str, str]]:
    """The first rows of a table by its heading; none where it is no table."""
    header, *cells = _cells(text[sum(map(len, lines_above(text))) :], _LOOKED_AT) or [[]]
    return [plain_columns(dict(zip_longest(header, row[: len(header)], fillvalue=""))) for row in cells]


def lines_above(text: str) -> list[str]:
    """Lines above the heading of a table: comments, what Excel writes there, and a title, which fills fewer cells."""
    begun = list(islice(io.StringIO(text[:HEAD_BYTES], newline="\n"), _LOOKED_AT))
    comments = next((place for place in range(len(begun)) if not _is_comment(begun[place:])), 0)
    for place in range(comments, len(begun)):
        heading, *rows = _cells("".join(begun[place:]), 2) or [[]]
        if rows and len(heading) == len(rows[0]) > 1 and all(heading) and len({*heading}) == len(heading):
            return begun[: place if any(map(is_fact, heading)) else comments]
        filled = [cell for cell in heading if cell.strip()]
        alike = len({*filled}) < len(filled)  # names of groups of columns
        if len(filled) > 1 and not alike and (any(map(is_fact, filled)) or _is_wider(heading, begun[place + 1 :])):
            break
    return begun[:comments]


def _is_comment(lines: Sequence[str]) -> bool:
    """Does it begin with a comment, which names no columns?"""
    heading, *rows = _cells("".join(lines), 2) or [[]]
    named = rows and len(heading) == len(rows[0]) > 1 and any(map(is_fact, heading))
    return lines[0].startswith(_COMMENTS) and not named


def _is_wider(cells: Sequence[str], below: Iterable[str]) -> bool:
    """Has a line as many cells as any below it, as no title has?"""
    return len(cells) >= max((len(row) for line in below for row in _cells(line, 1)), default=0)


def _cells(text: str, most: int) -> list[list[str]]:
    """The cells of the first rows of a table; none where it is no CSV."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter_of(text.partition("\n")[0]))
    try:
        return list(islice(reader, most))
    except csv.Error:
        return []


def _delimiter_of(header: str) -> str:
    """What parts the cells of a table, by its heading."""
    return max(",;\t", key=header.count)
