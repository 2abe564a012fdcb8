"""Values and their similarity, against the standard evaluator's on the unit cases, and by laws."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from dialgauge.values import normal_value, similarity


@pytest.fixture(scope="module")
def units(expected: Path) -> Any:
    return json.loads((expected / "e2e_mwzeval.json").read_bytes())["units"]


def test_values_are_those_of_the_standard_evaluator(units: Any) -> None:
    assert len(units["values"]) > 100
    for slot, value, normal in units["values"]:
        assert normal_value(slot, value) == normal, (slot, value)


def test_similarity_is_that_of_the_standard_evaluator(units: Any) -> None:
    assert units["similarity"]
    for row, wanted, expected in units["similarity"]:
        assert similarity(row, wanted) == expected, (row, wanted)


def test_texts_of_equal_length_are_compared_in_their_order() -> None:
    """The shorter text is looked for in the longer; of two equally long ones the database's. The alignment, and so the
    parts that are compared, depend on it."""
    for row, wanted in (("abcb", "bcab"), ("adc theatre", "dac theatre"), ("yu garden", "garden yu")):
        assert similarity(row, wanted) == _naive(row, wanted)
        assert similarity(wanted, row) == _naive(wanted, row)


texts = st.text("abc d", max_size=14)


@given(texts, texts)
def test_similarity_follows_its_definition(row: str, wanted: str) -> None:
    assert similarity(row, wanted) == _naive(row, wanted)


def _naive(row: str, wanted: str) -> int:
    """Section 6 of the specification, with a longest common subsequence of our own."""
    from rapidfuzz.distance import Levenshtein

    if row == wanted:
        return 100
    if not row or not wanted:
        return 0
    short, long = (wanted, row) if len(wanted) < len(row) else (row, wanted)
    ratios = []
    for block in Levenshtein.opcodes(short, long).as_matching_blocks():
        start = max(block.b - block.a, 0)
        part = long[start : start + len(short)]
        ratios.append(2 * _common(short, part) / (len(short) + len(part)))
    return 100 if max(ratios) > 0.995 else round(100 * max(ratios))


def _common(first: str, second: str) -> int:
    lengths = [0] * (len(second) + 1)
    for letter in first:
        before = lengths[:]
        for place, other in enumerate(second):
            lengths[place + 1] = before[place] + 1 if letter == other else max(before[place + 1], lengths[place])
    return lengths[-1]
