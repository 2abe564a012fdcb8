"""Where a text mentions a value: names and words that a world's ontology knows, and times, prices, references by shape.

Each mention has a *kind*, the text of it and the value as the world writes it. For a learner the text becomes *tokens*
with one placeholder for each mention, so that what is learned of one town holds in another.

>>> from dialgauge.dialogue import Ontology, SlotSpec
>>> finder = MentionFinder(Ontology(domains={"venue": {"name": SlotSpec(values=("curry garden",))}}))
>>> found = finder.find("A table for two at the Curry Garden at 5 pm.")
>>> " ".join(found.tokens)
'a table for <number> at the <name> at <time> .'
>>> [(mention.value, mention.start, mention.end) for mention in found.mentions]
[('2', 12, 15), ('curry garden', 23, 35), ('17:00', 39, 43)]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dialgauge.dialogue import Ontology
from dialgauge.values import DAYS
from dialgauge.worlds.town import spoken_town

#: Characters of an utterance that are looked at.
LONGEST = 4000

_TOKEN = re.compile(r"n't\b|'[^\W\d_]+|\d{1,2}:\d\d(?!\d)|\d+\.\d+|[^\W_]+?(?=n't\b)|[^\W_]+|[^\w\s]")
_SKIPPED = frozenset(',-–"`_*()')

_WORDS = spoken_town()
#: The kinds of mention that a slot's value can be.
SLOT_KINDS = _WORDS.slot_kinds
_NAME_ENDS = tuple(tuple(end.split()) for end in _WORDS.name_ends)
_BEFORE_PLACE = frozenset(("from", "to", "at", "leave", "leaves", "leaving", "reach", "visit"))
_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
         "thirteen", "fourteen", "fifteen")
    )
}  # fmt: skip
_SOME_NUMBER = (
    *("several", "many", "a few", "quite a few", "a number", "lots", "a lot", "plenty", "multiple", "both", "some"),
    *("a couple", "various", "a variety", "numerous"),
)

_POSTCODE = re.compile(r"(?=.{5,7}$)[a-z]{1,2}\d[a-z0-9]{0,2}[\do][a-z]{2}")
_POST_FIRST, _POST_SECOND = re.compile(r"[a-z]{1,2}\d{1,2}[a-z]?"), re.compile(r"\d[a-z]{2}")
_REFERENCE = re.compile(r"[A-Z0-9]{8}|(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{8}")
#: What is said as a time, though no clock shows it: people type 05:98.
_CLOCK = re.compile(r"(\d{1,2}):(\d\d)")
_SHORT_CLOCK = re.compile(r"(\d{1,2})(am|pm)")
_TRAIN = re.compile(r"tr\d{3,5}")
_POUNDS = frozenset(("pounds", "pound", "gbp", "quid"))
_MINUTES = frozenset(("minutes", "minute", "mins", "min"))


class ValueMention(NamedTuple):
    """A value in a text: characters ``start`` up to ``end``."""

    kind: str
    value: str
    start: int
    end: int
    #: Its place among the tokens.
    place: int
    #: What sets it apart from others of its kind: the domain of a name, the word for a lodging.
    detail: str = ""


class Delexicalised(NamedTuple):
    """The tokens of a text and its mentions, in order."""

    tokens: tuple[str, ...]
    mentions: tuple[ValueMention, ...]


class _Entry(NamedTuple):
    words: tuple[str, ...]
    kind: str
    value: str
    detail: str


class MentionFinder:
    """Finds the values of a world in texts."""

    def __init__(self, ontology: Ontology) -> None:
        self._entries: dict[tuple[str, ...], _Entry] = {}
        self._by_first: dict[str, list[_Entry]] = {}
        for word in _SOME_NUMBER:
            self._add(word, "some", word)
        self._add("free", "free", "free")
        for colour in _WORDS.colours:
            for make in _WORDS.makes:
                self._add(f"{colour} {make}", "car", f"{colour} {make}")
        for domain, slots in ontology.domains.items():
            for slot, spec in slots.items():
                kind = _WORDS.kinds_of_type.get(domain) if slot == "type" else _WORDS.kinds.get(slot)
                for value in spec.values if kind else ():
                    self._add_value(str(kind), domain, slot, value)
        for kind, values in _WORDS.known.items():
            slot = next(slot for slot, kinds in SLOT_KINDS.items() if kind in kinds)
            for value in values:
                self._add_value(kind, "", slot, value)
        for entries in self._by_first.values():
            entries.sort(key=lambda entry: -len(entry.words))

    def find(self, text: str) -> Delexicalised:
        """All mentions, the longest first where they overlap."""
        raw = [(match[0], match.start(), match.end()) for match in _TOKEN.finditer(text[:LONGEST])]
        raw = [row for row in raw if row[0] not in _SKIPPED]
        words = [word.lower() for word, _, _ in raw]
        tokens: list[str] = []
        mentions: list[ValueMention] = []
        index, count = 0, len(words)
        by_first = self._by_first
        while index < count:
            word = words[index]
            mention = self._known(words, index) if word in by_first else None
            if mention is None and (word in _WORDED or not word.isalpha() or _is_reference(raw[index][0])):
                mention = _shaped(words, index, raw[index][0])
            if mention is None and word == "the":
                mention = _place(words, index)
            of_food = index + 1 < count and words[index + 1] in ("food", "cuisine")
            if mention is None and of_food and word.isalpha() and word not in _WORDS.not_foods and len(word) > 3:
                mention = (1, "food", word, "")
            if mention is None:
                tokens.append(word)
                index += 1
                continue
            length, kind, value, detail = mention
            start, end = raw[index][1], raw[index + length - 1][2]
            mentions.append(ValueMention(kind, _as_said(value, kind, text[start:end]), start, end, len(tokens), detail))
            tokens.append(f"<{kind}>")
            index += length
        return Delexicalised(tuple(tokens), tuple(mentions))

    def value(self, text: str) -> str:
        """A value in the form in which values are compared: the world's own where it is known, else plain words."""
        plain = text.strip().lower()
        if plain in _WORDS.ends_of_rides:
            return plain
        delexicalised = self.find(text)
        if len(delexicalised.mentions) == 1 and delexicalised.mentions[0].kind not in ("some",):
            return delexicalised.mentions[0].value.lower()
        return " ".join(word for word in _words(text) if word not in ("the", "a", "an"))

    def _known(self, words: list[str], index: int) -> tuple[int, str, str, str] | None:
        for entry in self._by_first[words[index]]:
            length = len(entry.words)
            if length == 1 or tuple(words[index : index + length]) == entry.words:
                return length, entry.kind, entry.value, entry.detail
        return None

    def _add_value(self, kind: str, domain: str, slot: str, value: str) -> None:
        detail = domain if kind == "name" else ""
        for text in (value, *_WORDS.also_said.get(slot, {}).get(value.lower(), ())):
            self._add(text, kind, value, text.lower() if kind == "lodging" else detail)
        words = _words(value)
        if kind in ("lodging", "sight"):
            for plural in (f"{value}s", f"{value}es", f"{value[:-1]}ies"):
                self._add(plural, kind, value, plural)
        elif kind in ("name", "station", "department", "address"):
            for other in _variants(words):
                self._add_words(other, kind, value, detail)
                for further in _variants(other):
                    self._add_words(further, kind, value, detail)
            if kind == "name":
                for other in _shortened(words):
                    self._add_words(other, kind, value, detail)
            elif kind == "address":
                for part in _address_parts(value):
                    self._add(part, kind, part)

    def _add(self, text: str, kind: str, value: str, detail: str = "") -> None:
        self._add_words(_words(text), kind, value, detail)

    def _add_words(self, words: tuple[str, ...], kind: str, value: str, detail: str) -> None:
        if (
            kind == "name"
            and words[:1] == ("the",)
            and (len(words) > 2 or (words[1:] and words[1] not in _WORDS.not_names))
        ):
            words = words[1:]
        known = self._entries.get(words)
        if not words or known is not None:
            return
        entry = self._entries[words] = _Entry(words, kind, value, detail)
        self._by_first.setdefault(words[0], []).append(entry)


