"""Results of agents as runs, on the screen and in JSON: coverage first, exit codes, and what is wrong with files."""

from __future__ import annotations

import json
import os
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from dialgauge.dialogue import Dialogue, Outcome
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Store
from dialgauge.trials import coverage_sentences, score_attempts, score_results
from dialgauge.trials.trial_wordings import trials_sentence
from runs.contract import assert_run_contract
from support.agent_results import tau2_file, tau_file, tau_result
from support.commands import dialgauge
from support.examples import EXAMPLES

TASKS = {"a": "++", "b": "+-", "c": "--"}


def test_a_run_keeps_the_contract_in_memory_and_stored(tmp_path: Path) -> None:
    (tmp_path / "two.json").write_bytes(EXAMPLES["tau2"])
    files = [tau_file(tmp_path / "r.json", TASKS), tmp_path / "two.json"]
    for run in score_results(files, resamples=50).runs:
        assert_run_contract(run)
        stored = Store(tmp_path / "store").add(run)
        assert_run_contract(stored)
        assert stored.scores == run.scores
        assert stored.table("trials").equals(run.table("trials"))


def test_what_the_tables_hold(tmp_path: Path) -> None:
    (tmp_path / "two.json").write_bytes(EXAMPLES["tau2"])
    [run] = score_results([tmp_path / "two.json"], resamples=0).runs
    row = run.table("trials").row(0, named=True)
    assert row == {
        "dialogue": "slow[data]#0", "task": "slow[data]", "trial": 0, "end": "finished", "reason": "user_stop",
        "scored": True, "success": False, "reward": 0.0, "agent_cost": 0.25, "user_cost": 0.5, "turns": 3, "calls": 1,
    }  # fmt: skip
    assert run.table("reward_parts").rows() == [("slow[data]#0", "ENV_ASSERTION", 0.0)]
    assert run.table("calls").select("turn", "name", "outcome").rows() == [(2, "speed", "done")]
    wanted = {"Cost": 0.75, "Cost(of=agent)": 0.25, "Turns(of=user)": 2.0, "ToolCalls(of=user)": 1.0}
    assert {name: run.scores[name].value for name in wanted} == wanted
    # One of two trials is there.
    assert not run.coverage.complete
    assert "1 of 2 conversations" in trials_sentence(run)


def test_a_complete_file_on_the_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = dialgauge(capsys, "tasks", "score", tau_file(tmp_path / "r.json", TASKS), "--resamples", 50)
    assert done.code == 0
    first = done.out.splitlines()[0]
    assert first == (
        "r: 6 of 6 conversations scored (3 tasks x 2 trials; the file names no plan), 6 begun, 6 finished, 0 failed "
        "by infrastructure."
    )
    assert "pass^2" in done.out and "flip rate" in done.out and "noise floor" in done.out


def test_failed_by_infrastructure_is_named_and_not_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tau_file(tmp_path / "r.json", {"a": "++", "b": "+!", "c": "!."})
    done = dialgauge(capsys, "tasks", "score", path, "--json", "-", "--resamples", 0)
    assert done.code == 1
    document = json.loads(done.out)
    assert list(document)[:2] == ["schema", "complete"]
    coverage = document["coverage"]["r"]
    assert (coverage["begun"], coverage["finished"], coverage["infrastructure"]) == (5, 3, {"error": 2})
    assert coverage["planned"] == {"tasks": 3, "trials": 2, "conversations": 6}
    assert "INCOMPLETE: 3 of 6 conversations" in coverage["sentence"]
    assert coverage["pass_1_if_missing"] == {"all_failed": 0.5, "all_passed": 1.0}
    assert document["systems"][0]["scores"]["pass^1"]["value"] == 1.0
    assert done.err.startswith("r: INCOMPLETE: 3 of 6 conversations")


