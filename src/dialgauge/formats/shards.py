"""Inputs in many files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.files import sha256_of
from dialgauge.formats.document import is_document
from dialgauge.formats.packed import reading_errors
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

    def sha256(self) -> str:
        """The SHA-256 of its bytes."""
        with reading_errors(self.name):
            return sha256_of(Path(self.name))


def list_shards(sources: Iterable[str]) -> list[Shard]:
    """The files of some sources, each once, in the order of their names; documents (README, ...) are passed over."""
    named = {name for source in sources for name in expand(source)}
    names = sorted(name for name in named if not is_document(name.replace(os.sep, "/").rsplit("/", 1)[-1]))
    if not names:
        raise DialgaugeError("there is nothing to score: name at least one file of predictions")
    return [_shard(name, inside) for name, inside in zip(names, _inside(names), strict=True)]


def _shard(name: str, inside: str) -> Shard:
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
