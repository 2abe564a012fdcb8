"""SQL over all runs, answered by DuckDB in memory; ``runs.sql_tables`` says which tables there are.

The query can look at those tables and do nothing else. The tables it mentions are copied into memory first; then all
access to files is shut off, settings are locked, Python objects are invisible, and one SELECT runs in a read-only
transaction. Views over the Parquet files would save the copy, but DuckDB has no permission that reads a file and
cannot write it, and it lets a SELECT carry a COPY inside (docs/decisions/run-store.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from dialgauge.errors import DialgaugeError, missing_extra, nearest
from dialgauge.runs.run import Run
from dialgauge.runs.sql_tables import Tell, holders_of, load_tables, sentence_of
from dialgauge.runs.tables import ANNOTATIONS, RUNS, SCORES
from dialgauge.text import encodable

if TYPE_CHECKING:
    import duckdb
    import polars

#: What polars makes another value of without a word, or panics over.
_MANGLED = re.compile(r"INTERVAL|UHUGEINT|TIME WITH TIME ZONE|TIMESTAMP_S\b|BIT\b(?!\()")
#: The days of Python's calendar, counted from 1970, less one at each end for the time zone.
_FIRST_DAY, _LAST_DAY = -719_161, 2_932_895
_PER_SECOND = {"ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
#: What polars writes before an error of the database that comes after the first rows.
_FOREIGN = "got external error: "
_NAP = 0.05  # seconds

#: What takes all reach beyond memory from a connection. The last one keeps the others as they are.
_CONFINEMENT = (
    "SET python_enable_replacements = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


def select(
    query: str,
    runs: Sequence[Run],
    tell: Tell,
    problems: Sequence[DialgaugeError] = (),
) -> polars.DataFrame:
    """The answer to one SELECT. A table that turns out to be damaged is left out and told.

    ``problems`` are those of runs that were left out before.
    """
    try:
        import duckdb
    except ImportError as error:
        raise missing_extra("duckdb", "sql", "SQL over stored runs") from error

    left_out = list(problems)

    def leave_out(problem: DialgaugeError) -> None:
        left_out.append(problem)
        tell(problem)

    if encodable(query) != query:
        raise DialgaugeError("the query is not UTF-8 text")
    holders = holders_of(runs)
    # Without a place to put them, tables that do not fit into memory are an error and not files in the current folder.
    with duckdb.connect(":memory:", config={"temp_directory": ""}) as connection:
        try:
            load_tables(connection, query, runs, holders, leave_out)
            for setting in _CONFINEMENT:
                connection.execute(setting)
            return _answer(connection, query)
        except duckdb.OutOfMemoryException as error:
            message = "the query needs more memory than there is; ask for fewer rows or columns"
            raise DialgaugeError(message) from error
        except duckdb.Error as error:
            raise DialgaugeError(f"the query failed: {sentence_of(error)}{_hint(error, holders, left_out)}") from error


def _answer(connection: duckdb.DuckDBPyConnection, query: str) -> polars.DataFrame:
    import duckdb

    statements = connection.extract_statements(query)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise DialgaugeError("the store is read-only: give exactly one SELECT")
    connection.execute("BEGIN TRANSACTION READ ONLY")
    frame = _interruptible(connection, lambda: _fetched(connection.sql(query)))
    for column in frame:
        if _has_odd_dates(column):
            raise _unfit(f"a date beyond the years 1 to 9999 in the column '{column.name}'")
    return frame


def _fetched(answer: duckdb.DuckDBPyRelation) -> polars.DataFrame:
    import duckdb
    import polars as pl
    from polars.exceptions import PanicException, PolarsError

    for column, kind in zip(answer.columns, answer.types, strict=True):
        if odd := _MANGLED.search(str(kind)):
            raise _unfit(f"the type {odd[0]} in the column '{column}'")
    wanted = answer
    names = _distinct(wanted.columns)
    if names != wanted.columns:
        listed = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        renamed = wanted.query("answer", f"SELECT * FROM answer AS answer({listed})")  # noqa: S608 - quoted names
        wanted = wanted if renamed is None else renamed
    try:
        return pl.DataFrame(_ArrowStream(wanted.__arrow_c_stream__()))
    except (PolarsError, PanicException) as error:
        if (text := str(error)).startswith(_FOREIGN):
            late = duckdb.OutOfMemoryException if "Out of Memory" in text else duckdb.Error
            raise late(text.removeprefix(_FOREIGN)) from error
        raise _unfit(f"a type that cannot be put in a table ({str(error).split('. ')[0]})") from error


def _distinct(columns: Sequence[str]) -> list[str]:
    """Names that differ, as a table's must: the second ``run`` is ``run_1``."""
    names: list[str] = []
    asked = {column.lower() for column in columns}
    used: set[str] = set()
    numbers: dict[str, int] = {}  # the last one that a name was given
    for column in columns:
        name, number = column, numbers.get(column.lower(), 0)
        while name.lower() in used or (name != column and name.lower() in asked):
            number += 1
            name = f"{column}_{number}"
        numbers[column.lower()] = number
        used.add(name.lower())
        names.append(name)
    return names


