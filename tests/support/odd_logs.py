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


@_odd(SINGLE)
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


@_odd(SINGLE)
def osworld() -> Mapping[str, str]:
    files = {}
    for task, done in ONCE.items():
        base = f"pyautogui/screenshot/gpt-4o/chrome/{task}-0a1b"
        files[f"{base}/result.txt"] = f"{float(done)}\n"
        files[f"{base}/traj.jsonl"] = _lines(
            [{"step_num": 1, "action": "click", "reward": 0, "done": True, "info": {}}]
        )
        files[f"{base}/runtime.log"] = "[2024-01-01 10:00:00] start\n"
    return files


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


@_odd(TWICE)
def markdown_table() -> Mapping[str, str]:
    rows = "".join(f"| {task} | {trial} | {'✅' if done else '❌'} |\n" for task, trial, done in TRIALS)
    return {"RESULTS.md": f"# Results\n\nAll runs of today.\n\n| Task | Trial | Passed |\n| --- | ---: | :-: |\n{rows}"}


@_odd(TWICE)
def pipe_table() -> Mapping[str, str]:
    rows = "".join(f"| {task:6}| {trial}     | {'yes' if done else 'no '}     |\n" for task, trial, done in TRIALS)
    rule = "+-------+-------+---------+\n"
    return {"results.txt": f"{rule}| task  | trial | success |\n{rule}{rows}{rule}"}


@_odd(TWICE)
def yaml_log() -> Mapping[str, str]:
    return {
        "runs.yaml": "runs:\n"
        + "".join(
            f"  - task: {task}\n    trial: {trial}\n    success: {str(done).lower()}\n" for task, trial, done in TRIALS
        )
    }


@_odd(TWICE)
def nested_run_folders() -> Mapping[str, str]:
    files = {"runs/settings.json": json.dumps({"model": "m", "temperature": 0.2, "max_steps": 30})}
    for task, trial, done in TRIALS:
        base = f"runs/{task}/trial_{trial}"
        files[f"{base}/messages.json"] = json.dumps(_talk(task))
        files[f"{base}/result.json"] = json.dumps({"success": done, "steps": 3})
    return files


@_odd(SINGLE)
def file_per_message() -> Mapping[str, str]:
    files = {}
    for task, done in ONCE.items():
        for number, message in enumerate(_talk(task)):
            files[f"{task}/{number:03d}.json"] = json.dumps(message)
        files[f"{task}/verdict.txt"] = "PASS" if done else "FAIL"
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


@_odd(TWICE)
def html_page() -> Mapping[str, str]:
    rows = "".join(f"<tr><td>{task}</td><td>{trial}</td><td>{'pass' if done else 'fail'}</td></tr>\n"
                   for task, trial, done in TRIALS)  # fmt: skip
    head = "<tr><th>task</th><th>trial</th><th>result</th></tr>"
    return {"report.html": f"<!DOCTYPE html>\n<html><body><h1>Runs</h1><table>{head}\n{rows}</table></body></html>"}


@_odd(TWICE)
def zipped_folder() -> Mapping[str, bytes]:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as packed:
        packed.writestr("out/config.yaml", "model: m\ntemperature: 0\n")
        packed.writestr("out/run.log", "INFO starting\nINFO done\n")
        for task, trial, done in TRIALS:
            record = {"task": task, "trial": trial, "success": done, "messages": _talk(task)}
            packed.writestr(f"out/{task}_{trial}.json", json.dumps(record))
    return {"runs.zip": held.getvalue()}


