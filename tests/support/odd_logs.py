"""Results of agents as other tools and people write them: files by name, and the truth about what is in them."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

#: Two trials of each of three tasks, and one.
VERDICTS = {"buy": (True, False), "sell": (True, True), "swap": (False, False)}
TRIALS = [(task, trial, verdict) for task, both in VERDICTS.items() for trial, verdict in enumerate(both)]
ONCE = {task: both[0] for task, both in VERDICTS.items()}


class Truth(NamedTuple):
    """How many tasks and conversations there are, and how many of these succeeded."""

    tasks: int
    conversations: int
    successes: int


TWICE, SINGLE = Truth(3, 6, 3), Truth(3, 3, 2)


class OddLog(NamedTuple):
    """Files by name, what is in them, and whether there is so little that only a refusal is right."""

    name: str
    files: Mapping[str, str | bytes]
    truth: Truth
    never_read: bool = False

    def write(self, folder: Path) -> Path:
        """Write the files; the path to name: the only file, or the folder."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return folder / next(iter(self.files)) if len(self.files) == 1 else folder


ODD_LOGS: list[OddLog] = []
_Make = Callable[[], Mapping[str, str | bytes]]


def _odd(truth: Truth, *, never_read: bool = False) -> Callable[[_Make], _Make]:
    def keep(make: _Make) -> _Make:
        ODD_LOGS.append(OddLog(make.__name__.strip("_"), make(), truth, never_read))
        return make

    return keep


def _lines(records: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def _talk(task: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"please {task} it"}, {"role": "assistant", "content": f"I {task} it."}]


@_odd(SINGLE, never_read=True)
def junit() -> Mapping[str, str]:
    cases = "".join(
        f'<testcase classname="suite.tasks" name="{task}" time="1.2">'
        + ("" if done else '<failure message="wrong">assert 1 == 2</failure>')
        + "</testcase>\n"
        for task, done in ONCE.items()
    )
    return {"junit.xml": f'<?xml version="1.0"?>\n<testsuites><testsuite name="s">{cases}</testsuite></testsuites>'}


@_odd(TWICE)
def helm() -> Mapping[str, str]:
    stats = [
        {"instance_id": task, "train_trial_index": trial, "stats": [
            {"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": float(done), "mean": float(done)},
            {"name": {"name": "num_bytes"}, "count": 1, "sum": 12.0, "mean": 12.0}]}
        for task, trial, done in TRIALS
    ]  # fmt: skip
    return {"per_instance_stats.json": json.dumps(stats, indent=1)}


@_odd(SINGLE)
def openai_evals() -> Mapping[str, str]:
    spec = {"spec": {"completion_fns": ["gpt-4"], "eval_name": "shop.dev.v0", "run_id": "230101"}}
    events: list[dict[str, Any]] = [spec]
    for number, (task, done) in enumerate(ONCE.items()):
        shared = {"run_id": "230101", "sample_id": f"shop.dev.{task}", "created_by": "", "created_at": "2023-01-01"}
        sampling = {"prompt": [{"role": "user", "content": task}], "sampled": [task if done else "no"]}
        events += [
            {**shared, "event_id": 2 * number, "type": "sampling", "data": sampling},
            {**shared, "event_id": 2 * number + 1, "type": "match", "data": {"correct": done, "expected": task}},
        ]
    return {"evals.jsonl": _lines([*events, {"final_report": {"accuracy": 0.67}}])}


@_odd(SINGLE)
def lm_eval_samples() -> Mapping[str, str]:
    return {
        "samples_shop_2024.jsonl": _lines([
            {"doc_id": number, "doc": {"question": f"How do I {task}?", "answer": task}, "target": task,
             "arguments": [["Q: ...", {"until": ["\n"]}]], "resps": [[task]], "filtered_resps": [task],
             "doc_hash": f"ab{number}", "exact_match": float(done)}
            for number, (task, done) in enumerate(ONCE.items())
        ])
    }  # fmt: skip


