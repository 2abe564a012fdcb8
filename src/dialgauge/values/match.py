"""When a predicted value counts as the gold value, once both are normalised.

Almost every profile asks for identical strings. The others exist because published numbers were made with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.values.rules import minutes
from dialgauge.values.standard_evaluator import similarity

Matcher: TypeAlias = Callable[[str, str], bool]

EQUAL = "equal"


def equal(gold: str, predicted: str) -> bool:
    """Identical strings."""
    return gold == predicted


def fuzzywuzzy_95(gold: str, predicted: str) -> bool:
    """More than 95 by fuzzywuzzy's partial ratio: of the longer string only the best-fitting part counts."""
    return similarity(predicted, gold) > 95


def substring_or_15_minutes(gold: str, predicted: str) -> bool:
    """One contains the other, bare of ``the``, blanks, hyphens, quotes and colons; times may differ by 15 minutes."""
    times = minutes(gold), minutes(predicted)
    if times[0] is not None and times[1] is not None and abs(times[0] - times[1]) <= 15:
        return True
    bare_gold, bare_predicted = _bare(gold), _bare(predicted)
    return bool(bare_gold and bare_predicted) and (bare_gold in bare_predicted or bare_predicted in bare_gold)


MATCHERS: dict[str, Matcher] = {
    EQUAL: equal,
    "fuzzywuzzy-95": fuzzywuzzy_95,
    "substring-or-15-minutes": substring_or_15_minutes,
}


def matcher_named(name: str) -> Matcher:
    """The matcher of that name, or an error with the nearest names."""
    if name not in MATCHERS:
        raise DialgaugeError(f"there is no matcher named '{name}'.{nearest(name, MATCHERS)}")
    return MATCHERS[name]


def _bare(value: str) -> str:
    return re.sub(r"[\s\-'\":]", "", value.removeprefix("the ").replace("b and b", "bed and breakfast"))
