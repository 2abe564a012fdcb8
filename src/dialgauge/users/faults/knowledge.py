"""What an instruction has the user know: ids, numbers and addresses, in any shape in which people write them.

Things of a shape that no other word has (an e-mail address, tau-bench's ids) are known by it. Others are known by how
they are named: after *is*, a colon or a hash, in quotes, or as a word with digits. A goal may also have them by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct, structs

from dialgauge.dialogue import Goal
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
    "reservation id": r"(?:(?:reservation|confirmation|booking) (?:id|number|code|ref(?:erence)?)|record locator)s?\b",
    "phone number": r"phone number\b",
    "order id": r"order (?:id|number)s?\b",
    "e-mail address": r"e-?mail(?: address)?\b",
}
#: What ids and numbers belong to: the kind that an order to keep them back would name, and the words of instructions.
_OWNERS = {
    "user id": ("user id", r"user|log-?in"),
    "customer number": ("user id", r"customer|client"),
    "account number": ("user id", r"account|profile"),
    "member number": ("user id", r"member(?:ship)?|loyalty|fl[iy]er"),
    "reservation id": ("reservation id", r"reservation|confirmation|booking"),
    "ticket number": ("reservation id", r"ticket|case"),
    "order id": ("order id", r"order"),
    "phone number": ("phone number", r"(?:tele)?phone|mobile|cell"),
    "e-mail address": ("e-mail address", r"e-?mail"),
}
_HEAD = r"id|name|number|no\.?|code|reference|ref|address|key"
#: What has a number whether or not the word *number* follows.
_NUMBERED = r"pin|pass(?:code|word|phrase|port)|licen[cs]e|policy|claim|invoice|contract|ssn|iban"
#: How agents ask for an id that has no owner.
_ANY_ID = (
    r"(?:(?:user|customer|client|account|member(?:ship)?|log-?in|profile)[ -]?(?:id|name|number|code)s?"
    r"|(?:(?<=your )|(?<=the ))ids?)\b"
)
#: Words before *id* and *number* that are no owner.
_NO_OWNER = frozenset(["your", "my", "the", "their", "his", "her", "this", "that", "a", "an", "and", "or", "with"])
#: Numbers and codes that say nothing about the user.
_PUBLIC = frozenset(
    """
    flight gate seat room train bus platform total any same large small maximum minimum item product model version
    page promo discount coupon dress area country error source
    """.split()  # noqa: SIM905
)
_IS = r"\s(?:is|was|are|ist|lautet|est|es|è)\b:?|:|="
#: A name, what it is of, and what joins it to its value: a word or sign, or nothing before a hash, quotes or a digit.
_NAMED = re.compile(
    rf"\b(?<!\w-)(?P<owner>[^\W\d_][a-z-]{{0,30}}?)(?:[ -]?(?P<head>{_HEAD})s?)?(?<=[\w.])\s?"
    rf"(?:(?:\s?(?:of|for) (?:your|my|the) (?:[a-z]+ )?(?P<of>[a-z]+))?(?P<is>{_IS})"
    r"|(?=\s?[#\"'“‘])|(?=\s\S{0,60}\d))\s*",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“'‘]([^\"”'’\n]{2,60})[\"”'’]")
_WORD = re.compile(r"\d{3,}(?: \d{3,})+|#? ?[\w@+.-]*\w")
_PHONE = re.compile(r"[+(]{0,2}\d(?:[ ().-]{0,2}\d){4,14}")
#: Without a digit, but no word of a language: ann.lee, ann_lee, QWERTY.
_CODE_LIKE = re.compile(r"[a-z]+[._][a-z._]+|[A-Z]{4,}")
_DATE_OR_AMOUNT = re.compile(
    r"(?:19|20)\d\d-\d\d-\d\d|\d+\.\d\d|\d+-?(?:st|nd|rd|th|am|pm|h|hours?|days?|kg)", re.IGNORECASE
)
#: An id or number is not shorter.
_SHORTEST = 3
#: "Your pet is 'Rex'", "Deine Kundennummer ist 443312": whatever it is, in quotes, as letters with digits behind them
#: (digits with letters behind them are a size or a seat), or as five digits or more.
_OWN_THING = re.compile(
    r"(?<!\bof )(?<!\bfor )\b(?:your|my|deine?|ihre?|votre|su|tu) (?P<name>[^\W\d_]+(?:(?:'s)? [^\W\d_]+){0,2}?)"
    rf"(?:{_IS}) ?(?:[\"“'‘](?P<quoted>[^\s\"”'’]+(?: [^\s\"”'’]+){{0,2}})[\"”'’]"
    r"|(?P<code>[^\W\d_][\w-]*\d[\w-]*|\d[\d-]{3,}\d\w*)(?!\w|[@.-]\w))",
    re.IGNORECASE,
)
#: "You are user_001": a name with letters and digits is an id; "you are 25 years old" is none.
_YOU_ARE = re.compile(
    r"\byou(?: are|'re) (?:called |the (?:user|customer) )?[\"'“‘]?(?=\w*[a-z])(?=\w*\d)(\w[\w.-]{1,40}\w)",
    re.IGNORECASE,
)
_PERSON = re.compile(
    r"\b[Yy]ou(?: are|'re) (?P<full>[A-Z][\w'-]+(?: [A-Z][\w'-]+){1,3})"
    r"|\b(?:[Yy]our|[Mm]y) (?:\w+ )?name(?: is|:) (?P<name>[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,3})"
)


def known_things(goal: Goal) -> list[KnownThing]:
    """What a goal's message gives, by kind: of a shape of its own, else as it is named; and what the user knows.

    >>> goal = Goal(message=("Your user id is user_001.",), knows={"order number": "4711"})
    >>> [(thing.name, thing.values) for thing in known_things(goal)]
    [('user id', ('user_001',)), ('order number', ('4711',))]
    """
    text = "\n".join(goal.message).replace("’", "'")
    things: dict[str, KnownThing] = {}
    given: set[str] = set()
    for thing in (*_shaped(text), *_named(text)):
        if given.isdisjoint(thing.values):  # else it is the same by another name
            earlier = things[thing.name].values if thing.name in things else ()
            things[thing.name] = structs.replace(thing, values=(*earlier, *thing.values))
            given.update(thing.values)
    return [*things.values(), *(_declared(name, value) for name, value in goal.knows.items())]


def known_values(goal: Goal) -> list[str]:
    """All values that a goal says the user knows, as written but for a hash."""
    values = [value.lstrip("# ") for thing in known_things(goal) for value in thing.values]
    instruction = "\n".join(goal.instruction)
    lower = instruction.lower()
    return list(dict.fromkeys(instruction[at : at + len(value)] for value in values if (at := lower.find(value)) >= 0))


def names_of_user(instruction: str) -> list[str]:
    """The parts of the names that an instruction gives its user.

    >>> names_of_user("You are Mia Li. Your middle name is Ann.")
    ['Mia', 'Li', 'Ann']
    """
    names = [match["full"] or match["name"] for match in _PERSON.finditer(instruction)]
    return list(dict.fromkeys(part for name in names for part in name.split()))


def _declared(name: str, value: str) -> KnownThing:
    name = name.strip().lower().replace("_", " ")
    named = _NAMED.fullmatch(f"{name}:")
    _, kind, asked = (named and _called(named)) or (name, name, rf"{re.escape(name)}\b")
    return KnownThing(name, kind, asked, (value.strip().lower(),))


def _shaped(text: str) -> Iterator[KnownThing]:
    for sentence in sentences(text):
        for entity in entities(sentence):
            name = "reservation id" if entity.kind == "booking code" else entity.kind
            if name in ASKED:
                yield KnownThing(name, name, ASKED[name], (entity.value,))


def _named(text: str) -> Iterator[KnownThing]:
    """What has a name and a value; the user *is* an id only where no other is given."""
    things = []
    for match in _NAMED.finditer(text):
        called = _called(match)
        if called and (value := _value(text[match.end() : match.end() + 80], called[1], joined=bool(match["is"]))):
            things.append(KnownThing(*called, (value,)))
    values = {value for thing in things for value in thing.values}
    for match in _OWN_THING.finditer(text):
        name, value = match["name"].lower(), (match["quoted"] or match["code"]).lower()
        public = match["code"] and (_DATE_OR_AMOUNT.fullmatch(value) or not _PUBLIC.isdisjoint(name.split()))
        if value not in values and not public:
            things.append(KnownThing(name, name, rf"{re.escape(name)}\b", (value,)))
    if not any(thing.kind == "user id" for thing in things) and (user := _YOU_ARE.search(text)):
        things.append(KnownThing("user id", "user id", ASKED["user id"], (user[1].lower(),)))
    yield from things


def _called(match: re.Match[str]) -> tuple[str, str, str] | None:
    """What is named: its name, its kind and how agents ask for it; None where it is nothing that a user knows."""
    owner, head = match["owner"].lower(), (match["head"] or "").lower().rstrip(".")
    if match["of"] and (owner in _NO_OWNER or re.fullmatch(_HEAD, owner)):  # "the number of your contract"
        owner, head = match["of"].lower(), head or owner
    for name, (kind, words) in _OWNERS.items():
        if re.fullmatch(words, owner):
            return name, kind, ASKED.get(name) or _asked(words, head)
    if re.fullmatch(_NUMBERED, owner):
        name = f"{owner} {head}".strip()
        return name, name, rf"{owner}(?: (?:{_HEAD}))?s?\b"
    if re.fullmatch(_HEAD, owner) and not head:  # "id: 4711"
        owner, head = "", owner
    if head in ("", "name", "address") or owner in _PUBLIC:
        return None
    if owner and owner not in _NO_OWNER:
        return f"{owner} {head}", f"{owner} {head}", rf"{re.escape(owner)} (?:{_HEAD})s?\b"
    return ("id", "user id", _ANY_ID) if head == "id" else (head, head, rf"(?<=your ){head}\b")


def _asked(words: str, head: str) -> str:
    """How agents ask for a number of an owner; by the word alone only where that is not any number or name."""
    alone = rf"|(?:(?<=your )|(?<=the )|(?<=/ )){head}" if head in ("id", "code", "reference") else ""
    return rf"(?:(?:{words})[ -]?(?:{_HEAD})s?{alone})\b" if head else _ANY_ID


def _value(text: str, kind: str, *, joined: bool) -> str:
    """The value at the beginning of a text: a phone number, in quotes, a word with a digit or, joined, like a code."""
    if kind in ("phone number", "number") and (phone := _PHONE.match(text)):
        return phone[0].lower()
    if quoted := _QUOTED.match(text):
        return quoted[1].strip().lower()
    word = _WORD.match(text)
    if not word or len(word[0].lstrip("# ")) < _SHORTEST or _DATE_OR_AMOUNT.fullmatch(word[0]):
        return ""
    is_id = re.search(r"\d", word[0]) or (joined and _CODE_LIKE.fullmatch(word[0]))
    return word[0].replace(" ", "" if word[0].startswith("#") else " ").lower() if is_id else ""
