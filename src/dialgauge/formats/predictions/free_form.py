"""The format of last resort: predictions that no other format recognises, in any layout that can be understood.

JSON, JSON Lines, CSV and TSV become plain Python, which :mod:`~dialgauge.formats.predictions.tolerant` understands.
It is asked only where every other format has declined.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import msgspec

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat
from dialgauge.formats.json_text import decode
from dialgauge.formats.located import members_of
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.predictions.columns import TURN_LISTS, Columns, is_record, plain_name
from dialgauge.formats.predictions.dialogue_turns import FILE_ID, NotUnderstood, dialogue_turn, turn_number
from dialgauge.formats.predictions.state_texts import drops_keys, names_domain, pairs_of_repeated
from dialgauge.formats.predictions.tolerant import read_predictions
from dialgauge.formats.source import HEAD_BYTES, Part, decode_utf8

_ANY = msgspec.json.Decoder()
_DELIMITERS = "\t,;|"
#: A number that may be too large for JSON parsers.
_HUGE = re.compile(rb"\b[0-9][0-9.]{0,400}[eE][+]?[0-9]{3,20}|[0-9]{300}")
_EXCEL = re.compile(r'"?sep=.?"?', re.IGNORECASE)
_RULE = re.compile(r":?-{2,}:?")
_OF_TRAINING = re.compile(r"\.(?:log|ya?ml|toml|cfg|ini|out|err|lock|pt|pth|bin|safetensors)$", re.IGNORECASE)
#: What stands for a bar that is part of a cell while a row of Markdown is taken apart.
_PIPE = "\x1f"
#: Lines above a table that may be its title.
_TITLES = 5
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
            return iter(read_predictions(named_by_file(written, part.stem), notes, cells=not is_json))
        except NotUnderstood as error:
            raise DialgaugeError(
                f"predictions cannot be found in it; missing: {error.missing}", file=part.name
            ) from error
        except DialgaugeError as error:
            raise error.at(file=part.name) from error


def problem(peek: Peek) -> NotUnderstood | None:
    """Why the beginning of a file cannot be understood; None where it can."""
    try:
        written = named_by_file(sample(peek), peek.stem)
    except DialgaugeError:
        return None  # a table with a fault; reading says which
    try:
        read_predictions(written, Notes(), cells=peek.shape == "text")
    except NotUnderstood as error:
        by_columns = isinstance(written, dict) and is_record(written) and len(peek.head) >= HEAD_BYTES - 3
        return None if by_columns else error
    except (DialgaugeError, RecursionError):
        pass  # it has the layout, and something is wrong inside; reading says what
    return None


def accompanies(peek: Peek) -> bool:
    """May a file that no format fits lie beside predictions without being any: settings, scores, a log of training?"""
    if _OF_TRAINING.search(peek.stem):
        return True
    settings = peek.json if isinstance(peek.json, dict) and len(peek.head) < HEAD_BYTES - 3 else {}
    names = [name for name, held in settings.items() if not _is_single(held)]
    return bool(settings) and not (
        names or is_record(settings) or any(names_domain(name) or FILE_ID.fullmatch(name) for name in settings)
    )


def _is_single(held: object) -> bool:
    """Is it one value, or several that are nothing but values?"""
    inside = held.values() if isinstance(held, dict) else held if isinstance(held, list) else ()
    return not any(isinstance(value, dict | list) for value in inside)


def json_problem(peek: Peek, part: Part) -> str:
    """What is wrong with JSON, or JSON lines, and where; empty where nothing is, or the look at it is too short."""
    cut = len(peek.head) >= HEAD_BYTES - 3
    if peek.head.lstrip()[:1] not in (b"{", b"["):
        return ""
    lines = [(number, line) for number, line in enumerate(peek.head.split(b"\n"), 1) if line.strip()]
    by_line = len(lines) > 1 and any(_is_json(line) and line.lstrip()[:1] in b"{[" for _, line in lines[:2])
    pieces = (lines[:-1] if cut else lines) if by_line else [] if cut else [(0, peek.head)]
    for number, piece in pieces:
        try:
            decode(_ANY, piece, part)
        except DialgaugeError as error:
            huge = _HUGE.search(piece) if "out of range" in error.message else None
            fault = error.message
            if "trailing characters" in fault:
                fault += "; where several values follow each other, write one a line, or put them into a list"
            if huge:
                fault = f"the number {huge[0][:20].decode()} (byte {huge.start()}) is out of range"
            return f"; {f'line {number}: ' if number else ''}{fault}"
    return ""


def _is_json(content: bytes) -> bool:
    try:
        _ANY.decode(content)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def sample(peek: Peek) -> Any:
    """The beginning of a file as plain Python; None where it is neither JSON nor a table.

    It is an error where it is a table of predictions, by the names of its columns, with a fault.
    """
    if peek.json is not None:
        return peek.json
    cut = len(peek.head) >= HEAD_BYTES - 3 and len(peek.lines) > 1
    lines = [line for line in (peek.lines[:-1] if cut else peek.lines) if line.strip()]
    if peek.shape == "lines":
        try:
            return [msgspec.json.decode(line) for line in lines]
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return None
    if b"\0" in peek.head:
        return None
    try:
        return table_rows(lines)
    except NotUnderstood:
        return None
    except DialgaugeError:
        if any(map(_is_header, lines[:_TITLES])):
            raise
        return None


def named_by_file(written: Any, stem: str) -> Any:
    """The states of one dialogue under its id where that is the name of their file: ``MUL0001.json``."""
    name = stem.rpartition(".")[0] or stem
    if FILE_ID.fullmatch(name) and (turns := _nameless_turns(written)):
        return [{"dialogue_id": name, **turn} for turn in turns]
    states = written if isinstance(written, list) else []
    nameless = all(
        isinstance(state, dict) and not is_record(state) and all(map(names_domain, state)) for state in states
    )
    return {name: written} if any(states) and nameless and FILE_ID.fullmatch(name) else written


def _nameless_turns(written: Any) -> list[dict[Any, Any]]:
    """The records of a dialogue's turns, alone or under a name such as ``turns``, where none has an id."""
    if isinstance(written, dict) and not Columns.of([written]).dialogue:
        lists = [held for key, held in written.items() if plain_name(key) in TURN_LISTS and isinstance(held, list)]
        return _nameless_turns(lists[0]) if len(lists) == 1 else []
    if not isinstance(written, list) or not all(isinstance(item, dict) and is_record(item) for item in written):
        return []
    columns = Columns.of(written)
    return written if columns.has_states and not columns.dialogue else []


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
        rows = [decode(_ANY, line, part, line=number) for number, line in lines]
        return [_with_pairs(line, part, number) for number, line in lines] if drops_keys(content, rows) else rows
    if isinstance(written, dict):
        _refuse_repeated(content, written, part)
    return _with_pairs(content, part) if drops_keys(content, written) else written


