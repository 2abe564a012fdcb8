"""Goals made ready: which failures are real, what is booked first, in which order, and where a taxi goes."""

from __future__ import annotations

from collections import Counter

import pytest

from dialgauge.dialogue import Goal, Task
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read
from dialgauge.worlds.domain import DomainGoal
from dialgauge.worlds.town import TownDatabase, TownSearch, load_town, town_goal
from support.shared import shared_folder
from support.town import ROWS

DATA = shared_folder("data")
needs_data = pytest.mark.skipif(DATA is None, reason="DIALGAUGE_DATA names no folder with MultiWOZ 2.1")
SEARCH = TownSearch(TownDatabase(ROWS))


def ready(failures: str = "live", message: tuple[str, ...] = (), **tasks: Task) -> DomainGoal:
    return town_goal("g", Goal(tasks=tasks, message=message), SEARCH, failures)  # type: ignore[arg-type]


def test_a_first_try_that_finds_nothing_stays_and_one_that_finds_something_goes() -> None:
    live = ready(restaurant=Task(info={"food": "indian"}, fail_info={"food": "thai"}))
    assert live.tasks[0].first == {"food": "thai"}
    stale = Task(info={"food": "indian"}, fail_info={"food": "chinese"})
    assert ready(restaurant=stale).tasks[0].first is None
    assert ready(restaurant=stale).findings.stale == ("restaurant",)
    assert ready("paper", restaurant=stale).tasks[0].first == {"food": "chinese"}


def test_a_booking_to_be_refused_is_the_whole_booking_and_flags_are_no_slots() -> None:
    book = {"people": "2", "day": "monday", "time": "12:00"}
    task = ready(restaurant=Task(info={"food": "indian"}, book=book, fail_book={"time": "11:00"})).tasks[0]
    assert task.book == book
    assert task.book_first == {**book, "time": "11:00"}
    flagged = ready(hotel=Task(info={"area": "north"}, book={"stay": "2", "invalid": "x"})).tasks[0]
    assert flagged.book == {"stay": "2"}
    assert flagged.book_first is None


def test_values_lose_their_capitals_and_their_known_misspellings() -> None:
    task = ready(attraction=Task(info={"type": "Mutliple  sports"})).tasks[0]
    assert task.info == {"type": "multiple sports"}


def test_tasks_stand_in_the_order_of_the_instructions() -> None:
    message = ("You want a <span>place to stay</span>.", "You also want a <span>place to dine</span>.")
    goal = ready(message=message, restaurant=Task(info={"food": "indian"}), hotel=Task(info={"area": "north"}))
    assert goal.domains == ("hotel", "restaurant")
    unsaid = ready(taxi=Task(info={"leaveAt": "12:00"}), restaurant=Task(info={"food": "indian"}))
    assert unsaid.domains == ("restaurant", "taxi")


@pytest.mark.parametrize(
    ("sentence", "departure"),
    [("You want to leave the <b>restaurant</b> by 12:00", "restaurant"),
     ("make sure it arrives the restaurant by the booked time", "hotel")],
)  # fmt: skip
def test_a_taxi_between_two_places_goes_where_the_instructions_say(sentence: str, departure: str) -> None:
    goal = ready(
        message=(sentence,),
        restaurant=Task(info={"food": "indian"}),
        hotel=Task(info={"area": "north"}),
        taxi=Task(info={"leaveAt": "12:00"}),
    )
    (taxi,) = [task for task in goal.tasks if task.domain == "taxi"]
    assert taxi.links["departure"] == departure
    assert {*taxi.links.values()} == {"restaurant", "hotel"}
    assert not goal.findings.missing_ends


def test_what_cannot_be_had_is_told() -> None:
    goal = ready(restaurant=Task(info={"food": "martian"}), taxi=Task(info={"leaveAt": "12:00"}))
    assert goal.findings.unsatisfiable == ("restaurant",)
    assert goal.findings.missing_ends == ("departure", "destination")
    assert not goal.findings.satisfiable
    assert not ready(taxi=Task(info={"leaveAt": "12:00"})).findings.satisfiable


@pytest.mark.parametrize(
    ("slot", "values"),
    [("people", ("0", "100", "-1", "2.5", "two", "")),
     ("stay", ("0", "100", "many", "")),
     ("day", ("", " ")),
     ("time", ("", "noon", "25:00", "12:60", "12", "24:00"))],
)  # fmt: skip
def test_bookings_that_cannot_be_are_told(slot: str, values: tuple[str, ...]) -> None:
    domain = "hotel" if slot == "stay" else "restaurant"
    book = {"people": "2", "day": "monday", **({"stay": "99"} if domain == "hotel" else {"time": "9:15"})}
    fine = town_goal("g", Goal(tasks={domain: Task(book=book)}), SEARCH)
    assert fine.findings.satisfiable and not fine.findings
    for value in values:
        for task in (Task(book={**book, slot: value}), Task(book=book, fail_book={slot: value})):
            goal = town_goal("g", Goal(tasks={domain: task}), SEARCH)
            assert goal.findings.impossible_bookings == (f"{domain} {slot}",)
            assert goal.findings and not goal.findings.satisfiable


