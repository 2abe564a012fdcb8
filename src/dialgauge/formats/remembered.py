"""Parts of a file that repeat, worked out once for each text.

A state stays the same over many turns, and a good prediction is the same as the gold state. So states are left
undecoded at first (``msgspec.Raw``), and each different text is decoded and built once; turns then share the state.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Generic, TypeVar

import msgspec

from dialgauge.formats.base import decode
from dialgauge.formats.source import Part

T = TypeVar("T")

#: A member that is not there, and one that says so.
_NOTHING = (b"", b"null")


class Remembered(Generic[T]):
    """What ``make`` makes of decoded JSON, for one file."""

    def __init__(self, decoder: msgspec.json.Decoder[Any], make: Callable[[Any], T], part: Part) -> None:
        def made(content: bytes) -> T:
            return make(decode(decoder, content, part))

        self._made = cache(made)

    def read(self, raw: msgspec.Raw) -> T:
        """The meaning of a text that must be there."""
        return self._made(bytes(raw))

    def optional(self, raw: msgspec.Raw) -> T | None:
        """The meaning of a text, or ``None`` where there is none or it is ``null``."""
        content = bytes(raw)
        return None if content in _NOTHING else self._made(content)