@_odd(SINGLE)
def deepeval() -> Mapping[str, str]:
    cases = [
        {"name": task, "input": f"please {task}", "actualOutput": "done", "success": done, "metricsData": [
            {"name": "Answer Relevancy", "threshold": 0.5, "success": done, "score": 0.9 if done else 0.2}]}
        for task, done in ONCE.items()
    ]  # fmt: skip
    return {
        "deepeval.json": json.dumps({"testFile": "test_a.py", "testCases": cases, "testPassed": 2, "testFailed": 1})
    }


@_odd(TWICE)
def braintrust() -> Mapping[str, str]:
    return {
        "experiment.jsonl": _lines([
            {"id": f"{task}-{trial}-x", "span_id": f"s{task}{trial}", "root_span_id": f"s{task}{trial}",
             "input": {"task": task}, "output": "done", "expected": None, "scores": {"task_success": int(done)},
             "metadata": {"task_id": task, "trial": trial}, "metrics": {"start": 1.0, "end": 2.0, "tokens": 12}}
            for task, trial, done in TRIALS
        ])
    }  # fmt: skip


@_odd(TWICE)
def langsmith_csv() -> Mapping[str, str]:
    rows = "".join(
        f'{task}{trial}-0a,"{{""question"": ""{task}?""}}","{{""answer"": ""x""}}",,success,1.2,{int(done)},ex-{task}\n'
        for task, trial, done in TRIALS
    )
    return {
        "langsmith.csv": f"id,inputs,outputs,error,status,latency,feedback.correctness,reference_example_id\n{rows}"
    }


@_odd(SINGLE)
def wandb_table() -> Mapping[str, str]:
    data = [[task, f"please {task}", done, 0.5] for task, done in ONCE.items()]
    return {"media.table.json": json.dumps({"columns": ["task", "prompt", "success", "loss"], "data": data})}


@_odd(SINGLE)
def weave() -> Mapping[str, str]:
    calls = [
        {"id": f"c{task}", "op_name": "weave:///me/shop/op/Evaluation.predict_and_score:abc", "trace_id": "t1",
         "parent_id": None, "inputs": {"example": {"task": task}}, "exception": None,
         "output": {"output": "done", "scores": {"goal_reached": {"passed": done}}, "model_latency": 1.2}}
        for task, done in ONCE.items()
    ]  # fmt: skip
    return {"weave.jsonl": _lines(calls)}


@_odd(SINGLE)
def mlflow_traces() -> Mapping[str, str]:
    traces = [
        {"info": {"trace_id": f"tr-{task}", "state": "OK", "request_preview": f"please {task}",
                  "assessments": [{"assessment_name": "correctness", "feedback": {"value": "yes" if done else "no"}}],
                  "tags": {"mlflow.user": "me"}},
         "data": {"spans": [{"name": "agent", "span_id": "1", "attributes": {}}]}}
        for task, done in ONCE.items()
    ]  # fmt: skip
    return {"traces.json": json.dumps(traces)}


@_odd(SINGLE)
def bfcl() -> Mapping[str, str]:
    head = {"accuracy": 0.67, "correct_count": 2, "total_count": 3}
    failed = {"id": "swap", "model_name": "m", "test_category": "simple", "valid": False, "error": ["wrong"]}
    return {"BFCL_v3_simple_score.json": _lines([head, failed])}


@_odd(SINGLE)
def webarena() -> Mapping[str, str]:
    log = "2024-01-01 10:00:00,123 - INFO - [Config file]: config_files/0.json\n"
    ids = {"buy": 0, "sell": 1, "swap": 2}
    for task, done in ONCE.items():
        log += f"2024-01-01 10:00:01,123 - INFO - [Intent]: {task} it\n2024-01-01 10:00:09,123 - INFO - [Result] "
        log += f"({'PASS' if done else 'FAIL'}) config_files/{ids[task]}.json\n"
    return {"log.txt": log}


@_odd(SINGLE)
def gaia() -> Mapping[str, str]:
    return {
        "gaia.jsonl": _lines([
            {"task_id": task, "Question": f"How much to {task}?", "Level": 1, "model_answer": "3",
             "Final answer": "3" if done else "4", "reasoning_trace": "so"}
            for task, done in ONCE.items()
        ])
    }  # fmt: skip


