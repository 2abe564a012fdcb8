"""One definition of same values: the town's spellings are a table beside it."""

from __future__ import annotations

import pytest

from dialgauge.values import AS_WRITTEN, TOWN_SPELLINGS, TRUTHS, Spellings, same_value


@pytest.mark.parametrize(
    ("value", "other", "same_in"),
    [
        ("7", "7.0", (TOWN_SPELLINGS, AS_WRITTEN, TRUTHS)),
        ("9:15", "09:15", (TOWN_SPELLINGS, AS_WRITTEN, TRUTHS)),
        ("Old  Town", "old town", (TOWN_SPELLINGS, AS_WRITTEN, TRUTHS)),
        ("The Hall", "hall", (TOWN_SPELLINGS,)),
        ("guest house", "guesthouse", (TOWN_SPELLINGS,)),
        ("saint john 's", "Saint Johns", (TOWN_SPELLINGS,)),
        ("True", "yes", (TRUTHS,)),
        ("7", "70", ()),
    ],
)
def test_values_are_the_same_by_one_rule_and_a_table(value: str, other: str, same_in: tuple[Spellings, ...]) -> None:
    tables = (TOWN_SPELLINGS, AS_WRITTEN, TRUTHS)
    assert tuple(table for table in tables if same_value(value, other, table)) == same_in
