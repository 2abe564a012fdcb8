"""Profiles that repeat what other public scorers do: Hi-DST, MultiWOZ_Evaluation, SimpleTOD, ConvLab-3, TRADE, TripPy.

They exist so that a published number can be understood, not because they are recommended.
"""

from __future__ import annotations

from msgspec.structs import replace

from dialgauge.dialogue import DONTCARE
from dialgauge.values.rules import (
    ClockWords,
    DomainPrefix,
    Drop,
    LowerCollapse,
    LowerTrim,
    Replace,
    Sides,
    SlotSpelling,
    Split,
    Substitute,
    ValueRule,
    Variants,
)
from dialgauge.values.standard_evaluator import (
    FOODS,
    PLACE_SLOTS,
    PLACE_SPELLING,
    PLACES,
    SLOT_NAMES,
    TIME_SLOTS,
    TYPES,
    EvaluatorClock,
)
from dialgauge.values.standard_profiles import ABSENT, PLAIN, SAY_DONTCARE

HIDST = replace(
    PLAIN,
    name="hidst",
    summary="The lenient test of the FGA paper's Hi-DST script: substrings match, times may be 15 minutes apart.",
    source="Dey et al. 2022, public script",
    match="substring-or-15-minutes",
)

#: The package's own gold is MultiWOZ 2.2, where booking slots are ``bookday`` and so on: there a predicted ``day`` is
#: wrong, as it is to the package. 2.1 gold says ``day``.
MWZEVAL = replace(
    PLAIN,
    name="mwzeval",
    version=2,
    summary="The state-tracking mode of MultiWOZ_Evaluation, equal to the package's; quoting it is not recommended.",
    source="Nekvinda and Dušek 2021, public code with fuzzywuzzy 0.18 and Levenshtein",
    names=(DomainPrefix(), SlotSpelling(delete=" ", renames=SLOT_NAMES)),
    values=(
        Drop(name="gold without dontcare", values=(DONTCARE,), one_of_several=True, side="gold"),
        LowerTrim(slots=(*PLACE_SLOTS, "food", *TIME_SLOTS), why="All other values are compared as they are written."),
        Substitute(name="punctuation of names", patterns=PLACE_SPELLING, collapse=False, slots=PLACE_SLOTS),
        Replace(name="names of places", table=PLACES, slots=PLACE_SLOTS),
        Replace(name="types in one word", table=TYPES, slots=("type",)),
        Replace(name="names of food", table=FOODS, slots=("food",)),
        EvaluatorClock(slots=TIME_SLOTS),
        Replace(name="free means yes", table={"free": "yes"}, slots=("parking", "internet")),
    ),
    gold_values="first",
    match="fuzzywuzzy-95",
    counts_blanks=True,
)

SIMPLETOD = replace(
    PLAIN,
    name="simpletod",
    summary="SimpleTOD and coco-dst: slots whose value contains dontcare, none or not mentioned are dropped.",
    source="Hosseini-Asl et al. 2020, Li et al. 2021, public code",
    values=(
        LowerCollapse(),
        ABSENT,
        SAY_DONTCARE,
        Drop(name="without dontcare", values=(DONTCARE, "none", "not mentioned"), containing=True),
    ),
)

CONVLAB3 = replace(
    PLAIN,
    name="convlab3",
    summary="ConvLab-3: spaces deleted, alternatives with | on both sides, only domains of the gold state count.",
    source="Zhu et al. 2023, public code",
    values=(
        LowerCollapse(),
        ABSENT,
        SAY_DONTCARE,
        Split(separators="|"),
        Substitute(name="no spaces", patterns=((" ", ""),)),
    ),
    predicted_values="any",
    forgive_unlisted_domains=True,
)


# ``trade``: what TRADE and SOM-DST do to gold labels before they score.
#
# Their table corrects annotation errors on the gold side only, so a tracker that repeats the uncorrected form is marked
# wrong. The facts (which label becomes which) are those of the public preprocessing; ``none`` then means absent.

_GOLD: Sides = "gold"

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")

_TEXT = Substitute(
    name="text step",
    side=_GOLD,
    patterns=(
        (r"\bb ?(?:&|and) ?b\b", "bed and breakfast"),
        ("[‘’]", "'"),
        (";", ","),
        ("/", " and "),
        ("-", " "),
        (r"[\"<>@()\[\]]", ""),
        (r"\s*(?:(?<!\d)([?.,!])|([?.,!])(?!\d))\s*", r" \1\2 "),
        (r"(?<=\w)'s\b", " 's"),
    ),
    why="Contractions and split plurals, which belong to running text, are not repeated.",
)
#: A word is replaced together with the spaces around it, so of two in a row only the first is: MultiWOZ's
#: "restaurant two two" is "restaurant 2 two" in the files of TRADE and SOM-DST, and "restaurant one seven" is 17.
_WORDS = Substitute(
    name="words of the text step",
    side=_GOLD,
    patterns=(
        *((rf"(^| ){word}( |$)", rf"\g<1>{digits}\g<2>") for digits, word in enumerate(_NUMBERS, 1)),
        ("(^| )upmarket( |$)", r"\1expensive\2"),
        (r"(?:(?<= )|^)(\d+) (?=\d+(?: |$))", r"\1"),
    ),
    why="Number words become digits, and digits that stand side by side one number.",
)

