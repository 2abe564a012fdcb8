"""Texts without the personal data that rules can find.

Three things are found: what has a shape of its own (e-mail addresses, keys, card and phone numbers), what tool calls
name as personal (``first_name``, ``dob``), and what users were told. Equal values have equal stand-ins. Personal data
without a shape that stands in free text only is not found.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import msgspec

from dialgauge.dialogue import Dialogue
from dialgauge.text import CAMEL_CASE, counted

#: What no rule finds, as terminals and pages say it.
NOT_FOUND = (
    "Not found: names, birth dates, addresses and ids that stand in free text only (in no tool call or instruction, "
    "under no name that says so), values of fewer than four letters, and anything in another wording: read it before "
    "you pass it on"
)

# Values with a shape

#: What may stand between the digits of a number.
_GAP = r"[ \u00a0\u2009\u202f.\-\u2010\u2011]"
_SPACE = r"[ \u00a0\u2009\u202f-]"
_KEY_NAMES = (
    r"(?:api|(?:shared)?access|private|secret|account)[ _-]?key|token|secret|bearer|passw(?:or)?d|pwd|passphrase"
)


class _Shape(NamedTuple):
    """An expression for values of a kind, and a check of what it found; a group in it is the value alone."""

    kind: str
    expression: str
    fits: Callable[[str], bool] = bool
    #: Whether ids of things look the same.
    like_ids: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self.expression, re.IGNORECASE if self.kind != "payment" else re.NOFLAG)


def _is_card(written: str) -> bool:
    """Whether a number has the check digit of card numbers (Luhn)."""
    digits = [int(letter) for letter in written if letter.isdigit()]
    doubled = (2 * digit - 9 * (digit > 4) for digit in digits[-2::-2])
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _is_iban(written: str) -> bool:
    """Whether a number has the check digits of bank accounts (ISO 13616)."""
    plain = re.sub(r"\s", "", written)
    return int("".join(str(int(letter, 36)) for letter in plain[4:] + plain[:4])) % 97 == 1


def _is_random(written: str) -> bool:
    """Whether letters and digits stand in one long piece, as they do in no name that people give."""
    pieces = re.split(r"[-_]", written)
    return any(len(each) >= 20 and re.search(r"\d", each) and re.search(r"[A-Za-z]", each) for each in pieces)


def _is_phone(written: str) -> bool:
    is_date = re.match(r"(?:19|20)\d\d(\D)\d{1,2}\1\d{1,2}(?!\d)|\d{1,2}(\D)\d{1,2}\2(?:19|20)\d\d(?!\d)", written)
    return 7 <= len(re.sub(r"\D", "", written)) <= 15 and not is_date


#: Shapes that may hold a value known otherwise: they are looked for first.
_OUTER = (
    _Shape("key", r"-----BEGIN [A-Z0-9 ]{3,40}-----(?:[^-]|-(?!----)){0,20000}-----END [A-Z0-9 ]{3,40}-----"),
    _Shape("key", r"(?<!\w)(?:[sprw]k[-_][\w-]{16,}|(?:AKIA|ASIA)[0-9A-Z]{16}|eyJ[\w-]{8,}(?:\.[\w-]{8,}){2})"),
    _Shape("key", r"(?<!\w)(?:gh[a-z]_|github_pat_|glpat-|xox[a-z]-|xapp-|AIza|hf_|SG\.|whsec_|ya29\.)[\w.-]{10,}"),
    _Shape("key", r"\bauthorization[\"']?\s{0,9}[:=]\s{0,9}[\"']?(?:[a-z]+ )?([^\s\"',;\[]{8,})"),
    _Shape("key", rf"(?<![a-z0-9])(?:{_KEY_NAMES})[\"']?\s{{0,9}}=\s{{0,9}}[\"']?((?!\[)[^\s\"',;&]{{4,}})"),
    _Shape(
        "key",
        rf"(?<![a-z0-9])(?:{_KEY_NAMES})\b[\"']?(?: is\b:?|\s{{0,9}}:)?\s{{1,9}}[\"']?"
        r"((?!\[)(?=[^\s\"',;]*\d)[^\s\"',;]{3,}[^\s\"',;.:?)])",
    ),
    _Shape("e-mail", r"(?<![\w.+-])[\w.+%&'-]{1,64}[@＠](?:[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}|localhost\b)"),
)
#: The others, in the order in which they are looked for: all have digits.
_INNER = (
    _Shape("key", r"(?<![\w/+.-])(?:[0-9a-f]{32,}|[a-z0-9_-]{40,}={0,2}|[a-z]{2,10}_v\d_[0-9a-f]{32,})(?![\w/+-])",
           _is_random, like_ids=True),
    _Shape("key", r"\b(?:pin|cvv|cvc|otp|(?:verification|security|access|login) code)\b(?: is)?[ :=#]{1,3}(\d{3,8})\b"),
    _Shape("payment", r"(?<!\w)[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)", _is_iban),
    _Shape("card", rf"(?<![\w.-])[2-68](?:{_SPACE}?\d){{12,18}}(?![\w-])", _is_card),
    _Shape("card", r"\b(?:ending (?:in|with)|last (?:four|4)(?: digits)?(?: are| is|:)?) (\d{4})(?!\w)"),
    _Shape("card", r"[*x\u2022]{4}[ -]?(\d{4})(?!\w)"),
    _Shape("card", r"(?<![\w$.,-])(\d{4})(?= (?:credit |debit )?card\b)"),
    _Shape("id number", r"(?<![\w-])(?!000|666|9)\d{3}-\d{2}-\d{4}(?![\w-])"),
    _Shape(
        "phone",
        rf"(?<![\d+])\+\d(?:(?:{_GAP}|[()/]){{0,3}}\d){{7,14}}(?!\w)"
        rf"|(?<!\w)(?:1{_GAP})?\(\d{{2,5}}\){_GAP}?\d{{3,8}}(?:{_GAP}\d{{2,5}}){{0,3}}(?!\w)"
        rf"|(?<![\w-])(?:1{_GAP})?\d{{3}}(?:{_GAP}|/)\d{{3}}{_GAP}?\d{{4}}(?![\w-])"
        rf"|(?<![\w.,:/#-])0\d{{1,5}}(?:(?:{_GAP}|/){{1,3}}\d{{2,8}}){{1,5}}(?![\w-]|[:/]\d)",
        _is_phone,
    ),
    _Shape("phone", r"(?<![\w.,$/#-])(?:1?[2-9]\d\d[2-9]\d{6}|0[1-9]\d{8,9})(?![\w-]|[.,]\d)", like_ids=True),
    _Shape("phone", rf"\b(?:phone|tel|mobile|cell|fax|call|text)\b(?:[ .:=]|number|me|at|is|my|on){{0,12}}[ .:]"
           rf"(\(?\d(?:(?:{_GAP}|[()/]){{0,2}}\d){{6,13}})(?![\w-]|[:/]\d)", _is_phone),
)  # fmt: skip

# Values that tool calls name


class PersonalField(NamedTuple):
    """A value that a member's name says is personal."""

    kind: str
    value: str
    #: Whether the value says so much by itself that it is looked for in texts too.
    telling: bool = True


