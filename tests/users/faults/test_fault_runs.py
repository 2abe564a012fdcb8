"""Runs of user faults: what they hold, which data they are of, what they could look at, and how they compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dialgauge.comparison import compare_runs
from dialgauge.dialogue import Task
from dialgauge.measures import Signature
from dialgauge.report import run_page
from dialgauge.runs import Run, Store
from dialgauge.users.faults import user_faults
from runs.contract import assert_run_contract
from support.agent_results import tau_result
from support.commands import dialgauge
from support.shared import shared_folder
from support.talks import talk

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


def failed(task: str, trial: int) -> Any:
    return {**conversation(task, trial), "traj": []}


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


def test_a_run_keeps_the_contract_in_memory_and_stored(tmp_path: Path) -> None:
    run = checked(tmp_path / "r.json", conversation("x", 0), conversation("y", 0, told="Ask."), resamples=50)
    assert_run_contract(run)
    stored = Store(tmp_path / "store").add(run)
    assert_run_contract(stored)
    assert stored.table("faults").equals(run.table("faults"))
    again = user_faults(stored.path, resamples=50)[0]
    assert again.scores == run.scores and again.table("faults").equals(run.table("faults"))
    [row] = run.table("faults").to_dicts()
    assert (row["dialogue"], row["kind"], row["turn"], row["message"], row["by"]) == ("x#0", "withheld", 2, 3, "check")


def test_shares_count_only_what_was_checked_and_logs_without_instructions_have_no_rate(tmp_path: Path) -> None:
    run = checked(tmp_path / "r.json", conversation("x", 0), conversation("y", 0, told="Ask."))
    assert run.scores["UserFault[withheld]"].value == 1.0
    assert run.scores["UserFault"].value == 0.5
    assert not {"UserFault[contradicted]", "UserFault[disobeyed]"} & run.scores.keys()
    untold = user_faults([msgspec.structs.replace(each, goal=None) for each in run.dialogues()], resamples=0)[0]
    assert not {"UserFault", "UserFault[withheld]"} & untold.scores.keys()
    assert "conversations has no rate of user faults: no conversation has an instruction" in str(run_page(untold))


def test_conversations_by_acts_are_checked_exactly() -> None:
    goal = {"hotel": Task(info={"area": "north"})}
    bad = talk(goal, ("hotel inform area=south",), ("hotel recommend name=acorn",), ("general bye",))
    run = user_faults([bad], resamples=0)[0]
    assert run.scores["UserFault[contradicted]"].value == 1.0
    assert run.scores["UserFault[early_end]"].value == 0.0


def test_the_screen_says_what_was_found_where_and_what_was_not_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.json").write_text(json.dumps([conversation("x", 0)]))
    done = dialgauge(capsys, "users", "faults", tmp_path / "r.json", "--resamples", 0, "--store", tmp_path / "runs")
    assert done.code == 0
    for part in ("is asked for its user id", "not checked", "ask a judge", "labelled conversations of tau-bench"):
        assert part in " ".join(done.out.split())
    shown = dialgauge(capsys, "show", "latest", "--dialogue", "x#0", "--store", tmp_path / "runs")
    assert "I forgot it." in shown.out and "withheld" in shown.out
    trust = dialgauge(capsys, "show", "latest", "--only", "trust", "--store", tmp_path / "runs")
    assert "tau_airline_gpt-4o" in trust.out
    (tmp_path / "x.json").write_text("{}")
    assert dialgauge(capsys, "users", "faults", tmp_path / "x.json").code == 2


def test_signatures_tell_data_apart_and_not_agents(tmp_path: Path) -> None:
    usual = {"user": "u", "domain": "airline", "agent": "a"}
    first = signed(tmp_path / "first.json", **usual)
    assert signed(tmp_path / "agent.json", **{**usual, "agent": "b"}) == first
    others = ({"domain": "telecom"}, {"user": "v"}, {"wish": "cancel"})
    unlike = [signed(tmp_path / "other.json", **{**usual, **other}) for other in others]
    assert len({first, *unlike}) == 1 + len(others)


def test_conversations_without_a_word_of_the_user_are_told_first_and_not_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "r.json"
    run = checked(
        file, conversation("x", 0), conversation("x", 1, answer="ann_lee_2041"), failed("y", 0), failed("y", 1)
    )
    assert run.scores["UserFault"].value == 0.5
    count = run.coverage["dialogues"]
    assert (count.expected, count.read, count.scored, count.failed) == (4, 4, 2, 2)
    assert Signature.parse(run.signature)["dialogues"] == "2"
    done = dialgauge(capsys, "users", "faults", file, "--no-store")
    assert done.code == 1
    assert "the user never speaks in 2 conversations; shares are of the other 2" in " ".join(done.out.split())


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


@pytest.mark.soak
@needs_data
def test_intervals_on_real_trials_agree_with_the_runs(tmp_path: Path) -> None:
    assert DATA is not None
    file = DATA / "tau" / "tau_airline_gpt-4o.json.gz"
    assert_intervals_agree([user_faults({name: file}, resamples=300)[0] for name in "ab"], 300)
