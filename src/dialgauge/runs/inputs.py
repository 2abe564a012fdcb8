"""Which bytes a run read: one fingerprint per source, so that two runs can be told apart by their data."""

from __future__ import annotations

import glob
import hashlib
import os
from os import PathLike, fspath
from pathlib import Path

from dialgauge.errors import DialgaugeError
from dialgauge.runs.manifest import Input, plain


def fingerprint(source: str | PathLike[str]) -> Input:
    """Path, number of files, size and SHA-256 of a source.

    A single file has the SHA-256 of its bytes as they lie on the disk (packed, if it is packed), as ``sha256sum``
    prints it. A folder or a pattern has the SHA-256 of the lines ``digest  relative/name`` of its files in name
    order, hidden files left out. Standard input (``-``) has passed when a run is stored: no files, no digest.
    """
    text = fspath(source)
    if text == "-":
        return Input(path=plain(text), files=0, size=0, sha256="")
    path = Path(text)
    try:
        if path.is_file():
            return Input(path=plain(text), files=1, size=path.stat().st_size, sha256=sha256(path))
        root, files = _files(text, path)
        lines = "".join(f"{sha256(file)}  {file.relative_to(root).as_posix()}\n" for file in files)
        size = sum(file.stat().st_size for file in files)
    except OSError as error:
        raise DialgaugeError(f"it cannot be read ({error.strerror})", file=text) from error
    return Input(
        path=plain(text),
        files=len(files),
        size=size,
        sha256=hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest(),
    )


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _files(text: str, path: Path) -> tuple[Path, list[Path]]:
    """The files of a folder or a pattern, and the folder their names are relative to."""
    if path.is_dir():
        found = (file for file in path.rglob("*") if file.is_file())
        return path, sorted(file for file in found if not _hidden(file.relative_to(path)))
    matches = sorted(Path(name) for name in glob.glob(text, recursive=True) if Path(name).is_file())
    if not matches:
        raise DialgaugeError("there is no such file or folder", file=text)
    return Path(os.path.commonpath([file.parent for file in matches])), matches


def _hidden(path: Path) -> bool:
    return any(piece.startswith(".") for piece in path.parts)
