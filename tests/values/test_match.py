"""Lenient ways of matching."""

from __future__ import annotations

import pytest

from dialgauge.values import matcher_named


@pytest.mark.parametrize(
    ("gold", "predicted", "same"),
    [
        ("london", "london kings cross", True),
        ("1", "10", True),
        ("north", "south", False),
        ("", "", True),
    ],
)
def test_fuzzywuzzy_95(gold: str, predicted: str, same: bool) -> None:
    assert matcher_named("fuzzywuzzy-95")(gold, predicted) is same


@pytest.mark.parametrize(
    ("gold", "predicted", "same"),
    [
        ("09:15", "09:30", True),
        ("09:15", "09:31", False),
        ("the cambridge belfry", "cambridge belfry", True),
        ("rosa's b and b", "rosas bed and breakfast", True),
        ("nandos", "nandos city centre", True),
        ("nandos", "pizza hut", False),
        ("yes", "", False),
    ],
)
def test_substring_or_15_minutes(gold: str, predicted: str, same: bool) -> None:
    assert matcher_named("substring-or-15-minutes")(gold, predicted) is same
