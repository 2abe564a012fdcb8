"""Whose fault a failed conversation was: validated where the truth is known, and on records made for the purpose."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from blame_confusion import blame_confusion
from fault_injection import INJECTED_FAULTS, InjectedFault, injected_conversations

from dialgauge.agents import Limits, Reply
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.lab import (
    AgentSpec,
    ConversationBlame,
    LabConfig,
    LoadedDomain,
    blame_conversations,
    hold_conversations,
    open_domain,
    run_lab,
    scored_run,
)
from dialgauge.lab.blame import CAUSES, SIDE_OF
from dialgauge.tasks import judge_outcomes

WISHES = ("area", "pricerange", "type")
MILD = {"channel": "mild"}
SITTING = LabConfig(user=AgentSpec("agenda", MILD), system=AgentSpec("rule-system", MILD))


@pytest.fixture(scope="module")
def town() -> LoadedDomain:
    # Not the seed with which the rules were written.
    return open_domain(count=80, seed=5)


def held(town: LoadedDomain, sitting: LabConfig = SITTING) -> list[Dialogue]:
    return list(hold_conversations(town.again, town.goals, sitting))


def blame(dialogues: list[Dialogue], town: LoadedDomain) -> dict[str, ConversationBlame]:
    judged = judge_outcomes(dialogues, town.search, failures=town.failures, calls_recorded=True)
    return {one.dialogue: one for one in blame_conversations(judged)}


def changed(dialogue: Dialogue, **fields: Any) -> Dialogue:
    """The dialogue with some of each turn's fields changed; a function gets the turn."""
    turns = [
        msgspec.structs.replace(
            turn, **{name: value(turn) if callable(value) else value for name, value in fields.items()}
        )
        for turn in dialogue.turns
    ]
    return msgspec.structs.replace(dialogue, turns=tuple(turns))


# Where the truth is known


#: A user of ours waits for an answer that comes late: few conversations fail of it (see the test of its own).
DEADLY = [fault for fault in INJECTED_FAULTS if fault != "late policy"]


@pytest.mark.parametrize("fault", DEADLY)
def test_injected_faults_are_blamed_on_the_right_cause(town: LoadedDomain, fault: InjectedFault) -> None:
    # Of breakdowns many hang until the limit of time is reached, and nearly all fail: half as many goals are enough.
    goals = town.goals[:40] if fault == "breakdown" else town.goals
    found = blame_confusion(msgspec.structs.replace(town, goals=goals), fault, seed=5)
    assert found.causes.total() >= 20, "enough conversations failed to tell"
    assert found.share >= 0.95, found.causes


@pytest.mark.parametrize("fault", [fault for fault in DEADLY if fault != "breakdown"])
def test_injected_faults_are_blamed_on_the_right_cause_through_text(town: LoadedDomain, fault: InjectedFault) -> None:
    few = msgspec.structs.replace(town, goals=town.goals[:50])
    found = blame_confusion(few, fault, seed=5, level="text")
    every = found.causes.total() + found.two_faults.total()
    assert every >= 8, "enough conversations failed to tell"
    # What the listener reads otherwise than it was said is on the ledger, too.
    assert found.right.total() >= 0.95 * found.causes.total(), found.causes
    assert found.two_faults["neither"] <= 0.05 * every, found.two_faults


@pytest.mark.parametrize("fault", [fault for fault in DEADLY if fault != "breakdown"])
def test_a_channel_on_top_does_not_hide_the_fault(town: LoadedDomain, fault: InjectedFault) -> None:
    found = blame_confusion(town, fault, channel="mild", seed=5)
    wrong = found.causes.total() * (1 - found.share)
    assert found.causes.total() >= 8
    assert wrong <= max(1, 0.05 * found.causes.total()), found.causes
    assert found.two_faults["neither"] <= 0.1 * max(found.two_faults.total(), 10), found.two_faults


def test_without_faults_nobody_is_blamed_and_nobody_erred(town: LoadedDomain) -> None:
    clean = LabConfig(user=AgentSpec("agenda"), system=AgentSpec("rule-system"))
    for one in blame(held(town, clean), town).values():
        assert (one.success, one.domains, one.user_erred, one.system_erred) == (True, {}, False, False)


# Limits


CLEAN = LabConfig(user=AgentSpec("agenda"), system=AgentSpec("rule-system"))


@pytest.mark.parametrize("exchanges", [1, 3, 5, 7])
def test_a_limit_that_comes_too_soon_is_nobodys_fault(town: LoadedDomain, exchanges: int) -> None:
    short = msgspec.structs.replace(CLEAN, limits=Limits(exchanges=exchanges))
    blamed = blame(held(town, short), town).values()
    links = [link for one in blamed for link in one.domains.values()]
    assert links
    assert {(link.cause, link.side) for link in links} == {("limit_reached", "limit")}
    assert all(link.arguments[1] == f"limit of exchanges, after {exchanges}" for link in links)
    assert not any(one.user_erred or one.system_erred for one in blamed)


# From the record alone