#: The kind of a member whose name is one of these words, or ends in one after an underscore.
_NAMED = {
    "name": "first_name last_name middle_name full_name given_name family_name surname passenger_name customer_name "
    "guest_name patient_name contact_name cardholder holder_name",
    "birth date": "dob date_of_birth birth_date birthdate birthday",
    "e-mail": "email mail email_address",
    "phone": "phone phone_number telephone mobile mobile_number",
    "user id": "user_id userid user_name username customer_id client_id account_id member_id guest_id patient_id "
    "passenger_id login",
    "payment": "payment_id payment_method_id card_id credit_card_id card_number account_number iban",
    "id number": "passport passport_number ssn tax_id id_number driver_license license_number",
    "address": "address address1 address2 street street_address zip zip_code zipcode postcode postal_code",
}
_KIND_OF = {name: kind for kind, names in _NAMED.items() for name in names.split()}
#: Parts of an address that are no secret by themselves: replaced in an address, never in texts.
_PARTS = frozenset({"city", "town", "state", "province", "county", "country", "district"})
_IN_ADDRESS = frozenset({"address1", "street", "zip", "postcode", "postal_code"})
#: An object with one of these is a person's, and so is its name.
_OF_A_PERSON = frozenset({"birth date", "e-mail", "user id"})
_MEANS = re.compile(r"payment_methods?|payment_sources?|cards?")
_LAST_DIGITS = frozenset({"last_four", "last4", "last_4"})
_OF_A_THING = re.compile(r"(?:^|_)(?:ids?|sku|sha256|checksum|hash|digest|fingerprint|commit)$")
#: What cannot stand for a person.
_NOTHING = frozenset({"", "none", "null", "n/a", "unknown", "true", "false", "?"})


