"""Which datasets are on this disk, and are they still what was fetched and what the catalogue knows?"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.data.datasets import Catalogue, Dataset
from dialgauge.data.folder import RECEIPT, Folder, dataset_folder
from dialgauge.errors import DialgaugeError
from dialgauge.files import sha256_of
from dialgauge.rendering import Column, Table

State: TypeAlias = Literal["right", "changed", "missing", "added", "unreadable"]


class DatasetVerdict(Struct, frozen=True):
    """What became of one file; ``known_by`` says whose checksum it was compared with."""

    path: str
    state: State
    known_by: Literal["catalogue", "first download", ""]


class Verification(Struct, frozen=True):
    """All files of a dataset, and whether dialgauge fetched it (there is a receipt) or somebody put it there."""

    dataset: str
    folder: str
    fetched: bool
    files: tuple[DatasetVerdict, ...]

    def count(self, state: State) -> int:
        return sum(verdict.state == state for verdict in self.files)

    @property
    def sound(self) -> bool:
        """Nothing is changed, missing or unreadable, and something could be compared at all."""
        return bool(self.count("right")) and not any(self.count(s) for s in ("changed", "missing", "unreadable"))


def verify(dataset: Dataset, folder: Folder) -> Verification:
    """Compare every file with the receipt and with the catalogue.

    A folder without a receipt is compared with the catalogue alone; its files may be compressed one by one
    (``NAME.gz``).
    """
    own_folder = dataset_folder(dataset, folder)
    if not own_folder.is_dir():
        raise DialgaugeError(
            f"the dataset {dataset.name} is not in {folder.root}; 'dialgauge data get {dataset.name}' fetches it"
        )
    known = {path: member.sha256 for path, member in dataset.known_members.items()}
    receipt = folder.receipt(dataset.name)
    if receipt is None:
        files = [_beside(own_folder, path, checksum) for path, checksum in sorted(known.items())]
    else:
        files = [
            DatasetVerdict(
                entry.path,
                _state(own_folder / entry.path, known.get(entry.path, entry.sha256)),
                "catalogue" if entry.path in known else "first download",
            )
            for entry in receipt.files
        ]
        files += _added(own_folder, {entry.path for entry in receipt.files})
    return Verification(dataset.name, str(own_folder), receipt is not None, tuple(files))


def _state(path: Path, checksum: str) -> State:
    try:
        return "right" if sha256_of(path) == checksum else "changed"
    except (FileNotFoundError, NotADirectoryError):
        return "missing"
    except (OSError, ValueError):  # ValueError: a name that no system takes
        return "unreadable"


def _beside(own_folder: Path, path: str, checksum: str) -> DatasetVerdict:
    """A file that may be there plain or as ``.gz``."""
    packed = own_folder / f"{path}.gz"
    if (own_folder / path).exists() or not packed.exists():
        return DatasetVerdict(path, _state(own_folder / path, checksum), "catalogue")
    try:
        with gzip.open(packed, "rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, EOFError, zlib.error):
        return DatasetVerdict(f"{path}.gz", "unreadable", "catalogue")
    return DatasetVerdict(f"{path}.gz", "right" if content == checksum else "changed", "catalogue")


def _added(own_folder: Path, expected: set[str]) -> list[DatasetVerdict]:
    here = sorted(item.relative_to(own_folder).as_posix() for item in own_folder.rglob("*") if item.is_file())
    return [DatasetVerdict(path, "added", "") for path in here if path not in expected and path != RECEIPT]


_UNITS = ("bytes", "kB", "MB", "GB", "TB")


class DatasetState(Struct, frozen=True, kw_only=True):
    """One dataset of the catalogue, and whether it is on this disk."""

    name: str
    title: str
    here: str
    path: str
    #: Bytes to download as far as known; ``None`` if nothing is known.
    size: int | None
    size_complete: bool
    checksums: str
    addresses: list[str]
    home: str
    licence: str
    citation: str


def listing(known: Catalogue, folder: Folder) -> list[DatasetState]:
    """Every dataset of the catalogue."""
    return [_item(dataset, folder) for dataset in known.datasets]


def _item(dataset: Dataset, folder: Folder) -> DatasetState:
    size, complete = dataset.known_size
    return DatasetState(
        name=dataset.name,
        title=dataset.title,
        here=_here(dataset, folder),
        path=str(dataset_folder(dataset, folder)),
        size=size or None,
        size_complete=complete,
        checksums=_checksums(dataset),
        addresses=[remote.url for remote in dataset.remotes],
        home=dataset.home,
        licence=dataset.licence,
        citation=dataset.citation,
    )


def _here(dataset: Dataset, folder: Folder) -> str:
    if not dataset_folder(dataset, folder).is_dir():
        return "no"
    return "yes" if folder.receipt(dataset.name) is not None else "put there by hand"


def _checksums(dataset: Dataset) -> str:
    if dataset.checksums_known:
        return "known"
    return "some files" if dataset.known_members else "kept at first download"


def readable(size: int | None, complete: bool = True) -> str:
    """Bytes for people.

    >>> readable(276_797_805), readable(1_500, complete=False), readable(None)
    ('277 MB', 'over 1.5 kB', 'unknown')
    >>> [readable(size) for size in (0, 999, 9_940, 999_999, 5 << 40)]
    ['0 bytes', '999 bytes', '9.9 kB', '1.0 MB', '5.5 TB']
    """
    if size is None:
        return "unknown"
    amount, unit = float(size), 0
    while amount >= 999.5 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    text = f"{amount:.0f}" if unit == 0 or amount >= 9.95 else f"{amount:.1f}"
    return f"{'' if complete else 'over '}{text} {_UNITS[unit]}"


def listing_table(items: Iterable[DatasetState], folder: Folder) -> Table:
    """The catalogue as a table for people."""
    last = [Column("checksum", drop=2), Column("licence", drop=1)]
    table = Table("Datasets", ["name", "what", "here", "download", *last])
    for item in items:
        size = readable(item.size, item.size_complete)
        table.add(item.name, item.title, item.here, size, item.checksums, item.licence)
    table.notes.append(
        f"Folder: {folder.root} (set DIALGAUGE_DATA to change it). 'dialgauge data get NAME' fetches one."
    )
    table.notes.append("Addresses and citations: 'dialgauge data list --json -'.")
    return table


def verification_table(results: Iterable[Verification]) -> Table:
    """One row for each dataset; files that are not right are named below."""
    table = Table("Verification", ["dataset", "right", "changed", "missing", "unreadable", "added", "verdict"])
    for result in results:
        counts = [result.count(state) for state in ("right", "changed", "missing", "unreadable", "added")]
        if result.sound:
            verdict = "sound"
        else:
            verdict = "not sound" if any(counts) else "cannot be verified: no checksum is known"
        table.add(result.dataset, *counts, verdict)
        table.notes += [f"{result.dataset}/{file.path}: {file.state}" for file in result.files if file.state != "right"]
    return table
