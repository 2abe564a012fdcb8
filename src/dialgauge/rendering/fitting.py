"""A table in so many places: which columns stay, how wide each is, and the lines of a text in a narrow column.

Texts fold at spaces, never inside a word. Names that somebody asked for (``Column.exact``) stay whole: in the first
column a long one has a line of its own, elsewhere a list or an act folds between its parts where no column is left to
go. Other long names lose their middle, all of a table alike and so that they still differ. What then does not fit loses
columns, in the order the table declares (``Column.drop``), then from the right; the first column stays. Only a word
that is longer than the whole line ends in an ellipsis. docs/decisions/command-line.md says why.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile

from msgspec import Struct

#: Characters that take one place each: Latin, Greek, punctuation, arrows and signs. Rich knows about all others.
NARROW = re.compile("[ -\u02ff\u0370-\u03ff\u2010-\u2027\u2190-\u22ff]*")

GAP = 3
ELLIPSIS = "…"
#: A text longer than the first number folds before any column goes, into lines of the second number or more.
_LONG, _FOLDED = 32, 20
#: A word longer than the first number may lose its middle: down to that before any column goes, and down to the second
#: before intervals go, and columns that nobody declared less important.
_NAME, _SHORTEST = 20, 12
#: Letters that are kept before the first that differs, where only the middles of names do.
_BEFORE = 3
#: A name of the first column that is longer than this has a line of its own where the table is too wide otherwise;
#: the second number is for names that people copy, before which other columns go.
_HANGING, _COPIED = 28, 52
#: Where an exact name may fold: between the items of a list, the folders of a path and before a bracket; and only where
#: no line could hold it, between the parts of what somebody types.
_JOINT = re.compile(r"(?<=[/,|])(?=[^/,|])|(?<=.)(?=\()")
_LAST_JOINT = re.compile(r"(?<=[/_=,|-])(?=[^/_=,|-])|(?<=.)(?=\()")


class ColumnNeeds(Struct, frozen=True):
    """What a column asks for, from a line for every cell down to the narrowest that keeps its words recognisable.

    ``full`` holds title and cells on one line, ``cells`` the cells alone; in ``readable`` only long texts fold, in
    ``tight`` all of them. In both, long names are shortened; in ``copyable``, all but those that people copy. In
    ``broken``, what people type is broken at its signs: only where two columns find no room otherwise.
    """

    full: int
    cells: int
    copyable: int
    readable: int
    tight: int
    broken: int
    drop: int


class Fit(Struct, frozen=True):
    """The columns that stay, by their places in the table, and the width of each.

    ``forced``: columns went, or words will, that nobody declared less important.
    """

    places: tuple[int, ...]
    widths: tuple[int, ...]
    forced: bool = False


class LongNames(Struct, frozen=True):
    """The words of a table that are so long that they may lose their middle."""

    words: frozenset[str] = frozenset()

    @classmethod
    def of(cls, texts: Iterable[str]) -> LongNames:
        """The long words of some texts; signatures are left out, as they break between their parts."""
        words = (word for text in texts if len(text) > _NAME // 2 for word in text.split(" "))
        return cls(frozenset(word for word in words if "|" not in word and places(word) > _NAME))

    def least_widths(self) -> tuple[int, int]:
        """The two widths they are shortened to, first and at most; wider than usual if names would become equal."""
        return self._least(_NAME), self._least(_SHORTEST)

    def _least(self, width: int) -> int:
        while self._at(width) is None:
            width += 1
        return width

    def shortened(self, width: int) -> Mapping[str, str]:
        """Each long word cut in its middle to fit a width; words that fit stay as they are.

        >>> names = LongNames.of(["tracker-of-the-year-large-1", "tracker-of-the-year-large-2"])
        >>> sorted(names.shortened(20).values())
        ['tracker-of…r-large-1', 'tracker-of…r-large-2']
        """
        return self._at(width) or {word: _without_middle(word, width, width // 2) for word in self.words}

    def _at(self, width: int) -> dict[str, str] | None:
        """The words cut to a width so that all still differ; None if that is impossible."""
        for head in (width // 2, width // 4, 0, 3 * width // 4, width - 1):
            shorter = {word: _without_middle(word, width, head) for word in self.words}
            if len(set(shorter.values())) == len(shorter):
                return shorter
        alike = sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*self.words, strict=False)))
        middles = {word: _middle(word, width, max(0, alike - _BEFORE)) for word in self.words}
        return middles if len(set(middles.values())) == len(middles) else None


class AskingColumn(Struct, frozen=True):
    """A column before it is fitted: title, cells, how early it goes, and whether its names stay whole till others went.

    A cell is a text and whether it stays on one line, as numbers do. ``exact`` names are never shortened; ``hanging``
    ones, of the first column, have a line of their own where they are longer than the column.
    """

    title: str
    cells: Sequence[tuple[str, bool]]
    drop: int = 0
    whole: bool = False
    exact: bool = False
    hanging: bool = False


def needs(columns: Sequence[AskingColumn], names: LongNames) -> list[ColumnNeeds]:
    """The widths that columns ask for."""
    readable, tight = names.least_widths()
    return [_column_needs(column, names, readable, tight) for column in columns]


def _column_needs(column: AskingColumn, names: LongNames, readable: int, tight: int) -> ColumnNeeds:
    widest = max((places(text) for text, _ in column.cells), default=0)
    if column.hanging:
        return _hanging_needs(column, widest)
    longest, word = _narrowed(column, names, readable, room=None)
    full = max(places(column.title), widest)
    folded = min(full, max(word, _FOLDED) if longest > _LONG else max(word, longest))
    return ColumnNeeds(
        full=full,
        cells=max(widest, longest_word(column.title)),
        copyable=max(widest, folded) if column.whole else folded,
        readable=folded,
        tight=_narrowed(column, names, tight)[1],
        broken=_narrowed(column, names, tight, room=0)[1],
        drop=column.drop,
    )


def _hanging_needs(column: AskingColumn, widest: int) -> ColumnNeeds:
    """Wide enough for the names that are not so long that they get a line of their own."""
    longest = _COPIED if column.whole else _HANGING
    short = max((places(text) for text, _ in column.cells if places(text) <= longest), default=0)
    least = max(short, longest_word(column.title))
    full = max(places(column.title), widest)
    return ColumnNeeds(
        full=full, cells=least, copyable=least, readable=least, tight=least, broken=least, drop=column.drop
    )


def _narrowed(column: AskingColumn, names: LongNames, width: int, *, room: int | None = _COPIED) -> tuple[int, int]:
    """The places of the longest cell, and of the longest word in title and cells, with long names in a width.

    Exact names are in parts, those of them that have no ``room`` at their signs too; without a room, they are whole.
    """
    if column.exact:
        pieces = [word for text, _ in column.cells for word in text.split(" ")]
        if room is not None:
            pieces = [part for word in pieces for part in parts_of_name(word, room)]
        longest = max((places(text) for text, _ in column.cells), default=0)
        return longest, max([longest_word(column.title), *map(places, pieces)])
    cut = [(text if solid else _stand_in(text, names, width), solid) for text, solid in column.cells]
    words = (places(text) if solid else longest_word(text) for text, solid in cut)
    longest = max((places(text) for text, _ in cut), default=0)
    return longest, max([longest_word(_stand_in(column.title, names, width)), *words])


def _stand_in(text: str, names: LongNames, width: int) -> str:
    """A text that takes as many places as this one does with its long names in a width."""
    if not names.words or places(text) <= width:
        return text
    return " ".join("x" * min(places(word), width) if word in names.words else word for word in text.split(" "))


def fit(columns: Sequence[ColumnNeeds], width: int | None) -> Fit:
    """The columns that fit into a width; into None, all of them."""
    every = range(len(columns))
    if width is None or _total([column.full for column in columns]) <= width:
        return Fit(tuple(every), tuple(column.full for column in columns))
    for asked in ([column.copyable for column in columns], [column.readable for column in columns]):
        kept = _kept(columns, asked, width)
        if _fits([asked[column] for column in kept], width):
            return Fit(
                tuple(kept), _widened([asked[column] for column in kept], [columns[number] for number in kept], width)
            )
    chosen = [columns[column] for column in kept]
    while not _fits([column.tight for column in chosen], width) and len(chosen) > 2:
        chosen.pop()
    asked = [column.tight for column in chosen]
    if not _fits(asked, width):
        asked = [column.broken for column in chosen]
    if not _fits(asked, width):
        del asked[1:], chosen[1:]
    least = [min(number, width) for number in asked]
    forced = len(chosen) < len(kept) or any(number > width for number in asked)
    return Fit(tuple(kept[: len(chosen)]), _widened(least, chosen, width), forced)


def _kept(columns: Sequence[ColumnNeeds], asked: Sequence[int], width: int) -> list[int]:
    """The places of the columns that are left when enough of those that may go have gone, or all of them."""
    kept = list(range(len(columns)))
    declared = sorted(
        (column for column in kept if columns[column].drop), key=lambda column: (columns[column].drop, column)
    )
    while not _fits([asked[column] for column in kept], width) and declared:
        kept.remove(declared.pop())
    return kept


def parts_of_name(word: str, room: int) -> list[str]:
    """The parts between which a name may fold: a part that has room is never broken at a sign.

    >>> parts_of_name("hotel-inform(price_range=cheap)", 20)
    ['hotel-inform', '(price_range=cheap)']
    >>> parts_of_name("hotel-inform(price_range=cheap)", 16)
    ['hotel-inform', '(price_', 'range=', 'cheap)']
    """
    parts = _JOINT.split(word)
    return [piece for part in parts for piece in ([part] if places(part.strip()) <= room else _LAST_JOINT.split(part))]


def fold(text: str, width: int, *, joints: bool = False) -> list[str]:
    """The text in lines of at most this width; with ``joints``, a long name folds between its parts.

    >>> fold("folds at spaces, never inside words", 16)
    ['folds at spaces,', 'never inside', 'words']
    >>> fold("unbreakable", 6)
    ['unbre…']
    """
    return [shortened(line, width) for line in _folded(text, width, joints=joints)]


def fold_sentence(text: str, width: int) -> list[str]:
    """The same for what people read and copy: a word that is too long stays whole, and an indented text indented.

    >>> fold_sentence("  see /a/very/long/path for more", 12)
    ['  see', '  /a/very/long/path', '  for more']
    """
    indent = " " * (len(text) - len(text.lstrip(" ")))
    return [f"{indent}{line}" for line in _folded(text[len(indent) :], width - len(indent))]


def _folded(text: str, width: int, *, joints: bool = False) -> list[str]:
    if places(text) <= width:
        return [text]
    lines = [""]
    for piece in _pieces(text, width, joints=joints):
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


def with_short_names(text: str, width: int, shorter: Mapping[str, str]) -> str:
    """The text, with names that are longer than a width in their shorter form."""
    if places(text) <= width:
        return text
    return " ".join(shorter.get(word, word) if places(word) > width else word for word in text.split(" "))


def longest_word(text: str) -> int:
    """The places that the longest word takes; of a signature, which breaks between its parts, the longest part."""
    words = text.split(" ")
    if "|" in text:
        words = [part for word in words for part in (re.findall(r"[^|]*\|?", word) if len(word) > _NAME else [word])]
    return max(map(places, words))


@lru_cache(maxsize=1024)  # a long name is measured again for each width that it is tried in
def places(text: str) -> int:
    """How many places of a terminal's line a text takes."""
    if NARROW.fullmatch(text):
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _pieces(text: str, width: int, *, joints: bool = False) -> Iterator[str]:
    """Words with the spaces after them; a signature, or with ``joints`` a name, that no line can hold in its parts."""
    for word in re.findall(r"(?:(?<! ) +)?[^ ]+ *", text):
        if places(word.strip()) > width and "|" in word:
            for part in re.findall(r"[^|]*\|?", word):
                yield from parts_of_name(part, width) if joints and places(part.strip()) > width else [part]
        elif places(word.strip()) > width and joints:
            yield from parts_of_name(word, width)
        else:
            yield word


