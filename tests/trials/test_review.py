"""``dialgauge review``: what was done to a log is found, what cannot be known is said, and it stays short."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import dialgauge
from dialgauge.demo.steps import DESK_LOG
from dialgauge.runs import Run, Store
from dialgauge.trials import LogAudit, audit_log, doubts, read_log
from dialgauge.worlds.tools import load_tool_domain
from support.agent_results import desk_tasks, tau_file, tau_result
from support.commands import dialgauge as typed
from support.scripted_logs import DESK_TASKS, SCRIPTS, write_desk_log, write_scripted_log

Capture = pytest.CaptureFixture[str]
TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test works in a folder of its own, with a store in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DIALGAUGE_RUNS", "runs")


def desk_log(script: str, trials: int = 3, tasks: Path = DESK_TASKS) -> Path:
    write_scripted_log(load_tool_domain("depot"), tasks, script, Path("log.json"), trials=trials)
    return Path("log.json")


def changed(log: Path) -> Any:
    return msgspec.json.decode(log.read_bytes())


def reviewed(log: Path, **options: Any) -> Run:
    [run] = dialgauge.review(log, **{"resamples": 0, **options}).runs
    return run


def answers(run: Run) -> dict[str, str]:
    """The answers of the summary by check."""
    rows = dialgauge.RunSet([run]).page().tables["summary"].rows
    return {str(check.value): str(answer.value) for check, answer in rows}


def test_a_sound_log_is_stored_and_takes_few_lines(capsys: Capture) -> None:
    done = typed(capsys, "review", desk_log("gold"), "--domain", "depot", "--json", "review.json")
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) + len(done.err.splitlines()) <= 25
    run = Store().open("latest")
    told = answers(run)
    assert told["match"].startswith("15 of 15 conversations match their task.")
    assert told["replay"] == "Replay confirms all 15 recorded rewards."
    assert told["fairness"] == "1 of 5 tasks looks unfair: an expected write fails (full-window)."
    document = json.loads(Path("review.json").read_bytes())
    assert [each["id"] for each in document["runs"]] == [run.id]
    assert document["page"]["verdict"].startswith("100.0% of tasks passed (pass^1")


def test_a_conversation_under_another_task_is_found(capsys: Capture) -> None:
    log = desk_log("gold")
    content = changed(log)
    filed = {key: content["simulations"][4][key] for key in ("task_id", "trial", "id")}
    content["simulations"][4] = {**content["simulations"][0], **filed}
    log.write_bytes(msgspec.json.encode(content))
    done = typed(capsys, "review", log, "--domain", "depot")
    told = " ".join(done.out.split())
    assert done.code == 1
    assert "1 of 15 conversations matches another task (pay-duty#1 fits task later-window)" in told
    assert "pay-duty#1 filed under task pay-duty, which it does not match: it fits task later-window" in told


def test_beyond_one_in_ten_nothing_is_said_per_task(capsys: Capture) -> None:
    log = desk_log("gold", 2, desk_tasks(Path("desk.json")))
    content = changed(log)
    for one in content["simulations"]:
        one["task_id"] = {"window": "duty", "duty": "window"}.get(one["task_id"], one["task_id"])
    log.write_bytes(msgspec.json.encode(content))
    done = typed(capsys, "review", log, "--domain", "depot")
    run = Store().open("latest")
    assert done.code == 1 and "Figures by task are left out" in done.out
    assert "pass^1" in run.scores and "pass^2" not in run.scores and "suspects" not in run.tables
    refused = typed(capsys, "review", log, "-m", "pass^2")
    assert (refused.code, "it goes by task" in refused.err) == (2, True)
    write_scripted_log(load_tool_domain("depot"), Path("desk.json"), "nothing", Path("sound.json"), trials=2)
    assert "a comparison pairs tasks" in " ".join(typed(capsys, "review", "sound.json", log).out.split())


def test_a_verdict_that_does_not_replay_is_told(capsys: Capture) -> None:
    log = desk_log("gold", 1, desk_tasks(Path("desk.json")))
    content = changed(log)
    duty = content["simulations"][1]
    duty["reward_info"]["reward"] = 0.0
    duty["messages"][5]["content"] = '{"paid":1,"balance":2}'
    log.write_bytes(msgspec.json.encode(content))
    done = typed(capsys, "review", log, "--domain", "depot")
    assert done.code == 1 and "1 recorded verdict contradicted (duty#0)" in " ".join(done.out.split())
    row = Store().open("latest").table("replays").filter(dialogue="duty#0").row(0, named=True)
    assert (row["agrees"], row["contradicts"], row["reliable"]) == (False, "replay", False)
    assert (row["drift_message"], row["drift_tool"]) == (4, "pay_duty")


def test_criteria_that_the_rules_do_not_know_are_not_replayed(capsys: Capture) -> None:
    """A fork of τ² has a criterion of its own: no verdict of ours contradicts its."""
    log = desk_log("gold", 1, desk_tasks(Path("desk.json")))
    content = changed(log)
    content["tasks"][1]["evaluation_criteria"]["graded_by_people"] = ["was it polite?"]
    content["simulations"][1]["reward_info"] |= {"reward": 0.0, "reward_breakdown": {"DB": 0.0}}
    log.write_bytes(msgspec.json.encode(content))
    done = typed(capsys, "review", log, "--domain", "depot")
    run = Store().open("latest")
    assert done.code == 0, done.out
    assert run.table("replays").filter(dialogue="duty#0")["replayed"].to_list() == [None]
    assert "1 conversation not replayed" in answers(run)["replay"]


def test_an_outcome_that_a_task_accepts_besides_the_expected_one_is_right() -> None:
    log = desk_log("nothing", 1, desk_tasks(Path("desk.json")))
    content = changed(log)
    content["tasks"][0]["evaluation_criteria"]["acceptable_outcomes"] = [{"actions": []}]
    content["simulations"][0]["reward_info"] |= {"reward": 1.0, "reward_breakdown": {"DB": 1.0}}
    log.write_bytes(msgspec.json.encode(content))
    assert answers(reviewed(log, domain="depot"))["replay"] == "Replay confirms all 3 recorded rewards."


def test_advice_to_name_a_domain_is_followed_by_a_replay() -> None:
    log = desk_log("gold", 1)
    told = answers(reviewed(log))
    assert told["replay"].endswith("are missing (name them: --domain FOLDER).")
    assert told["fairness"] == "Not checked: this needs the tools and records of the domain."
    assert answers(reviewed(log, domain="depot"))["replay"] == "Replay confirms all 5 recorded rewards."


def test_calls_that_name_users_of_no_task_decide_nothing() -> None:
    results = [tau_result(task, 0, 1.0) for task in "ab"]
    for result in results:
        call = {
            "id": "c",
            "type": "function",
            "function": {"name": "get_user", "arguments": '{"user_id": "ann_lee_1"}'},
        }
        result["traj"] += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "name": "get_user", "content": "{}"},
        ]
    Path("log.json").write_text(json.dumps(results))
    why = "undecidable: no call names an id that a task has."
    assert why in answers(reviewed(Path("log.json")))["match"]


@pytest.mark.parametrize("reward", [0.0, 1.0])
def test_rewards_that_their_own_parts_contradict_are_told(capsys: Capture, reward: float) -> None:
    results = [tau_result(task, 0, float(task % 2)) for task in range(6)]
    for result in results:
        result["reward"] = reward
    Path("log.json").write_text(json.dumps(results))
    done = typed(capsys, "review", "log.json")
    assert done.code == 1 and "3 recorded verdicts contradicted" in done.out
    assert set(Store().open("latest").table("replays")["contradicts"].drop_nulls()) == {"parts"}


def test_grading_again_by_other_tasks(capsys: Capture) -> None:
    log = desk_log("gold", 1, desk_tasks(Path("desk.json")))
    other = desk_tasks(Path("other.json"), window="You changed your mind.")
    content = json.loads(other.read_text())
    content[1]["evaluation_criteria"]["communicate_info"] = ["never said"]
    other.write_text(json.dumps(content[:2]))
    done = typed(capsys, "review", log, "--tasks", other, "--domain", "depot")
    before, after = Store().survey().runs[:2]
    assert {before.name, after.name} == {"log as recorded", "log graded again"}, done.err
    verdicts = {run.name: run.table("trials").select("dialogue", "success").rows() for run in (before, after)}
    assert verdicts == {"log as recorded": [("duty#0", True)], "log graded again": [("duty#0", False)]}
    assert "1 task with other instructions left out: window" in before.notes
    assert "1 task that other.json does not have left out: nothing" in before.notes


def test_a_log_graded_again_by_its_own_tasks_keeps_its_verdicts(shared_data: Path) -> None:
    worlds = shared_data / "tau_worlds"
    log = shared_data / "tau" / "tau_airline_gpt-4o.json.gz"
    before, after = dialgauge.review(log, tasks=worlds / "airline" / "tasks.json.gz", resamples=0).runs
    assert before.table("trials")["success"].to_list() == after.table("trials")["success"].to_list()
    assert before.table("trials").height == 52
    assert any(note.startswith("37 tasks with other instructions left out") for note in before.notes)
    shop = load_tool_domain("retail", root=shared_data)
    write_scripted_log(shop, worlds / "retail" / "tasks.json.gz", "gold", Path("gold.json"))
    before, after = dialgauge.review(
        Path("gold.json"), tasks=worlds / "retail" / "tasks_verified.json.gz", resamples=0
    ).runs
    flipped = after.table("trials").filter(success=False)["dialogue"].to_list()
    assert flipped == ["33#0", "34#0", "49#0"] and before.scores["pass^1"].value == 1.0


def scripted(data: Path, script: str, name: str) -> tuple[LogAudit, Run]:
    path, log = data / "tau_worlds" / "retail" / f"{name}.json.gz", Path(f"{script}.json")
    shop = load_tool_domain("retail", root=data)
    write_scripted_log(shop, path, script, log)
    return audit_log(read_log(log), shop), reviewed(log)


@pytest.mark.parametrize("name", ["tasks", pytest.param("tasks_verified", marks=pytest.mark.soak)])
def test_in_the_shop_gold_passes_and_nothing_and_wrong_do_not(name: str, shared_data: Path) -> None:
    passed = {}
    for script in SCRIPTS:
        audit, run = scripted(shared_data, script, name)
        assert (audit.domain, audit.integrity.foreign, audit.differences) == ("retail", [], [])
        assert audit.drift["differs"] == 0 and run.table("replays")["agrees"].all()
        table = dialgauge.RunSet([run]).page().tables
        assert "summary" in table
        idle = {facts.id for facts in audit.facts if facts.null_pass}
        success = dict(run.table("trials").select("task", "success").rows())
        passed[script] = [sum(success[task] for task in tasks) / len(tasks) for tasks in (idle, success.keys() - idle)]
        if script == "wrong":
            failing = {
                facts.id for facts in audit.facts if any(call.kind == "write" for call in facts.failing_gold or ())
            }
            right = {one.task for one in audit.conversations if one.replay_parts["DB"]}
            assert right - idle <= failing, "a wrong value is only harmless in a call that fails anyway"
    assert passed["gold"] == [1.0, 1.0] and passed["nothing"][1] == 0.0 and passed["nothing"][0] > 0.5


def test_only_tasks_that_the_log_has_are_called_unfair() -> None:
    log = desk_log("gold", 1)
    content = changed(log)
    content["simulations"] = [each for each in content["simulations"] if each["task_id"] != "full-window"]
    log.write_bytes(msgspec.json.encode(content))
    assert answers(reviewed(log, domain="depot"))["fairness"] == "None of 4 tasks looks unfair."


def test_what_cannot_be_said_of_chat_messages_is_said(capsys: Capture) -> None:
    rows = [
        {"task_id": task, "trial": trial, "reward": float(trial > 0), "messages": TALK}
        for task in "ab"
        for trial in (0, 1)
    ]
    Path("chat.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = typed(capsys, "review", "chat.jsonl")
    told = " ".join(done.out.split())
    assert done.code == 0 and "50.0% of tasks passed" in told
    assert "Not checked: this is not a log of τ-bench" in told and "a#0 1 of 2 trials passed" in told
    assert "the user erred" not in told, "no instructions, no faults of users"


def test_durations_and_latency_are_shown_where_the_log_has_them() -> None:
    rows = [
        {"task_id": task, "success": True, "messages": TALK, "seconds": 3.0, "agent_seconds": 1.0} for task in "abc"
    ]
    Path("chat.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert answers(reviewed(Path("chat.jsonl")))["amounts"] == "A conversation takes 3.0 s (median 3.0 s)."


def test_users_faults_are_a_reason_where_the_log_has_instructions() -> None:
    run = reviewed(Path(__file__).parents[2] / "docs" / "examples" / "desk-1.jsonl")
    assert answers(run)["user"].startswith("The user seems to err in 2 of 30 conversations (withheld 2)")


def test_of_chat_messages_different_instructions_and_missing_verdicts_are_told(capsys: Capture) -> None:
    rows = [{"task_id": "a", "trial": trial, "messages": TALK, "instruction": f"want {trial}"} for trial in (0, 1)]
    Path("chat.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = typed(capsys, "review", "chat.jsonl")
    assert done.code == 1 and "he trials of 1 task have different instructions (a)" in " ".join(done.out.split())
    assert any("no conversation has a verdict" in note for note in Store().open("latest").notes)


def test_the_log_of_the_demo_is_what_its_domain_gives(tmp_path: Path) -> None:
    write_desk_log(load_tool_domain("depot"), tmp_path / "log.json")
    assert (tmp_path / "log.json").read_bytes() == DESK_LOG.read_bytes()


def test_several_logs_are_compared(capsys: Capture) -> None:
    tasks = {str(n): "+-" if n % 2 else "--" for n in range(12)}
    first = tau_file(Path("a.json"), tasks)
    second = tau_file(Path("b.json"), dict.fromkeys(tasks, "++"))
    done = typed(capsys, "review", first, f"best={second}", "--resamples", 100)
    told = " ".join(done.out.split())
    assert done.code == 0, done.err
    assert "best leads" in told or "best" in told.splitlines()[-1]
    assert len(done.out.splitlines()) <= 25


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--tasks", "nofile.json"], "there is no such file"),
        (["--domain", "nowhere"], "there is no installed domain named 'nowhere'"),
        (["--domain", "retail"], ""),
        (["--judge", "nofile.csv"], "cannot be read"),
        (["--truth", "ann"], "--truth names one of the graders"),
        (["--success", "nofield"], ""),
    ],
)
def test_what_cannot_be_done_is_one_sentence(capsys: Capture, options: list[str], why: str) -> None:
    done = typed(capsys, "review", tau_file(Path("r.json"), {"a": "+-"}), *options)
    if why:
        assert (done.code, why in done.err) == (2, True), done.err
        assert len(done.err.splitlines()) == 1 and not Path("runs").exists()


def test_a_review_reads_its_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = list[object]()

    def counted(source: Any, **options: Any) -> Any:
        times.append(source)
        return dialgauge.read(source, **options)

    monkeypatch.setattr("dialgauge.trials.log.read", counted)
    run = reviewed(tau_file(tmp_path / "tau.json", {"a": "+-"}))
    assert "suspects" in run.tables and len(times) == 1 and not doubts(run)
