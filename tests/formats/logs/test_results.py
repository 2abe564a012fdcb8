"""Results of which no messages were kept, in the shapes in which people have them, and what is said of other shapes."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.formats import read

TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
#: Two trials of each of three tasks.
VERDICTS = {"buy": (True, False), "sell": (True, True), "swap": (False, False)}
ALL = {(task, trial): verdict for task, both in VERDICTS.items() for trial, verdict in enumerate(both)}
ROWS = [{"task": task, "trial": trial, "passed": verdict} for (task, trial), verdict in ALL.items()]


def told(path: Path) -> dict[tuple[str, int], bool | None]:
    """The verdict of each trial of a log."""
    outcomes = [dialogue.outcome for dialogue in read(path)]
    return {
        (outcome.details["task"], int(outcome.details["trial"])): outcome.success for outcome in outcomes if outcome
    }


@pytest.mark.parametrize(
    "value",
    [
        ROWS,
        {"summary": {"pass_rate": 0.5, "n": 6}, "details": ROWS},
        {"agent": "mine", "results": [{**row, "steps": [{"thought": "so"}], "parser": {"a": "b"}} for row in ROWS]},
        {task: list(both) for task, both in VERDICTS.items()},
        {"gpt-4o": {task: ["PASS" if one else "FAIL" for one in both] for task, both in VERDICTS.items()}},
        {task: {f"trial_{n}": one for n, one in enumerate(both)} for task, both in VERDICTS.items()},
        {task: {f"run {n}": {"reward": float(one), "success": one} for n, one in enumerate(both)}
         for task, both in VERDICTS.items()},
        {"tasks": list(VERDICTS), "results": [[int(one) for one in both] for both in VERDICTS.values()]},
        [{"task": task, "outcomes": ["pass" if one else "fail" for one in both]} for task, both in VERDICTS.items()],
        {"aggregate": {"goal_completion": 50.0},
         "individual": {task: {"runs": [{"success": one} for one in both]} for task, both in VERDICTS.items()}},
    ],
)  # fmt: skip
@pytest.mark.parametrize("indent", [None, 1])
def test_verdicts_by_task_and_trial(value: Any, indent: int | None, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps(value, indent=indent))
    assert told(tmp_path / "results.json") == ALL


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("choice.csv", "Scenario;Attempt #;Outcome (pass/fail)\nbuy;0;pass\nbuy;1;fail\nsell;0;pass\nsell;1;pass\n"
                       "swap;0;fail\nswap;1;fail\n"),
        ("passfail.csv", "Scenario,Run,Pass/Fail\nbuy,0,Y\nbuy,1,N\nsell,0,Y\nsell,1,Y\nswap,0,N\nswap,1,N\n"),
        ("words.csv", "task,trial,success\nbuy,0,WAHR\nbuy,1,FALSCH\nsell,0,ok\nsell,1,done\nswap,0,nein\nswap,1,ko\n"),
        ("scores.csv", "reference_example_id,trial,inputs.q,feedback.correctness\nbuy,0,hi,1\nbuy,1,hi,0\nsell,0,x,1\n"
                       "sell,1,x,1\nswap,0,x,0\nswap,1,x,0\n"),
    ],
)  # fmt: skip
def test_tables(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    scores = [outcome.details for outcome in (one.outcome for one in read(tmp_path / name)) if outcome]
    if any("score[feedback.correctness]" in details for details in scores):
        assert [details["score[feedback.correctness]"] for details in scores] == ["1", "0", "1", "1", "0", "0"]
    else:
        assert told(tmp_path / name) == ALL


def test_ids_and_lists_of_them_keep_their_names(tmp_path: Path) -> None:
    report = {"total": 3, "resolved_ids": ["buy"], "unresolved_ids": ["sell"], "error_ids": ["swap"]}
    (tmp_path / "report.json").write_text(json.dumps(report))
    assert told(tmp_path / "report.json") == {("buy", 0): True, ("sell", 0): False, ("swap", 0): False}
    results = {f"{task}_run{trial}": {"Success": int(one), "dialog": [["hi"]]} for (task, trial), one in ALL.items()}
    (tmp_path / "ids.json").write_text(json.dumps(results))
    assert {task for task, _ in told(tmp_path / "ids.json")} == set(results)


def test_a_report_of_swe_bench_keeps_what_is_neither_resolved_nor_unresolved(tmp_path: Path) -> None:
    report = {
        "total_instances": 7, "submitted_ids": ["a", "b", "c", "d", "e"], "completed_ids": ["a", "b"],
        "incomplete_ids": ["f"], "empty_patch_ids": ["c"], "resolved_ids": ["a"], "unresolved_ids": ["b"],
        "error_ids": ["d"],
    }  # fmt: skip
    (tmp_path / "report.json").write_text(json.dumps(report))
    verdicts = {task: verdict for (task, _), verdict in told(tmp_path / "report.json").items()}
    assert verdicts == {"a": True, "b": False, "c": False, "d": False, "e": None, "f": None}
    assert (
        read(tmp_path / "report.json").notes.counts[
            "instances under 'error_ids' count as unresolved, as SWE-bench counts them"
        ]
        == 1
    )


@pytest.mark.parametrize(
    "value",
    [
        {f"run_{n}": {task: both[n] for task, both in VERDICTS.items()} for n in range(2)},
        {"results": {f"seed{n}": {task: {"success": both[n]} for task, both in VERDICTS.items()} for n in range(2)}},
        {f"trial {n}": {"passed": [task for task, both in VERDICTS.items() if both[n]],
                        "failed": [task for task, both in VERDICTS.items() if not both[n]]} for n in range(2)},
        {task: {f"seed_{n}": one for n, one in enumerate(both)} for task, both in VERDICTS.items()},
    ],
)  # fmt: skip
def test_verdicts_by_trial_and_task(value: Any, tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(json.dumps(value))
    assert told(tmp_path / "log.json") == ALL


def test_lists_by_trial_have_an_entry_a_task(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(json.dumps({"seed0": [True, False, True], "seed1": [False, False, True]}))
    assert [verdict for _, verdict in sorted(told(tmp_path / "log.json").items())] == [
        True, False, False, False, True, True,
    ]  # fmt: skip
    (tmp_path / "uneven.json").write_text(json.dumps({"seed0": [True, False, True], "seed1": [False, False]}))
    with pytest.raises(DialgaugeError, match="have 3, 2 entries"):
        read(tmp_path / "uneven.json")


@pytest.mark.parametrize(
    "names", [("gpt-4o", "claude-3-5-sonnet", "mine"), ("openai/gpt-5", "qwen"), ("agent_1", "agent_2")]
)
def test_lists_by_model_are_of_several_agents(names: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(json.dumps({"results": {name: [True, False] for name in names}}))
    with pytest.raises(DialgaugeError, match="as of several agents"):
        read(tmp_path / "log.json")


def test_reports_of_mochawesome_have_tests_in_suites(tmp_path: Path) -> None:
    for number in range(2):
        tests = [
            {"title": task, "fullTitle": f"bot {task}", "state": "passed" if both[number] else "failed",
             "pass": both[number], "fail": not both[number], "pending": False, "uuid": f"{task}{number}"}
            for task, both in VERDICTS.items()
        ]  # fmt: skip
        skipped = {"title": "x", "fullTitle": "bot x", "state": "pending", "pass": False, "pending": True, "uuid": "x"}
        suite = {"uuid": "s", "title": "bot", "tests": [*tests, skipped]}
        report = {"stats": {"tests": 4}, "results": [{"uuid": "r", "title": "", "suites": [suite]}]}
        (tmp_path / f"run_{number}.json").write_text(json.dumps(report))
    verdicts = {(f"bot {task}", trial): verdict for (task, trial), verdict in ALL.items()}
    assert told(tmp_path) == {**verdicts, ("bot x", 0): None, ("bot x", 1): None}


def test_runs_of_mlflow_as_a_table(tmp_path: Path) -> None:
    rows = [f"r{n},FINISHED,{int(bool(row['passed']))}.0,{row['task']},{n % 2}" for n, row in enumerate(ROWS)]
    (tmp_path / "runs.csv").write_text(
        "\n".join(["run_id,status,metrics.success,params.task_id,params.seed", *rows]) + "\n"
    )
    assert told(tmp_path / "runs.csv") == ALL


def test_traces_of_one_session_are_conversations_of_their_own(tmp_path: Path) -> None:
    traces = [
        {"id": f"trace{n}", "timestamp": "2025-05-02", "name": "buy", "sessionId": "run-1", "input": TALK[:1],
         "output": TALK[1:], "scores": [{"name": "success", "value": n}]}
        for n in range(2)
    ]  # fmt: skip
    (tmp_path / "traces.json").write_text(json.dumps({"data": traces}))
    assert [dialogue.id for dialogue in read(tmp_path / "traces.json")] == ["trace0", "trace1"]


def test_files_of_runs_are_trials_of_their_tasks(tmp_path: Path) -> None:
    for trial in (0, 1):
        results = {task: both[trial] for task, both in VERDICTS.items()}
        (tmp_path / f"run{trial}.json").write_text(json.dumps({"results": results}))
    assert told(tmp_path) == ALL


@pytest.mark.parametrize(
    "value", [{"epochs": 1, "layers": 0}, {"success": True, "valid": True}, {"a": {"b": 1}}, [1, 0]]
)
def test_what_may_be_anything_is_not_read(value: Any, tmp_path: Path) -> None:
    (tmp_path / "any.json").write_text(json.dumps(value))
    with pytest.raises(DialgaugeError):
        read(tmp_path / "any.json")


def test_results_of_two_agents_in_one_file_are_refused(tmp_path: Path) -> None:
    both = {agent: {task: list(given) for task, given in VERDICTS.items()} for agent in ("mine", "yours")}
    (tmp_path / "both.json").write_text(json.dumps(both))
    with pytest.raises(DialgaugeError, match="same tasks under 'mine', 'yours', as of several agents"):
        read(tmp_path / "both.json")


def test_a_first_line_that_counts_more_than_there_is(tmp_path: Path) -> None:
    failed = [{"id": f"t{n}", "valid": False} for n in range(3)]
    lines = [{"accuracy": 0.4, "correct_count": 2, "total_count": 5}, *failed]
    (tmp_path / "score.json").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(DialgaugeError, match="counts 5 results, and 3 follow"):
        read(tmp_path / "score.json")
    lines[0] = {"run": "x", "date": "2026-01-01"}
    (tmp_path / "score.json").write_text("\n".join(map(json.dumps, lines)))
    log = read(tmp_path / "score.json")
    assert len(log) == 3
    assert "what the first line says of the whole left out (it has the keys run, date)" in log.notes.counts


@pytest.mark.parametrize(
    ("record", "source"),
    [
        ({"metadata": {"evaluation": {"passed": True}}}, "metadata.evaluation.passed"),
        ({"call_analysis": {"call_successful": True, "mood": "good"}}, "call_analysis.call_successful"),
        ({"analysis": {"successEvaluation": "true"}}, "analysis.successEvaluation"),
    ],
)
def test_a_verdict_lies_deep_where_somebody_judged(record: dict[str, Any], source: str, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(json.dumps({"task": "t", "messages": TALK, **record}))
    log = read(tmp_path / "log.jsonl")
    assert [one.outcome and one.outcome.success for one in log] == [True]
    assert f"whether it passed is read from '{source}'" in log.notes.counts
    assert log.notes.judged_by >= {source}


@pytest.mark.parametrize(
    "record",
    [
        {"task": "t", "evaluation": '{"passed": true, "reason": "so"}'},
        {"task": {"id": "t", "description": "Say hi."}, "result": {"success": True}},
        {"task": "t", "agent_output": {"success": False}, "eval": {"success": True}},
    ],
)
def test_facts_in_objects_and_texts_of_them(record: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(json.dumps({**record, "messages": TALK}))
    assert told(tmp_path / "log.jsonl") == {("t", 0): True}


def test_lists_beside_conversations_tell_of_each(tmp_path: Path) -> None:
    by_task = {task: {"conversations": [TALK, TALK], "passed": list(both)} for task, both in VERDICTS.items()}
    (tmp_path / "log.json").write_text(json.dumps(by_task))
    assert told(tmp_path / "log.json") == ALL


def test_events_tell_of_their_conversation(tmp_path: Path) -> None:
    events = [
        {"event": "start", "conversation": "c", "task": "t", "trial": 3},
        *({"event": "message", "conversation": "c", **message} for message in TALK),
        {"event": "end", "conversation": "c", "success": True},
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, events)))
    assert told(tmp_path / "log.jsonl") == {("t", 3): True}
    assert [len(dialogue.turns) for dialogue in read(tmp_path / "log.jsonl")] == [2]


def test_lists_of_conversations_in_a_list_are_trials(tmp_path: Path) -> None:
    runs = [[{"task": task, "messages": TALK, "success": both[n]} for task, both in VERDICTS.items()] for n in (0, 1)]
    (tmp_path / "log.json").write_text(json.dumps(runs))
    assert told(tmp_path / "log.json") == ALL


def test_trials_that_are_only_counted(tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text("task,passed,trials\nbuy,1,2\nsell,2,2\nswap,0,2\n")
    assert told(tmp_path / "counts.csv") == ALL
    (tmp_path / "counts.csv").write_text("task,passed,total\nbuy,1,2\nsell,2,2\nswap,0,2\n")
    with pytest.raises(DialgaugeError, match=r"counts\.csv: 'passed' and 'total' \(1 of 2\) may count trials"):
        read(tmp_path / "counts.csv")


@pytest.mark.parametrize("orient", ["columns", "split", "lists"])
def test_tables_as_pandas_writes_them(orient: str, tmp_path: Path) -> None:
    columns = {name: [row[name] for row in ROWS] for name in ("task", "trial", "passed")}
    values: dict[str, Any] = {
        "columns": {name: {str(place): cell for place, cell in enumerate(cells)} for name, cells in columns.items()},
        "split": {"columns": list(columns), "index": [0], "data": [list(row.values()) for row in ROWS]},
        "lists": columns,
    }
    (tmp_path / "table.json").write_text(json.dumps(values[orient]))
    assert told(tmp_path / "table.json") == ALL


@pytest.mark.parametrize(
    ("text", "verdict"), [("Pass: it did", True), ("failed - no reply", False), ("FAIL ❌", False)]
)
def test_a_verdict_may_be_explained(text: str, verdict: bool, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(json.dumps({"task": "t", "messages": TALK, "verdict": text}))
    assert told(tmp_path / "log.jsonl") == {("t", 0): verdict}


@pytest.mark.parametrize(
    "content",
    [
        "dialogue_id,turn,prediction,score\na,0,hotel-area=north,1\na,1,hotel-area=south,0\n",
        '{"dialogue_id":"a","turn":0,"state":{"hotel-area":"north"},"correct":true}\n'
        '{"dialogue_id":"a","turn":1,"state":{"hotel-area":"north"},"correct":true}\n',
        '{"a":[{"state":{"hotel-area":"north"},"success":true},{"state":{"hotel-parking":"yes"},"success":false}]}',
    ],
)
def test_predictions_with_scores_stay_predictions(content: str, tmp_path: Path) -> None:
    (tmp_path / "p").write_text(content)
    assert read(tmp_path / "p").format == "predictions"


def test_rows_of_turns_are_no_results(tmp_path: Path) -> None:
    record = {"dialogue_id": "a", "turn_id": 0, "parsed": {"hotel-area": "north"}, "correct": True}
    (tmp_path / "p.jsonl").write_text(json.dumps(record))
    with pytest.raises(DialgaugeError, match="no known layout fits"):
        read(tmp_path / "p.jsonl")


def test_deep_nesting_is_no_result(tmp_path: Path) -> None:
    for opening, closing in (('{"0":', "}"), ('{"a":[', "]}")):
        (tmp_path / "deep.json").write_text(opening * 300 + "true" + closing * 300)
        with suppress(DialgaugeError):
            assert read(tmp_path / "deep.json").format != "messages"


@pytest.mark.parametrize("nothing", [None, "", "N/A", "skipped", "?"])
@pytest.mark.parametrize("shape", ["lines", "list", "table"])
@pytest.mark.parametrize("name", ["passed", "result"])
def test_a_first_row_that_nobody_judged_is_read_as_a_later_one(
    nothing: str | None, shape: str, name: str, tmp_path: Path
) -> None:
    verdicts = {place: "fail" if place[0] == "swap" else "pass" for place in ALL}
    for unjudged in (("buy", 0), ("sell", 1)):
        rows = [
            {"task": task, "trial": trial, name: nothing if (task, trial) == unjudged else verdict}
            for (task, trial), verdict in verdicts.items()
        ]
        cells = [",".join("" if cell is None else str(cell) for cell in row.values()) for row in rows]
        texts = {
            "lines": "\n".join(map(json.dumps, rows)),
            "list": json.dumps({"summary": {}, "tests": rows}),
            "table": "\n".join([",".join(rows[0]), *cells]),
        }
        path = tmp_path / {"lines": "log.jsonl", "list": "log.json", "table": "log.csv"}[shape]
        path.write_text(texts[shape])
        expected = {place: None if place == unjudged else word == "pass" for place, word in verdicts.items()}
        assert told(path) == expected


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"task": "c", "outcome": "resolved"}', ""),
        ('{"id": "c", "outcome": "error"}', ""),
        ('{"id": "c", "outcome": "escalated"}', "'outcome' is 'escalated', which is neither yes nor no"),
        ('{"summary": true, "accuracy": 0.7}', "it names no task .*take away a line that sums up the others"),
        ('{"outcome": "resolved"}', "it names no task .*fill in the task where cells were merged"),
        ('{"id": "c", "note": "late"}', "it does not say how the task went"),
    ],
)
def test_a_line_that_is_no_result_is_told_what_it_lacks(line: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"id": "a", "outcome": "resolved"}\n{"id": "b", "outcome": "failed"}\n' + line)
    path.write_text(path.read_text() + '\n{"id": "d", "outcome": "failed"}')
    if what:
        with pytest.raises(DialgaugeError, match=f"line 3: {what}") as error:
            list(read(path))
        assert "messages" not in str(error.value)
    else:
        assert len(list(read(path))) == 4
