"""MultiWOZ's files as the town: its goals made ready, its database read, searched and booked."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from dialgauge.dialogue import Goal, Task
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read
from dialgauge.worlds.domain import (
    DomainGoal,
    DomainSearch,
    MultiwozDatabase,
    ServiceDesk,
    database_beside,
    multiwoz_goal,
    read_database,
    town_of,
)
from support.shared import shared_folder
from support.town import ROWS, write_town

DATA = shared_folder("data")
needs_data = pytest.mark.skipif(DATA is None, reason="DIALGAUGE_DATA names no folder with MultiWOZ 2.1")
LATE = {
    "trainID": "TR9", "day": "monday", "departure": "cambridge", "destination": "ely", "leaveAt": "23:59",
    "arriveBy": "01:27", "price": "4.40 pounds", "duration": "88 minutes",
}  # fmt: skip
TAXI = {"taxi_colors": ["red"], "taxi_types": ["ford"]}
SEARCH = DomainSearch(town_of(MultiwozDatabase(tables={**ROWS, "train": [*ROWS["train"], LATE]}, taxi=TAXI)))
CURRY = SEARCH.rows("restaurant")[0]
BOOK = {"people": "2", "day": "monday", "time": "12:00"}


def ready(failures: str = "live", message: tuple[str, ...] = (), **tasks: Task) -> DomainGoal:
    return multiwoz_goal("g", Goal(tasks=tasks, message=message), SEARCH, failures)  # type: ignore[arg-type]


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
    impossible = ready(restaurant=Task(info={"food": "indian"}, book={**BOOK, "people": "0", "time": "25:00"}))
    assert impossible.findings.impossible_bookings == ("restaurant people", "restaurant time")


def test_a_value_that_means_any_constrains_nothing() -> None:
    indifferent = Task(
        info={"food": "indian", "area": "dontcare", "pricerange": "Don't care"},
        fail_info={"food": "thai", "area": "dontcare"},
    )
    task = ready(restaurant=indifferent).tasks[0]
    assert (task.info, task.first) == ({"food": "indian"}, {"food": "thai"})
    taxi = ready(taxi=Task(info={"departure": "dontcare", "destination": "ely", "leaveAt": "12:00"}))
    assert taxi.findings.missing_ends == ("departure",)


def test_values_are_written_as_goals_write_them() -> None:
    assert ready(attraction=Task(info={"type": "Mutliple  sports"})).tasks[0].info == {"type": "multiple sports"}
    meal = ready(restaurant=Task(info={"food": "indian"}, book={"time": "9:15"}, fail_book={"time": "9:00"})).tasks[0]
    assert (meal.book, meal.book_first) == ({"time": "09:15"}, {"time": "09:00"})


@pytest.mark.parametrize(
    ("goal", "sentence"),
    [(Goal(), "asks for nothing"),
     (Goal(tasks={"restaurant": Task(info={"area": "dontcare"})}), "asks for nothing"),
     (Goal(tasks={"restuarant": Task(info={"food": "thai"})}), "no domain 'restuarant'. Did you mean 'restaurant'"),
     (Goal(tasks={"restaurant": Task(info={"fod": "thai"})}), "restaurant has no slot 'fod' .* mean 'food'"),
     (Goal(tasks={"hotel": Task(requests=("fone",))}), "hotel has no slot 'fone' to ask for. Did you mean 'phone'"),
     (Goal(tasks={"hotel": Task(book={"poeple": "2"})}), "hotel has no slot 'poeple' to book with.* 'people'")],
)  # fmt: skip
def test_a_goal_that_cannot_be_pursued_is_refused(goal: Goal, sentence: str) -> None:
    with pytest.raises(DialgaugeError, match=sentence):
        multiwoz_goal("g", goal, SEARCH)


@needs_data
def test_the_goals_of_multiwoz_give_the_counts_of_the_study() -> None:
    """The table of section 2.1: fail_info and how many of them are live, bookings, refusals, questions, taxis."""
    assert DATA is not None
    search = DomainSearch(town_of(read_database(DATA / "multiwoz21" / "db")))
    counts: Counter[tuple[str, str]] = Counter()
    sizes: Counter[int] = Counter()
    for dialogue in read(DATA / "multiwoz21" / "test.json.gz").dialogues:
        assert dialogue.goal is not None
        goal = multiwoz_goal(dialogue.id, dialogue.goal, search)
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


def test_a_name_that_no_row_has_exactly_becomes_the_only_one_like_it() -> None:
    assert ready(restaurant=Task(info={"name": "nandos city"})).tasks[0].info == {"name": "nandos"}
    assert ready(restaurant=Task(info={"name": "garden"})).findings.unsatisfiable == ("restaurant",), "two contain it"


# Searching


def names(domain: str, **constraints: str) -> list[str]:
    return [row.name for row in SEARCH.find(domain, constraints)]


@pytest.mark.parametrize("value", ["", "dontcare", "dont care", "don't care", "do n't care", "not mentioned"])
def test_what_says_any_constrains_nothing(value: str) -> None:
    assert len(names("restaurant", area=value)) == 3


def test_values_are_equal_or_not_whatever_their_spelling() -> None:
    assert names("restaurant", area="Center") == ["curry garden"]
    assert names("hotel", type="Guest House") == ["acorn guest house"]
    assert names("restaurant", food="ind") == []
    assert names("restaurant", name="The Curry Garden", area="south") == []


def test_an_unknown_cell_fits_any_wish() -> None:
    assert "jesus green" in names("attraction", **{"entrance fee": "free"})
    (pool,) = [row for row in SEARCH.rows("attraction") if row.name == "jesus green"]
    assert pool.get("entrance fee") == "unknown"


def test_trains_leave_after_and_arrive_before_in_the_order_of_use() -> None:
    wanted = {"departure": "cambridge", "destination": "ely", "day": "monday"}
    assert names("train", **wanted, leaveAt="09:50") == ["TR1", "TR2", "TR9"]
    assert names("train", **wanted, arriveBy="12:07") == ["TR2", "TR1"], "the latest arrival first"
    assert "TR9" not in names("train", day="monday", arriveBy="09:00"), "it arrives after midnight"
    assert "TR9" in names("train", day="monday", arriveBy="25:30")


# Booking


def desk(task: Task | None = None) -> ServiceDesk:
    goal = multiwoz_goal("g", Goal(tasks={"restaurant": task}), SEARCH) if task is not None else None
    return ServiceDesk(SEARCH, Draws(0, "backend"), goal)


def test_tickets_are_added_up_to_the_penny() -> None:
    assert desk().book("train", {"people": "7"}, SEARCH.rows("train")[0]).total == "30.80 pounds"


def test_a_taxi_needs_both_ends_and_a_time_and_has_a_car_and_a_number() -> None:
    assert desk().book("taxi", {"departure": "a", "arriveBy": "12:00"}).slots == ("destination",)
    assert desk().book("taxi", {}).slots == ("departure", "destination", "leaveAt")
    sent = desk().book("taxi", {"departure": "a", "destination": "b", "arriveBy": "12:00"}).gives
    assert sent["car type"] == "red ford"
    assert re.fullmatch(r"07\d{9}", sent["phone"])


# Reading


def test_a_database_is_found_beside_a_gold_file_or_not(tmp_path: Path) -> None:
    gold = write_town(tmp_path)
    assert len(database_beside(gold).tables["hotel"]) == 2
    with pytest.raises(DialgaugeError, match="--database"):
        database_beside(tmp_path / "elsewhere" / "gold.json")


@pytest.mark.parametrize(
    ("table", "content", "says"),
    [
        ("train", None, "there is no train_db.json"),
        ("train", "{}", "shape|array"),
        ("train", "[]", "empty"),
        ("hospital", '[{"phone": "01"}]', "the column 'department' is missing in row 1"),
        ("restaurant", '[{"id": "1", "name": 7}]', "the column 'name' is not text but 7 in row 1"),
        ("taxi", '["red"]', "shape|object"),
    ],
)
def test_a_broken_database_is_a_sentence(tmp_path: Path, table: str, content: str | None, says: str) -> None:
    write_town(tmp_path)
    path = tmp_path / "db" / f"{table}_db.json"
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    with pytest.raises(DialgaugeError, match=says) as caught:
        read_database(tmp_path / "db")
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)
