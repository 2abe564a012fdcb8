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

from dialgauge.dialogue import Dialogue, State
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Notes, Peek, decode
from dialgauge.formats.located import members_of
from dialgauge.formats.predictions.columns import Columns, is_record
from dialgauge.formats.predictions.dialogue_turns import NotUnderstood, turn_number
from dialgauge.formats.predictions.tolerant import read_predictions
from dialgauge.formats.predictions.written_states import StateReader
from dialgauge.formats.source import HEAD_BYTES, Part, decode_utf8
from dialgauge.text import plain

_ANY = msgspec.json.Decoder()
_DELIMITERS = "\t,;|"
#: A number that may be too large for JSON parsers.
_HUGE = re.compile(rb"\b[0-9][0-9.]{0,400}[eE][+]?[0-9]{3,20}|[0-9]{300}")
_EXCEL = re.compile(r'"?sep=.?"?', re.IGNORECASE)
_RULE = re.compile(r":?-{2,}:?")
#: What a file that is no table looks like, and what to do about it.
_LOOKS = (
    (re.compile(r'\s{0,9}"[{\[]'), "each line is a text that holds JSON: write the object without quotes around it"),
    (re.compile(r"[\w.'\"-]{1,80}:\s{0,9}\n[ -]|- \w{1,80}: "), "it looks like YAML: save it as JSON"),
    (re.compile(r"[\[({\s]{1,9}'"), "it looks like Python: write it with json.dump"),
    (re.compile(r"\[Content_Types\]"), "it is an Excel workbook: save the sheet as CSV"),
    (re.compile(r"[A-Za-z]\w{0,40}[-.][\w ]{1,40}[=:]"), "a state alone does not say whose it is: write rows with "
     "dialogue_id, turn and state"),
)  # fmt: skip
_SHOWN = 12
#: The share of names that two formats have in common which makes one near the other.
_LIKE = 0.2
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


def fault_in(peek: Peek, part: Part) -> str:
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
    skipped, first = next(
        ((n, line) for n, line in enumerate(source) if line.strip() and not _is_preamble(line)), (0, "")
    )
    delimiter = max(_DELIMITERS, key=first.count)
    if delimiter not in first:
        raise NotUnderstood("dialogues, turns and states, in JSON, JSON lines, CSV or TSV")
    rows: list[list[str]] = []
    reader = csv.reader(_after(first, source), delimiter=delimiter)
    try:
        markdown = first.startswith("|") and delimiter == "|"
        for cells in reader:
            row = [cell.strip() for cell in cells[1:-1]] if markdown else cells
            if not any(cell.strip() for cell in row) or (markdown and all(map(_RULE.fullmatch, row))):
                continue
            rows.append(row)
            if len(row) > len(rows[0]):
                raise DialgaugeError(
                    f"it has {len(row)} cells, and the first row {len(rows[0])}; quote texts that contain "
                    f"{'tabs' if delimiter == chr(9) else repr(delimiter)}",
                    line=reader.line_num + skipped,
                )
    except csv.Error as error:
        raise DialgaugeError(f"it is no sound table ({error})", line=reader.line_num + skipped) from error
    header = [cell.strip() for cell in rows[0]] if rows else []
    if not is_record(dict.fromkeys(header)) and any(turn_number(cell) is not None for cell in header):
        return list(rows)
    if any("=" in name for name in header):
        raise NotUnderstood("names of the columns: dialogue_id, turn and state")
    refuse_repeated_columns(header)
    return [dict(zip(header, [*row, *[""] * (len(header) - len(row))], strict=True)) for row in rows[1:]]


def _is_preamble(line: str) -> bool:
    """Is it a line before a table that is no part of it: ``sep=;`` of Excel, a comment?"""
    names = {name.strip("# "): "" for name in re.split(f"[{_DELIMITERS}]", line)}
    return bool(_EXCEL.fullmatch(line.strip())) or (line.startswith("#") and not is_record(names))


