"""Queries over the town: equality and its few excuses, times, names, and what is an error."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from dialgauge.errors import DialgaugeError
from dialgauge.values import canonical, minutes
from dialgauge.worlds.town import UNKNOWN, TownDatabase, TownSearch, ontology_of
from support.town import ROWS

LATE = {
    "trainID": "TR9", "day": "monday", "departure": "cambridge", "destination": "ely", "leaveAt": "23:59",
    "arriveBy": "01:27", "price": "4.40 pounds", "duration": "88 minutes",
}  # fmt: skip
SEARCH = TownSearch(TownDatabase({**ROWS, "train": [*ROWS["train"], LATE]}))


def names(domain: str, **constraints: str) -> list[str]:
    return [row.name for row in SEARCH.find(domain, constraints).rows]


@pytest.mark.parametrize("value", ["", "dontcare", "dont care", "don't care", "do n't care", "not mentioned"])
def test_what_says_any_constrains_nothing(value: str) -> None:
    assert len(names("restaurant", area=value)) == 3


def test_values_are_equal_or_not_whatever_their_spelling() -> None:
    assert names("restaurant", area="Center") == ["curry garden"]
    assert names("hotel", type="Guest House") == ["acorn guest house"]
    assert names("hotel", internet="free wifi") == ["acorn guest house", "cityroomz"]
    assert names("restaurant", food="ind") == []


def test_a_value_that_the_table_lacks_fits_any_constraint_and_is_unknown() -> None:
    assert "jesus green" in names("attraction", **{"entrance fee": "free"})
    (pool,) = [row for row in SEARCH.rows("attraction") if row.name == "jesus green"]
    assert pool.get("entrance fee") == UNKNOWN


def test_trains_leave_after_and_arrive_before_in_the_order_of_use() -> None:
    wanted = {"departure": "cambridge", "destination": "ely", "day": "monday"}
    assert names("train", **wanted, leaveAt="09:50") == ["TR1", "TR2", "TR9"]
    assert names("train", **wanted, arriveBy="12:07") == ["TR2", "TR1"], "the latest arrival first"


def test_a_train_that_arrives_after_midnight_does_not_arrive_in_the_morning() -> None:
    assert "TR9" not in names("train", day="monday", arriveBy="09:00")
    assert "TR9" in names("train", day="monday", arriveBy="25:30")


def test_a_name_finds_its_venue_and_the_rest_is_checked() -> None:
    found = SEARCH.find("restaurant", {"name": "The Curry Garden", "area": "south", "food": "indian"})
    assert [row.name for row in found.rows] == ["curry garden"]
    assert found.mismatched == ("area",)
    assert names("restaurant", name="nandos city") == ["nandos"], "contained in what was asked for"
    assert names("restaurant", name="garden") == [], "two contain it"
    assert SEARCH.find("restaurant", {"name": "nowhere"}).mismatched == ("name",)


def test_what_cannot_be_asked_is_an_error_that_names_it() -> None:
    with pytest.raises(DialgaugeError, match=r"no column 'fod'\. Did you mean 'food'"):
        SEARCH.find("restaurant", {"fod": "thai"})
    with pytest.raises(DialgaugeError, match="'soon' is no time of day for leaveAt"):
        SEARCH.find("train", {"leaveAt": "soon"})
    with pytest.raises(DialgaugeError, match="no service 'cinema' with rows"):
        SEARCH.find("cinema", {})


@given(st.dictionaries(st.sampled_from(["food", "area", "pricerange"]), st.sampled_from(["indian", "east", "cheap"])))
def test_every_row_that_is_found_fits_and_every_other_fails(constraints: dict[str, str]) -> None:
    found = {row.number for row in SEARCH.find("restaurant", constraints).rows}
    for row in SEARCH.rows("restaurant"):
        fits = all(row.values.get(slot) == value for slot, value in constraints.items())
        assert (row.number in found) == fits == (not SEARCH.fits(row, constraints))


@given(st.text())
def test_canonical_and_clock_take_any_text(text: str) -> None:
    assert canonical(canonical(text)) == canonical(text) or "'" in text or "-" in text
    minute = minutes(text)
    assert minute is None or minute >= 0


def test_the_ontology_has_the_slots_of_searches_and_bookings() -> None:
    ontology = ontology_of(SEARCH.town)
    assert ontology.domains["restaurant"]["food"].values == ("indian", "chinese", "portuguese")
    assert {"people", "stay", "day"} <= ontology.domains["hotel"].keys()
    assert "taxi" in ontology.domains
