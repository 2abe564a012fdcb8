"""Dialogues in tables: Parquet, frames of polars and pandas, Hugging Face datasets, tables of Arrow.

A row per dialogue has ``record``, the dialogue as native JSON. A row per turn has an id, ``turn``, ``speaker`` and
other fields of a turn; the rows of a dialogue stand together, in order and without gaps. Nested fields may be JSON
texts, and a state domains with slots or ``domain-slot`` with values. Rows without a speaker are predictions under
common names, or what a mapping says.

A dataset is cut into files by rows, so that a dialogue may begin in one file and end in the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.errors import DialgaugeError, missing_extra
from dialgauge.files import parquet_bytes
from dialgauge.formats.base import ALL_FIELDS, DialogueFormat, Peek
from dialgauge.formats.documented import GOLD, IDS, PREDICTED, TURNS
from dialgauge.formats.notes import Notes
from dialgauge.formats.packed import reading_errors
from dialgauge.formats.predictions.states import Misfit, slots_of, state_of, values_of
from dialgauge.formats.source import Part
from dialgauge.text import encodable, some_of

if TYPE_CHECKING:
    import polars

Row: TypeAlias = Mapping[str, Any]

#: Other names that tables give to the fields of a turn.
_NAMES = {"utterance": "text", **dict.fromkeys(GOLD, "state"), **dict.fromkeys(PREDICTED, "predicted")}
_SPEAKERS = {"usr": "user", "sys": "system", "assistant": "system", "agent": "system"}
_OF_TURN = Turn.__struct_fields__
#: Columns that are no texts.
_NUMBERS = ("turn", "source")
_OF_DIALOGUE = ("domains", "goal", "outcome")
_READING_ERRORS = (msgspec.DecodeError, UnicodeError, TypeError, ValueError, RecursionError)
#: Rows that are taken apart at a time.
_ROWS = 4096
MAGIC = b"PAR1"
_DECODER = msgspec.json.Decoder(Dialogue)
_ENCODER = msgspec.json.Encoder()


class Table(Struct):
    """Rows with what they are called in errors."""

    name: str
    columns: Sequence[str]
    rows: Iterable[Row]

    @property
    def has_dialogues(self) -> bool:
        """Whether it has what turns say, and not only states."""
        return not {"record", "speaker"}.isdisjoint(self.columns)


# -- reading ---------------------------------------------------------------------------------------------------------


def read_tables(tables: Iterable[Table], notes: Notes) -> Iterator[tuple[str, Dialogue]]:
    """The dialogues of tables that follow each other, each with the name of the table where it begins."""
    several = iter(tables)
    first = next(several)
    made = _of_records if "record" in first.columns else _Turns(first, notes).read
    for file, identifier, dialogue in made(chain([first], several)):
        try:
            yield file, dialogue()
        except DialgaugeError as error:
            notes.refuse(error.at(file=file, dialogue=identifier))
        except _READING_ERRORS as error:
            shape = f"it does not have the expected shape: {error}"
            notes.refuse(DialgaugeError(shape, file=file, dialogue=identifier))


def with_empty_cells(row: Row) -> dict[str, Any]:
    """A row whose absent cells are empty texts, as in a CSV file."""
    return {name: "" if is_absent(value) else pruned(value) for name, value in row.items()}


#: The name of a table, the id of a dialogue that begins there, and what makes it.
_Made: TypeAlias = Iterator[tuple[str, str, Callable[[], Dialogue]]]


def _of_records(tables: Iterable[Table]) -> _Made:
    for table in tables:
        for number, row in enumerate(table.rows):
            yield table.name, str(row.get("id", f"row {number + 1}")), partial(_DECODER.decode, str(row["record"]))


class _Turns:
    """Dialogues of rows that are turns, with the columns that the first table has."""

    def __init__(self, table: Table, notes: Notes) -> None:
        self._id, self._number = (next((name for name in known if name in table.columns), "") for known in (IDS, TURNS))
        read = {self._id, self._number, *_OF_DIALOGUE, *_OF_TURN}
        for name in sorted(table.columns):
            notes.add(f"column {name} dropped", _NAMES.get(name, name) not in read)
        #: The number of the first turn of every dialogue.
        self._first: int | None = None

    def read(self, tables: Iterable[Table]) -> _Made:
        """The dialogues of the rows."""
        seen: set[str] = set()
        for identifier, group in groupby(self._rows(tables), key=lambda each: each[1]):
            rows = list(group)
            yield rows[0][0], identifier, partial(self._dialogue, identifier, [row for *_, row in rows], seen)

    def _rows(self, tables: Iterable[Table]) -> Iterator[tuple[str, str, Row]]:
        """Each row with the name of its table and the id of its dialogue."""
        for table in tables:
            if not self._id or {self._id, self._number or "turn"} - set(table.columns):
                raise DialgaugeError(
                    "the table holds no dialogues: it needs the column record, or dialogue and turn; it has "
                    f"{some_of(table.columns, 8) or 'none'}",
                    file=table.name,
                )
            for row in table.rows:
                identifier = plain_number(row[self._id])
                if is_absent(identifier) or identifier == "":
                    raise DialgaugeError("a row has no id; every row needs that of its dialogue", file=table.name)
                yield table.name, encodable(str(identifier)), row

    def _dialogue(self, identifier: str, rows: Sequence[Row], seen: set[str]) -> Dialogue:
        if identifier in seen:
            raise DialgaugeError("its rows are not together; sort the table by dialogue and turn")
        seen.add(identifier)
        self._check_numbers(rows)
        known = {name: _parsed(rows[0][name]) for name in _OF_DIALOGUE if not is_absent(rows[0].get(name))}
        if isinstance(known.get("outcome"), dict):
            known["outcome"].setdefault("success", None)
        return msgspec.convert({**known, "id": identifier, "turns": list(map(_turn, rows))}, Dialogue)

    def _check_numbers(self, rows: Sequence[Row]) -> None:
        """Refuse turns out of order and turns without a row; both speakers may share a number."""
        before, speaker = -1, ""
        for row in rows:
            number = plain_number(row[self._number])
            if isinstance(number, str) and number.isdigit():
                number = int(number)
            if isinstance(number, bool) or not isinstance(number, int):
                raise DialgaugeError(f"the {self._number} {number!r} is no whole number; number the turns 0, 1, 2, ...")
            if self._first is None:
                if number not in (0, 1):
                    raise DialgaugeError(f"turns are numbered from 0 or from 1, and here the first is {number}")
                self._first = number
            who = _speaker(row)
            if number < before or (number == before and who == speaker):
                raise DialgaugeError("its turns are not in order; sort the table by dialogue and turn", turn=number)
            expected = self._first if before < 0 else before + 1
            if number > expected:
                advice = "add it, or leave out the column speaker where all rows are the user's"
                raise DialgaugeError(f"the table has no row for turn {expected}; {advice}", turn=number)
            before, speaker = number, who


def _turn(row: Row) -> dict[str, Any]:
    """The fields of a turn as the data model has them."""
    named = {_NAMES.get(name, name): value for name, value in row.items() if not is_absent(value)}
    turn = {name: value if name == "text" else _parsed(value) for name, value in named.items() if name in _OF_TURN}
    turn["speaker"] = _speaker(turn)
    if "source" in turn:
        turn["source"] = plain_number(turn["source"])
    for side in ("state", "predicted"):
        if side in turn:
            turn[side] = _state(turn[side])
    return turn


def _speaker(row: Row) -> str:
    lower = str(row.get("speaker", "user")).lower()
    return _SPEAKERS.get(lower, lower)


def is_absent(value: Any) -> bool:
    """Whether there is nothing: null, or what does not equal itself."""
    return value is None or (isinstance(value, float) and value != value)


def pruned(value: Any) -> Any:
    """The value without what is absent in it."""
    if isinstance(value, Mapping):
        return {str(key): pruned(inner) for key, inner in value.items() if not is_absent(inner)}
    return [pruned(inner) for inner in value] if isinstance(value, list | tuple) else value


def plain_number(value: Any) -> Any:
    """A whole number that a frame made a float because its column has gaps, whole again; anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _parsed(value: Any) -> Any:
    """What a JSON text says, or the value as plain Python without the nulls that structs have for absent fields."""
    if isinstance(value, str):
        return msgspec.json.decode(value) if value[:1] in ("{", "[") else value
    return pruned(value)