@_odd(SINGLE)
def toolbench() -> Mapping[str, str]:
    return {
        f"answer/G1/{task}_DFS.json": json.dumps({
            "win": done, "try_count": 1, "total_tokens": 12, "tree": {"size": 2}, "answer_generation": {
                "query": f"please {task}", "finish_type": "give_answer", "final_answer": "done"}})
        for task, done in ONCE.items()
    }  # fmt: skip


@_odd(SINGLE)
def appworld() -> Mapping[str, str]:
    individual = {
        task: {"success": done, "difficulty": 1, "num_tests": 2, "passes": [{"requirement": "a", "label": "x"}],
               "failures": [] if done else [{"requirement": "b", "label": "x", "trace": "t"}]}
        for task, done in ONCE.items()
    }  # fmt: skip
    aggregate = {"task_goal_completion": 66.7, "scenario_goal_completion": 66.7}
    return {"dev.json": json.dumps({"aggregate": aggregate, "individual": individual}, indent=1)}


@_odd(TWICE)
def excel() -> Mapping[str, bytes]:
    rows: list[list[object]] = [["task", "trial", "success"], *([task, trial, done] for task, trial, done in TRIALS)]
    cells = "".join(
        "<row>" + "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row) + "</row>" for row in rows
    )
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as book:
        book.writestr("[Content_Types].xml", "<Types/>")
        book.writestr("xl/workbook.xml", "<workbook/>")
        book.writestr("xl/worksheets/sheet1.xml", f"<worksheet><sheetData>{cells}</sheetData></worksheet>")
    return {"results.xlsx": held.getvalue()}


@_odd(TWICE)
def sqlite() -> Mapping[str, bytes]:
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.db")
        with sqlite3.connect(path) as base:
            base.execute("create table runs (task text, trial int, success int)")
            base.executemany("insert into runs values (?, ?, ?)", TRIALS)
        base.close()
        return {"runs.db": path.read_bytes()}


@_odd(TWICE, never_read=True)
def markdown_table() -> Mapping[str, str]:
    rows = "".join(f"| {task} | {trial} | {'✅' if done else '❌'} |\n" for task, trial, done in TRIALS)
    return {"RESULTS.md": f"# Results\n\nAll runs of today.\n\n| Task | Trial | Passed |\n| --- | ---: | :-: |\n{rows}"}


@_odd(TWICE, never_read=True)
def yaml_log() -> Mapping[str, str]:
    return {
        "runs.yaml": "runs:\n"
        + "".join(
            f"  - task: {task}\n    trial: {trial}\n    success: {str(done).lower()}\n" for task, trial, done in TRIALS
        )
    }


@_odd(TWICE, never_read=True)
def nested_run_folders() -> Mapping[str, str]:
    files = {"runs/settings.json": json.dumps({"model": "m", "temperature": 0.2, "max_steps": 30})}
    for task, trial, done in TRIALS:
        base = f"runs/{task}/trial_{trial}"
        files[f"{base}/messages.json"] = json.dumps(_talk(task))
        files[f"{base}/result.json"] = json.dumps({"success": done, "steps": 3})
    return files


@_odd(TWICE)
def tsv() -> Mapping[str, str]:
    rows = "".join(f"{task}\t{trial}\t{'TRUE' if done else 'FALSE'}\tgpt\n" for task, trial, done in TRIALS)
    return {"runs.tsv": f"Task Name\tTrial #\tPassed?\tmodel\n{rows}"}


@_odd(TWICE)
def ndjson_gz() -> Mapping[str, bytes]:
    records = [{"taskId": task, "runNumber": trial, "messages": _talk(task), "isSuccess": str(done)}
               for task, trial, done in TRIALS]  # fmt: skip
    return {"runs.ndjson.gz": gzip.compress(_lines(records).encode(), mtime=0)}


