"""A table as named columns of numbers and texts, without polars.

Importing polars takes longer than most runs take to be written, and storing a run needs nothing else of it:
``parquet_file`` writes such a table.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    import polars
    from numpy.typing import NDArray

    from dialgauge.parquet_file import Chunk

T = TypeVar("T")

#: The types of columns, by the names that polars has for them.
ColumnKind: TypeAlias = Literal["String", "Int32", "Int64", "Float64", "Boolean", "List(String)", "List(Int64)"]
#: The types of numpy for those that are arrays.
ARRAYS = {"Boolean": "?", "Int32": "<i4", "Int64": "<i8", "Float64": "<f8"}

#: Of a piece of a table that is too large to be held.
PIECE_ROWS, PIECE_BYTES = 1 << 16, 16 << 20


class TableColumn(Struct, frozen=True, eq=False):
    """The rows of one column: an array of numbers, with a mask where some are null; or texts (all ``str``, or all
    UTF-8), or sequences of them, with None for null. With ``codes``, row by row which of the texts or sequences it is.
    """

    kind: ColumnKind
    values: Any
    codes: NDArray[Any] | None = None
    valid: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.values if self.codes is None else self.codes)

    def to_numpy(self) -> NDArray[Any]:
        """The numbers of a column without nulls."""
        return np.asarray(self.values)

    def null_count(self) -> int:
        """How many rows are null."""
        if self.valid is not None:
            return len(self) - int(np.count_nonzero(self.valid))
        if isinstance(self.values, np.ndarray) or None not in self.values:
            return 0
        names, codes = self.coded()
        return int(np.count_nonzero(codes == names.index(None))) if None in names else 0

    def unique(self) -> dict[Any, None]:
        """The distinct texts in the order in which they first appear."""
        if self.codes is None:
            return dict.fromkeys(self.values)
        return dict.fromkeys(self.values[code] for code in _in_order_of_use(self.codes, len(self.values))[0].tolist())

    def coded(self) -> tuple[list[Any], NDArray[np.int64]]:
        """The distinct texts, and row by row which of them it is."""
        if self.codes is None:
            return numbered(self.values)
        used, places = _in_order_of_use(self.codes, len(self.values))
        texts = [self.values[code] for code in used.tolist()]
        distinct = dict.fromkeys(texts)
        if len(distinct) == len(texts):
            return texts, places
        place_of = dict(zip(distinct, range(len(distinct)), strict=True))
        return list(distinct), np.array([place_of[text] for text in texts])[places]

    def rows(self, start: int, stop: int) -> TableColumn:
        """Some rows of it, or itself."""
        if start == 0 and stop == len(self):
            return self
        if self.codes is not None:
            return TableColumn(self.kind, self.values, self.codes[start:stop])
        return TableColumn(
            self.kind, self.values[start:stop], None, None if self.valid is None else self.valid[start:stop]
        )


class SharedColumn(TableColumn, frozen=True, eq=False, dict=True):
    """A column that several tables have, which is made ready to be written once."""

    @classmethod
    def of(cls, column: TableColumn) -> SharedColumn:
        """The same column, to be shared."""
        return cls(column.kind, column.values, column.codes, column.valid)

    @cached_property
    def chunk(self) -> Chunk:
        """The column as Parquet writes it."""
        from dialgauge.parquet_file import chunk_of

        return chunk_of(self)


def numbered(things: Sequence[T]) -> tuple[list[T], NDArray[np.int64]]:
    """The distinct texts or rows in the order in which they first appear, and for each which of them it is."""
    places: defaultdict[T, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(places.__getitem__, things), np.int64, len(things))
    return list(places), codes


def _in_order_of_use(codes: NDArray[Any], size: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Those of so many codes that occur, in the order of their first rows, and row by row which of them it is."""
    fresh = np.ones(len(codes), bool)
    np.not_equal(codes[1:], codes[:-1], out=fresh[1:])
    if (codes[1:] >= codes[:-1]).all():  # as the dialogues of a table are
        return codes[fresh], np.cumsum(fresh) - 1
    first = np.full(size, len(codes))
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of several rows the last one stays: the first
    used = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(codes))]
    places = np.empty(size, np.int64)
    places[used] = np.arange(len(used))
    return used, places[codes]


def column(
    kind: ColumnKind, values: Any, *, null: NDArray[np.bool_] | None = None, codes: NDArray[Any] | None = None
) -> TableColumn:
    """A column of any values with None for null, or of an array with a mask of what is null. With ``codes``, row by row
    the place of its value among few."""
    if kind not in ARRAYS:
        return TableColumn(kind, values, codes)
    if codes is not None:
        few = column(kind, values, null=null)
        return TableColumn(kind, few.values[codes], None, None if few.valid is None else few.valid[codes])
    if isinstance(values, np.ndarray):
        return TableColumn(kind, values.astype(ARRAYS[kind], copy=False), None, None if null is None else ~null)
    if None not in values:
        return TableColumn(kind, np.fromiter(values, ARRAYS[kind], len(values)))
    filled = np.fromiter([0 if value is None else value for value in values], ARRAYS[kind], len(values))
    return TableColumn(kind, filled, None, np.fromiter([value is not None for value in values], bool, len(values)))


