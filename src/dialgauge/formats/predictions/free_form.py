"""The format of last resort: predictions that no other format recognises, in any layout that can be understood.

JSON, JSON Lines, CSV and TSV become plain Python, which :mod:`~dialgauge.formats.predictions.tolerant` understands.
It is asked only where every other format has declined.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Notes, Peek, decode
from dialgauge.formats.located import members_of
from dialgauge.formats.predictions.columns import is_record
from dialgauge.formats.predictions.tolerant import NotUnderstood, read_predictions, turn_number
from dialgauge.formats.source import HEAD_BYTES, Part, decode_utf8

_ANY = msgspec.json.Decoder()
_DELIMITERS = "\t,;|"
_SHOWN = 12
#: How polars and pandas rename a column that a table has twice.
_RENAMED = re.compile(r"(.+)(?:\.[0-9]{1,3}|_duplicated_[0-9]{1,3})")


class FreeForm(DialogueFormat):
    """Predicted states by dialogue and turn, in JSON, JSON Lines, CSV or TSV."""

    name = "predictions"
    summary = "predicted states by dialogue and turn as people write them: JSON, JSON lines, CSV or TSV"
    kind = "predictions"
    fields = frozenset({"state", "predicted"})

    def recognise(self, peek: Peek) -> bool:
        return problem(peek) is None

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        content = part.read()
        is_json = content.lstrip()[:1] in (b"{", b"[")
        try:
            written = _json(content, part) if is_json else _table(decode_utf8(content, part.name), part)
            return iter(read_predictions(written, notes, cells=not is_json))
        except NotUnderstood as error:
            raise DialgaugeError(
                f"predictions cannot be found in it; missing: {error.missing}", file=part.name
            ) from error
        except DialgaugeError as error:
            raise error.at(file=part.name) from error


def problem(peek: Peek) -> NotUnderstood | None:
    """Why the beginning of a file cannot be understood; None where it can."""
    written = sample(peek)
    try:
        read_predictions(written, Notes(), cells=peek.shape == "text")
    except NotUnderstood as error:
        by_columns = isinstance(written, dict) and is_record(written) and len(peek.head) >= HEAD_BYTES - 3
        return None if by_columns else error
    except (DialgaugeError, RecursionError):
        pass  # it has the layout, and something is wrong inside; reading says what
    return None


def sample(peek: Peek) -> Any:
    """The beginning of a file as plain Python; None where it is neither JSON nor a table."""
    if peek.json is not None:
        return peek.json
    cut = len(peek.head) >= HEAD_BYTES - 3 and len(peek.lines) > 1
    lines = [line for line in (peek.lines[:-1] if cut else peek.lines) if line.strip()]
    if peek.shape == "lines":
        try:
            return [msgspec.json.decode(line) for line in lines]
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return None
    try:
        return table_rows(lines)
    except DialgaugeError:
        return None


def _json(content: bytes, part: Part) -> Any:
    """One JSON value, or those of all lines."""
    try:
        written = _ANY.decode(content)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        lines = [(number, line) for number, line in enumerate(content.split(b"\n"), 1) if line.strip()]
        try:
            _ANY.decode(lines[0][1])
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return decode(_ANY, content, part)  # which says what is wrong
        return [decode(_ANY, line, part, line=number) for number, line in lines]
    if isinstance(written, dict):
        _refuse_repeated(content, written, part)
    return written


def _refuse_repeated(content: bytes, written: Mapping[str, Any], part: Part) -> None:
    """An error where a dialogue, or a turn of one, is there twice; a JSON parser keeps the later in silence."""
    seen: set[str] = set()
    for key, raw in members_of(content, part):
        if key in seen:
            raise DialgaugeError("this id is used twice in the file; ids must be unique", file=part.name, dialogue=key)
        seen.add(key)
        inner = written[key]
        if isinstance(inner, dict) and len(members_of(bytes(raw), part)) > len(inner):
            raise DialgaugeError("this id has a turn or a key twice; keep one of them", file=part.name, dialogue=key)


def _table(text: str, part: Part) -> Any:
    try:
        return table_rows(io.StringIO(text, newline=""))
    except DialgaugeError as error:
        raise error.at(file=part.name) from error


def table_rows(lines: Iterable[str]) -> list[Any]:
    """The rows of a table in text as objects, or as lists where its first row has no names."""
    source = iter(lines)
    first = next((line for line in source if line.strip()), "")
    delimiter = max(_DELIMITERS, key=first.count)
    if delimiter not in first:
        raise NotUnderstood("dialogues, turns and states, in JSON, JSON lines, CSV or TSV")
    rows: list[list[str]] = []
    reader = csv.reader(_after(first, source), delimiter=delimiter)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append(row)
            if len(row) > len(rows[0]):
                raise DialgaugeError(
                    f"it has {len(row)} cells, and the first row {len(rows[0])}; quote texts that contain "
                    f"{'tabs' if delimiter == chr(9) else repr(delimiter)}",
                    line=reader.line_num,
                )
    except csv.Error as error:
        raise DialgaugeError(f"it is no sound table ({error})", line=reader.line_num) from error
    header = [cell.strip() for cell in rows[0]]
    if not is_record(dict.fromkeys(header)) and any(turn_number(cell) is not None for cell in header):
        return list(rows)
    refuse_repeated_columns(header)
    return [dict(zip(header, [*row, *[""] * (len(header) - len(row))], strict=True)) for row in rows[1:]]


def _after(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def refuse_repeated_columns(columns: Sequence[str]) -> None:
    """An error where a column is there twice, or was and has been renamed by polars or pandas."""
    seen = set(columns)
    for place, name in enumerate(columns):
        base = _RENAMED.fullmatch(name)
        if name and name in columns[:place]:
            raise DialgaugeError(f"two of its columns are called '{name[:60]}'; rename one")
        if base and base[1] in seen:
            raise DialgaugeError(
                f"its column '{name[:60]}' is a second '{base[1][:60]}' that polars or pandas renamed; keep one of them"
            )


def advice(peek: Peek, error: NotUnderstood) -> tuple[str, str]:
    """For a file that no format fits: what was seen and what is missing, and a file that would do, in three lines."""
    written = sample(peek)
    if not written:
        return "", ""
    first = _first_record(written)
    names = [str(name)[:40] for name in (error.names or first or ())][:_SHOWN]
    seen = f"; keys seen: {', '.join(names)}" if names else ""
    return f"{seen}; missing: {error.missing[:200]}", "\n".join(_example(first))


def _first_record(written: Any) -> Mapping[str, Any] | None:
    for _ in range(4):
        if isinstance(written, list) and written:
            written = written[0]
        elif isinstance(written, dict) and written and not is_record(written):
            inner = next(iter(written.values()))
            if not isinstance(inner, dict | list) or not inner:
                break
            written = {"dialogue_id": next(iter(written))} if isinstance(inner, list) else inner
    return written if isinstance(written, dict) else None


def _example(first: Mapping[str, Any] | None) -> list[str]:
    """A file of three lines, with the user's own id and words where there are any."""
    from dialgauge.formats.predictions.columns import Columns

    columns = Columns.of([first]) if first else None
    identifier = first.get(columns.dialogue) if first and columns and columns.dialogue else None
    dialogue = str(identifier)[:40] if isinstance(identifier, str | int) else "dialogue-1"
    slots = {"hotel-area": "north"}, {"hotel-area": "north", "hotel-stars": "4"}
    rows = [(dialogue, 0, {}), (dialogue, 1, slots[0]), (dialogue, 2, slots[1])]
    name = columns.dialogue if columns and columns.dialogue else "dialogue_id"
    return [msgspec.json.encode({name: row[0], "turn": row[1], "state": row[2]}).decode() for row in rows]