def _harbor(*, broken: bool = False) -> dict[str, str]:
    trials: list[tuple[str, int, bool]] = TRIALS
    files = {
        "config.json": json.dumps({"job_name": "job", "jobs_dir": "jobs", "n_attempts": 2, "agents": [{"name": "a"}],
                                   "datasets": [{"name": "terminal-bench", "version": "2.0"}]}),
        "result.json": json.dumps({"id": "0f", "started_at": "2025-11-01T10:00:00",
                                   "n_total_trials": 6, "stats": {"n_trials": 6, "n_errors": 0, "evals": {
                                       "a__m__tb": {"n_trials": 6, "metrics": [{"mean": 0.5}], "reward_stats": {
                                           "reward": {"1.0": ["buy__a0"], "0.0": ["swap__a0"]}}}}}}),
        "job.log": "Running 6 trials\n",
    }  # fmt: skip
    for task, trial, done in trials:
        base = f"{task}__a{trial}Xy9Q"
        error = {"exception_type": "AgentTimeoutError", "exception_message": "too long", "exception_traceback": "..."}
        crashed = broken and task == "swap"
        files[f"{base}/config.json"] = json.dumps(
            {"task": {"path": f"tasks/{task}"}, "trial_name": base, "trials_dir": "jobs"}
        )
        files[f"{base}/result.json"] = json.dumps(
            {
                "id": f"1{task}{trial}",
                "task_name": task,
                "trial_name": base,
                "trial_uri": f"file:///jobs/{base}",
                "task_id": {"path": f"tasks/{task}"},
                "source": "terminal-bench",
                "task_checksum": "ab12",
                "config": {
                    "task": {"path": f"tasks/{task}"},
                    "trial_name": base,
                    "agent": {"name": "a", "model_name": "m"},
                },
                "agent_info": {"name": "a", "version": "1", "model_info": {"name": "m", "provider": "p"}},
                "agent_result": {"n_input_tokens": 100, "n_cache_tokens": 0, "n_output_tokens": 20, "cost_usd": 0.01},
                "verifier_result": None if crashed else {"rewards": {"reward": float(done)}},
                "exception_info": error if crashed else None,
                "started_at": "2025-11-01T10:00:00",
                "finished_at": "2025-11-01T10:05:00",
                "environment_setup": {"started_at": "x", "finished_at": "y"},
            }
        )
        files[f"{base}/trial.log"] = "starting\n"
        files[f"{base}/agent/trajectory.json"] = json.dumps(
            {
                "schema_version": "ATIF-v1.4",
                "session_id": f"s{task}{trial}",
                "agent": {"name": "a", "version": "1"},
                "steps": [
                    {"step_id": 1, "source": "user", "message": f"please {task} it"},
                    {
                        "step_id": 2,
                        "source": "agent",
                        "message": "ok",
                        "tool_calls": [{"tool_call_id": "c1", "function_name": "bash", "arguments": {"cmd": "ls"}}],
                        "observation": {"results": [{"source_call_id": "c1", "content": "a.txt"}]},
                    },
                    {"step_id": 3, "source": "agent", "message": "It is done."},
                ],
                "final_metrics": {"total_prompt_tokens": 100, "total_completion_tokens": 20, "total_cost_usd": 0.01},
            }
        )
        if not crashed:
            files[f"{base}/verifier/reward.txt"] = f"{int(done)}\n"
        files[f"{base}/verifier/test-stdout.txt"] = "1 passed\n" if done else "1 failed\n"
    return files  # fmt: skip


@_odd(TWICE)
def harbor_job() -> Mapping[str, str]:
    return _harbor()


@_odd(Truth(3, 6, 3))
def terminal_bench_results() -> Mapping[str, str]:
    results = [
        {"id": f"{task}{trial}", "trial_name": f"{task}.{trial + 1}-of-2.run", "task_id": task,
         "is_resolved": done, "failure_mode": "unset", "parser_results": {"test_a": "passed" if done else "failed"},
         "total_input_tokens": 10, "total_output_tokens": 2}
        for task, trial, done in TRIALS
    ]  # fmt: skip
    return {"results.json": json.dumps({"id": "r", "results": results, "accuracy": 0.5, "n_resolved": 3,
                                        "resolved_ids": ["buy", "sell"], "unresolved_ids": ["swap"]}),
            "run_metadata.json": json.dumps({"run_id": "r", "model_name": "m", "accuracy": 0.5, "dataset_size": 3}),
            "tb.lock": json.dumps({"invocation": {"command": ["tb", "run"]}}),
            "run.log": "INFO start\n"}  # fmt: skip


@_odd(SINGLE)
def agentbench() -> Mapping[str, str]:
    runs = [
        {"index": number, "error": None, "info": None, "output": {"index": number, "status": "completed", "result": {
            "result": done}, "history": [{"role": "user", "content": task}, {"role": "agent", "content": "done"}]},
         "time": {"timestamp": 1, "str": "2024"}}
        for number, (task, done) in enumerate(ONCE.items())
    ]  # fmt: skip
    overall = {"total": 3, "validation": {"running": 0.0, "completed": 1.0, "agent context limit": 0.0}, "custom": {
        "overall": {"total": 3, "pass": 2, "wrong": 1, "acc": 0.67}}}  # fmt: skip
    return {
        "gpt-4/os-std/runs.jsonl": _lines(runs),
        "gpt-4/os-std/overall.json": json.dumps(overall),
        "gpt-4/os-std/error.jsonl": _lines([{"index": 9, "error": "NETWORK_ERROR", "info": "no", "output": None}]),
        "config.yaml": "assignments:\n  - agent: gpt-4\n    task: os-std\n",
    }