def chosen_texts(texts: Sequence[str | bytes | None], codes: NDArray[Any]) -> TableColumn:
    """A column of texts of which few are distinct: row by row the place of its text in the list."""
    return TableColumn("String", texts, codes)


class ColumnTable:
    """Columns of one length by name. What polars calls the same it has too; :meth:`frame` makes a frame of it."""

    def __init__(self, columns: Mapping[str, TableColumn]) -> None:
        self._columns = dict(columns)
        lengths = {len(each) for each in columns.values()}
        if len(lengths) != 1:
            raise ValueError(f"a table needs columns of one length, not {sorted(lengths)}")
        self.height = lengths.pop()
        self._frame: polars.DataFrame | None = None

    @classmethod
    def of(cls, kinds: Mapping[str, ColumnKind], values: Iterable[Any]) -> ColumnTable:
        """A table from the kinds of its columns and the values of each."""
        return cls({name: column(kind, each) for (name, kind), each in zip(kinds.items(), values, strict=True)})

    @classmethod
    def of_rows(cls, kinds: Mapping[str, ColumnKind], rows: Iterable[Sequence[Any]]) -> ColumnTable:
        """A table from the kinds of its columns and its rows."""
        return cls.of(kinds, list(zip(*rows, strict=True)) or [()] * len(kinds))

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    @property
    def schema(self) -> dict[str, ColumnKind]:
        """The type of each column."""
        return {name: each.kind for name, each in self._columns.items()}

    def __getitem__(self, name: str) -> TableColumn:
        return self._columns[name]

    def frame(self) -> polars.DataFrame:
        """The table as polars reads it from a stored run; made once."""
        import polars

        if self._frame is None:
            buffer = io.BytesIO()
            self.write_parquet(buffer, compress=False)
            buffer.seek(0)
            self._frame = polars.read_parquet(buffer, use_pyarrow=False)
        return self._frame

    def write_parquet(self, stream: IO[bytes], *, compress: bool = True) -> None:
        """Write the table as a Parquet file."""
        from dialgauge.parquet_file import write_table

        write_table(self, stream, compress=compress)

    def pieces(self) -> Iterable[ColumnTable]:
        """The tables that it is written by: itself."""
        return [self]


class PiecedTable(ColumnTable):
    """A table that is made some rows at a time, whenever it is written, and never stands in memory whole."""

    def __init__(
        self, kinds: Mapping[str, ColumnKind], height: int, pieces: Callable[[], Iterable[ColumnTable]]
    ) -> None:
        self._kinds = dict(kinds)
        self.height = height
        self._pieces = pieces
        self._frame = None

    @classmethod
    def of_made_rows(
        cls, kinds: Mapping[str, ColumnKind], height: int, rows: Callable[[], Iterable[Sequence[Any]]]
    ) -> PiecedTable:
        """A table of so many rows, which are made anew each time."""

        def pieces() -> Iterator[ColumnTable]:
            held, size = list[Sequence[Any]](), 0
            for row in rows():
                held.append(row)
                size += sum(len(cell) for cell in row if isinstance(cell, str | bytes))
                if len(held) == PIECE_ROWS or size > PIECE_BYTES:
                    yield ColumnTable.of_rows(kinds, held)
                    held, size = [], 0
            yield ColumnTable.of_rows(kinds, held)

        return cls(kinds, height, pieces)

    @property
    def columns(self) -> list[str]:
        return list(self._kinds)

    @property
    def schema(self) -> dict[str, ColumnKind]:
        return self._kinds

    def __getitem__(self, name: str) -> TableColumn:
        return column(self._kinds[name], self.frame()[name].to_list())

    def pieces(self) -> Iterable[ColumnTable]:
        return self._pieces()


#: What a run takes as a table.
GivenTable: TypeAlias = "polars.DataFrame | ColumnTable"


def as_frame(table: GivenTable) -> polars.DataFrame:
    """A table as a polars frame."""
    return table.frame() if isinstance(table, ColumnTable) else table


def coded_texts(column: TableColumn | polars.Series) -> tuple[list[str], NDArray[np.int64]]:
    """The distinct texts of a column in the order in which they first appear, and row by row which of them it is."""
    if isinstance(column, TableColumn):
        return column.coded()
    import polars

    names = column.unique(maintain_order=True)
    places = polars.Series(range(len(names)), dtype=polars.Int64)
    codes = column.replace_strict(names, places, return_dtype=polars.Int64)
    return names.to_list(), codes.to_numpy(writable=True)
