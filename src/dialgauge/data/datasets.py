"""The datasets dialgauge can fetch: address, size, checksum, licence and citation, read from ``datasets.yaml``.

A size or checksum that is not given there is not known, and is shown as such. Such a file is trusted at its first
download, and every later one must be the same.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import unquote, urlsplit

from msgspec import Struct, structs

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.yaml_file import parse_yaml


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
