"""Times in minutes and likeness by the standard evaluator's rules: its unit cases, and laws."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from dialgauge.tasks.database import LikeTexts, alike, minutes
from dialgauge.values import similarity

texts = st.text("abc d", max_size=14)


@pytest.fixture(scope="module")
def units(expected: Path) -> Any:
    return json.loads((expected / "e2e_mwzeval.json").read_bytes())["units"]


def test_minutes_are_those_of_the_standard_evaluator(units: Any) -> None:
    assert units["minutes"]
    for time, expected in units["minutes"]:
        assert minutes(time) == expected, time


def test_an_unreadable_time_is_midnight() -> None:
    assert [minutes(time) for time in ("18:00orlater", "evening", "9:15", "", "24:55")] == [1080, 0, 0, 0, 1495]


def test_alike_is_a_similarity_of_90(units: Any) -> None:
    for row, wanted, expected in units["similarity"]:
        assert alike(row, wanted) == (expected >= 90)
    assert not alike("mumford theatre", "adc theatre")
    assert alike("acorn guest house", "acorn guest hous")


@given(st.lists(texts, max_size=5), texts)
def test_the_quick_refusal_refuses_nothing_that_is_alike(rows: list[str], wanted: str) -> None:
    assert LikeTexts(rows).alike(wanted) == [row for row in rows if similarity(row, wanted) >= 90]
