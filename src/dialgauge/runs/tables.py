"""Which tables a run has: three with fixed columns in every run, and those of its family beside them.

``dialogues`` and ``turns`` hold what was said; they come from the run's corpus, which several runs may share.
``dialogue_scores`` holds the sums behind the scores: the value of a measure is sum(num) / sum(den).
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np
import polars as pl

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.files import parquet_bytes, reason, sha256_of
from dialgauge.runs.workspace import write_durably

TABLE_ENDING = ".parquet"
DIALOGUES, TURNS, DIALOGUE_SCORES = "dialogues", "turns", "dialogue_scores"

#: The tables of every run: columns with the types that polars calls them by. ``goal``, ``outcome`` and ``record`` are
#: the native JSON of those records, ``turn`` is the position from 0.
FIXED: dict[str, dict[str, str]] = {
    DIALOGUES: {
        "dialogue": "String", "turns": "Int64", "domains": "List(String)", "goal": "String", "outcome": "String",
    },
    TURNS: {"dialogue": "String", "turn": "Int64", "speaker": "String", "text": "String", "record": "String"},
    DIALOGUE_SCORES: {"dialogue": "String", "measure": "String", "num": "Float64", "den": "Float64"},
}  # fmt: skip

_CALLS: dict[str, str] = {
    "dialogue": "String", "turn": "Int64", "name": "String", "domain": "String", "outcome": "String",
    "found": "Int64", "arguments": "String", "rows": "List(Int64)", "result": "String",
}  # fmt: skip
#: The tables of a corpus.
CORPUS_TABLES = (DIALOGUES, TURNS)
#: What SQL calls the runs, their scores and what people wrote about them.
RUNS, SCORES, ANNOTATIONS = "runs", "scores", "annotations"
#: Those, and what only a corpus brings: no run writes tables of these names.
RESERVED = (RUNS, SCORES, ANNOTATIONS, *CORPUS_TABLES)

_TABLE = re.compile(r"[a-z][a-z0-9_]{0,62}")
_TYPES = {
    "String": pl.String(), "Int32": pl.Int32(), "Int64": pl.Int64(), "Float64": pl.Float64(), "Boolean": pl.Boolean(),
    "List(String)": pl.List(pl.String), "List(Int64)": pl.List(pl.Int64),
}  # fmt: skip
#: What the system says of a table that is not there.
_ABSENT = (FileNotFoundError, NotADirectoryError, IsADirectoryError)
#: Rows and bytes of text of a piece of a table that is not held whole.
_PIECE_ROWS, _PIECE_BYTES = 1 << 16, 16 << 20
#: Every 64th row is measured to estimate the bytes of all.
_SAMPLED = 64


class Pieces:
    """A table too large to hold, as frames that are made anew whenever it is written or read."""

    def __init__(self, make: Callable[[], Iterable[pl.DataFrame]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[pl.DataFrame]:
        return iter(self._make())


#: What a run takes as a table.
GivenTable: TypeAlias = pl.DataFrame | Pieces


def frame_from_rows(rows: Iterable[Sequence[Any]], schema: Mapping[str, Any]) -> pl.DataFrame:
    """A table of rows, with its columns and their types (or what polars calls these)."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pl.DataFrame([typed_column(*column) for column in zip(schema, columns, schema.values(), strict=True)])


def frames_from_rows(rows: Iterable[Sequence[Any]], schema: Mapping[str, Any]) -> Iterator[pl.DataFrame]:
    """The same table in frames that fit into memory, at least one."""
    held, size = list[Sequence[Any]](), 0
    for row in rows:
        if len(held) == _PIECE_ROWS or size > _PIECE_BYTES:
            yield frame_from_rows(held, schema)
            held, size = [], 0
        if not len(held) % _SAMPLED:
            size += _SAMPLED * sum(len(cell) for cell in row if isinstance(cell, str))
        held.append(row)
    yield frame_from_rows(held, schema)


def calls_table(dialogues: Callable[[], Iterable[Dialogue]]) -> Pieces:
    """The table ``calls`` of any dialogues: what was called in which turn, and what came of it."""
    return Pieces(lambda: frames_from_rows(_calls(dialogues()), _CALLS))


