"""Slot scores against an oracle that follows the definition of the token-sort ratio letter by letter."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings, strategies as st

from dialgauge.tracking.sgd import difflib_ratio, levenshtein, slot_score
from support.soak import examples

TEXTS = st.text(alphabet="abcABC 012-.é", max_size=12)


def percent(one: str, other: str) -> Fraction:
    """The ratio in percent, before rounding."""
    first, second = (" ".join(sorted(_spaced(text).split())) for text in (one, other))
    total = len(first) + len(second)
    return Fraction(200 * _common(first, second), total) if total else Fraction(100)


def _spaced(text: str) -> str:
    """Accented letters are deleted, as fuzzywuzzy does unless it is told otherwise."""
    return "".join(char if char.isalnum() else " " for char in text.lower() if not "\x80" <= char <= "\xff")


def _common(one: str, other: str) -> int:
    """Length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for char in one:
        before = row
        row = [0]
        for place, theirs in enumerate(other):
            row.append(before[place] + 1 if char == theirs else max(before[place + 1], row[place]))
    return row[-1]


@settings(max_examples=examples(300), deadline=None)
@given(TEXTS, TEXTS)
def test_it_is_the_token_sort_ratio_in_whole_percents(one: str, other: str) -> None:
    exact = percent(one, other)
    assume(exact % 1 != Fraction(1, 2))  # which way halves go is decided by the last bit of a division
    assert levenshtein(one, other) == round(exact) / 100


@pytest.mark.parametrize(
    ("one", "other", "score"),
    [
        ("Angel Stadium", "stadium angel", 1.0),
        ("10:30", "10:30 x", 0.83),
        ("San Jose", "San Jose x", 0.89),
        ("San Jose", "Oakland", 0.40),
        ("March 8th", "8th of March", 0.86),
        ("...", "a", 0.0),
        ("...", "!", 1.0),
        ("Café Rouge", "Cafe Rouge", 0.95),
    ],
)
def test_known_pairs(one: str, other: str, score: float) -> None:
    assert levenshtein(one, other) == score == round(percent(one, other)) / 100


def test_categorical_values_equal_the_first_listed_one() -> None:
    assert slot_score(("yes", "no"), ("yes",), categorical=True, matching="levenshtein") == 1.0
    assert slot_score(("yes", "no"), ("no",), categorical=True, matching="levenshtein") == 0.0


def test_open_values_match_any_listed_one_and_only_the_first_prediction_counts() -> None:
    listed = ("8th of March", "March 8th")
    assert slot_score(listed, ("march 8th",), categorical=False, matching="levenshtein") == 1.0
    assert slot_score(listed, ("march 8th",), categorical=False, matching="exact") == 0.0
    assert slot_score(listed, ("March 8th",), categorical=False, matching="exact") == 1.0
    assert slot_score(listed, ("never", "March 8th"), categorical=False, matching="exact") == 0.0


def greedy(one: str, other: str) -> int:
    """Characters in matching blocks: the longest common stretch, first in one and then in other, and both its sides."""
    size, start, place = 0, 0, 0
    for left in range(len(one)):
        for right in range(len(other)):
            length = 0
            while (
                left + length < len(one) and right + length < len(other) and one[left + length] == other[right + length]
            ):
                length += 1
            if length > size:
                size, start, place = length, left, right
    if not size:
        return 0
    before, after = greedy(one[:start], other[:place]), greedy(one[start + size :], other[place + size :])
    return before + size + after


@settings(max_examples=examples(300), deadline=None)
@given(TEXTS, TEXTS)
def test_the_other_ratio_counts_greedy_blocks(one: str, other: str) -> None:
    first, second = (" ".join(sorted(_spaced(text).split())) for text in (one, other))
    total = len(first) + len(second)
    exact = Fraction(200 * greedy(first, second), total) if total else Fraction(100)
    assume(exact % 1 != Fraction(1, 2))
    assert difflib_ratio(one, other) == round(exact) / 100


@pytest.mark.parametrize(
    ("reference", "predicted", "common", "blocks"),
    [
        ("half past 3 in the afternoon", "quarter past 11 in the morning", 0.52, 0.41),
        ("next Monday", "Santa Rosa", 0.48, 0.29),
        ("tide", "diet", 0.5, 0.25),
        ("diet", "tide", 0.5, 0.5),
        ("Angel Stadium", "stadium, angel", 1.0, 1.0),
        ("San Jose", "San Jose x", 0.89, 0.89),
        ("", "x", 0.0, 0.0),
        ("?", "", 1.0, 1.0),
    ],
)
def test_both_ratios_that_fuzzywuzzy_may_use(reference: str, predicted: str, common: float, blocks: float) -> None:
    assert (levenshtein(reference, predicted), difflib_ratio(reference, predicted)) == (common, blocks)
    assert slot_score((reference,), (predicted,), categorical=False, matching="difflib") == blocks


@settings(max_examples=examples(200), deadline=None)
@given(TEXTS, TEXTS)
def test_difflib_never_finds_more_in_common(one: str, other: str) -> None:
    assert difflib_ratio(one, other) <= levenshtein(one, other)


def test_a_slot_filled_with_nothing_is_wrong() -> None:
    for matching in ("levenshtein", "difflib", "exact"):
        assert slot_score(("a",), (), categorical=False, matching=matching) == 0.0
