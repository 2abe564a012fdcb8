"""Amounts and lengths of logs: read as they are written, else left out and told, never taken for nought."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.tasks import score_results
from support.commands import dialgauge as command

TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]


@pytest.mark.parametrize(
    ("content", "measure", "value", "note"),
    [
        ('task,success,tokens\na,1,"1,234"\nb,0,"2,000"\n', "ModelTokens", 1617.0, ""),
        ('task,success,cost\na,1,"$1,234.50"\nb,0,$0.50\n', "Cost", 617.5, ""),
        ("task;success;cost\na;1;0,5\nb;0;1,5\n", "Cost", 1.0, "decimal comma"),
        ("task,success,cost\na,1,€3\nb,0,$1\n", "Cost", None, "cost is left out: in 1 conversation of 2"),
        ("task,success,cost\na,1,2\nb,0,n/a\n", "Cost", 2.0, ""),
    ],
)
def test_amounts_as_they_are_written(
    content: str, measure: str, value: float | None, note: str, tmp_path: Path
) -> None:
    path = tmp_path / "log.csv"
    path.write_text(content)
    [run] = score_results([path]).runs
    assert (run.scores[measure].value if measure in run.scores else None) == value
    assert any(note in told for told in run.notes) or not note


@pytest.mark.parametrize(
    ("metrics", "cost", "tokens"),
    [
        ({"metrics": {"estimated_cost": 0.5, "tokens": 7, "start": 1, "end": 2}}, 0.5, 7),
        ({"metrics": {"accumulated_cost": 0.5}}, 0.5, None),
        ({"stats.cum_cost": 0.5}, 0.5, None),
    ],
)
def test_amounts_among_metrics(metrics: dict[str, object], cost: float, tokens: int | None, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    rows = [{"task_id": task, "success": task == "a", **metrics} for task in "ab"]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    [run] = score_results([path]).runs
    assert run.scores["Cost"].value == cost
    assert (run.scores["ModelTokens"].value if "ModelTokens" in run.scores else None) == tokens
    assert not any(name.startswith("Score[") for name in run.scores)


def test_conversations_without_messages_have_no_length(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    talks: dict[str, dict[str, object]] = {"a": {"messages": TALK}, "b": {"messages": []}, "c": {}}
    rows = [{"task_id": task, "success": True, **talk} for task, talk in talks.items()]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    [run] = score_results([path]).runs
    assert run.scores["Turns"].value == 2.0


def test_costs_of_messages_are_summed(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    talk = [TALK[0], *({**TALK[1], "cost": cost} for cost in (0.25, 0.5))]
    rows = [{"task_id": task, "success": True, "messages": talk} for task in "ab"]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    [run] = score_results([path]).runs
    assert run.scores["Cost"].value == 0.75
    assert any("sum of what messages say" in told for told in run.notes)


def test_records_again_are_told(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    rows = "".join(json.dumps({"task_id": task, "success": True, "cost": 0.25}) + "\n" for task in "ab")
    path.write_text(rows * 2)
    [run] = score_results([path]).runs
    assert any("is the log there twice" in told for told in run.notes)


def test_nothing_said_is_not_the_same_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, done in (("a", ("1", "0")), ("b", ("0", "1"))):
        rows = "".join(f"t{number},{verdict}\n" for number, verdict in enumerate(done * 3))
        (tmp_path / f"{name}.csv").write_text(f"task,success\n{rows}")
    outcome = command(capsys, "compare", tmp_path / "a.csv", tmp_path / "b.csv")
    assert outcome.code == 0 and "word for word" not in outcome.out + outcome.err


@pytest.mark.parametrize(
    ("beside", "tokens", "told"),
    [
        ({"cumulative": True}, 60.0, "tokens of messages that are cumulative: those of the last taken"),
        ({}, 100.0, "if they are running totals"),
        ({"prompt_tokens": 8, "completion_tokens": 2}, 100.0, ""),
    ],
)
def test_running_totals_of_tokens_are_not_added_up(
    beside: dict[str, object], tokens: float, told: str, tmp_path: Path
) -> None:
    said = [{**TALK[1], "usage": {"total_tokens": total, **beside}} for total in (10, 30, 60)]
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"task_id": "a", "messages": [TALK[0], *said], "success": True}))
    [run] = score_results([path]).runs
    assert run["ModelTokens"].value == tokens
    assert any("tokens of messages" in note for note in run.notes) is bool(told)
    assert any(told in note for note in run.notes)