@_odd(SINGLE)
def agentlab() -> Mapping[str, str]:
    files: dict[str, str] = {}
    for task, done in ONCE.items():
        base = f"2024-10-01_agent_on_{task}_0"
        files[f"{base}/summary_info.json"] = json.dumps(
            {
                "n_steps": 3,
                "cum_reward": float(done),
                "cum_raw_reward": 0,
                "err_msg": None,
                "stack_trace": None,
                "stats.cum_steps": 3,
                "terminated": True,
                "truncated": False,
            }
        )
        files[f"{base}/exp_args.json"] = json.dumps({"env_args": {"task_name": f"miniwob.{task}", "task_seed": 0}})
        files[f"{base}/package_versions.txt"] = "numpy==1\n"
        files[f"{base}/experiment.log"] = "start\n"
    return files  # fmt: skip


@_odd(SINGLE)
def swe_bench_run() -> Mapping[str, str]:
    names = {task: f"django__django-{number}" for number, task in enumerate(ONCE, 100)}
    files = {
        "preds.json": json.dumps(
            {name: {"model_name_or_path": "m", "instance_id": name, "model_patch": "diff"} for name in names.values()}
        )
    }
    for task, name in names.items():
        base = f"logs/run_evaluation/run1/m/{name}"
        files[f"{base}/report.json"] = json.dumps(
            {
                name: {
                    "patch_is_None": False,
                    "patch_exists": True,
                    "patch_successfully_applied": True,
                    "resolved": ONCE[task],
                    "tests_status": {
                        "FAIL_TO_PASS": {"success": ["a"], "failure": []},
                        "PASS_TO_PASS": {"success": [], "failure": []},
                    },
                }
            }
        )
        files[f"{base}/patch.diff"] = "diff --git a b\n"
        files[f"{base}/run_instance.log"] = "2024-01-01 start\n"
        files[f"{base}/test_output.txt"] = "ok\n"
        files[f"{base}/eval.sh"] = "#!/bin/bash\n"
    return files  # fmt: skip


@_odd(SINGLE)
def swe_bench_preds_and_report() -> Mapping[str, str]:
    preds = [{"instance_id": task, "model_patch": "diff", "model_name_or_path": "m"} for task in ONCE]
    report = {"total_instances": 3, "submitted_instances": 3, "resolved_instances": 2, "submitted_ids": list(ONCE),
              "completed_ids": list(ONCE), "incomplete_ids": [], "empty_patch_ids": [], "error_ids": [],
              "resolved_ids": ["buy", "sell"], "unresolved_ids": ["swap"], "schema_version": 2}  # fmt: skip
    return {"all_preds.jsonl": _lines(preds), "m.run1.json": json.dumps(report)}


@_odd(SINGLE)
def verdicts_by_trace() -> Mapping[str, str]:
    talks = [{"trace_id": f"0a{task}", "messages": _talk(task)} for task in ONCE]
    grades = [
        {"trace_id": f"0a{task}", "grade": "pass" if done else "fail", "grader": "ann"} for task, done in ONCE.items()
    ]
    return {"traces.jsonl": _lines(talks), "grades.jsonl": _lines(grades)}


@_odd(SINGLE)
def verdicts_by_session_csv() -> Mapping[str, str]:
    talks = [{"session_id": f"s-{task}", "user_id": "u1", "messages": _talk(task)} for task in ONCE]
    rows = "".join(f"s-{task},{'yes' if done else 'no'},fine\n" for task, done in ONCE.items())
    return {"chats.json": json.dumps(talks), "review.csv": f"Session ID,Resolved,Comment\n{rows}"}


@_odd(SINGLE)
def bullet_answers() -> Mapping[str, str]:
    text = "".join(
        f"## Chat {number}: {task}\nUser: what can I {task}?\nAgent: You can:\n- take one\n- take two\n\nResult: "
        f"{'PASS' if done else 'FAIL'}\n\n"
        for number, (task, done) in enumerate(ONCE.items())
    )
    return {"chats.txt": text}


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


