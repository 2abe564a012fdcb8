"""``llm``: canon, and the ways in which language models write MultiWOZ's values.

A model that was asked for a state answers "4 stars", "the Lensfield Hotel", "city center", "N/A" or true, and means
what gold writes as 4, lensfield hotel, centre, an absent slot and yes. All rules hold for both sides, so that gold
scored against itself stays 100, and each of them shows in ``--sensitivity`` by what it flips.
"""

from __future__ import annotations

from msgspec.structs import replace

from dialgauge.dialogue import DONTCARE
from dialgauge.values.rules import ClockWords, Drop, Replace, Substitute, ValueRule
from dialgauge.values.standard_evaluator import PLACE_SLOTS, TIME_SLOTS
from dialgauge.values.standard_profiles import CANON

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

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
            *((rf"^{day[:3]}(?:{day[3:]}s?|s|\.|rs|urs|nes)?$", day) for day in _DAYS),
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