@_odd(TWICE, never_read=True)
def html_page() -> Mapping[str, str]:
    rows = "".join(f"<tr><td>{task}</td><td>{trial}</td><td>{'pass' if done else 'fail'}</td></tr>\n"
                   for task, trial, done in TRIALS)  # fmt: skip
    head = "<tr><th>task</th><th>trial</th><th>result</th></tr>"
    return {"report.html": f"<!DOCTYPE html>\n<html><body><h1>Runs</h1><table>{head}\n{rows}</table></body></html>"}


@_odd(Truth(3, 6, 3))
def terminal_bench_results() -> Mapping[str, str]:
    results = [
        {"id": f"{task}{trial}", "trial_name": f"{task}.{trial + 1}-of-2.run", "task_id": task,
         "is_resolved": done, "failure_mode": "unset", "parser_results": {"test_a": "passed" if done else "failed"},
         "total_input_tokens": 10, "total_output_tokens": 2}
        for task, trial, done in TRIALS
    ]  # fmt: skip
    return {"results.json": json.dumps({"id": "r", "results": results, "accuracy": 0.5, "n_resolved": 3,
                                        "resolved_ids": ["buy", "sell"], "unresolved_ids": ["swap"]})}  # fmt: skip


@_odd(SINGLE)
def agentbench() -> Mapping[str, str]:
    runs = [
        {"index": number, "error": None, "info": None, "output": {"index": number, "status": "completed", "result": {
            "result": done}, "history": [{"role": "user", "content": task}, {"role": "agent", "content": "done"}]},
         "time": {"timestamp": 1, "str": "2024"}}
        for number, (task, done) in enumerate(ONCE.items())
    ]  # fmt: skip
    return {"gpt-4/os-std/runs.jsonl": _lines(runs)}


@_odd(SINGLE)
def swe_bench_report() -> Mapping[str, str]:
    report = {"total_instances": 3, "submitted_instances": 3, "resolved_instances": 2, "submitted_ids": list(ONCE),
              "completed_ids": list(ONCE), "incomplete_ids": [], "empty_patch_ids": [], "error_ids": [],
              "resolved_ids": ["buy", "sell"], "unresolved_ids": ["swap"], "schema_version": 2}  # fmt: skip
    return {"m.run1.json": json.dumps(report)}


@_odd(SINGLE, never_read=True)
def verdicts_by_session_csv() -> Mapping[str, str]:
    talks = [{"session_id": f"s-{task}", "user_id": "u1", "messages": _talk(task)} for task in ONCE]
    rows = "".join(f"s-{task},{'yes' if done else 'no'},fine\n" for task, done in ONCE.items())
    return {"chats.json": json.dumps(talks), "review.csv": f"Session ID,Resolved,Comment\n{rows}"}


@_odd(SINGLE)
def bullet_answers_json() -> Mapping[str, str]:
    return {
        "chats.json": json.dumps([
            {"name": task, "chat": f"User: what can I {task}?\nBot: You can:\n- take one: now\n- take two\nUser: ok",
             "ok": "yes" if done else "no"}
            for task, done in ONCE.items()
        ])
    }  # fmt: skip


@_odd(SINGLE)
def phoenix_spans() -> Mapping[str, str]:
    spans = [
        {"name": "agent", "context": {"trace_id": f"t{task}", "span_id": f"s{task}"}, "parent_id": None,
         "attributes": {"openinference.span.kind": "AGENT", "input.value": f"please {task}", "output.value": "done",
                        "session.id": task},
         "span_annotations": {"correct": {"score": int(done), "label": "correct" if done else "incorrect"}}}
        for task, done in ONCE.items()
    ]  # fmt: skip
    return {"phoenix.jsonl": _lines(spans)}


@_odd(SINGLE, never_read=True)
def toml_results() -> Mapping[str, str]:
    return {
        "results.toml": "".join(
            f'[[runs]]\ntask = "{task}"\nsuccess = {str(done).lower()}\n\n' for task, done in ONCE.items()
        )
    }


