"""Texts without the personal data that rules can find: stand-ins for what has a shape of its own (e-mail addresses,
numbers, keys), for known values, and for what members of tool calls are called.

The same value has the same stand-in wherever it stands. What has no shape and stands in free text only is not found.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import count
from typing import Any

import msgspec

from dialgauge.dialogue import Dialogue
from dialgauge.personal_fields import PersonalField, ids_of_things, personal_fields, replaced_fields
from dialgauge.personal_shapes import INNER, OUTER, PersonalShape
from dialgauge.text import counted, times

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
_DIGIT = re.compile(r"\d")
_DIGITS_ONLY = re.compile(r"\D")
#: A number of North America with the one in front that dials it.
_WITH_A_ONE = 11
#: Names of members that say what they are, and measures of a part, alone or in a signature.
_MEMBER = re.compile(r"[^\W\d]+")
_MEASURE = re.compile(r"(?P<before>[\w^@.()=,:-]{1,80})\[(?P<part>[^\[\]]+)\](?P<after>(?:\|[\w^@.()=,:|+-]*)?)")
_BRACKETS = re.compile(r"[\[\]]")
_NUMBER = re.compile(r"(?<=[_-])\d{5,}$")
#: Shorter values are too common to be replaced wherever they stand.
_SHORTEST = 4
#: What people leave out or put in where they say a code of this many letters or more: LK003Z is LK-003-Z.
_SEPARATOR = re.compile(r"[-_./# ]")
_SHORTEST_CODE = 5
_CODE = re.compile(r"[\w./# -]+")
_CODE_PARTS = re.compile(r"(?P<between>[-_./# ]+)|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
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
    "Not found: names, birth dates, addresses and ids that stand in free text only (in no tool call or instruction, "
    "under no name that says so), and anything in another wording: read it before you pass it on"
)


class Redactor:
    """Texts with stand-ins. One redactor serves everything that is shown together."""

    def __init__(
        self, known: Iterable[str] = (), fields: Iterable[PersonalField] = (), ids: Iterable[str] = ()
    ) -> None:
        """``known`` are values that users know, ``fields`` those of tool calls, to be found in texts as well.

        ``ids`` are those of things: they are never taken for a key or a phone number.
        """
        self._ids = frozenset(ids)
        telling = {field for field in fields if field.telling}
        #: The kind and the value of each way to write it.
        self._written = {
            _plain(writing): (field.kind, field.value) for field in sorted(telling) for writing in _writings(field)
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
        for shape in OUTER:
            text = self._without(shape, text)
        for pattern in self._known:
            text = pattern.sub(self._of_writing, text)
        text = _DATE.sub(self._of_date, text)
        for shape in INNER if _DIGIT.search(text) else ():
            text = self._without(shape, text)
        return text

    def value(self, value: Any) -> Any:
        """The same for all texts in a JSON value, and for names of members that are more than letters."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.value(member) for member in value]
        if isinstance(value, dict):
            members: dict[str, Any] = {}
            for key, member in value.items():
                shown = key if _MEMBER.fullmatch(key) else self.name(key)
                members[_unused(shown, members)] = member if key == _SPEAKER else self.value(member)
            return members
        return value

    def name(self, name: str) -> str:
        """The name of a measure or member with stand-ins; between brackets these have none of their own.

        >>> Redactor().name("Label[tone=ann@example.com]")
        'Label[tone=e-mail 1]'
        """
        measure = _MEASURE.fullmatch(name)
        if measure is None:
            return self.text(name)
        part = self.text(measure["part"])
        part = measure["part"] if part == measure["part"] else _BRACKETS.sub("", part)
        return f"{measure['before']}[{part}]{measure['after']}"

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
        return self._stand_in(*self._written.get(_plain(match[0]), ("known", _plain(match[0]))))

    def _of_date(self, match: re.Match[str]) -> str:
        field = self._written.get(_plain(match[0]))
        return match[0] if field is None else self._stand_in(*field)

    def _without(self, shape: PersonalShape, text: str) -> str:
        def replaced(match: re.Match[str]) -> str:
            group = match.lastgroup or 0
            value = match[group]
            if not shape.fits(value) or (shape.like_ids and value in self._ids):
                return match[0]
            start, end = (at - match.start() for at in match.span(group))
            return f"{match[0][:start]}{self._stand_in(shape.kind, value)}{match[0][end:]}"

        return shape.pattern.sub(replaced, text)

    def _stand_in(self, kind: str, value: str) -> str:
        plain = _DIGITS_ONLY.sub("", value) if kind in ("phone", "card") else value.lower()
        plain = plain.removeprefix("1") if len(plain) == _WITH_A_ONE else plain
        self.replaced[kind] += 1
        key = (kind, plain)
        if key not in self._stand_ins:
            self._values[kind] += 1
            self._stand_ins[key] = f"[{kind} {self._values[kind]}]"
            self._given.add(self._stand_ins[key])
        return self._stand_ins[key]