def _with_pairs(content: bytes, part: Part, line: int | None = None) -> Any:
    """What JSON holds, with objects as pairs that have a key twice; an error where it is a record that has one."""

    def kept(pairs: list[tuple[str, Any]]) -> Any:
        held = pairs_of_repeated(pairs)
        if not isinstance(held, dict) and is_record(names := dict(pairs)):
            twice = next(name for name in names if [key for key, _ in pairs].count(name) > 1)
            raise DialgaugeError(f"a record has '{twice[:40]}' twice; keep one of them", file=part.name, line=line)
        return held

    return json.loads(content, object_pairs_hook=kept)


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
    begin = list(islice(source, _TITLES))
    skipped = next((n for n, line in enumerate(begin) if line.strip() and not _is_preamble(line, begin[n + 1 :])), 0)
    first, source = "".join(begin[skipped : skipped + 1]), chain(begin[skipped + 1 :], source)
    delimiter = max(_DELIMITERS, key=first.count)
    if delimiter not in first:
        raise NotUnderstood("dialogues, turns and states, in JSON, JSON lines, CSV or TSV")
    rows: list[list[str]] = []
    markdown = first.startswith("|") and delimiter == "|"
    whole = (line.replace(r"\|", _PIPE) if markdown else line for line in chain([first], source))
    reader = csv.reader(whole, delimiter=delimiter)
    try:
        for cells in reader:
            row = _cells_in_bars(cells, len(rows[0]) if rows else 0) if markdown else cells
            if not any(cell.strip() for cell in row) or (markdown and all(map(_RULE.fullmatch, row))):
                continue
            rows.append(row)
            if len(row) > len(rows[0]):
                sign = "tabs" if delimiter == "\t" else repr(delimiter)
                escaped = r", or write \| for it" if markdown else ""
                many = f"it has {len(row)} cells, and the first row {len(rows[0])}"
                raise DialgaugeError(
                    f"{many}; quote texts that contain {sign}{escaped}",
                    line=reader.line_num + skipped,
                )
    except csv.Error as error:
        raise DialgaugeError(f"it is no sound table ({error})", line=reader.line_num + skipped) from error
    header = [cell.strip() for cell in rows[0]] if rows else []
    pair = len(header) == 2 and dialogue_turn(header[0]) is not None
    if not is_record(dict.fromkeys(header)) and (pair or any(turn_number(cell) is not None for cell in header)):
        return list(rows)
    if any("=" in name for name in header):
        raise NotUnderstood("names of the columns: dialogue_id, turn and state")
    if len(rows) > 1 and len({*header}) < len(header):
        rows = _levels_joined(rows)
        header = [cell.strip() for cell in rows[0]]
    refuse_repeated_columns(header)
    return [dict(zip(header, [*row, *[""] * (len(header) - len(row))], strict=True)) for row in rows[1:]]


