"""The house's profiles for MultiWOZ: ``plain``, ``canon``, both without ``dontcare``, and ``llm``.

Their definitions are fixed: numbers published with them must stay reproducible, so a change is a new version.

``llm`` is canon, and the ways in which language models write MultiWOZ's values. A model that was asked for a state
answers "4 stars", "the Lensfield Hotel", "city center", "N/A" or true, and means what gold writes as 4, lensfield
hotel, centre, an absent slot and yes. All rules hold for both sides, so that gold scored against itself stays 100, and
each of them shows in ``--sensitivity`` by what it flips.
"""

from __future__ import annotations

from msgspec.structs import replace

from dialgauge.dialogue import DONTCARE
from dialgauge.values.profile import Profile
from dialgauge.values.rules import (
    DAYS,
    ClockDigits,
    ClockWords,
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
    summary="MultiWOZ's five domains; names unified, lower case, one spelling of dontcare; values must be identical.",
    source="the definition in docs/measures.md",
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


_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

_RULES: tuple[ValueRule, ...] = (
    Substitute(
        name="quotes and full stops",
        patterns=((r"^[\"'`]+|[\"'`.]+$", ""), ("_", " ")),
        except_slots=TIME_SLOTS,
    ),
    Drop(
        name="words for absent",
        values=("", "n/a", "na", "null", "nil", "unknown", "undefined", "unspecified", "not specified", "not provided",
                "not stated", "not applicable", "not available", "no value", "empty", "-", "--", "?"),
        why="Asked for every slot, models fill those that were not mentioned with such words.",
    ),
    Replace(
        name="words for dontcare",
        table=dict.fromkeys(
            ("any", "anything", "anywhere", "no preference", "no preferences", "doesn't matter", "does not matter",
             "doesn't care", "don't mind", "do not mind", "whatever", "flexible", "either", "not important"),
            DONTCARE,
        ),
    ),
    Substitute(
        name="numbers with their noun",
        slots=("stars", "people", "stay"),
        patterns=(
            *((rf"\b{word}\b", str(digits)) for digits, word in enumerate(_NUMBERS, 1)),
            (r"^(\d+)\.0$", r"\1"),
            (r"^(?:for )?(\d+)[ -]*(?:stars?|star rating|people|persons?|guests?|nights?|days?)(?: hotel)?$", r"\1"),
        ),
    ),
    Replace(
        name="truth values",
        slots=("parking", "internet"),
        table={
            **dict.fromkeys(("true", "included", "required", "needed", "available", "free parking", "free wifi",
                             "free internet", "wifi"), "yes"),
            **dict.fromkeys(("false", "not needed", "not required"), "no"),
        },
    ),
    Substitute(
        name="parts of town",
        slots=("area",),
        patterns=(
            (r"^(?:in |the |in the )+", ""),
            (r" of (?:the )?(?:town|city|cambridge)$", ""),
            (r"^(?:(?:city|town) )?cent(?:er|re)$|^downtown$|^central$", "centre"),
            (r"^(north|south|east|west)(?:ern)?(?: (?:side|part|area|end))?$", r"\1"),
        ),
    ),
    Substitute(
        name="price ranges",
        slots=("pricerange",),
        patterns=(
            (r"[ -]*(?:price range|priced|price)$", ""),
            (r"^(?:moderately|mid|medium|mid-?range|average|reasonable|intermediate)$", "moderate"),
            (r"^(?:cheaply|inexpensive|budget|low|affordable)$", "cheap"),
            (r"^(?:expensively|high|high-?end|luxury|upscale)$", "expensive"),
        ),
    ),
    Substitute(
        name="articles of names",
        slots=PLACE_SLOTS,
        patterns=((r"^the ", ""), (r"[.,!]", ""), (r"(?<=\w) ?'s\b", "s")),
        why="Gold itself writes 'the lensfield hotel' and 'lensfield hotel', 'saint john's' and 'saint johns'.",
    ),
    Substitute(
        name="stations",
        domains=("train",),
        slots=("departure", "destination"),
        patterns=((r" (?:train |railway )?station$", ""),),
    ),
    Substitute(name="words around food", slots=("food",), patterns=((r" (?:food|cuisine|restaurants?|dishes)$", ""),)),
    Replace(
        name="types of places",
        slots=("type",),
        table={
            "guest-house": "guest house", "hotels": "hotel", "museums": "museum", "colleges": "college",
            "parks": "park", "theaters": "theatre", "theater": "theatre", "theatres": "theatre",
            "cinemas": "cinema", "boats": "boat", "nightclubs": "nightclub", "night clubs": "nightclub",
            "swimming pools": "swimming pool", "concert halls": "concert hall", "churches": "church",
            "architectural": "architecture",
        },
    ),
    Substitute(
        name="days",
        slots=("day",),
        patterns=(
            (r"^(?:on |this |next |the )+", ""),
            *((rf"^{day[:3]}(?:{day[3:]}s?|s|\.|rs|urs|nes)?$", day) for day in DAYS),
        ),
    ),
    Substitute(
        name="words before times",
        slots=TIME_SLOTS,
        patterns=((r"^(?:at|by|after|before|around|about) ", ""), (r"\ba\.m\.?", "am"), (r"\bp\.m\.?", "pm")),
    ),
    ClockWords(slots=TIME_SLOTS),
)  # fmt: skip

LLM = replace(
    CANON,
    name="llm",
    summary="canon, with the spellings of language models made uniform on both sides: '4 stars', 'city center', 'N/A'.",
    values=(*CANON.values, *_RULES),
)