def _after(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


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


def advice(peek: Peek, error: NotUnderstood) -> tuple[str, str]:
    """For a file that no format fits: what was seen, what is missing and what is like it; and a file that would do."""
    written = sample(peek)
    if not written:
        printable = all(map(str.isprintable, peek.lines[:5]))
        seen_as = ("\n".join(peek.lines), peek.stem) if printable else (peek.stem,)
        look = next((sentence for pattern, sentence in _LOOKS if any(map(pattern.match, seen_as))), "")
        if not look and not (printable and peek.shape == "text"):
            return "", ""
        example = "" if "JSON" in look or "json" in look else "\n".join(_example(*_own_words(peek.lines)))
        return f"; {look or f'missing: {error.missing}'}", example
    keys = _keys_in(written)
    names = [plain(name)[:40] for name in error.names or keys][:_SHOWN]
    seen = f"; keys seen: {', '.join(names)}" if names else ""
    near = _nearest_format(set(keys))
    sentence = (
        f"{seen}; missing: {error.missing[:200]}; nearest format: {near} ('dialgauge data formats {near}' shows it)"
    )
    return sentence, "\n".join(_example(*_own_words(written)))


def names_in(peek: Peek) -> list[str]:
    """The names in the beginning of a file, outer ones first."""
    return [plain(name)[:40] for name in _keys_in(sample(peek))][:_SHOWN]


def _keys_in(written: Any, depth: int = 4) -> list[str]:
    """The names in the first records, outer ones first, without ids and turn numbers."""
    if depth == 0 or not isinstance(written, dict | list):
        return []
    items = written if isinstance(written, list) else list(written.values())
    inner = [name for item in items[:3] for name in _keys_in(item, depth - 1)]
    own = [key for key in written if not any(map(str.isdigit, key))][:_SHOWN] if isinstance(written, dict) else []
    return list(dict.fromkeys([*own, *inner]))


def _nearest_format(keys: set[str]) -> str:
    """The format of predictions whose example shares most names with the file."""
    from dialgauge.formats.registry import BUILT_IN, format_example

    ours = {
        name: set(re.findall(r'"(\w+)":', (format_example(name) or b"").decode()))
        for name in BUILT_IN
        if _predicts(name)
    }
    likeness = {name: len(keys & known) / (len(keys | known) or 1) for name, known in ours.items()}
    best = max(likeness, key=lambda name: (likeness[name], name == FreeForm.name))
    return best if likeness[best] >= _LIKE else FreeForm.name


def _predicts(name: str) -> bool:
    from dialgauge.formats.registry import BUILT_IN

    return ".predictions." in BUILT_IN[name].target or name.endswith("-predictions")


def _own_words(written: Any) -> tuple[str, State]:
    """The first id and the first state in what somebody wrote; empty where there is none."""
    dialogue, state = "", State()
    for depth in range(5):
        if isinstance(written, list) and written:
            written = written[0]
            continue
        if not isinstance(written, dict) or not written:
            break
        columns = Columns.of([written])
        key, inner = next(iter(written.items()))
        if columns.dialogue and isinstance(written[columns.dialogue], str | int):
            dialogue = dialogue or str(written[columns.dialogue])
        elif depth == 0 and isinstance(inner, dict | list):
            dialogue = key
        inside = [held for held in written.values() if isinstance(held, dict)]
        held = (
            [written[columns.state]] if columns.state else inside if columns.dialogue else [written, *written.values()]
        )
        state = next(filter(None, map(_state_in, held)), state)
        if state:
            break
        written = inner
    return dialogue[:40], state


def _state_in(written: Any) -> State:
    if isinstance(written, str) and not re.match(r"\s*[{[]|\w+[-.]\w", written):
        return {}
    notes = Notes()
    reader = StateReader(notes)
    try:
        reader.learn(written)
        state = reader.read(written, "", 0) if isinstance(written, dict | list | str) else {}
    except (DialgaugeError, RecursionError):
        return {}
    return {} if notes.counts else state


def states_example(dialogue: Dialogue) -> str:
    """A file of three lines for a dialogue without states, with the first that a reply holds."""
    states = (_state_in(turn.text) for turn in dialogue.turns if turn.speaker == "system")
    return "\n".join(_example(dialogue.id[:40], next(filter(None, states), {})))


def _example(dialogue: str, state: State) -> list[str]:
    """A file of three lines, with the user's own id and slots where there are any."""
    flat = {
        f"{domain}-{slot}"[:60]: values[0][:60] for domain, slots in state.items() for slot, values in slots.items()
    }
    slots = dict(list(flat.items())[:2]) or {"hotel-area": "north", "hotel-stars": "4"}
    first = dict(list(slots.items())[:1])
    rows = [(0, {}), (1, first), (2, slots)]
    name = dialogue or "dialogue-1"
    return [msgspec.json.encode({"dialogue_id": name, "turn": turn, "state": row}).decode() for turn, row in rows]
