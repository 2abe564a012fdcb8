"""What users end up with, rule by rule: each conversation differs from one that succeeds in one thing."""

from __future__ import annotations

import pytest

from dialgauge.dialogue import Act, Call, Dialogue, Outcome, Task, Turn
from dialgauge.tasks import judge_outcomes
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


BOOKING = {"day": "monday", "people": "2", "stay": "3"}
SEES = (ASKS, NAMES, ASKS_FEE)
NAMED = {"attraction": Task(info=THEATRE["attraction"].info, requests=("entrance fee", "name"))}
POOL = {"attraction": Task(info={"type": "swimmingpool"}, requests=("entrance fee",))}
SEES_POOL = (user("Attraction-Inform|type|swimmingpool"), system("Attraction-Inform|name|jesus green"))
UNKNOWN_FEE = system("Attraction-Inform|entrance fee|unknown")
SEES_THEATRE = (user("Attraction-Inform|type|theatre"), NAMES, ASKS_FEE, UNKNOWN_FEE)
OTHER = system("Attraction-Recommend|name|mumford theatre", "Attraction-Recommend|entrance fee|free")
SEES_OTHER = (user("Attraction-Inform|type|theatre"), OTHER, user("Attraction-Inform|area|centre"), NAMES)
NOTHING = "Attraction-NoOffer|area|centre"
CHOICE = system("Attraction-Select|name|adc theatre", "Attraction-Select|name|mumford theatre")
PICKS = user("Attraction-Inform|name|adc theatre")
SILENT = system("Booking-Book|name|acorn guest house", calls=[booked("hotel", 0, **BOOKING)])
AGAIN = booked("hotel", 0, "EFGH5678", **BOOKING)
#: Conversations, each with the reasons why its task failed; none where it was done.
CASES: dict[str, tuple[dict[str, Task], tuple[Turn, ...], tuple[str, ...]]] = {
    "done": (THEATRE, (*SEES, TELLS_FEE), ()),
    "a value must be true": (
        THEATRE, (*SEES, system("Attraction-Inform|entrance fee|5 pounds")),
        ("entrance fee was told as 5 pounds in turn 3; it is 4 pounds",),
    ),
    "a lie that was mended": (
        THEATRE, (*SEES, system("Attraction-Inform|entrance fee|5 pounds"), ASKS_FEE, TELLS_FEE), (),
    ),
    "a request must be answered": (
        THEATRE, (*SEES, system("general-reqmore")), ("entrance fee was never told",),
    ),
    "unknown where the database has none": (POOL, (*SEES_POOL, ASKS_FEE, UNKNOWN_FEE), ()),
    "a value where the database has none": (
        POOL, (*SEES_POOL, ASKS_FEE, system("Attraction-Inform|entrance fee|free")),
        ("entrance fee was told as free in turn 3; it is unknown",),
    ),
    "unknown where the database has a value": (
        THEATRE, (*SEES, UNKNOWN_FEE), ("entrance fee was told as unknown in turn 3; it is 4 pounds",),
    ),
    "told of another row": (
        THEATRE, SEES_OTHER, ("entrance fee was told as free in turn 1; it is 4 pounds",),
    ),
    "told of another row, then of this": (THEATRE, (*SEES_OTHER, ASKS_FEE, TELLS_FEE), ()),
    "each of two rows with its own value": (
        NAMED, (ASKS, system("Attraction-Inform|name|mumford theatre", "Attraction-Inform|entrance fee|free",
                             "Attraction-Inform|name|adc theatre", *ADC_FEE)), (),
    ),
    "a name that was invented": (
        NAMED, (ASKS, system("Attraction-Inform|name|adc theatre", "Attraction-Inform|name|moon palace", *ADC_FEE)),
        ("name was told as adc theatre, moon palace in turn 1; it is adc theatre",),
    ),
    "unknown of another row": (
        POOL, (*SEES_THEATRE, *SEES_POOL),
        ("entrance fee was told as unknown in turn 3, of adc theatre and not of jesus green",),
    ),
    "unknown of no row": (
        POOL, (ASKS_FEE, UNKNOWN_FEE, *SEES_POOL),
        ("entrance fee was told as unknown in turn 1, of nothing and not of jesus green",),
    ),
    "unknown of another row, then of this": (POOL, (*SEES_THEATRE, *SEES_POOL, ASKS_FEE, UNKNOWN_FEE), ()),
    "every constraint must hold": (
        THEATRE, (ASKS, OTHER), ("mumford theatre (since turn 1) has area east, wanted centre",),
    ),
    "turned down by the user": (
        THEATRE, (*SEES, TELLS_FEE, user("Attraction-Inform|area|east")),
        ("adc theatre was turned down in turn 4: the user asked for area east",
         "entrance fee was told in turn 3, of nothing that the user has"),
    ),
    "taken back by the system": (
        THEATRE, (*SEES, TELLS_FEE, ASKS, system(NOTHING)),
        ("adc theatre was given up in turn 5: the system said that there is none",
         "entrance fee was told in turn 3, of nothing that the user has"),
    ),
    "taken back and named again": (
        THEATRE, (*SEES, TELLS_FEE, ASKS, system(NOTHING, "Attraction-Inform|name|adc theatre")), (),
    ),
    "rows to choose from": (
        THEATRE, (ASKS, CHOICE, ASKS_FEE, TELLS_FEE),
        ("nothing was named", "entrance fee was told in turn 3, of nothing that the user has"),
    ),
    "chosen by the user": (THEATRE, (ASKS, CHOICE, PICKS, TELLS_FEE), ()),
    "asked for and never spoken of": (
        {"attraction": Task(info={"name": "adc theatre"})}, (PICKS, system("general-reqmore")), ("nothing was named",),
    ),
    "booked": (HOTEL, (*FINDS, WANTS, BOOKS), ()),
    "booked in words alone": (
        HOTEL, (*FINDS, WANTS, system("Booking-Book|name|acorn guest house", "Booking-Book|Ref|ZZZZ9999")),
        ("not booked: it was never tried",),
    ),
    "booked again, right at last": (
        HOTEL, (*FINDS, WANTS, system("Booking-Book|Ref|EFGH5678", calls=[booked("hotel", 1, "EFGH5678", **BOOKING)]),
                WANTS, BOOKS), (),
    ),
    "booked, the reference never told": (
        HOTEL, (*FINDS, WANTS, SILENT), ("the reference ABCD1234 of the booking of turn 3 was never told",),
    ),
    "booked, the reference told when asked": (
        HOTEL, (*FINDS, WANTS, SILENT, user("Hotel-Request|Ref|?"), system("Hotel-Inform|Ref|ABCD1234")), (),
    ),
    "booked, the reference told before": (
        HOTEL, (*FINDS, WANTS, system("Booking-Book|Ref|ABCD1234"), WANTS, SILENT),
        ("the reference ABCD1234 of the booking of turn 5 was never told",),
    ),
    "booked again with its own reference": (
        HOTEL, (*FINDS, WANTS, BOOKS, WANTS, system("Booking-Book|Ref|EFGH5678", calls=[AGAIN])), (),
    ),
    "booked again with the old reference": (
        HOTEL, (*FINDS, WANTS, BOOKS, WANTS, system("Booking-Book|Ref|ABCD1234", calls=[AGAIN])),
        ("the reference was told as ABCD1234 in turn 5; it is EFGH5678",),
    ),
    **{
        f"the reference told as {' and '.join(told)}": (
            HOTEL, (*FINDS, WANTS, system(*(f"Booking-Book|Ref|{each}" for each in told),
                                          calls=[booked("hotel", 0, **BOOKING)])),
            (f"the reference was told as {', '.join(told)} in turn 3; it is ABCD1234",),
        )
        for told in (("ZZZZ9999",), ("ABCD1234", "ZZZZ9999"), ("ZZZZ9999", "ABCD1234"))
    },
    **{
        f"booked with another {slot}": (
            HOTEL, (*FINDS, WANTS, system("Booking-Book|Ref|ABCD1234",
                                          calls=[booked("hotel", 0, **BOOKING | {slot: "7"})])),
            (f"booked in turn 3 with {slot} 7, wanted {BOOKING[slot]}",),
        )
        for slot in BOOKING
    },
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_why_a_task_failed(case: str) -> None:
    tasks, turns, why = CASES[case]
    verdict = strict(conversation(tasks, *turns))
    [task] = verdict.tasks.values()
    assert (task.why, task.success, verdict.success) == (why, not why, not why)


def test_what_is_known_of_a_task_that_is_done() -> None:
    verdict = strict(conversation(THEATRE, *SEES, TELLS_FEE))
    task = verdict.tasks["attraction"]
    assert (task.row, task.entity, task.turn, task.requests, task.answered) == (1, "adc theatre", 1, 1, 1)
    assert (verdict.recall, verdict.precision, verdict.f1) == (1.0, 1.0, 1.0)
    wrong = strict(conversation(THEATRE, *SEES, system("Attraction-Inform|entrance fee|5 pounds")))
    assert (wrong.recall, wrong.precision, wrong.f1) == (0.0, 0.5, 0.0)
    hotel = strict(conversation(HOTEL, *FINDS, WANTS, BOOKS)).tasks["hotel"]
    assert (hotel.matched, hotel.booked, hotel.attempts, hotel.fixed, hotel.turn) == (True, True, 1, None, 3)


@pytest.mark.parametrize("told", [("5 pounds", "4 pounds"), ("4 pounds", "5 pounds")])
def test_a_lie_beside_the_truth_is_no_answer(told: tuple[str, str]) -> None:
    one_act = Turn(
        speaker="system",
        acts=(Act(name="Attraction-Inform", domain="attraction", slot="entrance fee", values=told),),
        calls=(),
    )
    two_acts = system(*(f"Attraction-Inform|entrance fee|{fee}" for fee in told))
    for tells in (one_act, two_acts):
        verdict = strict(conversation(THEATRE, *SEES, tells))
        why = f"entrance fee was told as {told[0]}, {told[1]} in turn 3; it is 4 pounds"
        assert (verdict.tasks["attraction"].why, verdict.recall) == ((why,), 0.0)


def test_precision_counts_what_is_false() -> None:
    said = ("Attraction-Inform|choice|9", "Attraction-Recommend|name|adc theatre", "Attraction-Recommend|area|east",
            "Attraction-Recommend|type|theatre", "Attraction-Recommend|entrance fee|4 pounds")  # fmt: skip
    verdict = strict(conversation(THEATRE, ASKS, system(*said)))
    assert (verdict.asserted, verdict.true, verdict.success) == (4, 3, True)
    invented = strict(conversation(THEATRE, ASKS, system("Attraction-Recommend|name|moon palace")))
    assert (invented.asserted, invented.true) == (1, 0)


def test_what_is_booked_counts_not_what_was_named() -> None:
    other = system("Booking-Book|Ref|ABCD1234", calls=[booked("hotel", 1, **BOOKING)])
    task = strict(conversation(HOTEL, *FINDS, WANTS, other)).tasks["hotel"]
    assert (task.success, task.matched, task.entity, task.booked) == (False, False, "cityroomz", False)


def test_two_bookings_in_one_turn_are_told_apart_by_their_references() -> None:
    two = {**HOTEL, "restaurant": Task(info={"food": "chinese"}, book={"people": "2"})}
    calls = [booked("hotel", 0, "HOTEL123", **BOOKING), booked("restaurant", 0, "TABLE123", people="2")]
    both = system("Booking-Book|Ref|HOTEL123", "Booking-Book|Ref|TABLE123", calls=calls)
    verdict = strict(conversation(two, *FINDS, WANTS, both))
    assert verdict.tasks["hotel"].success
    assert not any("reference" in why for why in verdict.tasks["restaurant"].why)


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