def personal_fields(value: Any) -> list[PersonalField]:
    """The personal values in a JSON value, and in the JSON that its texts hold.

    >>> [field.value for field in personal_fields({"user": '{"firstName": "Ann", "cabin": "economy"}'})]
    ['Ann']
    """
    fields: list[PersonalField] = []

    def kept(field: PersonalField) -> str:
        fields.append(field)
        return field.value

    _replaced_fields(value, kept)
    return fields


def ids_of_things(value: Any) -> Iterator[str]:
    """Values of a JSON value, and of the JSON in its texts, that members call ids or checksums of no person.

    >>> list(ids_of_things({"item": {"item_id": "6086499569", "user_id": "ann_1"}, "sha256": "5f4d"}))
    ['6086499569', '5f4d']
    """
    inner = _json_in(value) if isinstance(value, str) else value
    if isinstance(inner, list | tuple):
        yield from (each for member in inner for each in ids_of_things(member))
    if isinstance(inner, Mapping):
        for key, member in inner.items():
            if _OF_A_THING.search(name := _member_name(key)) and not _named(name):
                yield from (str(part) for part in (member if isinstance(member, list) else [member]))
            yield from ids_of_things(member)


def _replaced_fields(value: Any, stand_in: Callable[[PersonalField], str], parent: str = "") -> Any:
    """A JSON value with stand-ins for its personal values; texts that hold JSON are read and written again."""
    if isinstance(value, str):
        inner = _json_in(value)
        changed = None if inner is None else _replaced_fields(inner, stand_in, parent)
        return value if changed == inner else json.dumps(changed, ensure_ascii=False)
    if isinstance(value, list | tuple):
        return [_replaced_fields(each, stand_in, parent) for each in value]
    if not isinstance(value, dict):
        return value
    names = {key: _member_name(key) for key in value}
    result = {}
    for key, member in value.items():
        kind, telling = _kind(names[key], parent, {*names.values()})
        by_id = isinstance(member, dict) and _MEANS.fullmatch(parent)  # {"card_12": {...}}
        shown = stand_in(PersonalField("payment", key)) if by_id else key
        result[shown] = _replaced_member(member, kind, telling, stand_in, names[key] or parent)
    return result


def _replaced_member(member: Any, kind: str, telling: bool, stand_in: Callable[[PersonalField], str], name: str) -> Any:
    if isinstance(member, list) and kind:
        return [_replaced_member(part, kind, telling, stand_in, name) for part in member]
    if not kind or isinstance(member, dict) or (isinstance(member, str) and _json_in(member) is not None):
        return _replaced_fields(member, stand_in, name)
    if isinstance(member, bool | float | None) or str(member).strip().lower() in _NOTHING:
        return member
    return stand_in(PersonalField(kind, str(member).strip(), telling))


def _kind(name: str, parent: str, siblings: set[str]) -> tuple[str, bool]:
    """What a member is, empty for nothing personal; and whether its value is looked for in texts."""
    if name in _LAST_DIGITS:
        return "card", False
    if name in _PARTS:
        return "address" if parent.endswith("address") or _IN_ADDRESS & siblings else "", False
    if name == "name" and any(_named(other) in _OF_A_PERSON for other in siblings):
        return "name", True
    if name == "id" and _MEANS.fullmatch(parent):
        return "payment", True
    return _named(name), True


def _named(name: str) -> str:
    """The kind by a name or by its end: ``billing_address`` is an address."""
    while name:
        if kind := _KIND_OF.get(name) or _KIND_OF.get(name.removesuffix("s")):
            return kind
        name = name.partition("_")[2]
    return ""


def _member_name(key: str) -> str:
    """A member's name in small letters with underscores, however it is written."""
    return re.sub(r"[\s.-]+", "_", CAMEL_CASE.sub("_", key.strip())).lower() if len(key) <= 60 else ""


