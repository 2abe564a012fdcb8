"""How people speak of a domain: what its services and slots are called, and how their values may be written."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from dialgauge.dialogue import Act, Ontology, SlotSpec
from dialgauge.values import DAYS, NO_CONSTRAINT, minutes, number, plain, truth
from dialgauge.worlds.domain import GENERAL, Domain, Service

#: What either side says whatever the domain.
AFFIRM, BYE, GREET, MORE, NEGATE, THANK, WELCOME = (
    Act(f"{GENERAL}-{intent}", GENERAL)
    for intent in ("affirm", "bye", "greet", "reqmore", "negate", "thank", "welcome")
)
Kind: TypeAlias = Literal["number", "time", "day", "yes-no", "code", "text"]
Phrase: TypeAlias = tuple[str, ...]

#: "a.m." and the like, numbers with their sign and separators (but not those inside a code), words, and the signs that
#: part sentences and items.
_TOKEN = re.compile(
    r"\n|(?<![^\W\d_])[ap]\.m\b\.?|(?:(?<![\w)])[-−])?(?<![^\W_])\d+(?:[.,:]\d+)*(?![^\W\d_]+\d)|[^\W_]+"
    r"|\.{2,}|[.?!;,:=…]",
    re.IGNORECASE,
)
#: The number of an item of a list, which is markup: "2) Fee: free".
_LIST_MARK = re.compile(r"^[ \t]*\d+\)(?=\s)", re.MULTILINE)
_ARTICLES = frozenset(("a", "an", "the", "some"))
#: Codes that are not in the rows: a phone number, or letters with digits.
_CODE = re.compile(r"\+?\d[\d -]{5,}\d|\b(?=\w*\d)(?=\w*[^\W\d_])\w{4,}\b")
#: The references of a desk whose domain does not say how they are made.
_REFERENCE = re.compile(r"\b(?=\w*[^\W\d_])(?:[A-Z\d]{8}|(?=\w*\d)[^\W_]{8})\b")
#: A number with its currency or unit.
_QUANTITY = re.compile(r"[£$€]?\s*[-−]?\d[\d.,]*\s*[^\W\d]*")
_NUMBER_WORDS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty"
)
_NUMBERS = {word: Decimal(number) for number, word in enumerate(_NUMBER_WORDS.split(), 2)}
#: Further words that say an amount or a time, and words that say yes or no.
_AMOUNT_WORDS = (
    "zero nothing free half quarter thirty forty fifty sixty seventy eighty ninety hundred dozen hour noon midday "
    "midnight"
)
_AMOUNTS = {*_NUMBERS, *_AMOUNT_WORDS.split()}
_ANSWER_WORDS = (
    "yes no not t nope yeah yep do does did is are was has have can sure certainly absolutely definitely of course "
    "indeed right correct available included free"
)
_ANSWERS = frozenset(_ANSWER_WORDS.split())
#: Words with the same beginning may be one: "centre", "central".
_STEM = 4
#: Other words for what slots are often called.
_SYNONYMS = {
    "phone": "telephone, number, contact", "price": "cost, costs, fee, charge", "fee": "price, cost, costs, charge",
    "address": "located, location", "postcode": "postal code, zip code", "duration": "takes, travel time, lasts",
    "opens": "opening time, open from", "closes": "closing time, open until", "reference": "reference number, booking "
    "number, confirmation number", "ref": "reference", "name": "called", "internet": "wifi", "stars": "star, rating",
    "people": "persons, guests", "day": "date", "stay": "nights",
}  # fmt: skip


class Place(NamedTuple):
    """A value with the words that say it: ``first`` up to ``last``, exclusive."""

    value: str
    first: int
    last: int


class Words:
    """A text as its words in small letters; hyphens, apostrophes and markup are none."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = list(_TOKEN.finditer(_LIST_MARK.sub(lambda mark: " " * len(mark[0]), text)))
        self.words: Phrase = tuple(_word(match[0]) for match in found)
        self.spans = [match.span() for match in found]

    def find(self, index: Mapping[Phrase, str], longest: int) -> Iterator[Place]:
        """The places of known phrases, the longest at each place."""
        at = 0
        while at < len(self.words):
            for size in range(min(longest, len(self.words) - at), 0, -1):
                if (value := index.get(self.words[at : at + size])) is not None:
                    yield Place(value, at, at + size)
                    at += size - 1
                    break
            at += 1

    def written(self, first: int, last: int) -> str:
        """The text of some words as it stands."""
        return self.text[self.spans[first][0] : self.spans[last - 1][1]] if first < last else ""

    def places(self, pattern: re.Pattern[str]) -> Iterator[Place]:
        """What an expression finds in the text, as places of words."""
        for match in pattern.finditer(self.text):
            inside = [at for at, (start, end) in enumerate(self.spans) if start < match.end() and end > match.start()]
            if inside:
                yield Place(match[0], inside[0], inside[-1] + 1)


