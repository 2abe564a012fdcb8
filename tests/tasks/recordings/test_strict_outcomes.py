"""What users end up with, rule by rule: each conversation differs from one that succeeds in one thing."""

from __future__ import annotations

import pytest

from dialgauge.dialogue import Act, Call, Dialogue, Outcome, Task, Turn
from dialgauge.tasks import StrictVerdict, judge_outcomes
from dialgauge.tasks.recordings.judging import goal_of
from support.recorded import SEARCH, booked, conversation, refused, searched, strict, system, taxi, user

THEATRE = {"attraction": Task(info={"type": "theatre", "area": "centre"}, requests=("entrance fee",))}
ASKS = user("Attraction-Inform|type|theatre", "Attraction-Inform|area|centre")
NAMES = system("Attraction-Recommend|name|adc theatre")
ASKS_FEE = user("Attraction-Request|entrance fee|?")
ADC_FEE = ("Attraction-Inform|entrance fee|4 pounds",)
TELLS_FEE = system(*ADC_FEE)

HOTEL = {"hotel": Task(info={"area": "north"}, book={"day": "monday", "people": "2", "stay": "3"})}
FINDS = (user("Hotel-Inform|area|north"), system("Hotel-Inform|name|acorn guest house", "Booking-Inform"))
WANTS = user("Hotel-Inform|day|monday", "Hotel-Inform|people|2", "Hotel-Inform|stay|3")
BOOKS = system(
    "Booking-Book|name|acorn guest house",
    "Booking-Book|Ref|ABCD1234",
    calls=[booked("hotel", 0, day="monday", people="2", stay="3")],
)


def only(verdict: StrictVerdict) -> tuple[bool, bool, tuple[str, ...]]:
    [task] = verdict.tasks.values()
    assert verdict.success == task.success
    return task.success, task.matched, task.why


def test_a_task_is_done() -> None:
    verdict = strict(conversation(THEATRE, ASKS, NAMES, ASKS_FEE, TELLS_FEE))
    assert only(verdict) == (True, True, ())
    task = verdict.tasks["attraction"]
    assert (task.row, task.entity, task.turn, task.requests, task.answered) == (1, "adc theatre", 1, 1, 1)
    assert (verdict.recall, verdict.precision, verdict.f1) == (1.0, 1.0, 1.0)


def test_a_value_must_be_true() -> None:
    wrong = system("Attraction-Inform|entrance fee|5 pounds")
    verdict = strict(conversation(THEATRE, ASKS, NAMES, ASKS_FEE, wrong))
    assert only(verdict) == (False, True, ("entrance fee was told as 5 pounds in turn 3; it is 4 pounds",))
    assert (verdict.recall, verdict.precision, verdict.f1) == (0.0, 0.5, 0.0)


def test_a_request_must_be_answered() -> None:
    assert only(strict(conversation(THEATRE, ASKS, NAMES, ASKS_FEE, system("general-reqmore"))))[2] == (
        "entrance fee was never told",
    )


@pytest.mark.parametrize(("told", "done"), [("unknown", True), ("free", False)])
def test_unknown_is_right_where_the_database_has_none(told: str, done: bool) -> None:
    pool = {"attraction": Task(info={"type": "swimmingpool"}, requests=("entrance fee",))}
    fee = system(f"Attraction-Inform|entrance fee|{told}")
    named = system("Attraction-Inform|name|jesus green")
    assert (
        only(strict(conversation(pool, user("Attraction-Inform|type|swimmingpool"), named, ASKS_FEE, fee)))[0] is done
    )


def test_unknown_is_wrong_where_the_database_has_a_value() -> None:
    fee = system("Attraction-Inform|entrance fee|unknown")
    assert not strict(conversation(THEATRE, ASKS, NAMES, ASKS_FEE, fee)).success


def test_what_was_told_of_another_row_does_not_count() -> None:
    other = system("Attraction-Recommend|name|mumford theatre", "Attraction-Recommend|entrance fee|free")
    talk = (user("Attraction-Inform|type|theatre"), other, user("Attraction-Inform|area|centre"), NAMES)
    assert only(strict(conversation(THEATRE, *talk)))[2] == ("entrance fee was told as free in turn 1; it is 4 pounds",)
    assert strict(conversation(THEATRE, *talk, ASKS_FEE, TELLS_FEE)).success


