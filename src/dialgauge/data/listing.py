"""Datasets and their state as tables: what ``dialgauge data list`` and ``verify`` print."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from dialgauge.data.catalogue import Catalogue, Dataset
from dialgauge.data.folder import Folder
from dialgauge.data.verify import Verification
from dialgauge.report.table import Table

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


class Item(Struct, frozen=True, kw_only=True):
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


def listing(known: Catalogue, folder: Folder) -> list[Item]:
    """Every dataset of the catalogue."""
    return [_item(dataset, folder) for dataset in known.datasets]


def _item(dataset: Dataset, folder: Folder) -> Item:
    size, complete = dataset.known_size
    return Item(
        name=dataset.name,
        title=dataset.title,
        here=_here(dataset, folder),
        path=str(folder.path(dataset.name)),
        size=size or None,
        size_complete=complete,
        checksums=_checksums(dataset),
        addresses=[remote.url for remote in dataset.remotes],
        home=dataset.home,
        licence=dataset.licence,
        citation=dataset.citation,
    )


def _here(dataset: Dataset, folder: Folder) -> str:
    if not folder.path(dataset.name).is_dir():
        return "no"
    return "yes" if folder.receipt(dataset.name) is not None else "put there by hand"


def _checksums(dataset: Dataset) -> str:
    if dataset.checksums_known:
        return "known"
    return "some files" if dataset.members else "kept at first download"


def readable(size: int | None, complete: bool = True) -> str:
    """Bytes for people.

    >>> readable(276_797_805), readable(1_500, complete=False), readable(None)
    ('277 MB', 'over 1.5 kB', 'unknown')
    """
    if size is None:
        return "unknown"
    amount, unit = float(size), 0
    while amount >= 999.5 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    text = f"{amount:.0f}" if unit == 0 or amount >= 9.95 else f"{amount:.1f}"
    return f"{'' if complete else 'over '}{text} {_UNITS[unit]}"


def listing_table(items: Iterable[Item], folder: Folder) -> Table:
    """The catalogue as a table for people."""
    table = Table("Datasets", ["name", "what", "here", "download", "checksum", "licence"])
    for item in items:
        size = readable(item.size, item.size_complete)
        table.add(item.name, item.title, item.here, size, item.checksums, item.licence)
    table.notes.append(f"Folder: {folder.root} (DIALGAUGE_DATA moves it). 'dialgauge data get NAME' fetches one.")
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
            verdict = "not sound" if any(counts) else "nothing to compare with: no checksum is known"
        table.add(result.dataset, *counts, verdict)
        table.notes += [f"{result.dataset}/{file.path}: {file.state}" for file in result.files if file.state != "right"]
    return table