def _word(token: str) -> str:
    """One word in small letters: "Fee .... 12" is "Fee: 12", "3 p.m." is "3 pm"."""
    if token[:2] in ("..", "…"):
        return ":"
    word = token.lower().replace("−", "-")
    return f"{word[0]}m" if word[:3] in ("a.m", "p.m") else word


def phrase_of(text: str) -> Phrase:
    """The words of a name or value, without a leading article."""
    words = Words(text).words
    return words[1:] if len(words) > 1 and words[0] in _ARTICLES else words


class SlotWords:
    """What a slot is called, and how its values may be written."""

    def __init__(
        self,
        name: str,
        label: str,
        kind: Kind,
        values: Iterable[str],
        labels: Iterable[str],
        also: Mapping[str, str],
        *,
        listed: bool = False,
        form: re.Pattern[str] | None = None,
    ) -> None:
        """``also`` are other phrases for values; ``listed``: a row may have several values; ``form`` is that of the
        codes that a booking gives."""
        self.listed, self.form = listed, form
        self.name, self.label, self.kind = name, label, kind
        self.values = tuple(dict.fromkeys(values))
        self.labels = {phrase for text in (label, *labels) if (phrase := phrase_of(text))}
        self._also = also

    @cached_property
    def phrases(self) -> dict[Phrase, str]:
        """Known values by the phrases that say them; of yes and no those that the domain gives."""
        values = {} if self.kind == "yes-no" else {value: value for value in self.values}
        index = {phrase: value for text, value in (values | dict(self._also)).items() if (phrase := phrase_of(text))}
        return {phrase: value for phrase, value in index.items() if phrase not in self.labels}

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.phrases), default=0)

    @cached_property
    def _numbers(self) -> dict[Decimal, str]:
        """Known amounts by their number: "12 pounds" by 12."""
        return {amount: value for value in self.values if (amount := _amount(value)) is not None}

    @cached_property
    def _codes(self) -> dict[str, str]:
        return {joined(value): value for value in self.values}

    def read(self, text: Words) -> list[Place]:
        """All that can be a value of the slot, as the domain writes it; a time with two meanings as "3:03|15:03"."""
        match self.kind:
            case "number":
                return [*_numbers(text, self._numbers), *text.find(self.phrases, self._longest)]
            case "time":
                return list(_times(text))
            case "day":
                return [Place(word, at, at + 1) for at, word in enumerate(text.words) if word in DAYS]
            case "code":
                found = text.places(self.form or _CODE)
                return [Place(self._codes.get(joined(place.value), place.value), *place[1:]) for place in found]
            case _:
                return list(text.find(self.phrases, self._longest))

    def like(self, truth: str) -> re.Pattern[str] | None:
        """What looks like one value and may be another: codes of its form, or its text with other digits."""
        if self.kind == "code":
            return _like(truth)
        if self.kind != "text" or not any(map(str.isdigit, truth)):
            return None
        form = re.sub(r"\d+", r"\\d+", re.escape(truth))
        return re.compile(rf"\b{form}\b", re.IGNORECASE)

    def may_be_told(self, words: Collection[str], truth: str) -> bool:
        """Could one of the words tell the value, in whatever wording?"""
        if self.kind == "code":
            parts = {word for word in words if any(map(str.isdigit, word)) and joined(word) in joined(truth)}
            return bool(parts | _AMOUNTS.intersection(words))
        if self.kind in ("number", "time"):
            one = "one" in words and not {"1", "01", "13"}.isdisjoint(phrase_of(truth.replace(":", " ")))
            return one or any(word in _AMOUNTS or any(map(str.isdigit, word)) for word in words)
        if self.kind == "yes-no":
            return bool(_ANSWERS.intersection(words))
        starts = {word[:_STEM] for word in phrase_of(truth)}
        return any(word[:_STEM] in starts for word in words)

    def same(self, told: str, truth: str) -> bool:
        """Is what was told the value?"""
        if self.kind == "time":
            return minutes(truth) in {minutes(time) for time in told.split("|")}
        if self.kind == "number" and _amount(truth) is not None:
            return _amount(told) == _amount(truth)
        return joined(told) == joined(truth) if self.kind == "code" else phrase_of(told) == phrase_of(truth)


