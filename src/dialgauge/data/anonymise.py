"""Anonymising chat logs as the Concierge data of the paper were: entities give way to tokens such as ``<person>``.

Contact details, dates, times, numbers, post codes and numbers of passports are found by patterns, names of people,
places and organisations by lists (:class:`Gazetteer`). A text is read once from left to right; what a pattern took, no
list sees. Ids of conversations are replaced too, since services often build them from customers' numbers.

A name that is on no list stays. Words that look like one are counted (:attr:`Anonymiser.suspects`) for a person to see.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import resources
from itertools import chain
from pathlib import Path

from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import resolve

_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?"
)
_DAY = r"(?:[0-2]?\d|3[01])(?:st|nd|rd|th)?"
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_TEENS = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
)
_TENS = "nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|dozen"
_STREET = r"(?:street|st|road|rd|avenue|ave|lane|drive|square|boulevard|blvd|alley)\b\.?"
_NAME = r"[^\W\d_](?:\.|[\w'’-]*)"
#: A word with a digit in it, as passports and licences have for a number.
_CODE = r"(?=[a-z]*\d)[a-z\d]{5,}\b"
#: One or two capitalised words or initials: middle names and surnames.
_MORE_NAMES = r"(?:\s[A-ZÀ-ÖØ-Þ](?:\.|[a-zß-öø-ÿ][\w'’-]*|['’][A-Z][\w'’-]*)){1,2}"

#: Kind and pattern. At one place the first that fits wins, so the more specific come first.
PATTERNS: tuple[tuple[str, str], ...] = (
    ("token", r"<[a-z_]+>"),
    ("email", r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+"),
    ("url", r"(?:https?://|www\.)\S+[\w/]"),
    ("person", rf"(?:mr|mrs|ms|miss|dr|prof)\b\.?\s+{_NAME}(?-i:{_MORE_NAMES})?"),
    ("person", rf"(?<=\bmy name is ){_NAME}(?-i:{_MORE_NAMES})?"),
    ("date", r"\d{4}-\d{1,2}-\d{1,2}\b"),
    ("date", r"\d{1,2}[/.]\d{1,2}[/.](?:\d{4}|\d{2})\b|\d{1,2}/\d{1,2}\b"),
    ("date", rf"(?:the\s)?{_DAY}(?:\sof)?\s{_MONTH}(?!\w)(?:,?\s\d{{4}}\b)?"),
    ("date", rf"{_MONTH}\s(?:the\s)?{_DAY}\b(?:,?\s\d{{4}}\b)?"),
    ("date", rf"(?:(?:this|next|last)\s)?{_WEEKDAY}\b"),
    ("date", r"(?:today|tomorrow|tonight|yesterday|christmas(?:\s(?:eve|day))?|new\syear['’]?s(?:\s(?:eve|day))?)\b"),
    ("time", r"\d{1,2}(?:[:.]\d{2})?\s?[ap]\.?m\b\.?|\d{1,2}:\d{2}(?!\d)|(?:noon|midnight)\b"),
    ("postcode", r"[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}\b|(?-i:[A-Z])\d[A-Z]\s?\d[A-Z]\d\b"),
    ("postcode", r"\d{4}\s?(?-i:(?!AD|AM|BC|CE|PM)[A-Z]{2})\b"),
    ("postcode", r"(?:(?<=postcode )|(?<=post code )|(?<=zip )|(?<=zip code ))\d{4,6}(?:-\d{3,4})?\b"),
    ("id", r"[A-Z]{2}\d{2}(?:\s?[A-Z\d]{4}){2,7}(?:\s?[A-Z\d]{1,4})?\b"),
    ("id", rf"(?<=passport )(?:(?:no|nr|number|is)\b\.?:?\s?){{0,2}}{_CODE}"),
    ("id", r"(?=[a-z]*\d)(?=\d*[a-z])(?=(?:[a-z]*\d){3})[a-z\d]{6,}\b"),
    ("phone", r"\+?\(?\d(?:[\s().-]{0,2}\d){6,14}(?!\d)"),
    ("location", rf"\d+\w?\s(?:[^\W\d_]+\s){{1,3}}{_STREET}"),
    ("number", r"[$€£]?\d+(?:[.,]\d+)*(?:st|nd|rd|th)?\b"),
    ("number", rf"(?:{_TEENS}|{_TENS})\b"),
)  # fmt: skip

_SURNAME = re.compile(_MORE_NAMES)
#: A capitalised word that does not begin a sentence, and is not one that English always capitalises.
_LIKE_A_NAME = re.compile(r"(?<=[a-z,;'’>] )(?!I\b|I['’])[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]+(?:[-'’]\w+)*")
_UNCOVERED = re.compile(rb"\x00+")
_SOMETHING = re.compile(r"\S+")

_COMBINED = re.compile(
    "|".join(rf"(?P<p{index}>(?<![\w@]){pattern})" for index, (_, pattern) in enumerate(PATTERNS)), re.IGNORECASE
)


class Anonymiser:
    """Replaces entities in texts and counts what it replaced.

    >>> Anonymiser().text("hi Maria, a table for 4 tomorrow?")
    'hi <person>, a table for <number> <date>?'
    """

    def __init__(self, lists: Mapping[str, Iterable[str]] | None = None, *, with_built_in: bool = True) -> None:
        """``lists``: kind to names, on top of the built-in ones (or instead of them)."""
        self._given = Gazetteer(lists or {})
        self._built_in = Gazetteer({kind: built_in(kind) for kind in BUILT_IN if with_built_in})
        #: How often each (kind, original text in lower case) was replaced. It holds what was hidden: keep it private.
        self.replaced: Counter[tuple[str, str]] = Counter()
        #: How often words were left that are written like names: with a capital in mid-sentence.
        self.suspects: Counter[str] = Counter()

    def text(self, text: str) -> str:
        """The text with a token for every entity found."""
        hidden = "".join(self._pieces(text))
        self.suspects.update(match[0] for match in _LIKE_A_NAME.finditer(hidden))
        return hidden

    def dialogues(self, dialogues: Iterable[Dialogue], *, prefix: str = "chat") -> Iterator[Dialogue]:
        """Conversations with nothing left but speakers and anonymised texts; ids are given anew by position."""
        for position, dialogue in enumerate(dialogues, start=1):
            turns = tuple(Turn(speaker=turn.speaker, text=self.text(turn.text)) for turn in dialogue.turns)
            yield replace(dialogue, id=f"{prefix}-{position:04d}", turns=turns, goal=None, domains=())

    def counts(self) -> dict[str, int]:
        """How many entities of each kind were replaced."""
        totals: Counter[str] = Counter()
        for (kind, _), count in self.replaced.items():
            totals[kind] += count
        return dict(sorted(totals.items()))

    def _pieces(self, text: str) -> Iterator[str]:
        done = 0
        for start, end, kind in self._entities(text):
            yield text[done:start]
            yield self._token(kind, text[start:end])
            done = end
        yield text[done:]

    def _entities(self, text: str) -> list[tuple[int, int, str]]:
        """A user's own entries first, then patterns, then the built-in lists; nothing is taken twice.

        Of an entity that overlaps with one taken before, what is left over is taken: no part of it may stay.
        """
        patterns = ((m.start(), m.end(), PATTERNS[int((m.lastgroup or "p0")[1:])][0]) for m in _COMBINED.finditer(text))
        covered = bytearray(len(text))
        taken = []
        for start, end, kind in chain(self._given.find(text), patterns, self._names(text)):
            for first, last in _words_left(text, covered, start, end):
                covered[first:last] = b"x" * (last - first)
                taken.append((first, last, kind))
        return sorted(taken)

    def _names(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Entries of the built-in lists; a given name takes the capitalised words after it along."""
        for start, end, kind in self._built_in.find(text):
            surname = _SURNAME.match(text, end) if kind == "person" else None
            yield start, surname.end() if surname else end, kind

    def _token(self, kind: str, original: str) -> str:
        if kind == "token":
            return original
        self.replaced[kind, original.lower()] += 1
        return f"<{kind}>"


