"""SQL over all runs, answered by DuckDB in memory.

Every table name in the store is a table here: the rows of all runs that have it, columns matched by name, with the
run's id in the column ``run``. ``runs`` holds one row per run, ``scores`` one per run and measure. ``dialogues`` and
``turns`` are loaded once for each corpus, however many runs share it.

The query can look at those tables and do nothing else. The tables it mentions are copied into memory first; then all
access to files is shut off, settings are locked, Python objects are invisible, and one SELECT runs in a read-only
transaction. Views over the Parquet files would save the copy, but DuckDB has no permission that reads a file and
cannot write it, and it lets a SELECT carry a COPY inside (docs/decisions/run-store.md).
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.runs.run import Run
from dialgauge.runs.tables import CORPUS_TABLES, FIXED
from dialgauge.text import encodable

if TYPE_CHECKING:
    import duckdb
    import polars

#: The columns of the table ``runs``: name, DuckDB type.
RUN_COLUMNS = {
    "id": "VARCHAR",
    "kind": "VARCHAR",
    "name": "VARCHAR",
    "created": "TIMESTAMP",
    "signature": "VARCHAR",
    "command": "VARCHAR[]",
    "seeds": "BIGINT[]",
    "config": "JSON",
    "inputs": "JSON",
    "versions": "JSON",
    "corpus": "VARCHAR",
    "coverage": "JSON",
    "scores": "JSON",
    "details": "JSON",
    "notes": "VARCHAR[]",
    "tables": "JSON",
}
#: The columns of the table ``scores`` after ``run`` and ``measure``.
SCORE_COLUMNS = {
    "value": "DOUBLE",
    "low": "DOUBLE",
    "high": "DOUBLE",
    "unit": "VARCHAR",
    "higher_is_better": "BOOLEAN",
    "signature": "VARCHAR",
}

#: Takes what is wrong with a run; it may raise it.
Tell = Callable[[DialgaugeError], None]

_RUNS, _SCORES = "runs", "scores"
#: Where the tables of corpora lie that the views ``dialogues`` and ``turns`` show.
_SHARED = "shared_corpora"
_TYPES = {"String": "VARCHAR", "Int64": "BIGINT", "Float64": "DOUBLE", "List(String)": "VARCHAR[]"}
#: What polars makes another value of without a word.
_MANGLED = re.compile(r"UHUGEINT|TIME WITH TIME ZONE|TIMESTAMP_S\b|BIT\b(?!\()")
#: The days of Python's calendar, counted from 1970, less one at each end for the time zone.
_FIRST_DAY, _LAST_DAY = -719_161, 2_932_895
_PER_SECOND = {"ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_NAP = 0.05  # seconds
_FILE = "__file_of_the_run__"

#: What takes all reach beyond memory from a connection. The last one keeps the others as they are.
_CONFINEMENT = (
    "SET python_enable_replacements = false",
    "SET temp_directory = ''",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


def select(query: str, runs: Sequence[Run], tell: Tell, problems: Sequence[DialgaugeError] = ()) -> polars.DataFrame:
    """The answer to one SELECT. A table that turns out to be damaged is left out and told.

    ``problems`` are those of runs that were left out before.
    """
    import duckdb

    left_out = list(problems)

    def leave_out(problem: DialgaugeError) -> None:
        left_out.append(problem)
        tell(problem)

    if encodable(query) != query:
        raise DialgaugeError("the query is not UTF-8 text")
    holders: dict[str, list[Run]] = {table: [] for table in FIXED}
    for run in runs:
        for table in run.files:
            holders.setdefault(table, []).append(run)
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"CREATE SCHEMA {_SHARED}")
        for table in _mentioned(query, sorted(holders)):
            _load_table(connection, table, holders[table], leave_out)
        _load_runs(connection, runs)
        _load_scores(connection, runs)
        for setting in _CONFINEMENT:
            connection.execute(setting)
        try:
            return _answer(connection, query)
        except duckdb.Error as error:
            raise DialgaugeError(f"the query failed: {_sentence(error)}{_hint(error, holders, left_out)}") from error


def _mentioned(query: str, tables: Sequence[str]) -> Sequence[str]:
    """The tables whose names stand in the query; all of them when it names none, as ``SHOW TABLES`` does."""
    words = set(re.findall(r"[a-z0-9_]+", query.lower()))
    named = [table for table in tables if table in words]
    return named if named or {_RUNS, _SCORES} & words else tables


def _load_table(connection: duckdb.DuckDBPyConnection, table: str, runs: Sequence[Run], tell: Tell) -> None:
    import duckdb

    verified: set[Path] = set()
    sound = [run for run in runs if _is_sound(run, table, verified, tell)]
    try:
        _create(connection, table, sound)
    except duckdb.Error:
        _create(connection, table, [run for run in sound if _can_load(connection, table, run, tell)])


def _is_sound(run: Run, table: str, verified: set[Path], tell: Tell) -> bool:
    """Whether a table has the bytes that were written; a file that several runs share is read once."""
    if run.files[table] not in verified:
        try:
            verified.add(run.verified_path(table))
        except DialgaugeError as problem:
            tell(problem)
            return False
    return True


def _can_load(connection: duckdb.DuckDBPyConnection, table: str, run: Run, tell: Tell) -> bool:
    """Whether DuckDB makes sense of a file whose bytes are those that were stored."""
    import duckdb

    try:
        _create(connection, table, [run])
    except duckdb.Error as error:
        tell(run.damage(table, f"cannot be read ({_sentence(error)})"))
        return False
    _drop(connection, table)
    return True


def _create(connection: duckdb.DuckDBPyConnection, table: str, runs: Sequence[Run]) -> None:
    """The rows of a table over all runs, in the order of the runs."""
    if not runs:
        if table in FIXED:
            _create_empty(connection, table)
    elif table in CORPUS_TABLES:
        _create_shared(connection, table, runs)
    else:
        _read(connection, _identifier(table), "run", [run.table_path(table) for run in runs])


def _read(connection: duckdb.DuckDBPyConnection, table: str, owner: str, paths: Iterable[Path]) -> None:
    """A table from files, with the folder that each lies in, the id of the run or the corpus, as its first column."""
    with _encodable(path.absolute() for path in paths) as named:
        files = ", ".join(_literal(str(path)) for path in named)
        connection.execute(
            f"CREATE TABLE {table} AS "  # noqa: S608 - the name is checked, the paths are quoted
            f"SELECT split_part(replace({_FILE}, '\\', '/'), '/', -2) AS {owner}, * EXCLUDE ({_FILE}) FROM "
            f"read_parquet([{files}], union_by_name = true, filename = '{_FILE}', hive_partitioning = false)"
        )


@contextmanager
def _encodable(paths: Iterable[Path]) -> Iterator[list[Path]]:
    """The files under names that are UTF-8: DuckDB takes no others. A store's name need not be; its runs' are."""
    with ExitStack() as held:
        links: dict[Path, Path] = {}
        named = []
        for path in paths:
            store = path.parent.parent
            if encodable(str(store)) == str(store):
                named.append(path)
                continue
            if store not in links:
                links[store] = Path(held.enter_context(tempfile.TemporaryDirectory()), "store")
                links[store].symlink_to(store)
            named.append(links[store] / path.parent.name / path.name)
        yield named


def _create_shared(connection: duckdb.DuckDBPyConnection, table: str, runs: Sequence[Run]) -> None:
    """A view that repeats the rows of each corpus for every run that has it."""
    corpora = {run.manifest.corpus: run.table_path(table) for run in runs}
    _read(connection, f"{_SHARED}.{table}", "corpus", corpora.values())
    connection.execute(
        f"CREATE TABLE {_SHARED}.runs_of_{table} AS "
        "SELECT unnest($1::VARCHAR[]) AS run, unnest($2::VARCHAR[]) AS corpus",
        [[run.id for run in runs], [run.manifest.corpus for run in runs]],
    )
    connection.execute(
        f"CREATE VIEW {table} AS SELECT owner.run, content.* EXCLUDE (corpus) "  # noqa: S608 - names of ours
        f"FROM {_SHARED}.{table} AS content JOIN {_SHARED}.runs_of_{table} AS owner ON content.corpus = owner.corpus"
    )


def _create_empty(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    columns = ", ".join(f"{column} {_TYPES[kind]}" for column, kind in FIXED[table].items())
    connection.execute(f"CREATE TABLE {table} (run VARCHAR, {columns})")


def _drop(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    if table in CORPUS_TABLES:
        connection.execute(f"DROP VIEW {table}")
        connection.execute(f"DROP TABLE {_SHARED}.runs_of_{table}")
    connection.execute(f"DROP TABLE {f'{_SHARED}.{table}' if table in CORPUS_TABLES else _identifier(table)}")


def _load_runs(connection: duckdb.DuckDBPyConnection, runs: Sequence[Run]) -> None:
    columns = ", ".join(f"unnest(${n}::{kind}[]) AS {name}" for n, (name, kind) in enumerate(RUN_COLUMNS.items(), 1))
    connection.execute(f"CREATE TABLE {_RUNS} AS SELECT {columns}", [_column(name, runs) for name in RUN_COLUMNS])


def _column(name: str, runs: Sequence[Run]) -> list[Any]:
    values = [getattr(run.manifest, name) for run in runs]
    if RUN_COLUMNS[name] == "JSON":
        return [msgspec.json.encode(value).decode() for value in values]
    return [value.replace(tzinfo=None) for value in values] if name == "created" else values


def _load_scores(connection: duckdb.DuckDBPyConnection, runs: Sequence[Run]) -> None:
    rows = [(run.id, name, score) for run in runs for name, score in run.scores.items()]
    kinds = {"run": "VARCHAR", "measure": "VARCHAR", **SCORE_COLUMNS}
    columns = ", ".join(f"unnest(${n}::{kind}[]) AS {name}" for n, (name, kind) in enumerate(kinds.items(), 1))
    values = [[row[0] for row in rows], [row[1] for row in rows]]
    values += [[getattr(row[2], name) for row in rows] for name in SCORE_COLUMNS]
    connection.execute(f"CREATE TABLE {_SCORES} AS SELECT {columns}", values)


def _answer(connection: duckdb.DuckDBPyConnection, query: str) -> polars.DataFrame:
    import duckdb
    from polars.exceptions import PolarsError

    statements = connection.extract_statements(query)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise DialgaugeError("the store can be asked but not changed: give exactly one SELECT")
    connection.execute("BEGIN TRANSACTION READ ONLY")
    try:
        frame = _interruptible(connection, lambda: _fetched(connection.sql(query)))
    except PolarsError as error:
        raise _unfit(f"a type that has no place in a table ({str(error).split('. ')[0]})") from error
    for column in frame:
        if _has_odd_dates(column):
            raise _unfit(f"a date beyond the years 1 to 9999 in the column '{column.name}'")
    return frame


def _fetched(answer: duckdb.DuckDBPyRelation) -> polars.DataFrame:
    for column, kind in zip(answer.columns, answer.types, strict=True):
        if odd := _MANGLED.search(str(kind)):
            raise _unfit(f"the type {odd[0]} in the column '{column}'")
    frame: polars.DataFrame = answer.pl()
    return frame


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


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _sentence(error: Exception) -> str:
    """What DuckDB says, without its guess at what was meant and its drawing of the place in the query."""
    return " ".join(re.split(r"\n(?:Did you mean|\nLINE )", str(error))[0].split())


def _hint(error: Exception, tables: Iterable[str], left_out: Sequence[DialgaugeError]) -> str:
    """For a table that is not there: the damage because of which it may not be, else names like it."""
    missing = re.search(r"Table with name (\S+) does not exist", str(error))
    if missing is None:
        return ""
    damage = [problem for problem in left_out if f"'{missing[1]}'" in str(problem)] or left_out
    if damage:
        more = f" (and {len(damage) - 1} more)" if len(damage) > 1 else ""
        return f" Left out: {damage[0]}{more}"
    return nearest(missing[1], [*tables, _RUNS, _SCORES])
