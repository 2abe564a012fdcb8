"""The rule system: it speaks of what it named and books that, echoes what it heard, and says when it knows nothing."""

from __future__ import annotations

from dialgauge.agents import RuleSystem
from dialgauge.dialogue import Act
from dialgauge.draws import Draws
from dialgauge.worlds.domain import DomainSearch, MultiwozDatabase, ServiceDesk, act, town_of
from support.town import ROWS

TAXI = {"taxi_colors": ["red"], "taxi_types": ["ford"]}
SEARCH = DomainSearch(town_of(MultiwozDatabase(tables=ROWS, taxi=TAXI)))


class Plain(RuleSystem):
    """Never leaves anything to chance."""

    select = exact = more = 0.0


def system() -> RuleSystem:
    return Plain(ServiceDesk(SEARCH, Draws(0, "backend")), Draws(0, "system"))


def inform(domain: str, **slots: str) -> tuple[Act, ...]:
    return tuple(act(f"{domain}-Inform", slot, value) for slot, value in slots.items())


def said(acts: tuple[Act, ...]) -> list[tuple[str, str, str]]:
    return [(one.name, one.slot, one.values[0] if one.values else "") for one in acts]


def test_one_match_is_named_and_may_be_booked() -> None:
    answer = said(system().step(inform("Restaurant", food="indian")))
    assert answer[0] == ("Restaurant-Inform", "name", "curry garden")
    assert answer[-1] == ("Booking-Inform", "", "")


def test_several_are_counted_and_the_one_it_names_is_the_one_it_answers_about_and_books() -> None:
    office = system()
    answer = said(office.step(inform("Restaurant", pricerange="expensive")))
    assert answer[0] == ("Restaurant-Inform", "choice", "2")
    name = next(value for one, slot, value in answer if slot == "name")
    (row,) = [row for row in SEARCH.rows("restaurant") if row.name == name]
    assert said(office.step((act("Restaurant-Request", "phone", "?"),))) == [
        ("Restaurant-Inform", "phone", row.get("phone"))
    ]
    booked = said(office.step(inform("Restaurant", day="monday", people="2", time="12:00")))
    assert booked[0] == ("Booking-Book", "name", name)


def test_many_are_narrowed_down_and_nothing_is_asked_twice() -> None:
    office = system()
    office.ask_above = 0
    asked: list[str] = []
    for _ in range(6):
        answer = office.step((act("Hotel-Inform"),))
        slots = [one.slot for one in answer if one.name == "Hotel-Request"]
        if not slots:
            break
        asked += slots
    assert len(asked) == len(set(asked)) > 0
    assert answer[0].slot == "choice"


def test_bookings_ask_for_what_is_missing_and_are_not_made_twice() -> None:
    office = system()
    office.step(inform("Hotel", name="cityroomz"))
    assert said(office.step(inform("Hotel", people="2"))) == [
        ("Booking-Request", "day", "?"), ("Booking-Request", "stay", "?"),
    ]  # fmt: skip
    first = office.step(inform("Hotel", day="monday", stay="3"))
    assert office.step(inform("Hotel", day="monday", stay="3")) == first, "the same reference"
    assert office.step((act("Hotel-Request", "Ref", "?"),))[0].values == first[1].values
    assert office.step(inform("Hotel", stay="4"))[1].values != first[1].values
