from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dialgauge.stats import detectable, discriminative_power, holm, win_tie_loss


def test_holm_on_the_textbook_case() -> None:
    # Holm's procedure by hand: 0.005*4, max(0.02, 0.01*3), max(0.03, 0.03*2), max(0.06, 0.04*1).
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_leaves_out_the_undefined() -> None:
    adjusted = holm([0.01, math.nan, 0.02])
    assert adjusted[[0, 2]] == pytest.approx([0.02, 0.02])
    assert math.isnan(adjusted[1])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_holm_properties(values: list[float]) -> None:
    adjusted = holm(values)
    bonferroni = np.minimum(1.0, np.array(values) * len(values))
    assert (adjusted >= np.array(values) - 1e-15).all()
    assert (adjusted <= bonferroni + 1e-15).all()
    order = np.argsort(values, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


def test_the_detectable_difference_lies_above_the_reach_of_the_test() -> None:
    # z(0.8) = 0.841621
    assert detectable([0.0196], [0.01]) == pytest.approx([0.0196 + 0.00841621], rel=1e-6)
    assert detectable([0.0196], [0.01], power=0.5) == pytest.approx([0.0196])


def test_where_nothing_varies_the_noise_is_unknown() -> None:
    assert np.isnan(detectable([0.0, 0.0], [0.0, 1e-17])).all()


def test_discriminative_power_is_a_share_of_defined_pairs() -> None:
    p = [[0.01, math.nan, 0.05], [0.2, math.nan, 0.01], [0.04, math.nan, math.nan]]
    assert discriminative_power(p) == [pytest.approx(2 / 3), None, 0.5]


def test_win_tie_loss_leaves_out_dialogues_without_a_score() -> None:
    assert win_tie_loss([1, 0.5, 0.2, math.nan], [0, 0.5, 0.4, 1]) == (1, 1, 1)
    assert win_tie_loss([0.1 + 0.2], [0.3]) == (0, 1, 0)
