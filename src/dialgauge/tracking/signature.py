"""Signatures: everything that could change a score, in one line, so that two people can tell whether theirs compare.

    JGA(over=turns)|profile:canon@1-ca683712|slots:30|coverage:intersection|dialogues:1000|turns:7372|gold:…|version:0.1.0

``gold`` is a checksum of the scored gold turns under the profile: it does not depend on the order of dialogues or on
the file format, but on which turns were scored and on every gold value. The short form abbreviates the keys.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from dialgauge._version import __version__
from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.tracking.align import Aligned
from dialgauge.tracking.encode import Codes

_SHORT = {
    "measure": "m",
    "profile": "p",
    "slots": "s",
    "coverage": "c",
    "dialogues": "d",
    "turns": "t",
    "gold": "g",
    "interval": "i",
    "version": "v",
}
_LONG = {short: long for long, short in _SHORT.items()}


@dataclass(frozen=True, kw_only=True)
class Signature:
    """The settings behind a score. Empty fields are not printed: a whole report has no single measure."""

    measure: str = ""
    profile: str = ""
    slots: str = ""
    coverage: str = ""
    dialogues: str = ""
    turns: str = ""
    gold: str = ""
    interval: str = ""
    version: str = __version__

    def long(self) -> str:
        """With whole keys."""
        return "|".join(f"{key}:{value}" for key, value in self._filled())

    def short(self) -> str:
        """With one letter per key."""
        return "|".join(f"{_SHORT[key]}:{value}" for key, value in self._filled())

    __str__ = long

    def _filled(self) -> list[tuple[str, str]]:
        return [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name)]

    @classmethod
    def parse(cls, text: str) -> Signature:
        """A signature from either form."""
        found: dict[str, str] = {}
        for part in text.strip().split("|"):
            key, colon, value = part.partition(":")
            name = _LONG.get(key, key)
            if not colon or name not in _SHORT or name in found or not value:
                raise DialgaugeError(f"'{text}' is no signature: '{part}' is not one of its parts")
            found[name] = value
        if "version" not in found:
            raise DialgaugeError(f"'{text}' is no signature: it names no version")
        return cls(**found)

    def differences(self, other: Signature) -> list[str]:
        """What keeps two scores from being comparable, as readable pairs; empty when nothing does."""
        return [
            f"{f.name}: {getattr(self, f.name) or '-'} / {getattr(other, f.name) or '-'}"
            for f in fields(self)
            if getattr(self, f.name) != getattr(other, f.name)
        ]


def gold_checksum(
    aligned: Aligned, cells: tuple[Codes, Codes, Codes], slots: list[tuple[str, str]], values: list[tuple[str, ...]]
) -> str:
    """A checksum of the scored gold turns that is the same in whatever order they come."""
    turn_hash = _mixed(_hashes([dialogue_key(name) for name in aligned.ids])[aligned.dialogue], aligned.turn + 1)
    turn, slot, code = cells
    slot_hash = _hashes(["\0".join(pair) for pair in slots])
    used, inverse = np.unique(code, return_inverse=True)
    value_hash = _hashes(["\0".join(sorted(values[number])) for number in used.tolist()])
    cell_hash = _mixed(turn_hash[turn] ^ slot_hash[slot], value_hash[inverse])
    total = (int(turn_hash.sum(dtype=np.uint64)) + int(cell_hash.sum(dtype=np.uint64))) % (1 << 64)
    return f"{total:016x}"[:12]


def _hashes(texts: list[str]) -> NDArray[np.uint64]:
    digests = b"".join(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, np.dtype("<u8")).astype(np.uint64)


def _mixed(left: NDArray[np.uint64], right: NDArray[np.uint64] | Codes) -> NDArray[np.uint64]:
    """Two numbers into one, so that no swap or shift of parts goes unnoticed (the finaliser of splitmix64)."""
    mixed = left * np.uint64(0x9E3779B97F4A7C15) + right.astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