@pytest.mark.parametrize("told", [("5 pounds", "4 pounds"), ("4 pounds", "5 pounds")])
def test_a_lie_beside_the_truth_is_no_answer(told: tuple[str, str]) -> None:
    one_act = Turn(
        speaker="system",
        acts=(Act(name="Attraction-Inform", domain="attraction", slot="entrance fee", values=told),),
        calls=(),
    )
    two_acts = system(*(f"Attraction-Inform|entrance fee|{fee}" for fee in told))
    for tells in (one_act, two_acts):
        verdict = strict(conversation(THEATRE, ASKS, NAMES, ASKS_FEE, tells))
        why = f"entrance fee was told as {told[0]}, {told[1]} in turn 3; it is 4 pounds"
        assert only(verdict) == (False, True, (why,))
        assert verdict.recall == 0.0
    twice = system("Attraction-Inform|entrance fee|4 pounds", "Attraction-Recommend|entrance fee|4 pounds")
    assert strict(conversation(THEATRE, ASKS, NAMES, ASKS_FEE, twice)).success
    mended = (system("Attraction-Inform|entrance fee|5 pounds"), ASKS_FEE, TELLS_FEE)
    assert strict(conversation(THEATRE, ASKS, NAMES, ASKS_FEE, *mended)).success


def test_each_of_two_rows_may_have_its_own_value_in_a_turn() -> None:
    both = system(
        "Attraction-Inform|name|mumford theatre", "Attraction-Inform|entrance fee|free",
        "Attraction-Inform|name|adc theatre", "Attraction-Inform|entrance fee|4 pounds",
    )  # fmt: skip
    named = {"attraction": Task(info=THEATRE["attraction"].info, requests=("entrance fee", "name"))}
    assert strict(conversation(named, ASKS, both)).success
    invented = system("Attraction-Inform|name|adc theatre", "Attraction-Inform|name|moon palace", *ADC_FEE)
    assert only(strict(conversation(named, ASKS, invented)))[2] == (
        "name was told as adc theatre, moon palace in turn 1; it is adc theatre",
    )


def test_unknown_of_one_row_does_not_answer_for_another() -> None:
    pool = {"attraction": Task(info={"type": "swimmingpool"}, requests=("entrance fee",))}
    unknown = system("Attraction-Inform|entrance fee|unknown")
    theatre = (user("Attraction-Inform|type|theatre"), NAMES, ASKS_FEE, unknown)
    then = (user("Attraction-Inform|type|swimmingpool"), system("Attraction-Inform|name|jesus green"))
    assert only(strict(conversation(pool, *theatre, *then)))[2] == (
        "entrance fee was told as unknown in turn 3, of adc theatre and not of jesus green",
    )
    assert only(strict(conversation(pool, ASKS_FEE, unknown, *then)))[2] == (
        "entrance fee was told as unknown in turn 1, of nothing and not of jesus green",
    )
    assert strict(conversation(pool, *theatre, *then, ASKS_FEE, unknown)).success


def test_every_constraint_must_hold() -> None:
    other = system("Attraction-Recommend|name|mumford theatre", "Attraction-Inform|entrance fee|free")
    assert only(strict(conversation(THEATRE, ASKS, other))) == (
        False, False, ("mumford theatre (since turn 1) has area east, wanted centre",),
    )  # fmt: skip


def test_a_row_that_the_user_turns_down_is_not_what_it_has() -> None:
    east = user("Attraction-Inform|area|east")
    success, matched, why = only(strict(conversation(THEATRE, ASKS, NAMES, ASKS_FEE, TELLS_FEE, east)))
    assert (success, matched) == (False, False)
    assert why[0] == "adc theatre was turned down in turn 4: the user asked for area east"


def test_a_row_that_the_system_takes_back_is_not_what_the_user_has() -> None:
    nothing = system("Attraction-NoOffer|area|centre")
    why = only(strict(conversation(THEATRE, ASKS, NAMES, ASKS_FEE, TELLS_FEE, ASKS, nothing)))[2]
    assert why[0] == "adc theatre was given up in turn 5: the system said that there is none"
    instead = system("Attraction-NoOffer|area|centre", "Attraction-Inform|name|adc theatre")
    verdict = strict(conversation(THEATRE, ASKS, NAMES, ASKS_FEE, TELLS_FEE, ASKS, instead))
    assert (verdict.success, verdict.tasks["attraction"].turn) == (True, 1)


