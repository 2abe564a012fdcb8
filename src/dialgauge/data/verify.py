"""Is a dataset on this disk still what was fetched, and what the catalogue knows?"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.data.catalogue import Dataset
from dialgauge.data.folder import RECEIPT, Folder, sha256_of
from dialgauge.errors import DialgaugeError

State: TypeAlias = Literal["right", "changed", "missing", "added", "unreadable"]

_BLOCK = 1 << 20


class Verdict(Struct, frozen=True):
    """What became of one file; ``known_by`` says whose checksum it was compared with."""

    path: str
    state: State
    known_by: Literal["catalogue", "first download", ""]


class Verification(Struct, frozen=True):
    """All files of a dataset, and whether dialgauge fetched it (there is a receipt) or somebody put it there."""

    dataset: str
    folder: str
    fetched: bool
    files: tuple[Verdict, ...]

    def count(self, state: State) -> int:
        return sum(verdict.state == state for verdict in self.files)

    @property
    def sound(self) -> bool:
        """Nothing is changed, missing or unreadable, and something could be compared at all."""
        return bool(self.count("right")) and not any(self.count(s) for s in ("changed", "missing", "unreadable"))


def verify(dataset: Dataset, folder: Folder) -> Verification:
    """Compare every file with the receipt and with the catalogue. A folder without receipt is compared with the
    catalogue alone; its files may be compressed one by one (``NAME.gz``)."""
    place = folder.path(dataset.name)
    if not place.is_dir():
        raise DialgaugeError(
            f"the dataset {dataset.name} is not in {folder.root}; 'dialgauge data get {dataset.name}' fetches it"
        )
    known = {path: member.sha256 for path, member in dataset.known_members.items()}
    receipt = folder.receipt(dataset.name)
    if receipt is None:
        files = [_beside(place, path, checksum) for path, checksum in sorted(known.items())]
    else:
        files = [
            Verdict(
                entry.path,
                _state(place / entry.path, known.get(entry.path, entry.sha256)),
                "catalogue" if entry.path in known else "first download",
            )
            for entry in receipt.files
        ]
        files += _added(place, {entry.path for entry in receipt.files})
    return Verification(dataset.name, str(place), receipt is not None, tuple(files))


def _state(path: Path, checksum: str) -> State:
    try:
        return "right" if sha256_of(path) == checksum else "changed"
    except (FileNotFoundError, NotADirectoryError):
        return "missing"
    except OSError:
        return "unreadable"


def _beside(place: Path, path: str, checksum: str) -> Verdict:
    """A file that may be there plain or as ``.gz``."""
    packed = place / f"{path}.gz"
    if (place / path).exists() or not packed.exists():
        return Verdict(path, _state(place / path, checksum), "catalogue")
    digest = hashlib.sha256()
    try:
        with gzip.open(packed, "rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    except (OSError, EOFError, zlib.error):
        return Verdict(f"{path}.gz", "unreadable", "catalogue")
    return Verdict(f"{path}.gz", "right" if digest.hexdigest() == checksum else "changed", "catalogue")


def _added(place: Path, expected: set[str]) -> list[Verdict]:
    here = sorted(item.relative_to(place).as_posix() for item in place.rglob("*") if item.is_file())
    return [Verdict(path, "added", "") for path in here if path not in expected and path != RECEIPT]
