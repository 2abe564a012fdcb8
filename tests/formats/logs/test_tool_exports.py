"""Exports of tools whose conversations lie in rows of calls, tables or turns of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialgauge.dialogue import read_details
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read
from dialgauge.tasks import score_results

TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
CALL = '{"name": "look", "arguments": {"order": "7"}}'


@pytest.mark.parametrize(
    "turns",
    [
        [{"from": "human", "value": "hi"}, {"from": "function_call", "value": CALL},
         {"from": "observation", "value": "sent"}, {"from": "gpt", "value": "it was sent"}],
        [{"role": "user", "content": "hi"}, {"role": "tool_call", "content": CALL},
         {"role": "tool_response", "content": "sent"}, {"role": "assistant", "content": "it was sent"}],
        [{"user": "hi"}, {"tool_call": {"name": "look", "order": "7"}}, {"tool_result": "sent"},
         {"assistant": "it was sent"}],
    ],
)  # fmt: skip
def test_calls_that_are_messages_of_their_own(turns: list[dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(json.dumps({"task": "a", "conversations": turns, "success": True}))
    [dialogue] = read(tmp_path / "log.jsonl")
    asked, answered = dialogue.turns
    [call] = answered.calls or ()
    assert (asked.text, answered.text) == ("hi", "it was sent")
    assert (call.name, call.arguments, call.result["content"]) == ("look", {"order": "7"}, "sent")


def test_a_call_that_is_no_json_stays_a_text(tmp_path: Path) -> None:
    turns = [{"from": "human", "value": "hi"}, {"from": "function_call", "value": "look 7"}]
    (tmp_path / "log.jsonl").write_text(json.dumps({"task": "a", "conversations": turns, "success": True}))
    [dialogue] = read(tmp_path / "log.jsonl")
    assert dialogue.turns[1].text == "look 7"


def test_tables_of_mlflow(tmp_path: Path) -> None:
    asked = json.dumps({"messages": TALK[:1]})
    rows = [[task, n, asked, "hello", said, "since so"] for task in "ab" for n, said in enumerate(("yes", "no"))]
    columns = ["task_id", "trial", "inputs", "outputs", "correctness/value", "correctness/rationale"]
    (tmp_path / "table.json").write_text(json.dumps({"columns": columns, "data": rows}))
    [run] = score_results([tmp_path / "table.json"], resamples=0).runs
    assert (run["pass^1"].value, run["pass^2"].value) == (0.5, 0.0)
    assert any("'correctness' is yes" in note for note in run.notes)
    assert not any(name.startswith("Label[") for name in run.scores)


def weave(task: str, done: bool) -> dict[str, Any]:
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    costs = {"prompt_tokens_total_cost": 0.25, "completion_tokens_total_cost": 0.5}
    return {
        "id": f"{task}{done}", "op_name": "weave:///me/shop/op/Evaluation.predict_and_score:abc", "parent_id": "root",
        "inputs": {"example": {"id": task}}, "summary": {"usage": {"m": usage}, "weave": {"costs": {"m": costs}}},
        "output": {"output": {"messages": TALK}, "scores": {"task_success": {"passed": done}}},
    }  # fmt: skip


@pytest.mark.parametrize("first", [True, False])
def test_calls_of_weave(first: bool, tmp_path: Path) -> None:
    root = {"id": "root", "op_name": "weave:///me/shop/op/Evaluation.evaluate:a", "inputs": {}, "output": {"mean": 1}}
    inner = {"id": "p", "op_name": "weave:///me/shop/op/Agent.predict:a", "parent_id": "x", "output": TALK[1]}
    calls = [weave("a", True), inner, weave("a", False), weave("b", True), weave("b", True)]
    calls = [root, *calls] if first else [*calls, root]
    (tmp_path / "weave.jsonl").write_text("".join(f"{json.dumps(call)}\n" for call in calls))
    [run] = score_results([tmp_path / "weave.jsonl"], resamples=0).runs
    assert (run["pass^1"].value, run["pass^2"].value) == (0.75, 0.5)
    assert (run["Cost"].value, run["ModelTokens"].value) == (0.75, 12.0)


def test_a_log_of_inner_runs_alone_says_so(tmp_path: Path) -> None:
    inner = {"id": "p", "op_name": "o/Agent.predict:a", "parent_id": "x", "output": {"messages": TALK}}
    (tmp_path / "weave.jsonl").write_text(json.dumps(inner))
    with pytest.raises(DialgaugeError, match="nothing is left of it: runs inside of other runs left out"):
        score_results([tmp_path / "weave.jsonl"])


def test_a_conversation_with_a_simulated_user_of_promptfoo(tmp_path: Path) -> None:
    said = {"output": "User: hi\n---\nAssistant: hello", "metadata": {"messages": TALK}}
    test = {"description": "greet", "vars": {"instructions": "Greet."}}
    row = {"promptId": "p", "promptIdx": 0, "testIdx": 0, "prompt": {"raw": "Be kind."}, "response": said,
           "success": True, "testCase": test, "vars": test["vars"]}  # fmt: skip
    held = {"evalId": "e", "results": {"version": 3, "prompts": [{"id": "p"}], "results": [row, row]}, "config": {}}
    (tmp_path / "log.json").write_text(json.dumps(held))
    first, second = read(tmp_path / "log.json")
    assert first.details["task"] == second.details["task"] and first.details["task"].startswith("greet (")
    assert [turn.text for turn in first.turns] == ["hi", "hello"]


@pytest.mark.parametrize(("status", "success"), [(1, True), (2, False), (3, None)])
def test_a_case_of_google_adk(status: int, success: bool | None, tmp_path: Path) -> None:
    events = [{"author": author, "content": {"role": role, "parts": [{"text": "hi"}]}}
              for author, role in (("user", "user"), ("desk", "model"))]  # fmt: skip
    case = {"eval_id": "buy", "final_eval_status": status, "session_id": "s", "session_details": {"events": events}}
    (tmp_path / "log.json").write_text(json.dumps({"eval_set_id": "shop", "eval_case_results": [case]}))
    [dialogue] = read(tmp_path / "log.json")
    assert (dialogue.details["task"], len(dialogue.turns)) == ("buy", 2)
    assert dialogue.outcome is not None and dialogue.outcome.success is success


@pytest.mark.parametrize(
    ("record", "identifier", "scores"),
    [
        ({"name": "buy [2/3]", "source_case_name": "buy", "messages": TALK}, "buy#2", {}),
        ({"name": "buy [2/3]", "messages": TALK, "success": True}, "buy#2", {}),
        ({"sample_id": "x7", "eval_id": "e", "id": "buy", "epoch": 3, "score_helpful": 4}, "buy#3",
         {"score_helpful": "4"}),
        ({"user_task_id": "buy", "utility": True, "security": False, "messages": TALK}, "buy#0",
         {"utility": "true", "security": "false"}),
        ({"task": "buy", "CSAT": 4, "success": True, "messages": TALK}, "buy#0", {"CSAT": "4"}),
    ],
)  # fmt: skip
def test_names_of_tasks_trials_and_scores(
    record: dict[str, Any], identifier: str, scores: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "log.jsonl").write_text(json.dumps(record) + "\n")
    [dialogue] = read(tmp_path / "log.jsonl")
    assert dialogue.id == identifier
    assert read_details("score", dialogue.details) == scores
