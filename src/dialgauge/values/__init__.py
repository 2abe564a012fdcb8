"""Value-matching rules: comparison profiles made of named rules, and canonical value maps."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.values.canonical_map import (
        SPECIAL as SPECIAL,
        Candidates as Candidates,
        CanonicalMap as CanonicalMap,
        ValueTable as ValueTable,
        map_problems as map_problems,
        sorted_tokens as sorted_tokens,
    )
    from dialgauge.values.profile import (
        DEFAULT_PROFILE as DEFAULT_PROFILE,
        EQUAL as EQUAL,
        SENSITIVITY_PROFILES as SENSITIVITY_PROFILES,
        Matcher as Matcher,
        Profile as Profile,
        matcher_named as matcher_named,
        profile_listing as profile_listing,
        profile_named as profile_named,
        profile_names as profile_names,
    )
    from dialgauge.values.rules import (
        DAYS as DAYS,
        Drop as Drop,
        Pair as Pair,
        Replace as Replace,
        Side as Side,
        spoken as spoken,
    )
    from dialgauge.values.same import (
        AS_WRITTEN as AS_WRITTEN,
        NEXT_DAY as NEXT_DAY,
        NO_CONSTRAINT as NO_CONSTRAINT,
        TOWN_SPELLINGS as TOWN_SPELLINGS,
        TRUTHS as TRUTHS,
        Spellings as Spellings,
        canonical as canonical,
        clock_text as clock_text,
        comparable as comparable,
        constrains as constrains,
        minutes as minutes,
        number as number,
        plain as plain,
        same_value as same_value,
        spelled as spelled,
        truth as truth,
    )
    from dialgauge.values.standard_evaluator import (
        normal_slot as normal_slot,
        normal_value as normal_value,
        similarity as similarity,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