def _as_said(value: str, kind: str, text: str) -> str:
    """The world's spelling of a value; addresses, and what differs in capitals only, stay as they were said."""
    if kind == "address":
        return value if text == value.rstrip(" ,.") else text
    return text if text.islower() and text == value.lower() else value


def _words(text: str) -> tuple[str, ...]:
    words = (match[0].lower() for match in _TOKEN.finditer(text[:LONGEST]))
    return tuple("and" if word == "&" else word for word in words if word not in _SKIPPED)


def _variants(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Other spellings: "johns" for "john 's" and back, "saint" and "st", "and" and "&"."""
    for index, word in enumerate(words):
        if word == "'s" and index:
            yield (*words[: index - 1], f"{words[index - 1]}s", *words[index + 1 :])
        elif len(word) > 4 and word.endswith("s") and word.isalpha():
            yield (*words[:index], word[:-1], "'s", *words[index + 1 :])
        elif word == "saint":
            yield (*words[:index], "st", *words[index + 1 :])
        elif word == "and":
            yield (*words[:index], "&", *words[index + 1 :])
        elif word in ("guesthouse", "guest"):
            rest = words[index + 1 :]
            yield (*words[:index], *(("guesthouse", *rest[1:]) if word == "guest" else ("guest", "house", *rest)))


def _address_parts(address: str) -> Iterator[str]:
    """Parts of an address that people give for the whole of it."""
    plain = address.lower().strip()
    for end in (" city centre", " chesterton", " fen ditton", ", cambridge"):
        if plain.endswith(end):
            yield plain.removesuffix(end)
    for part in plain.split(",") if "," in plain else ():
        if len(part.split()) > 1:
            yield part.strip()


def _shortened(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The name without its last word where that says what it is."""
    bare = words[1:] if words[:1] == ("the",) else words
    for end in _NAME_ENDS:
        short = bare[: -len(end)]
        if (
            short
            and bare[-len(end) :] == end
            and (len(short) > 1 or (short[0] not in _WORDS.not_names and len(short[0]) > 3))
        ):
            yield short
            yield from _variants(short)


_WORDED = frozenset((*DAYS, *_NUMBERS, "noon", "midnight", *(f"{day}s" for day in DAYS)))


def _shaped(words: list[str], index: int, raw: str) -> tuple[int, str, str, str] | None:
    """A time, number, price, reference and the like, told by its shape."""
    word = words[index]
    after = words[index + 1] if index + 1 < len(words) else ""
    if word in _WORDED:
        return _worded(word, after)
    if word[0].isdecimal():
        mention = _street(words, index) or _number(word, after)
        if mention is not None:
            return mention
    if word == "£" and after[:1].isdecimal():
        extra = index + 2 < len(words) and words[index + 2] in _POUNDS
        return 2 + extra, "price", f"{after} pounds", ""
    if _TRAIN.fullmatch(word):
        return 1, "train", word.upper(), ""
    if word == "tr" and after.isdecimal() and len(after) == 4:
        return 2, "train", f"TR{after}", ""
    if _POSTCODE.fullmatch(word):
        return 1, "postcode", word, ""
    if _POST_FIRST.fullmatch(word) and _POST_SECOND.fullmatch(after):
        return 2, "postcode", word + after, ""
    if _is_reference(raw):
        return 1, "reference", raw.upper(), ""
    return None


def _street(words: list[str], index: int) -> tuple[int, str, str, str] | None:
    """A house number and a street: "37 Newnham Road"."""
    for length in (3, 4):
        part = words[index : index + length]
        if len(part) == length and part[-1] in _WORDS.streets and all(word.isalpha() for word in part[1:]):
            return length, "address", " ".join(part), ""
    return None


def _is_reference(raw: str) -> bool:
    return len(raw) == 8 and _REFERENCE.fullmatch(raw) is not None and raw.lower() not in _WORDED


def _worded(word: str, after: str) -> tuple[int, str, str, str]:
    if word in _NUMBERS:
        number = _NUMBERS[word]
        if after in _POUNDS:
            return 2, "price", f"{number} {_pounds(after)}", ""
        if after in ("am", "pm", "o'clock"):
            return 2, "time", _clock(int(number), 0, after), ""
        return 1, "number", number, ""
    if word in ("noon", "midnight"):
        return 1, "time", "12:00" if word == "noon" else "00:00", ""
    return 1, "day", word.removesuffix("s"), ""


def _number(word: str, after: str) -> tuple[int, str, str, str] | None:
    clock = _CLOCK.fullmatch(word)
    if clock:
        half = after if after in ("am", "pm") else ""
        return 1 + bool(half), "time", _clock(int(clock[1]), int(clock[2]), half), ""
    short = _SHORT_CLOCK.fullmatch(word)
    if short:
        return 1, "time", _clock(int(short[1]), 0, short[2]), ""
    if after in _POUNDS:
        return 2, "price", f"{word} {_pounds(after)}", ""
    if "." in word:
        return 1, "price", f"{word} pounds", ""
    if not word.isdecimal():
        return None
    if after in _MINUTES:
        return 2, "minutes", f"{word} minutes", ""
    if after in ("am", "pm") and len(word) < 3:
        return 2, "time", _clock(int(word), 0, after), ""
    if len(word) == 4 and int(word[:2]) < 25 and int(word[2:]) < 60:
        return 1, "time", f"{word[:2]}:{word[2:]}", ""
    if len(word) in (5, 6) and after.isdecimal() and len(word + after) in (10, 11):
        return 2, "phone", word + after, ""
    if 9 <= len(word) <= 13:
        return 1, "phone", word, ""
    return (1, "number", str(int(word)), "") if len(word) < 4 else None


def _pounds(word: str) -> str:
    return word if word == "pound" else "pounds"


def _clock(hour: int, minute: int, half: str) -> str:
    if half == "pm" and hour < 12:
        hour += 12
    elif half == "am" and hour == 12:
        hour = 0
    return f"{hour:02}:{minute:02}"


def _place(words: list[str], index: int) -> tuple[int, str, str, str] | None:
    """ "The hotel" as one end of a ride."""
    phrase = " ".join(words[index : index + 2])
    if phrase in _WORDS.ends_of_rides and index and words[index - 1] in _BEFORE_PLACE:
        return 2, "place", phrase, ""
    return None
