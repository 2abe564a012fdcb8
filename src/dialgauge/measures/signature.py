"""Signatures: everything that could change a score, in one line, so that two people can tell whether theirs compare.

    measure:JGA(over=turns)|profile:canon@1-ca683712|slots:30|coverage:intersection|dialogues:1000|…|version:0.2.0

One grammar for all families: parts ``key:value`` in the family's order, the measure first, the version last. The short
form has one letter for each key that is well known.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from urllib.parse import unquote

from dialgauge._version import __version__
from dialgauge.errors import DialgaugeError

MEASURE, VERSION = "measure", "version"

_SHORT = {
    MEASURE: "m",
    "profile": "p",
    "slots": "s",
    "coverage": "c",
    "dialogues": "d",
    "turns": "t",
    "gold": "g",
    "roles": "r",
    "interval": "i",
    VERSION: "v",
}
_LONG = {short: long for long, short in _SHORT.items()}
_KEY = re.compile(r"[a-z][a-z0-9_-]*")


class Signature(Mapping[str, str]):
    """The settings behind a score: parts by key. Two are equal when their parts are, in whatever order.

    Empty parts are left out; ``version`` is that of this dialgauge unless it is given.
    """

    __slots__ = ("_parts",)

    def __init__(self, **parts: str) -> None:
        for key in parts:
            if not _KEY.fullmatch(key) or key in _LONG:
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
        """The signature with whole keys."""
        return "|".join(f"{key}:{_escaped(value)}" for key, value in self._parts.items())

    def short(self) -> str:
        """The signature with one letter for each well-known key."""
        return "|".join(f"{_SHORT.get(key, key)}:{_escaped(value)}" for key, value in self._parts.items())

    __str__ = long

    @classmethod
    def parse(cls, text: str) -> Signature:
        """A signature from either form."""
        parts: dict[str, str] = {}
        for part in text.lstrip().rstrip("\r\n").split("|"):
            key, colon, value = part.partition(":")
            name = _LONG.get(key, key)
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


def short_form(text: str) -> str:
    """Signatures in their long form, joined by plus signs, in the short one; what another version wrote as it is."""
    try:
        return " + ".join(Signature.parse(name).short() for name in text.split(" + "))
    except DialgaugeError:
        return text


def without_intervals(text: str) -> str:
    """Signatures in either form, joined by plus signs, without how intervals were made."""
    signatures = ([part for part in name.split("|") if not part.startswith(_INTERVALS)] for name in text.split(" + "))
    return " + ".join(map("|".join, signatures))


#: Parts that tell a program more than a reader: the first to go from a screen.
_FOR_PROGRAMS = frozenset(
    {
        "gold",
        "roles",
        "interval",
        "intervals",
        "test",
        "resamples",
        "seed",
        "correction",
        "one_more_unit",
        "libraries",
        "python",
    }
)
#: Parts that concern intervals, and in the signature of a comparison also its tests; never the values.
_INTERVALS = ("interval:", "intervals:", "i:")
_OF_INTERVALS = frozenset({"interval"})
_OF_TESTS = frozenset({"interval", "intervals", "test", "resamples", "seed", "correction", "one_more_unit"})


def screen_form(text: str, width: int | None) -> str:
    """A signature in its short form, on one line of a screen.

    What does not fit is replaced by ``sig:`` and a digest of all parts that concern the values: scores whose intervals
    or tests were made otherwise have the same one.
    """
    short = short_form(text)
    if width is None or len(short) <= width:
        return short
    digest = f"sig:{_digest(text)}"
    try:
        agreed = _agreed([Signature.parse(name) for name in text.split(" + ")])
    except DialgaugeError:
        return digest
    kept = {VERSION} & agreed.keys()
    for key in sorted(agreed, key=lambda key: key in _FOR_PROGRAMS):
        if len(_short_parts(digest, agreed, kept | {key})) <= width:
            kept.add(key)
    return _short_parts(digest, agreed, kept)


def _agreed(signatures: Sequence[Signature]) -> dict[str, str]:
    """The parts of several signatures in which all agree that have them, the version last."""
    values: dict[str, set[str]] = {}
    for signature in signatures:
        for key, value in signature.items():
            values.setdefault(key, set()).add(value)
    order = [*(key for key in values if key != VERSION), VERSION]
    return {key: next(iter(values[key])) for key in order if len(values[key]) == 1}


def _short_parts(digest: str, parts: Mapping[str, str], keys: Collection[str]) -> str:
    shown = (f"{_SHORT.get(key, key)}:{_escaped(value)}" for key, value in parts.items() if key in keys)
    return "|".join([digest, *shown])


def _digest(text: str) -> str:
    """Eight hexadecimal digits of the SHA-256 of what signatures, joined by plus signs, say about the values."""
    try:
        values = [_of_values(Signature.parse(name)) for name in text.split(" + ")]
    except DialgaugeError:
        values = []
    merged = _agreed(values)
    agree = values and merged.keys() == set().union(*values)
    shared = Signature(**dict(sorted(merged.items()))).long() if agree else " + ".join(each.long() for each in values)
    return sha256((shared or text).encode()).hexdigest()[:8]


def _of_values(signature: Signature) -> Signature:
    """A signature without what concerns intervals and tests alone."""
    gone = _OF_TESTS if "test" in signature else _OF_INTERVALS
    return Signature(**{key: value for key, value in signature.items() if key not in gone})


def _escaped(value: str) -> str:
    """A value without what ends a part or a line."""
    for mark in "%|\n\r":
        value = value.replace(mark, f"%{ord(mark):02X}")
    return value
