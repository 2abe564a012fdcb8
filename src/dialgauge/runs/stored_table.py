"""A table of a stored run on the disk, checked when it is read."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from dialgauge.errors import DialgaugeError
from dialgauge.files import reason, sha256_of
from dialgauge.runs.tables import TABLE_ENDING, TableInfo, check_fixed, digest_of_parts, table_files

#: What the system says of a table that is not there.
_ABSENT = (FileNotFoundError, NotADirectoryError, IsADirectoryError)


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
        return [self.folder / file for file in table_files(self.name, self.info.parts)]

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
                if not self.info.parts:
                    self._compare(digests)
                yield pl.read_parquet(io.BytesIO(content))
            except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
                raise self._unreadable(error) from error
        if self.info.parts:
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
        if (digest_of_parts(parts) if self.info.parts else digests[0]) != self.info.sha256:
            raise self.damage("does not have the bytes that were written")

    def _unreadable(self, error: BaseException) -> DialgaugeError:
        """The run is damaged, unless the system only refuses to open the file."""
        if not isinstance(error, OSError) or isinstance(error, _ABSENT):
            return self.damage(f"cannot be read ({reason(error)})")
        return self._error(f"the table '{self.name}' of the run cannot be read ({reason(error)})")

    def _error(self, message: str) -> DialgaugeError:
        file = self.folder / f"{self.name}-*{TABLE_ENDING}" if self.info.parts else self.paths[0]
        return DialgaugeError(message, file=str(file))
