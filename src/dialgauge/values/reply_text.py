"""A reply in anybody's words, prepared for finding values in it: markup gone, tokens with places, segments.

A *segment* is what one label and its value stand in together: a line, a sentence, a part of it that speaks of one
thing. Numbers, clock times and days are read in every usual spelling; known values as phrases, so that "Guest house"
is found for ``guesthouse`` and "9am" for ``9:00``.

>>> reply = ReplyText("**Price:** £12.50 per day, and it opens at quarter past nine.")
>>> [(number.value, reply.words(number)) for number in reply.numbers]
[(12.5, '£ 12.50')]
>>> [sorted(time.value) for time in reply.times]
[[555, 1275]]
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

from dialgauge.values.spoken_numbers import Place, day_at, number_at, places_of, time_at, word_set

#: Characters of a reply that are looked at.
LONGEST = 8000
YES_SIGNS, NO_SIGNS = "✅✔✓☑👍🟢", "❌✗✘✖🚫👎🔴⛔"


_T = TypeVar("_T")

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("‘’ʼ´", "'"),
        **dict.fromkeys("“”„«»", '"'),
        **dict.fromkeys("‐‑‒–—−", "-"),
        **dict.fromkeys("•‣◦▪·●○", "\n"),
        **dict.fromkeys("  ", " "),
        **dict.fromkeys(YES_SIGNS, " yes "),
        **dict.fromkeys(NO_SIGNS, " no "),
        "️": None,
        "…": "...",
    }
)
_EMOJI = re.compile(r"([\u2190-\u2bff\U0001f000-\U0001faff][\u200d\U0001f3fb-\U0001f3ff]?)\s*(?=(.?))")
#: Dots that lead from a label to its value.
_LEADERS = re.compile(r"(?<=\w) ?\.{3,} ?(?=[\w£$€?+-])")
_TAG = re.compile(r"<[^<>\n]{1,80}>")
_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\([^()\n]{1,300}\)")
_EMPHASIS = re.compile(r"\*{1,3}|~~|`{1,3}|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)")
_LINE_START = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]*|[-*+][ \t]+|\(?\d{1,2}[.)][ \t]+(?=\S))")
_TABLE_RULE = re.compile(r"^[ \t|:+-]{3,}$")
_TOKEN = re.compile(
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,2}:\d\d(?!\d)|\d+\.\d+|\d+(?=[ap]\.?m\b)|[ap]\.m\.|\d+|n't\b|(?<=\w)'[^\W\d_]+"
    r"|[^\W\d_]+?(?=n't\b)|[^\W\d_]+|[^\w\s]|_"
)
#: Digits about a point that are no decimal number: a phone number with a point where others leave a space.
_POINTED_CODE = re.compile(r"(?:0\d+|\d{5,})\.\d{3,}")
_SENTENCE_END = frozenset(".!?;")
#: After these a full stop ends no sentence.
_SHORT = frozenset(
    ("mr", "mrs", "ms", "dr", "st", "no", "nr", "tel", "approx", "e.g", "i.e", "vs", "ave", "rd", "incl")
)
_CUTS = frozenset(("but", "however", "though", "although", "whereas", "while", "except"))

#: One spelling for what differs between writers, word by word.
_SAME_WORD = {
    "center": "centre", "theater": "theatre", "color": "colour", "gray": "grey", "st": "street", "saint": "street",
    "rd": "road", "ave": "avenue", "&": "and", "+": "plus", "grey": "grey", "tv": "television",
    "organisation": "organization", "licence": "license", "jewellery": "jewelry", "tyre": "tire", "litre": "liter",
    "metre": "meter", "dr": "doctor", "mt": "mount", "until": "to", "till": "to", "through": "to",
}  # fmt: skip
#: Words that a phrase may have or lack.
_FILLERS = word_set("the a an of and , . - ' \" ( ) / : street with at in from to ! ; _ 's")
_LONGEST_PHRASE = 12
#: Letters of a reference without a digit, at least; and words that are written in capitals for emphasis.
_LETTERED = 6
_EMPHASISED = word_set(
    "please confirmed reserved booked booking success successful important reference unfortunately available "
    "unavailable confirmation number definitely absolutely cannot really status failed complete completed details "
    "arrival departure sorry rejected refused congratulations welcome thanks options unknown monday tuesday wednesday "
    "thursday friday saturday sunday"
)


class Token(NamedTuple):
    """A word, number or sign in small letters; its segment, and where it stands in the cleaned text."""

    text: str
    start: int
    end: int
    segment: int


class ReplyText:
    """A reply, cleaned and cut into tokens and segments."""

    def __init__(self, text: str) -> None:
        self.text = cleaned(text)
        self.tokens, self.questions = _tokens(self.text)

    def words(self, span: Place[_T]) -> str:
        """The tokens of a place, with spaces between."""
        return " ".join(token.text for token in self.tokens[span.first : span.last])

    @cached_property
    def lower(self) -> tuple[str, ...]:
        return tuple(token.text for token in self.tokens)

    @cached_property
    def times(self) -> tuple[Place[frozenset[int]], ...]:
        """Clock times, each with the minutes since midnight that it can mean."""
        return tuple(places_of(self.lower, time_at))

    @cached_property
    def numbers(self) -> tuple[Place[float], ...]:
        """Numbers in digits or words that are no clock times."""
        taken = {index for time in self.times for index in range(time.first, time.last)}
        return tuple(number for number in places_of(self.lower, number_at) if number.first not in taken)

    @cached_property
    def days(self) -> tuple[Place[str], ...]:
        return tuple(places_of(self.lower, day_at))

    @cached_property
    def _stream(self) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
        return phrase_stream(self.lower)

    def phrase(self, value: str) -> tuple[Place[str], ...]:
        """Where a value stands as a phrase, in any usual spelling."""
        return self.phrases({phrase_of(value): (value,)})

    def phrases(self, known: Mapping[str, Sequence[str]]) -> tuple[Place[str], ...]:
        """Where known values stand, by their phrases; the longest first where they overlap."""
        stream, at = self._stream
        places: list[Place[str]] = []
        position = 0
        while position < len(stream):
            joined, best = "", 0
            for size, word in enumerate(stream[position : position + _LONGEST_PHRASE], 1):
                joined += word
                if joined in known:
                    best, values = size, known[joined]
            if best:
                places += [Place(value, at[position][0], at[position + best - 1][1]) for value in values]
            position += best or 1
        return tuple(places)

    def literal(self, words: tuple[str, ...], value: str) -> Iterator[Place[str]]:
        """Where words stand one behind the other, just so."""
        for index in range(len(self.lower) - len(words) + 1):
            if self.lower[index : index + len(words)] == words:
                yield Place(value, index, index + len(words))

    def code(self, code: str) -> Place[str] | None:
        """Where letters and digits stand in a row, whatever signs and spaces are between them."""
        wanted = alphanumeric(code)
        if not wanted:
            return None
        signs, at = self._signs
        begin = signs.find(wanted)
        while begin >= 0:
            first, last = at[begin], at[begin + len(wanted) - 1]
            whole = (not begin or at[begin - 1] != first) and (
                begin + len(wanted) >= len(signs) or at[begin + len(wanted)] != last
            )
            if whole:
                return Place(code, first, last + 1)
            begin = signs.find(wanted, begin + 1)
        return None

    @cached_property
    def _signs(self) -> tuple[str, tuple[int, ...]]:
        signs: list[str] = []
        at: list[int] = []
        for number, token in enumerate(self.tokens):
            plain = alphanumeric(token.text)
            signs.append(plain)
            at += [number] * len(plain)
        return "".join(signs), tuple(at)

    @cached_property
    def codes(self) -> tuple[Place[str], ...]:
        """What looks like a reference, phone number or postcode: letters and digits in a row with at least a digit."""
        spans, position = [], 0
        while position < len(self.tokens):
            last = self._code_end(position)
            plain = "".join(alphanumeric(token.text) for token in self.tokens[position:last])
            if last > position and len(plain) >= 4 and any(sign.isdigit() for sign in plain):
                spans.append(Place(plain, position, last))
                position = last
            else:
                position += 1
        return tuple(spans)

    @property
    def lettered_codes(self) -> Iterator[Place[str]]:
        """Words in capitals that no one emphasises: references that happen to have no digit."""
        if not self.text.isupper() or len(self.tokens) == 1:
            for number, token in enumerate(self.tokens):
                written = self.text[token.start : token.end]
                if len(written) >= _LETTERED and written.isupper() and token.text not in _EMPHASISED:
                    yield Place(token.text, number, number + 1)

    def _code_end(self, position: int) -> int:
        """Past the tokens that a code begun here may go on with: digits after digits, what is written together."""
        last = position
        while last < len(self.tokens):
            token = self.tokens[last]
            coded = token.text.isalnum() and (
                any(map(str.isdigit, token.text)) or self.text[token.start : token.end].isupper()
            )
            digits = token.text.isdigit() or bool(_POINTED_CODE.fullmatch(token.text))
            together = last > position and token.start == self.tokens[last - 1].end
            if (
                (digits and (last == position or _digits_before(self, last)))
                or (token.text.isalnum() and (together or (coded and last == position)))
            ) or (
                token.text in "-()./+"
                and last + 1 < len(self.tokens)
                and self.tokens[last + 1].text.isdigit()
                and token.segment == self.tokens[last + 1].segment
            ):
                last += 1
            else:
                break
        return last

    def segment(self, number: int) -> tuple[str, ...]:
        return tuple(token.text for token in self.tokens if token.segment == number)


def _digits_before(reply: ReplyText, position: int) -> bool:
    return reply.tokens[position - 1].text.isdigit() or reply.tokens[position - 1].text in "-()./+"


def alphanumeric(text: str) -> str:
    """The letters and digits of a text, in lower case."""
    return "".join(sign for sign in text.lower() if sign.isalnum())


# Cleaning


def cleaned(text: str) -> str:
    """The text without markup; a table becomes lines of "heading: cell"."""
    plain = unicodedata.normalize("NFC", text[:LONGEST]).translate(_SIGNS)
    plain = _LINK.sub(r"\1", _TAG.sub(" ", plain))
    # Small pictures between two sentences end the first.
    plain = _EMOJI.sub(lambda signs: "\n" if signs[2].isupper() else " ", plain)
    lines = list(_without_tables(_LEADERS.sub(": ", plain).splitlines()))
    return "\n".join(_EMPHASIS.sub("", _LINE_START.sub("", line)) for line in lines)


def _without_tables(lines: list[str]) -> Iterator[str]:
    number = 0
    while number < len(lines):
        ruled = number + 1 < len(lines) and "|" in lines[number] and _TABLE_RULE.match(lines[number + 1])
        if not ruled or "-" not in lines[number + 1]:
            yield lines[number]
            number += 1
            continue
        headings = _cells(lines[number])
        number += 2
        while number < len(lines) and "|" in lines[number]:
            cells = _cells(lines[number])
            if len(headings) == 2 and len(cells) == 2:  # a property and its value
                yield f"{cells[0]}: {cells[1]}"
                yield f"{headings[0]}: {cells[0]}"
                yield f"{headings[1]}: {cells[1]}"
            else:
                yield from (f"{heading}: {cell}" for heading, cell in zip(headings, cells, strict=False))
            number += 1


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


# Tokens and segments


def _tokens(text: str) -> tuple[tuple[Token, ...], frozenset[int]]:
    """The tokens, and the segments that ask something."""
    tokens: list[Token] = []
    questions: set[int] = set()
    segment, end = 0, 0
    for match in _TOKEN.finditer(text):
        if "\n" in text[end : match.start()]:
            segment += 1
        word, end = match[0].lower(), match.end()
        if word in _CUTS and tokens and tokens[-1].segment == segment:
            segment += 1
        tokens.append(Token(word, match.start(), end, segment))
        if word in _SENTENCE_END and _ends(tokens, text, end):
            if word == "?":
                questions.add(segment)
            segment += 1
    return tuple(tokens), frozenset(questions)


def _ends(tokens: list[Token], text: str, end: int) -> bool:
    if tokens[-1].text != ".":
        return True
    if end < len(text) and not text[end].isspace():
        return False
    before = tokens[-2].text if len(tokens) > 1 else ""
    following = text[end:].lstrip()[:1]
    return before not in _SHORT or following.isupper()


# Phrases


def phrase_stream(words: Iterable[str]) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
    """Words in one spelling without fillers, and which tokens each came from; times and numbers in digits."""
    given = tuple(words)
    times = {span.first: span for span in places_of(given, time_at)}
    numbers = {span.first: span for span in places_of(given, number_at)}
    stream: list[str] = []
    at: list[tuple[int, int]] = []
    position = 0
    while position < len(given):
        last = position + 1
        if position in times:
            time = times[position]
            word, last = f"@{min(time.value)}", time.last
        elif position in numbers:
            number = numbers[position]
            word, last = f"#{number.value:g}", number.last
        else:
            word = _same_word(given[position])
        behind_number = word == "a" and bool(stream) and stream[-1][0] == "#"  # room 8A
        if word not in _FILLERS or behind_number:
            stream.append(word)
            at.append((position, last))
        position = last
    return tuple(stream), tuple(at)


def _same_word(word: str) -> str:
    plain = _SAME_WORD.get(word, word)
    if len(plain) > 3 and plain.endswith("s") and not plain.endswith("ss"):
        plain = plain[:-3] + "y" if plain.endswith("ies") and len(plain) > 4 else plain[:-1]
    return plain


def has_fillers(text: str) -> bool:
    """Does a text have words that phrases leave out, at its beginning or as all of it?"""
    words = [token.text for token in _tokens(cleaned(text))[0]]
    return bool(words) and _same_word(words[0]) in _FILLERS


def ends_in_filler(text: str) -> bool:
    """Does a text end in a word that phrases leave out, as "leave from" does?"""
    words = [token.text for token in _tokens(cleaned(text))[0]]
    return len(words) > 1 and _same_word(words[-1]) in _FILLERS


@lru_cache(1 << 14)
def phrase_of(value: str) -> str:
    """The words of a value in one spelling, written together, as texts are searched for them.

    >>> phrase_of("The Guest House"), phrase_of("guesthouses"), phrase_of("9am to 5 pm")
    ('guesthouse', 'guesthouse', '@540@1020')
    """
    words = tuple(token.text for token in _tokens(cleaned(value))[0])
    stream, _ = phrase_stream(words)
    return "".join(stream or words)
