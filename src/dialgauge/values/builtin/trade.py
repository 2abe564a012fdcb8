"""``trade``: what TRADE and SOM-DST do to gold labels before they score.

Their table corrects annotation errors on the gold side only, so a tracker that repeats the uncorrected form is marked
wrong. The facts (which label becomes which) are those of the public preprocessing; ``none`` then means absent.
"""

from __future__ import annotations

from dataclasses import replace

from dialgauge.values.builtin.multiwoz import ABSENT, PLAIN, SAY_DONTCARE
from dialgauge.values.rules import LowerCollapse, Replace, Sides, Substitute, ValueRule

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
    source="Wu et al. 2019 and Kim et al. 2020, public preprocessing; specification of dialgauge, section 8.2",
    values=(LowerCollapse(), _TEXT, _WORDS, SAY_DONTCARE, *_corrections(), ABSENT),
)
