"""Which members of the arguments and results of tool calls hold personal data, by what they are called."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from dialgauge.text import CAMEL_CASE


class PersonalField(NamedTuple):
    """A value that a member's name says is personal."""

    kind: str
    value: str
    #: Whether the value says so much by itself that it is looked for in texts too.
    telling: bool = True


#: The kind of a member whose name is one of these words, or ends in one after an underscore.
_NAMES = {
    "name": "first_name last_name middle_name full_name given_name family_name surname maiden_name passenger_name "
    "customer_name guest_name patient_name contact_name cardholder cardholder_name holder_name",
    "birth date": "dob date_of_birth birth_date birthdate birthday",
    "e-mail": "email e_mail mail email_address",
    "phone": "phone phone_number telephone mobile mobile_number cell_phone",
    "user id": "user_id userid user_name username customer_id client_id account_id member_id guest_id patient_id "
    "passenger_id profile_id login",
    "payment": "payment_id payment_method_id card_id credit_card_id card_number account_number iban",
    "id number": "passport passport_number ssn social_security_number tax_id id_number driver_license license_number",
    "address": "address address1 address2 address_line address_line1 address_line2 street street_address zip zip_code "
    "zipcode postcode postal_code",
}
_KIND_OF = {name: kind for kind, names in _NAMES.items() for name in names.split()}
#: Parts of an address that are no secret by themselves: replaced in an address, never in texts.
_PARTS = frozenset({"city", "town", "state", "province", "county", "country", "district"})
_IN_ADDRESS = ("address1", "street", "zip", "postcode", "postal_code")
#: An object with one of these is a person's, and so is its name.
_OF_A_PERSON = frozenset({"birth date", "e-mail", "user id"})
_MEANS = re.compile(r"payment_methods?|payment_sources?|cards?")
_LAST_DIGITS = frozenset({"last_four", "last4", "last_4", "card_last_four"})
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

    replaced_fields(value, kept)
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
            if _OF_A_THING.search(name := _plain(key)) and not _named(name):
                yield from (str(part) for part in (member if isinstance(member, list) else [member]))
            yield from ids_of_things(member)


def replaced_fields(value: Any, stand_in: Callable[[PersonalField], str], parent: str = "") -> Any:
    """A JSON value with stand-ins for its personal values; texts that hold JSON are read and written again."""
    if isinstance(value, str):
        inner = _json_in(value)
        return value if inner is None else _written(replaced_fields(inner, stand_in, parent), inner, value)
    if isinstance(value, list | tuple):
        return [replaced_fields(each, stand_in, parent) for each in value]
    if not isinstance(value, dict):
        return value
    names = {key: _plain(key) for key in value}
    kinds = {key: _kind(name, parent, {*names.values()}) for key, name in names.items()}
    result = {}
    for key, member in value.items():
        kind, telling = kinds[key]
        by_id = isinstance(member, dict) and _MEANS.fullmatch(parent)  # {"card_12": {...}}
        shown = stand_in(PersonalField("payment", key)) if by_id else key
        result[shown] = _replaced_member(member, kind, telling, stand_in, names[key] or parent)
    return result


def _replaced_member(member: Any, kind: str, telling: bool, stand_in: Callable[[PersonalField], str], name: str) -> Any:
    if not kind or isinstance(member, dict):
        return replaced_fields(member, stand_in, name)
    if isinstance(member, list):
        return [_replaced_member(part, kind, telling, stand_in, name) for part in member]
    if isinstance(member, bool | float | None) or str(member).strip().lower() in _NOTHING:
        return member
    if isinstance(member, str) and _json_in(member) is not None:
        return replaced_fields(member, stand_in, name)
    return stand_in(PersonalField(kind, str(member).strip(), telling))


def _kind(name: str, parent: str, siblings: set[str]) -> tuple[str, bool]:
    """What a member is, empty for nothing personal; and whether its value is looked for in texts."""
    if name in _LAST_DIGITS:
        return "card", False
    if name in _PARTS:
        of_address = parent.endswith("address") or any(known in siblings for known in _IN_ADDRESS)
        return "address" if of_address else "", False
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


def _plain(key: str) -> str:
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


def _written(changed: Any, inner: Any, text: str) -> str:
    return text if changed == inner else json.dumps(changed, ensure_ascii=False)