@_odd(SINGLE, never_read=True)
def pytest_output() -> Mapping[str, str]:
    lines = "".join(
        f"tests/test_agent.py::test_{task} {'PASSED' if done else 'FAILED'}   [ 33%]\n" for task, done in ONCE.items()
    )
    head = "===== test session starts =====\ncollected 3 items\n\n"
    return {"pytest.log": f"{head}{lines}\n===== 1 failed, 2 passed in 3s =====\n"}


@_odd(SINGLE, never_read=True)
def tap_output() -> Mapping[str, str]:
    return {
        "out.tap": "TAP version 13\n1..3\n"
        + "".join(
            f"{'ok' if done else 'not ok'} {number} - {task}\n" for number, (task, done) in enumerate(ONCE.items(), 1)
        )
    }


@_odd(TWICE)
def summary_line_at_the_end() -> Mapping[str, str]:
    records: list[dict[str, Any]] = [
        {"task": task, "trial": trial, "success": str(done)} for task, trial, done in TRIALS
    ]
    return {"runs.jsonl": _lines([*records, {"summary": True, "total": 6, "passed": 3, "pass_rate": "50%"}])}


@_odd(TWICE)
def header_and_percent() -> Mapping[str, str]:
    head = {"experiment": "x", "model": "m", "started": "2026-01-01"}
    records = [{"task": task, "trial": trial, "score": "100%" if done else "0%"} for task, trial, done in TRIALS]
    return {"runs.jsonl": _lines([head, *records])}


@_odd(TWICE)
def total_row_in_csv() -> Mapping[str, str]:
    rows = "".join(f"{task},{trial},{int(done)}\n" for task, trial, done in TRIALS)
    return {"runs.csv": f"task,trial,success\n{rows}TOTAL,,3\n"}


@_odd(TWICE)
def several_graders() -> Mapping[str, str]:
    return {
        "runs.jsonl": _lines([
            {"task": task, "trial": trial,
             "graders": [{"name": "tests", "passed": done}, {"name": "style", "passed": True}]}
            for task, trial, done in TRIALS
        ])
    }  # fmt: skip


@_odd(SINGLE, never_read=True)
def concatenated_json() -> Mapping[str, str]:
    return {
        "runs.json": "\n".join(json.dumps({"task": task, "success": done}, indent=2) for task, done in ONCE.items())
    }


@_odd(SINGLE, never_read=True)
def python_repr() -> Mapping[str, str]:
    return {"runs.txt": "\n".join(repr({"task": task, "success": done}) for task, done in ONCE.items())}


@_odd(SINGLE)
def tuples() -> Mapping[str, str]:
    return {"runs.json": json.dumps([[task, 0, done] for task, done in ONCE.items()])}


@_odd(SINGLE)
def utf16_csv() -> Mapping[str, bytes]:
    text = "task,success\n" + "".join(f"{task},{done}\n" for task, done in ONCE.items())
    return {"runs.csv": text.encode("utf-16")}


@_odd(SINGLE)
def pickled() -> Mapping[str, bytes]:
    import pickle

    return {"runs.pkl": pickle.dumps([{"task": task, "success": done} for task, done in ONCE.items()])}


@_odd(Truth(0, 0, 0), never_read=True)
def picture() -> Mapping[str, bytes]:
    return {"chart.png": b"\x89PNG\r\n\x1a\n" + bytes(64)}


@_odd(Truth(0, 0, 0), never_read=True)
def prose() -> Mapping[str, str]:
    return {
        "notes.txt": "We ran the agent on all tasks yesterday.\nIt did well on most of them, but not on the last.\n"
    }


@_odd(Truth(0, 0, 0), never_read=True)
def settings_alone() -> Mapping[str, str]:
    return {"config.json": json.dumps({"model": "m", "temperature": 0.1, "max_steps": 30, "stream": True})}


@_odd(Truth(0, 0, 0), never_read=True)
def rates_alone() -> Mapping[str, str]:
    return {"summary.json": json.dumps({"buy": 0.5, "sell": 1.0, "swap": 0.25, "overall": 0.583})}


@_odd(SINGLE)
def message_per_row_without_ids() -> Mapping[str, str]:
    rows = "".join(f"{message['role']},{message['content']}\n" for task in ONCE for message in _talk(task))
    return {"chat.csv": f"role,content\n{rows}"}


