"""A table in so many places: which columns stay, how wide each is, and the lines of a text in a narrow column.

Texts fold at spaces, never inside a word. What folding cannot fit loses columns, in the order the table declares
(``Column.drop``), then from the right; the first column stays. Only a word that is longer than the whole line ends in
an ellipsis. docs/decisions/eighty-columns.md says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

#: Characters that take one place each: Latin, Greek, punctuation, arrows and signs. Rich knows about all others.
NARROW = re.compile("[ -\u02ff\u0370-\u03ff\u2010-\u2027\u2190-\u22ff]*")

GAP = 3
ELLIPSIS = "…"
#: A text longer than the first number folds before any column goes, into lines of the second number or more.
_LONG, _FOLDED = 32, 20


class ColumnNeeds(Struct, frozen=True):
    """What a column asks for, from a line for every cell down to the narrowest that keeps its words whole.

    ``full`` holds title and cells on one line, ``cells`` the cells alone; in ``readable`` only long texts fold, in
    ``tight`` all of them.
    """

    full: int
    cells: int
    readable: int
    tight: int
    drop: int


class Fit(Struct, frozen=True):
    """The columns that stay, by their places in the table, and the width of each.

    ``forced``: columns went, or words will, that nobody declared less important.
    """

    places: tuple[int, ...]
    widths: tuple[int, ...]
    forced: bool = False


def needs(title: str, cells: Sequence[tuple[str, bool]], drop: int) -> ColumnNeeds:
    """What a column needs for its title and its cells, each a text and whether it stays on one line, as numbers do."""
    widest = max((places(text) for text, _ in cells), default=0)
    words = (places(text) if solid else longest_word(text) for text, solid in cells)
    tight = max([longest_word(title), *words])
    folded = max(tight, _FOLDED) if widest > _LONG else max(tight, widest)
    full = max(places(title), widest)
    return ColumnNeeds(full, max(widest, longest_word(title)), min(full, folded), tight, drop)


def fit(columns: Sequence[ColumnNeeds], width: int | None) -> Fit:
    """The columns that fit into a width; into None, all of them."""
    kept = list(range(len(columns)))
    if width is None or _total([one.full for one in columns]) <= width:
        return Fit(tuple(kept), tuple(one.full for one in columns))
    declared = sorted((place for place in kept if columns[place].drop), key=lambda place: (columns[place].drop, place))
    while not _fits([columns[place].readable for place in kept], width) and declared:
        kept.remove(declared.pop())
    chosen = [columns[place] for place in kept]
    if _fits([one.readable for one in chosen], width):
        return Fit(tuple(kept), _widened([one.readable for one in chosen], chosen, width))
    while not _fits([one.tight for one in chosen], width) and len(chosen) > 1:
        chosen.pop()
    least = [min(one.tight, width) for one in chosen]
    forced = len(chosen) < len(kept) or any(one.tight > width for one in chosen)
    return Fit(tuple(kept[: len(chosen)]), _widened(least, chosen, width), forced)


def fold(text: str, width: int) -> list[str]:
    """The text in lines of at most this width.

    >>> fold("folds at spaces, never inside words", 16)
    ['folds at spaces,', 'never inside', 'words']
    >>> fold("unbreakable", 6)
    ['unbre…']
    """
    return [shortened(line, width) for line in _folded(text, width)]


def fold_sentence(text: str, width: int) -> list[str]:
    """The same for what people read and copy: a word that is too long stays whole, and an indented text indented.

    >>> fold_sentence("  see /a/very/long/path for more", 12)
    ['  see', '  /a/very/long/path', '  for more']
    """
    indent = " " * (len(text) - len(text.lstrip(" ")))
    return [f"{indent}{line}" for line in _folded(text[len(indent) :], width - len(indent))]


def _folded(text: str, width: int) -> list[str]:
    if places(text) <= width:
        return [text]
    lines = [""]
    for piece in _pieces(text, width):
        if lines[-1] and places(f"{lines[-1]}{piece}".rstrip()) > width:
            lines.append(piece.lstrip())
        else:
            lines[-1] += piece
    return [line.rstrip() for line in lines if line.strip()] or [""]


def shortened(text: str, width: int) -> str:
    """The text, or so much of its beginning as fits before an ellipsis."""
    if places(text) <= width:
        return text
    while text and places(text) > width - 1:
        text = text[:-1]
    return f"{text}{ELLIPSIS}"


def longest_word(text: str) -> int:
    """The places that the longest word takes."""
    return max(map(places, text.split(" ")))


def places(text: str) -> int:
    """How many places of a terminal's line a text takes."""
    if NARROW.fullmatch(text):
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _pieces(text: str, width: int) -> Iterator[str]:
    """Words with the spaces after them; a signature that no line can hold in its parts."""
    for word in re.findall(r" *[^ ]+ *", text):
        if places(word.strip()) > width and "|" in word:
            yield from re.findall(r"[^|]*\|?", word)
        else:
            yield word


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _fits(widths: Sequence[int], width: int) -> bool:
    return _total(widths) <= width


def _widened(widths: list[int], wishes: Sequence[ColumnNeeds], width: int) -> tuple[int, ...]:
    """The widths with the places that are left: to the column whose cells lack the most, then to titles."""
    for full in ([one.cells for one in wishes], [one.full for one in wishes]):
        while _total(widths) < width:
            lacking = max(range(len(widths)), key=lambda place: full[place] - widths[place])
            if widths[lacking] >= full[lacking]:
                break
            widths[lacking] += 1
    return tuple(widths)
