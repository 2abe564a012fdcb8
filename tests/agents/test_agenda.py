"""The agenda user: it says its goal, reacts to what it hears, gives up what is hopeless, and never loops."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.agents import AgendaUser
from dialgauge.dialogue import Act
from dialgauge.draws import Draws
from dialgauge.worlds.domain import DomainGoal, ServiceTask, act
from support.soak import examples
from support.town import SYSTEM_ACTS, TOWN

HOTEL = ServiceTask(domain="hotel", info={"area": "north", "stars": "4"}, requests=("phone",))
TABLE = {"day": "monday", "people": "2", "time": "12:00"}


class Plain(AgendaUser):
    """Says everything at once, without manners."""

    initiative = 4
    greet = thank = accept = 0.0


def user(*tasks: ServiceTask) -> AgendaUser:
    return Plain(DomainGoal(id="g", tasks=tasks), TOWN, Draws(0, "agenda"))


def said(acts: Sequence[Act]) -> set[tuple[str, str, str]]:
    return {(one.name, one.slot, one.values[0] if one.values else "") for one in acts}


def test_it_opens_states_asks_and_leaves() -> None:
    person = user(HOTEL)
    assert said(person.step(())) == {
        ("Hotel-Inform", "", ""), ("Hotel-Inform", "area", "north"), ("Hotel-Inform", "stars", "4"),
    }  # fmt: skip
    asked = person.step((act("Hotel-Inform", "name", "acorn"),))
    assert said(asked) == {("Hotel-Request", "phone", "?")}
    assert said(person.step((act("Hotel-Inform", "phone", "01223"),))) == {("general-bye", "", "")}
    assert person.end_reason == "user_done"
    assert person.complete


def test_a_first_try_that_fails_is_changed_and_a_second_failure_ends_the_task_not_the_conversation() -> None:
    task = ServiceTask(domain="hotel", info={"area": "north"}, first={"area": "west"}, requests=("phone",))
    person = user(task, ServiceTask(domain="taxi", info={"leaveAt": "12:00"}, requests=("phone",)))
    assert ("Hotel-Inform", "area", "west") in said(person.step(()))
    assert said(person.step((act("Hotel-NoOffer", "area", "west"),))) == {("Hotel-Inform", "area", "north")}
    assert said(person.step((act("Hotel-NoOffer", "area", "north"),))) == {("Hotel-Inform", "area", "north")}, (
        "once more"
    )
    assert ("Taxi-Inform", "leaveAt", "12:00") in said(person.step((act("Hotel-NoOffer", "area", "north"),)))


def booked(name: str) -> ServiceTask:
    return ServiceTask(domain=name, info={"area": "north"}, book=TABLE if name == "restaurant" else {"people": "2"})


def test_a_refused_booking_is_changed_where_the_goal_says_how() -> None:
    first = {**TABLE, "time": "11:00"}
    task = ServiceTask(domain="restaurant", info={"area": "north"}, book=TABLE, book_first=first)
    person = user(task)
    person.step(())
    assert ("Restaurant-Inform", "time", "11:00") in said(person.step((act("Restaurant-Inform", "name", "yu"),)))
    assert said(person.step((act("Booking-NoBook", "time", "11:00"),))) == {("Restaurant-Inform", "time", "12:00")}
    person.step((act("Booking-Book", "Ref", "ABCD1234"),))
    assert person.end_reason == "user_done"


@pytest.mark.parametrize("heard", ["Booking-Book", "Train-OfferBooked"])
def test_a_reference_belongs_to_the_booking_that_waits_whatever_it_was_heard_as(heard: str) -> None:
    """The loop that the GCDF1 paper found: confirmations of tables heard as train tickets."""
    person = user(booked("restaurant"), booked("train"))
    person.step(())
    person.step((act("Restaurant-Inform", "name", "yu"),))
    person.step((act(heard, "Ref", "ABCD1234"),))
    assert person.tasks["restaurant"].reference == "ABCD1234"
    assert not person.tasks["train"].reference, "nothing was booked there"


def test_a_taxi_goes_to_the_venues_it_settled_on() -> None:
    inn = ServiceTask(domain="hotel", info={"area": "north"}, requests=("phone",))
    links = {"departure": "hotel", "destination": "restaurant"}
    ride = ServiceTask(domain="taxi", info={"leaveAt": "12:00"}, requests=("phone",), links=links)
    person = user(inn, ride)
    person.step(())
    person.step((act("Hotel-Inform", "name", "acorn guest house"),))
    taxi = said(person.step((act("Hotel-Inform", "phone", "01223"),)))
    assert ("Taxi-Inform", "departure", "acorn guest house") in taxi
    assert ("Taxi-Inform", "destination", "the restaurant") in taxi, "none is known"


@pytest.mark.parametrize("deaf", [(), (act("general-reqmore"),), (act("Hotel-Request", "name", "?"),)])
def test_a_system_that_is_no_help_is_left_and_nothing_is_said_three_times(deaf: tuple[Act, ...]) -> None:
    person = user(HOTEL, booked("restaurant"))
    turns = [person.step(())]
    while not person.end_reason and len(turns) < 50:
        turns.append(person.step(deaf))
    assert person.end_reason == "user_gave_up"
    assert not person.complete
    assert all(len({*turns[at : at + 3]}) > 1 for at in range(len(turns) - 2))


ACTS = [act(name, slot, "x" if slot else "") for name, slots in SYSTEM_ACTS.items() for slot in slots]
GOALS = [
    (HOTEL, booked("restaurant")),
    (booked("train"), ServiceTask(domain="attraction", info={"type": "museum"}, requests=("entrance fee", "phone"))),
    (
        ServiceTask(
            domain="taxi", info={"leaveAt": "12:00", "departure": "a", "destination": "b"}, requests=("car type",)
        ),
    ),
]


@settings(max_examples=examples(150), deadline=None)
@given(st.sampled_from(GOALS), st.lists(st.lists(st.sampled_from(ACTS), max_size=4), min_size=60, max_size=60))
def test_whatever_a_system_says_the_user_comes_to_an_end_without_a_loop(
    tasks: tuple[ServiceTask, ...], heard: list[list[Act]]
) -> None:
    person = user(*tasks)
    turns = [person.step(())]
    for acts in heard:
        if person.end_reason:
            break
        turns.append(person.step(acts))
    assert person.end_reason
    assert all(turns), "it always says something"
    assert all(len({*turns[at : at + 3]}) > 1 for at in range(len(turns) - 2))