@pytest.mark.parametrize("ending", ["md", "csv", "json", "html", "tex"])
def test_every_table_says_how_much_there_is(ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, table = tau_file(tmp_path / "r.json", {"a": "++", "b": "+!"}), tmp_path / f"table.{ending}"
    assert dialgauge(capsys, "tasks", "score", path, "--table", table, "--resamples", 0).code == 1
    assert "3 of 4" in table.read_text()


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
    [run] = score_results([tmp_path / "r.json"], resamples=0).runs
    assert run.coverage.complete is counts
    assert run.details["infrastructure"] == ({} if counts else {reason: 1})
    assert run.scores["pass^1"].value == 0.0 if counts else "pass^1" not in run.scores
    assert any("'something new', not a known end" in note for note in run.notes) == (reason == "something new")


def test_an_unknown_end_without_a_verdict_is_no_verdict_on_the_agent(tmp_path: Path) -> None:
    made: dict[str, Any] = json.loads(EXAMPLES["tau2"])
    made["simulations"][0] |= {"termination_reason": "something new", "reward_info": None}
    (tmp_path / "r.json").write_text(json.dumps(made))
    [run] = score_results([tmp_path / "r.json"], resamples=0).runs
    assert run.details["infrastructure"] == {"something new": 1}


def test_costs_of_some_conversations_are_told(tmp_path: Path) -> None:
    whole = tau2_file(tmp_path / "whole.json", {f"t{n}": ("airline", [1.0]) for n in range(4)}, 1)
    made = json.loads(whole.read_text())
    for place, one in enumerate(made["simulations"]):
        one["agent_cost"] = 0.5
        one["user_cost"] = None if place == 2 else 0.25
    (tmp_path / "some.json").write_text(json.dumps(made))
    [run] = score_results([tmp_path / "some.json"], resamples=0).runs
    assert "the cost of the user is known of 3 of 4 scored conversations: means of cost are over those" in run.notes
    assert not any("cost of the agent" in note for note in run.notes)


def _with_parts_of_three(path: Path) -> Path:
    """Four conversations, three of which passed and have a breakdown of their reward."""
    tau2_file(path, {"a": ("airline", [1.0, 1.0]), "b": ("airline", [1.0, 0.0])}, 2)
    made = json.loads(path.read_text())
    for one in made["simulations"][:3]:
        one["reward_info"]["reward_breakdown"] = {"DB": 1.0}
    path.write_text(json.dumps(made))
    return path


def test_a_part_of_the_reward_says_how_many_conversations_it_rests_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _with_parts_of_three(tmp_path / "r.json")
    done = dialgauge(capsys, "tasks", "score", path, "--resamples", 0)
    assert "Reward[DB] (n = 3 of 4)   100.00" in done.out
    assert re.search(r"\nReward +75\.00\n", done.out)
    assert "r: Reward[DB] rests on 3 of 4 scored conversations" in " ".join(done.err.split())
    document = json.loads(dialgauge(capsys, "tasks", "score", path, "--resamples", 0, "--json", "-").out)
    [system] = document["systems"]
    assert (system["conversations"]["Reward"], system["conversations"]["Reward[DB]"]) == (4, 3)
    assert "|dialogues:4|" in system["scores"]["Reward"]["signature"]
    assert "|dialogues:3|" in system["scores"]["Reward[DB]"]["signature"]
    assert "|dialogues:4|" in document["signature"]
    [run] = score_results([path], measures=["Reward[DB]"], resamples=0).runs
    assert "|dialogues:3|" in run.signature


def test_a_part_that_all_conversations_have_needs_no_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = dialgauge(capsys, "tasks", "score", tau_file(tmp_path / "r.json", TASKS), "--resamples", 0)
    assert "Reward[r_actions]" in done.out and "n = " not in done.out and "rests on" not in done.err


def test_many_files_say_it_below_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [_with_parts_of_three(tmp_path / f"r{number}.json") for number in range(4)]
    done = dialgauge(capsys, "tasks", "score", *files, "--resamples", 0, "--wide")
    told = "Reward[DB] rests on a part of the conversations: r0 3 of 4, r1 3 of 4, r2 3 of 4, r3 3 of 4."
    assert told in " ".join(done.out.split())


def test_a_trial_beyond_the_plan_does_not_rewrite_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rewards = {str(task): ("airline", [1.0, 0.0, 1.0, 1.0]) for task in range(10)}
    rewards["3"] = ("airline", [1.0, 0.0, 1.0, 1.0, 0.0])
    path = tau2_file(tmp_path / "r.json", rewards, trials=4)
    done = dialgauge(capsys, "tasks", "score", path, "--resamples", 0)
    assert done.code == 0
    assert done.out.splitlines()[0] == (
        "r: 40 of 40 conversations scored (10 tasks x 4 trials planned), 41 begun, 41 finished, 0 failed by "
        "infrastructure, 1 conversation beyond the plan of 4 trials."
    )
    assert "1 conversation beyond the plan of 4 trials (task 3): each counts as one more trial" in done.err
    assert "so that 41 conversations are scored in all, 40 of those planned and 1 more (Reward is the mean" in done.err
    [run] = score_results([path], resamples=0).runs
    assert run.coverage.complete and run.details["beyond_plan"] == {"3": 1}
    # Nine tasks passed in 3 of 4 trials, one in 3 of 5; no pass^5 over one task.
    assert run.scores["pass^1"].value == pytest.approx((9 * 3 / 4 + 3 / 5) / 10)
    assert run.scores["Reward"].value == pytest.approx((9 * 3 + 3) / 41)
    assert "pass^4" in run.scores and "pass^5" not in run.scores
    assert run.details["pass_1_if_missing"] == pytest.approx({"all_failed": 0.735, "all_passed": 0.735})
    [named] = score_results([path], measures=["pass^5"], resamples=0).runs
    assert any("pass^5 on 1" in sentence for sentence in coverage_sentences([named]))


def test_what_rests_on_fewer_tasks_than_pass_1_says_so_in_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once = tau2_file(tmp_path / "r.json", {"a": ("airline", [1.0, 1.0]), "b": ("airline", [0.0])}, trials=1)
    shown = dialgauge(capsys, "tasks", "score", once, "--resamples", 0).out
    assert "noise floor over trials (1 task) " in shown and "flip rate (1 task) " in shown
    assert "two runs of the same agent on the tasks tried more than once" in shown
    twice = tau_file(tmp_path / "t.json", {"a": "++", "b": "-.", "c": "++"})
    shown = dialgauge(capsys, "tasks", "score", twice, "--resamples", 0).out
    assert "pass^2 (2 tasks) " in shown and "pass^1 " in shown
    even = tau_file(tmp_path / "e.json", {"a": "++", "b": "--"})
    assert "tasks)" not in dialgauge(capsys, "tasks", "score", even, "--resamples", 0).out.partition("How con")[0][80:]


def test_a_trial_beyond_the_plan_makes_up_for_none_of_another_task(tmp_path: Path) -> None:
    path = tau2_file(tmp_path / "r.json", {"a": ("airline", [1.0, 1.0, 1.0]), "b": ("airline", [0.0, None])}, trials=2)
    [run] = score_results([path], resamples=0).runs
    assert trials_sentence(run).startswith("INCOMPLETE: 3 of 4 conversations scored (2 tasks x 2 trials planned)")
    assert run.details["pass_1_if_missing"] == {"all_failed": 0.5, "all_passed": 0.75}


@pytest.mark.parametrize(
    "verdicts", [{"a": "1111", "b": "0-"}, {"a": "10-", "b": "1", "c": "--"}, {"a": "1-", "b": "01"}]
)
def test_bounds_of_pass_1_are_means_over_tasks_as_it_is(verdicts: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = [
        f"{task},{trial},{verdict.strip('-')}"
        for task, each in verdicts.items()
        for trial, verdict in enumerate(each, 1)
    ]
    path.write_text("\n".join(["task_id,trial,success", *rows, ""]))
    low, high = (
        sum(each.replace("-", rest).count("1") / len(each) for each in verdicts.values()) / len(verdicts)
        for rest in "01"
    )
    [run] = score_results([path], resamples=0).runs
    assert run.details["pass_1_if_missing"] == pytest.approx({"all_failed": low, "all_passed": high})


def test_a_failed_conversation_that_was_held_again_is_not_missing(tmp_path: Path) -> None:
    path = tau2_file(tmp_path / "r.json", {"a": ("airline", [0.0, 1.0, 1.0])}, trials=2)
    made = json.loads(path.read_text())
    made["simulations"][0] |= {"termination_reason": "infrastructure_error", "reward_info": None}
    path.write_text(json.dumps(made))
    [run] = score_results([path], resamples=0).runs
    assert run.coverage.complete
    assert "1 failed by infrastructure (infrastructure_error 1), 1 conversation beyond" in trials_sentence(run)


def test_two_conversations_of_one_trial_are_told() -> None:
    outcome = Outcome(success=True, task="a", reward=1.0, planned=(1, 2))
    talks = [Dialogue(id=name, turns=(), outcome=outcome) for name in "xy"]
    run = score_attempts(talks, "r", resamples=0)
    assert "several conversations have the same number of a trial (task a, trial 0): each counts as a trial" in (
        run.notes
    )
    assert run.coverage.complete


def test_a_reward_may_miss_the_highest_by_rounding(tmp_path: Path) -> None:
    path = tau2_file(tmp_path / "r.json", {"a": ("airline", [1.0000005]), "b": ("airline", [0.9999995])}, 1)
    [run] = score_results([path], resamples=0).runs
    assert run.scores["pass^1"].value == 1.0


def test_a_file_in_which_everything_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = dialgauge(capsys, "tasks", "score", tau_file(tmp_path / "r.json", {"a": "!!"}))
    assert done.code == 1
    assert done.out.startswith("r: INCOMPLETE: 0 of 2 conversations")
    assert "0 finished, 2 failed by infrastructure (error 2)" in done.out


def test_conversations_without_a_reward_are_not_judged(tmp_path: Path) -> None:
    results = [tau_result("a", 0, 1.0), tau_result("a", 1, None)]
    (tmp_path / "r.json").write_text(json.dumps(results))
    [run] = score_results([tmp_path / "r.json"], resamples=0).runs
    assert run.details["not_judged"] == 1
    assert "1 not judged" in trials_sentence(run)
    assert not run.coverage.complete
    assert run.scores["pass^1"].value == 1.0


def test_half_a_reward_is_a_failure_with_half_a_reward(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps([tau_result("a", 0, 0.5)]))
    [run] = score_results([tmp_path / "r.json"], resamples=0).runs
    assert (run.scores["pass^1"].value, run.scores["Reward"].value) == (0.0, 0.5)


@pytest.mark.parametrize("reward", [-0.5, 1.5, 100])
def test_a_reward_beyond_its_bounds_is_an_error(reward: float, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps([tau_result("a", 0, reward)]))
    with pytest.raises(DialgaugeError, match=r"r.json, dialogue a#0: the reward must be between 0 and 1"):
        score_results([tmp_path / "r.json"])


@pytest.mark.parametrize("outcome", [Outcome(success=True, task="a", reward=float("nan")), Outcome(trial=1)])
def test_native_conversations_that_say_nonsense_are_refused(outcome: Outcome) -> None:
    dialogue = Dialogue(id="d", turns=(), outcome=outcome)
    with pytest.raises(DialgaugeError, match="dialogue d"):
        score_attempts([dialogue], "r")


def test_a_converted_file_gives_the_same_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tau_file(tmp_path / "r.json", {"a": "++", "b": "+."})
    assert dialgauge(capsys, "data", "convert", path, tmp_path / "r.jsonl", "--to", "native").code == 0
    [one], [other] = score_results([path], resamples=20).runs, score_results([tmp_path / "r.jsonl"], resamples=20).runs
    assert one.scores == other.scores
    details = [run.details | {"integrity": None} for run in (one, other)]  # which takes the log as it was written
    assert details[0] == details[1]
    done = dialgauge(capsys, "tasks", "score", tmp_path / "r.jsonl")
    assert (done.code, done.out.splitlines()[0][:34]) == (1, "r: INCOMPLETE: 3 of 4 conversation")


def test_results_from_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content, pipe = tau_file(tmp_path / "r.json", TASKS).read_bytes(), tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    done = dialgauge(capsys, "tasks", "score", pipe, "--resamples", 0)
    writer.join()
    assert done.code == 0 and "6 of 6 conversations" in done.out


def test_as_many_trials_as_a_file_claims_cost_nothing(tmp_path: Path) -> None:
    """Found by fuzzing: a measure for each of a million trials."""
    [run] = score_results(
        [tau2_file(tmp_path / "r.json", {"a": ("airline", [1.0])}, trials=1_000_000)], resamples=0
    ).runs
    assert [name for name in run.scores if name.startswith("pass")] == ["pass^1"]
    assert "1 of 1,000,000 conversations" in trials_sentence(run)
    assert any("left out above k = 1" in note for note in run.notes)


def test_stored_runs_are_shown_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, store = tau_file(tmp_path / "r.json", TASKS), tmp_path / "store"
    scored = dialgauge(capsys, "tasks", "score", path, "--run", "--store", store, "--resamples", 20)
    [run] = Store(store).list()
    again = dialgauge(capsys, "tasks", "score", "--from", run.id, "--store", store)
    assert again.out == scored.out


@pytest.mark.parametrize("option", [["--by", "domain"], ["--worst", "3"], ["--strict"], ["--domains", "file"]])
def test_options_of_responses_do_not_fit(option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = dialgauge(capsys, "tasks", "score", tau_file(tmp_path / "r.json", TASKS), *option)
    assert done.code == 2
    assert f"leave out {option[0]}" in done.err


def test_files_of_two_kinds_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, other = tau_file(tmp_path / "r.json", TASKS), tmp_path / "other.json"
    other.write_bytes(EXAMPLES["mwzeval"])
    for command in (("tasks", "score"), ("compare",)):
        done = dialgauge(capsys, *command, path, other)
        assert done.code == 2
        assert "other.json: " in done.err and "it is in the format mwzeval; name files of one kind" in done.err


def test_one_file_of_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.json").write_bytes(EXAMPLES["mwzeval"])
    done = dialgauge(capsys, "tasks", "score", tmp_path / "p.json")
    assert done.code == 2
    assert "give the gold file and at least one response file" in done.err


def test_a_list_with_nothing_in_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "none.json").write_text("[\n]\n")
    results = tau_file(tmp_path / "r.json", TASKS)
    for arguments in ([tmp_path / "none.json"], [results, tmp_path / "none.json"]):
        done = dialgauge(capsys, "tasks", "score", *arguments)
        assert done.code == 2
        assert "none.json: " in done.err


@pytest.mark.parametrize("place", [0, 299])
def test_a_reward_that_is_no_number_is_pointed_at(
    place: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At the beginning of a file, by which its format is told, and far behind it."""
    results = [tau_result("a", trial, float("nan") if trial == place else 1.0) for trial in range(300)]
    results[1]["traj"][0]["content"] = "hello, NaN" * 30_000
    (tmp_path / "r.json").write_text(json.dumps(results, indent=0))
    line = (tmp_path / "r.json").read_text().split("\n").index('"reward": NaN,') + 1
    done = dialgauge(capsys, "tasks", "score", tmp_path / "r.json")
    assert done.code == 2
    assert f"r.json: it is not valid JSON: NaN (line {line:,}) is not a JSON value; write null" in done.err


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = dialgauge(capsys, "tasks", "score", tmp_path / "r.json")
    assert done.code == 2
    assert "r.json: there is no such file" in done.err


def test_the_numbers_of_trials_do_not_say_how_many_were_planned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tau_file(tmp_path / "r.json", {"a": "..++", "b": "..+-"})
    done = dialgauge(capsys, "tasks", "score", path)
    assert done.code == 0
    assert "r: 4 of 4 conversations scored (2 tasks x 2 trials; the file names no plan)" in done.out
    assert "the trials are those numbered 2, 3." in done.out
    [run] = score_results([path], resamples=0).runs
    assert run.scores["pass^2"].value == 0.5 and "pass^3" not in run.scores


def test_where_a_file_says_how_many_were_planned_that_counts(tmp_path: Path) -> None:
    """Trials 2 and 3 of four that were planned are half of them; of two that were planned they are all."""
    rewards = {"a": ("airline", [None, None, 1.0, 1.0])}
    [half] = score_results([tau2_file(tmp_path / "half.json", rewards, trials=4)], resamples=0).runs
    assert "INCOMPLETE: 2 of 4 conversations" in trials_sentence(half)
    assert trials_sentence(half).endswith("the trials are those numbered 2, 3")
    [whole] = score_results([tau2_file(tmp_path / "whole.json", rewards, trials=2)], resamples=0).runs
    assert whole.coverage.complete and whole.details["planned"]["conversations"] == 2


def test_a_trial_that_one_task_has_was_planned_for_all(tmp_path: Path) -> None:
    [run] = score_results([tau_file(tmp_path / "r.json", {"a": "++.+", "b": "+.++"})], resamples=0).runs
    assert "INCOMPLETE: 6 of 8 conversations" in trials_sentence(run)


def test_several_domains_in_one_file_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rewards = {"a": ("airline", [1.0, 0.0]), "b": ("airline", [1.0, 1.0]), "c": ("retail", [0.0, 0.0])}
    path = tau2_file(tmp_path / "r.json", rewards, trials=2)
    done = dialgauge(capsys, "tasks", "score", path, "--json", "-", "--run", "--store", tmp_path / "store")
    assert "r: it mixes 2 domains, pass^1: airline 75.00 (2 tasks), retail 0.00 (1 task)." in done.err
    told = json.loads(done.out)["coverage"]["r"]["domains"]
    assert told == {"airline": {"pass^1": 0.75, "tasks": 2}, "retail": {"pass^1": 0.0, "tasks": 1}}
    [run] = Store(tmp_path / "store").list()
    assert "domain:airline,retail" in run.signature
    one = tau2_file(tmp_path / "one.json", {"a": ("airline", [1.0])}, trials=1)
    assert "mixes" not in dialgauge(capsys, "tasks", "score", one).out


class TestExpectedValues:
    @pytest.fixture
    def values(self, expected: Path) -> Any:
        return json.loads((expected / "tau_pass.json").read_bytes())

    @pytest.mark.parametrize("name", ["tau_airline_gpt-4o", "tau2_airline_grok-3", "tau2_telecom-workflow_grok-3"])
    def test_complete_files(self, name: str, values: Any, shared_data: Path) -> None:
        wanted = values[name]
        [run] = score_results([shared_data / "tau" / f"{name}.json.gz"], resamples=0).runs
        assert run.coverage.complete
        planned = run.details["planned"]
        assert [planned[key] for key in ("tasks", "trials", "conversations")] == [
            wanted[key] for key in ("tasks", "trials", "conversations")
        ]
        assert run.scores["Reward"].value == pytest.approx(wanted["mean_reward"], abs=1e-12)
        ks = [key for key in wanted if key.startswith("pass^")]
        assert len(ks) == wanted["trials"]
        for key in ks:
            assert run.scores[key].value == pytest.approx(wanted[key], abs=1e-12)
        assert f"pass^{wanted['trials'] + 1}" not in run.scores

    def test_as_published(self, shared_data: Path) -> None:
        [run] = score_results([shared_data / "tau" / "tau_airline_gpt-4o.json.gz"], resamples=0).runs
        assert [round(run.scores[f"pass^{k}"].value or 0, 3) for k in (1, 2, 3, 4)] == [0.42, 0.273, 0.22, 0.2]

    def test_the_cut_off_file(self, values: Any, shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        wanted = values["tau2_airline_grok-3-mini_cut_off"]
        path = shared_data / "tau" / "tau2_airline_grok-3-mini_cut_off.json.gz"
        [run] = score_results([path], resamples=0).runs
        assert run.details["planned"] == {
            "tasks": wanted["tasks_planned"],
            "trials": wanted["trials_planned"],
            "conversations": 200,
        }
        assert run.details["begun"] == wanted["conversations"]
        assert run.coverage["tasks"].read == wanted["tasks_begun"]
        assert run.scores["Reward"].value == pytest.approx(wanted["mean_reward_of_those"])
        done = dialgauge(capsys, "tasks", "score", path, "--resamples", 20)
        assert done.code == 1
        assert "14 of 200 conversations" in done.out.splitlines()[0]
        assert coverage_sentences([run])[0].startswith("tau2_airline_grok-3-mini_cut_off: INCOMPLETE: 14 of 200")
        assert "tau2_airline_grok-3-mini_cut_off (14 of 200)" in done.out
        document = json.loads(dialgauge(capsys, "tasks", "score", path, "--json", "-", "--resamples", 0).out)
        assert document["complete"] is False
        assert "14 of 200 conversations" in document["coverage"]["tau2_airline_grok-3-mini_cut_off"]["sentence"]


def test_a_file_without_conversations_says_how_many_were_planned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tau2_file(tmp_path / "r.json", {str(task): ("airline", [None] * 2) for task in range(10)}, 2)
    for measures in ([], ["-m", "pass^1"]):
        done = dialgauge(capsys, "tasks", "score", path, *measures)
        assert done.code == 1
        assert done.out.startswith("r: INCOMPLETE: 0 of 20 conversations scored (10 tasks x 2 trials planned), 0 begun")
    done = dialgauge(capsys, "tasks", "score", path, "--json", "-", "--run", "--store", tmp_path / "store")
    assert done.code == 1
    document = json.loads(done.out)
    assert document["coverage"]["r"]["planned"] == {"tasks": 10, "trials": 2, "conversations": 20}
    assert document["systems"][0]["scores"] == {} and document["systems"][0]["notes"] == []
    [stored] = Store(tmp_path / "store").survey().runs
    assert stored.coverage["conversations"].expected == 20


def test_an_empty_file_that_does_not_say_what_was_planned_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tau2_file(tmp_path / "r.json", {"a": ("airline", [None])}, 2)
    content = json.loads(path.read_bytes())
    del content["tasks"]
    path.write_text(json.dumps(content))
    done = dialgauge(capsys, "tasks", "score", path)
    assert done.code == 2 and "it holds no dialogues" in done.err


@pytest.mark.parametrize(
    ("lacking", "told"),
    [
        (["tasks"], "the file does not say how many tasks were planned: taken to be the 2 tasks it has"),
        (["num_trials"], "the file does not say how many trials were planned: taken to be 2 trials each"),
        (["tasks", "num_trials"], "the file does not say how many tasks and trials were planned"),
        ([], ""),
    ],
)
def test_what_a_file_does_not_say_of_its_plan_is_told(lacking: list[str], told: str, tmp_path: Path) -> None:
    path = tau2_file(tmp_path / "r.json", {task: ("airline", [1.0, 0.0]) for task in "ab"}, 2)
    content = json.loads(path.read_bytes())
    for key in lacking:
        content.pop(key, None)
        content["info"].pop(key, None)
    path.write_text(json.dumps(content))
    [run] = score_results([path], resamples=0).runs
    notes = [note for note in run.notes if "does not say how many" in note]
    assert len(notes) == bool(told) and "".join(notes).startswith(told)


def test_how_many_tasks_each_k_rests_on_is_told_where_they_differ(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    uneven = tau_file(tmp_path / "uneven.json", {"a": "+++", "b": "+-", "c": "-!", "d": "!"})
    done = dialgauge(capsys, "tasks", "score", uneven, "--resamples", 0)
    told = "pass^1 rests on 3 tasks, pass^2 on 2, pass^3 on 1, so scores and intervals need not fall with k; flip rate"
    assert told in done.out.partition("Success and")[0]
    done = dialgauge(capsys, "tasks", "score", uneven, "--resamples", 0, "--json", "-")
    document = json.loads(done.out)
    assert "need not fall with k" in document["coverage"]["uneven"]["pass_on_other_tasks"]
    assert document["coverage"]["uneven"]["pass_tasks"] == {"pass^1": 3, "pass^2": 2, "pass^3": 1}
    even = tau_file(tmp_path / "even.json", TASKS)
    assert "rests on" not in dialgauge(capsys, "tasks", "score", even, "--resamples", 0).out


def test_tasks_that_were_tried_in_part_are_no_tasks_without_a_score(tmp_path: Path) -> None:
    [run] = score_results([tau_file(tmp_path / "r.json", {"a": "+.", "b": "+-", "c": "!!"})], resamples=0).runs
    assert run.coverage.sentence() == "3 of 6 conversations scored, 2 failed; 2 of 3 tasks scored"


def test_one_id_for_two_tasks_in_one_file_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Results of two domains, put into one list: their trials would be taken for those of one task."""
    first, second = tau_result("0", 0, 1.0), tau_result("0", 1, 0.0)
    second["info"]["task"]["instruction"] = "You want something else."
    (tmp_path / "r.json").write_text(json.dumps([first, second]))
    done = dialgauge(capsys, "tasks", "score", tmp_path / "r.json")
    assert done.code == 2 and "two different tasks have the id '0'" in done.err
    assert "two task sets" in done.err and "changed between trials" in done.err


@pytest.mark.parametrize("swapped", [1, 8])
def test_mixed_up_ids_are_read_and_told_with_their_evidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], swapped: int
) -> None:
    """What is told to trials of one id stands under other ids too: conversations are misplaced, no task sets mixed."""
    results = [tau_result(str(task), trial, 1.0) for trial in range(4) for task in range(10)]
    for result in results:
        about = f"customer_{result['task_id']}"
        result["info"]["task"]["instruction"] = f"You are {about}."
    for first in range(swapped):
        one, other = results[first], results[(first + 1) % 10 + 10]
        one["info"]["task"], other["info"]["task"] = other["info"]["task"], one["info"]["task"]
    (tmp_path / "r.json").write_text(json.dumps(results))
    done = dialgauge(capsys, "tasks", "score", tmp_path / "r.json", "--resamples", 0)
    assert f"{2 * swapped} are foreign" in done.out and "stores the instruction of another task" in done.out
    assert "ids seem to be mixed up" in done.out and "pass^4" not in done.out
    done = dialgauge(capsys, "data", "check", tmp_path / "r.json")
    assert done.code == 1 and f"{2 * swapped} conversations are filed under another task" in done.out
    assert "sound" not in done.out


def test_amounts_have_their_median_and_number_beside_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    costs = [0.01, 0.02, 0.03, 0.94]
    results = [tau_result(task, 0, 1.0, user_cost=cost) for task, cost in enumerate(costs)]
    (tmp_path / "r.json").write_text(json.dumps(results))
    done = dialgauge(capsys, "tasks", "score", tmp_path / "r.json")
    assert re.search(r"Cost\(of=user\) \(dollars\) +0\.2500 \[.*\] +0\.0250 +4 +94\.0", done.out)
    done = dialgauge(capsys, "tasks", "score", tmp_path / "r.json", "--json", "-")
    cost = json.loads(done.out)["systems"][0]["scores"]["Cost(of=user)"]
    assert (cost["n"], cost["median"], cost["largest_share"]) == (4, 0.025, pytest.approx(0.94))
    other = tau_file(tmp_path / "other.json", TASKS)
    done = dialgauge(capsys, "tasks", "score", tmp_path / "r.json", other)
    assert re.search(r"Cost\(of=user\) +r +0\.0250 +4 +94\.0", done.out)