@_odd(SINGLE)
def words_in_columns() -> Mapping[str, str]:
    rows = "".join(f"{task};{'fertig' if done else 'abgebrochen'}\n" for task, done in ONCE.items())
    return {"lauf.csv": f"Aufgabe;Ergebnis\n{rows}"}


#: Two complications at once: what sums up, what nobody judged, what is broken, what lies beside.
_CSV = "task,trial,success\n" + "".join(f"{task},{trial},{done}\n" for task, trial, done in TRIALS)
_ROWS = [{"task": task, "trial": trial, "success": str(done)} for task, trial, done in TRIALS]
_FILES = {f"{row['task']}_{row['trial']}.json": json.dumps({**row, "messages": _talk("buy")}) for row in _ROWS}
COMPLICATED: list[OddLog] = [
    OddLog("header and summary", {"a.jsonl": _lines([{"model": "m"}, *_ROWS, {"total": 6, "passed": 3}])}, TWICE),
    OddLog("null and total", {"a.csv": f"{_CSV}lend,0,\nlend,1,N/A\nTotal,,3\n"}, Truth(4, 8, 3)),
    OddLog("comment and mean", {"a.csv": f"# of today\n{_CSV}Mean,,50%\n"}, TWICE),
    OddLog(
        "tasks called totals", {"a.csv": "task,trial,success\nmean,0,1\nmean,1,0\nsum,0,0\nsum,1,0\n"}, Truth(2, 4, 1)
    ),
    OddLog(
        "verdicts of steps",
        {
            "a.jsonl": _lines(
                [
                    {"task": task, "steps": [{"action": "x", "success": True}, {"action": "y", "success": done}]}
                    for task, done in ONCE.items()
                ]
            )
        },
        SINGLE,
        never_read=True,
    ),
    OddLog(
        "verdicts of checks",
        {"a.jsonl": _lines([{"task": task, "checks": [True, done]} for task, done in ONCE.items()])},
        SINGLE,
        never_read=True,
    ),
    OddLog(
        "a broken file",
        {**_FILES, "lend_0.json": '{"task": "lend", "messages": [{"ro', "config.yaml": "a: 1\n"},
        TWICE,
        never_read=True,
    ),
    OddLog(
        "a file of another shape",
        {**_FILES, "lend_0.json": json.dumps({"task": "lend", "log": [{"thought": "x"}]})},
        TWICE,
        never_read=True,
    ),
    OddLog(
        "settings and a program's log",
        {"a.csv": _CSV, "config.json": json.dumps({"model": "m", "stream": True}), "run.log": "x\n"},
        TWICE,
        never_read=True,
    ),
    OddLog(
        "two labels of each",
        {
            "talks.jsonl": _lines([{"session_id": f"s{n}", "messages": _talk("buy")} for n in range(2)]),
            "labels.csv": "session_id,resolved\ns0,yes\ns0,no\ns1,no\ns1,no\n",
        },
        Truth(2, 2, 0),
        never_read=True,
    ),
]


