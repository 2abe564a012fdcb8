"""How alike two values are: the slot scores of SGD's official evaluation."""

from __future__ import annotations

from functools import lru_cache

from dialgauge.dialogue import Values


@lru_cache(maxsize=1 << 17)
def fuzzy(reference: str, predicted: str) -> float:
    """Token-sort ratio in whole percents, as a fraction.

    Lower-case, everything but letters and digits becomes a space, tokens are sorted, and then twice the length of the
    longest common subsequence over the sum of both lengths. The official evaluation uses fuzzywuzzy, which rounds to
    whole percents: only with its processing and its rounding does rapidfuzz give the same numbers.

    >>> fuzzy("Angel Stadium", "stadium, angel"), fuzzy("San Jose", "San Jose x")
    (1.0, 0.89)
    """
    from rapidfuzz import fuzz, utils

    return round(fuzz.token_sort_ratio(reference, predicted, processor=utils.default_process)) / 100


def slot_score(reference: Values, predicted: Values, *, categorical: bool, use_fuzzy: bool) -> float:
    """How right a slot is that both sides fill. Only the first predicted value counts.

    Categorical: equality with the first listed value. Non-categorical: the best fuzzy score over the listed values, or
    equality with any of them when fuzzy matching is off.
    """
    value = predicted[0]
    if categorical:
        return float(reference[0] == value)
    if use_fuzzy:
        return max(fuzzy(listed, value) for listed in reference)
    return float(value in reference)
