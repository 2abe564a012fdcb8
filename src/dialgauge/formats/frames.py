"""Dialogues in memory as others hold them: frames of polars and pandas, Hugging Face datasets, tables of Arrow.

None of their packages is imported to recognise one: an object tells by its own methods what it is. The columns are
those of ``rows.py``. What is written keeps everything and can be read back; states and other nested fields are JSON
texts, as a column of structs would give every state the slots of all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeGuard

import msgspec

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError, missing_extra
from dialgauge.formats.notes import Notes
from dialgauge.formats.parquet import polars_table
from dialgauge.formats.rows import OF_DIALOGUE, Row, Rows, is_turn_table, pruned, read_table

if TYPE_CHECKING:
    import datasets
    import pandas
    import polars

#: What a row of a written table is.
RowKind: TypeAlias = Literal["turns", "dialogues"]
ROW_KINDS: tuple[RowKind, ...] = ("turns", "dialogues")

_OF_TURN = Turn.__struct_fields__
#: Columns that are no texts.
_WHOLE_NUMBERS = ("turn", "source")
_ENCODER = msgspec.json.Encoder()


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
    """Does it hold rows and columns?"""
    return hasattr(type(source), "column_names") or hasattr(type(source), "columns")


def rows_of(source: Any) -> list[Any]:
    """The rows of a frame or dataset as plain objects, without empty cells."""
    return list(map(pruned, frame_rows(source)))


def name_of_frame(source: object) -> str:
    """What errors call it: ``the pandas DataFrame``."""
    kind = type(source)
    return f"the {kind.__module__.partition('.')[0]} {kind.__name__}"


def dialogues_in(source: AnyFrame, notes: Notes) -> Iterator[Dialogue]:
    """The dialogues of a frame or dataset."""
    columns, rows = _table(source)
    return read_table(columns, rows, name_of_frame(source), notes)


def frame_rows(source: AnyFrame) -> list[Row]:
    """All rows of a frame or dataset."""
    columns, rows = _table(source)
    return list(rows(columns))


def _table(source: AnyFrame) -> tuple[Sequence[str], Rows]:
    """The columns and their rows."""
    held, name = _one_split(source), name_of_frame(source)
    package = type(held).__module__.partition(".")[0]
    if package == "datasets":
        return _of_dataset(held)
    if package == "pandas":
        return _pandas_table(held, name)
    import polars

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
    return polars_table(frame)


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


def _of_dataset(source: Any) -> tuple[Sequence[str], Rows]:
    plain = source.with_format(None)  # rows as plain Python, whatever a training loop asked for
    columns = plain.column_names
    if columns is None:  # a stream that does not know them yet
        columns = list(next(iter(plain), {}))

    def rows(chosen: Sequence[str]) -> Iterator[Row]:
        return iter(plain.select_columns(list(chosen)))

    return columns, rows


def _pandas_table(frame: Any, name: str) -> tuple[list[str], Rows]:
    """The columns of a frame, and what gives its rows."""
    if any(name is not None for name in frame.index.names) and not is_turn_table(list(map(str, frame.columns))):
        try:
            frame = frame.reset_index()  # ids or turn numbers may have become the index
        except ValueError as error:
            raise DialgaugeError(
                f"a column and the index have the same name ({error}); rename one", file=name
            ) from error
    columns = [str(name) for name in frame.columns]
    if len(set(columns)) < len(columns):
        raise DialgaugeError("two of its columns have the same name; rename one", file=name)

    def rows(chosen: Sequence[str]) -> Iterator[Row]:
        kept = [frame.iloc[:, columns.index(name)] for name in chosen]
        cells = zip(*kept, strict=True) if kept else ((),) * len(frame)
        return (dict(zip(chosen, map(_plain, values), strict=True)) for values in cells)

    return columns, rows


def _plain(value: Any) -> Any:
    """A cell of pandas without its own kinds of numbers, lists and nothing."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if hasattr(value, "tolist"):  # an array or a number of numpy
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if type(value).__name__ in ("NAType", "NaTType") else value


