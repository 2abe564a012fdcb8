"""A stored run: its manifest and its tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.runs.inputs import sha256
from dialgauge.runs.manifest import Manifest, TableInfo, load

if TYPE_CHECKING:
    import polars

TABLE_ENDING = ".parquet"


class Run:
    """One run of a store. Tables are read when asked for."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest

    @classmethod
    def load(cls, path: Path) -> Run:
        """The run in a folder; damage to its manifest is an error."""
        return cls(path, load(path))

    @property
    def id(self) -> str:
        """The run's id, which is its folder's name."""
        return self.manifest.id

    @property
    def tables(self) -> dict[str, TableInfo]:
        """The tables by name: rows, columns, checksum."""
        return self.manifest.tables

    def table(self, name: str) -> polars.DataFrame:
        """One table, after comparing its bytes with the checksum; damage is an error that names the run."""
        import polars

        path = self.verified_path(name)
        try:
            return polars.read_parquet(path, glob=False, hive_partitioning=False)
        except (OSError, polars.exceptions.PolarsError) as error:
            raise self.damage(name, f"cannot be read ({_first_line(error)})") from error

    def table_path(self, name: str) -> Path:
        """Where a table's Parquet file lies, after a look at its presence and size."""
        if name not in self.tables:
            raise DialgaugeError(f"run {self.id} has no table '{name}'.{nearest(name, self.tables)}")
        path = self.path / f"{name}{TABLE_ENDING}"
        try:
            size = path.stat().st_size
        except OSError as error:
            raise self.damage(name, f"cannot be opened ({error.strerror})") from error
        expected = self.tables[name].size
        if size != expected:
            raise self.damage(name, f"has {size:,} bytes where {expected:,} were written")
        return path

    def check(self) -> None:
        """Look at presence and size of every table (quick; :meth:`verify` reads all bytes)."""
        for name in self.tables:
            self.table_path(name)

    def verified_path(self, name: str) -> Path:
        """Where a table's Parquet file lies, after comparing its bytes with the checksum in the manifest."""
        path = self.table_path(name)
        try:
            digest = sha256(path)
        except OSError as error:
            raise self.damage(name, f"cannot be read ({error.strerror})") from error
        if digest != self.tables[name].sha256:
            raise self.damage(name, "does not have the bytes that were written")
        return path

    def verify(self) -> None:
        """Compare every table's bytes with the checksum in the manifest."""
        for name in self.tables:
            self.verified_path(name)

    def damage(self, table: str, what: str) -> DialgaugeError:
        """The error for a table that is not what was written."""
        return DialgaugeError(f"the run is damaged: its table '{table}' {what}", file=str(self.path))


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