def test_what_the_record_says_was_heard_decides_between_ears_and_policy(town: LoadedDomain) -> None:
    dialogues, ledger = injected_conversations(town, "deaf system", seed=5)
    blamed = blame(dialogues, town)
    mended = blame([changed(one, heard=lambda turn: turn.acts) for one in dialogues], town)
    constraints = [
        name for name, one in blamed.items()
        if one.link is not None and one.link.code == "misheard" and one.link.arguments[0] in WISHES
    ]  # fmt: skip
    assert len(constraints) > 5
    for name in constraints:
        first, other = blamed[name].link, mended[name].link
        assert first is not None and first.cause == "said_not_heard"
        assert (first.arguments[0], blamed[name].first) == (ledger.events[name].slot, ledger.events[name].domain)
        assert other is not None and other.cause in ("heard_not_acted_on", "acted_on_wrong"), name


def test_states_stand_in_for_what_a_system_does_not_say_it_heard(town: LoadedDomain) -> None:
    dialogues, _ = injected_conversations(town, "deaf system", seed=5)
    blamed = blame(dialogues, town)
    kept = {"heard": lambda turn: None if turn.speaker == "user" else turn.heard}
    deaf = blame([changed(one, **kept) for one in dialogues], town)
    given = [name for name, one in blamed.items() if one.link and one.link.code == "misheard"]
    same = sum((link := deaf[name].link) is not None and link.cause == "said_not_heard" for name in given)
    assert same >= 0.95 * len(given) > 10


def test_where_nothing_was_recorded_of_what_was_heard_it_is_unclear_and_says_why(town: LoadedDomain) -> None:
    dialogues, _ = injected_conversations(town, "deaf system", seed=5)
    silent = [changed(one, heard=None, predicted=None) for one in dialogues]
    links = [one.link for one in blame(silent, town).values() if one.link]
    assert links
    assert {link.cause for link in links} == {"unclear"}
    assert {link.code for link in links} == {"untraceable"}


def test_a_user_without_acts_is_not_guessed_at(town: LoadedDomain) -> None:
    wordless = [changed(one, acts=lambda turn: None if turn.speaker == "user" else turn.acts) for one in held(town)]
    blamed = [one for one in blame(wordless, town).values() if one.link]
    assert blamed
    for one in blamed:
        assert one.link is not None and one.link.cause == "unclear"
        assert one.link.code == "acts_not_recorded"
        assert one.user_erred is None and one.system_erred is None


class _OnlyWords:
    """A system that answers with words, and records neither acts nor what it heard."""

    name = "only-words"

    def start(self, context: Any) -> None: ...

    def respond(self, turn: Turn | None) -> Reply:
        return Reply(turn=Turn(speaker="system", text="I will see what I can do."))


def test_a_system_of_words_alone_that_does_nothing_is_blamed(
    town: LoadedDomain, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = AgentSpec.make
    monkeypatch.setattr(AgentSpec, "make", lambda spec: _OnlyWords() if spec.name == "words" else make(spec))
    sitting = LabConfig(user=AgentSpec("agenda"), system=AgentSpec("words"), level="text")
    # Whether a taxi's answer was given cannot be read from these words.
    goals = [goal for goal in town.goals if goal.tasks[0].domain != "taxi"]
    few = msgspec.structs.replace(town, goals=tuple(goals[:10]))
    for one in blame(held(few, sitting), few).values():
        assert one.link is not None
        assert (one.link.cause, one.link.side) == ("heard_not_acted_on", "system")
        assert one.system_erred and not one.user_erred


# Technical failures


class _Raising:
    name = "raising"

    def start(self, context: Any) -> None: ...

    def respond(self, turn: Turn | None) -> Reply:
        raise ConnectionError("no answer")


def test_a_user_that_fails_technically_is_on_the_record(town: LoadedDomain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialgauge.lab.sessions.make_agent", lambda name, options: _Raising())
    few = msgspec.structs.replace(town, goals=town.goals[:3])
    run = scored_run(held(few), few, SITTING, resamples=0)
    rows = run.table("blame").to_dicts()
    assert [(row["domain"], row["cause"], row["side"], row["first"]) for row in rows] == [
        (None, "infrastructure", "infrastructure", True)
    ] * 3
    assert run.scores["Blame[infrastructure]"].value == 1
    assert rows[0]["code"] == "failed" and "no answer" in rows[0]["arguments"][1]


# What a run keeps


def test_measures_add_up_and_follow_from_the_tables(town: LoadedDomain) -> None:
    run = run_lab(town, SITTING, resamples=50)
    blamed, sides = run.table("blame"), run.table("blame_sides")
    first = blamed.filter("first")
    failed = first.height
    assert failed == (~sides["success"]).sum() > 3
    shares = {cause: run.scores[f"Blame[{cause}]"].value for cause in CAUSES if cause != "not_understood"}
    assert sum(value or 0 for value in shares.values()) == pytest.approx(1)
    assert shares["said_not_heard"] == pytest.approx((first["cause"] == "said_not_heard").sum() / failed)
    by_side = sum(value or 0 for cause, value in shares.items() if SIDE_OF[cause] == "system")
    assert run.scores["Blame[system]"].value == pytest.approx(by_side)
    cells = [run.scores[f"Erred[{cell}]"].value or 0 for cell in ("neither", "user_only", "system_only", "both")]
    assert sum(cells) == pytest.approx(1)
    assert cells[3] == pytest.approx((sides["user_erred"] & sides["system_erred"]).sum() / sides.height)
    faultless = sides.filter(~sides["user_erred"])
    score = run.scores["SuccessOfFaultlessUser"]
    assert score.value == pytest.approx(faultless["success"].sum() / faultless.height)
    assert score.low is not None and score.high is not None and score.low <= score.value <= score.high  # type: ignore[operator]
