"""Flexible goal accuracy: the error type of every turn and its weight (Dey, Kummara and Desarkar, ACL 2022).

A wrong turn is *type 1* when it made an error itself and *type 2* when it only carries an earlier one. With x turns
since the last type-1 turn, a type-2 turn weighs ``1 - exp(-lambda x)``; exact turns weigh 1, type-1 turns 0.

Three rules say which wrong turns are type 1:

``code``
    The first turn, a turn after an exact turn, and a turn with a new error: some slot was added or changed, in gold or
    in prediction, and is not right. This is what the authors' scripts do, and the default.
``paper``
    Algorithm 1 as printed: as ``code``, but a turn after an exact turn is not special. A gold deletion can then make
    a turn type 2 without any earlier error; its x is infinite and its weight 1.
``error-set``
    For inputs that hold only correctness flags: the first turn, a turn after an exact turn, and a turn whose set of
    wrong slots differs from the previous turn's.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError
from dialgauge.tracking.counts import Counts
from dialgauge.tracking.encode import Flags, Floats, Verdicts

Rule: TypeAlias = Literal["code", "paper", "error-set"]
RULES: tuple[Rule, ...] = ("code", "paper", "error-set")

EXACT, TYPE1, TYPE2 = 0, 1, 2


def default_rule(counts: Counts) -> Rule:
    """``code``; ``error-set`` where there are only flags."""
    return "error-set" if counts.flags_only else "code"


def error_types(counts: Counts, rule: Rule) -> Verdicts:
    """EXACT, TYPE1 or TYPE2 for every turn."""
    return _judged(counts, rule).types


class _Judged(NamedTuple):
    """The types of all turns under a rule; the type-2 turns, and how old each one's error is."""

    types: Verdicts
    carried: NDArray[np.intp]
    since: Floats


def _judged(counts: Counts, rule: Rule) -> _Judged:
    """Decided once, whatever the number of lambdas."""
    key = f"fga {rule}"
    if key not in counts.memo:
        types = _types(counts, rule)
        carried = np.flatnonzero(types == TYPE2)
        since = turns_since_error(counts, types, carried)
        counts.memo[key] = _Judged(types, carried, since)
    judged: _Judged = counts.memo[key]
    return judged


def _types(counts: Counts, rule: Rule) -> Verdicts:
    wrong = ~counts.exact
    after_exact = np.zeros(len(counts), bool)
    after_exact[1:] = counts.exact[:-1]
    if rule == "code":
        made_here = counts.first | after_exact | counts.turns.new_error
    elif rule == "paper":
        made_here = counts.first | counts.turns.new_error
    else:
        made_here = counts.first | after_exact | ~counts.turns.same_errors
    types: Verdicts = wrong.view(np.uint8) << (~made_here).view(np.uint8)  # EXACT 0, TYPE1 1, TYPE2 2
    return types


def turns_since_error(counts: Counts, types: Verdicts, turns: NDArray[np.intp]) -> Floats:
    """x of some turns: user turns since the dialogue's last type-1 turn; infinite where there was none."""
    made_here = types == TYPE1
    before = np.cumsum(made_here)[turns]
    origin = np.append(0, np.flatnonzero(made_here))[before]
    since: Floats = (counts.turn[turns] - counts.turn[origin]).astype(np.float64)
    since[(before == 0) | (counts.dialogue[origin] != counts.dialogue[turns])] = np.inf
    return since


def weights(counts: Counts, rate: float, rule: Rule) -> Floats:
    """The weight of every turn at a forgetting rate (lambda)."""
    judged = _judged(counts, rule)
    result: Floats = (judged.types == EXACT).astype(np.float64)
    result[judged.carried] = -np.expm1(-_product(rate, judged.since))
    return result


def _product(rate: float, since: Floats) -> Floats:
    """rate times since; an infinite rate forgets what is at least a turn old, and an infinite distance is forgotten."""
    if math.isinf(rate):
        return np.where(since > 0, np.inf, 0.0)
    return rate * since if rate else np.where(np.isinf(since), np.inf, 0.0)


def turn_match(counts: Counts, rule: Rule) -> Flags:
    """Exact or type 2: the turn itself is right (M2 of the paper's Table 1)."""
    matched: Flags = error_types(counts, rule) != TYPE1
    return matched


def forgetting_rate(turns: float, share: float) -> float:
    """The lambda at which a mistake is forgotten by ``share`` in ``turns`` turns: ``-ln(1 - share) / turns``.

    >>> round(forgetting_rate(6, 0.95), 4)
    0.4993
    """
    if not turns > 0 or not 0 <= share < 1:
        raise DialgaugeError(f"lambda comes from t_f > 0 and 0 <= p < 1, not from t_f = {turns} and p = {share}")
    return abs(-math.log1p(-share) / turns)
