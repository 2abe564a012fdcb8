"""Logs scored: what is planned, present and counted, what the tables hold, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dialgauge
from dialgauge.dialogue import Dialogue, Outcome
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Run, Store
from dialgauge.trials import score_attempts
from runs.contract import assert_run_contract
from support.agent_results import tau2_file, tau_file, tau_result
from support.commands import dialgauge as typed
from support.examples import EXAMPLES

TASKS = {"a": "++", "b": "+-", "c": "--"}


def scored(path: Path, **options: Any) -> Run:
    [run] = dialgauge.review(path, **{"resamples": 0, **options}).runs
    return run


def told(run: Run) -> str:
    """The sentence that closes a screen."""
    return dialgauge.RunSet([run]).page().verdict


def test_a_run_keeps_the_contract_in_memory_and_stored(tmp_path: Path) -> None:
    (tmp_path / "two.json").write_bytes(EXAMPLES["tau2"])
    for path in (tau_file(tmp_path / "r.json", TASKS), tmp_path / "two.json"):
        run = scored(path, resamples=50)
        assert_run_contract(run)
        stored = Store(tmp_path / "store").add(run)
        assert_run_contract(stored)
        assert stored.scores == run.scores
        assert stored.table("trials").equals(run.table("trials"))


def test_what_the_tables_hold(tmp_path: Path) -> None:
    (tmp_path / "two.json").write_bytes(EXAMPLES["tau2"])
    run = scored(tmp_path / "two.json")
    row = run.table("trials").row(0, named=True)
    assert row | {"seconds": None} == {
        "dialogue": "slow[data]#0", "task": "slow[data]", "trial": 0, "end": "finished", "reason": "user_stop",
        "scored": True, "success": False, "reward": 0.0, "agent_cost": 0.25, "user_cost": 0.5, "turns": 3, "calls": 1,
        "seconds": None,
    }  # fmt: skip
    assert run.table("reward_parts").rows() == [("slow[data]#0", "ENV_ASSERTION", 0.0)]
    assert run.table("calls").select("turn", "name", "outcome").rows() == [(2, "speed", "done")]
    wanted = {"Cost": 0.75, "Cost(of=agent)": 0.25, "Turns(of=user)": 2.0, "ToolCalls(of=user)": 1.0}
    assert {name: run.scores[name].value for name in wanted} == wanted
    assert not run.coverage.complete and "1 of 2 planned conversations" in told(run)


def test_an_incomplete_log_has_bounds_and_no_rate(tmp_path: Path) -> None:
    run = scored(tau_file(tmp_path / "r.json", {"a": "++", "b": "+!", "c": "!."}))
    assert (run.details["begun"], run.details["infrastructure"]) == (5, {"error": 2})
    assert run.details["planned"] == {"tasks": 3, "trials": 2, "conversations": 6}
    assert run.details["pass_1_if_missing"] == {"all_failed": 0.5, "all_passed": 1.0}
    assert run.scores["pass^1"].value == 1.0
    assert told(run) == (
        "Incomplete: 3 of 6 conversations have a verdict (3 tasks x 2 trials; error 2, missing 1); pass^1 of the full "
        "log lies between 50.0% (if the rest fails) and 100.0% (if it passes)."
    )


def test_the_headline_says_how_many_tasks_passed_once_and_always(tmp_path: Path) -> None:
    path = tau_file(tmp_path / "r.json", {"a": "++++", "b": "+-++", "c": "----"})
    run = scored(path)
    assert told(run) == "58.3% of tasks passed (pass^1); in 33.3% all four trials passed."
    assert told(scored(path, measures=["pass^3"])) == "In 41.7% of tasks all three trials passed (pass^3)."
    twice = scored(tau_file(tmp_path / "two.json", {"a": "++", "b": "+-"}), resamples=50)
    low, high = (f"{100 * (end or 0):.1f}" for end in (twice.scores["pass^1"].low, twice.scores["pass^1"].high))
    assert told(twice) == (
        f"75.0% of tasks passed (pass^1, 95% interval {low} to {high}); in 50.0% both trials passed."
    )


@pytest.mark.parametrize(
    ("reason", "counts"),
    [
        ("user_stop", True), ("agent_stop", True), ("max_steps", True), ("too_many_errors", True),
        ("agent_error", True), ("user_error", False), ("infrastructure_error", False), ("timeout", False),
        ("something new", True),
    ],
)  # fmt: skip
def test_which_ends_are_verdicts_on_the_agent(reason: str, counts: bool, tmp_path: Path) -> None:
    made: dict[str, Any] = json.loads(EXAMPLES["tau2"])
    made["simulations"][0]["termination_reason"] = reason
    made["info"]["num_trials"] = 1
    (tmp_path / "r.json").write_text(json.dumps(made))
    run = scored(tmp_path / "r.json")
    assert run.coverage.complete is counts
    assert run.details["infrastructure"] == ({} if counts else {reason: 1})
    assert run.scores["pass^1"].value == 0.0 if counts else "pass^1" not in run.scores


def test_durations_and_latency_are_those_of_the_log(tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    rows = [{"task_id": str(n), "success": True, "messages": talk, "seconds": 2.0 + n} for n in range(3)]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    run = scored(tmp_path / "log.jsonl")
    assert run.scores["Seconds"].value == pytest.approx(3.0) and "Latency" not in run.scores
    assert run.table("trials")["seconds"].to_list() == [2.0, 3.0, 4.0]


def test_a_trial_beyond_the_plan_does_not_rewrite_it(tmp_path: Path) -> None:
    rewards = {str(task): ("airline", [1.0, 0.0, 1.0, 1.0]) for task in range(10)}
    rewards["3"] = ("airline", [1.0, 0.0, 1.0, 1.0, 0.0])
    path = tau2_file(tmp_path / "r.json", rewards, trials=4)
    run = scored(path)
    assert run.coverage.complete and run.details["beyond_plan"] == {"3": 1}
    assert any(note.startswith("1 conversation beyond the plan of 4 trials (task 3)") for note in run.notes)
    # Nine tasks passed in 3 of 4 trials, one in 3 of 5; no pass^5 over one task.
    assert run.scores["pass^1"].value == pytest.approx((9 * 3 / 4 + 3 / 5) / 10)
    assert run.scores["Reward"].value == pytest.approx((9 * 3 + 3) / 41)
    assert "pass^4" in run.scores and "pass^5" not in run.scores
    assert run.details["pass_1_if_missing"] == pytest.approx({"all_failed": 0.735, "all_passed": 0.735})
    assert scored(path, measures=["pass^5"]).details["pass_tasks"]["pass^5"] == 1


@pytest.mark.parametrize(
    "verdicts", [{"a": "1111", "b": "0-"}, {"a": "10-", "b": "1", "c": "--"}, {"a": "1-", "b": "01"}]
)
def test_bounds_of_pass_1_are_means_over_tasks_as_it_is(verdicts: dict[str, str], tmp_path: Path) -> None:
    rows = [
        f"{task},{trial},{verdict.strip('-')}"
        for task, each in verdicts.items()
        for trial, verdict in enumerate(each, 1)
    ]
    (tmp_path / "log.csv").write_text("\n".join(["task_id,trial,success", *rows, ""]))
    low, high = (
        sum(each.replace("-", rest).count("1") / len(each) for each in verdicts.values()) / len(verdicts)
        for rest in "01"
    )
    run = scored(tmp_path / "log.csv")
    assert run.details["pass_1_if_missing"] == pytest.approx({"all_failed": low, "all_passed": high})


def test_a_failed_conversation_that_was_held_again_is_not_missing(tmp_path: Path) -> None:
    path = tau2_file(tmp_path / "r.json", {"a": ("airline", [0.0, 1.0, 1.0])}, trials=2)
    made = json.loads(path.read_text())
    made["simulations"][0] |= {"termination_reason": "infrastructure_error", "reward_info": None}
    path.write_text(json.dumps(made))
    assert scored(path).coverage.complete


def test_two_conversations_of_one_trial_are_told() -> None:
    outcome = Outcome(success=True, task="a", reward=1.0, planned=(1, 2))
    run = score_attempts([Dialogue(id=name, turns=(), outcome=outcome) for name in "xy"], "r", resamples=0)
    assert any("several conversations have the same number of a trial (task a, trial 0)" in note for note in run.notes)
    assert run.coverage.complete


def test_a_reward_may_miss_the_highest_by_rounding(tmp_path: Path) -> None:
    path = tau2_file(tmp_path / "r.json", {"a": ("airline", [1.0000005]), "b": ("airline", [0.9999995])}, 1)
    assert scored(path).scores["pass^1"].value == 1.0


@pytest.mark.parametrize("reward", [-0.5, 1.5, 100])
def test_a_reward_beyond_its_bounds_is_an_error(reward: float, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps([tau_result("a", 0, reward)]))
    with pytest.raises(DialgaugeError, match=r"r.json, dialogue a#0: the reward must be between 0 and 1"):
        scored(tmp_path / "r.json")


@pytest.mark.parametrize("outcome", [Outcome(success=True, task="a", reward=float("nan")), Outcome(trial=1)])
def test_what_is_no_outcome_is_an_error(outcome: Outcome) -> None:
    with pytest.raises(DialgaugeError, match="dialogue x"):
        score_attempts([Dialogue(id="x", turns=(), outcome=outcome)], "r")


def test_conversations_without_a_reward_are_not_judged(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps([tau_result("a", 0, 1.0), tau_result("a", 1, None)]))
    run = scored(tmp_path / "r.json")
    assert run.details["not_judged"] == 1 and "not judged 1" in told(run)
    assert not run.coverage.complete and run.scores["pass^1"].value == 1.0


def test_the_numbers_of_trials_do_not_say_how_many_were_planned(tmp_path: Path) -> None:
    run = scored(tau_file(tmp_path / "r.json", {"a": "..++", "b": "..+-"}))
    assert run.coverage.complete and "4 conversations" not in run.notes
    assert run.scores["pass^2"].value == 0.5 and "pass^3" not in run.scores


def test_how_many_tasks_each_k_rests_on_is_kept(tmp_path: Path) -> None:
    run = scored(tau_file(tmp_path / "uneven.json", {"a": "+++", "b": "+-", "c": "-!", "d": "!"}))
    assert run.details["pass_tasks"] == {"pass^1": 3, "pass^2": 2, "pass^3": 1}
    assert run.coverage.sentence().endswith("3 of 4 tasks scored")


@pytest.mark.parametrize(("lacking", "told_so"), [(["tasks"], True), (["num_trials"], True), ([], False)])
def test_what_a_file_does_not_say_of_its_plan_is_told(lacking: list[str], told_so: bool, tmp_path: Path) -> None:
    path = tau2_file(tmp_path / "r.json", {task: ("airline", [1.0, 0.0]) for task in "ab"}, 2)
    content = json.loads(path.read_bytes())
    for key in lacking:
        content.pop(key, None)
        content["info"].pop(key, None)
    path.write_text(json.dumps(content))
    assert any("does not say how many tasks and trials" in note for note in scored(path).notes) == told_so


def test_amounts_have_their_median_and_number_beside_them(tmp_path: Path) -> None:
    costs = [0.01, 0.02, 0.03, 0.94]
    results = [tau_result(task, 0, 1.0, user_cost=cost) for task, cost in enumerate(costs)]
    (tmp_path / "r.json").write_text(json.dumps(results))
    cost = scored(tmp_path / "r.json").details["amounts"]["Cost(of=user)"]
    assert (cost["n"], cost["median"]) == (4, 0.025)


def test_what_cannot_be_scored_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "responses.json").write_bytes(EXAMPLES["mwzeval"])
    (tmp_path / "none.json").write_text("[\n]\n")
    path = tau2_file(tmp_path / "empty.json", {"a": ("airline", [None])}, 2)
    content = json.loads(path.read_bytes())
    del content["tasks"]
    path.write_text(json.dumps(content))
    for name, why in {
        "responses.json": "no conversations of agents",
        "none.json": "none.json: ",
        "empty.json": "it holds no dialogues",
        "absent.json": "there is no such file",
    }.items():
        done = typed(capsys, "review", tmp_path / name, "--no-store")
        assert (done.code, why in done.err) == (2, True), done.err