def _state(value: Any) -> State:
    """A state as the data model has it, as domains with slots, or as ``domain-slot`` with values."""
    try:
        state = msgspec.convert(value, State)
    except msgspec.ValidationError:
        nested = isinstance(value, dict) and any(isinstance(inner, dict) for inner in value.values())
        try:
            return state_of(slots_of(value, ("nested" if nested else "flat",)))[0]
        except Misfit as error:
            raise ValueError(str(error)) from None
    filled = {
        domain: {slot: values for slot, given in slots.items() if (values := values_of(given))}
        for domain, slots in state.items()
    }
    return {domain: slots for domain, slots in filled.items() if slots or not state[domain]}


# -- Parquet ---------------------------------------------------------------------------------------------------------


class ParquetDialogues(DialogueFormat):
    """Parquet with a row per dialogue or per turn; ``write`` writes ``id`` and ``record``."""

    name = "parquet"
    summary = "Parquet: a row per dialogue or per turn"
    fields = ALL_FIELDS
    writes = True
    spans_files = True

    def recognise(self, peek: Peek) -> bool:
        return bool(peek.table) and not {"record", "speaker"}.isdisjoint(peek.table[0])

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        return (dialogue for _, dialogue in self.read_parts([part], notes))

    def read_parts(self, parts: Sequence[Part], notes: Notes) -> Iterator[tuple[Part, Dialogue]]:
        named = {part.name: part for part in parts}
        tables = (frame_table(_frame(part), part.name) for part in parts)
        yield from ((named[name], dialogue) for name, dialogue in read_tables(tables, notes))

    def write(self, dialogues: Iterable[Dialogue], out: IO[bytes], notes: Notes) -> None:
        import polars

        records = [(dialogue.id, _ENCODER.encode(dialogue).decode()) for dialogue in dialogues]
        frame = polars.DataFrame(records, {"id": polars.String, "record": polars.String}, orient="row")
        out.write(parquet_bytes(frame))