class WrittenTable(msgspec.Struct, frozen=True):
    """Dialogues as rows: the columns with all their values."""

    columns: dict[str, list[Any]]
    #: With a row per dialogue, the fields of its turns.
    of_turns: tuple[str, ...] = ()

    def polars(self) -> polars.DataFrame:
        """The rows as a frame of polars."""
        import polars

        def kind(name: str) -> Any:
            return polars.Int64 if name in _WHOLE_NUMBERS else polars.String

        turns = polars.List(polars.Struct({name: kind(name) for name in self.of_turns}))
        schema = {name: turns if name == "turns" else kind(name) for name in self.columns}
        return polars.DataFrame(self.columns, schema)

    def pandas(self) -> pandas.DataFrame:
        """The rows as a frame of pandas."""
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise missing_extra("pandas", "pandas", "a pandas frame") from error

        series = {
            name: pandas.Series(values, dtype="Int64" if name == "source" else None if name == "turn" else object)
            for name, values in self.columns.items()
        }
        return pandas.DataFrame(series)

    def dataset(self) -> datasets.Dataset:
        """The rows as a Hugging Face dataset."""
        try:
            import datasets
        except ModuleNotFoundError as error:
            raise DialgaugeError(
                "a Hugging Face dataset needs the package datasets: run  pip install datasets"
            ) from error

        def kind(name: str) -> Any:
            return datasets.Value("int64" if name in _WHOLE_NUMBERS else "string")

        turns = [{name: kind(name) for name in self.of_turns}]
        features = datasets.Features({name: turns if name == "turns" else kind(name) for name in self.columns})
        return datasets.Dataset.from_dict(self.columns, features=features)


def table_of(dialogues: Iterable[Dialogue], rows: str = "turns") -> WrittenTable:
    """The dialogues as a table with a row per turn or per dialogue; fields that nobody recorded have no column."""
    held = list(dialogues)
    if rows not in ROW_KINDS:
        raise DialgaugeError(f"a row is one of {' or '.join(ROW_KINDS)}, not '{rows}'")
    recorded = {
        name for dialogue in held for turn in dialogue.turns for name in _OF_TURN if getattr(turn, name) is not None
    }
    fields = tuple(name for name in _OF_TURN if name in recorded or name in ("speaker", "text"))
    own = [name for name in OF_DIALOGUE if any(getattr(dialogue, name) for dialogue in held)]
    if rows == "dialogues":
        columns: dict[str, list[Any]] = {"id": [dialogue.id for dialogue in held]}
        columns |= {name: [_written(getattr(dialogue, name) or None) for dialogue in held] for name in own}
        turns = [
            [{name: _written(getattr(turn, name)) for name in fields} for turn in dialogue.turns] for dialogue in held
        ]
        return WrittenTable({**columns, "turns": turns}, fields)
    silent = next((dialogue.id for dialogue in held if not dialogue.turns), None)
    if silent is not None:
        raise DialgaugeError("it has no turns, and so no rows; write a row per dialogue", dialogue=silent)
    turns_of = [(dialogue, index, turn) for dialogue in held for index, turn in enumerate(dialogue.turns)]
    return WrittenTable(
        {
            "dialogue": [dialogue.id for dialogue, _, _ in turns_of],
            "turn": [index for _, index, _ in turns_of],
            **{name: [_written(getattr(turn, name)) for _, _, turn in turns_of] for name in fields},
            # What is said of the whole dialogue stands in its first row.
            **{
                name: [_written((not index and getattr(dialogue, name)) or None) for dialogue, index, _ in turns_of]
                for name in own
            },
        }
    )


def _written(value: Any) -> str | int | None:
    return value if value is None or isinstance(value, str | int) else _ENCODER.encode(value).decode()