def test_a_value_that_means_any_constrains_nothing() -> None:
    indifferent = Task(
        info={"food": "indian", "area": "dontcare", "pricerange": "Don't care"},
        fail_info={"food": "thai", "area": "dontcare"},
    )
    task = ready(restaurant=indifferent).tasks[0]
    assert (task.info, task.first) == ({"food": "indian"}, {"food": "thai"})
    taxi = ready(taxi=Task(info={"departure": "dontcare", "destination": "ely", "leaveAt": "12:00"}))
    assert taxi.findings.missing_ends == ("departure",)


def test_times_have_two_digits_for_the_hour() -> None:
    goal = ready(
        restaurant=Task(info={"food": "indian"}, book={"time": "9:15"}, fail_book={"time": "9:00"}),
        taxi=Task(info={"leaveAt": "7:05", "arriveBy": "17:05"}),
    )
    meal, ride = goal.tasks
    assert (meal.book, meal.book_first) == ({"time": "09:15"}, {"time": "09:00"})
    assert ride.info == {"leaveAt": "07:05", "arriveBy": "17:05"}


@pytest.mark.parametrize(
    ("goal", "sentence"),
    [(Goal(), "asks for nothing"),
     (Goal(tasks={"restaurant": Task(info={"area": "dontcare"})}), "asks for nothing"),
     (Goal(tasks={"restuarant": Task(info={"food": "thai"})}), "no domain 'restuarant'. Did you mean 'restaurant'"),
     (Goal(tasks={"restaurant": Task(info={"fod": "thai"})}), "restaurant has no slot 'fod' .* mean 'food'"),
     (Goal(tasks={"restaurant": Task(fail_info={"fod": "thai"})}), "restaurant has no slot 'fod' to search by"),
     (Goal(tasks={"taxi": Task(info={"leavat": "12:00"})}), "taxi has no slot 'leavat' .* mean 'leaveAt'"),
     (Goal(tasks={"hotel": Task(requests=("fone",))}), "hotel has no slot 'fone' to ask for. Did you mean 'phone'"),
     (Goal(tasks={"hotel": Task(book={"poeple": "2"})}), "hotel has no slot 'poeple' to book with.* 'people'")],
)  # fmt: skip
def test_a_goal_that_cannot_be_pursued_is_refused(goal: Goal, sentence: str) -> None:
    with pytest.raises(DialgaugeError, match=sentence):
        town_goal("g", goal, SEARCH)
    with pytest.raises(DialgaugeError, match="no mode of failures 'dead'"):
        town_goal("g", goal, SEARCH, "dead")  # type: ignore[arg-type]


@needs_data
def test_the_goals_of_multiwoz_give_the_counts_of_the_study() -> None:
    """The table of section 2.1: fail_info and how many of them are live, bookings, refusals, questions, taxis."""
    assert DATA is not None
    search = TownSearch(load_town(DATA / "multiwoz21" / "db"))
    counts: Counter[tuple[str, str]] = Counter()
    sizes: Counter[int] = Counter()
    for dialogue in read(DATA / "multiwoz21" / "test.json.gz").dialogues:
        assert dialogue.goal is not None
        goal = town_goal(dialogue.id, dialogue.goal, search)
        sizes[len(goal.tasks)] += 1
        assert not goal.findings.unsatisfiable
        assert not goal.findings.missing_ends
        for task in goal.tasks:
            has = {
                "goals": True, "fail_info": bool(dialogue.goal.tasks[task.domain].fail_info),
                "live": task.first is not None, "book": task.book is not None,
                "fail_book": task.book_first is not None, "reqt": bool(task.requests), "links": bool(task.links),
            }  # fmt: skip
            counts.update((task.domain, what) for what, so in has.items() if so)
    told = {
        "restaurant": {"goals": 437, "fail_info": 133, "live": 84, "book": 275, "fail_book": 41, "reqt": 162},
        "hotel": {"goals": 394, "fail_info": 106, "live": 69, "book": 234, "fail_book": 39, "reqt": 160},
        "attraction": {"goals": 396, "fail_info": 155, "live": 57, "reqt": 396},
        "train": {"goals": 495, "book": 252, "reqt": 243},
        "taxi": {"goals": 195, "reqt": 195, "links": 143},
    }
    assert counts == {(domain, what): count for domain, row in told.items() for what, count in row.items()}
    assert sizes == {1: 226, 2: 631, 3: 143}
