"""Logs of agents: every value of ``tau_pass.json``, ``tau_replay.json`` and ``tau_gold_worlds.json``.

Notices: the last digit of pass^k or the mean reward; a conversation or task missing from the replay, or its reward
changed; planned and scored numbers swapped; a record missing from a world, or an outcome of a call turned.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import surface
from documents import differences

#: Ill-typed calls that the original tools happen to accept; refusing them is permitted if it is declared.
REFUSED = {
    "exotic: empty texts count as empty lists",
    "exotic: an object counts as the list of its keys",
    "exotic: payments as an empty text are stored as text; the paid bag is then set and charged before the entry "
    "fails: an error that changed the world",
}


def test_pass_rates(expected_values: Callable[[str], Any], shared_data: Path) -> None:
    theirs, ours = expected_values("tau_pass.json"), {}
    for name in theirs.keys() - {"about"}:
        run = surface.trials(shared_data / "tau" / f"{name}.json.gz")
        values, counts = surface.values(run), surface.trial_counts(run)
        trials = counts["conversations_planned"] // counts["tasks_planned"]
        ours[name] = {
            **values, **counts, "trials": trials, "trials_planned": trials, "tasks_begun": counts["tasks"],
            "mean_reward": values["Reward"], "mean_reward_of_those": values["Reward"],
        }  # fmt: skip
    assert not differences(ours, theirs, {"/about": "words", "/*/note": "words"}, tolerance=1e-9)


def test_replay(expected_values: Callable[[str], Any], shared_data: Path) -> None:
    theirs, document = (
        expected_values("tau_replay.json"),
        surface.audit(shared_data / "tau" / "tau_airline_gpt-4o.json.gz"),
    )
    [log], tasks = document["logs"], {task["id"]: task for task in document["tasks"]}
    conversations = {
        f"{one['task']}|{one['trial']}": {
            **one,
            "recorded_r_actions": one["recorded_parts"].get("DB"),
            "replay_db": one["replay_parts"]["DB"],
        }
        for one in log["conversations"]
    }
    wrong = [one for one in conversations.values() if one["finished"] and not one["replay_db"]]
    calls = {"differs": 0, **log["calls"]}
    ours = {
        "inputs": file_hashes(theirs["inputs"], shared_data),
        "summary": {
            "conversations": len(conversations),
            "recorded_r_actions": log["reproduced"]["DB"]["of"],
            "reproduced_r_actions": log["reproduced"]["DB"]["same"],
            "reproduced_rewards": log["reproduced"]["rewards"]["same"],
            "finished_with_wrong_database": len(wrong),
            "of_these_order_only": sum(one["order_only"] for one in wrong),
            "unfinished_with_right_database": sum(
                one["replay_db"] and not one["finished"] for one in conversations.values()
            ),
            "calls": sum(calls.values()),
            "results_equal": calls["equal"],
            "results_equal_after_renaming_province_to_state": calls["renamed"],
            "errors_in_both": calls["errors"],
            "sentences_not_compared": calls["prose"],
            "results_that_differ": calls["differs"],
        },
        "null_pass_tasks": [task for task, facts in tasks.items() if facts["null_pass"]],
        "null_agent": document["null_agent"],
        "failing_gold_tasks": [task for task, facts in tasks.items() if facts["failing_gold"]],
        "order_matters_tasks": [task for task, facts in tasks.items() if facts["order_matters"]],
        "unsupported": {task: facts["unsupported"] for task, facts in tasks.items() if facts["unsupported"]},
        "short_outputs": {task: facts["short_outputs"] for task, facts in tasks.items() if facts["short_outputs"]},
        "not_identified_tasks": [task for task, facts in tasks.items() if not facts["identified"]],
        "split": {
            **log["split"],
            "passed_without_any_write_call": log["passed_without_any_write_call"],
            "passed_without_successful_write": log["passed_without_successful_write"],
        },
        "tasks": tasks,
        "conversations": conversations,
    }
    assert not differences(ours, theirs, {"/about": "words"}, tolerance=1e-9)
    assert log["reproduced"]["rewards"] == {"same": 200, "of": 200}
    for one in conversations.values():
        assert one["replay_reward"] == one["recorded_reward"]
    found = {pair for one in conversations.values() for pair in map(tuple, one["renamed"])}
    assert (found, tasks.keys(), log["differences"]) == ({("province", "state")}, theirs["tasks"].keys(), [])


def file_hashes(names: Any, folder: Path) -> dict[str, str]:
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


@pytest.fixture(scope="session")
def worlds(expected_values: Callable[[str], Any]) -> Any:
    return expected_values("tau_gold_worlds.json")


@pytest.mark.parametrize("domain", ["airline", "retail"])
def test_worlds_after_the_expected_calls(domain: str, worlds: Any, shared_data: Path) -> None:
    """Tasks of different users share a world, which saves most of the time; no other record may change."""
    content = json.loads(gzip.decompress((shared_data / "tau_worlds" / domain / "tasks.json.gz").read_bytes()))
    calls = {str(task["id"]): expected_calls(domain, task) for task in content}
    theirs, ours = worlds[domain], {}
    batches = apart({task: {*theirs[task]["changed"], *named(each)} for task, each in calls.items()})
    made = surface.call_tools([(domain, [call for task in batch for call in calls[task]]) for batch in batches])
    for batch, (_, _, changed) in zip(batches, made, strict=True):
        assert sorted(changed) == sorted(key for task in batch for key in theirs[task]["changed"])
        for task in batch:
            records = {key: changed[key] for key in theirs[task]["changed"]}
            ours[task] = {"sha256": hashlib.sha256(canonical(records).encode()).hexdigest(), "changed": sorted(records)}
    assert ours == theirs
    assert sum(len(each["changed"]) for each in theirs.values()) > 40


def expected_calls(domain: str, task: Any) -> list[dict[str, Any]]:
    """The calls of a task; in the airline those that end a conversation are left out."""
    actions = task["actions"] if domain == "airline" else task["evaluation_criteria"]["actions"]
    ends = {"transfer_to_human_agents"} if domain == "airline" else set()
    return [{"name": each["name"], "arguments": each["arguments"]} for each in actions if each["name"] not in ends]


def named(calls: list[dict[str, Any]]) -> set[str]:
    """Whom and what calls name; gift cards too, whose balance one task may change for another."""
    keys = "user_id", "order_id", "reservation_id", "payment_id", "payment_method_id"
    given = [call["arguments"] for call in calls]
    names = {f"{each['first_name']} {each['last_name']}" for each in given if "first_name" in each}
    return names | {each[key] for each in given for key in keys if key in each}


def apart(touched: dict[str, set[str]]) -> list[list[str]]:
    """Tasks in groups within which no two touch the same."""
    groups: list[tuple[list[str], set[str]]] = []
    for task, keys in touched.items():
        group = next((group for group in groups if group[1].isdisjoint(keys)), None)
        if group is None:
            groups.append(group := ([], set()))
        group[0].append(task)
        group[1].update(keys)
    return [tasks for tasks, _ in groups]


def test_nothing_else_is_in_the_file_of_worlds(worlds: Any, shared_data: Path) -> None:
    compared = {"airline", "retail", "sequences"}
    assert worlds.keys() == {"form", "sequences_form", "inputs"} | compared
    assert file_hashes(worlds["inputs"], shared_data) == worlds["inputs"]


@pytest.mark.long
def test_sequences_of_calls(worlds: Any) -> None:
    sequences, other = worlds["sequences"], set()
    made = surface.call_tools([(each["domain"], each["calls"]) for each in sequences])
    for sequence, (outcome, results, changed) in zip(sequences, made, strict=True):
        same = outcome == sequence["outcome"] and canonical(changed) == canonical(sequence["changed"])
        told = zip(results, sequence["results"], strict=True)
        if not same or any(known(ours) != known(theirs) for ours, theirs in told if theirs is not None):
            other.add(sequence["note"])
    assert other == REFUSED


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def known(value: Any) -> Any:
    """A value without what is null: absent and null are the same."""
    if isinstance(value, dict):
        return {key: known(each) for key, each in value.items() if each is not None}
    return [known(each) for each in value] if isinstance(value, list) else value