def _cells_in_bars(cells: list[str], wanted: int) -> list[str]:
    """The cells of a row of Markdown, with bars in quoted ones where there would be too many."""
    row = cells[1:-1]
    if wanted and len(row) > wanted:
        [quoted] = csv.reader(["|".join(row)], delimiter="|", skipinitialspace=True)
        row = quoted if len(quoted) == wanted else row
    return [cell.strip().replace(_PIPE, "|") for cell in row]


def _levels_joined(rows: list[list[str]]) -> list[list[str]]:
    """The rows with one row of names, where pandas wrote two levels of them, hotel above area.

    Names of ids stand in the first row, in the second, or in a third.
    """
    second = [below for top, below in zip(rows[0], rows[1], strict=False) if not top]
    in_second = bool(second) and all(second) and is_record(dict.fromkeys(second))
    in_third = len(rows) > 2 and not all(rows[0]) and not in_second
    ids = rows[2] if in_third else [""] * len(rows[0])
    names: list[str] = []
    for top, below, alone in zip(rows[0], rows[1], ids, strict=False):
        if not in_second and bool(top and below) == bool(alone) and not (top and not below):
            return rows
        names.append(f"{top}-{below}" if top and below else below or alone or top)
    whole = (
        len(names) == len(rows[0]) and is_record(dict.fromkeys(names)) and not any(map(str.isdigit, "".join(rows[1])))
    )
    return [names, *rows[3 if any(ids) else 2 :]] if whole else rows


def _is_preamble(line: str, below: Sequence[str]) -> bool:
    """Is it a line before a table that is no part of it: ``sep=;`` of Excel, a comment, a title above the names?"""
    if _EXCEL.fullmatch(line.strip()) or (line.startswith("#") and not _is_header(line)):
        return True
    cells = [cell for cell in re.split(f"[{_DELIMITERS}]", line) if cell.strip()]
    return len(cells) == 1 and not _is_header(line) and any(map(_is_header, below))


def _is_header(line: str) -> bool:
    """Does a line name the columns of a table?"""
    names = [name.strip('# "\r\n') for name in re.split(f"[{_DELIMITERS}]", line)]
    return len(names) > 1 and is_record(dict.fromkeys(names))


def refuse_repeated_columns(columns: Sequence[str]) -> None:
    """An error where a column is there twice, or was and has been renamed by polars or pandas."""
    seen = set(columns)
    for index, name in enumerate(columns):
        base = _RENAMED.fullmatch(name)
        if name and name in columns[:index]:
            raise DialgaugeError(f"two of its columns are called '{name[:60]}'; rename one")
        if base and base[1] in seen:
            raise DialgaugeError(
                f"its column '{name[:60]}' is a second '{base[1][:60]}' that polars or pandas renamed; keep one of them"
            )
        bare = name.removesuffix("_x")
        if bare != name and f"{bare}_y" in seen and (names_domain(bare) or is_record({bare: ""})):
            raise DialgaugeError(
                f"its columns '{name[:60]}' and '{bare[:60]}_y' are of two tables that pandas merged; keep those of "
                f"predictions, as '{bare[:60]}', or call them 'pred:{bare[:60]}' and the others 'gold:{bare[:60]}'"
            )