def _like(code: str) -> re.Pattern[str]:
    """Codes of the form of one: digits where it has digits, letters elsewhere, with or without spaces."""
    if not any(map(str.isdigit, code)):
        return _REFERENCE
    signs = (r"\d" if sign.isdigit() else r"[^\W\d_]" for sign in code if sign.isalnum())
    return re.compile(rf"(?<!\w){'[ -]?'.join(signs)}(?!\w)")


def joined(text: str) -> str:
    """The letters and digits of a code, in small letters."""
    return "".join(filter(str.isalnum, text.lower()))


def _amount(text: str) -> Decimal | None:
    """The one number of a text such as "12 pounds"."""
    found = [amount for word in Words(text).words if (amount := number(word.replace(",", ""))) is not None]
    return found[0] if len(found) == 1 else None


def _numbers(text: Words, known: Mapping[Decimal, str]) -> Iterator[Place]:
    for at, word in enumerate(text.words):
        amount = _NUMBERS.get(word) or number(word.replace(",", ""))
        if amount is not None:
            yield Place(known.get(amount, f"{amount.normalize():f}"), at, at + 1)


def _times(text: Words) -> Iterator[Place]:
    """Clock times: "15:03", "3.03 pm", "3 pm", "1630h", "noon"."""
    for at, word in enumerate(text.words):
        after = text.words[at + 1] if at + 1 < len(text.words) else ""
        if word in ("noon", "midday", "midnight"):
            yield Place("00:00" if word == "midnight" else "12:00", at, at + 1)
            continue
        clock, exact = word, after in ("am", "pm")
        if len(word) == 4 and word.isdecimal() and after in ("h", "hrs", "hours"):
            clock, exact = f"{word[:2]}:{word[2:]}", True
        elif exact or word[-3:-2] == ".":
            clock = word.replace(".", ":") if "." in word or ":" in word else f"{word}:00"
        minute = minutes(clock)
        if minute is None:
            continue
        hours, rest = divmod(minute, 60)
        if after in ("am", "pm"):
            hours = hours % 12 + (12 if after == "pm" else 0)
        unclear = not exact and hours <= 12 and not word.startswith("0")
        other = f"|{(hours + 12) % 24:02}:{rest:02}" if unclear else ""
        yield Place(f"{hours:02}:{rest:02}{other}", at, at + 1 + exact)


