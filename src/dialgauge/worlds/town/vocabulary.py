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

ASKED = "?"
#: The system's answer where the database has no value.
UNKNOWN = "unknown"
#: The name of a booking's reference number in acts.
REFERENCE = "Ref"
CHOICE = "choice"

TOWN_DOMAINS = ("restaurant", "hotel", "attraction", "train", "taxi", "hospital", "police")

#: What a search can be narrowed by, what a booking needs, and what can be asked for, by domain.
SEARCH_SLOTS: dict[str, tuple[str, ...]] = {
    "restaurant": ("food", "pricerange", "area", "name"),
    "hotel": ("type", "pricerange", "area", "stars", "parking", "internet", "name"),
    "attraction": ("type", "area", "name", "pricerange"),
    "train": ("departure", "destination", "day", "leaveAt", "arriveBy"),
    "taxi": ("departure", "destination", "leaveAt", "arriveBy"),
    "hospital": ("department",),
    "police": (),
}
BOOK_SLOTS: dict[str, tuple[str, ...]] = {
    "restaurant": ("day", "people", "time"),
    "hotel": ("day", "people", "stay"),
    "train": ("people",),
}
REQUEST_SLOTS: dict[str, tuple[str, ...]] = {
    "restaurant": ("phone", "postcode", "address", "pricerange", "area", "food", "name", REFERENCE),
    "hotel": (
        "phone",
        "postcode",
        "address",
        "pricerange",
        "area",
        "type",
        "stars",
        "parking",
        "internet",
        "name",
        REFERENCE,
    ),
    "attraction": ("phone", "postcode", "address", "entrance fee", "openhours", "area", "type", "pricerange", "name"),
    "train": ("price", "duration", "leaveAt", "arriveBy", "trainID", REFERENCE),
    "taxi": ("car type", "phone"),
    "hospital": ("phone", "postcode", "address", "department"),
    "police": ("phone", "postcode", "address", "name"),
}

#: The columns of each domain that people hear of; ids, places on the map and texts stay inside.
SHOWN_COLUMNS: dict[str, tuple[str, ...]] = {
    "restaurant": ("name", "food", "pricerange", "area", "address", "phone", "postcode"),
    "hotel": ("name", "type", "pricerange", "area", "stars", "parking", "internet", "address", "phone", "postcode"),
    "attraction": ("name", "type", "area", "entrance fee", "openhours", "pricerange", "address", "phone", "postcode"),
    "train": ("trainID", "departure", "destination", "day", "leaveAt", "arriveBy", "duration", "price"),
    "hospital": ("department", "phone", "address", "postcode"),
    "police": ("name", "phone", "address", "postcode"),
}

_VENUES = ("Restaurant", "Hotel", "Attraction")
_NO_SLOT = ("",)


def _user_acts() -> dict[str, tuple[str, ...]]:
    acts: dict[str, tuple[str, ...]] = {}
    for domain in TOWN_DOMAINS:
        title = domain.capitalize()
        informs = (
            *SEARCH_SLOTS[domain],
            *(name for name in BOOK_SLOTS.get(domain, ()) if name != "day" or domain != "train"),
        )
        acts[f"{title}-Inform"] = (*informs, "")
        acts[f"{title}-Request"] = REQUEST_SLOTS[domain]
    return acts | {f"general-{intent}": _NO_SLOT for intent in ("bye", "thank", "greet", "affirm", "negate")}


def _system_acts() -> dict[str, tuple[str, ...]]:
    told = {
        "Restaurant": ("name", "food", "pricerange", "area", "address", "phone", "postcode", CHOICE, REFERENCE),
        "Hotel": (
            *("name", "type", "pricerange", "area", "stars", "parking", "internet", "address", "phone", "postcode"),
            *(CHOICE, REFERENCE),
        ),
        "Attraction": (
            *(
                "name",
                "type",
                "area",
                "pricerange",
                "entrance fee",
                "openhours",
                "address",
                "phone",
                "postcode",
                CHOICE,
            ),
        ),
    }
    acts: dict[str, tuple[str, ...]] = {}
    for title in _VENUES:
        search = SEARCH_SLOTS[title.lower()]
        acts[f"{title}-Inform"] = told[title]
        acts[f"{title}-Recommend"] = tuple(slot for slot in told[title] if slot not in (CHOICE, REFERENCE))
        acts[f"{title}-Select"] = (*search, "")
        acts[f"{title}-NoOffer"] = (*search, "")
        acts[f"{title}-Request"] = search
    timetable = ("trainID", "departure", "destination", "day", "leaveAt", "arriveBy")
    booking = ("day", "people", "time", "stay")
    return acts | {
        "Train-Inform": (*timetable, "duration", "price", CHOICE, REFERENCE),
        "Train-Request": ("departure", "destination", "day", "leaveAt", "arriveBy", "people"),
        "Train-Select": ("leaveAt", "arriveBy", ""),
        "Train-NoOffer": ("departure", "destination", "day", "leaveAt", "arriveBy", ""),
        "Train-OfferBook": (*timetable, ""),
        "Train-OfferBooked": (REFERENCE, "price", "people", *timetable, ""),
        "Taxi-Inform": ("car type", "phone", "departure", "destination", "leaveAt", "arriveBy"),
        "Taxi-Request": ("departure", "destination", "leaveAt", "arriveBy"),
        "Booking-Inform": ("name", ""),
        "Booking-Request": booking,
        "Booking-Book": (REFERENCE, "name", *booking, ""),
        "Booking-NoBook": (*booking, ""),
        "Police-Inform": ("name", "address", "phone", "postcode"),
        "Hospital-Inform": ("department", "address", "phone", "postcode"),
        **{f"general-{intent}": _NO_SLOT for intent in ("reqmore", "bye", "welcome", "greet")},
    }


#: Act names of each side with the slots they can carry, ``""`` for none.
USER_ACTS = _user_acts()
SYSTEM_ACTS = _system_acts()

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


@lru_cache(1 << 14)
def act(name: str, slot: str = "", value: str = "") -> Act:
    """An act; its domain is the first half of its name.

    >>> act("Restaurant-Inform", "food", "italian")
    Act(name='Restaurant-Inform', domain='restaurant', slot='food', values=('italian',))
    >>> act("general-bye")
    Act(name='general-bye', domain='general', slot='', values=())
    """
    return Act(name=name, domain=service_of(name), slot=slot, values=(value,) if value else ())


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


def goal_act(said: Act) -> Act:
    """An annotated act in the spelling of goals."""
    return replace(said, slot=goal_slot(said.name, said.slot)) if said.slot else said
