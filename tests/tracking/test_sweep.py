from __future__ import annotations

import pytest

from dialgauge.tracking import Swap, Sweep, sweep_table


def test_crossings_are_interpolated() -> None:
    sweep = Sweep((0.0, 1.0, 2.0), {"a": [0.5, 0.6, 0.7], "b": [0.4, 0.6, 0.9], "c": [0.0, 0.1, 0.8]})
    first, second = sweep.swaps()
    assert (first.before, first.after) == ("a", "b")
    # The gap goes from 0.1 over 0 to -0.2: a tie is passed over, not counted, and the line between its neighbours used.
    assert first.at == pytest.approx(2 / 3)
    assert second == Swap(pytest.approx(1 + 0.5 / 0.6), "a", "c")  # type: ignore[arg-type]


def test_touching_and_equal_lines_are_no_crossing() -> None:
    assert Sweep((0.0, 1.0, 2.0), {"a": [0.5, 0.6, 0.8], "b": [0.4, 0.6, 0.7], "c": [0.4, 0.6, 0.7]}).swaps() == []


def test_table_says_who_passes_whom() -> None:
    table = sweep_table(Sweep((0.0, 1.0), {"a": [0.5, 0.6], "b": [0.4, 0.7]}))
    assert table.notes == ["In percent; CSV and JSON have fractions.", "b passes a at λ = 0.50."]
    assert [column.title for column in table.columns] == ["system", "λ = 0", "λ = 1"]
    assert "No two systems" in sweep_table(Sweep((0.0, 1.0), {"a": [0.5, 0.6], "b": [0.4, 0.5]})).notes[1]
