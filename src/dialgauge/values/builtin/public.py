"""Profiles that repeat what other public scorers do: Hi-DST, MultiWOZ_Evaluation, SimpleTOD / coco-dst, ConvLab-3.

They exist so that a published number can be understood, not because they are recommended.
"""

from __future__ import annotations

from dataclasses import replace

from dialgauge.dialogue import DONTCARE
from dialgauge.values.builtin.multiwoz import ABSENT, PLACE_SLOTS, PLAIN, SAY_DONTCARE, TIME_SLOTS
from dialgauge.values.clock import ClockWords
from dialgauge.values.rules import Drop, LowerCollapse, Replace, Split, Substitute

HIDST = replace(
    PLAIN,
    name="hidst",
    summary="The lenient test of the FGA paper's Hi-DST script: substrings match, times may be 15 minutes apart.",
    source="Dey et al. 2022, public script; specification of dialgauge, section 8.2",
    match="substring-or-15-minutes",
)

MWZEVAL = replace(
    PLAIN,
    name="mwzeval",
    summary="The state-tracking mode of MultiWOZ_Evaluation with slot names unified; quoting it is not recommended.",
    source="Nekvinda and Dušek 2021, public code; specification of dialgauge, section 8.2",
    values=(
        LowerCollapse(),
        ABSENT,
        SAY_DONTCARE,
        Drop(name="gold without dontcare", values=(DONTCARE,), side="gold"),
        ClockWords(slots=TIME_SLOTS),
        Substitute(name="ampersand", patterns=(("&", " and "),), slots=PLACE_SLOTS),
        Replace(
            name="types in one word",
            slots=("type",),
            table={"swimming pool": "swimmingpool", "night club": "nightclub", "guest house": "guesthouse"},
        ),
        Replace(name="english is british", slots=("food",), table={"english": "british"}),
        Replace(name="free means yes", slots=("parking", "internet"), table={"free": "yes"}),
    ),
    gold_values="first",
    match="partial-ratio-95",
)

SIMPLETOD = replace(
    PLAIN,
    name="simpletod",
    summary="SimpleTOD and coco-dst: slots whose value contains dontcare, none or not mentioned are dropped.",
    source="Hosseini-Asl et al. 2020, Li et al. 2021, public code; specification of dialgauge, section 8.2",
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
    source="Zhu et al. 2023, public code; specification of dialgauge, section 8.2",
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