_TALKS = {task: json.dumps({"messages": _talk(task), "success": True}) for task in ONCE}
#: Paths that say task and trial, and nothing else does.
_PATHS = ("{task}/{trial}.json", "{task}/trial_{trial}/log.json", "trial_{trial}/{task}.json")
COMPLICATED += [
    OddLog(
        f"path {path.replace('/', ' ')}",
        {path.format(task=task, trial=trial): _TALKS[task] for task, trial, _ in TRIALS},
        TWICE,
        never_read=True,
    )
    for path in _PATHS
]
COMPLICATED += [
    OddLog(
        "talks and verdicts by task and trial",
        {
            **{f"talks/{task}_{trial}.json": json.dumps(_talk("buy")) for task, trial, _ in TRIALS},
            "verdicts.csv": _CSV,
        },
        TWICE,
        never_read=True,
    ),
]
_MORE = Truth(4, 8, 3)
_THIRD = {
    "passed": ["buy#0", "sell#0", "sell#1"],
    "failed": ["buy#1", "swap#0", "swap#1"],
    "timeout": ["lend#0", "lend#1"],
}
_ERROR_IDS = {"resolved_ids": ["buy", "sell"], "unresolved_ids": ["lend"], "error_ids": ["swap"]}
COMPLICATED += [
    OddLog("a heading again", {"a.csv": _CSV.replace("swap,0", "task,trial,success\nswap,0")}, TWICE),
    OddLog("a third list", {"a.json": json.dumps(_THIRD)}, Truth(8, 8, 3)),
    OddLog("error_ids", {"a.json": json.dumps(_ERROR_IDS)}, Truth(4, 4, 2)),
    OddLog(
        "rows of steps",
        {"a.csv": "task,episode,step,reward\nbuy,0,0,0\nbuy,0,1,1\nsell,0,0,0\nsell,0,1,0\n"},
        TWICE,
        never_read=True,
    ),
]
_TYPED = [{"type": "result", "task_id": task, "trial": trial, "success": done} for task, trial, done in TRIALS]
_SPOKEN = [
    line
    for row in _TYPED
    for line in (
        {"task_id": row["task_id"], "trial": row["trial"], "role": "user", "content": "hi"},
        {**row, "type": "end"},
    )
]
_ROWS_OF_REWARDS = [{"task": task, "reward": float(done)} for task, _, done in TRIALS]
_RUNS = [[{"task": task, "success": both[trial]} for task, both in VERDICTS.items()] for trial in range(2)]
_CELLS = "".join(
    f"<tr><th>{n}</th><td>{t}</td><td>{k}</td><td>{done}</td></tr>" for n, (t, k, done) in enumerate(TRIALS)
)
_FRAME = f"<table><thead><tr><th></th><th>task</th><th>trial</th><th>success</th></tr></thead>{_CELLS}</table>"
_NOTEBOOK = {"nbformat": 4, "cells": [{"cell_type": "code", "outputs": [{"data": {"text/html": [_FRAME]}}]}]}
COMPLICATED += [
    OddLog("typed results", {"a.jsonl": _lines([{"type": "config", "trials": 2}, *_TYPED])}, TWICE),
    OddLog("an event ends a conversation", {"a.jsonl": _lines(_SPOKEN)}, TWICE),
    OddLog("runs in a list", {"a.json": json.dumps(_RUNS)}, TWICE),
    OddLog("null among verdicts", {"a.json": json.dumps({**VERDICTS, "lend": [None, False]})}, _MORE),
    OddLog(
        "a reward of null", {"a.jsonl": _lines([{"task": "lend", "reward": None}, *_ROWS_OF_REWARDS])}, Truth(4, 7, 3)
    ),
    OddLog("a frame in a notebook", {"a.ipynb": json.dumps(_NOTEBOOK)}, TWICE, never_read=True),
    OddLog("a table of Windows", {"a.csv": f"{_CSV}caf\u00e9,0,False\n".encode("cp1252")}, Truth(4, 7, 3)),
]


def _attributes(**known: str | bool | int) -> list[dict[str, Any]]:
    kinds = {str: "stringValue", bool: "boolValue", int: "intValue"}
    return [{"key": key.replace("__", "."), "value": {kinds[type(held)]: held}} for key, held in known.items()]


def _trace(task: str, trial: int, done: bool) -> list[dict[str, Any]]:
    """Whoever runs the agent says in the root span what was tried; the agent itself speaks in the span below."""
    name = f"{task}{trial}"
    said = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "hi"}]}])
    spoken = _attributes(gen_ai__operation__name="chat", gen_ai__input__messages=said)
    return [
        {
            "traceId": name,
            "spanId": "r",
            "attributes": _attributes(bench__task_id=task, bench__trial=trial, success=done),
        },
        {"traceId": name, "spanId": "m", "parentSpanId": "r", "attributes": spoken},
    ]