def _json_in(text: str) -> Any:
    """The object or list that a text is; None where it is neither."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        inner = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return inner if isinstance(inner, Mapping | list) else None


# Stand-ins

#: Shorter values are too common to be replaced wherever they stand.
_SHORTEST = 4
#: What people leave out or put in where they say a code of five letters or more: LK003Z is LK-003-Z.
_SEPARATOR = re.compile(r"[-_./# ]")
_CODE = re.compile(r"[\w./# -]+")
_CODE_PARTS = re.compile(r"(?P<between>[-_./# ]+)|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
#: How many values one expression looks for.
_AT_ONCE = 500
#: A measure of a part, alone or in a signature.
_MEASURE = re.compile(r"(?P<before>[\w^@.()=,:-]{1,80})\[(?P<part>[^\[\]]+)\](?P<after>(?:\|[\w^@.()=,:|+-]*)?)")


class Redactor:
    """Texts with stand-ins. One redactor serves everything that is shown together."""

    def __init__(
        self, known: Iterable[str] = (), fields: Iterable[PersonalField] = (), ids: Iterable[str] = ()
    ) -> None:
        """``known`` are values that users know, ``fields`` those of tool calls, to be found in texts as well.

        ``ids`` are those of things: they are never taken for a key or a phone number.
        """
        self._ids = frozenset(ids)
        telling = sorted(field for field in fields if field.telling)
        #: The kind and the value of each way to write it.
        self._written = {_plain(text): (field.kind, field.value) for field in telling for text in _writings(field)}
        names = {field.value for field in telling if field.kind == "name" and len(field.value) > 1}
        values = {text for field in telling if field.kind != "name" for text in _writings(field)}
        values = {value for value in (values | {value.strip() for value in known}) - names if len(value) >= _SHORTEST}
        #: Names count only as they are written: "Long" is not "long".
        self._known = [*_patterns(values, re.IGNORECASE), *_patterns(names, re.NOFLAG)]
        self._stand_ins: dict[tuple[str, str], str] = {}
        self._values: Counter[str] = Counter()
        #: How often a value of each kind was replaced.
        self.replaced: Counter[str] = Counter()

    def text(self, text: str) -> str:
        """A text with stand-ins for what was found in it.

        >>> Redactor().text("ann@example.com or 415-555-0123, and ann@example.com")
        '[e-mail 1] or [phone 1], and [e-mail 1]'
        """
        text = _replaced_fields(text, self._of_field)
        for shape in _OUTER:
            text = self._without(shape, text)
        for pattern in self._known:
            text = pattern.sub(
                lambda match: self._stand_in(*self._written.get(_plain(match[0]), ("known", _plain(match[0])))),
                text,
            )
        for shape in _INNER if any(map(str.isdigit, text)) else ():
            text = self._without(shape, text)
        return text

    def value(self, value: Any) -> Any:
        """The same for all texts in a JSON value, and for names of members that are more than letters."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.value(member) for member in value]
        if not isinstance(value, dict):
            return value
        members: dict[str, Any] = {}
        for key, member in value.items():
            shown = own = key if re.fullmatch(r"[^\W\d]+", key) else self.name(key)
            while shown in members:  # two members may differ only in how a value is written
                shown = f"{own} ({len(members) + 1})"
            members[shown] = member if key == "speaker" else self.value(member)
        return members

    def name(self, name: str) -> str:
        """The name of a measure or member with stand-ins; between brackets these have none of their own.

        >>> Redactor().name("Label[tone=ann@example.com]")
        'Label[tone=e-mail 1]'
        """
        measure = _MEASURE.fullmatch(name)
        if measure is None:
            return self.text(name)
        part = self.text(measure["part"])
        part = part if part == measure["part"] else re.sub(r"[\[\]]", "", part)
        return f"{measure['before']}[{part}]{measure['after']}"

    def dialogue(self, dialogue: Dialogue) -> Dialogue:
        """A dialogue with stand-ins in its id, its texts, calls, goal and outcome."""
        plain = msgspec.to_builtins(dialogue)
        for holder, name in _tool_data(plain):
            holder[name] = _replaced_fields(holder[name], self._of_field)
        return msgspec.convert(self.value(plain), Dialogue)

    def sentence(self) -> str:
        """How much was replaced, and that this is not all that there may be."""
        words = {"known": ("known value", ""), "address": ("address", "addresses")}
        counts = [counted(count, *words.get(kind, (kind, ""))) for kind, count in self._values.items()]
        return f"replaced: {', '.join(counts) or 'nothing'}. {NOT_FOUND}"

    def _of_field(self, field: PersonalField) -> str:
        is_one = field.value in self._stand_ins.values()
        return field.value if is_one else self._stand_in(field.kind, field.value)

    def _without(self, shape: _Shape, text: str) -> str:
        def replaced(match: re.Match[str]) -> str:
            group = match.lastindex or 0
            value = match[group]
            if not shape.fits(value) or (shape.like_ids and value in self._ids):
                return match[0]
            start, end = (at - match.start() for at in match.span(group))
            return f"{match[0][:start]}{self._stand_in(shape.kind, value)}{match[0][end:]}"

        return shape.pattern.sub(replaced, text)

    def _stand_in(self, kind: str, value: str) -> str:
        plain = re.sub(r"\D", "", value) if kind in ("phone", "card") else value.lower()
        plain = plain.removeprefix("1") if kind == "phone" and len(plain) == 11 else plain
        self.replaced[kind] += 1
        key = (kind, plain)
        if key not in self._stand_ins:
            self._values[kind] += 1
            self._stand_ins[key] = f"[{kind} {self._values[kind]}]"
        return self._stand_ins[key]


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


