"""The tables that SQL sees: those of all runs, and the three that the store makes of manifests and annotations.

``runs`` holds one row per run, ``scores`` one per run and measure, ``annotations`` one per text that people wrote.
Every other table has the rows of all runs that have it, with the run's id in the column ``run``. ``dialogues`` and
``turns`` are loaded once for each corpus, however many runs share it.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.runs.annotations import read_annotations
from dialgauge.runs.run import Run
from dialgauge.runs.tables import ANNOTATIONS, CORPUS_TABLES, FIXED, RUNS, SCORES
from dialgauge.text import encodable

if TYPE_CHECKING:
    import duckdb

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
    "note_kinds": "VARCHAR[]",
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
#: The columns of the table ``annotations``; ``dialogue`` is null where a text is about the run itself.
ANNOTATION_COLUMNS = {"run": "VARCHAR", "dialogue": "VARCHAR", "kind": "VARCHAR", "text": "VARCHAR"}

#: Takes what is wrong with a run; it may raise it.
Tell = Callable[[DialgaugeError], None]

#: Where the tables of corpora lie that the views ``dialogues`` and ``turns`` show.
_SHARED = "shared_corpora"
#: What SQL calls the types of the fixed columns.
_TYPES = {
    "String": "VARCHAR",
    "Boolean": "BOOLEAN",
    "Float64": "DOUBLE",
    "Int64": "BIGINT",
    "List(String)": "VARCHAR[]",
}
_FILE = "__file_of_the_run__"


def holders_of(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Which runs have each table; the fixed ones are there even if no run has them."""
    holders: dict[str, list[Run]] = {table: [] for table in FIXED}
    for run in runs:
        for table in run.files:
            holders.setdefault(table, []).append(run)
    return holders


def load_tables(
    connection: duckdb.DuckDBPyConnection, query: str, runs: Sequence[Run], holders: dict[str, list[Run]], tell: Tell
) -> None:
    """Copy into memory what a query mentions. A table that turns out to be damaged is left out and told."""
    connection.execute(f"CREATE SCHEMA {_SHARED}")
    for table in _mentioned(query, sorted([*holders, ANNOTATIONS])):
        if table == ANNOTATIONS:
            _load_annotations(connection, runs, tell)
        else:
            _load_table(connection, table, holders[table], tell)
    _load_runs(connection, runs)
    _load_scores(connection, runs)


def _mentioned(query: str, tables: Sequence[str]) -> Sequence[str]:
    """The tables whose names stand in the query; all of them when it names none, as ``SHOW TABLES`` does."""
    words = set(re.findall(r"[a-z0-9_]+", query.lower()))
    named = [table for table in tables if table in words]
    return named if named or {RUNS, SCORES} & words else tables


def _load_table(connection: duckdb.DuckDBPyConnection, table: str, runs: Sequence[Run], tell: Tell) -> None:
    import duckdb

    verified: set[Path] = set()
    sound = [run for run in runs if _is_sound(run, table, verified, tell)]
    try:
        _create(connection, table, sound)
    except (duckdb.InterruptException, duckdb.OutOfMemoryException):
        raise
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
    except (duckdb.InterruptException, duckdb.OutOfMemoryException):
        raise
    except duckdb.Error as error:
        tell(run.unreadable(table, error))
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
        _read(connection, _identifier(table), "run", [path for run in runs for path in run.table_paths(table)])


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
    _insert(connection, RUNS, RUN_COLUMNS, [_column(name, runs) for name in RUN_COLUMNS])


def _column(name: str, runs: Sequence[Run]) -> list[Any]:
    values = [getattr(run.manifest, name) for run in runs]
    if RUN_COLUMNS[name] == "JSON":
        return [msgspec.json.encode(value).decode() for value in values]
    return [value.replace(tzinfo=None) for value in values] if name == "created" else values


def _load_scores(connection: duckdb.DuckDBPyConnection, runs: Sequence[Run]) -> None:
    rows = [(run.id, name, score) for run in runs for name, score in run.scores.items()]
    values = [[row[0] for row in rows], [row[1] for row in rows]]
    values += [[getattr(row[2], name) for row in rows] for name in SCORE_COLUMNS]
    _insert(connection, SCORES, {"run": "VARCHAR", "measure": "VARCHAR", **SCORE_COLUMNS}, values)


def _load_annotations(connection: duckdb.DuckDBPyConnection, runs: Sequence[Run], tell: Tell) -> None:
    rows: list[tuple[str | None, ...]] = []
    for run in runs:
        try:
            rows += [(run.id, *row) for row in read_annotations(run.path).rows()]
        except DialgaugeError as problem:
            tell(problem)
    values = [[row[index] for row in rows] for index in range(len(ANNOTATION_COLUMNS))]
    _insert(connection, ANNOTATIONS, ANNOTATION_COLUMNS, values)


def _insert(connection: duckdb.DuckDBPyConnection, table: str, kinds: dict[str, str], values: list[list[Any]]) -> None:
    """A table of ours from its columns."""
    columns = ", ".join(f"unnest(${n}::{kind}[]) AS {name}" for n, (name, kind) in enumerate(kinds.items(), 1))
    connection.execute(f"CREATE TABLE {table} AS SELECT {columns}", values)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def sentence_of(error: Exception) -> str:
    """What DuckDB says, without its guess at what was meant and its drawing of the place in the query."""
    return " ".join(re.split(r"\n(?:Did you mean|\nLINE )", str(error))[0].split())
