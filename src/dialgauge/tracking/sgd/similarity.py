"""How alike two values are: the slot scores of SGD's official evaluation, with either of the ratios behind its name.

The evaluation asks fuzzywuzzy for the *token-sort ratio*. What that is depends on what else is installed: Levenshtein's
ratio where the package python-Levenshtein is there, difflib's where it is not. The evaluation's list of requirements
does not have it. Longest common subsequence and difflib's greedy blocks agree on most pairs and not on hard ones.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeAlias

from dialgauge import values
from dialgauge.dialogue import Values

#: How values of open slots are compared.
Matching: TypeAlias = Literal["levenshtein", "difflib", "exact"]
MATCHINGS: tuple[Matching, ...] = ("levenshtein", "difflib", "exact")


@lru_cache(maxsize=1 << 17)
def levenshtein(reference: str, predicted: str) -> float:
    """Twice the longest common subsequence over the sum of both lengths, in whole percents, as a fraction.

    As fuzzywuzzy compares: lower case, no accented letters, punctuation to spaces, words sorted.
    >>> levenshtein("Angel Stadium", "stadium, angel"), levenshtein("San Jose", "San Jose x")
    (1.0, 0.89)
    """
    gold, other = map(values.sorted_tokens, (reference, predicted))
    if gold == other:
        return 1.0
    from rapidfuzz.distance import Indel

    length = len(gold) + len(other)
    return round(100 * ((length - Indel.distance(gold, other)) / length)) / 100


@lru_cache(maxsize=1 << 17)
def difflib_ratio(reference: str, predicted: str) -> float:
    """The same with the matching blocks that Python's difflib finds: never more, and it matters which text is first.

    >>> levenshtein("tide", "diet"), difflib_ratio("tide", "diet"), difflib_ratio("diet", "tide")
    (0.5, 0.25, 0.5)
    """
    gold, other = map(values.sorted_tokens, (reference, predicted))
    if gold == other:
        return 1.0
    from difflib import SequenceMatcher

    return round(100 * SequenceMatcher(None, gold, other).ratio()) / 100


def slot_score(reference: Values, predicted: Values, *, categorical: bool, matching: Matching) -> float:
    """How right a slot is that both sides fill. Only the first predicted value counts.

    Categorical: equality with the first listed value. Non-categorical: the best similarity to the listed values, or
    equality with any of them where matching is exact. A slot that is filled with nothing at all is wrong.
    """
    if not predicted or not reference:
        return 0.0
    value = predicted[0]
    if categorical:
        return float(reference[0] == value)
    if matching == "exact":
        return float(value in reference)
    ratio = levenshtein if matching == "levenshtein" else difflib_ratio
    return max(ratio(listed, value) for listed in reference)
