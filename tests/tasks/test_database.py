"""The town's database: answers of the unit cases, and bit masks against a plain loop over rows."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from dialgauge.tasks.database import DONT_CARE, TownDatabase, alike, minutes
from dialgauge.values import normal_slot, normal_value, similarity
from dialgauge.worlds.domain import read_database
from support.town import ROWS

FUZZY = {
    "restaurant": ("name", "food"), "hotel": ("name",), "attraction": ("name",), "train": ("departure", "destination"),
}  # fmt: skip
DROPPED = ("location", "openhours", "takesbookings", "introduction", "signature")


def naive(rows: list[dict[str, Any]], domain: str, constraints: dict[str, str]) -> list[int]:
    """Which rows fit, by section 6 of the specification, row by row."""
    plain = [
        {normal_slot(name): value for name, value in row.items() if isinstance(value, str) and name not in DROPPED}
        for row in rows
    ]
    if domain == "hotel":
        for row in plain:
            row.pop("price", None)
    columns = {column for row in plain for column in row}
    wanted = {
        slot: normal_value(slot, value)
        for slot, value in constraints.items()
        if slot in columns and value not in DONT_CARE
    }
    return [place for place, row in enumerate(plain) if all(_fits(domain, row, *item) for item in wanted.items())]


def _fits(domain: str, row: dict[str, str], slot: str, value: str) -> bool:
    if slot not in row:
        return False
    if row[slot] == "?":
        return True
    if slot == "arrive":
        return minutes(row[slot]) <= minutes(value)
    if slot == "leave":
        return minutes(row[slot]) >= minutes(value)
    if slot in FUZZY[domain]:
        return similarity(row[slot], value) >= 90
    return row[slot] == value


def places(database: TownDatabase, domain: str, constraints: dict[str, str]) -> list[int]:
    rows = database.answer(domain, constraints)
    return [place for place in range(rows.bit_length()) if rows >> place & 1]


@pytest.fixture(scope="module")
def real(shared_data: Path) -> TownDatabase:
    return TownDatabase(read_database(shared_data / "multiwoz21" / "db").tables)


def test_answers_are_those_of_the_standard_evaluator(real: TownDatabase, expected: Path) -> None:
    cases = json.loads((expected / "e2e_mwzeval.json").read_bytes())["units"]["answers"]
    assert len(cases) == 40
    for case in cases:
        rows = real.answer(case["domain"], case["constraints"])
        ids = sorted(real.ids(case["domain"], rows)) if case["domain"] in real.tables else []
        assert len(ids) == case["n"], case
        assert sorted(case.get("ids", ids)) == ids, case
        if "ids_sha256" in case:
            assert hashlib.sha256(",".join(ids).encode()).hexdigest() == case["ids_sha256"], case


small = st.dictionaries(
    st.sampled_from(["name", "food", "area", "entrancefee", "type", "leave", "arrive", "day", "phone", "trainid"]),
    st.sampled_from(
        ["nando's", "curry garden", "north", "theatre", "free", "?", "10:00", "9:15", "evening", "monday", "dontcare",
         "01", "indian", "TR1", "", "none", "guest house", "mumford theatr"],
    ),
    max_size=3,
)  # fmt: skip


@given(st.sampled_from(sorted(FUZZY)), small)
def test_masks_agree_with_a_loop_over_a_small_town(domain: str, constraints: dict[str, str]) -> None:
    assert places(TownDatabase(ROWS), domain, constraints) == naive(ROWS[domain], domain, constraints)


@given(st.integers(0, 7), st.integers(0, 7))
def test_ids_within_is_a_test_on_ids_not_on_rows(rows: int, others: int) -> None:
    """Two trains of the small town have one id."""
    database = TownDatabase(ROWS)
    subset = database.ids("train", rows) <= database.ids("train", others)
    assert database.ids_within("train", rows, others) == subset


def test_unreadable_times() -> None:
    """0 minutes: as an arrival it removes every train, as a departure none."""
    database = TownDatabase(ROWS)
    assert database.answer("train", {"arrive": "evening"}) == 0
    assert places(database, "train", {"leave": "evening"}) == [0, 1, 2]


def test_what_constrains_nothing_and_what_everything() -> None:
    database = TownDatabase(ROWS)
    assert places(database, "hotel", {"stay": "3", "area": "dontcare", "price": "60"}) == [0, 1]
    assert database.answer("hotel", {"area": "none"}) == database.answer("hotel", {"area": ""}) == 0
    assert database.answer("police", {}) == 0
    assert places(database, "attraction", {"entrancefee": "4 pounds"}) == [0, 1]
    assert places(database, "restaurant", {"phone": "02"}) == [1]


def test_which_constraints_a_row_fails() -> None:
    failed = TownDatabase(ROWS).failed_constraints(
        "hotel", 2, {"area": "north", "stars": "dontcare", "parking": "yes", "stay": "2"}
    )
    assert failed == ["area", "parking"]


def test_the_checksum_is_that_of_what_can_constrain() -> None:
    other = {**ROWS, "hotel": [{**row, "price": "1"} for row in ROWS["hotel"]]}
    moved = {**ROWS, "hotel": [{**row, "area": "west"} for row in ROWS["hotel"]]}
    assert TownDatabase(other).checksum == TownDatabase(ROWS).checksum != TownDatabase(moved).checksum


def test_times_and_likeness_are_those_of_the_standard_evaluator(expected: Path) -> None:
    units = json.loads((expected / "e2e_mwzeval.json").read_bytes())["units"]
    assert units["minutes"] and [minutes(time) for time, _ in units["minutes"]] == [
        given for _, given in units["minutes"]
    ]
    for row, wanted, similar in units["similarity"]:
        assert alike(row, wanted) == (similar >= 90)
