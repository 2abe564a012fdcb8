"""What logs of known tools say beside messages: tokens, scores, and verdicts in their own numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.formats import read
from dialgauge.tasks import score_results

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


def scored(name: str, text: str, folder: Path) -> Any:
    (folder / name).write_text(text)
    [run] = score_results([folder / name], resamples=0).runs
    return run


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rate.csv", "task,trials,success_rate\nbuy,2,0.5\nsell,2,100%\nswap,2,0\n"),
        ("pct.csv", "task,trial,score\nbuy,0,100\nbuy,1,0\nsell,0,100\nsell,1,100\nswap,0,0\nswap,1,0\n"),
        ("neg.csv", "task,trial,reward\nbuy,0,1\nbuy,1,-1\nsell,0,1\nsell,1,1\nswap,0,-1\nswap,1,-1\n"),
    ],
)
def test_counts_rates_and_other_pairs_of_numbers(name: str, text: str, tmp_path: Path) -> None:
    run = scored(name, text, tmp_path)
    assert [round(float(run[f"pass^{k}"]), 3) for k in (1, 2)] == [0.5, 0.333]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rate.csv", "task,trials,success_rate\nbuy,3,0.5\nsell,3,1\n"),
    ],
)
def test_counts_that_may_be_of_checks_are_refused(name: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(DialgaugeError):
        scored(name, text, tmp_path)


def test_costs_in_cents(tmp_path: Path) -> None:
    run = scored("cents.csv", "task,success,Cost (cents)\nbuy,yes,250\nsell,no,350\n", tmp_path)
    assert run["Cost"].value == 3.0
    assert any("costs in cents" in note for note in run.notes)


def test_terminal_bench_counts_what_timed_out_as_failed(tmp_path: Path) -> None:
    results = [
        {"id": f"{task}{n}", "task_id": task, "is_resolved": said, "failure_mode": "unset" if said else "agent_timeout"}
        for task in "ab"
        for n, said in enumerate((True, None))
    ]
    run = scored("results.json", json.dumps({"results": results}), tmp_path)
    assert run["pass^1"].value == 0.5
    assert any("as in Terminal-Bench's own accuracy" in note for note in run.notes)
