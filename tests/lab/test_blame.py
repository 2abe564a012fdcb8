"""Whose fault a failed conversation was: validated where the truth is known, and on records made for the purpose."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from blame_confusion import TRUE_CAUSES, blame_confusion
from fault_injection import INJECTED_FAULTS, InjectedFault, injected_conversations

from dialgauge.agents import Level, Limits, Reply
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.lab import (
    AgentSpec,
    ConversationBlame,
    LabConfig,
    LoadedDomain,
    blame_conversations,
    blame_rows,
    blame_sentence,
    hold_conversations,
    open_domain,
    run_lab,
    scored_run,
)
from dialgauge.lab.blame import CAUSES, SIDE_OF, reasons
from dialgauge.lab.blame.reasons import blame_for
from dialgauge.measures import card_named, parse_measure
from dialgauge.runs import Store
from dialgauge.tasks import TaskFailure, judge_outcomes, reasons_table
from support.soak import soak

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


def test_every_injection_does_what_the_ledger_says(town: LoadedDomain) -> None:
    kinds = {fault: Counter[str]() for fault in INJECTED_FAULTS if fault != "breakdown"}
    for fault, kind in kinds.items():
        _, ledger = injected_conversations(town, fault, seed=5)
        kind.update(event.what for event in ledger.events.values())
    assert {what for kind in kinds.values() for what in kind} == {
        "constraint", "request", "booking", "domain", "drop", "change", "constraint ignored", "request ignored",
        "booking ignored", "misfit offered", "booked wrongly", "untrue answer", "refusal missed", "refusal invented",
        "name misheard", "booking refused", "nothing found", "answer late", "reply late",
    }  # fmt: skip


def test_without_faults_nobody_is_blamed_and_nobody_erred(town: LoadedDomain) -> None:
    clean = LabConfig(user=AgentSpec("agenda"), system=AgentSpec("rule-system"))
    for one in blame(held(town, clean), town).values():
        assert (one.success, one.domains, one.user_erred, one.system_erred) == (True, {}, False, False)


# Limits


CLEAN = LabConfig(user=AgentSpec("agenda"), system=AgentSpec("rule-system"))


@pytest.mark.parametrize(("level", "goals"), [("act", 80), ("text", 25), soak("text", 80)])
def test_what_is_not_looked_at_where_all_was_heard_would_have_shown_nothing(
    town: LoadedDomain, level: Level, goals: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    town = msgspec.structs.replace(town, goals=town.goals[:goals])
    sittings = [
        LabConfig(user=AgentSpec(user), system=AgentSpec(system, settings), level=level)
        for user in ("agenda", "agenda-baseline")
        for system, settings in (("rule-system", {}), ("rule-baseline", {}), ("rule-system", {"channel": "value=0.05"}))
    ]
    dialogues = [held(town, sitting) for sitting in sittings]
    few = msgspec.structs.replace(town, goals=town.goals[:20])
    dialogues += [injected_conversations(few, fault, level=level)[0] for fault in DEADLY if fault != "breakdown"]
    short = [blame(each, town) for each in dialogues]
    monkeypatch.setattr("dialgauge.lab.blame.attribution._all_held", lambda *_: False)
    assert short == [blame(each, town) for each in dialogues]


@pytest.mark.parametrize("exchanges", [1, 3, 5, 7])
def test_a_limit_that_comes_too_soon_is_nobodys_fault(town: LoadedDomain, exchanges: int) -> None:
    short = msgspec.structs.replace(CLEAN, limits=Limits(exchanges=exchanges))
    blamed = blame(held(town, short), town).values()
    links = [link for one in blamed for link in one.domains.values()]
    assert links
    assert {(link.cause, link.side) for link in links} == {("limit_reached", "limit")}
    assert all(link.arguments[1] == f"limit of exchanges, after {exchanges}" for link in links)
    assert not any(one.user_erred or one.system_erred for one in blamed)


def test_a_limit_counts_as_no_fault_of_the_user_in_scores(town: LoadedDomain) -> None:
    run = run_lab(town, msgspec.structs.replace(CLEAN, limits=Limits(exchanges=5)), resamples=0)
    assert run.scores["Blame[limit]"].value == run.scores["Erred[neither]"].value == 1
    sides = run.table("blame_sides")
    assert run.scores["SuccessOfFaultlessUser"].value == pytest.approx(sides["success"].sum() / len(town.goals))


@pytest.mark.parametrize(("user", "channel"), [("agenda-baseline", "mild")])
def test_the_limit_is_blamed_only_where_a_faultless_pair_would_have_reached_it_too(user: str, channel: str) -> None:
    """The goals of conversations that are blamed on the limit are held again by agents that hear everything."""
    town, limits = open_domain(count=100, seed=1), Limits(exchanges=6)

    def blamed(channel: str) -> dict[str, ConversationBlame]:
        heard = {"channel": channel}
        sitting = LabConfig(user=AgentSpec(user, heard), system=AgentSpec("rule-system", heard), limits=limits, seed=1)
        return blame(held(town, sitting), town)

    clean, noisy = blamed("clean"), blamed(channel)
    at_the_limit = [name for name, one in noisy.items() if one.link is not None and one.link.side == "limit"]
    assert len(at_the_limit) > 3
    assert [name for name in at_the_limit if clean[name].success] == []


def test_a_system_that_is_said_to_have_named_nothing_named_nothing() -> None:
    noisy = {"channel": "paper2021"}
    kinds: tuple[tuple[str, Level, int, int, int], ...] = (
        ("rule-system", "act", 4, 33, 8),
        ("rule-baseline", "text", 61, 201, 20),
    )
    found: dict[tuple[int, str], str] = {}
    for system, level, place, seed, exchanges in kinds:
        town = open_domain(count=100, seed=place)
        user, limits = AgentSpec("agenda", noisy), Limits(exchanges=exchanges)
        sitting = LabConfig(user=user, system=AgentSpec(system, noisy), level=level, seed=seed, limits=limits)
        dialogues = {one.id: one for one in held(town, sitting)}
        for one in blame(list(dialogues.values()), town).values():
            for domain, link in one.domains.items():
                found[place, f"{one.dialogue} {domain}"] = link.cause
                if link.code == "named_nothing":
                    told = [act for turn in dialogues[one.dialogue].turns[link.turn or 0 :] if turn.speaker == "system"
                            for act in turn.acts or ()]  # fmt: skip
                    assert not any(act.domain == domain and act.slot in ("name", "trainID") for act in told), one


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


def test_the_first_broken_link_in_time_decides(town: LoadedDomain) -> None:
    noisy = {"channel": "drop=0.15,value=0.1"}
    sitting = LabConfig(user=AgentSpec("agenda", noisy), system=AgentSpec("rule-system", noisy))
    several = [one for one in blame(held(town, sitting), town).values() if len(one.domains) > 1]
    assert several
    for one in several:
        clear = [link.turn or 0 for link in one.domains.values() if link.cause != "unclear"]
        assert one.link is not None and one.link.turn == min(clear)


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


def test_measures_are_cards_with_parts() -> None:
    assert str(parse_measure("Blame[said_not_heard]")) == "Blame[said_not_heard]"
    for name in ("Blame", "Erred", "SuccessOfFaultlessUser"):
        assert card_named(name).family == "lab"
    assert "not 'moon'" in str(parse_measure("Erred[moon]").obstacle(_evidence()))


def _evidence() -> Any:
    from dialgauge.lab.blame import BlameEvidence

    return BlameEvidence([])


def test_a_stored_run_says_the_same(town: LoadedDomain, tmp_path: Path) -> None:
    store = Store(tmp_path)
    stored = run_lab(town, SITTING, store=store, resamples=0)
    again = store.open(stored.id)
    assert again.table("blame").equals(scored_run(held(town), town, SITTING, resamples=0).table("blame"))


def test_every_fault_has_a_true_cause() -> None:
    assert set(TRUE_CAUSES) == set(INJECTED_FAULTS)
    assert set(TRUE_CAUSES.values()) == set(CAUSES) - {"unclear", "limit_reached", "not_understood"}


def test_a_cut_off_conversation_is_blamed_at_a_turn_that_was_misheard() -> None:
    """The exchange that was lost shows later; the mark belongs where something was said and heard otherwise."""
    sitting = LabConfig(
        user=AgentSpec("agenda-baseline", {"channel": "paper2021"}),
        system=AgentSpec("rule-system", {"channel": "paper2021"}),
        level="act",
        seed=3,
    )
    run = run_lab(open_domain(count=120, seed=3), sitting)
    talks = {dialogue.id: dialogue.turns for dialogue in run.dialogues()}
    speakers = {"answered_not_heard": "system", "said_not_heard": "user"}
    cut = [row for row in run.table("blame").to_dicts() if row["code"] == "turns_lost"]
    assert cut
    for row in cut:
        turn = talks[row["dialogue"]][row["turn"]]
        assert turn.speaker == speakers[row["cause"]] and set(turn.heard or ()) != set(turn.acts or ())


def test_every_code_has_words_and_is_given() -> None:
    folder = Path(reasons.__file__).parent
    code = "".join(path.read_text() for path in folder.glob("*.py") if path.name != "reasons.py")
    code += Path(reasons.__file__).read_text().partition("def blame_for")[2]
    for reason in reasons.WORDS:
        assert f'"{reason}"' in code, reason
        told = blame_sentence(blame_for("a", "taxi", reason, 9, "area", "north", "south", "7", cause="unclear"))
        assert told.endswith(".") and "{" not in told and "None" not in told
    assert blame_sentence(blame_for("a", "", "of another version", 9, cause="unclear")) == "Of another version"


def test_a_domain_whose_links_held_says_why_it_failed() -> None:
    row = {"dialogue": "a", "domain": "taxi", "side": "unclear", "turn": 9, "code": "all_held", "arguments": []}
    whys = reasons_table([("a", "taxi", "strict", TaskFailure(reason="no_taxi"))]).to_dicts()
    [told] = blame_rows([row], whys)
    assert told["sentence"] == "Every link that the record shows held (no taxi was sent)."
