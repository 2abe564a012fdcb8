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
from support.commands import dialgauge

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


YAML = """
agent: mine
tasks:
  - name: buy
    trials:
      - ok: true
        transcript:
          - user: "hi"
          - tool_call: {name: look, order: 7}
          - tool_result: 'sent'
          - assistant: "it was sent"
      - ok: false
        transcript:
          - user: "hi"
          - assistant: "no"
"""


def test_transcripts_in_yaml(tmp_path: Path) -> None:
    (tmp_path / "runs.yaml").write_text(YAML)
    first, second = read(tmp_path / "runs.yaml")
    assert [call.name for turn in first.turns for call in turn.calls or ()] == ["look"]
    assert [one.outcome and one.outcome.details["score[ok]"] for one in (first, second)] == ["true", "false"]


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


def test_what_pytest_prints(tmp_path: Path) -> None:
    tests = [("lost_bag-0", "PASSED"), ("lost_bag-1", "FAILED"), ("new_seat-0", "PASSED"), ("new_seat-1", "PASSED"),
             ("gift_card-0", "FAILED"), ("gift_card-1", "FAILED")]  # fmt: skip
    lines = "".join(f"tests/test_a.py::test_task[{name}] {said}  [ 9%]\n" for name, said in tests)
    failed = "".join(f"____ test_task[{name}] ____\n    assert r\nE   assert 0\n\n" for name, said in tests)
    text = f"=== test session starts ===\n\n{lines}\n=== FAILURES ===\n{failed}=== short test summary info ===\n"
    (tmp_path / "pytest.txt").write_text(text)
    [run] = score_results([tmp_path / "pytest.txt"], resamples=0).runs
    assert (run["pass^1"].value, round(float(run["pass^2"]), 3)) == (0.5, 0.333)


def test_examples_in_refusals_keep_roles_ids_texts_and_calls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "f"}}]}
    said = [{"role": "system", "content": "Be kind."}, *TALK[:1], call, *TALK[1:]]
    rows = [{"spec": {"name": "shop"}}, *({"id": f"order-{n}", "one": said, "other": TALK} for n in (7, 8))]
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    done = dialgauge(capsys, "tasks", "score", tmp_path / "log.jsonl")
    shown = [json.loads(line) for line in done.err.splitlines() if line.lstrip().startswith("{")]
    assert [line["task_id"] for line in shown] == ["order-7", "order-8"]
    made = {"role": "assistant", "tool_calls": [{"name": "f", "arguments": {}}]}
    assert all(line["messages"] == [said[0], *TALK, made] for line in shown)


def test_examples_in_refusals_have_each_trial_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = [*TALK, {"role": "user", "content": "bye"}]
    rows = [{"request": {"messages": said[:end]}, "reply": {"choices": TALK[1:]}, "tags": {"task": task, "trial": 4}}
            for task in ("buy", "sell") for end in (1, 3)]  # fmt: skip
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    done = dialgauge(capsys, "tasks", "score", tmp_path / "log.jsonl")
    shown = [json.loads(line) for line in done.err.splitlines() if line.lstrip().startswith("{")]
    assert [(line["task_id"], line["trial"], len(line["messages"])) for line in shown] == [
        ("buy", 4, 2),
        ("sell", 4, 2),
    ]


def test_a_text_with_conversations_is_told_to_be_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    talk = "=== task {} ===\nUSER: I return it.\nTOOL CALL: find({{}})\nAGENT: All set.\nRESULT: fine so far\n\n"
    (tmp_path / "run.log").write_text("".join(map(talk.format, range(2))))
    done = dialgauge(capsys, "data", "check", tmp_path / "run.log")
    assert "are read: dialgauge tasks score mine.jsonl" in done.err and "hotel" not in done.err
    [first, _] = [json.loads(line) for line in done.err.splitlines() if line.lstrip().startswith("{")]
    assert first["messages"][-1] == {"role": "assistant", "tool_calls": [{"name": "NAME", "arguments": {}}]}


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
