"""How conversations went: lengths, repetitions, and what was heard for what."""

from __future__ import annotations

import json

from dialgauge.dialogue import Dialogue, Outcome, SideUsage, Task
from dialgauge.runs import new_run
from dialgauge.tasks import ConversationCounts, judge_outcomes, outcome_frames
from dialgauge.tasks.recordings.conduct import HeardActs, HeardAs, conduct
from support.recorded import SEARCH, acts, conversation, system, user

TASKS = {"hotel": Task(info={"area": "north"})}
AREA, PHONE = "Hotel-Inform|area|north", "Hotel-Request|phone|?"


def counted(dialogue: Dialogue) -> ConversationCounts:
    return conduct(dialogue, HeardActs())


def test_runs_are_of_the_same_acts_in_any_order() -> None:
    same = (user(AREA, PHONE), system(), user(PHONE, AREA), system())
    assert counted(conversation(TASKS, *same)).longest_run == 2
    assert counted(conversation(TASKS, *same, user(AREA), system(), *same)).longest_run == 2
    assert counted(conversation(TASKS, *same, *same)).longest_run == 4


def test_how_it_ended_and_what_it_cost() -> None:
    used = {"agent": SideUsage(seconds=1.5), "user": SideUsage(tokens_in=12)}
    one = conversation(TASKS, outcome=Outcome(success=False, reason="limit", usage=used))
    run = new_run(kind="lab", name="one", tables=outcome_frames(judge_outcomes([one], SEARCH)))
    row = run.table("conversations").row(0, named=True)
    assert (row["reason"], row["complete"]) == ("limit", False)
    assert json.loads(row["usage"]) == {"system seconds": 1.5, "user tokens_in": 12.0}
    assert counted(Dialogue(id="A", turns=())).longest_run == 0


def test_what_was_heard_for_what() -> None:
    understanding = HeardActs()
    said = acts("Booking-Book|Ref|ABC", "Hotel-Inform|name|acorn", "Hotel-Inform|phone|01", "general-reqmore")
    heard = acts("Train-OfferBooked|Ref|ABC", "Hotel-Inform|name|oak", "Hotel-Request|area|?", "general-reqmore")
    hearing = understanding.note("user", said, heard)
    assert (hearing.said, hearing.heard, hearing.right) == (4, 4, 1)
    assert understanding.counts == {
        HeardAs("user", "general-reqmore", "general-reqmore", True): 1,
        HeardAs("user", "Booking-Book Ref", "Train-OfferBooked Ref", False): 1,
        HeardAs("user", "Hotel-Inform name", "Hotel-Inform name", False): 1,
        HeardAs("user", "Hotel-Inform phone", "", False): 1,
        HeardAs("user", "", "Hotel-Request area", False): 1,
    }


def test_values_are_compared_in_one_form_and_one_by_one() -> None:
    understanding = HeardActs()
    said = acts("Hotel-Inform|name|The Acorn Guest House")
    assert understanding.note("user", said, acts("Hotel-Inform|name|acorn guest house")).right == 1
    twice = acts("Hotel-Inform|area|north", "Hotel-Inform|area|north")
    assert understanding.note("system", twice, acts("Hotel-Inform|area|north")).right == 1


def test_turns_that_do_not_record_both_sides_are_left_out() -> None:
    understanding = HeardActs()
    deaf = user(AREA, heard=())
    one = conduct(conversation(TASKS, deaf, system("general-reqmore")), understanding)
    assert (one.hearing["system"].said, one.hearing["system"].right) == (2, 1)
    assert (one.hearing["user"].said, one.hearing["user"].right) == (2, 2)
