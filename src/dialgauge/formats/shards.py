"""Inputs in many files: which files there are, and one of them at a time on the machine that works on it."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.formats.document import is_document
from dialgauge.formats.packed import CHUNK, reading_errors
from dialgauge.formats.remote import is_url, open_url, state_of_url
from dialgauge.formats.source import expand


class Shard(Struct, frozen=True):
    """One file of an input: its name, what it is called inside its input, its size, and a text that changes with it."""

    name: str
    inside: str
    size: int
    state: str

    @property
    def key(self) -> str:
        """What identifies the content as far as it can be told without reading it."""
        facts = f"{self.name}\0{self.size}\0{self.state}"
        return hashlib.sha256(facts.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def list_shards(sources: Iterable[str]) -> list[Shard]:
    """The files of some sources, each once, in the order of their names; documents (README, ...) are passed over."""
    named = {name for source in sources for name in expand(source)}
    names = sorted(name for name in named if not is_document(name.replace(os.sep, "/").rsplit("/", 1)[-1]))
    if not names:
        raise DialgaugeError("there is nothing to score: name at least one file of predictions")
    return [_shard(name, inside) for name, inside in zip(names, _inside(names), strict=True)]


def _shard(name: str, inside: str) -> Shard:
    if is_url(name):
        return Shard(name, inside, *state_of_url(name))
    with reading_errors(name):
        facts = Path(name).stat()
        return Shard(name, inside, facts.st_size, f"{facts.st_mtime_ns}-{facts.st_ctime_ns}-{facts.st_ino}")


def _inside(names: list[str]) -> list[str]:
    """The names without the folder that they share."""
    pieces = [name.replace(os.sep, "/").split("/") for name in names]
    shared = 0
    while all(len(piece) > shared + 1 and piece[: shared + 1] == pieces[0][: shared + 1] for piece in pieces):
        shared += 1
    return ["/".join(piece[shared:]) for piece in pieces]


@contextmanager
def on_this_machine(shard: Shard) -> Iterator[tuple[Path, str]]:
    """A path to the file here and the SHA-256 of its bytes; a file that lies elsewhere is fetched for the while."""
    if not is_url(shard.name):
        with reading_errors(shard.name), Path(shard.name).open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        yield Path(shard.name), digest
        return
    # Not within reading_errors(): a full disk here is this machine's fault, which the engine must see.
    with tempfile.TemporaryDirectory(prefix="dialgauge-") as folder:
        copy = Path(folder, shard.name.rsplit("/", 1)[-1])
        digest = _fetched(shard.name, copy)
        yield copy, digest


def _fetched(name: str, target: Path) -> str:
    digest = hashlib.sha256()
    with open_url(name) as stream, target.open("wb") as out:
        while True:
            try:
                piece = stream.read(CHUNK)
            except Exception as error:  # every file system has errors of its own
                raise DialgaugeError(f"it cannot be read ({' '.join(str(error).split())[:300]})", file=name) from error
            if not piece:
                return digest.hexdigest()
            digest.update(piece)
            out.write(piece)
