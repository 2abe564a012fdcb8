"""Slot scores against an oracle that follows the definition of the token-sort ratio letter by letter."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dialgauge.tracking.sgd.frames import fuzzy, slot_score

TEXTS = st.text(alphabet="abcABC 012-.é", max_size=12)


def percent(one: str, other: str) -> Fraction:
    """The ratio in percent, before rounding."""
    first, second = (" ".join(sorted(_spaced(text).split())) for text in (one, other))
    total = len(first) + len(second)
    return Fraction(200 * _common(first, second), total) if total else Fraction(100)


def _spaced(text: str) -> str:
    return "".join(char if char.isalnum() else " " for char in text.lower())


def _common(one: str, other: str) -> int:
    """Length of the longest common subsequence."""
    row = [0] * (len(other) + 1)
    for char in one:
        before = row
        row = [0]
        for place, theirs in enumerate(other):
            row.append(before[place] + 1 if char == theirs else max(before[place + 1], row[place]))
    return row[-1]


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS)
def test_fuzzy_is_the_token_sort_ratio_in_whole_percents(one: str, other: str) -> None:
    exact = percent(one, other)
    assume(exact % 1 != Fraction(1, 2))  # which way halves go is decided by the last bit of a division
    assert fuzzy(one, other) == round(exact) / 100


@pytest.mark.parametrize(
    ("one", "other", "score"),
    [
        ("Angel Stadium", "stadium angel", 1.0),
        ("10:30", "10:30 x", 0.83),
        ("San Jose", "San Jose x", 0.89),
        ("San Jose", "Oakland", 0.40),
        ("March 8th", "8th of March", 0.86),
        ("...", "a", 0.0),
    ],
)
def test_known_pairs(one: str, other: str, score: float) -> None:
    assert fuzzy(one, other) == score == round(percent(one, other)) / 100


def test_categorical_values_equal_the_first_listed_one() -> None:
    assert slot_score(("yes", "no"), ("yes",), categorical=True, use_fuzzy=True) == 1.0
    assert slot_score(("yes", "no"), ("no",), categorical=True, use_fuzzy=True) == 0.0


def test_open_values_match_any_listed_one_and_only_the_first_prediction_counts() -> None:
    listed = ("8th of March", "March 8th")
    assert slot_score(listed, ("march 8th",), categorical=False, use_fuzzy=True) == 1.0
    assert slot_score(listed, ("march 8th",), categorical=False, use_fuzzy=False) == 0.0
    assert slot_score(listed, ("March 8th",), categorical=False, use_fuzzy=False) == 1.0
    assert slot_score(listed, ("never", "March 8th"), categorical=False, use_fuzzy=False) == 0.0