@_odd(SINGLE)
def toml_results() -> Mapping[str, str]:
    return {
        "results.toml": "".join(
            f'[[runs]]\ntask = "{task}"\nsuccess = {str(done).lower()}\n\n' for task, done in ONCE.items()
        )
    }


@_odd(SINGLE)
def key_value_blocks() -> Mapping[str, str]:
    return {
        "runs.txt": "".join(
            f"--------\nTask: {task}\nModel: m\nSteps: 12\nOutcome: {'SUCCESS' if done else 'FAILURE'}\n"
            for task, done in ONCE.items()
        )
    }


@_odd(SINGLE)
def pytest_output() -> Mapping[str, str]:
    lines = "".join(
        f"tests/test_agent.py::test_{task} {'PASSED' if done else 'FAILED'}   [ 33%]\n" for task, done in ONCE.items()
    )
    head = "===== test session starts =====\ncollected 3 items\n\n"
    return {"pytest.log": f"{head}{lines}\n===== 1 failed, 2 passed in 3s =====\n"}


@_odd(SINGLE)
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


@_odd(SINGLE)
def concatenated_json() -> Mapping[str, str]:
    return {
        "runs.json": "\n".join(json.dumps({"task": task, "success": done}, indent=2) for task, done in ONCE.items())
    }


