"""The backend: bookings and refusals by value, taxis, references, and the record of it all."""

from __future__ import annotations

import re

import pytest

from dialgauge.dialogue import Goal, Task
from dialgauge.draws import Draws
from dialgauge.worlds.town import Backend, TownDatabase, TownSearch, town_goal
from support.town import ROWS

SEARCH = TownSearch(TownDatabase(ROWS, taxi={"taxi_colors": ["red"], "taxi_types": ["ford"]}))
CURRY, YU, _ = SEARCH.rows("restaurant")
BOOK = {"people": "2", "day": "monday", "time": "12:00"}


def backend(task: Task | None = None) -> Backend:
    goal = None
    if task is not None:
        goal = town_goal("g", Goal(tasks={"restaurant": task}), SEARCH)
    return Backend(SEARCH, Draws(0, "backend"), goal)


def test_a_booking_gives_a_reference_of_the_human_shape() -> None:
    office = backend()
    references = {office.book("restaurant", BOOK, CURRY).gives["Ref"] for _ in range(200)}
    assert len(references) == 200
    assert all(re.fullmatch(r"(?=.*[A-Z])[A-Z0-9]{8}", one) for one in references)


def test_the_first_booking_is_refused_by_its_values_however_often_and_the_other_is_taken() -> None:
    office = backend(Task(info={"food": "indian"}, book=BOOK, fail_book={"time": "11:00"}))
    for _ in range(3):
        refused = office.book("restaurant", {**BOOK, "time": "11:00"}, CURRY)
        assert (refused.outcome, refused.slots) == ("refused", ("time",))
    assert office.book("restaurant", {**BOOK, "people": "7", "time": "11:00"}, YU).outcome == "refused", (
        "whatever else is asked"
    )
    assert office.book("restaurant", BOOK, CURRY).outcome == "booked"
    assert [call.failed for call in office.take_calls()] == [True] * 4 + [False]
    assert office.take_calls() == ()


def test_what_is_missing_is_named_and_what_takes_no_bookings_too() -> None:
    office = backend()
    assert office.book("restaurant", {"people": "2", "day": "monday"}, CURRY).slots == ("time",)
    assert office.book("attraction", BOOK, SEARCH.rows("attraction")[0]).outcome == "no such entity"


def test_tickets_are_added_up_to_the_penny() -> None:
    train = SEARCH.rows("train")[0]
    assert backend().book("train", {"people": "7"}, train).total == "30.80 pounds"
    assert backend().book("train", {"people": "some"}, train).total == ""


@pytest.mark.parametrize(
    ("wanted", "missing"),
    [({}, ("departure", "destination", "leaveAt")), ({"departure": "a", "destination": "b"}, ("leaveAt",)),
     ({"departure": "a", "arriveBy": "12:00"}, ("destination",))],
)  # fmt: skip
def test_a_taxi_needs_both_ends_and_a_time(wanted: dict[str, str], missing: tuple[str, ...]) -> None:
    assert backend().book("taxi", wanted).slots == missing


def test_a_taxi_has_a_car_and_a_number() -> None:
    sent = backend().book("taxi", {"departure": "a", "destination": "b", "arriveBy": "12:00"}).gives
    assert sent["car type"] == "red ford"
    assert re.fullmatch(r"07\d{9}", sent["phone"])


def test_every_call_is_on_the_record() -> None:
    office = backend()
    office.search("restaurant", {"pricerange": "expensive"})
    office.book("restaurant", BOOK, CURRY)
    searched, booked = office.take_calls()
    assert (searched.name, searched.arguments, searched.outcome, searched.found, searched.rows) == (
        "search", {"pricerange": "expensive"}, "found", 2, (0, 1),
    )  # fmt: skip
    assert (booked.rows, booked.arguments, booked.outcome) == ((0,), BOOK, "done")
    assert booked.values["reference"]
