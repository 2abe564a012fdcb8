"""Rules: the small steps a comparison profile is made of.

A *name rule* maps a (domain, slot) pair to the pair under which it is compared, or to ``None`` (out of scope). A *value
rule* maps one value of an already renamed slot to the values it stands for: one, none (the slot is absent), or several
(any of them is acceptable). Rules are plain data, so a profile can be printed, compared, hashed and written in a file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

Pair: TypeAlias = tuple[str, str]
Side: TypeAlias = Literal["gold", "predicted"]
Sides: TypeAlias = Literal["both", "gold", "predicted"]
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class NameRule(Struct, frozen=True, kw_only=True):
    """A step on (domain, slot) pairs; the base class changes nothing."""

    name: str
    why: str = ""

    def apply(self, pair: Pair) -> Pair | None:
        return pair

    def describe(self) -> str:
        raise NotImplementedError


class LowerDomain(NameRule, frozen=True, kw_only=True):
    """Domain names in lower case."""

    name: str = "lower-case domains"

    def apply(self, pair: Pair) -> Pair:
        return pair[0].strip().lower(), pair[1]

    def describe(self) -> str:
        return "domain names in lower case"


class KeepDomains(NameRule, frozen=True, kw_only=True):
    """Only these domains are compared."""

    domains: tuple[str, ...]
    name: str = "keep domains"

    def apply(self, pair: Pair) -> Pair | None:
        return pair if pair[0] in self.domains else None

    def describe(self) -> str:
        return "only the domains " + ", ".join(self.domains)


class DomainPrefix(NameRule, frozen=True, kw_only=True):
    """MultiWOZ 2.2 writes the domain before the slot, too: ``hotel-area`` of ``hotel`` is ``area``."""

    name: str = "domain before the slot"

    def apply(self, pair: Pair) -> Pair:
        return pair[0], pair[1].removeprefix(f"{pair[0]}-")

    def describe(self) -> str:
        return "slot names without the domain before them (hotel-area of hotel → area)"


class SlotSpelling(NameRule, frozen=True, kw_only=True):
    """Slot names in lower case and without their domain, characters deleted, a prefix stripped, whole names replaced.

    The domain before the slot, as MultiWOZ 2.2 writes it, comes off here because rules for values go by the slot.
    """

    name: str = "slot spelling"
    delete: str = ""
    prefix: str = ""
    renames: Mapping[str, str] = {}

    def apply(self, pair: Pair) -> Pair:
        slot = pair[1].lower().removeprefix(f"{pair[0].lower()}-")
        for character in self.delete:
            slot = slot.replace(character, "")
        slot = slot.removeprefix(self.prefix) or slot
        return pair[0], self.renames.get(slot, slot)

    def describe(self) -> str:
        parts = ["slot names in lower case and without their domain (hotel-area of hotel → area)"]
        if self.delete:
            words = {" ": "spaces", "_": "underscores", "-": "hyphens"}
            parts.append("without " + " and ".join(words.get(sign, repr(sign)) for sign in self.delete))
        if self.prefix:
            parts.append(f"without a leading '{self.prefix}'")
        parts += [f"{old} → {new}" for old, new in self.renames.items()]
        return ", ".join(parts)


class RenameSlots(NameRule, frozen=True, kw_only=True):
    """Slots (``hotel-price``) and domains under other names; case does not count."""

    name: str = "renamed"
    slots: Mapping[str, str] = {}
    domains: Mapping[str, str] = {}

    def apply(self, pair: Pair) -> Pair:
        whole = self.slots.get(f"{pair[0]}-{pair[1]}".lower())
        if whole is not None:
            domain, _, slot = whole.partition("-")
            return domain, slot
        return self.domains.get(pair[0].lower(), pair[0]), pair[1]

    def describe(self) -> str:
        return ", ".join(f"{old} → {new}" for old, new in {**self.slots, **self.domains}.items())


class ValueRule(Struct, frozen=True, kw_only=True):
    """A step on values; ``slots``, ``except_slots`` and ``domains`` limit where it applies, ``side`` to whom."""

    name: str
    why: str = ""
    slots: tuple[str, ...] = ()
    except_slots: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    side: Sides = "both"

    def concerns(self, pair: Pair, side: Side) -> bool:
        """Does the rule apply to this slot on this side?"""
        return (
            self.side in ("both", side)
            and (not self.slots or pair[1] in self.slots)
            and pair[1] not in self.except_slots
            and (not self.domains or pair[0] in self.domains)
        )

    def empties(self, values: tuple[str, ...]) -> bool:
        """Is a slot absent that has these values, as its source writes them?"""
        return False

    def apply(self, value: str) -> tuple[str, ...]:
        raise NotImplementedError

    def describe(self) -> str:
        raise NotImplementedError

    def scope(self) -> str:
        """Where and to whom the rule applies, for people; empty when everywhere and to both sides."""
        parts = []
        if self.domains:
            parts.append("domains " + ", ".join(self.domains))
        if self.slots:
            parts.append("slots " + ", ".join(self.slots))
        if self.except_slots:
            parts.append("not for the slots " + ", ".join(self.except_slots))
        if self.side != "both":
            parts.append(f"{self.side} side only")
        return "; ".join(parts)


class LowerCollapse(ValueRule, frozen=True, kw_only=True):
    """Lower case, runs of white space become one space, none at the ends."""

    name: str = "lower case"

    def apply(self, value: str) -> tuple[str, ...]:
        return (" ".join(value.lower().split()),)

    def describe(self) -> str:
        return "lower case, white space collapsed"


class LowerTrim(ValueRule, frozen=True, kw_only=True):
    """Lower case, no white space at the ends; inside, it stays as it is."""

    name: str = "lower case"

    def apply(self, value: str) -> tuple[str, ...]:
        return (value.strip().lower(),)

    def describe(self) -> str:
        return "lower case, no white space at the ends"


class Drop(ValueRule, frozen=True, kw_only=True):
    """These values mean an absent slot; with ``containing``, so does any value that contains one of them.

    With ``one_of_several``, the slot is absent already when one of its values is such a value.
    """

    values: tuple[str, ...]
    containing: bool = False
    one_of_several: bool = False

    def empties(self, values: tuple[str, ...]) -> bool:
        return self.one_of_several and not set(self.values).isdisjoint(values)

    def apply(self, value: str) -> tuple[str, ...]:
        if self.containing:
            return () if any(part in value for part in self.values) else (value,)
        return () if value in self.values else (value,)

    def describe(self) -> str:
        listed = ", ".join(repr(value) for value in self.values)
        having = "one of whose values is" if self.one_of_several else "whose value is"
        return f"slots {'whose value contains' if self.containing else having} {listed} are absent"


class Replace(ValueRule, frozen=True, kw_only=True):
    """Whole values replaced."""

    table: Mapping[str, str]

    def apply(self, value: str) -> tuple[str, ...]:
        return (self.table.get(value, value),)

    def describe(self) -> str:
        grouped: dict[str, list[str]] = {}
        for old, new in self.table.items():
            grouped.setdefault(new, []).append(old)
        return "; ".join(f"{', '.join(old)} → {new}" for new, old in grouped.items())


class Substitute(ValueRule, frozen=True, kw_only=True):
    """Regular expressions replaced one after the other, then white space collapsed."""

    patterns: tuple[tuple[str, str], ...]
    collapse: bool = True

    def apply(self, value: str) -> tuple[str, ...]:
        for pattern, replacement in self.patterns:
            value = re.sub(pattern, replacement, value)
        return (" ".join(value.split()) if self.collapse else value,)

    def describe(self) -> str:
        return "; ".join(f"/{pattern}/ → {replacement!r}" for pattern, replacement in self.patterns)


class Split(ValueRule, frozen=True, kw_only=True):
    """A value that lists alternatives stands for each of them."""

    separators: str
    name: str = "split alternatives"

    def apply(self, value: str) -> tuple[str, ...]:
        parts = re.split(f"[{re.escape(self.separators)}]", value)
        return tuple(part.strip() for part in parts if part.strip())

    def describe(self) -> str:
        return f"alternatives separated by {' or '.join(self.separators)}: any of them is meant"


class Variants(ValueRule, frozen=True, kw_only=True):
    """Other wordings that are accepted in place of a value."""

    accepted: Mapping[str, tuple[str, ...]]

    def apply(self, value: str) -> tuple[str, ...]:
        return (value, *self.accepted.get(value, ()))

    def describe(self) -> str:
        return "; ".join(f"for {value} also {', '.join(also)}" for value, also in self.accepted.items())


# Rules for times of day.

_WITH_COLON = re.compile(r"(\d{1,2}):(\d{2})")
_HALF_DAY = re.compile(r"(\d{1,2})(?:[:.,;](\d{1,2}))?(am|pm)")
_LOOSE = re.compile(r"(\d{1,2})[:.,;](\d{1,2})")

#: Words for times, as far as people use them for bookings.
_WORDS = {"noon": "12:00", "midday": "12:00", "midnight": "00:00", "lunch": "12:00", "lunchtime": "12:00"}


class ClockDigits(ValueRule, frozen=True, kw_only=True):
    """``9:15``, ``09 : 15``, ``0915`` and ``915`` are ``09:15``; anything else stays as it is."""

    name: str = "times"

    def apply(self, value: str) -> tuple[str, ...]:
        return (padded(value),)

    def describe(self) -> str:
        return "H:MM, HH:MM, HHMM and HMM, with or without spaces → HH:MM"


class ClockWords(ValueRule, frozen=True, kw_only=True):
    """Times as :class:`ClockDigits` reads them, and am, pm, other separators and a few words; 24:xx is 00:xx."""

    name: str = "times in words"

    def apply(self, value: str) -> tuple[str, ...]:
        return (spoken(value),)

    def describe(self) -> str:
        return "noon, midnight, 12-hour clock, other separators, missing zeros → HH:MM; 24:xx → 00:xx"


def padded(value: str) -> str:
    """A time of day in digits as HH:MM, the first rule of the profile ``canon``; anything else stays as it is.

    >>> padded("9 : 15"), padded("0915"), padded("915"), padded("after 9:15")
    ('09:15', '09:15', '09:15', 'after 9:15')
    """
    text = value.replace(" ", "")
    if match := _WITH_COLON.fullmatch(text):
        return f"{match[1]:0>2}:{match[2]}"
    if text.isascii() and text.isdigit() and len(text) in (3, 4):
        return f"{text[:-2]:0>2}:{text[-2:]}"
    return value


def spoken(value: str) -> str:
    """A time as people write it, as HH:MM; anything else stays as it is.

    >>> spoken("3:30 pm"), spoken("12 am"), spoken("24:15"), spoken("17.5"), spoken("noon"), spoken("later")
    ('15:30', '00:00', '00:15', '17:05', '12:00', 'later')
    """
    text = value.replace(" ", "")
    if text in _WORDS:
        return _WORDS[text]
    if match := _HALF_DAY.fullmatch(text):
        hour = int(match[1]) % 12 + (12 if match[3] == "pm" else 0)
        return f"{hour:02}:{match[2] or '00':0>2}"
    if match := _LOOSE.fullmatch(text):
        return f"{int(match[1]) % 24:02}:{match[2]:0>2}"
    return padded(value)


def minutes(value: str) -> int | None:
    """Minutes after midnight of HH:MM; None for anything else.

    >>> minutes("01:30"), minutes("cheap")
    (90, None)
    """
    match = _WITH_COLON.fullmatch(value)
    return int(match[1]) * 60 + int(match[2]) if match else None