_SPANS = [span for trial in TRIALS for span in _trace(*trial)]
COMPLICATED += [
    OddLog("a root span", {"a.json": json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": _SPANS}]}]})}, TWICE),
    OddLog(
        "costs and no messages but of what is not judged",
        {"a.jsonl": _lines([*({**row, "cost": 1} for row in _ROWS), {"task": "lend", "messages": _talk("buy")}])},
        Truth(4, 7, 3),
    ),
]
_WIDE_CSV = "task,{},{}\nbuy,PASS,FAIL\nsell,PASS,PASS\nswap,FAIL,FAIL\n"
#: Columns of verdicts, of trials or of anything else.
_COLUMNS = (("trial_1", "trial_2"), ("0", "1"), ("#1", "#2"), ("polite", "safe"), ("gpt", "claude"), ("a", "b"))
_TITLES = (
    "Nightly report",
    '"Results of v2, of today"',
    "Results of v2, of today",
    "Report,,\n,,",
    "#of today",
    "// a, b",
)
_BY_TRIAL = [{"task": task, "trial_1": first, "trial_2": second} for task, (first, second) in VERDICTS.items()]
COMPLICATED += [
    *(
        OddLog(f"columns {' '.join(names)}", {"a.csv": _WIDE_CSV.format(*names)}, TWICE, never_read=True)
        for names in _COLUMNS
    ),
    *(OddLog(f"a title {n}", {"a.csv": f"{title}\n{_CSV}"}, TWICE) for n, title in enumerate(_TITLES)),
    OddLog("a commented heading", {"a.csv": f"# {_CSV}"}, TWICE),
    OddLog("a column a trial in JSON", {"a.json": json.dumps(_BY_TRIAL)}, TWICE, never_read=True),
    OddLog("lines of verdicts", {"a.txt": "buy: PASS FAIL\nsell: PASS PASS\n"}, TWICE, never_read=True),
    OddLog(
        "tasks in two cases", {"a.jsonl": _lines([{"task": t, "success": True} for t in ("A", "a")])}, SINGLE,
        never_read=True,
    ),
]  # fmt: skip


#: From two to three trials of each of four tasks, as tests are named whose case and trial are parameters.
UNEVEN, _UNEVEN = {"buy_it": (1, 0), "sell_it": (1, 1, 0), "swap_it": (0, 1), "lend_it": (1, 1, 1)}, Truth(4, 10, 7)
_NUMBERED = [
    (task, trial, bool(done)) for task, several in UNEVEN.items() for trial, done in enumerate(several, start=1)
]


_JEST = [
    {"ancestorTitles": [task], "fullName": f"{task} trial {trial}", "title": f"trial {trial}",
     "status": "passed" if done else "failed"}
    for task, trial, done in _NUMBERED
]  # fmt: skip
_EVALS = [
    {"run_id": "r", "event_id": 0, "sample_id": f"{task.removesuffix('_it')}.{trial - 1}", "type": "match",
     "data": {"correct": done}}
    for task, trial, done in _NUMBERED
]  # fmt: skip
_QUOTED = json.dumps({"messages": _talk("buy")}).replace('"', '""')
_LEFT_OUT = {"fullName": "lend_it trial 4", "status": "pending"}
COMPLICATED += [
    OddLog("tests of Jest", {"a.json": json.dumps({"numTotalTests": 10, "success": False, "testResults": [
        {"name": "/a/agent.test.js", "status": "failed", "assertionResults": _JEST}]})}, _UNEVEN),
    OddLog("tests of Jest left out", {"a.json": json.dumps({"testResults": [
        {"name": "/a/agent.test.js", "status": "failed", "assertionResults": [*_JEST, _LEFT_OUT]}]})}, Truth(4, 11, 7)),
    OddLog("uneven trials of OpenAI's evals", {"a.jsonl": _lines([{"spec": {"eval_name": "shop"}}, *_EVALS])}, _UNEVEN),
    OddLog("LangSmith with whole conversations", {"a.csv":
           "id,example_id,status,inputs,outputs,feedback.correctness\n" + "".join(
               f'{task}{trial}-0a,ex-{task},success,"{{""task"": ""{task}""}}","{_QUOTED}",{int(done)}\n'
               for task, trial, done in TRIALS)}, TWICE),
]  # fmt: skip
