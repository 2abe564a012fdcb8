"""The house's profiles for MultiWOZ: ``plain``, ``canon``, and both without ``dontcare``.

Their definitions are fixed: numbers published with them must stay reproducible, so a change is a new version.
"""

from __future__ import annotations

from msgspec.structs import replace

from dialgauge.dialogue import DONTCARE
from dialgauge.values.profile import Profile
from dialgauge.values.rules import (
    ClockDigits,
    DomainPrefix,
    Drop,
    KeepDomains,
    LowerCollapse,
    LowerDomain,
    NameRule,
    Replace,
    SlotSpelling,
    Substitute,
    ValueRule,
)
from dialgauge.values.standard_evaluator import PLACE_SLOTS, TIME_SLOTS

_SLOTS = {
    "attraction": ("area", "name", "type"),
    "hotel": (
        "area",
        "day",
        "internet",
        "name",
        "parking",
        "people",
        "pricerange",
        "stars",
        "stay",
        "type",
    ),
    "restaurant": ("area", "day", "food", "name", "people", "pricerange", "time"),
    "taxi": ("arrive", "departure", "destination", "leave"),
    "train": ("arrive", "day", "departure", "destination", "leave", "people"),
}
_SLOTS_OF_22 = {"bus": ("day", "departure", "destination", "leave"), "hospital": ("department",)}

#: The 30 (domain, slot) pairs of MultiWOZ's five domains, and the 35 that MultiWOZ 2.2 lists.
MULTIWOZ_30 = tuple((domain, slot) for domain, slots in _SLOTS.items() for slot in slots)
MULTIWOZ_35 = (*MULTIWOZ_30, *((domain, slot) for domain, slots in _SLOTS_OF_22.items() for slot in slots))

FIVE_DOMAINS = KeepDomains(domains=tuple(_SLOTS))
SPELLING = SlotSpelling(delete=" _", prefix="book", renames={"arriveby": "arrive", "leaveat": "leave"})
NAMES: tuple[NameRule, ...] = (LowerDomain(), FIVE_DOMAINS, SPELLING)

ABSENT = Drop(name="absent values", values=("", "none", "not mentioned", "not given"))
SAY_DONTCARE = Replace(
    name="dontcare spellings",
    table=dict.fromkeys(
        ("dont care", "don't care", "do n't care", "do not care", "does not care"),
        DONTCARE,
    ),
)
NO_DONTCARE = Drop(
    name="without dontcare",
    values=(DONTCARE,),
    why="Some public scorers leave 'the user does not care' out of the comparison; it raises JGA by 2 to 6 points.",
)

_PLAIN: tuple[ValueRule, ...] = (LowerCollapse(), ABSENT, SAY_DONTCARE)

#: In this order. Time slots have a rule of their own, and the others pass them by.
_CANON: tuple[ValueRule, ...] = (
    ClockDigits(
        slots=TIME_SLOTS,
        why="Tokenisers write '18 : 00'; that alone can cost a tracker 20 points of JGA (dots, mintl).",
    ),
    Replace(
        name="spelling of values",
        except_slots=TIME_SLOTS,
        table={
            "guesthouse": "guest house",
            "guesthouses": "guest house",
            "guest houses": "guest house",
            "night club": "nightclub",
            "swimmingpool": "swimming pool",
            "concerthall": "concert hall",
            "mutliple sports": "multiple sports",
            "mutiple sports": "multiple sports",
            "center": "centre",
            "portugese": "portuguese",
        },
    ),
    Replace(name="free means yes", table={"free": "yes"}, slots=("parking", "internet")),
    Substitute(name="punctuation of names", patterns=(("&", " and "), (" '", "'")), slots=PLACE_SLOTS),
)

PLAIN = Profile(
    name="plain",
    version=1,
    summary="MultiWOZ's five domains; names unified, lower case; values must be identical strings.",
    source="the definition in docs/profiles.md",
    names=NAMES,
    values=_PLAIN,
    inventory=MULTIWOZ_30,
)
CANON = replace(
    PLAIN,
    name="canon",
    summary="plain, with the spelling of times, a few values and the punctuation of names made uniform on both sides.",
    values=(*_PLAIN, *_CANON),
)
PLAIN_NODC = replace(
    PLAIN, name="plain_nodc", summary="plain, without the slots whose value is dontcare.", values=(*_PLAIN, NO_DONTCARE)
)
CANON_NODC = replace(
    CANON,
    name="canon_nodc",
    summary="canon, without the slots whose value is dontcare.",
    values=(*_PLAIN, *_CANON, NO_DONTCARE),
)
MULTIWOZ22 = replace(
    PLAIN,
    name="multiwoz22",
    version=2,
    summary="plain over the 35 slots of MultiWOZ 2.2 (bus and hospital too); any value in the gold list is right.",
    source="Zang et al. 2020",
    names=(LowerDomain(), KeepDomains(domains=(*_SLOTS, *_SLOTS_OF_22)), DomainPrefix(), SPELLING),
    inventory=MULTIWOZ_35,
)
VERBATIM = Profile(
    name="verbatim",
    version=1,
    summary="States as written: every domain, every slot, identical strings; any value in the gold list is right.",
)
