"""Which datasets there are, and which are on this disk."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from dialgauge.data.datasets import Catalogue, Dataset
from dialgauge.data.folder import Folder, dataset_folder
from dialgauge.rendering import Column, Table

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
