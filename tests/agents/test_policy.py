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


def test_a_train_is_offered_once_all_is_known() -> None:
    office = system()
    assert said(office.step(inform("Train", departure="cambridge"))) == [
        ("Train-Request", "destination", "?"), ("Train-Request", "day", "?"),
    ]  # fmt: skip
    (asked,) = office.step(inform("Train", destination="ely", day="monday"))
    assert asked.slot in ("leaveAt", "arriveBy")
    offer = said(office.step(inform("Train", leaveAt="09:55")))
    assert offer[0] == ("Train-Inform", "trainID", "TR2")
    assert offer[-1] == ("Train-OfferBook", "", "")
    booked = said(office.step(inform("Train", people="3")))
    assert [slot for _, slot, _ in booked] == ["trainID", "Ref", "price"]
    assert booked[-1] == ("Train-OfferBooked", "price", "13.20 pounds")


def test_a_taxi_needs_its_ends_and_is_sent_once() -> None:
    office = system()
    office.step(inform("Hotel", name="cityroomz"))
    assert {slot for _, slot, _ in said(office.step(inform("Taxi", leaveAt="12:00")))} == {"departure", "destination"}
    sent = office.step(inform("Taxi", departure="the hotel", destination="nandos"))
    assert said(sent)[0] == ("Taxi-Inform", "car type", "red ford")
    assert office.state["taxi"]["departure"] == ("cityroomz",)
    assert office.step((act("Taxi-Request", "phone", "?"),)) == sent[1:]
