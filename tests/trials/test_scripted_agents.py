"""Agents that follow a script: verdicts, audits and regrading are right about what they did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.trials import SCRIPTS, LogAudit, audit_logs, regrade, write_scripted_log
from dialgauge.worlds.tools import load_tool_domain, same_logs
from support.agent_results import desk_tasks, tau_file
from support.commands import dialgauge


def shop(data: Path, name: str = "tasks") -> Path:
    return data / "tau_worlds" / "retail" / f"{name}.json.gz"


def scripted(data: Path, script: str, folder: Path, name: str = "tasks") -> LogAudit:
    log = folder / f"{script}.json"
    write_scripted_log(load_tool_domain("retail", root=data), shop(data, name), script, log)
    [audit] = audit_logs({script: log}, root=data)
    return audit


@pytest.mark.parametrize("name", ["tasks", pytest.param("tasks_verified", marks=pytest.mark.soak)])
def test_in_the_shop_gold_passes_and_nothing_and_wrong_do_not(name: str, shared_data: Path, tmp_path: Path) -> None:
    passed = {}
    for script in SCRIPTS:
        audit = scripted(shared_data, script, tmp_path, name)
        assert audit.domain == "retail"
        assert audit.integrity.foreign == []
        assert audit.drift["differs"] == 0
        assert audit.differences == []
        assert audit.reproduced("DB") == (114, 114)
        null, needed = audit.split["null_pass"], audit.split["writes_needed"]
        passed[script] = (null.passed / null.tasks, needed.passed / needed.tasks)
        if script == "wrong":
            failing = {
                facts.id for facts in audit.facts if any(call.kind == "write" for call in facts.failing_gold or ())
            }
            changing = {facts.id for facts in audit.facts if not facts.null_pass}
            right = {one.task for one in audit.conversations if one.replay_parts["DB"]}
            assert right & changing <= failing, "a wrong value is only harmless in a call that fails anyway"
    assert passed["gold"] == (1.0, 1.0)
    assert passed["nothing"][1] == 0.0
    assert passed["nothing"][0] > 0.5


def test_grading_the_shop_again_under_the_verified_tasks(shared_data: Path, tmp_path: Path) -> None:
    scripted(shared_data, "gold", tmp_path)
    again = regrade(tmp_path / "gold.json", shop(shared_data, "tasks_verified"), root=shared_data)
    assert again.graded + len(again.other_instruction) == 114
    assert [flip.conversation for flip in again.flips] == ["33#0", "34#0", "49#0"]
    [row] = again.pass_k
    assert (row.before, round(row.after * again.graded)) == (1.0, again.graded - 3)
    assert row.low is not None
    assert row.high is not None
    assert row.low < row.difference < row.high + 1e-12
    same = regrade(tmp_path / "gold.json", shop(shared_data), root=shared_data)
    assert (same.graded, same.flips, same.other_instruction) == (114, (), ())


def test_grading_the_airline_again_where_its_instructions_are_the_same(shared_data: Path) -> None:
    again = regrade(
        shared_data / "tau" / "tau_airline_gpt-4o.json.gz",
        shared_data / "tau_worlds" / "airline" / "tasks.json.gz",
        root=shared_data,
    )
    assert again.other_instruction == tuple(map(str, range(37)))
    assert (again.graded, again.flips) == (52, ())


class TestDesk:
    """The same without any data of others."""

    def test_audit(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        tasks, log = desk_tasks(tmp_path / "desk.json"), tmp_path / "log.json"
        write_scripted_log(load_tool_domain("depot"), tasks, "wrong", log, trials=2)
        outcome = dialgauge(capsys, "tasks", "audit", log, "--domain", "depot", "--json", tmp_path / "audit.json")
        assert outcome.code == 0, outcome.err
        assert "something must change" in outcome.out
        document = json.loads((tmp_path / "audit.json").read_text())
        [made] = document["logs"]
        assert made["split"]["null_pass"] == {
            "tasks": 1, "conversations": 2, "passed": 2, "pass^1": 1.0, "pass^2": 1.0,
        }  # fmt: skip
        assert made["split"]["writes_needed"]["passed"] == 0
        assert made["integrity"]["identical"] == [
            ["window#0", "window#1"],
            ["duty#0", "duty#1"],
            ["nothing#0", "nothing#1"],
        ]
        assert made["never_passed"] == document["never_passed"] == ["window", "duty"]

    def test_a_verdict_that_does_not_replay_is_told_with_its_call(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        tasks, log = desk_tasks(tmp_path / "desk.json"), tmp_path / "log.json"
        write_scripted_log(load_tool_domain("depot"), tasks, "gold", log)
        content = json.loads(log.read_text())
        duty = content["simulations"][1]
        duty["reward_info"]["reward"] = 0.0
        duty["messages"][5]["content"] = '{"paid":1,"balance":2}'
        log.write_text(json.dumps(content))
        outcome = dialgauge(capsys, "tasks", "audit", log, "--domain", "depot")
        assert outcome.code == 1
        assert "message 4, pay_duty" in outcome.out
        assert "in doubt: duty#0" in outcome.out.replace("\n", " ")

    def test_grading_again(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        tasks, log = desk_tasks(tmp_path / "desk.json"), tmp_path / "log.json"
        write_scripted_log(load_tool_domain("depot"), tasks, "gold", log)
        other = desk_tasks(tmp_path / "other.json", window="You changed your mind.")
        content = json.loads(other.read_text())
        content[1]["evaluation_criteria"]["communicate_info"] = ["never said"]
        other.write_text(json.dumps(content[:2]))
        outcome = dialgauge(capsys, "tasks", "score", log, "--tasks", other, "--domain", "depot")
        assert outcome.code == 1
        told = " ".join(outcome.out.split())
        assert "1 conversation graded again, 1 verdict flips (duty#0 now fails)" in told
        assert "told something else: tasks window" in told
        assert "no tasks nothing" in told

    def test_the_same_log_twice_is_told(self, tmp_path: Path) -> None:
        tasks, log = desk_tasks(tmp_path / "desk.json"), tmp_path / "log.json"
        write_scripted_log(load_tool_domain("depot"), tasks, "gold", log)
        content = json.loads(log.read_text())
        content["simulations"].reverse()
        (tmp_path / "copy.json").write_text(json.dumps(content))
        audits = audit_logs({"a": log, "b": tmp_path / "copy.json"}, domain="depot")
        assert same_logs((each.name, each.integrity) for each in audits) == [["a", "b"]]

    def test_beyond_one_in_ten_nothing_is_said_per_task(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        tasks, log = desk_tasks(tmp_path / "desk.json"), tmp_path / "log.json"
        write_scripted_log(load_tool_domain("depot"), tasks, "gold", log, trials=2)
        content = json.loads(log.read_text())
        for one in content["simulations"]:
            one["task_id"] = {"window": "duty", "duty": "window"}.get(one["task_id"], one["task_id"])
        log.write_text(json.dumps(content))
        outcome = dialgauge(capsys, "tasks", "audit", log, "--domain", "depot")
        assert outcome.code == 1
        assert "nothing is said per task" in outcome.out
        assert "pass^2" not in outcome.out.partition("Replay")[2]
        scored = dialgauge(capsys, "tasks", "score", log)
        assert scored.code == 1
        assert "window#0 stores the expected actions of another task" in scored.out
        assert "pass^1" in scored.out
        assert "pass^2" not in scored.out.partition("Success and consistency")[2]
        refused = dialgauge(capsys, "tasks", "score", log, "-m", "pass^2")
        assert (refused.code, "it goes by task" in refused.err) == (2, True)
        sound = tmp_path / "sound.json"
        write_scripted_log(load_tool_domain("depot"), tasks, "nothing", sound, trials=2)
        compared = dialgauge(capsys, "compare", sound, log)
        assert (compared.code, "a comparison pairs tasks" in compared.err) == (2, True), compared.err
        accused = dialgauge(capsys, "users", "faults", log)
        assert (accused.code, "cannot be held against it" in accused.err) == (2, True)
        checked = dialgauge(capsys, "data", "check", log)
        assert checked.code == 1
        assert "stores the expected actions of another task" in checked.out


def test_what_cannot_be_audited_is_one_sentence(
    tmp_path: Path, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    native = tmp_path / "d.jsonl"
    native.write_text('{"id":"d1","turns":[{"speaker":"user","text":"hi"}]}\n')
    for words, told in {
        ("tasks", "audit"): "name a results file",
        ("tasks", "audit", str(native)): "not a results file of τ-bench",
        ("tasks", "audit", "--domain", "nowhere"): "there is no tool domain named 'nowhere'",
        ("tasks", "audit", str(shared_data / "tau" / "tau2_airline_grok-3.json.gz"), "--domain", "airline"): "tau2's",
    }.items():
        outcome = dialgauge(capsys, *words)
        assert (outcome.code, told in outcome.err) == (2, True), outcome.err
    with pytest.raises(DialgaugeError, match="cannot be made again"):
        regrade(tau_file(tmp_path / "tau.json", {"a": "+"}), desk_tasks(tmp_path / "t.json"))
