"""What the systems are called whose predictions or dialogues lie in files, frames or memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.files import sha256_of
from dialgauge.formats.packed import reading_errors
from dialgauge.formats.source import expand, is_document

_ENDINGS = (
    ".gz", ".bz2", ".xz", ".json", ".jsonl", ".csv", ".tsv", ".parquet", ".tar", ".tgz", ".zip", ".txt", ".eval",
)  # fmt: skip


def system_name(source: str | Path) -> str:
    """What the system is called whose predictions or dialogues a source holds: its name without folders and endings.

    >>> system_name("runs/augpt-0.5.json.gz"), system_name("-")
    ('augpt-0.5', 'standard-input')
    """
    text = os.fspath(source)
    if text == "-":
        return "standard-input"
    pure = PurePath(text)
    while any(mark in pure.name for mark in "*?[") and pure.parent.name:  # a pattern is called as its folder
        pure = pure.parent
    name = pure.name or Path(text).resolve().name or text
    while ending := next((known for known in _ENDINGS if name.lower().endswith(known) and len(name) > len(known)), ""):
        name = name[: -len(ending)]
    return name


def system_names(sources: Iterable[str | Path]) -> list[str]:
    """Names for several sources: those that are called alike are told apart by their folders, else by their endings.

    >>> system_names(["a/mintl.json", "b/mintl.json", "augpt.json"])
    ['a/mintl', 'b/mintl', 'augpt']
    """
    texts = [os.fspath(source) for source in sources]
    short = [system_name(text) for text in texts]
    if len(set(short)) == len(short):
        return short
    places = [text if text == "-" else os.path.normpath(Path(text).absolute()) for text in texts]
    if again := next((text for number, text in enumerate(texts) if places[number] in places[:number]), None):
        raise DialgaugeError("it is given twice; give each file once", file="standard input" if again == "-" else again)
    return [
        name if short.count(name) == 1 else _told_apart(places[number], [*places[:number], *places[number + 1 :]])
        for number, name in enumerate(short)
    ]


def named_files(sources: object) -> dict[str, str]:
    """Systems by name, each of which lies in files: a mapping of names, or one or several files, folders, patterns."""
    if isinstance(sources, Mapping):
        named = dict(sources)
    else:
        several = sources if isinstance(sources, Iterable) and not isinstance(sources, str) else [sources]
        files = [file_name(source) for source in several]
        named = dict(zip(system_names(files), files, strict=True))
    return {name: file_name(source) for name, source in named.items()}


def file_name(source: object) -> str:
    """The name of a file, folder or pattern; an error where something else was given."""
    if isinstance(source, str | Path):
        return str(source)
    raise DialgaugeError(f"a file, a folder or a pattern is read here, not a {type(source).__name__}")


def _told_apart(path: str, others: Sequence[str]) -> str:
    """The name of a source with as many folders as it takes to differ from the others; if none do, with its ending."""

    def tail(file: str, depth: int, *, whole: bool) -> str:
        pure = PurePath(file)
        folders = pure.parent.parts[len(pure.parent.parts) - depth :]
        return "/".join([*folders, pure.name if whole else system_name(file)])

    for whole in (False, True):
        for depth in range(len(PurePath(path).parent.parts)):
            name = tail(path, depth, whole=whole)
            if all(tail(other, depth, whole=whole) != name for other in others):
                return name
    return path


def named_sources(sources: object, default: str = "system") -> dict[str, Any]:
    """Systems by name: a mapping of names, one or several files, or what is in memory, which is one system."""
    if isinstance(sources, Iterator):
        sources = list(sources)
    files = isinstance(sources, str | Path) or (
        isinstance(sources, list | tuple) and all(isinstance(each, str | Path) for each in sources)
    )
    if files and sources:
        return dict(named_files(sources))
    from dialgauge.formats.corpus import Corpus
    from dialgauge.formats.tables import is_frame

    if isinstance(sources, Mapping) and not is_frame(sources):
        named = dict(sources)
    elif isinstance(sources, Corpus) and sources.files:
        named = {system_name(sources.source): sources}
    else:
        named = {} if files else {default: sources}
    if not named:
        raise DialgaugeError("there is nothing to score: name at least one file")
    return named


# -- inputs in many files --------------------------------------------------------------------------------------------


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
