"""Scores of recorded conversations: values, intervals over goals, pass^k, tables, and laws that hold for any record."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

from dialgauge.agents import AGENT_ERROR, BROKEN_ENDS, EXPLANATION
from dialgauge.dialogue import Dialogue, Outcome, SideUsage, Task, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Scores, Signature
from dialgauge.runs import new_run
from dialgauge.tasks import (
    ACTS_READ,
    judge_outcomes,
    outcome_frames,
    score_outcomes,
)
from dialgauge.worlds.domain import Failures, act
from support.recorded import SEARCH, booked, conversation, system, user
from support.soak import examples
from support.town import SYSTEM_ACTS, USER_ACTS

THEATRE = {"attraction": Task(info={"type": "theatre", "area": "centre"}, requests=("entrance fee",))}
ASKS = user("Attraction-Inform|type|theatre", "Attraction-Inform|area|centre")
TELLS = system("Attraction-Recommend|name|adc theatre", "Attraction-Inform|entrance fee|4 pounds", calls=())


def good(name: str) -> Dialogue:
    return conversation(THEATRE, ASKS, TELLS, name=name)


def bad(name: str) -> Dialogue:
    outcome = Outcome(success=False, reason="limit", usage={"agent": SideUsage(seconds=2)})
    return conversation(THEATRE, ASKS, system("general-reqmore"), name=name, outcome=outcome)


def trials(**verdicts: str) -> list[Dialogue]:
    """Trials of goals: a text such as ``+-+`` for each."""
    return [
        (good if mark == "+" else bad)(f"{goal}#{number}")
        for goal, marks in verdicts.items()
        for number, mark in enumerate(marks, 1)
    ]


def scored(dialogues: list[Dialogue], *, failures: Failures = "live", **options: Any) -> Scores:
    return score_outcomes(judge_outcomes(dialogues, SEARCH, failures=failures), **options)


def values(dialogues: list[Dialogue]) -> dict[str, float | None]:
    return {name: score.value for name, score in scored(dialogues, resamples=0).scores.items()}


def test_both_rule_sets_are_scored() -> None:
    scores = values([good("A"), good("B"), bad("C")])
    for rules in ("strict", "compat"):
        assert scores[f"Success(rules={rules})"] == pytest.approx(2 / 3)
        assert scores[f"Success(rules={rules})[attraction]"] == pytest.approx(2 / 3)
        assert scores[f"InformRecall(rules={rules})"] == pytest.approx(2 / 3)
        assert scores[f"pass^1(rules={rules})"] == pytest.approx(2 / 3)
    assert scores["Complete"] == pytest.approx(2 / 3)
    assert scores["Exchanges"] == 2
    assert scores["HeardF1"] == scores["HeardF1(listener=user)"] == 1
    assert scores["Book(rules=strict)"] is None


def test_goals_that_nothing_satisfies_are_left_out_of_one_measure() -> None:
    impossible = conversation({"attraction": Task(info={"type": "boat"})}, ASKS, TELLS, name="B")
    scores = values([good("A"), impossible])
    assert (scores["Success(rules=strict)"], scores["SuccessOfSatisfiable"]) == (0.5, 1.0)


@pytest.mark.parametrize(
    "tasks",
    [{"taxi": Task(info={"leaveAt": "12:00"})}, {"hotel": Task(info={"area": "north"}, book={"people": "none"})}],
)
def test_goals_that_cannot_be_pursued_are_left_out_like_those_that_nothing_satisfies(tasks: dict[str, Task]) -> None:
    scores = values([good("A"), conversation(tasks, ASKS, TELLS, name="B")])
    assert (scores["Success(rules=strict)"], scores["SuccessOfSatisfiable"]) == (0.5, 1.0)


def test_intervals_resample_goals() -> None:
    """Four trials that all say the same tell no more than one."""
    single = [good(f"G{n}") if n % 3 else bad(f"G{n}") for n in range(60)]
    fourfold = trials(**{f"G{n}": "++++" if n % 3 else "----" for n in range(60)})
    one, four = (scored(talks, seed=1) for talks in (single, fourfold))
    for name in ("Success(rules=strict)", "pass^1(rules=compat)", "Complete"):
        assert (one[name].value, one[name].low, one[name].high) == pytest.approx(
            (four[name].value, four[name].low, four[name].high)
        )
        low, value, high = one[name].low, one[name].value, one[name].high
        assert low is not None and value is not None and high is not None and 0 <= low < value < high <= 1
    assert len(four.dialogues) == 240 and len(four.sums["Success(rules=strict)"][0]) == 240


def test_signatures_say_what_decides_a_score() -> None:
    scores = scored([good("A")], failures="paper", signature=Signature(level="act"), resamples=10)
    signed = Signature.parse(scores["Success(rules=compat)"].signature)
    assert signed["measure"] == "Success(rules=compat)"
    assert (signed["failures"], signed["level"], signed["dialogues"]) == ("paper", "act", "1")
    assert signed["database"] == SEARCH.domain.checksum
    other = conversation({"attraction": Task(info={"area": "east"})}, ASKS, TELLS, name="A")
    assert scored([other], resamples=0).signature["goals"] != signed["goals"]


def test_coverage_tells_what_could_not_be_judged() -> None:
    aimless = Dialogue(id="B", turns=good("B").turns)
    count = scored([good("A"), aimless], resamples=0).coverage["dialogues"]
    assert (count.expected, count.scored, count.failed, count.complete) == (2, 1, 1, False)


def failing(name: str, reason: str, ended_by: str) -> Dialogue:
    outcome = Outcome(success=None, reason=reason, ended_by=ended_by, facts={EXPLANATION: "it raised"})
    return conversation(THEATRE, ASKS, system("general-reqmore"), name=name, outcome=outcome)


@pytest.mark.parametrize("reason", [AGENT_ERROR])
def test_a_user_that_fails_says_nothing_about_the_system(reason: str) -> None:
    talks = [good("A"), failing("B", reason, "user")]
    judged = judge_outcomes(talks, SEARCH)
    assert judged.unjudged == {"B": "the user failed: it raised"}
    scores = score_outcomes(judged, resamples=0)
    count = scores.coverage["dialogues"]
    assert (count.expected, count.scored, count.failed, count.complete) == (2, 1, 1, False)
    for rules in ("strict", "compat"):
        assert scores[f"Success(rules={rules})"].value == 1.0
    broken = scored([good("A"), failing("B", reason, "system")], resamples=0)
    assert broken["Success(rules=strict)"].value == 0.5
    assert not broken.coverage.complete and broken.coverage["dialogues"].failed == 1, "it is told all the same"


@pytest.mark.parametrize("reason", [AGENT_ERROR, *BROKEN_ENDS])
@pytest.mark.parametrize("ended_by", ["user", "system"])
def test_an_agents_own_error_fails_and_what_infrastructure_broke_is_left_out(reason: str, ended_by: str) -> None:
    """Also where all was done before it broke."""
    done = replace(good("B"), outcome=Outcome(success=None, reason=reason, ended_by=ended_by))
    talks = [good("A"), done, failing("C", reason, ended_by)]
    judged = judge_outcomes(talks, SEARCH, calls_recorded=True)
    fails = (reason, ended_by) == (AGENT_ERROR, "system")
    assert list(judged.unjudged) == ([] if fails else ["B", "C"])
    scores = score_outcomes(judged, resamples=0)
    for rules in ("strict", "compat"):
        assert scores[f"Success(rules={rules})"].value == pytest.approx(1 / 3 if fails else 1.0)
    assert scores.coverage["dialogues"].failed == 2


def test_without_calls_strict_is_left_out_with_the_reason() -> None:
    bare = [
        Dialogue(
            id=one.id, goal=one.goal, turns=tuple(Turn(speaker=turn.speaker, acts=turn.acts) for turn in one.turns)
        )
        for one in (good("A"), good("B"))
    ]
    scores = scored(bare, resamples=0)
    assert scores["Success(rules=compat)"].value == 1.0
    with pytest.raises(DialgaugeError, match="the records do not say what the system called"):
        scores["Success(rules=strict)"]


def test_without_acts_of_the_systems_own_compat_is_left_out_with_the_reason() -> None:
    read = Outcome(success=None, facts={ACTS_READ: "read"})
    texts = [Dialogue(id=one.id, goal=one.goal, turns=one.turns, outcome=read) for one in (good("A"), good("B"))]
    scores = scored(texts, resamples=0)
    assert scores["Success(rules=strict)"].value == 1.0
    with pytest.raises(DialgaugeError, match="needs acts"):
        scores["Success(rules=compat)"]


def test_frames_hold_verdicts_and_calls() -> None:
    slots = {"day": "monday", "people": "2", "stay": "3"}
    books = system("Booking-Book|Ref|ABCD1234", calls=[booked("hotel", 0, **slots)])
    hotel = {"hotel": Task(info={"area": "north"}, book=slots)}
    judged = judge_outcomes([conversation(hotel, user("Hotel-Inform|area|north"), books)], SEARCH)
    run = new_run(kind="lab", name="one", tables=outcome_frames(judged))
    outcomes, calls = run.table("outcomes"), run.table("calls")
    assert outcomes.columns[:5] == ["dialogue", "domain", "rule", "success", "entity"]
    assert outcomes["rule"].to_list() == ["strict", "compat"] and outcomes["success"].to_list() == [True, True]
    call = calls.row(0, named=True)
    assert (call["dialogue"], call["turn"], call["name"], call["outcome"]) == ("MUL0001", 1, "book", "done")
    assert msgspec.json.decode(call["arguments"]) == slots
    frames = outcome_frames(judge_outcomes([], SEARCH))
    empty = new_run(kind="lab", name="none", tables=frames)
    assert [empty.table(name).height for name in frames] == [0, 0, 0, 0, 0]


# Laws


VALUES = ("north", "centre", "theatre", "adc theatre", "acorn guest house", "cityroomz", "TR1", "09:50", "ely",
          "dontcare", "unknown", "?", "2", "monday", "soon", "ABCD1234", "free", "4 pounds")  # fmt: skip


def any_acts(inventory: dict[str, tuple[str, ...]]) -> st.SearchStrategy[Any]:
    pairs = [(name, slot) for name, slots in inventory.items() for slot in slots]
    one = st.builds(
        lambda pair, value: act(*pair, value if pair[1] else ""), st.sampled_from(pairs), st.sampled_from(VALUES)
    )
    return st.lists(one, max_size=5).map(tuple)


CALLS = st.lists(
    st.sampled_from(
        [booked("hotel", 0, day="monday", people="2", stay="3"), booked("hotel", 1), booked("train", 1, people="2")]
    ),
    max_size=1,
).map(tuple)
EXCHANGES = st.lists(
    st.tuples(
        st.builds(Turn, speaker=st.just("user"), acts=any_acts(USER_ACTS), heard=any_acts(USER_ACTS)),
        st.builds(
            Turn, speaker=st.just("system"), acts=any_acts(SYSTEM_ACTS), heard=any_acts(SYSTEM_ACTS), calls=CALLS
        ),
    ),
    max_size=5,
)
GOAL = {
    "hotel": Task(info={"area": "north"}, book={"day": "monday", "people": "2", "stay": "3"}),
    "attraction": THEATRE["attraction"],
    "train": Task(info={"day": "monday", "leaveAt": "09:00"}, requests=("price",)),
}


@settings(max_examples=examples(150))
@given(exchanges=EXCHANGES)
def test_laws_of_any_record(exchanges: list[tuple[Turn, Turn]]) -> None:
    talk = conversation(GOAL, *(turn for exchange in exchanges for turn in exchange))
    judged = judge_outcomes([talk], SEARCH, calls_recorded=True)
    one = judged[talk.id]
    assert one.strict is not None
    assert one.strict.success == all(task.success for task in one.strict.tasks.values())
    for task in one.strict.tasks.values():
        assert not task.success or (task.matched and task.booked is not False and task.answered == task.requests)
        assert not task.booked or (task.matched and task.attempts)
        assert task.success == (not task.why)
        assert task.retried <= task.detours and task.answered <= task.requests
    assert one.strict.true <= one.strict.asserted
    assert one.compat is not None
    assert not one.compat.success or (one.compat.book in (None, 1.0) and one.compat.recall in (None, 1.0))
    scores = score_outcomes(judged, resamples=0)
    for name, score in scores.scores.items():
        if score.value is not None and score.unit == "share":
            assert 0 <= score.value <= 1, name
    again = judge_outcomes([talk], SEARCH, calls_recorded=True)[talk.id]
    assert (again.strict, again.compat, again.conduct) == (one.strict, one.compat, one.conduct)


# Real goals