def test_rows_to_choose_from_are_not_chosen() -> None:
    choice = system("Attraction-Select|name|adc theatre", "Attraction-Select|name|mumford theatre")
    assert only(strict(conversation(THEATRE, ASKS, choice, ASKS_FEE, TELLS_FEE)))[1] is False
    picks = user("Attraction-Inform|name|adc theatre")
    assert strict(conversation(THEATRE, ASKS, choice, picks, TELLS_FEE)).success
    silent = conversation({"attraction": Task(info={"name": "adc theatre"})}, picks, system("general-reqmore"))
    assert only(strict(silent)) == (False, False, ("nothing was named",))


def test_the_last_of_several_rows_named_in_a_turn_counts() -> None:
    named = ("Attraction-Inform|name|mumford theatre", "Attraction-Inform|name|adc theatre")
    both = system(*named, "Attraction-Inform|entrance fee|4 pounds")
    verdict = strict(conversation(THEATRE, ASKS, both))
    assert only(verdict)[0] and verdict.precision == 1.0


def test_precision_counts_what_is_false() -> None:
    said = (
        "Attraction-Inform|choice|9",
        "Attraction-Recommend|name|adc theatre",
        "Attraction-Recommend|area|east",
        "Attraction-Recommend|type|theatre",
        "Attraction-Recommend|entrance fee|4 pounds",
    )
    verdict = strict(conversation(THEATRE, ASKS, system(*said)))
    assert (verdict.asserted, verdict.true, verdict.success) == (4, 3, True)
    invented = strict(conversation(THEATRE, ASKS, system("Attraction-Recommend|name|moon palace")))
    assert (invented.asserted, invented.true) == (1, 0)


# Bookings


def test_a_booking_is_what_was_wanted() -> None:
    verdict = strict(conversation(HOTEL, *FINDS, WANTS, BOOKS))
    assert only(verdict) == (True, True, ())
    task = verdict.tasks["hotel"]
    assert (task.booked, task.attempts, task.fixed, task.turn) == (True, 1, None, 3)
    assert verdict.precision == 1.0


@pytest.mark.parametrize("slot", ["day", "people", "stay"])
def test_every_slot_of_a_booking_counts(slot: str) -> None:
    slots = {"day": "monday", "people": "2", "stay": "3", slot: "7"}
    books = system("Booking-Book|Ref|ABCD1234", calls=[booked("hotel", 0, **slots)])
    verdict = strict(conversation(HOTEL, *FINDS, WANTS, books))
    wanted = HOTEL["hotel"].book[slot]
    assert only(verdict) == (False, True, (f"booked in turn 3 with {slot} 7, wanted {wanted}",))
    assert verdict.tasks["hotel"].booked is False


def test_a_claimed_booking_is_none() -> None:
    claims = system("Booking-Book|name|acorn guest house", "Booking-Book|Ref|ZZZZ9999")
    verdict = strict(conversation(HOTEL, *FINDS, WANTS, claims))
    assert only(verdict)[2] == ("not booked: it was never tried",)
    assert (verdict.asserted, verdict.true) == (3, 2)


def test_what_is_booked_counts_not_what_was_named() -> None:
    books = system("Booking-Book|Ref|ABCD1234", calls=[booked("hotel", 1, day="monday", people="2", stay="3")])
    verdict = strict(conversation(HOTEL, *FINDS, WANTS, books))
    assert only(verdict)[1] is False
    assert verdict.tasks["hotel"].entity == "cityroomz"
    assert verdict.tasks["hotel"].booked is False


def test_the_last_booking_counts() -> None:
    again = system("Booking-Book|Ref|EFGH5678", calls=[booked("hotel", 1, day="monday", people="2", stay="3")])
    assert not strict(conversation(HOTEL, *FINDS, WANTS, BOOKS, WANTS, again)).success
    assert strict(conversation(HOTEL, *FINDS, WANTS, again, WANTS, BOOKS)).success


def test_the_user_must_be_told_the_reference_of_its_booking() -> None:
    call = booked("hotel", 0, day="monday", people="2", stay="3")
    silent = system("Booking-Book|name|acorn guest house", calls=[call])
    verdict = strict(conversation(HOTEL, *FINDS, WANTS, silent))
    assert only(verdict) == (
        False, True, ("the reference ABCD1234 of the booking of turn 3 was never told",),
    )  # fmt: skip
    assert verdict.tasks["hotel"].booked is True
    later = (user("Hotel-Request|Ref|?"), system("Hotel-Inform|Ref|ABCD1234"))
    assert strict(conversation(HOTEL, *FINDS, WANTS, silent, *later)).success
    early = system("Booking-Book|Ref|ABCD1234")
    assert not strict(conversation(HOTEL, *FINDS, WANTS, early, WANTS, silent)).success


