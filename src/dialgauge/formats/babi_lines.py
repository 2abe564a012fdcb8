"""The line all dialog bAbI files share: a number, one space, the rest.

Three kinds of file use it: dialogs (the number counts lines within a dialog), candidates and knowledge bases (the
number is always 1).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part, decode_utf8

#: The relations of the released files: seven of tasks 1-5, and the post code of task 6.
RELATIONS = (
    "R_cuisine",
    "R_location",
    "R_price",
    "R_rating",
    "R_phone",
    "R_address",
    "R_number",
    "R_post_code",
)

_LINE = re.compile(r"([0-9]{1,7}) (.*)", re.DOTALL)
_KNOWN = frozenset(RELATIONS)
_SHOWN = 60


def numbered(part: Part) -> Iterator[tuple[int, int, str] | None]:
    """The lines of a file as (line number, number at its start, rest), and ``None`` for an empty line."""
    for number, raw in part.lines():
        if not raw.strip():
            yield None
            continue
        line = decode_utf8(raw, part.name, number)
        found = _LINE.fullmatch(line)
        if found is None:
            raise DialgaugeError(
                f"expected a number, a space and text, found {excerpt(line)}", file=part.name, line=number
            )
        yield number, int(found[1]), found[2]


def numbered_head(peek: Peek) -> list[tuple[int, str]] | None:
    """The whole lines at the beginning of a file as (number, rest); ``None`` when one of them is not of this kind."""
    lines = peek.lines if len(peek.lines) < 2 else peek.lines[:-1]
    found = [_LINE.fullmatch(line) for line in lines if line.strip()]
    if not found or any(match is None for match in found):
        return None
    return [(int(match[1]), match[2]) for match in found if match is not None]


def excerpt(text: str) -> str:
    """A text as it is shown in an error: quoted, control characters visible, not too long."""
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


def fact_of(words: list[str], text: str, part: Part, line: int) -> Fact:
    """A fact from its three words, or an error when there are more or fewer or the relation is unknown."""
    if len(words) != 3 or not all(words):
        raise DialgaugeError(
            f"expected 'entity relation value', three words, found {excerpt(text)}", file=part.name, line=line
        )
    if words[1] not in _KNOWN:
        raise DialgaugeError(
            f"the relation '{words[1]}' is unknown.{nearest(words[1], RELATIONS)}", file=part.name, line=line
        )
    return Fact(*words)
