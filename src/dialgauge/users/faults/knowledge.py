"""What an instruction has the user know: ids, numbers and addresses, in any shape in which people write them.

Things of a shape that no other word has (an e-mail address, tau-bench's ids) are known by it. Others are known by how
they are named: after *is*, a colon or a hash, in quotes, or as a word with digits. A log may also declare them, in
lines that begin with ``knows``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from dialgauge.formats import KNOWS
from dialgauge.users.faults.conversation_view import sentences
from dialgauge.users.faults.entities import entities


class KnownThing(Struct, frozen=True):
    """Something that the user knows: what it is called, its kind, how agents ask for it, and its values."""

    name: str
    kind: str
    asked: str
    values: tuple[str, ...]


#: Kinds of things, and how agents ask for each.
ASKED = {
    "user id": r"user[ -]?(?:id|name)s?\b",
    "reservation id": r"(?:reservation|confirmation|booking) (?:id|number|code)s?\b",
    "phone number": r"phone number\b",
    "order id": r"order (?:id|number)s?\b",
    "e-mail address": r"e-?mail(?: address)?\b",
}
#: How instructions name things: the kind that an order to keep them back would name, and the words.
_NAMED = {
    "user id": ("user id", r"user[ -]?(?:id|name)|username|log-?in(?: id| name)?"),
    "customer number": ("user id", r"customer (?:id|number|no\.?)"),
    "account number": ("user id", r"account (?:id|number|no\.?)"),
    "member number": ("user id", r"member(?:ship)? (?:id|number|no\.?)"),
    "reservation id": (
        "reservation id",
        r"(?:reservation|confirmation|booking)(?: (?:id|number|code|reference|no\.?))?",
    ),
    "order id": ("order id", r"order(?: (?:id|number|no\.?))?"),
    "ticket number": ("reservation id", r"(?:ticket|case) (?:id|number|no\.?)"),
    "phone number": ("phone number", r"(?:tele)?phone(?: number)?"),
    "e-mail address": ("e-mail address", r"e-?mail(?: address)?"),
}
_OTHER_ASKED = {
    "customer number": r"customer (?:id|number)s?\b",
    "account number": r"account (?:id|number)s?\b",
    "member number": r"member(?:ship)? (?:id|number)s?\b",
    "ticket number": r"(?:ticket|case) (?:id|number)s?\b",
}
#: What joins a name to its value, and a value: in quotes, or a word.
_JOINED = r"\s*(?:\s(?:is|was)\s|[:=]\s*|\s(?=[#\"'“‘])|\s(?=\S*\d))\s*"
_QUOTED = re.compile(r"[\"“'‘]([^\"”'’\n]{2,60})[\"”'’]")
_WORD = re.compile(r"#?[\w@+.-]*\w")
_PHONE = re.compile(r"[+(]{0,2}\d(?:[ ().-]{0,2}\d){4,14}")
#: "You are user_001": a name with letters and digits is an id; "you are 25 years old" is none.
_YOU_ARE = re.compile(
    r"\byou(?: are|'re) (?:called |the (?:user|customer) )?[\"'“‘]?(?=\w*[a-z])(?=\w*\d)(\w[\w.-]{2,40})", re.IGNORECASE
)
_DECLARED = re.compile(rf"^{KNOWS}(?P<name>[^:\n]{{1,60}}):\s*(?P<value>[^\n]{{1,200}})$", re.MULTILINE)


def known_things(instruction: str) -> list[KnownThing]:
    """What an instruction gives, by kind: of a shape of its own, else as it is named, and what is declared.

    >>> [(thing.name, thing.values) for thing in known_things("Your user id is user_001, the order number: 4711.")]
    [('user id', ('user_001',)), ('order id', ('4711',))]
    """
    declared = list(_declared(instruction))
    text = _DECLARED.sub("", instruction)
    by_name: dict[str, list[str]] = {}
    for sentence in sentences(text):
        for entity in entities(sentence):
            name = "reservation id" if entity.kind == "booking code" else entity.kind
            if name in ASKED:
                by_name.setdefault(name, []).append(entity.value)
    shaped = [KnownThing(name, name, ASKED[name], tuple(dict.fromkeys(values))) for name, values in by_name.items()]
    kinds = {thing.kind for thing in shaped}
    named = [thing for thing in _named(text) if thing.kind not in kinds]
    return [*shaped, *named, *declared]


def known_values(instruction: str) -> list[str]:
    """All values that an instruction says the user knows, as written."""
    values = [value for thing in known_things(instruction) for value in thing.values]
    lower = instruction.lower()
    return list(dict.fromkeys(instruction[at : at + len(value)] for value in values if (at := lower.find(value)) >= 0))


def _declared(instruction: str) -> Iterator[KnownThing]:
    for match in _DECLARED.finditer(instruction):
        name = match["name"].strip().lower().replace("_", " ")
        kind, asked = next(
            (
                (kind, ASKED.get(known) or _OTHER_ASKED.get(known) or pattern)
                for known, (kind, pattern) in _NAMED.items()
                if re.fullmatch(pattern, name)
            ),
            (name, rf"{re.escape(name)}\b"),
        )
        yield KnownThing(name, kind, asked, (match["value"].strip().lower(),))


def _named(instruction: str) -> Iterator[KnownThing]:
    by_name: dict[str, list[str]] = {}
    for name, (_, pattern) in _NAMED.items():
        for match in re.finditer(rf"\b(?:{pattern})s?{_JOINED}", instruction, re.IGNORECASE):
            if value := _value(instruction[match.end() : match.end() + 80], name):
                by_name.setdefault(name, []).append(value)
    if "user id" not in by_name and (called := _YOU_ARE.search(instruction)):
        by_name["user id"] = [called[1].lower()]
    for name, values in by_name.items():
        asked = ASKED.get(name) or _OTHER_ASKED[name]
        yield KnownThing(name, _NAMED[name][0], asked, tuple(dict.fromkeys(values)))


def _value(text: str, name: str) -> str:
    """The value at the beginning of a text: in quotes, a phone number, or a word that has a digit in it."""
    if name == "phone number" and (phone := _PHONE.match(text)):
        return phone[0].lower()
    if quoted := _QUOTED.match(text):
        return quoted[1].strip().lower()
    word = _WORD.match(text)
    return word[0].strip(".").lower() if word and any(letter.isdigit() for letter in word[0]) else ""