@pytest.mark.parametrize("told", [("ZZZZ9999",), ("ABCD1234", "ZZZZ9999"), ("ZZZZ9999", "ABCD1234")])
def test_another_reference_is_not_that_of_the_booking(told: tuple[str, ...]) -> None:
    call = booked("hotel", 0, day="monday", people="2", stay="3")
    books = system(*(f"Booking-Book|Ref|{reference}" for reference in told), calls=[call])
    why = f"the reference was told as {', '.join(told)} in turn 3; it is ABCD1234"
    assert only(strict(conversation(HOTEL, *FINDS, WANTS, books))) == (False, True, (why,))


def test_a_new_booking_needs_its_own_reference() -> None:
    slots = {"day": "monday", "people": "2", "stay": "3"}
    again = booked("hotel", 0, "EFGH5678", **slots)
    stale = system("Booking-Book|Ref|ABCD1234", calls=[again])
    assert not strict(conversation(HOTEL, *FINDS, WANTS, BOOKS, WANTS, stale)).success
    fresh = system("Booking-Book|Ref|EFGH5678", calls=[again])
    assert strict(conversation(HOTEL, *FINDS, WANTS, BOOKS, WANTS, fresh)).success


def test_two_bookings_in_one_turn_are_told_apart_by_their_references() -> None:
    two = {**HOTEL, "restaurant": Task(info={"food": "chinese"}, book={"people": "2"})}
    calls = [
        booked("hotel", 0, "HOTEL123", day="monday", people="2", stay="3"),
        booked("restaurant", 0, "TABLE123", people="2"),
    ]
    both = system("Booking-Book|Ref|HOTEL123", "Booking-Book|Ref|TABLE123", calls=calls)
    verdict = strict(conversation(two, *FINDS, WANTS, both))
    assert verdict.tasks["hotel"].success
    assert not any("reference" in why for why in verdict.tasks["restaurant"].why)


def test_a_reference_that_was_asked_for_is_answered_by_telling_it() -> None:
    asked = {"hotel": Task(info=HOTEL["hotel"].info, book=HOTEL["hotel"].book, requests=("Ref",))}
    verdict = strict(conversation(asked, *FINDS, WANTS, BOOKS))
    assert (verdict.success, verdict.recall) == (True, 1.0)


TWO_STEPS = {
    "hotel": Task(
        info={"area": "north"},
        fail_info={"area": "west"},
        book={"day": "monday", "people": "2", "stay": "3"},
        fail_book={"day": "monday", "people": "2", "stay": "5"},
    )
}
DETOUR = (
    user("Hotel-Inform|area|west"),
    system("Hotel-NoOffer|area|west", calls=[searched("hotel", area="west")]),
    *FINDS,
    user("Hotel-Inform|day|monday", "Hotel-Inform|people|2", "Hotel-Inform|stay|5"),
    system("Booking-NoBook|stay|5", calls=[refused("hotel", 0, day="monday", people="2", stay="5")]),
    user("Hotel-Inform|stay|3"),
    BOOKS,
)


def test_detours_are_walked() -> None:
    task = strict(conversation(TWO_STEPS, *DETOUR)).tasks["hotel"]
    assert (task.success, task.detours, task.retried, task.attempts, task.fixed) == (True, 2, 2, 2, True)


def test_a_refusal_after_the_booking_was_not_mended() -> None:
    task = strict(conversation(TWO_STEPS, *FINDS, WANTS, BOOKS, *DETOUR[4:6])).tasks["hotel"]
    assert (task.success, task.booked, task.attempts, task.fixed) == (True, True, 2, False)