class _ArrowStream:
    """Rows by Arrow's C interface, because DuckDB's own ``.pl()`` needs pyarrow.

    Polars remembers the class of what it was given for good. Remembering DuckDB's would keep that module alive until
    after the interpreter's end, and DuckDB 2 prints forty lines about it.
    """

    def __init__(self, capsule: object) -> None:
        self.capsule = capsule

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.capsule


def _unfit(what: str) -> DialgaugeError:
    return DialgaugeError(f"the answer holds {what}; cast the column to VARCHAR")


def _has_odd_dates(column: polars.Series) -> bool:
    """Whether a column, or what is nested in it, holds a date that Python has none for; polars would panic over it."""
    import polars as pl

    kind = column.dtype
    if isinstance(kind, pl.List | pl.Array):
        return _has_odd_dates(column.explode())
    if isinstance(kind, pl.Struct):
        return any(_has_odd_dates(column.struct.field(field.name)) for field in kind.fields)
    if not isinstance(kind, pl.Date | pl.Datetime):
        return "Date" in str(kind)  # in a map, into which there is no looking
    day = 1 if isinstance(kind, pl.Date) else 86_400 * _PER_SECOND[kind.time_unit]
    known = column.to_physical().drop_nulls()
    first, last = max(_FIRST_DAY * day, 2 - 2**63), min(_LAST_DAY * day, 2**63 - 2)  # the ends of 64 bits are infinite
    return not known.is_between(first, last).all()


def _interruptible(connection: duckdb.DuckDBPyConnection, ask: Callable[[], polars.DataFrame]) -> polars.DataFrame:
    """The answer, asked for in a thread, so that the keyboard can stop it.

    The system may hand an interrupt to any thread; the main one learns of it only when it wakes up, so it never
    sleeps for long, as it would inside a query of its own.
    """
    from concurrent.futures import ThreadPoolExecutor, wait

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(ask)
        try:
            while wait([answer], timeout=_NAP).not_done:
                pass
        except KeyboardInterrupt:
            while not answer.done():  # an interrupt that comes before the query begins is lost
                connection.interrupt()
                wait([answer], timeout=_NAP)
            raise
        return answer.result()


def _hint(error: Exception, tables: Iterable[str], left_out: Sequence[DialgaugeError]) -> str:
    """A hint for an unknown table: damaged runs that may have it, else similar names."""
    missing = re.search(r"Table with name (\S+) does not exist", str(error))
    if missing is None:
        return ""
    damage = [problem for problem in left_out if getattr(problem, "table", None) == missing[1]] or left_out
    if damage:
        more = f" (and {len(damage) - 1} more)" if len(damage) > 1 else ""
        return f" Left out: {damage[0]}{more}"
    return nearest(missing[1], [*tables, RUNS, SCORES, ANNOTATIONS])
