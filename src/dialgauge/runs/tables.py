"""Which tables a run has: three with fixed columns in every run, and those of its family beside them.

``dialogues`` and ``turns`` hold what was said; they come from the run's corpus, which several runs may share.
``dialogue_scores`` holds the sums behind the scores: the value of a measure is sum(num) / sum(den).
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    import polars

    from dialgauge.columns import ColumnKind, ColumnTable, GivenTable

TABLE_ENDING = ".parquet"
DIALOGUES, TURNS, DIALOGUE_SCORES = "dialogues", "turns", "dialogue_scores"

#: The tables of every run: columns with the types that polars calls them by. ``goal``, ``outcome`` and ``record`` are
#: the native JSON of those records, ``turn`` is the position from 0.
FIXED: dict[str, dict[str, ColumnKind]] = {
    DIALOGUES: {
        "dialogue": "String", "turns": "Int64", "domains": "List(String)", "goal": "String", "outcome": "String",
    },
    TURNS: {"dialogue": "String", "turn": "Int64", "speaker": "String", "text": "String", "record": "String"},
    DIALOGUE_SCORES: {"dialogue": "String", "measure": "String", "num": "Float64", "den": "Float64"},
}  # fmt: skip

#: The tables of a corpus.
CORPUS_TABLES = (DIALOGUES, TURNS)
#: What SQL calls the runs, their scores and what people wrote about them.
RUNS, SCORES, ANNOTATIONS = "runs", "scores", "annotations"
#: Those, and what only a corpus brings: no run writes tables of these names.
RESERVED = (RUNS, SCORES, ANNOTATIONS, *CORPUS_TABLES)

_TABLE = re.compile(r"[a-z][a-z0-9_]{0,62}")


def column_of(name: str, values: Iterable[Any], kind: Any) -> polars.Series:
    """A column. Each different list is converted once: one by one takes polars thirty times as long."""
    import polars as pl

    if not isinstance(kind, pl.List):
        return pl.Series(name, list(values), kind)
    places: dict[tuple[Any, ...], int] = {}
    rows = [places.setdefault(tuple(value), len(places)) for value in values]
    return pl.Series(name, [list(value) for value in places], kind).gather(rows)


def frame_of(rows: Iterable[Sequence[Any]], kinds: Mapping[str, Any]) -> polars.DataFrame:
    """A table of rows, with its columns and their types."""
    import polars as pl

    columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
    return pl.DataFrame([column_of(*column) for column in zip(kinds, columns, kinds.values(), strict=True)])


class TableInfo(msgspec.Struct, frozen=True):
    """What a table of a run must be: rows, column names with their types, and the bytes of its Parquet file."""

    rows: int
    columns: dict[str, str]
    size: int
    sha256: str
    #: In how many files it lies, numbered from 0; 0 is one file without a number. Of several, the size is that of all,
    #: and the checksum is over their checksums and names.
    parts: int = 0


def table_files(name: str, parts: int) -> list[str]:
    """The names of the files that a table lies in."""
    return [f"{name}-{part:05}{TABLE_ENDING}" for part in range(parts)] if parts else [f"{name}{TABLE_ENDING}"]


class TableParts:
    """A table in several pieces, each the bytes of a Parquet file, such as workers send them."""

    def __init__(self, parts: Sequence[bytes]) -> None:
        self.parts = parts

    def __call__(self) -> polars.DataFrame:
        import polars

        return polars.concat([polars.read_parquet(io.BytesIO(part), use_pyarrow=False) for part in self.parts])


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


def check_fixed(table: str, frame: GivenTable) -> None:
    """An error unless a table of a fixed name has exactly its columns, and the scores are numbers."""
    if table not in FIXED:
        return
    columns = {column: str(kind) for column, kind in frame.schema.items()}
    if list(columns.items()) != list(FIXED[table].items()):
        raise ValueError(f"the table {table!r} has the columns {FIXED[table]}, not {columns}")
    if table == DIALOGUE_SCORES and frame.height:
        import numpy as np

        num, den = (frame[column].to_numpy() for column in ("num", "den"))
        if any(frame[column].null_count() for column in frame.columns) or not np.isfinite(num).all():
            raise ValueError(f"the table {table!r} has rows that are not numbers")
        if not (np.isfinite(den) & (den > 0)).all():
            raise ValueError(f"the table {table!r} has rows without a score: leave out those with den 0")


def empty_table(table: str) -> ColumnTable:
    """A table of a fixed name without rows."""
    from dialgauge.columns import ColumnTable

    return ColumnTable.of(FIXED[table], [()] * len(FIXED[table]))


def empty_info(table: str) -> TableInfo:
    """The description of a fixed table without rows."""
    return TableInfo(0, dict(FIXED[table]), 0, "")
