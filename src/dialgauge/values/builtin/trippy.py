"""``trippy`` and ``trippy_variants``: TripPy's treatment of values.

TripPy's scorer also replaces some predictions by the gold value before they enter the running state. That cannot be
repeated from states alone and is not part of these profiles; the documentation says what it is worth.
"""

from __future__ import annotations

from dataclasses import replace

from dialgauge.values.builtin.multiwoz import ABSENT, PLAIN, SAY_DONTCARE, TIME_SLOTS
from dialgauge.values.clock import ClockWords
from dialgauge.values.rules import LowerCollapse, Replace, Substitute, Variants

_YES_NO = {"yes": "true", "free": "true", "no": "false"}

TRIPPY = replace(
    PLAIN,
    name="trippy",
    summary="TripPy's regular times, true/false slots and word-by-word spelling; values must then be identical.",
    source="Heck et al. 2020, public code; specification of dialgauge, section 8.2",
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
    summary="trippy, and for common gold values other wordings are right too (general words only, no venue names).",
    values=(*TRIPPY.values, Variants(name="accepted wordings", accepted=_ACCEPTED, side="gold")),
)
