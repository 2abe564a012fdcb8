"""Dialogues in the rows of a table, whatever holds the table: Parquet, a data frame, a Hugging Face dataset.

A row per dialogue has ``id`` (or ``dialogue``, ``dialogue_id``) and either ``record``, the dialogue as native JSON, or
``turns``, a list of turns with the fields of the data model. A row per turn has ``dialogue`` (or ``dialogue_id``,
``id``), ``turn`` and the fields of a turn; the rows of a dialogue stand together. States may be nested
(``{"hotel": {"area": "east"}}``) or flat (``{"hotel-area": "east"}``), as JSON text or as columns of structs. States
without a speaker or a text beside them are predictions, read like other rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, TypeAlias

import msgspec

from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats.notes import Notes
from dialgauge.formats.predictions.common import HOLE, MOST_TURNS
from dialgauge.formats.predictions.states import Misfit, slots_of, state_of
from dialgauge.formats.state_values import present
from dialgauge.text import encodable, some_of

Row: TypeAlias = Mapping[str, Any]
#: Gives the rows of a table, with the columns that are named, as often as it is called.
Rows: TypeAlias = Callable[[Sequence[str]], Iterable[Row]]

_IDS = ("dialogue", "dialogue_id", "dial_id", "id")
_NUMBERS = ("turn", "turn_id", "turn_idx")
#: Other names that tables give to the fields of a turn.
_NAMES = {
    "utterance": "text",
    **dict.fromkeys(("gold", "gold_state"), "state"),
    **dict.fromkeys(("prediction", "pred"), "predicted"),
}
_SPEAKERS = {"usr": "user", "sys": "system", "assistant": "system", "agent": "system"}
_OF_TURN = frozenset(Turn.__struct_fields__)
OF_DIALOGUE = ("domains", "goal", "outcome")
_READING_ERRORS = (msgspec.DecodeError, TypeError, ValueError, RecursionError)

_DECODER = msgspec.json.Decoder(Dialogue)


def read_table(columns: Sequence[str], rows: Rows, file: str, notes: Notes) -> Iterator[Dialogue]:
    """The dialogues of a table: as the data model has them or, without a speaker, predictions under common names."""
    if not {"record", "turns", "speaker"}.isdisjoint(columns):
        return RowsOfDialogues(columns, file, notes).read(rows)
    from dialgauge.formats.common_layouts import read_common

    held = [{name: "" if _absent(value) else pruned(value) for name, value in row.items()} for row in rows(columns)]
    try:
        return read_common(held, file, notes)
    except Misfit as error:
        raise DialgaugeError(str(error), file=file, advice="give format=dialgauge.Mapping(...)") from None


def is_turn_table(columns: Sequence[str]) -> bool:
    """Has it the columns by which rows are put together to dialogues?"""
    return not (set(columns).isdisjoint(_IDS) or set(columns).isdisjoint(_NUMBERS))


class RowsOfDialogues:
    """The rows of one table with these columns; ``place`` is what its errors call it."""

    def __init__(self, columns: Sequence[str], file: str, notes: Notes) -> None:
        self._columns, self._place, self._notes = columns, file, notes
        self._id = next((name for name in _IDS if name in columns), "")
        self._number = next((name for name in _NUMBERS if name in columns), "")
        if not self._id or not (self._number or "record" in columns or "turns" in columns):
            raise self._unfit()

    @property
    def has_turns(self) -> bool:
        """Whether a row is a turn, so that a dialogue takes several rows."""
        return bool(self._number)

    def read(self, rows: Rows) -> Iterator[Dialogue]:
        """The dialogues of the rows."""
        if self.has_turns:
            return self._from_turns(rows)
        if "record" in self._columns:
            return self._from_records(rows(["record"]))
        return self._from_dialogues(rows(self._columns))

    def identifiers(self, rows: Rows) -> Iterator[str]:
        """The id of every row."""
        return map(self._own, rows([self._id]))

    def _unfit(self) -> DialgaugeError:
        return DialgaugeError(
            "the table holds no dialogues: it needs the columns id and record, id and turns, or dialogue and turn; "
            f"it has {some_of(self._columns, 8) or 'none'}",
            file=self._place,
        )

    def _refuse(self, error: Exception, dialogue: str) -> None:
        located = error.at(file=self._place, dialogue=dialogue) if isinstance(error, DialgaugeError) else None
        shape = f"it does not have the expected shape: {error}"
        self._notes.refuse(located or DialgaugeError(shape, file=self._place, dialogue=dialogue))

    def _from_records(self, rows: Iterable[Row]) -> Iterator[Dialogue]:
        for number, row in enumerate(rows):
            try:
                dialogue = _DECODER.decode(str(row["record"]))
            except (*_READING_ERRORS, UnicodeError) as error:
                self._refuse(error, f"row {number}")
            else:
                yield dialogue

    def _from_dialogues(self, rows: Iterable[Row]) -> Iterator[Dialogue]:
        self._note_unknown(set(self._columns) - {self._id, "turns", *OF_DIALOGUE})
        for row in rows:
            identifier = self._own(row)
            try:
                made = [self._turn(raw, identifier, index) for index, raw in enumerate(_listed(row["turns"]))]
                dialogue = self._dialogue(row, identifier, made)
            except (*_READING_ERRORS, DialgaugeError) as error:
                self._refuse(error, identifier)
            else:
                yield dialogue

    def _from_turns(self, rows: Rows) -> Iterator[Dialogue]:
        known = {self._id, self._number, "record", *OF_DIALOGUE}
        self._note_unknown({name for name in self._columns if _NAMES.get(name, name) not in _OF_TURN} - known)
        numbering = self._numbering(rows)
        seen: set[str] = set()
        for identifier, group in groupby(rows(self._columns), key=self._own):
            held = list(group)
            try:
                if identifier in seen:
                    raise DialgaugeError("its rows are not together; sort the table by dialogue and turn")
                seen.add(identifier)
                dialogue = self._numbered(identifier, held, numbering)
            except (*_READING_ERRORS, DialgaugeError) as error:
                self._refuse(error, identifier)
            else:
                yield dialogue

    def _numbered(self, identifier: str, rows: list[Row], numbering: _Numbering) -> Dialogue:
        """The dialogue of its rows, with a hole for every user turn that has none."""
        numbers = [_whole(row[self._number]) for row in rows]
        turns = [self._turn(row, identifier, number) for row, number in zip(rows, numbers, strict=True)]
        speakers = [turn["speaker"] for turn in turns]
        missing = numbering.missing(list(zip(numbers, speakers, strict=True)))
        self._notes.add("missing turns, left as holes", sum(missing))
        hole = msgspec.to_builtins(HOLE)
        filled = [each for gap, turn in zip(missing, turns, strict=True) for each in (*[hole] * gap, turn)]
        return self._dialogue(rows[0], identifier, filled)

    def _numbering(self, rows: Rows) -> _Numbering:
        """How the turns are numbered; a record knows who speaks, and such tables have the turns of both."""
        numbers: set[int] = set()
        whole = "record" in self._columns
        spoken = "speaker" in self._columns
        for row in rows([self._id, self._number, *(["speaker"] if spoken else [])]):
            whole = whole or (spoken and _speaker(row["speaker"]) == "system")
            try:
                numbers.add(_whole(row[self._number]))
            except (TypeError, ValueError):
                raise DialgaugeError(
                    f"the {self._number} {row[self._number]!r} is no whole number; number the turns 0, 1, 2, ...",
                    file=self._place,
                    dialogue=self._own(row),
                ) from None
        if min(numbers, default=0) not in (0, 1):
            raise DialgaugeError(
                f"turns are numbered from 0 or from 1, and here the lowest is {min(numbers)}; add the turns before it",
                file=self._place,
            )
        return _Numbering(numbers, whole=whole)

    def _own(self, row: Row) -> str:
        try:
            return _identifier(row[self._id])
        except ValueError as error:
            raise DialgaugeError(str(error), file=self._place) from None

    def _note_unknown(self, columns: set[str]) -> None:
        for name in sorted(columns):
            self._notes.add(f"column {name} dropped")

    def _dialogue(self, row: Row, identifier: str, turns: list[dict[str, Any]]) -> Dialogue:
        known = {name: _parsed(row[name]) for name in OF_DIALOGUE if not _absent(row.get(name))}
        if isinstance(known.get("outcome"), dict):
            known["outcome"].setdefault("success", None)
        return msgspec.convert({**known, "id": identifier, "turns": turns}, Dialogue)

    def _turn(self, row: Any, dialogue: str, number: int) -> dict[str, Any]:
        """The fields of a turn as the data model has them."""
        if not isinstance(row, Mapping):
            raise TypeError(f"turn {number} must be an object with the fields of a turn")
        if isinstance(row.get("record"), str):
            record: dict[str, Any] = msgspec.to_builtins(msgspec.json.decode(row["record"], type=Turn))
            return record
        named = {_NAMES.get(name, name): value for name, value in row.items() if not _absent(value)}
        turn = {name: value if name == "text" else _parsed(value) for name, value in named.items() if name in _OF_TURN}
        turn["speaker"] = _speaker(turn.get("speaker", "user"))
        if "source" in turn:
            turn["source"] = _whole(turn["source"])
        for side in ("state", "predicted"):
            if side in turn:
                turn[side] = _state(turn[side])
        return turn


class _Numbering:
    """How a table numbers its turns, told from all of them: so a turn without a row is found out.

    With the turns of both speakers (``whole``) numbers have no gaps. Without those of the system they count the user's
    turns, or all turns of which every other one is the user's.
    """

    def __init__(self, numbers: set[int], *, whole: bool) -> None:
        self._whole = whole
        self._first = min(numbers, default=0)
        even = all((number - self._first) % 2 == 0 for number in numbers)
        self._step = 2 if even and not whole and max(numbers, default=0) > self._first else 1

    def missing(self, turns: list[tuple[int, str]]) -> list[int]:
        """How many user turns without a row come before each of these turns of a dialogue: number and speaker."""
        for (number, speaker), (later, other) in pairwise(turns):
            if later < number or (later == number and (speaker == other or not self._whole)):
                raise DialgaugeError("its turns are not in order; sort the table by dialogue and turn", turn=later)
        expected, gaps = self._first, []
        for number, _ in turns:
            gap = max(0, number - expected) // self._step
            if gap and self._whole:
                raise DialgaugeError(f"the table has no row for turn {expected}; add it", turn=number)
            if gap > MOST_TURNS:
                raise DialgaugeError(f"turn {number} is beyond the {MOST_TURNS:,} turns a dialogue may have")
            gaps.append(gap)
            expected = number + self._step
        return gaps


def _whole(value: Any) -> int:
    """A whole number; a frame of pandas has it as 3.0 where a column has gaps."""
    if isinstance(value, float) and not value.is_integer():
        raise ValueError(f"{value} is no whole number")
    return int(value)


def _identifier(value: Any) -> str:
    """The id of a dialogue as text; a number of pandas may have become 3.0."""
    if _absent(value) or value == "":
        raise ValueError("a row has no id; every row needs that of its dialogue")
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    return encodable(str(whole))


def _speaker(value: Any) -> str:
    lower = str(value).lower()
    return _SPEAKERS.get(lower, lower)


def _listed(turns: Any) -> list[Any]:
    """The turns of a dialogue; a dataset may hold them as lists of their fields."""
    turns = _parsed(turns)
    if isinstance(turns, dict) and all(isinstance(turn, list) for turn in turns.values()):
        return [dict(zip(turns, values, strict=True)) for values in zip(*turns.values(), strict=True)]
    if not isinstance(turns, list):
        raise TypeError("turns must be a list")
    return turns


def _absent(value: Any) -> bool:
    """Is there nothing? Frames of pandas say so with values that do not equal themselves."""
    return value is None or (isinstance(value, float) and value != value)


def _parsed(value: Any) -> Any:
    """What a JSON text says, or the value as plain Python without the nulls that structs have for absent fields."""
    if isinstance(value, str):
        return msgspec.json.decode(value) if value[:1] in ("{", "[") else value
    return pruned(value)


def pruned(value: Any) -> Any:
    """The value without what is absent in it."""
    if isinstance(value, Mapping):
        return {str(key): pruned(inner) for key, inner in value.items() if not _absent(inner)}
    return [pruned(inner) for inner in value] if isinstance(value, list | tuple) else value


def _native_state(value: Any) -> State | None:
    """A state in the shape of the data model, without values that mean absent; None where it has another shape."""
    try:
        state = msgspec.convert(value, State)
    except msgspec.ValidationError:
        return None
    cleaned = {
        domain: {slot: values for slot, given in slots.items() if (values := present(given))}
        for domain, slots in state.items()
    }
    return {domain: slots for domain, slots in cleaned.items() if slots or not state[domain]}


def _state(value: Any) -> State:
    """A state in the shape of the data model, as domains with slots, or as domain-slot with values."""
    native = _native_state(value)
    if native is not None:
        return native
    held = _of_map(value)
    nested = isinstance(held, dict) and any(isinstance(inner, dict) for inner in held.values())
    try:
        return state_of(slots_of(held, ("nested" if nested else "flat",)))[0]
    except Misfit as error:
        raise ValueError(str(error)) from None


def _of_map(value: Any) -> Any:
    """A map of Arrow, which is a list of pairs, as an object."""
    if not isinstance(value, list):
        return value
    pairs = [tuple(pair.values()) if isinstance(pair, dict) else pair for pair in value]
    if all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
        return {str(key): inner for key, inner in pairs}
    return value
