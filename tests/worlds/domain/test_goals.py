"""Goals of a domain: read from a file with every mistake told, or drawn so that rows satisfy them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError
from dialgauge.worlds.domain import (
    DomainSearch,
    ServiceDesk,
    declared_goal,
    draw_goals,
    fits,
    load_domain,
    read_goals,
    shares_table,
)
from support.domains import CARS, CLINIC, LIBRARY, PETS, changed, domain_folder

FOLDERS = {"pets": PETS, "cars": CARS, "clinic": CLINIC, "library": LIBRARY}
OFFICE: dict[str, Any] = {"service": "office", "want": {"city": "Ghent"}}
CAR: dict[str, Any] = {
    "service": "car",
    "want": {"class": "compact"},
    "first": {"class": "van", "seats": "8"},
    "book": {"day": "monday", "days": "3", "from hour": "10:00"},
    "book_first": {"days": "9"},
    "ask": ["phone", "reference"],
    "refers": {"pickup": "office"},
}


def searched(folder: Path) -> DomainSearch:
    return DomainSearch(load_domain(folder))


def goals_of(folder: Path, *goals: Any) -> DomainSearch:
    lines = "\r\n".join(goal if isinstance(goal, str) else json.dumps(goal) for goal in goals)
    return searched(domain_folder(folder, CARS | {"goals.jsonl": lines}))


def test_a_goal_of_the_specification_is_read_and_written_again(tmp_path: Path) -> None:
    written = {"id": "g1", "tasks": [OFFICE, CAR]}
    search = goals_of(tmp_path, written, "")
    (goal,) = read_goals(search.domain, search)
    office, car = goal.tasks
    assert office.info == {"city": "Ghent"}
    assert car.first == {"class": "van", "seats": "8"}
    assert car.book == {"day": "monday", "days": "3", "from hour": "10:00"}
    assert car.book_first == {"day": "monday", "days": "9", "from hour": "10:00"}
    assert (car.requests, car.links) == (("phone", "reference"), {"pickup": "office"})
    assert declared_goal(goal) == written


MISTAKES = [
    ({"id": "g", "tasks": [OFFICE, OFFICE]}, "the service 'office' appears twice"),
    ({"id": "g", "tasks": [CAR, OFFICE]}, "'pickup' refers to 'office', which must have a task earlier"),
    ({"id": "g", "tasks": []}, "the goal has no tasks"),
    ({"tasks": [OFFICE]}, "required field id"),
    ({"id": "g", "tasks": [{"service": "offce"}]}, "no service 'offce'. Did you mean 'office'?"),
    ({"id": "g", "tasks": [{"service": "office", "want": {"citty": "x"}}]}, "no slot 'citty' to search by. Did you"),
    ({"id": "g", "tasks": [{"service": "office", "want": {"city": "Rome"}}]}, "nothing fits the wishes for office"),
    ({"id": "g", "tasks": [{"service": "office", "want": {"closes": "late"}}]}, "closes must be a time of day"),
    ({"id": "g", "tasks": [{"service": "office", "book": {}}]}, "office cannot be booked"),
    ({"id": "g", "tasks": [OFFICE | {"first": {"city": "ghent"}}]}, "'first' of office differs in nothing"),
    ({"id": "g", "tasks": [OFFICE | {"first": {"city": "Antwerp"}}]}, "'first' of office finds something"),
    ({"id": "g", "tasks": [OFFICE | {"ask": ["fone"]}]}, "office has no slot 'fone' to ask for. Did you mean 'phone'?"),
    ({"id": "g", "tasks": [OFFICE, CAR | {"book_first": {"days": "3.0"}}]}, "days must be a whole number from 1 to 30"),
    ({"id": "g", "tasks": [OFFICE, CAR | {"book": {"day": "monday", "days": "3"}}]}, "there is no 'from hour'"),
    (
        {"id": "g", "tasks": [OFFICE, CAR | {"book": CAR["book"] | {"pickup": "x"}}]},
        "'pickup' both refers to 'office' and has a value",
    ),
    ('{"id": "g", "id": "h", "tasks": []}', "the key 'id' appears twice"),
    ('{"id": "g"', "it is not valid JSON"),
]


@pytest.mark.parametrize(("goal", "words"), MISTAKES)
def test_a_mistake_in_goals_is_told_with_its_line(goal: Any, words: str, tmp_path: Path) -> None:
    search = goals_of(tmp_path, {"id": "fine", "tasks": [OFFICE]}, goal)
    with pytest.raises(DialgaugeError) as error:
        read_goals(search.domain, search)
    assert "goals.jsonl, line 2" in str(error.value)
    assert words in str(error.value)


def test_the_same_id_twice_is_an_error_and_what_nothing_satisfies_may_be_said(tmp_path: Path) -> None:
    hopeless = {"id": "h", "tasks": [{"service": "office", "want": {"city": "Rome"}}], "satisfiable": False}
    search = goals_of(tmp_path, hopeless)
    assert read_goals(search.domain, search)[0].findings.unsatisfiable == ("office",)
    search = goals_of(tmp_path, hopeless, hopeless)
    with pytest.raises(DialgaugeError, match="the id 'h' appears twice"):
        read_goals(search.domain, search)


@pytest.mark.parametrize("name", FOLDERS)
def test_drawn_goals_can_be_satisfied_and_read_again(name: str, tmp_path: Path) -> None:
    search = searched(domain_folder(tmp_path, FOLDERS[name]))
    drawn = draw_goals(search.domain, search, 300, seed=3)
    for goal in drawn:
        for task in goal.tasks:
            service = search.domain.services[task.domain]
            if service.rows is not None:
                fitting = [
                    row
                    for row in service.rows
                    if all(fits(service.wishes[slot].match, row.get(slot), value) for slot, value in task.info.items())
                ]
                assert fitting
                assert [row.values for row in search.find(task.domain, task.info)] == fitting
            assert service.rows is not None or task.book is not None
            assert task.first is None or not search.find(task.domain, task.first)
    lines = [json.dumps(declared_goal(goal)) for goal in drawn]
    domain_folder(tmp_path, {"goals.jsonl": "\n".join(lines)})
    again = searched(tmp_path)
    assert read_goals(again.domain, again) == drawn
    assert draw_goals(search.domain, search, 100, seed=3) == drawn[:100]


def test_shares_are_achieved_and_told(tmp_path: Path) -> None:
    search = searched(domain_folder(tmp_path, LIBRARY))
    table = shares_table(search.domain, draw_goals(search.domain, search, 1000), drawn=True)
    rows = [[str(cell.value) for cell in row] for row in table.rows]
    shares = {what: int(count) / int(of.split()[0].replace(",", "")) for what, count, of in rows}
    assert 0.55 < shares["booked"] < 0.65
    assert 0.2 < shares["fails first"] < 0.32  # for some wishes nothing fails
    assert 0.16 < shares["refused first"] < 0.24
    assert table.notes == []


def test_goals_repeat_only_when_distinct_ones_run_out(tmp_path: Path) -> None:
    files = changed(PETS, "domain.yaml", "    answer: [age]\n", "goals: {draw: {fails_first: 0}}\n")
    search = searched(domain_folder(tmp_path, files))
    drawn = draw_goals(search.domain, search, 5)
    assert {task.info["kind"] for goal in drawn[:3] for task in goal.tasks} == {"dog", "cat", "bird"}
    assert "2 goals repeat" in shares_table(search.domain, drawn, drawn=True).notes[0]


def test_the_backend_refuses_what_the_goal_refuses_and_nonsense(tmp_path: Path) -> None:
    search = goals_of(tmp_path, {"id": "g1", "tasks": [OFFICE, CAR]})
    (goal,) = read_goals(search.domain, search)
    backend = ServiceDesk(search, Draws(0), goal)
    golf = backend.named("car", " golf")[0]
    car = search.domain.services["car"]
    good = {"pickup": "Korenmarkt", "day": "Monday", "days": "3", "from hour": "10:00"}
    for _ in range(2):
        refused = backend.book("car", good | {"days": "9"}, golf)
        assert (refused.outcome, refused.slots) == ("refused", ("days",))
        assert refused.sentence(car) == "Not booked: it is not available for days: 9."
    assert backend.book("car", good).outcome == "no such entity"
    nonsense = backend.book("car", good | {"days": "-3"}, golf)
    assert nonsense.sentence(car) == "Not booked: days must be a whole number from 1 to 30."
    missing = backend.book("car", {"pickup": "x", "day": "monday", "days": "3"}, golf)
    assert missing.sentence(car) == "Not booked: from hour is missing."
    booked = backend.book("car", good, golf)
    assert booked.outcome == "booked"
    assert len(booked.gives["reference"]) == 8
    assert [call.result if call.failed else call.outcome for call in backend.take_calls()] == [
        *["refused"] * 2,
        "no such entity",
        "ill-typed",
        "incomplete",
        "done",
    ]


def test_rules_compare_as_the_specification_says(tmp_path: Path) -> None:
    search = searched(domain_folder(tmp_path, CARS))

    def models(**wishes: str) -> list[str]:
        return [row.name for row in search.find("car", wishes)]

    assert models(**{"class": " COMPACT"}) == ["Golf", "Polo", "Zoe"]
    assert models(seats="5.0") == ["Golf", "Sharan", "Zoe", "Tesla"]
    assert models(price="39.5") == ["Golf", "Polo"]
    assert models(extras="Child  Seat") == ["Golf", "Tesla"]
    assert models(automatic="TRUE") == ["Golf", "Zoe", "Tesla"]
    assert models(fuel="hydrogen") == []
    assert models(model="zoe", fuel="dontcare") == ["Zoe"]
    assert [row.name for row in search.find("office", {"closes": "24:00"})] == ["Harbour"]
    with pytest.raises(DialgaugeError, match="cannot be searched by 'colour'"):
        models(colour="red")
