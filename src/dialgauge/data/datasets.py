"""The datasets dialgauge can fetch (``datasets.yaml``), the folder they live in, and which are on this disk.

A size or checksum that the catalogue does not give is not known, and is shown as such.

ROOT/NAME/             a dataset, whole or absent
ROOT/NAME/.dialgauge    its receipt: what was downloaded, with checksums
ROOT/.dialgauge/        work in progress, and locks

A collection made by hand may call a dataset's folder by another of its names (``multiwoz21``), and may have its files
gzipped one by one.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Struct, structs

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.report import Column, Page, Table
from dialgauge.yaml_file import parse_yaml

VARIABLE = "DIALGAUGE_DATA"
RECEIPT = ".dialgauge"


class Member(Struct, frozen=True, forbid_unknown_fields=True):
    """A file of an unpacked dataset whose content is known."""

    path: str
    sha256: str
    size: int | None = None


class Remote(Struct, frozen=True, forbid_unknown_fields=True):
    """A file to download: its address, where it goes in the dataset's folder, and what is known of its content."""

    url: str = ""
    path: str = ""
    sha256: str | None = None
    size: int | None = None
    #: For archives: unpack it, drop that many leading folders of each member, keep only members that match.
    unpack: bool = False
    strip: int = 0
    only: tuple[str, ...] = ()

    @property
    def file_name(self) -> str:
        """The last piece of the address, for messages and for the download's own file."""
        return PurePosixPath(unquote(urlsplit(self.url).path)).name or "download"


class Dataset(Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of the catalogue."""

    name: str
    title: str
    home: str
    licence: str
    citation: str
    files: tuple[Remote, ...]
    base: str = ""
    members: tuple[Member, ...] = ()
    #: Other names under which its folder is found, where somebody put it there by hand.
    also: tuple[str, ...] = ()
    #: How what was unpacked is arranged; nothing: as it came.
    layout: Literal["", "multiwoz"] = ""

    @property
    def folders(self) -> tuple[str, ...]:
        """The names that its folder may have, the one that ``get`` makes first."""
        return (self.name, *self.also)

    @property
    def remotes(self) -> tuple[Remote, ...]:
        """The files to download, each with its whole address."""
        return tuple(
            remote if remote.url else structs.replace(remote, url=self.base + remote.path) for remote in self.files
        )

    @property
    def known_members(self) -> dict[str, Member]:
        """Every file of the installed dataset whose content is known, by its path."""
        plain = (
            Member(path=remote.path, sha256=remote.sha256, size=remote.size)
            for remote in self.files
            if remote.sha256 and not remote.unpack
        )
        return {member.path: member for member in (*plain, *self.members)}

    @property
    def known_size(self) -> tuple[int, bool]:
        """Bytes to download as far as known, and whether that is all."""
        sizes = [remote.size for remote in self.files]
        return sum(size for size in sizes if size is not None), None not in sizes

    @property
    def checksums_known(self) -> bool:
        """Is the checksum of every download known beforehand?"""
        return all(remote.sha256 for remote in self.files)


class Catalogue(Struct, frozen=True, forbid_unknown_fields=True):
    """All entries, in the order they are shown."""

    datasets: tuple[Dataset, ...]

    def names(self) -> list[str]:
        return [dataset.name for dataset in self.datasets]

    def find(self, name: str) -> Dataset:
        """The dataset of that name, or an error with the nearest names."""
        for dataset in self.datasets:
            if dataset.name == name:
                return dataset
        raise DialgaugeError(f"there is no dataset named '{name}'.{nearest(name, self.names())}")


def parse_catalogue(content: bytes, name: str) -> Catalogue:
    """A catalogue from YAML; unknown keys and wrong types are errors."""
    return parse_yaml(content, name).as_record(Catalogue, "a catalogue of datasets")


@cache
def catalogue() -> Catalogue:
    """The catalogue that comes with dialgauge."""
    return parse_catalogue(resources.files("dialgauge.data").joinpath("datasets.yaml").read_bytes(), "datasets.yaml")


# -- the folder ------------------------------------------------------------------------------------------------------


class Receipt(Struct, frozen=True):
    """How a dataset came into its folder: the checksums of its downloads by address."""

    dataset: str
    downloads: dict[str, str]


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


# -- what is there ---------------------------------------------------------------------------------------------------


def listing_page(known: Catalogue, folder: Folder) -> Page:
    """Every dataset of the catalogue, and whether it is on this disk."""
    columns: list[str | Column] = [
        "name",
        "what",
        "here",
        "download",
        Column("checksum", spare=2),
        Column("licence", spare=1),
    ]
    table = Table("Datasets", [*columns, Column("home", spare=3), Column("citation", spare=4)])
    for dataset in known.datasets:
        here = "no"
        if dataset_folder(dataset, folder).is_dir():
            here = "yes" if folder.receipt(dataset.name) is not None else "own copy"
        size, complete = dataset.known_size
        download = f"{'' if complete else 'over '}{size / 1e6:,.1f} MB" if size else "unknown"
        checksum = "some files" if dataset.known_members else "unknown"
        checksum = "known" if dataset.checksums_known else checksum
        about = (dataset.licence, dataset.home, dataset.citation)
        table.add(dataset.name, dataset.title, here, download, checksum, *about)
    notes = [
        f"Folder: {folder.root} (set DIALGAUGE_DATA to change it). 'dialgauge data get NAME' fetches one.",
    ]
    return Page(title="Datasets", tables={"datasets": table}, notes=notes)