def redactor_of(dialogues: Sequence[Dialogue], ids: Iterable[str] = ()) -> Redactor:
    """A redactor that knows what is personal in some dialogues: what users were told and what tools were given.

    ``ids`` are more names that are no phone numbers and no keys.
    """
    known, fields, things = set[str](), set[PersonalField](), set(ids)
    for dialogue in dialogues:
        things.add(dialogue.id)
        if dialogue.goal:
            known |= set(dialogue.goal.knows.values())
            known |= {match["quoted"] or match[0] for match in _VALUE.finditer("\n".join(dialogue.goal.message))}
        for match in _PERSON.finditer("\n".join(dialogue.instruction)):
            fields |= {PersonalField("name", part) for part in (match["full"] or match["name"]).split()}
        for holder, name in _tool_data(msgspec.to_builtins(dialogue)):
            fields |= set(personal_fields(holder[name]))
            things |= set(ids_of_things(holder[name]))
    return Redactor(known, fields, things)


def _tool_data(dialogue: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
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
    if field.kind == "payment" and (digits := re.search(r"(?<=[_-])\d{5,}$", field.value)):
        yield digits[0]
    if field.kind == "birth date" and re.fullmatch(r"\d{4}-\d\d-\d\d", field.value):
        try:
            day = date.fromisoformat(field.value)
        except ValueError:
            return
        ordinal = "th" if day.day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
        for number in (f"{day.day}", f"{day.day}{ordinal}"):
            yield from (f"{day:%B} {number}, {day.year}", f"{day:%B} {number} {day.year}")
            yield f"{number} {day:%B} {day.year}"
        yield from (f"{day:%m/%d/%Y}", f"{day:%d/%m/%Y}", f"{day:%d.%m.%Y}")


def _patterns(values: Iterable[str], flags: re.RegexFlag) -> Iterator[re.Pattern[str]]:
    """Expressions that find any of the values as whole words, the longest first."""
    ordered = sorted(values, key=lambda value: (-len(value), value))
    for start in range(0, len(ordered), _AT_ONCE):
        some = map(_any_writing, ordered[start : start + _AT_ONCE])
        yield re.compile(rf"(?<![\w$€£])(?:{'|'.join(some)})(?!\w)", flags)


def _plain(writing: str) -> str:
    """A value whatever its case and whatever stands between its parts."""
    return _SEPARATOR.sub("", writing.lower())


def _any_writing(value: str) -> str:
    """An expression for a value; of a code, whatever separates its parts, or a hyphen at its digits."""
    if len(_plain(value)) <= _SHORTEST or not _CODE.fullmatch(value):
        return re.escape(value)
    return _CODE_PARTS.sub(lambda part: f"{_SEPARATOR.pattern}{{0,3}}" if part["between"] else "-?", value.strip("# "))