def _without_middle(word: str, width: int, head: int) -> str:
    """So much of a word's beginning and end as fits around an ellipsis."""
    if places(word) <= width:
        return word
    tail = width - 1 - head
    start, end = word[:head], word[len(word) - tail :]
    while places(start) > head:
        start = start[:-1]
    while places(end) > tail:
        end = end[1:]
    return f"{start}{ELLIPSIS}{end}"


def _middle(word: str, width: int, start: int) -> str:
    """So much of a word from a place on as fits between two ellipses."""
    if places(word) <= width:
        return word
    part = word[start : start + width - 2]
    while places(part) > width - 2:
        part = part[:-1]
    return f"{ELLIPSIS}{part}{ELLIPSIS}"


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _fits(widths: Sequence[int], width: int) -> bool:
    return _total(widths) <= width


def _widened(widths: list[int], wishes: Sequence[ColumnNeeds], width: int) -> tuple[int, ...]:
    """The widths with the places that are left: to the column whose cells lack the most, then to titles."""
    for full in ([wish.cells for wish in wishes], [wish.full for wish in wishes]):
        while _total(widths) < width:
            lacking = max(range(len(widths)), key=lambda column: full[column] - widths[column])
            if widths[lacking] >= full[lacking]:
                break
            widths[lacking] += 1
    return tuple(widths)
