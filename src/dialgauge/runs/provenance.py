"""Where a run comes from: its command, configuration and seeds, the bytes it read, and the versions it used."""

from __future__ import annotations

import glob
import hashlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from os import PathLike, fspath
from pathlib import Path
from platform import python_version
from typing import Any, TypeAlias

import msgspec

from dialgauge._version import __version__
from dialgauge.errors import DialgaugeError
from dialgauge.files import sha256_of
from dialgauge.plugins import version_of
from dialgauge.runs.manifest import MOST_SEED, Input, Manifest, plain
from dialgauge.text import without_secrets

#: A file, folder or pattern, or what it was read as and that; or what was found out while it was read.
Source: TypeAlias = str | PathLike[str] | tuple[str, str | PathLike[str]] | Input

#: Packages whose version can change a number; those that are installed go into the manifest.
KEY_PACKAGES = ("duckdb", "msgspec", "numpy", "polars", "rapidfuzz", "torch")


def draft(
    *,
    kind: str,
    name: str,
    config: Mapping[str, Any] | None = None,
    seeds: int | Sequence[int] | None = None,
    signature: object = "",
) -> Manifest:
    """What is known about a run at once; its id, its inputs and the versions are still to be filled in."""
    return Manifest(
        id="",
        kind=kind,
        name=plain(name),
        created=datetime.now(UTC),
        command=plain(this_command()),
        config=plain(dict(config or {})),
        seeds=[] if seeds is None else _seeds([seeds] if isinstance(seeds, int) else seeds),
        signature=plain(str(signature)),
    )


def this_command() -> list[str]:
    """The command line of this process, without passwords and queries of addresses."""
    return [Path(sys.argv[0]).name, *map(without_secrets, sys.argv[1:])]


def _seeds(given: Sequence[int]) -> list[int]:
    for seed in given:
        if not -MOST_SEED <= seed <= MOST_SEED:
            raise DialgaugeError(f"a seed must be at most {MOST_SEED} (got {seed})")
    return list(given)


def with_origin(manifest: Manifest, inputs: Iterable[Source]) -> Manifest:
    """The manifest with the fingerprints of what was read and the versions of what read it."""
    return msgspec.structs.replace(manifest, inputs=[_input(source) for source in inputs], versions=dict(versions()))


def _input(source: Source) -> Input:
    if isinstance(source, Input):
        return source
    role, path = source if isinstance(source, tuple) else ("", source)
    return fingerprint(path, role)


@cache
def versions() -> Mapping[str, str]:
    """The versions of dialgauge, Python and the packages that numbers depend on."""
    known = {"dialgauge": __version__, "python": python_version()}
    return known | {package: version for package in KEY_PACKAGES if (version := version_of(package))}


def fingerprint(source: str | PathLike[str], role: str = "") -> Input:
    """Path, role, number of files, size and SHA-256 of a source.

    A single file has the SHA-256 of its bytes as they lie on the disk (packed, if it is packed), as ``sha256sum``
    prints it. A folder or a pattern has the SHA-256 of the lines ``digest  relative/name`` of its files in name
    order, hidden files left out. Standard input (``-``) has passed when a run is stored: no files, no digest.
    """
    text = fspath(source)
    if text == "-":
        return Input(path=plain(text), role=role, files=0, size=0, sha256="")
    path = Path(text)
    try:
        if path.is_file():
            return Input(path=plain(text), role=role, files=1, size=path.stat().st_size, sha256=sha256_of(path))
        root, files = _files(text, path)
        lines = "".join(f"{sha256_of(file)}  {file.relative_to(root).as_posix()}\n" for file in files)
        size = sum(file.stat().st_size for file in files)
    except OSError as error:
        raise DialgaugeError(f"it cannot be read ({error.strerror})", file=text) from error
    return Input(
        path=plain(text),
        role=role,
        files=len(files),
        size=size,
        sha256=hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest(),
    )


def _files(text: str, path: Path) -> tuple[Path, list[Path]]:
    """The files of a folder or a pattern, and the folder their names are relative to."""
    if path.is_dir():
        files = (file for file in path.rglob("*") if file.is_file())
        return path, sorted(file for file in files if not _hidden(file.relative_to(path)))
    matches = sorted(Path(name) for name in glob.glob(text, recursive=True) if Path(name).is_file())
    if not matches:
        raise DialgaugeError("there is no such file or folder", file=text)
    return Path(os.path.commonpath([file.parent for file in matches])), matches


def _hidden(path: Path) -> bool:
    return any(piece.startswith(".") for piece in path.parts)
