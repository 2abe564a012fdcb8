"""Lists of names: small built-in ones, and longer ones a user brings along (a text file, one entry a line).

The built-in lists hold common given names that are no everyday words, large cities and countries, and booking
services. They are a start, not a promise: what must not get out belongs in a list of one's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from pathlib import Path

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats.source import resolve

#: The kinds of entity a list can name; each becomes the token of that name.
KINDS = ("person", "location", "org", "date", "time", "number", "phone", "email", "url")

_WORD = re.compile(r"\w+(?:['’-]\w+)*")

#: The kinds for which there is a list of ours.
BUILT_IN = ("person", "location", "org")


class Gazetteer:
    """Finds entries of any number of words in a text, the longest first, whatever their case."""

    def __init__(self, entries: Mapping[str, Iterable[str]]) -> None:
        """``entries``: kind to names. Where two kinds name the same thing, the later one wins."""
        self._kinds: dict[tuple[str, ...], str] = {}
        self._longest: dict[str, int] = {}
        for kind, names in entries.items():
            for name in names:
                words = tuple(_WORD.findall(name.lower()))
                if words:
                    self._kinds[words] = kind
                    self._longest[words[0]] = max(self._longest.get(words[0], 0), len(words))

    def find(self, text: str) -> list[tuple[int, int, str]]:
        """Start, end and kind of every entry, from left to right, none overlapping."""
        spans = [(found.start(), found.end(), found[0].lower()) for found in _WORD.finditer(text)]
        words = [word for _, _, word in spans]
        found, place = [], 0
        while place < len(words):
            size = self._size_at(words, place)
            if size:
                kind = self._kinds[tuple(words[place : place + size])]
                found.append((spans[place][0], spans[place + size - 1][1], kind))
            place += max(size, 1)
        return found

    def _size_at(self, words: list[str], place: int) -> int:
        """The number of words of the longest entry that begins here."""
        most = min(self._longest.get(words[place], 0), len(words) - place)
        return next((size for size in range(most, 0, -1) if tuple(words[place : place + size]) in self._kinds), 0)


def read_gazetteer(path: Path) -> list[str]:
    """The entries of a list file: one a line; empty lines and lines that begin with ``#`` do not count."""
    if path.is_dir():
        raise DialgaugeError("it is a folder; a list is one text file", file=str(path))
    entries = [entry for part in resolve(path) for entry in _entries(part.text())]
    if not entries:
        raise DialgaugeError("the list has no entries; write one a line", file=str(path))
    return entries


@cache
def built_in(kind: str) -> tuple[str, ...]:
    """The entries of a list of ours."""
    return tuple(_entries(resources.files("dialgauge.babi").joinpath("lists", f"{kind}.txt").read_text("utf-8")))


def _entries(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def check_kind(kind: str) -> str:
    """The kind itself, or an error with the nearest kinds."""
    if kind not in KINDS:
        raise DialgaugeError(f"there is no kind of entity '{kind}'.{nearest(kind, KINDS)}")
    return kind
