"""When a predicted value counts as the gold value, once both are normalised.

Almost every profile asks for identical strings. The others exist because published numbers were made with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.values.rules import minutes

Matcher: TypeAlias = Callable[[str, str], bool]

EQUAL = "equal"


def equal(gold: str, predicted: str) -> bool:
    """Identical strings."""
    return gold == predicted


def partial_ratio_95(gold: str, predicted: str) -> bool:
    """The best-fitting stretch of the longer string is more than 95% similar to the shorter: any substring matches."""
    return gold == predicted or _partial_ratio()(gold, predicted) > 95


def substring_or_15_minutes(gold: str, predicted: str) -> bool:
    """One contains the other, bare of ``the``, blanks, hyphens, quotes and colons; times may differ by 15 minutes."""
    times = minutes(gold), minutes(predicted)
    if times[0] is not None and times[1] is not None and abs(times[0] - times[1]) <= 15:
        return True
    bare_gold, bare_predicted = _bare(gold), _bare(predicted)
    return bool(bare_gold and bare_predicted) and (bare_gold in bare_predicted or bare_predicted in bare_gold)


MATCHERS: dict[str, Matcher] = {
    EQUAL: equal,
    "partial-ratio-95": partial_ratio_95,
    "substring-or-15-minutes": substring_or_15_minutes,
}


def matcher_named(name: str) -> Matcher:
    """The matcher of that name, or an error with the nearest names."""
    if name not in MATCHERS:
        raise DialgaugeError(f"there is no matcher named '{name}'.{nearest(name, MATCHERS)}")
    return MATCHERS[name]


@cache
def _partial_ratio() -> Callable[[str, str], float]:
    from rapidfuzz.fuzz import partial_ratio

    return partial_ratio


def _bare(value: str) -> str:
    return re.sub(r"[\s\-'\":]", "", value.removeprefix("the ").replace("b and b", "bed and breakfast"))
