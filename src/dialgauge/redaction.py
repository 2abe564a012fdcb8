"""Texts without the personal data that rules can find: stand-ins for what has a shape of its own (e-mail addresses,
numbers, keys), for known values, and for what members of tool calls are called.

The same value has the same stand-in wherever it stands. What has no shape and stands in free text only is not found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import msgspec

from dialgauge.dialogue import Dialogue
from dialgauge.personal_fields import PersonalField, replaced_fields
from dialgauge.text import counted, times

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_CARD = re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])")
_PHONE = re.compile(
    r"(?<![\w+])\+\d(?:[ ().-]{0,2}\d){7,14}(?!\w)"
    r"|(?<!\w)\(\d{3}\)[ .-]?\d{3}[ .-]\d{4}(?!\w)|(?<![\w-])\d{3}[-. ]\d{3}[-. ]\d{4}(?![\w-])"
)
_KEY = re.compile(
    r"(?<!\w)(?:sk|pk|rk)[-_][\w-]{16,}|(?<!\w)(?:AKIA|ASIA)[0-9A-Z]{16}(?!\w)|(?<!\w)gh[opsu]_\w{20,}"
    r"|(?<!\w)xox[abprs]-[\w-]{10,}|(?<!\w)eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}|(?<!\w)AIza[\w-]{30,}"
    r"|(?<![\w/+-])(?=[A-Za-z0-9+/_-]*\d)(?=[A-Za-z0-9+/_-]*[A-Za-z])[A-Za-z0-9+/_-]{40,}={0,2}(?![\w/+])"
)
#: The last digits of a card, as people tell them.
_CARD_END = re.compile(
    r"(?<=\bending in )\d{4}(?!\w)|(?<=\bending with )\d{4}(?!\w)|(?<![\w$.,-])\d{4}(?= (?:credit |debit )?card\b)"
)
#: A value behind the name of a secret.
_SECRET = re.compile(
    r"(?P<name>\b(?:api[ _-]?key|access[ _-]?token|auth[ _-]?token|secret|password|passwd|bearer)\b[\"']?"
    r"(?:\s+is\s+|\s*[:=]\s*|\s+(?=\S*\d))[\"']?)"
    r"(?P<value>[^\s\"',;]{6,})",
    re.IGNORECASE,
)
#: What has two values of its own, whatever else they may be.
_SPEAKER = "speaker"
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_MONTH = "|".join(f"{month[:3]}(?:{month[3:]})?" for month in _MONTHS)
#: A date, in the ways of ``_writings``.
_DATE = re.compile(
    r"(?<![\w-])(?:\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}/\d{4}|\d\d\.\d\d\.\d{4}"
    rf"|(?:{_MONTH}) \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}|\d{{1,2}}(?:st|nd|rd|th)? (?:{_MONTH}) \d{{4}})(?![\w-])",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<=[_-])\d{5,}$")
#: Shorter values are too common to be replaced wherever they stand.
_SHORTEST = 4
#: How many values one expression looks for.
_AT_ONCE = 500
#: Words in which the kinds are counted.
_KINDS = {
    "name": "name", "birth date": "birth date", "address": "part of an address", "user id": "user id",
    "payment": "payment id", "id number": "id number",
    "e-mail": "e-mail address", "phone": "phone number", "card": "card number", "key": "key or token",
    "known": "value that a user knows",
}  # fmt: skip
_PLURALS = {
    "address": "parts of addresses", "e-mail": "e-mail addresses", "key": "keys or tokens",
    "known": "values that users know",
}  # fmt: skip
#: What no rule finds, as terminals and pages say it.
NOT_FOUND = (
    "Not found: names, birth dates, addresses and ids that stand in free text only (in no tool call, under no name "
    "that says so), and anything in another wording: read it before you pass it on"
)


class Redactor:
    """Texts with stand-ins. One redactor serves everything that is shown together."""

    def __init__(self, known: Iterable[str] = (), fields: Iterable[PersonalField] = ()) -> None:
        """``known`` are values that users know, ``fields`` those of tool calls, to be found in texts as well."""
        telling = {field for field in fields if field.telling}
        #: The kind and the value of each way to write it.
        self._written = {
            writing.lower(): (field.kind, field.value) for field in sorted(telling) for writing in _writings(field)
        }
        writings = {writing for field in telling if field.kind != "name" for writing in _writings(field)}
        writings = {writing for writing in writings if not _DATE.fullmatch(writing)}
        names = {field.value for field in telling if field.kind == "name" and len(field.value) > 1}
        values = {value.strip() for value in known} - writings - names
        self.too_short = sum(len(value) < _SHORTEST for value in values)
        long_enough = [value for value in values | writings if len(value) >= _SHORTEST]
        #: Names count only as they are written: "Long" is not "long".
        self._known = [*_patterns(long_enough, re.IGNORECASE), *_patterns(names, re.NOFLAG)]
        self._stand_ins: dict[tuple[str, str], str] = {}
        self._given: set[str] = set()
        self._values: Counter[str] = Counter()
        #: How often a value of each kind was replaced.
        self.replaced: Counter[str] = Counter()

    def text(self, text: str) -> str:
        """A text with stand-ins for what was found in it.

        >>> Redactor().text("ann@example.com or 415-555-0123, and ann@example.com")
        '[e-mail 1] or [phone 1], and [e-mail 1]'
        """
        text = replaced_fields(text, self._of_field)
        text = _SECRET.sub(lambda match: f"{match['name']}{self._stand_in('key', match['value'])}", text)
        text = _EMAIL.sub(self._by("e-mail"), text)
        for pattern in self._known:
            text = pattern.sub(self._of_writing, text)
        text = _DATE.sub(self._of_date, text)
        text = _KEY.sub(self._by("key"), text)
        text = _CARD.sub(lambda match: self._stand_in("card", match[0]) if _is_card(match[0]) else match[0], text)
        text = _CARD_END.sub(self._by("card"), text)
        return _PHONE.sub(self._by("phone"), text)

    def value(self, value: Any) -> Any:
        """The same for all texts in a JSON value; names of members stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.value(member) for member in value]
        if isinstance(value, dict):
            return {key: member if key == _SPEAKER else self.value(member) for key, member in value.items()}
        return value

    def dialogue(self, dialogue: Dialogue) -> Dialogue:
        """A dialogue with stand-ins in its id, its texts, calls, goal and outcome."""
        plain = msgspec.to_builtins(dialogue)
        for holder, name in tool_data(plain):
            holder[name] = replaced_fields(holder[name], self._of_field)
        return msgspec.convert(self.value(plain), Dialogue)

    def sentence(self) -> str:
        """How much was replaced, and that this is not all that there may be."""
        counts = [
            f"{counted(self._values[kind], word, _PLURALS.get(kind, ''))} ({times(self.replaced[kind])})"
            for kind, word in _KINDS.items()
            if self._values[kind]
        ]
        short = f"; left, as shorter than {_SHORTEST} letters: {counted(self.too_short, 'known value')}"
        short = short if self.too_short else ""
        return f"replaced: {', '.join(counts) or 'nothing'}{short}. {NOT_FOUND}"

    def _of_field(self, field: PersonalField) -> str:
        return field.value if field.value in self._given else self._stand_in(field.kind, field.value)

    def _of_writing(self, match: re.Match[str]) -> str:
        return self._stand_in(*self._written.get(match[0].lower(), ("known", match[0])))

    def _of_date(self, match: re.Match[str]) -> str:
        field = self._written.get(match[0].lower())
        return match[0] if field is None else self._stand_in(*field)

    def _by(self, kind: str) -> Callable[[re.Match[str]], str]:
        return lambda match: self._stand_in(kind, match[0])

    def _stand_in(self, kind: str, value: str) -> str:
        plain = re.sub(r"[ ().-]", "", value) if kind in ("phone", "card") else value.lower()
        self.replaced[kind] += 1
        key = (kind, plain)
        if key not in self._stand_ins:
            self._values[kind] += 1
            self._stand_ins[key] = f"[{kind} {self._values[kind]}]"
            self._given.add(self._stand_ins[key])
        return self._stand_ins[key]