class ServiceWords:
    """How people speak of one service."""

    def __init__(self, domain: Domain, service: Service, known: Mapping[str, SlotSpec]) -> None:
        self.service, self._domain, self._known = service, domain, known
        title = phrase_of(service.title)
        #: What the service is called, by itself or in a list: "rental car", "car".
        self.nouns = {title, phrase_of(service.name.replace("-", " ")), *([title[-1:]] if len(title) > 1 else [])}

    @cached_property
    def slots(self) -> dict[str, SlotWords]:
        """The words of every slot."""
        return {slot: self._slot(slot) for slot in self.service.slots}

    @cached_property
    def labels(self) -> dict[Phrase, tuple[str, ...]]:
        """Slots by what they are called; one phrase may stand for several."""
        found: dict[Phrase, tuple[str, ...]] = {}
        for name, slot in self.slots.items():
            for phrase in slot.labels:
                found[phrase] = (*found.get(phrase, ()), name)
        return found

    @cached_property
    def names(self) -> dict[Phrase, str]:
        """The names of rows by their phrases."""
        return {phrase: name for name in self._values(self.service.name_slot) if (phrase := phrase_of(name))}

    def label(self, slot: str) -> str:
        """What a slot is called in a sentence."""
        return self._domain.label(self.service, slot)

    def _values(self, slot: str) -> dict[str, None]:
        in_rows = dict.fromkeys(row[slot] for row in self.service.rows or () if slot in row)
        return in_rows | dict.fromkeys(self._known[slot].values if slot in self._known else ())

    def _slot(self, slot: str) -> SlotWords:
        service, words = self.service, self._domain.words_for(slot)
        wish, takes = service.wishes.get(slot), service.booking_slots.get(slot)
        values = [*self._values(slot), *(wish.values if wish else ())]
        listed = (wish is not None and wish.match == "contains") or any(";" in value for value in values)
        values = [item for value in values for item in value.split(";")] if listed else values
        values = [text for value in values if (text := value.strip()) and text.lower() not in ("?", "none", "unknown")]
        values += takes.words if takes else ()
        kind: Kind = _kind(values)
        form = None
        if wish is not None and wish.match == "yes-no":
            kind = "yes-no"
        elif takes is not None and takes.kind in ("day", "time", "number"):
            kind = takes.kind
        elif service.book is not None and slot in service.book.gives:
            made = "".join(part[0] for part in service.book.made.get(slot, ()))
            if not made or any(map(str.isdigit, made)):
                kind, form = "code", _like(made)
        label = self.label(slot)
        usual = {
            word for name in (slot.lower(), *label.lower().split()) for word in _SYNONYMS.get(name, "").split(", ")
        }
        unit = [wish.unit] if wish is not None and wish.unit else []
        also = {text: value for value, texts in words.values.items() for text in texts}
        labels = [slot.replace("_", " "), *words.also, *unit, *usual]
        return SlotWords(slot, label, kind, values, labels, also, listed=listed, form=form)


def _kind(values: Sequence[str]) -> Kind:
    """What kind of values a column has, by the most of them."""
    tests: dict[Kind, Callable[[str], bool]] = {
        "yes-no": lambda value: truth(value) is not None,
        "time": lambda value: minutes(value) is not None,
        "day": lambda value: plain(value) in DAYS,
        "code": lambda value: _CODE.fullmatch(value) is not None and sum(map(str.isdigit, value)) > 1,
        "number": lambda value: _QUANTITY.fullmatch(value) is not None,
    }
    some = values[:200]
    return next((kind for kind, test in tests.items() if some and 2 * sum(map(test, some)) > len(some)), "text")


class Vocabulary:
    """How people speak in a domain."""

    def __init__(self, domain: Domain, ontology: Ontology | None = None) -> None:
        """``ontology`` are the values that everybody may know, for a domain whose rows are not to be seen."""
        self.domain, self.ontology = domain, ontology
        known = (ontology or domain.ontology).domains
        self.services = {
            name: ServiceWords(domain, service, known.get(name, {})) for name, service in domain.services.items()
        }

    @classmethod
    def of(cls, domain: Domain, ontology: Ontology | None = None) -> Vocabulary:
        """The vocabulary of a domain, made once."""
        known: Vocabulary | None = domain.__dict__.get("vocabulary")
        if known is None or known.ontology is not ontology:
            known = domain.__dict__["vocabulary"] = cls(domain, ontology)
        return known

    def __getitem__(self, service: str) -> ServiceWords:
        return self.services[service]

    def __contains__(self, service: object) -> bool:
        return service in self.services


def is_any(text: str) -> bool:
    """Does a value constrain nothing?"""
    return text.strip().lower() in NO_CONSTRAINT