def _calls(dialogues: Iterable[Dialogue]) -> Iterator[Sequence[Any]]:
    return (
        (
            dialogue.id,
            number,
            call.name,
            call.domain,
            call.outcome,
            call.found,
            msgspec.json.encode(call.arguments).decode(),
            list(call.rows),
            call.result,
        )
        for dialogue in dialogues
        for number, turn in enumerate(dialogue.turns)
        for call in turn.calls or ()
    )


def typed_column(name: str, values: Iterable[Any], data_type: Any) -> pl.Series:
    """A column. Each different list is converted once: one by one takes polars thirty times as long."""
    data_type = _TYPES[data_type] if isinstance(data_type, str) else data_type
    if not isinstance(data_type, pl.List):
        return pl.Series(name, list(values), data_type)
    places: dict[tuple[Any, ...], int] = {}
    rows = [places.setdefault(tuple(value), len(places)) for value in values]
    return pl.Series(name, [list(value) for value in places], data_type).gather(rows)


def coded_column(texts: Sequence[str | None], codes: Any) -> pl.Series:
    """A column of texts of which few are distinct: row by row the place of its text in the list."""
    return pl.Series(texts, dtype=pl.String).gather(np.asarray(codes, np.int64))


def one_frame(table: GivenTable) -> pl.DataFrame:
    """A table as one frame."""
    return pl.concat(table) if isinstance(table, Pieces) else table


def schema_of(frame: pl.DataFrame) -> dict[str, str]:
    """The columns with what polars calls their types."""
    return {column: str(data_type) for column, data_type in frame.schema.items()}


class TableInfo(msgspec.Struct, frozen=True):
    """What a table of a run must be: rows, column names with their types, and the bytes of its Parquet files."""

    rows: int
    columns: dict[str, str]
    size: int
    sha256: str
    #: In how many files it lies, numbered from 0; 0 is one file without a number. Of several, the size is that of all,
    #: and the checksum is over their checksums and names.
    files: int = 0


def table_files(name: str, parts: int) -> list[str]:
    """The names of the files that a table lies in."""
    return [f"{name}-{part:05}{TABLE_ENDING}" for part in range(parts)] if parts else [f"{name}{TABLE_ENDING}"]


def write_table(name: str, table: GivenTable, folder: Path) -> TableInfo:
    """Write a table into a folder that nobody else sees yet; what it must be when it is read again."""
    written: list[tuple[Path, str]] = []
    rows, size, columns = 0, 0, dict[str, str]()
    for number, frame in enumerate(table if isinstance(table, Pieces) else (table,)):
        check_columns(name, frame.columns)
        check_fixed(name, frame)
        try:
            content = parquet_bytes(frame)
        except pl.exceptions.PolarsError as error:
            raise DialgaugeError(f"the table '{name}' cannot be written ({error})", file=str(folder)) from error
        path = folder / f"{name}-{number:05}{TABLE_ENDING}"
        write_durably(path, content)
        written.append((path, hashlib.sha256(content).hexdigest()))
        rows, size, columns = rows + frame.height, size + len(content), schema_of(frame)
    if len(written) == 1:
        [(path, digest)] = written
        path.rename(folder / f"{name}{TABLE_ENDING}")
        return TableInfo(rows, columns, size, digest)
    return TableInfo(rows, columns, size, digest_of_parts(written), len(written))


def digest_of_parts(parts: Iterable[tuple[Path, str]]) -> str:
    """The checksum of a table in several files."""
    return hashlib.sha256("".join(f"{digest}  {path.name}\n" for path, digest in parts).encode()).hexdigest()


def size_of(folder: Path, name: str, info: TableInfo) -> int:
    """The bytes of a table's files."""
    return sum((folder / file).stat().st_size for file in table_files(name, info.files))


def is_table_name(text: str) -> bool:
    """Whether a run may write a table of this name: small letters, digits and underscores, none of the reserved."""
    return _TABLE.fullmatch(text) is not None and text not in RESERVED


def check_table_name(text: str) -> str:
    """The name, or an error that says what a table may be called."""
    if not is_table_name(text):
        raise DialgaugeError(
            f"a table of a run cannot be called '{text}': use lower-case letters, digits and underscores, "
            f"begin with a letter, and avoid {', '.join(repr(name) for name in RESERVED)}"
        )
    return text


