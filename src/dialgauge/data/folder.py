"""The folder datasets live in, and the receipts that say how each came there.

ROOT/NAME/             a dataset, whole or absent
ROOT/NAME/.dialgauge    its receipt: what was downloaded, and the size and checksum of every file
ROOT/.dialgauge/        work in progress, locks, and the checksums seen at first downloads

A collection made by hand may call a dataset's folder by another of its names (``multiwoz21``), and may have its files
gzipped one by one.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from dialgauge.data.datasets import Dataset, catalogue
from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic

VARIABLE = "DIALGAUGE_DATA"
RECEIPT = ".dialgauge"


class Entry(Struct, frozen=True):
    """A file, its size and its checksum."""

    path: str
    size: int
    sha256: str


class Receipt(Struct, frozen=True):
    """How a dataset came into its folder: downloads by address, and the files they gave."""

    dataset: str
    downloads: tuple[Entry, ...]
    files: tuple[Entry, ...]


class Folder:
    """The root folder with everything in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, name: str) -> Path:
        """Where a dataset is, or would be."""
        return self.root / name

    @property
    def work(self) -> Path:
        """Where work in progress lies: on the same disk, so that moving into place is one step."""
        return self.root / ".dialgauge"

    def lock_file(self, name: str) -> Path:
        """Held by whoever changes a dataset."""
        return self.work / f"{name}.lock"

    def receipt(self, name: str) -> Receipt | None:
        """The receipt of a dataset that dialgauge put there; ``None`` without one."""
        path = self.path(name) / RECEIPT
        try:
            return msgspec.json.decode(path.read_bytes(), type=Receipt)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise DialgaugeError(f"it cannot be read ({error.strerror})", file=str(path)) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise DialgaugeError(
                f"this receipt is damaged; remove the folder {path.parent} and fetch the dataset again", file=str(path)
            ) from error

    def first_seen(self) -> dict[str, str]:
        """Checksums kept at the first download of files whose checksum nobody published, by address."""
        path = self.work / "first_seen.json"
        try:
            return msgspec.json.decode(path.read_bytes(), type=dict[str, str])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise DialgaugeError("the list of first checksums is damaged; remove it", file=str(path)) from error

    def remember(self, checksums: dict[str, str]) -> None:
        """Keep checksums of first downloads."""
        if not checksums:
            return
        together = self.first_seen() | checksums
        with atomic(self.work / "first_seen.json") as scratch:
            scratch.write_bytes(msgspec.json.format(msgspec.json.encode(together, order="sorted")) + b"\n")


def data_folder() -> Folder:
    """The folder named by ``DIALGAUGE_DATA``, else the user's data folder of the platform."""
    named = os.environ.get(VARIABLE)
    if named:
        return Folder(Path(named).expanduser())
    import platformdirs

    return Folder(Path(platformdirs.user_data_dir("dialgauge", appauthor=False)) / "datasets")


def dataset_folder(dataset: Dataset, folder: Folder) -> Path:
    """The folder in which a dataset is, or would be."""
    places = [folder.path(name) for name in dataset.folders]
    return next((path for path in places if path.is_dir()), places[0])


def dataset_file(root: Path | None, dataset: str, path: str) -> Path | None:
    """A file (or folder) of a dataset below the root of all datasets; ``None`` where it is not."""
    if root is None:
        return None
    candidates = (
        root / name / f"{path}{ending}" for name in catalogue().find(dataset).folders for ending in ("", ".gz")
    )
    return next((candidate for candidate in candidates if candidate.exists()), None)
