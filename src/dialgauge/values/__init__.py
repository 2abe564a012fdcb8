"""Value-matching rules: comparison profiles made of named rules, and canonical value maps."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.values.canonical_map import (
        NOT_IN_GOAL,
        SPECIAL,
        Candidates,
        CanonicalMap,
        MapFault,
        ValueTable,
        map_faults,
        sorted_tokens,
    )
    from dialgauge.values.profile import (
        DEFAULT_PROFILE,
        EQUAL,
        SENSITIVITY_PROFILES,
        Matcher,
        Profile,
        matcher_named,
        profile_listing,
        profile_named,
        profile_names,
    )
    from dialgauge.values.reply_bindings import BoundReply
    from dialgauge.values.reply_text import ReplyText, phrase_of
    from dialgauge.values.rules import Drop, Pair, Replace, Side, Substitute, spoken
    from dialgauge.values.same import NO_CONSTRAINT, canonical, clock, constrains, same_value
    from dialgauge.values.spoken_numbers import Place
    from dialgauge.values.spoken_slots import Kind, SpokenSlot, ToldValue, kind_of, same_told
    from dialgauge.values.standard_evaluator import normal_slot, normal_value, similarity
    from dialgauge.values.told import AnswerReader, AnswerReading, names_booking, told_outcome

__all__ = [
    "DEFAULT_PROFILE",
    "EQUAL",
    "NOT_IN_GOAL",
    "NO_CONSTRAINT",
    "SENSITIVITY_PROFILES",
    "SPECIAL",
    "AnswerReader",
    "AnswerReading",
    "BoundReply",
    "Candidates",
    "CanonicalMap",
    "Drop",
    "Kind",
    "MapFault",
    "Matcher",
    "Pair",
    "Place",
    "Profile",
    "Replace",
    "ReplyText",
    "Side",
    "SpokenSlot",
    "Substitute",
    "ToldValue",
    "ValueTable",
    "canonical",
    "clock",
    "constrains",
    "kind_of",
    "map_faults",
    "matcher_named",
    "names_booking",
    "normal_slot",
    "normal_value",
    "phrase_of",
    "profile_listing",
    "profile_named",
    "profile_names",
    "same_told",
    "same_value",
    "similarity",
    "sorted_tokens",
    "spoken",
    "told_outcome",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