def check_columns(table: str, columns: Sequence[str]) -> None:
    """An error unless SQL can tell the columns apart: it ignores case, and adds the column ``run`` by itself."""
    seen = {"run"}
    for column in columns:
        if column.lower() in seen:
            raise DialgaugeError(
                f"the table '{table}' cannot have the column '{column}': SQL would see that name twice"
            )
        seen.add(column.lower())


def check_fixed(table: str, frame: pl.DataFrame) -> None:
    """An error unless a table of a fixed name has exactly its columns, and the scores are numbers."""
    if table not in FIXED:
        return
    columns = schema_of(frame)
    if list(columns.items()) != list(FIXED[table].items()):
        raise ValueError(f"the table {table!r} has the columns {FIXED[table]}, not {columns}")
    if table == DIALOGUE_SCORES and frame.height:
        num, den = frame["num"], frame["den"]
        if any(frame[column].null_count() for column in frame.columns) or not num.is_finite().all():
            raise ValueError(f"the table {table!r} has rows that are not numbers")
        if not (den.is_finite() & (den > 0)).all():
            raise ValueError(f"the table {table!r} has rows without a score: leave out those with den 0")


def empty_table(table: str) -> pl.DataFrame:
    """A table of a fixed name without rows."""
    return frame_from_rows((), FIXED[table])


@dataclass(frozen=True)
class StoredTable:
    """One table: what it must be, the folder that it lies in, and that of its run."""

    name: str
    info: TableInfo
    folder: Path
    run: Path

    @property
    def paths(self) -> list[Path]:
        """Its files."""
        return [self.folder / file for file in table_files(self.name, self.info.files)]

    def check(self) -> None:
        """Look at presence and size of the files."""
        try:
            size = sum(path.stat().st_size for path in self.paths)
        except OSError as error:
            raise self._unreadable(error) from error
        if size != self.info.size:
            raise self.damage(f"has {size:,} bytes where {self.info.size:,} were written")

    def verify(self) -> None:
        """Compare all bytes with the checksum."""
        self.check()
        try:
            digests = [sha256_of(path) for path in self.paths]
        except OSError as error:
            raise self._unreadable(error) from error
        self._compare(digests)

    def read(self) -> pl.DataFrame:
        """The whole table, after comparing its bytes with the checksum."""
        frame = pl.concat(self.pieces())
        if list(self.info.columns) != frame.columns or self.info.rows != frame.height:
            raise self.damage("does not have the rows and columns that were written")
        try:  # a forged checksum may stand for any table
            check_fixed(self.name, frame)
        except ValueError as error:
            raise self.damage(f"cannot be used ({error})") from error
        return frame

    def pieces(self) -> Iterator[pl.DataFrame]:
        """The table file by file."""
        self.check()
        digests = []
        for path in self.paths:
            try:
                content = path.read_bytes()
                digests.append(hashlib.sha256(content).hexdigest())
                if not self.info.files:
                    self._compare(digests)
                yield pl.read_parquet(io.BytesIO(content))
            except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
                raise self._unreadable(error) from error
        if self.info.files:
            self._compare(digests)

    def damage(self, what: str) -> DialgaugeError:
        """The error of a table that is not what was written."""
        message = (
            f"the run is damaged: its table '{self.name}' {what}; make the run again, and remove this one: "
            f"dialgauge runs rm {self.run.name} --store {self.run.parent}"
        )
        return self._error(message)

    def _compare(self, digests: list[str]) -> None:
        parts = zip(self.paths, digests, strict=True)
        if (digest_of_parts(parts) if self.info.files else digests[0]) != self.info.sha256:
            raise self.damage("does not have the bytes that were written")

    def _unreadable(self, error: BaseException) -> DialgaugeError:
        """The run is damaged, unless the system only refuses to open the file."""
        if not isinstance(error, OSError) or isinstance(error, _ABSENT):
            return self.damage(f"cannot be read ({reason(error)})")
        return self._error(f"the table '{self.name}' of the run cannot be read ({reason(error)})")

    def _error(self, message: str) -> DialgaugeError:
        file = self.folder / f"{self.name}-*{TABLE_ENDING}" if self.info.files else self.paths[0]
        return DialgaugeError(message, file=str(file))
