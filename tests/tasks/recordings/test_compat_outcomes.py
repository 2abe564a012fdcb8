"""ConvLab-2's rules with their quirks, one by one; tests/numbers has the recordings of the paper."""

from __future__ import annotations

import pytest

from dialgauge.dialogue import Dialogue, Task, Turn
from dialgauge.tasks import TaskFailure, judge_outcomes
from dialgauge.tasks.recordings.compat import looks_right
from support.recorded import BYE, acts, booked, compat, conversation, system, user

THEATRE = {"attraction": Task(info={"type": "theatre", "area": "centre"}, requests=("entrance fee",))}
ASKS = user("Attraction-Inform|type|theatre", "Attraction-Inform|area|centre")
TELLS = system("Attraction-Recommend|name|adc theatre", "Attraction-Inform|entrance fee|4 pounds")
HOTEL = {"hotel": Task(info={"area": "north", "stars": "4"}, book={"day": "monday", "people": "2", "stay": "3"})}
WANTS = user("Hotel-Inform|area|north")


def books(row: int = 0, **slots: str) -> Turn:
    return system("Booking-Book|Ref|ABCD1234", calls=[booked("hotel", row, **slots)])


def test_what_counts_is_what_the_user_heard() -> None:
    deaf = system("Attraction-Inform|entrance fee|4 pounds", heard=())
    verdict = compat(conversation(THEATRE, ASKS, deaf))
    assert (verdict.success, verdict.precision, verdict.recall, verdict.f1) == (False, 0.0, 0.0, 0.0)
    assert verdict.failures == {"attraction": (TaskFailure(reason="never_heard", slot="entrance fee"),)}
    invented = system("general-reqmore", heard=acts("Attraction-Inform|entrance fee|4 pounds"))
    assert compat(conversation(THEATRE, ASKS, invented)).success


def test_the_last_system_turn_is_not_seen() -> None:
    talk = conversation(THEATRE, ASKS)
    late = Dialogue(id=talk.id, goal=talk.goal, turns=(ASKS, TELLS))
    assert not compat(late).success
    assert compat(Dialogue(id=talk.id, goal=talk.goal, turns=(*late.turns, *BYE))).success


def test_a_false_value_of_the_right_form_counts_as_told() -> None:
    phone = {"hotel": Task(info={"area": "north"}, requests=("internet",))}
    assert compat(conversation(phone, WANTS, system("Hotel-Inform|internet|none"))).recall == 1.0
    assert compat(conversation(phone, WANTS, system("Hotel-Inform|internet|perhaps"))).recall == 0.0


def test_a_booking_is_judged_by_its_row_alone() -> None:
    verdict = compat(conversation(HOTEL, WANTS, books(day="friday", people="9", stay="1")))
    assert (verdict.success, verdict.book, verdict.recall) == (True, 1.0, None)
    other = compat(conversation(HOTEL, WANTS, books(row=1)))
    assert (other.success, other.book, other.final) == (False, 0.0, 0.0)
    missing = compat(conversation(HOTEL, WANTS, system("general-reqmore")))
    assert (missing.success, missing.book, missing.final) == (False, 0.0, 1.0)


def test_a_booking_must_be_heard_of_under_the_right_act() -> None:
    misheard = system(
        "Booking-Book|Ref|ABCD1234", calls=[booked("hotel", 0)], heard=acts("Train-OfferBooked|Ref|ABCD1234")
    )
    assert compat(conversation(HOTEL, WANTS, misheard)).book == 0.0
    garbled = system("Booking-Book|Ref|ABCD1234", calls=[booked("hotel", 0)], heard=acts("Booking-Book|Ref|ABCD"))
    assert compat(conversation(HOTEL, WANTS, garbled)).book == 0.0


def test_the_first_booking_counts() -> None:
    again = system("Booking-Book|Ref|EFGH5678", calls=[booked("hotel", 1, "EFGH5678")])
    assert compat(conversation(HOTEL, WANTS, books(), WANTS, again)).success


def test_stations_are_not_checked_and_times_are_bounds() -> None:
    info = {"departure": "ely", "destination": "cambridge", "day": "monday", "leaveAt": "09:00"}
    ride = {"train": Task(info=info, book={"people": "2"})}
    wants = user("Train-Inform|day|monday")
    told = compat(conversation(ride, wants, system("Train-OfferBooked|Ref|00000000")))
    assert (told.book, told.final, told.success) == (1.0, 0.0, False)
    late = {"train": Task(info={**info, "leaveAt": "10:00"}, book={"people": "2"})}
    assert compat(conversation(late, wants, system("Train-OfferBooked|Ref|00000000"))).book == 0.5


@pytest.mark.parametrize(("fee", "alike"), [("4 pfg", True), ("4 pence", False), ("four dollars", False)])
def test_how_much_alike_is_enough(fee: str, alike: bool) -> None:
    """With as many letters of ``4 pounds``, the first has 3 of 5 in common (60%), the second 4 of 7 (57%)."""
    verdict = compat(conversation(THEATRE, ASKS, system(f"Attraction-Inform|entrance fee|{fee}")))
    assert verdict.success is alike


@pytest.mark.parametrize("name", ["Train-Inform", "Train-OfferBook", "Train-OfferBooked"])
def test_offers_and_confirmations_tell_too(name: str) -> None:
    ride = {"train": Task(info={"day": "monday"}, requests=("price",))}
    assert compat(conversation(ride, user("Train-Inform|day|monday"), system(f"{name}|price|4.40 pounds"))).success
    assert not compat(
        conversation(ride, user("Train-Inform|day|monday"), system("Train-Select|price|4.40 pounds"))
    ).success


@pytest.mark.parametrize(
    ("domain", "slot", "right", "wrong"),
    [
        ("hotel", "area", "Centre", "center"),
        ("train", "leaveAt", "09:05", "9:05"),
        ("train", "arriveBy", "24:00", "24:05"),
        ("train", "day", "Monday", "mon"),
        ("train", "duration", "17 minutes", "17"),
        ("train", "price", "4 pounds", "4"),
        ("train", "trainID", "tr1234", "1234"),
        ("hotel", "phone", "01223123456", "1223123456"),
        ("hotel", "stars", "4", "four"),
        ("hotel", "postcode", "cb21ab", "CB2 1AB"),
        ("hotel", "pricerange", "cheap", "dear"),
        ("hotel", "parking", "no", "free"),
    ],
)
def test_the_form_of_values(domain: str, slot: str, right: str, wrong: str) -> None:
    assert looks_right(domain, slot, right)
    assert not looks_right(domain, slot, wrong)


@pytest.mark.parametrize(("domain", "slot"), [("restaurant", "phone"), ("attraction", "pricerange"), ("hotel", "name")])
def test_some_values_have_any_form(domain: str, slot: str) -> None:
    assert looks_right(domain, slot, "whatever")


def test_another_town_has_postcodes_of_its_own() -> None:
    """ConvLab knows postcodes by the letters of Cambridge; elsewhere those of the database are right."""
    from dialgauge.lab import AgentSpec, LabConfig, hold_conversations, open_domain

    town = open_domain(count=60)
    held = hold_conversations(
        town.again, town.goals, LabConfig(user=AgentSpec("agenda"), system=AgentSpec("rule-system"))
    )
    judged = list(judge_outcomes(held, town.search))
    assert sum(one.compat is not None and one.compat.success for one in judged) / len(judged) > 0.95
