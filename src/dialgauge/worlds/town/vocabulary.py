"""What can be said in the town: domains, slots, and the acts of users and systems.

Acts are written as recorded conversations of the GCDF1 paper have them: the name is ``Domain-Intent``, slots are
spelled as goals and databases spell them (``pricerange``, ``leaveAt``, ``entrance fee``), a request has the value
``?``, and an act without a slot has neither slot nor value. Human annotations spell slots otherwise (``Price``,
``Leave``, ``Fee``); :func:`goal_act` translates.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from dialgauge.dialogue import Act
from dialgauge.intents import service_of
from dialgauge.worlds.domain import Domain, RowsFile, domain_of
from dialgauge.yaml_file import shipped_yaml

#: The file that describes the town, as it is written.
DOCUMENT = shipped_yaml("dialgauge.worlds.town", "domain.yaml", as_text=True)
#: The name of a booking's reference number in acts.
REFERENCE = "Ref"


def described(table: str) -> tuple[str, ...]:
    """The columns of a table that people hear of; ids, places on the map and texts stay inside."""
    service = DOCUMENT.content["services"][table]
    return tuple(dict.fromkeys((service["name"], *service.get("search", ()), *service.get("answer", ()))))


def town_with(rows: dict[str, RowsFile]) -> Domain:
    """The town as a domain, with rows by table; a table that is not given has none."""
    return domain_of(DOCUMENT, rows=lambda table: rows.get(table) or RowsFile(table, described(table), []))


#: The town without rows.
TOWN = town_with({})
TOWN_DOMAINS = tuple(TOWN.services)
#: What a search can be narrowed by, what a booking needs, and what can be asked for, by domain.
SEARCH_SLOTS = {
    name: service.informable if service.rows is None else tuple(service.search)
    for name, service in TOWN.services.items()
}
BOOK_SLOTS = {name: service.takes for name, service in TOWN.services.items() if service.takes}
REQUEST_SLOTS = {name: service.askable for name, service in TOWN.services.items()}
#: Act names of each side with the slots they can carry, ``""`` for none.
USER_ACTS = TOWN.acts("user")
SYSTEM_ACTS = TOWN.acts("system")

#: Slots as human annotations write them, and as goals do.
_ANNOTATED = {
    "addr": "address",
    "post": "postcode",
    "price": "pricerange",
    "fee": "entrance fee",
    "open": "openhours",
    "depart": "departure",
    "dest": "destination",
    "leave": "leaveAt",
    "arrive": "arriveBy",
    "id": "trainID",
    "ticket": "price",
    "car": "car type",
    "ref": REFERENCE,
    "none": "",
}
#: What a price is called where it is one of a few classes.
_PRICE = {"train": "price", "taxi": "price"}


def is_reference(slot: str) -> bool:
    """Whether a slot is the reference of a booking, however it is spelled."""
    return slot.lower() == REFERENCE.lower()


@lru_cache(1 << 12)
def goal_slot(name: str, slot: str) -> str:
    """A slot of an annotated act in the spelling of goals.

    >>> goal_slot("Hotel-Inform", "Price"), goal_slot("Train-Inform", "Time"), goal_slot("Restaurant-Inform", "Time")
    ('pricerange', 'duration', 'time')
    """
    domain, plain = service_of(name), slot.lower()
    if domain == "train" and plain == "time":
        return "duration"
    if plain == "price" and domain in _PRICE:
        return _PRICE[domain]
    known = _ANNOTATED.get(plain, plain)
    return {"leaveat": "leaveAt", "arriveby": "arriveBy", "trainid": "trainID"}.get(known, known)


def goal_act(act: Act) -> Act:
    """An annotated act in the spelling of goals."""
    return replace(act, slot=goal_slot(act.name, act.slot)) if act.slot else act