def parquet_rows(part: Part, most: int | None = None) -> list[dict[str, Any]]:
    """The first rows of a Parquet file, or all of them."""
    return list(map(with_empty_cells, frame_table(_frame(part, most), part.name).rows))


def _frame(part: Part, most: int | None = None) -> polars.DataFrame:
    import polars

    with part.open() as stream, reading_errors(part.name):
        try:
            return polars.read_parquet(stream, n_rows=most, use_pyarrow=False)
        except (polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
            reason = str(error).splitlines()[0] if str(error) else "damaged"
            raise DialgaugeError(f"it cannot be read as Parquet ({reason})", file=part.name) from error


# -- tables in memory ------------------------------------------------------------------------------------------------


class FrameLike(Protocol):
    """A data frame, of polars or pandas."""

    @property
    def columns(self) -> object:
        """The columns, or their names."""


class DatasetLike(Protocol):
    """A Hugging Face dataset, or a table of Arrow."""

    @property
    def column_names(self) -> object:
        """The names of the columns, for several splits by split."""


AnyFrame: TypeAlias = FrameLike | DatasetLike


def is_frame(source: object) -> TypeGuard[AnyFrame]:
    """Does it hold rows and columns? No package is imported to tell."""
    return hasattr(type(source), "column_names") or hasattr(type(source), "columns")


def frame_table(source: Any, name: str = "") -> Table:
    """The table of a frame, a dataset or a table of Arrow; ``name`` is what errors call it."""
    held = _one_split(source)
    package = type(held).__module__.partition(".")[0]
    name = name or f"the {package} {type(held).__name__}"
    if package == "datasets":
        plain = held.with_format(None)  # rows as plain Python, whatever a training loop asked for
        return Table(name, plain.column_names or list(next(iter(plain), {})), plain)
    import polars

    if package == "pandas":
        held = _of_pandas(held, name)
    if isinstance(held, polars.LazyFrame):
        held = held.collect()
    try:
        frame = held if isinstance(held, polars.DataFrame) else polars.DataFrame(held)
    except (polars.exceptions.PolarsError, TypeError, ValueError) as error:
        raise DialgaugeError(
            f"it cannot be read as a table ({str(error).splitlines()[0]}); give a frame of polars or pandas, a Hugging "
            "Face dataset or a file",
            file=name,
        ) from error
    return Table(name, frame.columns, frame.iter_rows(named=True, buffer_size=_ROWS))


def _one_split(source: Any) -> Any:
    """The dataset, of several splits the only one."""
    names = getattr(source, "column_names", None)
    if not isinstance(source, Mapping) or not isinstance(names, Mapping):
        return source
    if len(source) == 1:
        return next(iter(source.values()))
    splits = ", ".join(map(str, source))
    first = next(iter(source), "test")
    raise DialgaugeError(f"it has the splits {splits or '(none)'}; choose one, such as dataset[{str(first)!r}]")


def _of_pandas(frame: Any, name: str) -> Any:
    """A frame of polars; ids or turn numbers may have become the index of the other."""
    import polars

    columns = set(map(str, frame.columns))
    indexed = any(level is not None for level in frame.index.names)
    try:
        frame = frame.reset_index() if indexed and (columns.isdisjoint(IDS) or columns.isdisjoint(TURNS)) else frame
        return polars.from_pandas(frame, nan_to_null=True)
    except ModuleNotFoundError as error:
        raise missing_extra("pandas", "pandas", "a pandas frame") from error
    except Exception as error:  # Arrow's errors are no class of their own
        message = (
            f"it cannot be read as a table ({str(error).splitlines()[0]}); write the column as texts, or rename it"
        )
        raise DialgaugeError(message, file=name) from error


def frame_of(dialogues: Iterable[Dialogue]) -> polars.DataFrame:
    """The dialogues as a frame with a row per turn, which can be read back; what nobody recorded has no column.

    Nested fields are JSON texts, as a column of structs would give every state the slots of all others. What is said of
    the whole dialogue stands in its first row.
    """
    import polars

    held = list(dialogues)
    silent = next((dialogue.id for dialogue in held if not dialogue.turns), None)
    if silent is not None:
        raise DialgaugeError("it has no turns, and so no rows", dialogue=silent)
    turns = [(dialogue, index, turn) for dialogue in held for index, turn in enumerate(dialogue.turns)]
    columns: dict[str, list[Any]] = {
        "dialogue": [dialogue.id for dialogue, _, _ in turns],
        "turn": [index for _, index, _ in turns],
    }
    for name in _OF_TURN:
        values = [getattr(turn, name) for _, _, turn in turns]
        if name in ("speaker", "text") or any(value is not None for value in values):
            columns[name] = list(map(_cell, values))
    for name in _OF_DIALOGUE:
        if any(getattr(dialogue, name) for dialogue in held):
            columns[name] = [_cell((not index and getattr(dialogue, name)) or None) for dialogue, index, _ in turns]
    schema = {name: polars.Int64 if name in _NUMBERS else polars.String for name in columns}
    return polars.DataFrame(columns, schema)


def _cell(value: Any) -> str | int | None:
    return value if value is None or isinstance(value, str | int) else _ENCODER.encode(value).decode()
