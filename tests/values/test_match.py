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
