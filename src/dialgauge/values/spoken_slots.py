"""How the values of a slot may be told: their kind, what the slot is called, and which words in a reply can be one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple, TypeAlias

from dialgauge.values.reply_text import ReplyText, alphanumeric, ends_in_filler, has_fillers, phrase_of
from dialgauge.values.rules import DAYS
from dialgauge.values.spoken_numbers import Place, word_set

Kind: TypeAlias = Literal["number", "time", "day", "yes-no", "list", "code", "text"]
#: What a value is where nobody knows it.
UNKNOWN = "unknown"
NOT_KNOWN = frozenset(("", "?", "none", UNKNOWN, "not available", "n/a"))

YES_NO = {"yes": "yes", "no": "no", "true": "yes", "false": "no"}
CURRENCIES = word_set("pound pounds gbp euro euros eur dollar dollars usd quid pence cents £ $ € ¥ ₹ pp")
_UNIT_WORDS = word_set(
    "minute minutes min mins hour hours hr hrs h km kilometres kilometers miles mile night nights day days people "
    "persons seats seat star stars page pages m kg per person each years year metres meters percent %"
)
_NAMED_KINDS: dict[Kind, frozenset[str]] = {
    "code": word_set("phone telephone mobile fax reference ref postcode zip code id"),
    "number": word_set("price cost fee fare duration length stars rating seats people number size weight"),
    "time": word_set("time opens closes leave arrive departs starts"),
    "day": word_set("day date"),
}
_FREE = "free"
#: Digits that a phone number has more of.
_SHORTEST = 8
_MONEY_LABELS = word_set("price cost costs fee fare rate charge deposit")
#: Other words for what slots are often called, by a word of the slot's name.
_ALSO = {
    "phone": ("telephone", "number", "call", "tel", "contact", "ring", "reach", "phone number"),
    "telephone": ("phone", "call", "tel", "contact", "number"),
    "price": ("cost", "costs", "fee", "rate", "charge", "priced", "pay", "ticket"),
    "fee": ("cost", "price", "charge", "entry", "entrance", "admission"),
    "cost": ("price", "fee", "charge", "pay"),
    "address": ("located", "location", "find it at", "situated", "street"),
    "postcode": ("zip", "postal code", "post code", "zipcode"),
    "duration": ("takes", "lasts", "long", "travel time", "journey", "minutes"),
    "closes": ("closing", "close", "shuts", "open until", "closing time", "open till"),
    "opens": ("opening", "open from", "opening time", "open"),
    "opening": ("open", "opens", "hours"),
    "openhours": ("opening hours", "open", "hours", "opening times"),
    "reference": ("reference number", "ref", "confirmation", "code", "booking number", "confirmation number"),
    "ref": ("reference", "reference number", "confirmation", "booking number"),
    "name": ("called", "named"),
    "internet": ("wifi", "wi-fi"), "wifi": ("internet", "wi-fi"),
    "parking": ("park", "car park"),
    "email": ("e-mail", "mail"),
    "stars": ("star", "rating", "rated"), "rating": ("rated", "stars", "score"),
    "people": ("persons", "guests", "party", "person"),
    "leaveat": ("leaves", "departs", "departure time", "leaving", "departure"),
    "arriveby": ("arrives", "arrival", "arrival time", "arriving", "gets in"),
    "mileage": ("km", "miles", "kilometres", "mileage"),
    "author": ("written by", "writer"), "language": ("languages", "written in", "speaks", "spoken"),
}  # fmt: skip


class ToldValue(NamedTuple):
    """A value that may be told of a slot: as the world writes it where it is known, otherwise as it was said."""

    value: str
    place: Place[str]


class SpokenSlot:
    """How the values of a slot may be told: their kind, what the slot is called, and other words for its values."""

    def __init__(
        self,
        name: str,
        values: Iterable[str] = (),
        *,
        kind: Kind | None = None,
        labels: Iterable[str] = (),
        also: Mapping[str, Sequence[str]] | None = None,
        separator: str = ";",
    ) -> None:
        self.name, self.values = name, tuple(dict.fromkeys(values))
        self.separator = separator
        self.kind: Kind = kind or (kind_of(self.values, separator) if self.values else _kind_by_name(name))
        self.also = dict(also or {})
        self._given = tuple(labels)
        #: Is it an amount of money?
        self.money = self.kind == "number" and any(
            word in CURRENCIES or word in _MONEY_LABELS
            for text in (*self.values[:50], name.lower(), *self._given)
            for word in ReplyText(text).lower
        )

    def __repr__(self) -> str:
        return f"SpokenSlot({self.name!r}, {self.kind})"

    @cached_property
    def in_minutes(self) -> bool:
        """Are its values minutes, so that hours have to be counted?"""
        return any("min" in value for value in self.values[:50]) or self.name.lower() in ("duration", "length")

    @cached_property
    def literal(self) -> tuple[tuple[str, ...], ...]:
        """Names of the slot that begin or end with a word that phrases leave out: "from", "to hour", "leave at"."""
        plain = self.name.replace("_", " ").lower()
        given = dict.fromkeys((*self._given, plain))
        named = [name for name in given if has_fillers(name) or ends_in_filler(name)]
        return tuple(tuple(token.text for token in ReplyText(name).tokens) for name in named)

    @cached_property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """What the slot is called, as phrases to search for."""
        plain = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.name).replace("_", " ").replace("-", " ").lower()
        words = [*self._given, plain, *(_ALSO.get(plain.replace(" ", ""), ()))]
        for word in plain.split() if not has_fillers(plain) else ():
            words += [*_ALSO.get(word, ()), *([word] if len(word) > 3 else [])]
        named = [word for word in words if not has_fillers(word)]
        return dict.fromkeys((phrase for word in named if (phrase := phrase_of(word))), (self.name,))

    @cached_property
    def own_names(self) -> frozenset[str]:
        """The phrases of its name and of the labels given, without the words that such slots are often called by."""
        return frozenset(phrase_of(name) for name in (*self._given, self.name.replace("_", " ")))

    @cached_property
    def phone_numbers(self) -> dict[str, str]:
        """Known codes of digits only, by what a number is within its country."""
        digits = {alphanumeric(value): value for value in self.values if self.kind == "code"}
        return {_national(code): value for code, value in digits.items() if code.isdigit() and len(code) > _SHORTEST}

    @cached_property
    def items(self) -> tuple[str, ...]:
        """Known values; of lists the things in them."""
        if self.kind != "list":
            return self.values
        return tuple(dict.fromkeys(item for value in self.values for item in list_items(value, self.separator)))

    @cached_property
    def phrases(self) -> dict[str, tuple[str, ...]]:
        """Known values by the phrases that say them."""
        index: dict[str, tuple[str, ...]] = {}
        for value in self.items if self.kind != "yes-no" else ():
            for wording in (value, *self.also.get(value, ())):
                phrase = phrase_of(wording)
                if phrase and value not in index.get(phrase, ()):
                    index[phrase] = (*index.get(phrase, ()), value)
        return index

    @cached_property
    def wordy(self) -> frozenset[str]:
        """Phrases of values that are also a label of the slot."""
        return frozenset(self.phrases.keys() & self.labels.keys())


def _kind_by_name(name: str) -> Kind:
    """What a slot without known values is likely to have."""
    words = set(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").lower().split())
    return next((kind for kind, names in _NAMED_KINDS.items() if words & names), "text")


def list_items(value: str, separator: str) -> list[str]:
    """The values that a cell lists."""
    return [item.strip() for item in value.split(separator) if item.strip()]


def kind_of(values: Sequence[str], separator: str = ";") -> Kind:
    """What kind of values a column has.

    >>> kind_of(["9:00", "17:30"]), kind_of(["4", "12.50 pounds"]), kind_of(["yes", "no"]), kind_of(["gps; radio"])
    ('time', 'number', 'yes-no', 'list')
    >>> kind_of(["01223 315999", "01223 412000"]), kind_of(["monday"]), kind_of(["north", "south"])
    ('code', 'day', 'text')
    """
    known = [value.strip() for value in values if value.strip().lower() not in NOT_KNOWN]
    if not known:
        return "text"
    if all(value.lower() in YES_NO for value in known):
        return "yes-no"
    shapes = [_shape(value) for value in known[:400]]
    if any(separator in value for value in known):
        return "list"
    for kind in ("time", "day", "code", "number"):
        if shapes.count(kind) > len(shapes) / 2:
            return kind
    return "text"


@lru_cache(1 << 14)
def _shape(value: str) -> Kind:
    reply = ReplyText(value)
    count = len(reply.tokens)
    if len(reply.times) == 1 and reply.times[0].last - reply.times[0].first == count:
        return "time"
    if value.lower() in DAYS:
        return "day"
    digits = sum(sign.isdigit() for sign in value)
    plain = "".join(sign for sign in value if sign.isalnum())
    if (
        len(reply.codes) == 1
        and (digits >= 6 or (digits and any(map(str.isalpha, plain))))
        and reply.codes[0].value == plain.lower()
    ) and not re.fullmatch(r"\d{1,3}(,\d{3})*(\.\d+)?", value):
        return "code"
    if len(reply.numbers) == 1 and _units_only(reply, reply.numbers[0]):
        return "number"
    return "text"


def _units_only(reply: ReplyText, number: Place[float]) -> bool:
    rest = [*reply.lower[: number.first], *reply.lower[number.last :]]
    return all(word in CURRENCIES or word in _UNIT_WORDS for word in rest) and len(rest) < 4


def values_in(reply: ReplyText, slot: SpokenSlot) -> Iterator[ToldValue]:
    """What in a reply can be a value of the slot."""
    if slot.kind == "number":
        known = {phrase: values for phrase, values in slot.phrases.items() if "#" not in phrase}
        for number in reply.numbers:
            yield ToldValue(f"{number.value:g}", Place("", number.first, number.last))
        for minutes in _durations(reply) if slot.in_minutes else ():
            yield ToldValue(f"{minutes.value:g}", Place("", minutes.first, minutes.last))
        if slot.money:
            known = {**known, _FREE: (_FREE,)}
        yield from (ToldValue(span.value, span) for span in reply.phrases(known))
    elif slot.kind == "time":
        for time in (*reply.times, *_bare_hours(reply)):
            clock = "|".join(f"{at // 60:02}:{at % 60:02}" for at in sorted(time.value))
            yield ToldValue(clock, Place("", time.first, time.last))
    elif slot.kind == "day":
        yield from (ToldValue(day.value, day) for day in reply.days)
    elif slot.kind == "code":
        seen: set[int] = set()
        for value in slot.values:
            span = reply.code(value)
            if span is not None:
                seen.update(range(span.first, span.last))
                yield ToldValue(value, span)
        codes = reply.codes or (() if slot.values else tuple(reply.lettered_codes))
        for code in codes:
            if code.first not in seen and (
                len(code.value) >= 6 or not slot.values or len(code.value) >= min(map(len, slot.values)) - 2
            ):
                yield ToldValue(slot.phone_numbers.get(_national(code.value), code.value), code)
    else:
        places = reply.phrases({phrase: values for phrase, values in slot.phrases.items() if phrase not in slot.wordy})
        yield from (ToldValue(span.value, span) for span in places)


def _bare_hours(reply: ReplyText) -> Iterator[Place[frozenset[int]]]:
    """ "until 6": an hour by the word before it."""
    for number in reply.numbers:
        before = reply.lower[number.first - 1] if number.first else ""
        if before in ("at", "until", "till", "by", "from", "to") and number.value in range(1, 13):
            hour = int(number.value) * 60
            yield Place(frozenset((hour, (hour + 720) % 1440)), number.first, number.last)


def _durations(reply: ReplyText) -> Iterator[Place[float]]:
    """ "1 hour 45 minutes", "1h45": in minutes."""
    words = reply.lower
    for number in reply.numbers:
        unit = words[number.last] if number.last < len(words) else ""
        if unit not in ("hour", "hours", "h", "hr", "hrs"):
            continue
        total, last = number.value * 60, number.last + 1
        at = last + 1 if last < len(words) and words[last] in ("and", ",") else last
        more = next((other for other in reply.numbers if other.first == at), None)
        if more is not None and (
            more.last >= len(words) or words[more.last] in ("minutes", "minute", "min", "mins", "m") or unit == "h"
        ):
            total, last = total + more.value, more.last
        yield Place(total, number.first, last)


def same_told(value: str, truth: str, kind: Kind) -> bool:
    """Is what was said the value? A time with two meanings is, if either of them is."""
    if kind == "time":
        minutes = {sorted(time.value)[0] for time in ReplyText(truth).times} or set()
        wanted = _clock(truth)
        return (
            wanted is not None and wanted % 1440 in {(_clock(clock) or 0) % 1440 for clock in value.split("|")}
        ) or (wanted is None and bool(minutes) and value == truth)
    if kind == "number":
        return _number(value) == _number(truth) if _number(truth) is not None else phrase_of(value) == phrase_of(truth)
    if kind == "code":
        own, other = (alphanumeric(text) for text in (value, truth))
        return own == other or (own.isdigit() and other.isdigit() and _national(own) == _national(other))
    return phrase_of(value) == phrase_of(truth)


def _national(digits: str) -> str:
    for prefix in ("0044", "44"):
        if digits.startswith(prefix) and len(digits) > 10:
            return digits.removeprefix(prefix).lstrip("0")
    return digits.lstrip("0")


@lru_cache(1 << 12)
def _clock(text: str) -> int | None:
    times = ReplyText(text).times
    if len(times) != 1:
        return None
    hour = text.strip().partition(":")[0]
    return min(times[0].value) if not hour.isdecimal() or int(hour) < 24 else int(hour) * 60 + int(text.strip()[-2:])


@lru_cache(1 << 12)
def _number(text: str) -> float | None:
    numbers = ReplyText(text).numbers
    return numbers[0].value if len(numbers) == 1 else None


def is_among(value: str, others: Collection[str]) -> bool:
    """Is a value one of others, as phrase or number?"""
    phrase, number = phrase_of(value), _number(value)
    return any(phrase == phrase_of(other) or (number is not None and number == _number(other)) for other in others)