def test_detours_that_are_not_walked() -> None:
    straight = strict(conversation(TWO_STEPS, *FINDS, WANTS, BOOKS)).tasks["hotel"]
    assert (straight.success, straight.detours, straight.retried, straight.fixed) == (True, 2, 0, False)
    unrefused = strict(conversation(TWO_STEPS, DETOUR[0], system("general-reqmore"), *FINDS, WANTS, BOOKS)).tasks[
        "hotel"
    ]
    assert unrefused.retried == 0
    unstated = strict(conversation(TWO_STEPS, user("Hotel-Inform|area|south"), DETOUR[1], *FINDS, WANTS, BOOKS))
    assert unstated.tasks["hotel"].retried == 0
    unrevised = strict(conversation(TWO_STEPS, *DETOUR[:6])).tasks["hotel"]
    assert (unrevised.retried, unrevised.fixed) == (1, False)
    assert unrevised.why == ("not booked (refused in turn 5)",)


# Trains share ids


TRAIN = {"train": Task(info={"departure": "ely", "destination": "cambridge", "day": "sunday", "leaveAt": "20:00"})}
RIDES = user(
    "Train-Inform|departure|ely",
    "Train-Inform|destination|cambridge",
    "Train-Inform|day|sunday",
    "Train-Inform|leaveAt|20:00",
)


def test_an_id_means_the_train_that_fits_what_was_said_of_it() -> None:
    assert strict(conversation(TRAIN, RIDES, system("Train-Inform|trainID|TR1"))).tasks["train"].row == 1
    other = system("Train-Inform|trainID|TR1", "Train-Inform|leaveAt|09:50")
    assert strict(conversation(TRAIN, RIDES, other)).tasks["train"].row == 0
    monday = searched("train", departure="cambridge", destination="ely", day="monday")
    verdict = strict(conversation(TRAIN, RIDES, system("Train-Inform|trainID|TR1", calls=[monday])))
    assert verdict.tasks["train"].row == 0
    assert not verdict.success


def test_the_price_of_all_tickets_is_true_of_a_booking() -> None:
    ride = {"train": Task(info=TRAIN["train"].info, book={"people": "2"})}
    call = Call(
        name="book", domain="train", arguments={"people": "2"}, rows=(1,),
        result='{"Ref": "TRAIN123", "total": "8.80 pounds"}',
    )  # fmt: skip
    said = ("Train-OfferBooked|trainID|TR1", "Train-OfferBooked|Ref|TRAIN123")
    for price, true in (("8.80 pounds", 3), ("9.90 pounds", 2)):
        books = system(*said, f"Train-OfferBooked|price|{price}", calls=[call])
        verdict = strict(conversation(ride, RIDES, system("general-reqmore"), user("Train-Inform|people|2"), books))
        assert (verdict.success, verdict.asserted, verdict.true) == (True, 3, true)
    asked = {"train": Task(info=TRAIN["train"].info, book={"people": "2"}, requests=("price",))}
    tells = system("Train-Inform|trainID|TR1", "Train-Inform|price|4.40 pounds")
    books = system("Train-OfferBooked|Ref|TRAIN123", "Train-OfferBooked|price|8.80 pounds", calls=[call])
    assert strict(conversation(asked, RIDES, tells, user("Train-Inform|people|2"), books)).success


# Taxis


RIDE = {
    "hotel": Task(info={"area": "north"}),
    "restaurant": Task(info={"food": "chinese"}),
    "taxi": Task(info={"leaveAt": "17:15"}, requests=("car type", "phone")),
}
MESSAGE = (
    "You want a hotel",
    "You want a restaurant",
    "You also want a taxi between the two places. You want to leave the restaurant by 17:15",
)
BOTH = (
    user("Hotel-Inform|area|north", "Restaurant-Inform|food|chinese"),
    system("Hotel-Inform|name|acorn guest house", "Restaurant-Inform|name|yu garden"),
)


def ride(**wanted: str) -> Dialogue:
    sent = system("Taxi-Inform|car type|black ford", "Taxi-Inform|phone|07123456789", calls=[taxi(**wanted)])
    return conversation(RIDE, *BOTH, user("Taxi-Inform|leaveAt|17:15"), sent, message=MESSAGE)


def test_a_taxi_goes_between_what_the_user_settled_on() -> None:
    right = {"departure": "yu garden", "destination": "the acorn guest house", "leaveAt": "17:15"}
    verdict = strict(ride(**right))
    assert verdict.success and verdict.tasks["taxi"].entity == "black ford"
    assert not strict(ride(**{**right, "destination": "acorn"})).success
    assert strict(ride(**{**right, "departure": "garden"})).tasks["taxi"].why == (
        "the taxi of turn 3 has departure garden, wanted yu garden",
    )
    swapped = ride(departure="acorn guest house", destination="yu garden", leaveAt="17:15")
    assert strict(swapped).tasks["taxi"].matched is False
    late = strict(ride(**{**right, "leaveAt": "17:30"})).tasks["taxi"]
    assert late.why == ("the taxi of turn 3 has leaveAt 17:30, wanted 17:15",)


