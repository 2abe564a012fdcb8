"""Runs of user faults: which data they are of, what they could look at, and how they compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialgauge.comparison import compare_runs
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Signature
from dialgauge.runs import Run, Store
from dialgauge.users.faults import user_faults
from support.agent_results import tau_result
from support.commands import dialgauge
from support.shared import shared_folder

DATA = shared_folder("data")
needs_data = pytest.mark.skipif(DATA is None, reason="DIALGAUGE_DATA names no folder with tau results")
ASK = "Could you please provide your user ID?"


def conversation(task: str, trial: int, *, answer: str = "I forgot it.", told: str = "You are ann_lee_2041.") -> Any:
    one = tau_result(task, trial, 0.0)
    one["info"]["task"]["instruction"] = told
    texts = ("policy", "hello", ASK, answer)
    roles = ("system", "user", "assistant", "user")
    one["traj"] = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]
    return one


def failed(task: str, trial: int, words: int = 0) -> Any:
    one = conversation(task, trial)
    one["info"]["error"] = "RateLimitError"
    one["traj"] = one["traj"][:words]
    return one


def checked(path: Path, *conversations: Any, resamples: int = 0) -> Run:
    path.write_text(json.dumps(conversations))
    return user_faults(path, resamples=resamples)[0]


def simulations(user: str, domain: str, agent: str, wish: str = "fly") -> dict[str, Any]:
    said = [
        {"role": "assistant", "content": ASK, "turn_idx": 0},
        {"role": "user", "content": "I forgot it.", "turn_idx": 1},
    ]
    told = {"domain": domain, "reason_for_call": f"You want to {wish}.", "task_instructions": "Be brief."}
    return {
        "info": {
            "num_trials": 1, "max_steps": 200, "max_errors": 10, "agent_info": {"llm": agent},
            "user_info": {"llm": user}, "environment_info": {"domain_name": domain, "policy": "be kind"},
        },
        "tasks": [{"id": "1", "user_scenario": {"instructions": told}}],
        "simulations": [{
            "id": "s", "task_id": "1", "trial": 0, "termination_reason": "user_stop", "messages": said,
            "reward_info": {"reward": 1.0},
        }],
    }  # fmt: skip


def signed(path: Path, **told: str) -> str:
    path.write_text(json.dumps(simulations(**told)))
    return user_faults(path, resamples=0)[0].signature


def test_signatures_tell_data_apart_and_not_agents(tmp_path: Path) -> None:
    usual = {"user": "u", "domain": "airline", "agent": "a"}
    first = signed(tmp_path / "first.json", **usual)
    assert signed(tmp_path / "agent.json", **{**usual, "agent": "b"}) == first
    others = ({"domain": "telecom"}, {"user": "v"}, {"wish": "cancel"})
    unlike = [signed(tmp_path / "other.json", **{**usual, **other}) for other in others]
    assert len({first, *unlike}) == 1 + len(others)


def test_other_tasks_under_the_same_ids_are_other_data(tmp_path: Path) -> None:
    one, same, other = (
        checked(tmp_path / f"{name}.json", conversation("x", 0, told=told, answer=answer))
        for name, told, answer in (("one", "Ask.", "Why?"), ("same", "Ask.", "How?"), ("other", "Beg.", "Why?"))
    )
    assert one.signature == same.signature != other.signature
    with pytest.raises(DialgaugeError, match=r"one and other cannot be compared: 1 of the 1 .* different goals"):
        compare_runs([one, other], resamples=10)
    assert not any("different settings" in note for note in compare_runs([one, same], resamples=10).notes)


def test_the_order_and_the_number_of_trials_do_not_change_the_goals(tmp_path: Path) -> None:
    x, y, again = conversation("x", 0), conversation("y", 0, told="Ask."), conversation("x", 1)
    runs = [checked(tmp_path / "one.json", x, y), checked(tmp_path / "two.json", y, again, x)]
    assert len({Signature.parse(run.signature)["gold"] for run in runs}) == 1


def test_conversations_that_failed_by_infrastructure_are_told_first_and_not_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "r.json"
    run = checked(
        file, conversation("x", 0), conversation("x", 1, answer="ann_lee_2041"), failed("y", 0), failed("y", 1)
    )
    assert run.scores["NoFaultFound"].value == 0.5
    count = run.coverage["dialogues"]
    assert (count.expected, count.read, count.scored, count.failed) == (4, 4, 2, 2)
    assert Signature.parse(run.signature)["dialogues"] == "2"
    done = dialgauge(capsys, "users", "faults", file, "--json", tmp_path / "out.json")
    assert done.code == 1
    first = done.out.splitlines()[0]
    assert first == (
        "r: 2 conversations of 4 with nothing to look at (failed by infrastructure: error 2); "
        "shares are of the 2 that can be looked at."
    )
    assert "No fault found in 50.0% of 2 conversations" in done.out
    [system] = json.loads((tmp_path / "out.json").read_text())["systems"]
    assert system["coverage"] == {
        "complete": False, "planned": 4, "read": 4, "looked_at": 2,
        "nothing_to_look_at": {"failed by infrastructure: error": 2}, "broken_off": {},
    }  # fmt: skip


def test_one_that_broke_off_is_looked_at_as_far_as_it_goes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = checked(tmp_path / "r.json", conversation("x", 0), failed("y", 0, words=4))
    assert run.scores["UserFault[withheld]"].value == 1.0
    assert run.coverage["dialogues"].scored == 2 and not run.coverage.complete
    done = dialgauge(capsys, "users", "faults", tmp_path / "r.json")
    assert done.code == 1
    assert (
        "1 conversation of 2 with no end of their own (failed by infrastructure: error 1)" in done.out.splitlines()[0]
    )


@pytest.mark.parametrize("change", [{"reward_info": None}, {"termination_reason": "infrastructure_error"}])
def test_a_simulation_without_a_verdict_makes_a_file_incomplete(tmp_path: Path, change: dict[str, Any]) -> None:
    content = simulations("u", "airline", "a")
    content["simulations"][0].update(change)
    (tmp_path / "r.json").write_text(json.dumps(content))
    assert not user_faults(tmp_path / "r.json", resamples=0)[0].coverage.complete
    content["simulations"][0]["messages"] = []
    (tmp_path / "r.json").write_text(json.dumps(content))
    silent = user_faults(tmp_path / "r.json", resamples=0)[0]
    assert silent.coverage["dialogues"].scored == 0 and sum(silent.details["nothing_to_look_at"].values()) == 1


def tries(path: Path, seed: int) -> Run:
    """Twelve tasks with four trials each, which all end alike in most tasks."""
    forgets = [(task * 7 + seed) % 3 == 0 for task in range(12)]
    talks = [
        conversation(str(task), trial, answer="I forgot it." if forgets[task] and trial != seed else "ann_lee_2041")
        for task in range(12)
        for trial in range(4)
    ]
    return checked(path, *talks, resamples=500)


def assert_intervals_agree(runs: list[Run], resamples: int) -> None:
    comparison = compare_runs(runs, resamples=resamples)
    for place, run in enumerate(runs):
        for number, measure in enumerate(comparison.measures):
            score = run.scores[measure]
            assert comparison.corpus_values[place, number] == pytest.approx(score.value), measure
            assert list(comparison.intervals[place, number]) == pytest.approx([score.low, score.high]), measure


def test_trials_of_a_task_are_resampled_together(tmp_path: Path) -> None:
    runs = [tries(tmp_path / f"{name}.json", seed) for seed, name in enumerate("ab")]
    comparison = compare_runs(runs, resamples=500)
    assert comparison.basis == "95% intervals over 12 tasks"
    assert_intervals_agree(runs, 500)
    stored = [Store(tmp_path / "store").add(run) for run in runs]
    assert compare_runs(stored, resamples=50).dialogues == comparison.dialogues


def test_one_trial_of_each_task_leaves_dialogues_as_they_are(tmp_path: Path) -> None:
    runs = [checked(tmp_path / f"{name}.json", conversation("x", 0), conversation("y", 0)) for name in "ab"]
    comparison = compare_runs(runs, resamples=10)
    assert comparison.basis == "95% intervals over 2 dialogues" and comparison.dialogues == ("x#0", "y#0")


def test_a_withheld_part_that_comes_when_asked_again_is_minor(tmp_path: Path) -> None:
    both = "Could you please provide your user ID and your reservation ID?"
    again = [{"role": "assistant", "content": ASK}, {"role": "user", "content": "It is ann_lee_2041."}]
    part, whole, once = (conversation(task, 0, answer="It is ABC123.") for task in "xyz")
    for one in (part, whole):
        one["traj"][2]["content"] = both
    part["traj"] += again
    once["traj"] += again
    for one in (part, whole, once):
        one["info"]["task"]["instruction"] = "You are ann_lee_2041. Your reservation id is ABC123."
    run = checked(tmp_path / "r.json", part, whole, once)
    marks = {
        row["dialogue"]: row["minor"] for row in run.table("faults").iter_rows(named=True) if row["kind"] == "withheld"
    }
    assert marks == {"x#0": True, "y#0": False, "z#0": False}


@needs_data
def test_a_contradiction_is_marked_where_the_user_first_says_it() -> None:
    assert DATA is not None
    run = user_faults(DATA / "tau" / "tau2_airline_grok-3.json.gz", resamples=0)[0]
    rows = [row for row in run.table("faults").to_dicts() if (row["dialogue"], row["kind"]) == ("8#0", "contradicted")]
    [row] = [row for row in rows if row["about"] == "checked bags"]
    assert (row["message"], row["length"]) == (13, 2)


@needs_data
def test_airline_and_telecom_are_not_measured_alike() -> None:
    assert DATA is not None
    files = ("tau2_airline_grok-3", "tau2_telecom-workflow_grok-3")
    runs = [user_faults(DATA / "tau" / f"{name}.json.gz", resamples=0)[0] for name in files]
    assert len({run.signature for run in runs}) == 2


@pytest.mark.soak
@needs_data
def test_intervals_on_real_trials_agree_with_the_runs(tmp_path: Path) -> None:
    assert DATA is not None
    file = DATA / "tau" / "tau_airline_gpt-4o.json.gz"
    assert_intervals_agree([user_faults({name: file}, resamples=300)[0] for name in "ab"], 300)