def _words_left(text: str, covered: bytearray, start: int, end: int) -> list[tuple[int, int]]:
    """The stretches between start and end that nothing covers, from their first to their last word."""
    stretches = [(gap.start() + start, gap.end() + start) for gap in _UNCOVERED.finditer(covered[start:end])]
    words = [list(_SOMETHING.finditer(text, first, last)) for first, last in stretches]
    return [(inside[0].start(), inside[-1].end()) for inside in words if inside]


#: The kinds of entity a list can name; each becomes the token of that name.
KINDS = ("person", "location", "org", "date", "time", "number", "phone", "postcode", "id", "email", "url")

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
        spans = [(match.start(), match.end(), match[0].lower()) for match in _WORD.finditer(text)]
        words = [word for _, _, word in spans]
        entities, position = [], 0
        while position < len(words):
            size = self._size_at(words, position)
            if size:
                kind = self._kinds[tuple(words[position : position + size])]
                entities.append((spans[position][0], spans[position + size - 1][1], kind))
            position += max(size, 1)
        return entities

    def _size_at(self, words: list[str], position: int) -> int:
        """The number of words of the longest entry that begins here."""
        most = min(self._longest.get(words[position], 0), len(words) - position)
        return next((size for size in range(most, 0, -1) if tuple(words[position : position + size]) in self._kinds), 0)


def read_gazetteer(path: Path) -> list[str]:
    """The entries of a list file: one a line; empty lines and lines that begin with ``#`` do not count."""
    if path.is_dir():
        raise DialgaugeError("it is a folder; a list is one text file", file=str(path))
    entries = [entry for part in resolve(path) for entry in _entries(part.text())]
    if not entries:
        raise DialgaugeError("the list has no entries; write one per line", file=str(path))
    return entries


@cache
def built_in(kind: str) -> tuple[str, ...]:
    """The entries of a list of ours: common given names, large cities and countries, booking services.

    They are a start, not a promise: what must not get out belongs in a list of one's own.
    """
    return tuple(_entries(resources.files("dialgauge.data").joinpath("lists", f"{kind}.txt").read_text("utf-8")))


def _entries(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def check_kind(kind: str) -> str:
    """The kind itself, or an error with the nearest kinds."""
    if kind not in KINDS:
        raise DialgaugeError(f"there is no kind of entity '{kind}'.{nearest(kind, KINDS)}")
    return kind