def test_a_taxi_must_be_sent_and_told_truly() -> None:
    claims = system("Taxi-Inform|car type|black ford", "Taxi-Inform|phone|07123456789")
    talk = conversation(RIDE, *BOTH, user("Taxi-Inform|leaveAt|17:15"), claims, message=MESSAGE)
    task = strict(talk).tasks["taxi"]
    assert task.why[0] == "no taxi was sent"
    assert task.answered == 0
    right = {"departure": "yu garden", "destination": "acorn guest house", "leaveAt": "17:15"}
    wrong = system("Taxi-Inform|car type|red tesla", "Taxi-Inform|phone|07123456789", calls=[taxi(**right)])
    told = strict(conversation(RIDE, *BOTH, user("Taxi-Inform|leaveAt|17:15"), wrong, message=MESSAGE)).tasks["taxi"]
    assert (told.matched, told.answered, told.success) == (True, 1, False)


def test_a_link_to_nothing_fails() -> None:
    sent = system(calls=[taxi(departure="yu garden", destination="acorn guest house", leaveAt="17:15")])
    talk = conversation(RIDE, BOTH[0], system("Restaurant-Inform|name|yu garden"), user(), sent, message=MESSAGE)
    assert "destination is to be the hotel, and the user has none" in strict(talk).tasks["taxi"].why


# Records


def test_success_needs_every_task() -> None:
    two = {**THEATRE, "hotel": Task(info={"area": "north"})}
    verdict = strict(conversation(two, ASKS, NAMES, ASKS_FEE, TELLS_FEE))
    assert (verdict.success, verdict.tasks["attraction"].success, verdict.tasks["hotel"].success) == (
        False,
        True,
        False,
    )


def test_goals_that_nothing_satisfies_are_marked() -> None:
    impossible = {"attraction": Task(info={"type": "boat"})}
    assert strict(conversation(impossible, ASKS, NAMES)).satisfiable is False
    assert strict(conversation(THEATRE, ASKS, NAMES)).satisfiable is True


def test_words_without_acts_count_as_they_were_heard() -> None:
    talk = conversation(THEATRE, ASKS, NAMES, ASKS_FEE, TELLS_FEE)
    wordy = [Turn(speaker=turn.speaker, text="...", heard=turn.heard, calls=turn.calls) for turn in talk.turns]
    spoken = Dialogue(id=talk.id, turns=tuple(wordy), goal=talk.goal, outcome=talk.outcome)
    assert strict(spoken) == strict(talk)


def test_records_that_cannot_be_judged_say_why() -> None:
    fine = conversation(THEATRE, ASKS, NAMES)
    aimless = Dialogue(id="A", turns=fine.turns)
    foreign = conversation({"bus": Task(info={"day": "monday"})}, ASKS, name="B")
    elsewhere = conversation(HOTEL, *FINDS, WANTS, system(calls=[booked("hotel", 99)]), name="C")
    judged = judge_outcomes([fine, aimless, foreign, elsewhere], SEARCH)
    assert len(judged) == 1
    assert judged.unjudged["A"] == "the record has no goal"
    assert "the town has no domain 'bus'" in judged.unjudged["B"]
    assert judged.unjudged["C"].startswith("the record has a booking of row 99 of hotel, and the database has 2")


def test_without_calls_nobody_knows_what_was_booked() -> None:
    talk = conversation(THEATRE, ASKS, NAMES, outcome=Outcome(success=None))
    silent = Dialogue(
        id=talk.id, goal=talk.goal, turns=tuple(Turn(speaker=one.speaker, acts=one.acts) for one in talk.turns)
    )
    assert judge_outcomes([silent], SEARCH)[talk.id].strict is None
    assert judge_outcomes([silent], SEARCH, calls_recorded=True)[talk.id].strict is not None


@pytest.mark.parametrize(("name", "goal"), [("A#2", "A"), ("A", "A"), ("A#b", "A#b"), ("A#1#3", "A#1")])
def test_trials_share_their_goal(name: str, goal: str) -> None:
    assert goal_of(name) == goal