def redactor_of(dialogues: Sequence[Dialogue], ids: Iterable[str] = ()) -> Redactor:
    """A redactor that knows what is personal in some dialogues: what users were told and what tools were given.

    ``ids`` are more names that are no phone numbers and no keys.
    """
    known, fields, things = set[str](), set[PersonalField](), set(ids)
    for dialogue in dialogues:
        things.add(dialogue.id)
        if dialogue.goal:
            known |= set(dialogue.goal.knows.values())
            found = _VALUE.finditer("\n".join(dialogue.goal.message))
            known |= {match["quoted"] or match[0] for match in found}
        fields |= {PersonalField("name", name) for name in _names_of_user("\n".join(dialogue.instruction))}
        for holder, name in tool_data(msgspec.to_builtins(dialogue)):
            fields |= set(personal_fields(holder[name]))
            things |= set(ids_of_things(holder[name]))
    return Redactor(known, fields, things)


def tool_data(dialogue: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Where a dialogue in plain values holds what tools were given and gave: an object and the name of a member."""
    for turn in dialogue["turns"]:
        for call in turn.get("calls") or ():
            yield from ((call, name) for name in ("arguments", "result") if name in call)
    outcome = dialogue.get("outcome") or {}
    yield from ((call, "arguments") for call in outcome.get("expected") or () if "arguments" in call)
    if outcome.get("facts"):
        yield outcome, "facts"


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


def _unused(name: str, used: Mapping[str, object]) -> str:
    """A name that is not used yet: two members may differ in what was replaced only by how it is written."""
    numbered = (name if number == 1 else f"{name} ({number})" for number in count(1))
    return next(each for each in numbered if each not in used)


def _ordinal(number: int) -> str:
    return "th" if number in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _patterns(values: Iterable[str], flags: re.RegexFlag) -> Iterator[re.Pattern[str]]:
    """Expressions that find any of the values as whole words, the longest first."""
    for some in _pieces(sorted(values, key=lambda value: (-len(value), value)), _AT_ONCE):
        yield re.compile(rf"(?<![\w$€£])(?:{'|'.join(map(_any_writing, some))})(?!\w)", flags)


def _plain(writing: str) -> str:
    """A value whatever its case and, but for a date, whatever stands between its parts."""
    return writing.lower() if _DATE.fullmatch(writing) else _SEPARATOR.sub("", writing.lower())


def _any_writing(value: str) -> str:
    """An expression for a value; of a code, whatever separates its parts, or a hyphen at its digits."""
    if len(_SEPARATOR.sub("", value)) < _SHORTEST_CODE or not _CODE.fullmatch(value):
        return re.escape(value)
    return _CODE_PARTS.sub(lambda part: f"{_SEPARATOR.pattern}{{0,3}}" if part["between"] else "-?", value.strip("# "))


def _pieces(values: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    return (values[start : start + most] for start in range(0, len(values), most))


#: What an instruction tells its user that no other would say: up to three words in quotes, words with letters and
#: digits, long numbers.
_VALUE = re.compile(
    r"(?<!\w)[\"“‘'](?P<quoted>[^\s\"”’']+(?: [^\s\"”’']+){0,2})[\"”’'](?!\w)"
    r"|\b(?=[\w.-]*[^\W\d_])(?=[\w.-]*\d)\w[\w.-]{3,}\w\b|\b\d{5,}\b"
)
_PERSON = re.compile(
    r"\b[Yy]ou(?: are|'re) (?P<full>[A-Z][\w'-]+(?: [A-Z][\w'-]+){1,3})"
    r"|\b(?:[Yy]our|[Mm]y) (?:\w+ )?name(?: is|:) (?P<name>[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,3})"
)


def _names_of_user(instruction: str) -> list[str]:
    """The parts of the names that an instruction gives its user.

    >>> _names_of_user("You are Mia Li. Your middle name is Ann.")
    ['Mia', 'Li', 'Ann']
    """
    names = [match["full"] or match["name"] for match in _PERSON.finditer(instruction)]
    return list(dict.fromkeys(part for name in names for part in name.split()))
