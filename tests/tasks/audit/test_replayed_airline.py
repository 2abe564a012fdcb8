"""The gpt-4o log of τ-bench's airline: every value of ``expected/tau_replay.json``."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dialgauge.tasks import LogAudit, TaskSetAudit, audit_logs, audit_task_set, tasks_by_fact


@pytest.fixture(scope="module")
def audit(shared_data: Path) -> LogAudit:
    begun = time.process_time()
    [audited] = audit_logs({"gpt-4o": shared_data / "tau" / "tau_airline_gpt-4o.json.gz"}, root=shared_data)
    assert time.process_time() - begun < 20, "a whole file in well under a minute"
    return audited


@pytest.fixture(scope="module")
def task_set(shared_data: Path) -> TaskSetAudit:
    return audit_task_set([], domain="airline", tasks=None, root=shared_data)


@pytest.fixture(scope="module")
def values(expected: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((expected / "tau_replay.json").read_text())
    return content


def test_nothing_in_the_file_is_left_out(values: dict[str, Any]) -> None:
    compared = {
        "summary", "null_pass_tasks", "null_agent", "failing_gold_tasks", "order_matters_tasks", "unsupported",
        "short_outputs", "not_identified_tasks", "split", "tasks", "conversations",
    }  # fmt: skip
    assert values.keys() == compared | {"about", "inputs"}


def test_conversations(audit: LogAudit, values: dict[str, Any]) -> None:
    assert {
        f"{one.task}|{one.trial}": {
            "recorded_r_actions": one.recorded_parts.get("DB"),
            "replay_db": one.replay_parts["DB"],
            "recorded_reward": one.recorded_reward,
            "replay_reward": one.replay_reward,
            "finished": one.finished,
            "outputs": one.outputs,
            "writes_done": one.writes_done,
            "writes_failed": one.writes_failed,
        }
        for one in audit.conversations
    } == values["conversations"]


def test_summary(audit: LogAudit, values: dict[str, Any]) -> None:
    drift = audit.drift
    wrong = [one for one in audit.conversations if one.finished and not one.replay_parts["DB"]]
    assert {
        "conversations": len(audit.conversations),
        "recorded_r_actions": audit.reproduced("DB")[1],
        "reproduced_r_actions": audit.reproduced("DB")[0],
        "reproduced_rewards": audit.rewards_reproduced[0],
        "finished_with_wrong_database": len(wrong),
        "of_these_order_only": sum(one.order_only for one in wrong),
        "unfinished_with_right_database": sum(
            not one.finished and one.replay_parts["DB"] is True for one in audit.conversations
        ),
        "calls": drift.total(),
        "results_equal": drift["equal"],
        "results_equal_after_renaming_province_to_state": drift["renamed"],
        "errors_in_both": drift["errors"],
        "sentences_not_compared": drift["prose"],
        "results_that_differ": drift["differs"],
    } == values["summary"]
    assert {pair for one in audit.conversations for pair in one.renamed} == {("province", "state")}
    assert audit.differences == []


def test_tasks(audit: LogAudit, task_set: TaskSetAudit, values: dict[str, Any]) -> None:
    facts = json.loads(msgspec.json.encode(task_set.facts))
    assert {each.pop("id"): each for each in facts} == {
        task: {**each, "pair_order_matters": False} for task, each in values["tasks"].items()
    }
    assert audit.facts == task_set.facts
    held = tasks_by_fact(task_set.facts)
    assert held["null_pass"] == values["null_pass_tasks"]
    assert [each.id for each in task_set.facts if each.failing_gold] == values["failing_gold_tasks"]
    assert held["order_matters"] == values["order_matters_tasks"]
    assert held.get("unidentified", []) == values["not_identified_tasks"]
    assert {
        each.id: json.loads(msgspec.json.encode(each.unsupported)) for each in task_set.facts if each.unsupported
    } == values["unsupported"]
    assert {each.id: list(each.short_outputs) for each in task_set.facts if each.short_outputs} == values[
        "short_outputs"
    ]


def test_null_agent(task_set: TaskSetAudit, values: dict[str, Any]) -> None:
    assert json.loads(msgspec.json.encode(task_set.null_agent)) == values["null_agent"]


def test_split(audit: LogAudit, values: dict[str, Any]) -> None:
    made: dict[str, Any] = {
        name: {
            "tasks": split.tasks,
            "conversations": split.conversations,
            "passed": split.passed,
            **{f"pass^{k}": pytest.approx(value) for k, value in split.pass_k.items()},
        }
        for name, split in audit.split.items()
    }
    made["passed_without_any_write_call"] = audit.passed_without_any_write_call
    made["passed_without_successful_write"] = audit.passed_without_successful_write
    assert made == values["split"]
