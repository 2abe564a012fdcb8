"""Fuzzy matching against canonical values."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given, strategies as st

from dialgauge.values import Candidates, CanonicalMap, sorted_tokens


def table(**values: Any) -> dict[str, Any]:
    return {"special_keys": {"not_in_goal": values.pop("outside", {})}, **values}


def distance(one: str, other: str) -> int:
    """Insertions and deletions that turn one text into the other, straight from the definition."""
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, start=1):
        before, row[0] = row[0], place
        for column, against in enumerate(other, start=1):
            changed = before if letter == against else min(row[column], row[column - 1]) + 1
            before, row[column] = row[column], changed
    return row[-1]


@given(st.text("ab c", max_size=8), st.text("ab c", max_size=8))
def test_the_similarity_is_that_of_the_definition(one: str, other: str) -> None:
    x, y = sorted_tokens(one), sorted_tokens(other)
    length = len(x) + len(y)
    share = 1.0 if length == 0 else 1 - distance(x, y) / length
    _, score = Candidates([other]).nearest(one)
    assert math.isclose(score, round(100 * share) / 100) or abs(100 * share % 1 - 0.5) < 1e-9


def test_of_equally_similar_texts_the_first_wins() -> None:
    assert Candidates(["09:15", "15:09"]).nearest("15 : 09") == ("09:15", 1.0)
    assert Candidates(["15:09", "09:15"]).nearest("15 : 09") == ("15:09", 1.0)


def test_a_shared_paraphrase_means_the_first_value_of_the_file() -> None:
    found = CanonicalMap({"time": table(a=["six", "a"], b=["six", "b"])}).table("time", "taxi")
    assert found is not None
    assert (found.canonical("six"), found.canonical("b"), found.canonical("unheard of")) == ("a", "b", "unheard of")


def test_values_outside_goals_may_be_split_by_domain() -> None:
    outside = {"hotel": {"acorn": ["acorn", "the acorn"]}, "restaurant": {"pipasha": ["pipasha"]}}
    values = CanonicalMap({"name": table(x=["x"], outside=outside)})
    hotel, attraction = values.table("name", "hotel"), values.table("name", "attraction")
    assert hotel is not None
    assert attraction is not None
    assert (sorted(hotel.known), hotel.canonical("the acorn")) == (["acorn", "x"], "acorn")
    assert (sorted(attraction.known), attraction.canonical("acorn")) == (["hotel", "restaurant", "x"], "hotel")
