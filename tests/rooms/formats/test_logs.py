"""The closed layout of agents' logs: what is read, under which names, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dialgauge
from dialgauge.dialogue import Call, Dialogue, Outcome, SideUsage
from dialgauge.text import note_kind

VERDICTS = ("true", "false", "odd")
TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"n": 1}'}}


def log(folder: Path, *records: dict[str, Any], name: str = "log.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def read(*records: dict[str, Any], success: str = "") -> list[Dialogue]:
    return list(dialgauge.read(list(records), success=success))


def said(dialogue: Dialogue) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in dialogue.turns]


def test_everything_that_a_record_may_say() -> None:
    [dialogue] = read(
        {
            "task_id": "book", "trial": 3, "messages": TALK, "success": True, "scores": {"helpful": 4, "tone": "kind"},
            "cost": 0.5, "tokens": 120, "seconds": 7, "model": "m", "instruction": "Book it.",
            "expected_calls": [{"name": "book", "arguments": {"id": 1}}],
        }
    )  # fmt: skip
    assert dialogue.id == "book#3"
    assert dialogue.instruction == ("Book it.",)
    assert dialogue.outcome == Outcome(
        success=True, benchmark="chat", task="book", trial=3, scores={"helpful": 4.0, "tone": "kind"}, seconds=7.0,
        usage={"both": SideUsage(tokens=120.0, cost=0.5)}, expected=(Call(name="book", arguments={"id": 1}),),
        facts={"agent": "m"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("verdict", "success"),
    [
        ({"success": True}, True),
        ({"success": 1}, True),
        ({"success": "TRUE"}, True),
        ({"success": "0"}, False),
        ({"passed": False}, False),
        ({"reward": 1 - 1e-7}, True),
        ({"reward": 0.99}, False),
        ({"success": None, "reward": 1}, True),
        ({"success": True, "passed": True, "reward": 1.0}, True),
        ({"success": "skipped"}, None),
        ({"resolved": True, "correct": True, "label": 1}, None),
        ({}, None),
    ],
)
def test_the_verdict(verdict: dict[str, Any], success: bool | None) -> None:
    [dialogue] = read({"task_id": "t", "messages": TALK, **verdict})
    assert dialogue.ended.success is success


@pytest.mark.parametrize(
    "verdict", [{"success": True, "passed": False}, {"success": False, "reward": 1}, {"success": 0.5}, {"success": 100}]
)
def test_verdicts_that_contradict_each_other_or_are_none_are_refused(verdict: dict[str, Any]) -> None:
    with pytest.raises(dialgauge.DialgaugeError, match="success"):
        read({"task_id": "t", "messages": TALK, **verdict})


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"task_id": "a", "messages": [], "success": true, "success": false}\n')
    with pytest.raises(dialgauge.DialgaugeError, match="'success' twice"):
        dialgauge.read(path)
    path.write_text('{"t": "a", "x": 1, "x": 0}\n')
    (tmp_path / "log.jsonl.map.yaml").write_text("reads: results\ntask: t\nsuccess: x\n")
    with pytest.raises(dialgauge.DialgaugeError, match="'x' twice"):
        dialgauge.read(path)


def test_the_verdict_can_be_named() -> None:
    record = {"task_id": "t", "messages": TALK, "success": True, "passed": False, "scores": {"judge": 0.0}}
    assert [read(record, success=name)[0].ended.success for name in ("success", "passed")] == [True, False]
    assert read(record, success="scores.judge")[0].ended.success is False
    assert read({"task_id": "t", "messages": TALK, "resolved": True}, success="resolved")[0].ended.success is True
    with pytest.raises(dialgauge.DialgaugeError, match="success: in every row, 'succes' is missing"):
        read(record, success="succes")


def test_an_unknown_word_lowers_coverage_and_is_no_success(tmp_path: Path) -> None:
    records = [
        {"task_id": str(n), "messages": TALK, "success": word} for n, word in enumerate(("true", "false", "odd"))
    ]
    [run] = dialgauge.review(log(tmp_path, *records), resamples=0).runs
    assert run["pass^1"].value == 0.5
    assert not run.coverage.complete
    assert any("'odd'" in note for note in run.notes)


def test_conversations_of_a_task_without_trials_are_its_trials_in_order() -> None:
    corpus = dialgauge.read([{"task_id": task, "messages": TALK} for task in "abab"])
    assert [(each.ended.task, each.ended.trial) for each in corpus] == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]
    assert any("next trial" in note for note in corpus.notes.counts)


def test_a_task_and_trial_given_twice_is_an_error() -> None:
    with pytest.raises(dialgauge.DialgaugeError, match="stands twice"):
        read(*[{"task_id": "a", "trial": 0, "messages": TALK}] * 2)


@pytest.mark.parametrize(
    ("beside", "why"),
    [
        ({"metadata": {"task_id": "t"}, "id": "1"}, "'task_id' is read beside the messages only"),
        ({"eval": {"passed": True}, "id": "1"}, "'passed' is read beside the messages only"),
        ({"index": 3}, "'index' may be one"),
        ({"trial": 3}, "no 'task_id'"),
        ({"task_id": "t", "trial": "two"}, "'trial' must be"),
        ({"task_id": "t", "cost": "much"}, "'cost' must be"),
        ({"task_id": "t", "cost": -1}, "'cost' must be"),
    ],
)
def test_what_stands_under_other_names_is_refused_and_not_guessed(beside: dict[str, Any], why: str) -> None:
    with pytest.raises(dialgauge.DialgaugeError, match=why):
        read({"messages": TALK, **beside})


def test_what_is_no_log_is_said_in_words_of_logs(tmp_path: Path) -> None:
    with pytest.raises(
        dialgauge.DialgaugeError, match=r"no log of agents: its records have no 'messages'.*; there is conv"
    ):
        dialgauge.review(log(tmp_path, {"conv": TALK, "ok": True}), resamples=0)


MESSAGES: dict[str, list[dict[str, Any]]] = {
    "openai": [
        {"role": "system", "content": "policy"}, {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "room 7"}, {"role": "assistant", "content": "room 7"},
    ],
    "responses": [
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}]}, {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"n": 1}'},
        {"type": "function_call_output", "call_id": "c1", "output": "room 7"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "room 7"}]},
    ],
    "anthropic": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "find", "input": {"n": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "room 7"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "room 7"}]},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "find", "args": {"n": 1}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "find", "response": "room 7"}}]},
        {"role": "model", "parts": [{"text": "room 7"}]},
    ],
    "bedrock": [
        {"role": "user", "content": [{"text": "hi"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "find", "input": {"n": 1}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "room 7"}]}}]},
        {"role": "assistant", "content": [{"text": "room 7"}]},
    ],
    "langchain": [
        {"type": "human", "content": "hi"},
        {"type": "ai", "content": "", "tool_calls": [{"id": "c1", "name": "find", "args": {"n": 1}}]},
        {"type": "tool", "tool_call_id": "c1", "content": "room 7"}, {"type": "ai", "content": "room 7"},
    ],
    "otel": [
        {"role": "user", "parts": [{"type": "text", "content": "hi"}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "find", "arguments": {"n": 1}}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "room 7"}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "room 7"}]},
    ],
}  # fmt: skip


@pytest.mark.parametrize("messages", MESSAGES.values(), ids=MESSAGES)
def test_dialects_of_messages_say_the_same(messages: list[dict[str, Any]]) -> None:
    [dialogue] = read({"task_id": "t", "messages": messages})
    assert said(dialogue) == [("user", "hi"), ("system", "room 7")]
    [(side, call)] = dialogue.calls()
    assert (side, call.name, call.arguments, call.result, call.failed) == ("system", "find", {"n": 1}, "room 7", False)
    assert call.message is not None


@pytest.mark.parametrize(
    "message", [{"role": "wizard", "content": "x"}, {"content": "x"}, {"role": "assistant", "action": "find"}, "x"]
)
def test_a_message_that_is_none_is_an_error_with_its_place(message: Any) -> None:
    with pytest.raises(dialgauge.DialgaugeError, match="message 2"):
        read({"task_id": "t", "messages": [*TALK, message]})


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_of_results(delimiter: str, tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    table = "task_id,trial,success,note\na,0,true,x\na,1,False,\nb,0,1,\nb,1,,late\n"
    path.write_text(table.replace(",", delimiter))
    [run] = dialgauge.review(path, resamples=0).runs
    assert run["pass^1"].value == 0.75
    trials = run.table("trials").select("task", "trial", "success").rows()
    assert trials == [("a", 0, True), ("a", 1, False), ("b", 0, True), ("b", 1, None)]


def verdict_notes(*records: dict[str, Any]) -> str:
    [run] = dialgauge.review(list(records), resamples=0).runs
    return " ".join(note for note in run.notes if note_kind(note) in ("verdict", "trials"))


def test_a_verdict_that_says_nothing_is_noted_with_the_way_out() -> None:
    rewards = [{"task_id": str(reward), "messages": TALK, "reward": reward} for reward in (0.3, 0.9)]
    assert "no reward is 1 (0.3 to 0.9); at_least" in verdict_notes(*rewards)
    assert "no reward" not in verdict_notes(*rewards, {"task_id": "t", "messages": TALK, "reward": 1})
    words = [{"task_id": word, "messages": TALK, "passed": word} for word in ("PASS", "FAIL")]
    assert "'passed' says PASS, FAIL: name them by true_values" in verdict_notes(*words)
    assert "next trial" in verdict_notes(*[{"task_id": "t", "messages": TALK, "success": True}] * 2)


def test_verdicts_that_contradict_each_other_are_all_offered() -> None:
    with pytest.raises(dialgauge.DialgaugeError, match="--success success or --success reward"):
        read({"task_id": "t", "messages": TALK, "success": True, "reward": 0.0})
