"""Names of systems: from their files, unique among several."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

from dialgauge.errors import DialgaugeError
from dialgauge.formats.source import expand, is_document

_ENDINGS = (
    ".gz", ".bz2", ".xz", ".json", ".jsonl", ".csv", ".tsv", ".parquet", ".tar", ".tgz", ".zip", ".txt", ".eval",
)  # fmt: skip


def system_name(source: str | Path) -> str:
    """The name of a system from its source: without folders and endings.

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
    names = short
    for whole in (False, True):
        for depth in range(max(len(PurePath(place).parts) for place in places)):
            longer = [_tail(place, depth, whole=whole) for place in places]
            names = [
                own if own in names and names.count(own) == 1 else name for own, name in zip(names, longer, strict=True)
            ]
            if len(set(names)) == len(names):
                return names
    return places


def _tail(file: str, depth: int, *, whole: bool) -> str:
    """The name of a source with some of its folders, ``whole`` with its ending."""
    folders = PurePath(file).parent.parts
    return "/".join([*folders[max(len(folders) - depth, 0) :], PurePath(file).name if whole else system_name(file)])


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


def list_shards(sources: Iterable[str]) -> list[str]:
    """The files of some sources, each once, in name order; documents (README, ...) are passed over."""
    named = {name for source in sources for name in expand(source)}
    names = sorted(name for name in named if not is_document(name.replace(os.sep, "/").rsplit("/", 1)[-1]))
    if not names:
        raise DialgaugeError("there is nothing to score: name at least one file of predictions")
    return names
