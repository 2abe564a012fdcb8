"""A stored run's own files and those of its corpus, each checked when it is read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.files import reason, sha256_of, system_error
from dialgauge.runs.manifest import Manifest
from dialgauge.runs.tables import (
    CORPUS_TABLES,
    DIALOGUES,
    FIXED,
    TABLE_ENDING,
    TURNS,
    TableInfo,
    TableParts,
    check_fixed,
    empty_info,
    empty_table,
    table_files,
)
from dialgauge.text import encodable

if TYPE_CHECKING:
    import polars

    from dialgauge.runs.corpora import EncodedCorpus


#: What the system says of a table that is not there.
_ABSENT = (FileNotFoundError, NotADirectoryError, IsADirectoryError)


class TableError(DialgaugeError):
    """A table of a stored run cannot be read."""

    table = ""

    @classmethod
    def of(cls, table: str, message: str, file: Path) -> TableError:
        error = cls(message, file=str(file))
        error.table = table
        return error


class RunFolder:
    """Tables and dialogues of a stored run: its own files, and those of its corpus."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        from dialgauge.runs.corpora import Corpora

        self.path = path
        self._manifest = manifest
        self._corpora = Corpora(path.parent)
        self._frames: dict[str, polars.DataFrame] = {}

    def manifest(self, facts: Manifest) -> Manifest:
        return facts

    @cached_property
    def _stored(self) -> dict[str, TableInfo]:
        corpus = self._manifest.corpus
        try:
            shared = self._corpora.tables(corpus) if corpus else {}
        except DialgaugeError as error:
            raise DialgaugeError(f"the run is damaged: {error}", file=str(self.path)) from error
        return {**{table: shared[table] for table in CORPUS_TABLES if table in shared}, **self._manifest.tables}

    @cached_property
    def tables(self) -> Mapping[str, TableInfo]:
        fixed = {table: self._stored.get(table) or empty_info(table) for table in FIXED}
        return {**fixed, **self._manifest.tables}

    @cached_property
    def files(self) -> Mapping[str, Path]:
        return {name: self._place(name) for name in self._stored}

    def _place(self, name: str) -> Path:
        if name in CORPUS_TABLES:
            return self._corpora.table_path(self._manifest.corpus, name)
        return self.path / table_files(name, min(self._stored[name].parts, 1))[0]

    def paths(self, name: str) -> list[Path]:
        if name in CORPUS_TABLES or not self._stored[name].parts:
            return [self.files[name]]
        return [self.path / file for file in table_files(name, self._stored[name].parts)]

    def table_parts(self, name: str) -> TableParts | None:
        if name not in self.files or name in CORPUS_TABLES or not self._stored[name].parts:
            return None
        return TableParts([path.read_bytes() for path in self.verified(name)])

    def table(self, name: str) -> polars.DataFrame:
        """A table, read and checked once."""
        if name not in self._frames:
            self._frames[name] = self._read(name)
        return self._frames[name]

    def _read(self, name: str) -> polars.DataFrame:
        import polars

        if name not in self.files:
            return empty_table(name).frame()
        self.checked(name)
        paths = self.verified(name)
        try:
            with _hushed():
                read = partial(polars.read_parquet, glob=False, hive_partitioning=False)
                frame = (
                    read(_named(paths[0])) if len(paths) == 1 else polars.concat([read(_named(path)) for path in paths])
                )
        except (OSError, polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
            raise self.unreadable(name, error) from error
        self._check_content(name, frame)
        return frame

    given_table = table

    def _check_content(self, name: str, frame: polars.DataFrame) -> None:
        """Check rows, columns and types, since a forged checksum may stand for any table."""
        if list(self.tables[name].columns) != frame.columns or self.tables[name].rows != frame.height:
            raise self.damage(name, "does not have the rows and columns that were written")
        try:
            check_fixed(name, frame)
        except ValueError as error:
            raise self.damage(name, f"cannot be used ({error})") from error

    def dialogues(self) -> Iterator[Dialogue]:
        from dialgauge.runs.corpora import decode_corpus

        try:
            yield from decode_corpus(self.table(DIALOGUES), self.table(TURNS))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError) as error:
            raise self.damage(TURNS, f"holds something that is not a dialogue ({reason(error)})") from error

    @property
    def has_corpus(self) -> bool:
        return bool(self._manifest.corpus)

    def encoded(self) -> EncodedCorpus | None:
        from dialgauge.runs.corpora import encode_corpus

        return encode_corpus(self.dialogues()) if self._manifest.corpus else None

    def checked(self, name: str) -> list[Path]:
        paths = self.paths(name)
        try:
            size = sum(path.stat().st_size for path in paths)
        except OSError as error:
            raise self.unreadable(name, error) from error
        expected = self.tables[name].size
        if size != expected:
            raise self.damage(name, f"has {size:,} bytes where {expected:,} were written")
        return paths

    def verified(self, name: str) -> list[Path]:
        paths = self.paths(name)
        try:
            digest = sha256_of(paths[0]) if not self.tables[name].parts else _digest_of(paths)
        except OSError as error:
            raise self.unreadable(name, error) from error
        if digest != self.tables[name].sha256:
            raise self.damage(name, "does not have the bytes that were written")
        return paths

    def unreadable(self, table: str, error: BaseException) -> DialgaugeError:
        """The error of a table that cannot be read: the run is damaged, unless the system only refuses to open it."""
        system = system_error(error)
        if system is None or isinstance(system, _ABSENT):
            return self.damage(table, f"cannot be read ({reason(error)})")
        why = f"the table '{table}' of the run cannot be read ({reason(error)})"
        return TableError.of(table, why, self.files[table])

    def damage(self, table: str, what: str) -> DialgaugeError:
        file = self.files.get(table, self.path)
        if table in self.files and len(self.paths(table)) > 1:  # the checksum is that of all pieces together
            file = self.path / f"{table}-*{TABLE_ENDING}"
        return TableError.of(
            table,
            f"the run is damaged: its table '{table}' {what}; make the run again, and remove this one: "
            f"dialgauge runs rm {self.path.name} --store {self.path.parent}",
            file,
        )


def _digest_of(paths: Sequence[Path]) -> str:
    lines = "".join(f"{sha256_of(path)}  {path.name}\n" for path in paths)
    return hashlib.sha256(lines.encode()).hexdigest()


@contextmanager
def _hushed() -> Iterator[None]:
    """Silence standard error while polars reads: it prints a panic there before it raises it."""
    try:
        kept = os.dup(2)
    except OSError:  # it is closed as it is
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _named(path: Path) -> Path | bytes:
    """A file by its name, or by its bytes where polars would not take the name."""
    return path if encodable(str(path)) == str(path) else path.read_bytes()