def _is_card(written: str) -> bool:
    """Whether a number has the check digit of card numbers (Luhn)."""
    digits = [int(letter) for letter in written if letter.isdigit()]
    doubled = (2 * digit - 9 * (digit > 4) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def tool_data(dialogue: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Where a dialogue in plain values holds what tools were given and gave: an object and the name of a member."""
    for turn in dialogue["turns"]:
        for call in turn.get("calls") or ():
            yield from ((call, name) for name in ("arguments", "result") if name in call)
    if (dialogue.get("outcome") or {}).get("details"):
        yield dialogue["outcome"], "details"


def _writings(field: PersonalField) -> Iterator[str]:
    """The ways to write a value: a birth date is said in several, and of a payment id the number alone."""
    yield field.value
    if field.kind == "payment" and (number := _NUMBER.search(field.value)):
        yield number[0]
    if field.kind == "birth date":
        try:
            yield from _dates(date.fromisoformat(field.value))
        except ValueError:  # not a date, or written otherwise: as it stands
            return


def _dates(day: date) -> Iterator[str]:
    """The ways to write a date."""
    name, year = _MONTHS[day.month - 1], day.year
    for month in (name, name[:3]):
        for number in (f"{day.day}", f"{day.day:02}", f"{day.day}{_ordinal(day.day)}"):
            yield from (f"{month} {number}, {year}", f"{month} {number} {year}", f"{number} {month} {year}")
    for first, second in ((day.month, day.day), (day.day, day.month)):
        yield from (f"{first:02}/{second:02}/{year}", f"{first}/{second}/{year}")
    yield f"{day.day:02}.{day.month:02}.{year}"


def _ordinal(number: int) -> str:
    return "th" if number in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _patterns(values: Iterable[str], flags: re.RegexFlag) -> Iterator[re.Pattern[str]]:
    """Expressions that find any of the values as whole words, the longest first."""
    for some in _pieces(sorted(values, key=lambda value: (-len(value), value)), _AT_ONCE):
        yield re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, some))})(?!\w)", flags)


def _pieces(values: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    return (values[start : start + most] for start in range(0, len(values), most))
