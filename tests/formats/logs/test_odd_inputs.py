"""Files as other tools and people write them: each is read as it is meant, or refused with an example that is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.formats import read
from support.commands import Outcome, dialgauge as command
from support.odd_logs import COMPLICATED, ODD_LOGS, OddLog, Truth
from support.tool_logs import TOOL_LOGS

#: Those that are to be read at once.
READ = frozenset(
    """
    junit openai_evals deepeval braintrust langsmith_csv wandb_table appworld osworld markdown_table pipe_table yaml_log
    nested_run_folders file_per_message tsv ndjson_gz html_page zipped_folder harbor_job agentbench
    terminal_bench_results agentlab swe_bench_run swe_bench_preds_and_report verdicts_by_trace
    verdicts_by_session_csv bullet_answers
    bullet_answers_json toml_results key_value_blocks pytest_output tap_output summary_line_at_the_end
    header_and_percent total_row_in_csv concatenated_json python_repr
    """.split()  # noqa: SIM905
) | {odd.name for odd in (*COMPLICATED, *TOOL_LOGS) if not odd.never_read}


def _scored(outcome: Outcome) -> Truth | None:
    """What a log was read as; None where it was refused."""
    if not outcome.out.strip():
        return None
    document = json.loads(outcome.out)
    [coverage] = document["coverage"].values()
    passed = document["systems"][0]["scores"].get("pass^1", {"value": 0.0})["value"]
    tasks, read = coverage["planned"]["tasks"], coverage["begun"]
    return Truth(tasks, read, round(passed * coverage["units"]["conversations"]["scored"]))


def example_in(outcome: Outcome) -> str:
    """The lines of JSON that a refusal ends with."""
    lines = outcome.err.strip().splitlines()
    return "".join(f"{line}\n" for line in lines if line.lstrip().startswith("{"))


@pytest.mark.parametrize("odd", [*ODD_LOGS, *COMPLICATED, *TOOL_LOGS], ids=lambda odd: odd.name)
def test_read_as_meant_or_led_on(odd: OddLog, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "given").mkdir()
    path = odd.write(tmp_path / "given")
    outcome = command(capsys, "tasks", "score", path, "--json", "-")
    if (truth := _scored(outcome)) is not None:
        assert not odd.never_read and truth == odd.truth
        return
    assert outcome.code == 2
    assert odd.name not in READ
    told = " ".join(outcome.err.split())
    assert "dialgauge tasks score mine.jsonl" in told
    (tmp_path / "mine.jsonl").write_text(example_in(outcome))
    assert _scored(command(capsys, "tasks", "score", tmp_path / "mine.jsonl", "--json", "-")) is not None, told


@pytest.mark.parametrize(
    "path",
    ["{agent}/2026-01-01_on_{task}_0/summary_info.json", "2026-01-01_{agent}_on_{task}_0/summary_info.json",
     "{agent}/{task}.json", "{agent}/{task}/result.json"],
)  # fmt: skip
def test_folders_of_two_agents_are_no_trials_of_one(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for agent in ("GenericAgent-gpt-4o", "GenericAgent-claude"):
        for task in ("buy", "sell", "swap"):
            file = tmp_path / "logs" / path.format(agent=agent, task=task)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps({"cum_reward": 1.0, "success": task != "buy", "n_steps": 3}))
    outcome = command(capsys, "tasks", "score", tmp_path / "logs")
    assert outcome.code == 2
    assert "conversations of 2 models (GenericAgent-claude 3, GenericAgent-gpt-4o 3)" in " ".join(outcome.err.split())


def test_the_same_names_in_folders_of_no_agents_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for day in ("monday", "tuesday"):
        for task in ("buy", "sell", "swap"):
            (tmp_path / "logs" / day / task).mkdir(parents=True)
            (tmp_path / "logs" / day / task / "result.json").write_text(json.dumps({"success": True}))
            (tmp_path / "logs" / day / task / "config.json").write_text("{}")
    outcome = command(capsys, "tasks", "score", tmp_path / "logs")
    told = "in several folders (monday, tuesday) taken for trials of one agent; score folders of several agents one by"
    assert told in " ".join(outcome.err.split())


def test_conversations_without_a_verdict_are_named_beside_what_sums_them_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talk = [{"role": "user", "content": "please"}, {"role": "agent", "content": "done"}]
    runs = [{"index": n, "output": {"result": {"answer": "x"}, "history": talk}} for n in range(3)]
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "runs.jsonl").write_text("".join(f"{json.dumps(run)}\n" for run in runs))
    (tmp_path / "logs" / "overall.json").write_text(json.dumps({"total": 3, "custom": {"overall": {"acc": 0.5}}}))
    outcome = command(capsys, "tasks", "score", tmp_path / "logs")
    told = " ".join(outcome.err.split())
    assert outcome.code == 2 and "logs/runs.jsonl do not say how they went" in told
    (tmp_path / "mine.jsonl").write_text(example_in(outcome))
    assert _scored(command(capsys, "tasks", "score", tmp_path / "mine.jsonl", "--json", "-")) is not None, told


@pytest.mark.parametrize("layout", ["lines", "list", "object"])
def test_half_of_an_emoji_is_read_as_the_replacement_character(layout: str, tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "hi \ud83d"}, {"role": "assistant", "content": "\U0001f600 \\ud83d"}]
    records = [{"task_id": f"t{number}", "success": False, "messages": talk} for number in range(2)]
    values: dict[str, Any] = {"list": records, "object": {"conversations": records}}
    path = tmp_path / "log.json"
    path.write_text("\n".join(map(json.dumps, records)) if layout == "lines" else json.dumps(values[layout]))
    corpus = read(path)
    assert [turn.text for turn in corpus[1].turns] == ["hi \ufffd", "\U0001f600 \\ud83d"]
    assert any("half of an emoji" in what for what in corpus.notes.counts)


def test_half_of_an_emoji_where_it_is_not_read_is_told_as_such(tmp_path: Path) -> None:
    path = tmp_path / "native.jsonl"
    path.write_text(json.dumps({"id": "d", "turns": [{"speaker": "user", "text": "hi \ud83d"}]}))
    with pytest.raises(DialgaugeError, match="holds half of an emoji") as told:
        read(path)
    assert told.value.line == 1


def test_results_of_tau_are_told_without_what_else_is_known_of_them(tmp_path: Path) -> None:
    """Not by messages and tau alike, which nobody could choose between; without a trial, they are chat messages."""
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    result = {"task_id": 1, "reward": 1.0, "traj": talk}
    path = tmp_path / "log.json"
    for record, format_ in (({**result, "trial": 0}, "tau"), ({**result, "info": {}}, "tau"), (result, "messages")):
        path.write_text(json.dumps([record]))
        assert read(path).format == format_


def test_what_could_be_two_formats_can_be_scored_as_the_refusal_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    record = {"id": "s", "task_id": "1", "trial": 0, "termination_reason": "user_stop", "success": True}
    path, named = tmp_path / "log.json", tmp_path / "named.jsonl"
    path.write_text(json.dumps({**record, "messages": talk}))
    refused = command(capsys, "tasks", "score", str(path))
    assert f"dialgauge data convert {path} named.jsonl --to native --format messages" in " ".join(refused.err.split())
    assert command(capsys, "data", "check", str(path), "--format", "tau2").code == 0
    assert command(capsys, "data", "convert", str(path), str(named), "--to", "native", "--format", "messages").code == 0
    assert command(capsys, "tasks", "score", str(named)).code == 0


_RETELL = [
    {"call_id": f"call_{n}", "metadata": {"task_id": "refund", "trial": n}, "transcript_with_tool_calls": [
        {"role": "user", "content": "hi"}, {"role": "agent", "content": "hello"},
        {"role": "tool_call_invocation", "name": "f", "arguments": "{}"}]}
    for n in (1, 2)
]  # fmt: skip
_ROBOT = "".join(
    f"<test id='s1-t{n}' name='buy trial {n}'><kw name='Run'><status status='PASS' start='2025-06-01T10:00:00'/></kw>"
    f"<status status='FAIL' start='2025-06-01T10:00:00'/></test>"
    for n in (1, 2)
)
_GO = [
    {"Action": action, "Package": "x/agent", "Test": f"TestAgent/buy{n}"} for n in (1, 2) for action in ("run", "fail")
]


@pytest.mark.parametrize(
    ("name", "content", "task"),
    [
        ("calls.json", json.dumps(_RETELL), "refund"),
        ("buy_run1.txt", "Customer: Hi, I need help.\nAgent: Sure, what with?\nCustomer: This.\n", "buy_run1"),
        ("robot.xml", f"<?xml version='1.0'?><robot><suite name='Agent'>{_ROBOT}</suite></robot>", "t1"),
        ("go.json", "".join(f"{json.dumps(line)}\n" for line in _GO), "TestAgent/buy1"),
    ],
)
def test_examples_name_tasks_as_the_file_does(
    name: str, content: str, task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(content)
    outcome = command(capsys, "tasks", "score", tmp_path / name)
    assert outcome.code == 2
    assert json.loads(example_in(outcome).splitlines()[0])["task_id"] == task
    assert "keys seen: Customer" not in " ".join(outcome.err.split())