_GENERAL: dict[str, dict[str, tuple[str, ...]]] = {
    "type": {
        "guest house": ("guesthouse", "guesthouses", "guest"),
        "multiple sports": ("mutiple sports", "mutliple sports", "sports"),
        "swimming pool": ("swimmingpool", "pool"),
        "concert hall": ("concerthall", "concert"),
        "nightclub": ("night club",),
        "museum": ("mus", "musuem"),
        "architecture": ("ol", "architectural"),
        "college": ("colleges", "coll"),
        "church": ("churches",),
    },
    "area": {
        "centre": (
            "center",
            "center of town",
            "near city center",
            "cen",
            "ce",
            "town center",
            "centre of cambridge",
            "city center",
            "scentre",
            "town centre",
            "in town",
            "centre of town",
            "cent",
        ),
        "north": ("in the north", "north part of town", "no"),
        "east": ("east side", "east area"),
        "west": ("west part of town", "we"),
        "south": ("the south",),
        "none": ("cb30aq",),
    },
    "pricerange": {"moderate": ("mode", "moderate ly", "mo")},
    "day": {"friday": ("next friday",), "monday": ("monda",)},
    "parking": {"free": ("free parking",)},
    "internet": {"yes": ("free internet", "free")},
    "stars": {"4": ("4 star", "4 stars"), "none": ("0 star rarting",)},
    "": {
        "yes": ("y",),
        "no": ("n", "does not"),
        "dontcare": ("any",),
        "none": ("not men", "not", "not mendtioned", "fun", "art"),
        "3": ("3 .",),
    },
}

#: Values that belong to another slot: domain, slot, values.
_MISPLACED = (
    ("hotel", "type", ("nigh", "moderate ly priced", "bed and breakfast", "centre", "venetian", "intern")),
    ("hotel", "internet", ("4",)),
    ("hotel", "pricerange", ("2",)),
    ("hotel", "area", ("moderate",)),
    ("attraction", "type", ("gastropub", "la raza", "galleria", "gallery", "science", "m")),
    ("restaurant", "area", ("stansted airport", "cambridge", "silver street")),
    ("attraction", "area", ("norwich", "ely", "museum", "same area as hotel")),
)


def _corrections() -> tuple[ValueRule, ...]:
    general = [
        Replace(
            name=f"corrections of {slot or 'any slot'}",
            side=_GOLD,
            slots=(slot,) if slot else (),
            table={wrong: right for right, many in corrected.items() for wrong in many},
        )
        for slot, corrected in _GENERAL.items()
    ]
    misplaced = [
        Replace(
            name=f"values that are no {domain}-{slot}",
            side=_GOLD,
            domains=(domain,),
            slots=(slot,),
            table=dict.fromkeys(values, "none"),
        )
        for domain, slot, values in _MISPLACED
    ]
    return (*general, *misplaced)


TRADE = replace(
    PLAIN,
    name="trade",
    summary="The label corrections of TRADE and SOM-DST, applied to the gold side only, as their code does.",
    source="Wu et al. 2019 and Kim et al. 2020, public preprocessing",
    values=(LowerCollapse(), _TEXT, _WORDS, SAY_DONTCARE, *_corrections(), ABSENT),
)


# ``trippy`` and ``trippy_variants``: TripPy's treatment of values.
#
# TripPy's scorer also replaces some predictions by the gold value before they enter the running state. That cannot be
# repeated from states alone and is not part of these profiles; the documentation says what it is worth.

_YES_NO = {"yes": "true", "free": "true", "no": "false"}

TRIPPY = replace(
    PLAIN,
    name="trippy",
    summary="TripPy's regular times, true/false slots and word-by-word spelling; values must then be identical.",
    source="Heck et al. 2020, public code",
    values=(
        LowerCollapse(),
        ABSENT,
        SAY_DONTCARE,
        ClockWords(slots=TIME_SLOTS),
        Replace(name="guest house", table={"guesthouse": "guest house", "guesthouses": "guest house"}),
        Replace(name="truth values", table=_YES_NO, domains=("hotel",), slots=("parking", "internet")),
        Replace(
            name="hotel or guest house",
            table={"hotel": "true", "guest house": "false"},
            domains=("hotel",),
            slots=("type",),
        ),
        Substitute(
            name="words re-joined",
            patterns=((r"\W+", " "),),
            why="TripPy splits values at every character that is not part of a word and joins the pieces with spaces.",
        ),
    ),
)

_ACCEPTED: dict[str, tuple[str, ...]] = {
    "centre": ("center", "downtown"),
    "north": ("northern",),
    "south": ("southern",),
    "east": ("eastern",),
    "west": ("western",),
    "cheap": ("inexpensive", "cheaper", "cheaply", "cheapest"),
    "moderate": ("moderately", "reasonable", "reasonably", "intermediate", "mid"),
    "expensive": ("expensively", "fancy", "upscale", "luxury", "high end", "higher price"),
    "1": ("one", "alone", "myself", "just me", "for me"),
    **{
        str(number): (word,)
        for number, word in enumerate(("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 2)
    },
    "architecture": ("architectural", "architecturally"),
    "boat": ("boating", "boats"),
    "cinema": ("cinemas", "movie"),
    "college": ("colleges",),
    "concert hall": ("concert halls", "concert", "concerthall"),
    "entertainment": ("entertaining",),
    "multiple sports": ("sports", "multi sport", "sporting"),
    "museum": ("museums",),
    "nightclub": ("nightclubs", "night club", "night clubs"),
    "park": ("parks",),
    "swimming pool": ("swimming pools", "swimmingpool", "swimming", "pool"),
    "theatre": ("theater", "theatres", "theaters"),
}

TRIPPY_VARIANTS = replace(
    TRIPPY,
    name="trippy_variants",
    summary="trippy, but other wordings of common gold values are right too (general words only, no venue names).",
    values=(*TRIPPY.values, Variants(name="accepted wordings", accepted=_ACCEPTED, side="gold")),
)
