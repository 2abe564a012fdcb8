from __future__ import annotations

import pytest

from dialgauge.tracking import Swap, swaps


def test_crossings_are_interpolated() -> None:
    curves = {"a": [0.5, 0.6, 0.7], "b": [0.4, 0.6, 0.9], "c": [0.0, 0.1, 0.8]}
    first, second = swaps(curves, (0.0, 1.0, 2.0))
    assert (first.before, first.after) == ("a", "b")
    # The gap goes from 0.1 over 0 to -0.2: a tie is passed over, not counted, and the line between its neighbours used.
    assert first.at == pytest.approx(2 / 3)
    assert second == Swap(pytest.approx(1 + 0.5 / 0.6), "a", "c")  # type: ignore[arg-type]


def test_touching_and_equal_lines_are_no_crossing() -> None:
    assert swaps({"a": [0.5, 0.6, 0.8], "b": [0.4, 0.6, 0.7], "c": [0.4, 0.6, 0.7]}, (0.0, 1.0, 2.0)) == []
