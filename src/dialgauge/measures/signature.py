"""Signatures: everything that could change a score, in one line, so that two people can tell whether theirs compare.

    measure:JGA(over=turns)|profile:canon@1-ca683712|slots:30|coverage:intersection|dialogues:1000|…|version:0.3.0

One grammar for all families: parts ``key:value`` in the family's order, the measure first, the version last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from dialgauge._version import __version__
from dialgauge.errors import DialgaugeError

MEASURE, VERSION = "measure", "version"

_KEY = re.compile(r"[a-z][a-z0-9_-]*")


class Signature(Mapping[str, str]):
    """The settings behind a score: parts by key. Two are equal when their parts are, in whatever order.

    Empty parts are left out; ``version`` is that of this dialgauge unless it is given.
    """

    __slots__ = ("_parts",)

    def __init__(self, **parts: str) -> None:
        for key in parts:
            if not _KEY.fullmatch(key):
                raise ValueError(f"no part of a signature can be called {key!r}")
        first, last = parts.pop(MEASURE, ""), parts.pop(VERSION, __version__)
        ordered = {MEASURE: first, **parts, VERSION: last}
        self._parts = {key: value for key, value in ordered.items() if value}

    def __getitem__(self, key: str) -> str:
        return self._parts[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __hash__(self) -> int:
        return hash(frozenset(self._parts.items()))

    def __repr__(self) -> str:
        return f"Signature({self.long()!r})"

    def long(self) -> str:
        """The signature as text."""
        return "|".join(f"{key}:{_escaped(value)}" for key, value in self._parts.items())

    __str__ = long

    @classmethod
    def parse(cls, text: str) -> Signature:
        """A signature from its text."""
        parts: dict[str, str] = {}
        for part in text.lstrip().rstrip("\r\n").split("|"):
            name, colon, value = part.partition(":")
            if not colon or not _KEY.fullmatch(name) or name in parts or not value:
                raise DialgaugeError(f"'{text}' is not a signature: '{part}' is not one of its parts")
            parts[name] = unquote(value)
        if VERSION not in parts:
            raise DialgaugeError(f"'{text}' is not a signature: it names no version")
        return cls(**parts)

    def with_(self, **parts: str) -> Signature:
        """The same with these parts changed, added before the version, or (where empty) taken away."""
        return Signature(**{**self._parts, **parts})

    def differences(self, other: Signature) -> dict[str, tuple[str | None, str | None]]:
        """The parts that keep two scores from being comparable, with both values; empty when nothing does."""
        keys = dict.fromkeys((*self, *other))
        return {key: (self.get(key), other.get(key)) for key in keys if self.get(key) != other.get(key)}

    @staticmethod
    def shared(signatures: Iterable[Signature]) -> Signature:
        """The parts that all of them have in common; of no signatures, the version alone."""
        first, *others = list(signatures) or [Signature()]
        common = {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}
        return Signature(**{VERSION: "", **common})


def _escaped(value: str) -> str:
    """A value without what ends a part or a line."""
    for mark in "%|\n\r":
        value = value.replace(mark, f"%{ord(mark):02X}")
    return value
