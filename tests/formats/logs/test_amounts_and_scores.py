"""What logs of known tools say beside messages: tokens, scores, and verdicts in their own numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialgauge.formats import read

TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
PROMPTFOO = {
    "promptIdx": 0, "testIdx": 0, "success": True, "prompt": {"raw": "hi", "label": "hi"}, "vars": {"q": "hi"},
    "response": {"output": "hello", "tokenUsage": {"total": 12, "prompt": 9, "completion": 3}},
}  # fmt: skip
AUTOGEN = [
    {"source": "user", "type": "TextMessage", "models_usage": None, "content": "hi"},
    {"source": "agent", "type": "TextMessage", "models_usage": {"prompt_tokens": 9, "completion_tokens": 3},
     "content": "hello"},
]  # fmt: skip
SPENT = {"prompt_tokens": 9, "completion_tokens": 3}


def written(value: Any, folder: Path) -> list[dict[str, str]]:
    """The details of all conversations of a log in a value."""
    (folder / "log.json").write_text(json.dumps(value))
    return [dialogue.outcome.details for dialogue in read(folder / "log.json") if dialogue.outcome]


def spans(*attributes: dict[str, Any]) -> dict[str, Any]:
    """A trace of spans, the first of which has the others in it."""
    kind = {str: "stringValue", int: "intValue"}
    made = [
        {"traceId": "t", "spanId": str(number), "parentSpanId": "0" if number else "",
         "attributes": [{"key": key, "value": {kind[type(value)]: value}} for key, value in known.items()]}
        for number, known in enumerate(attributes)
    ]  # fmt: skip
    return {"resourceSpans": [{"scopeSpans": [{"spans": made}]}]}


AGENT = {
    "gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": json.dumps(TALK[:1]), "task_id": "a",
    "gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 3,
}  # fmt: skip
CHAT = {**AGENT, "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 8}


@pytest.mark.parametrize(
    ("value", "tokens"),
    [
        ({"evalId": "e", "results": {"version": 3, "results": [PROMPTFOO]}}, "12"),
        ([{"task": "a", "messages": AUTOGEN, "success": True}], "12"),
        ([{"task": "a", "contents": TALK, "success": True,
           "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": 14}}], "14"),
        ([{"task": "a", "messages": TALK, "success": True,
           "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3}}], "12"),
        ([{"task": "a", "messages": TALK, "success": True, "metrics": {"accumulated_token_usage": SPENT}}], "12"),
        ([{"task": "a", "messages": TALK, "success": True, "metadata": {"usage": SPENT}}], "12"),
        ([{"task": "a", "messages": TALK, "success": True, "evaluation": {"usage": SPENT}}], None),
        (spans(AGENT), "12"),
        (spans(AGENT, CHAT), "11"),
    ],
)  # fmt: skip
def test_tokens_are_found_where_tools_write_them(value: Any, tokens: str | None, tmp_path: Path) -> None:
    [details] = written(value, tmp_path)
    assert details.get("tokens") == tokens


def test_deepeval_names_tasks_and_scores(tmp_path: Path) -> None:
    metrics = [{"name": "Task Completion", "score": 0.6, "success": False, "threshold": 0.7}]
    case = {"name": "buy", "success": False, "metricsData": metrics, "turns": TALK}
    first, second = written({"testCases": [], "conversationalTestCases": [case, case]}, tmp_path)
    assert first["score[Task Completion]"] == "0.6"
    assert [(each["task"], each["trial"]) for each in (first, second)] == [("buy", "0"), ("buy", "1")]


def test_what_a_judge_says_is_scored_or_named(tmp_path: Path) -> None:
    rows = [
        {"task_id": task, "trial": n, "judge": {"rating": 5 - 3 * n, "passed": "false" if n else "true", "tokens": 90}}
        for task in "ab"
        for n in range(2)
    ]
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    corpus = read(tmp_path / "log.jsonl")
    outcomes = [dialogue.outcome for dialogue in corpus if dialogue.outcome]
    assert [outcome.details["score[judge.rating]"] for outcome in outcomes] == ["5", "2", "5", "2"]
    assert [outcome.success for outcome in outcomes] == [True, False, True, False]
    assert list(corpus.notes.unread.values()) == ["judge.tokens"]
