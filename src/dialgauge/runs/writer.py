"""A run in the making: tables go to the disk as they come, the manifest last."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.runs.durable import sync_file, write_durably, writing
from dialgauge.runs.inputs import fingerprint, sha256
from dialgauge.runs.manifest import MANIFEST, Manifest, TableInfo, encode, plain
from dialgauge.runs.naming import check_columns, check_table_name
from dialgauge.runs.reader import TABLE_ENDING

if TYPE_CHECKING:
    import polars

#: Packages whose version can change a number; those that are installed go into the manifest.
KEY_PACKAGES = ("duckdb", "msgspec", "numpy", "polars", "rapidfuzz", "scipy", "torch")


class RunWriter:
    """What ``Store.create`` gives: add tables, set ``scores`` and ``coverage``; leaving the block stores the run."""

    def __init__(self, draft: Manifest, folder: Path) -> None:
        self.scores: Mapping[str, Any] = {}
        self.coverage: Mapping[str, Any] = {}
        self.signature = draft.signature
        self._draft = draft
        self._folder = folder
        self._tables: dict[str, TableInfo] = {}

    @property
    def id(self) -> str:
        """The id under which the run will be stored."""
        return self._draft.id

    def table(self, name: str, frame: polars.DataFrame) -> None:
        """Write a table as Parquet, durably."""
        from polars.exceptions import PolarsError

        if check_table_name(name) in self._tables:
            raise ValueError(f"the run already has a table {name!r}")
        check_columns(name, frame.columns)
        path = self._folder / f"{name}{TABLE_ENDING}"
        with writing(path):
            try:
                frame.write_parquet(path)
            except PolarsError as error:
                raise DialgaugeError(f"the table cannot be written ({error})", file=str(path)) from error
            sync_file(path)
            columns = {column: str(kind) for column, kind in frame.schema.items()}
            self._tables[name] = TableInfo(frame.height, columns, path.stat().st_size, sha256(path))

    def write_manifest(self) -> None:
        """The last file of a run: it names and seals all others."""
        manifest = msgspec.structs.replace(
            self._draft,
            signature=self.signature,
            scores=plain(dict(self.scores)),
            coverage=plain(dict(self.coverage)),
            tables=self._tables,
        )
        with writing(self._folder):
            write_durably(self._folder / MANIFEST, encode(manifest))


def draft(
    *,
    kind: str,
    name: str,
    config: Mapping[str, Any] | None,
    inputs: Iterable[str | PathLike[str]],
    seed: int | Sequence[int] | None,
    signature: str,
    command: Sequence[str] | None,
) -> Manifest:
    """What is known about a run before it has run; its id is still to be given."""
    seeds = [] if seed is None else [seed] if isinstance(seed, int) else list(seed)
    return Manifest(
        id="",
        kind=kind,
        name=plain(name),
        created=datetime.now(UTC),
        command=plain(list(command) if command is not None else [Path(sys.argv[0]).name, *sys.argv[1:]]),
        config=plain(dict(config or {})),
        seeds=seeds,
        inputs=[fingerprint(source) for source in inputs],
        versions=versions(),
        signature=signature,
    )


def versions() -> dict[str, str]:
    """The versions of dialgauge, Python and the packages that numbers depend on."""
    from importlib.metadata import PackageNotFoundError, version
    from platform import python_version

    from dialgauge import __version__

    found = {"dialgauge": __version__, "python": python_version()}
    for package in KEY_PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