@_odd(SINGLE)
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
_ONE_TABLE = "| Task | Passed |\n|-|-|\n| buy | yes |\n"
_WIDE = "| Task | Run 1 | Run 2 | Mean |\n|-|-|-|-|\n| buy | ✅ | ❌ | 50% |\n| sell | ✅ | ✅ | 100% |\n"
_CSV = "task,trial,success\n" + "".join(f"{task},{trial},{done}\n" for task, trial, done in TRIALS)
_ROWS = [{"task": task, "trial": trial, "success": str(done)} for task, trial, done in TRIALS]
_FILES = {f"{row['task']}_{row['trial']}.json": json.dumps({**row, "messages": _talk("buy")}) for row in _ROWS}
_CASES = "".join(f"<testcase name='{task}'>{'' if done else '<failure/>'}</testcase>" for task, _, done in TRIALS)
_TESTS = "".join(f"t.py::test[{task}-{trial}] {'PASSED' if done else 'FAILED'} [ 9%]\n" for task, trial, done in TRIALS)
COMPLICATED: list[OddLog] = [
    OddLog("header and summary", {"a.jsonl": _lines([{"model": "m"}, *_ROWS, {"total": 6, "passed": 3}])}, TWICE),
    OddLog("null and total", {"a.csv": f"{_CSV}lend,0,\nlend,1,N/A\nTotal,,3\n"}, Truth(4, 8, 3)),
    OddLog("comment and mean", {"a.csv": f"# of today\n{_CSV}Mean,,50%\n"}, TWICE),
    OddLog(
        "tasks called totals", {"a.csv": "task,trial,success\nmean,0,1\nmean,1,0\nsum,0,0\nsum,1,0\n"}, Truth(2, 4, 1)
    ),
    OddLog(
        "wide table and totals", {"a.md": f"{_WIDE}| swap | ❌ | ❌ | 0% |\n| **Total** | 2/3 | 1/3 | 50% |\n"}, TWICE
    ),
    OddLog("two tables", {"a.md": f"{_ONE_TABLE}\nB\n{_ONE_TABLE}"}, SINGLE, never_read=True),
    OddLog(
        "errors and repeats",
        {"a.xml": f"<suite>{_CASES}<testcase name='lend'><error/></testcase></suite>"},
        Truth(4, 7, 3),
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
        "failures said again",
        {
            "a.log": f"==== test session starts ====\n{_TESTS}==== short test summary info ====\n"
            "FAILED t.py::test[buy-1] - x\nFAILED t.py::test[swap-0] - x\n==== 3 failed ====\n"
        },
        Truth(6, 6, 3),
    ),
    OddLog(
        "a folder without a verdict",
        {
            **{f"r/{row['task']}_{row['trial']}/result.json": json.dumps(row) for row in _ROWS},
            **{f"r/{row['task']}_{row['trial']}/chat.json": json.dumps(_talk("buy")) for row in _ROWS},
            "r/lend_0/chat.json": json.dumps(_talk("buy")),
            "r/lend_0/log.txt": "crashed",
        },
        Truth(4, 7, 3),
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
    ),
    OddLog(
        "labels of some, and settings",
        {
            "talks.jsonl": _lines([{"session_id": f"s{n}", "messages": _talk("buy")} for n in range(4)]),
            "config.yaml": "a: 1\n",
            "labels.csv": "session_id,resolved\ns0,yes\ns1,no\ns2,yes\n",
        },
        Truth(4, 4, 2),
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
    OddLog("a job with broken trials", _harbor(broken=True), TWICE),
    OddLog(
        "values in a row and a summary",
        {"a.json": "\n".join(json.dumps(row, indent=1) for row in [*_ROWS, {"summary": {"rate": 0.5}}])},
        TWICE,
    ),
]


def _by_paths(path: str, **more: Any) -> dict[str, str]:
    """A file for each trial, whose path alone says of which task."""
    return {
        path.format(task=task, number=number, trial=trial, seed=trial + 41, random=f"a{number}{trial}x"): json.dumps(
            {"success": done, **more}
        )
        for number, (task, both) in enumerate(VERDICTS.items())
        for trial, done in enumerate(both)
    }


#: Paths that say task and trial, and nothing else does.
_PATHS = (
    "{task}/{trial}.json", "{task}/{trial}/result.json", "{task}/seed_{seed}/result.json", "m/{task}/rep{trial}/r.json",
    "{task}/sample_{trial}/result.json", "{task}_seed{seed}/result.json", "{task}__{random}/result.json",
    "2025-01-0{trial}T10-0{number}-00_{task}/result.json",
    "2025-01-01_12-0{trial}-00_A_on_{task}.{number}_{seed}/r.json",
    "trial_{trial}/{task}.json", "seed_{seed}/{task}/result.json",
)  # fmt: skip
COMPLICATED += [OddLog(f"path {path.replace('/', ' ')}", _by_paths(path), TWICE) for path in _PATHS]


def _words(line: str, other: str = "") -> str:
    """A line for each trial, one of another task whose verdict is another word, and one that says nothing."""
    rows = [*((task, trial, "PASS" if done else "FAIL") for task, trial, done in TRIALS)]
    rows += [("lend", 0, other), ("lend", 1, other)] if other else []
    return "".join(f"{line.format(task=task, trial=trial, word=word)}\n" for task, trial, word in rows)


_MORE = Truth(4, 8, 3)
COMPLICATED += [
    OddLog("lines with seconds", {"a.txt": _words("[{word}] {task} (trial {trial}) 12.5s")}, TWICE),
    OddLog("lines with a sign", {"a.txt": _words("{word} {task}1 #{trial} (9s)")}, TWICE),
    OddLog(
        "lines that broke",
        {"a.txt": _words("[{word}] {task} (trial {trial}) 1s", "ERROR").replace("lend", "buy4")},
        _MORE,
    ),
    OddLog(
        "pairs that broke",
        {"a.log": "begin\n" + _words("[00:01] INFO task={task} trial={trial} result={word} cost=0.5", "TIMEOUT")},
        _MORE,
    ),
    OddLog("pairs left out", {"a.log": _words("task={task} trial={trial} result={word}", "SKIPPED")}, _MORE),
    OddLog(
        "tap with trials",
        {
            "a.tap": "1..6\n"
            + "".join(
                f"{'ok' if done else 'not ok'} {n} - {task} trial {k}\n" for n, (task, k, done) in enumerate(TRIALS)
            )
        },
        TWICE,
    ),
    OddLog(
        "documents of YAML",
        {
            "a.yaml": "---\n".join(
                f"task: {task}\ntrial: {trial}\nsuccess: {done}\nmessages:\n- role: user\n  content: hi\n"
                for task, trial, done in TRIALS
            )
        },
        TWICE,
    ),
    OddLog(
        "talks and verdicts by task and trial",
        {
            **{f"talks/{task}_{trial}.json": json.dumps(_talk("buy")) for task, trial, _ in TRIALS},
            "verdicts.csv": _CSV,
        },
        TWICE,
    ),
    OddLog(
        "results and what sums them up",
        {"results.json": json.dumps({"id": "u", "results": _ROWS}), "run_metadata.json": json.dumps({"accuracy": 0.5})},
        TWICE,
    ),
]
_OTHER_CELLS = "task,run1,run2\nbuy,pass,fail\nsell,pass,pass\nswap,fail,fail\nlend,ERR,timeout\n"
_THIRD = {
    "passed": ["buy#0", "sell#0", "sell#1"],
    "failed": ["buy#1", "swap#0", "swap#1"],
    "timeout": ["lend#0", "lend#1"],
}
_ERROR_IDS = {"resolved_ids": ["buy", "sell"], "unresolved_ids": ["lend"], "error_ids": ["swap"]}
COMPLICATED += [
    OddLog("a heading again", {"a.csv": _CSV.replace("swap,0", "task,trial,success\nswap,0")}, TWICE),
    OddLog("cells of other words", {"a.csv": _OTHER_CELLS}, _MORE),
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
_BARS = "| Task | Trial | Result |\n|---|---|---|\n" + "".join(
    f"| {t} | {k} | {'✅' if d else '❌'} |\n" for t, k, d in TRIALS
)
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
    OddLog("a frame in HTML", {"a.html": _FRAME}, TWICE),
    OddLog("a frame in a notebook", {"a.ipynb": json.dumps(_NOTEBOOK)}, TWICE),
    OddLog("a table with warning signs", {"a.md": f"{_BARS}| lend | 0 | ⚠️ |\n"}, Truth(4, 7, 3)),
    OddLog("a table of Windows", {"a.csv": f"{_CSV}caf\u00e9,0,False\n".encode("cp1252")}, Truth(4, 7, 3)),
    OddLog(
        "errors in names of files",
        {f"{t}_trial{k}_{'PASS' if d else 'FAIL'}.json": json.dumps(_talk("buy")) for t, k, d in TRIALS}
        | {"lend_trial0_ERROR.json": json.dumps(_talk("buy"))},
        Truth(4, 7, 3),
    ),
]


def _junit(name: str) -> dict[str, str]:
    """A report of JUnit whose tests are called so."""
    cases = "".join(
        f"<testcase name='{name.format(task=task, trial=trial)}'>{'' if done else '<failure/>'}</testcase>"
        for task, trial, done in TRIALS
    )
    return {"a.xml": f"<testsuite>{cases}</testsuite>"}


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
    *(
        OddLog(f"JUnit {name}", _junit(name), TWICE)
        for name in ("t[{task}-{trial}]", "t[{trial}-{task}]", "{task}[{trial}]")
    ),
    OddLog("JUnit t[task-trial1]", _junit("t[{task}-trial{trial}]"), TWICE),
    OddLog("a root span", {"a.json": json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": _SPANS}]}]})}, TWICE),
    OddLog(
        "costs and no messages but of what is not judged",
        {"a.jsonl": _lines([*({**row, "cost": 1} for row in _ROWS), {"task": "lend", "messages": _talk("buy")}])},
        Truth(4, 7, 3),
    ),
]
_WIDE_CSV = "task,{},{}\nbuy,PASS,FAIL\nsell,PASS,PASS\nswap,FAIL,FAIL\n"
_TRIAL_COLUMNS = (("trial_1", "trial_2"), ("0", "1"), ("seed3", "seed4"), ("t1", "t2"), ("#1", "#2"), ("rep1", "rep2"))
#: Columns of verdicts that may be anything's.
_OTHER_COLUMNS = (("polite", "safe"), ("gpt", "claude"), ("judge_1", "judge_2"), ("a", "b"))
_TITLES = (
    "Nightly report",
    '"Results of v2, of today"',
    "Results of v2, of today",
    "Report,,\n,,",
    "#of today",
    "// a, b",
)
_SUMS = (
    "overall: FAIL", "17/30 PASS", "Total: 12 passed", "Total: 2 PASSED, 1 FAILED", "Result: FAIL", "PASS rate: 66%",
    "2 of 3 tasks PASS", "PASS: 2\nFAIL: 1", "== 2 PASSED, 1 FAILED ==", "OVERALL RESULT: FAILED", "Suite: shop FAIL",
    "✅ 2 passed", "Summary: PASS 2", "PASSED: 2, FAILED: 1", "PASS: 2 (66%)\nFAIL: 1 (33%)",
)  # fmt: skip
_WORDS = _WIDE_CSV.replace(",", "   ")
_BY_TRIAL = [{"task": task, "trial_1": first, "trial_2": second} for task, (first, second) in VERDICTS.items()]
_ONCE = "".join(f"{task}: {'PASS' if done else 'FAIL'}\n" for task, done in ONCE.items())
COMPLICATED += [
    *(OddLog(f"columns {' '.join(names)}", {"a.csv": _WIDE_CSV.format(*names)}, TWICE) for names in _TRIAL_COLUMNS),
    *(
        OddLog(f"columns {' '.join(names)}", {"a.csv": _WIDE_CSV.format(*names)}, TWICE, never_read=True)
        for names in _OTHER_COLUMNS
    ),
    *(OddLog(f"a title {n}", {"a.csv": f"{title}\n{_CSV}"}, TWICE) for n, title in enumerate(_TITLES)),
    *(OddLog(f"sums {n}", {"a.txt": f"{_ONCE}{line}\n"}, SINGLE) for n, line in enumerate(_SUMS)),
    OddLog("a commented heading", {"a.csv": f"# {_CSV}"}, TWICE),
    OddLog("a column a trial in JSON", {"a.json": json.dumps(_BY_TRIAL)}, TWICE),
    OddLog("words under agents", {"a.txt": _WORDS.format("gpt", "claude")}, TWICE, never_read=True),
    OddLog("words under trials", {"a.txt": _WORDS.format("run1", "run2")}, TWICE),
    OddLog("shares of trials", {"a.txt": "buy: 1/2 PASS\nsell: 2/2 PASS\nswap: 0/2 PASS\n"}, TWICE, never_read=True),
    OddLog("tasks like sums", {"a.txt": f"{_ONCE}total-recall: PASS\nresults page: PASS\n"}, Truth(5, 5, 4)),
    OddLog("tasks with numbers for names", {"a.txt": "1: PASS\n2: FAIL\n3: PASS\n"}, SINGLE),
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


def _said(line: str, passed: str = "PASSED", failed: str = "FAILED") -> str:
    return "".join(
        f"{line.format(task=task, trial=trial, word=passed if done else failed)}\n" for task, trial, done in _NUMBERED
    )


_FAILURE = "><failure message='x'>y</failure></testcase>"
_TRX = "<TestRun xmlns='http://microsoft.com/schemas/VisualStudio/TeamTest/2010'><Results>"
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
    OddLog("uneven trials in JUnit", {"a.xml": "<testsuite>" + _said(
        "<testcase name='test_task[{task}-{trial}]'{word}", "/>", _FAILURE) + "</testsuite>"}, _UNEVEN),
    OddLog("uneven trials in pytest", {"a.txt": _said("t.py::test_task[{task}-{trial}] {word} [ 9%]")}, _UNEVEN),
    OddLog("functions of pytest", {"a.txt": _said("t.py::test_{task}[trial{trial}] {word} [ 9%]")}, _UNEVEN),
    OddLog("pytest-xdist", {"a.txt": _said("[gw0] [  9%] {word} t.py::test_task[{task}-trial{trial}] ")}, _UNEVEN),
    OddLog("uneven trials in .trx", {"a.trx": _TRX + _said(
        "<UnitTestResult testName='{task}(trial: {trial})' testId='0b1f-{task}{trial}' outcome='{word}'/>",
        "Passed", "Failed") + "</Results></TestRun>"}, _UNEVEN),
    OddLog("tests of Jest", {"a.json": json.dumps({"numTotalTests": 10, "success": False, "testResults": [
        {"name": "/a/agent.test.js", "status": "failed", "assertionResults": _JEST}]})}, _UNEVEN),
    OddLog("tests of Jest left out", {"a.json": json.dumps({"testResults": [
        {"name": "/a/agent.test.js", "status": "failed", "assertionResults": [*_JEST, _LEFT_OUT]}]})}, Truth(4, 11, 7)),
    OddLog("uneven trials of OpenAI's evals", {"a.jsonl": _lines([{"spec": {"eval_name": "shop"}}, *_EVALS])}, _UNEVEN),
    OddLog("a wide table of uneven trials",
           {"a.csv": "Task,Trial 1,Trial 2,Trial 3\nbuy,pass,fail,\nsell,pass,pass,fail\nswap,pass,,\n"},
           Truth(3, 6, 4)),
    OddLog("a wide table with a blank between",
           {"a.csv": "Task,Trial 1,Trial 2,Trial 3\nbuy,pass,fail,\nsell,pass,,fail\n"}, Truth(2, 5, 2)),
    OddLog("LangSmith with whole conversations", {"a.csv":
           "id,example_id,status,inputs,outputs,feedback.correctness\n" + "".join(
               f'{task}{trial}-0a,ex-{task},success,"{{""task"": ""{task}""}}","{_QUOTED}",{int(done)}\n'
               for task, trial, done in TRIALS)}, TWICE),
]  # fmt: skip
