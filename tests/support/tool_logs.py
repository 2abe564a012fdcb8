"""Logs as tools of 2026 write them, of the tasks of ``odd_logs``: each is to be read at once."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

from support.odd_logs import ONCE, SINGLE, TRIALS, TWICE, OddLog

_Event = tuple[str, dict[str, Any]]


def _lines(records: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def _talk(task: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": f"please {task}"}, {"role": "assistant", "content": "done"}]


def _langfuse(**said: Callable[[str], Any]) -> str:
    """Traces of which a member says the item of the dataset."""
    traces = [
        {"id": f"tr-{task}-{trial}", "timestamp": f"2026-01-01T00:0{trial}:00Z", "sessionId": None, "output": "done",
         "input": {"messages": _talk(task)[:1]}, "metadata": {}, **{key: of(task) for key, of in said.items()},
         "scores": [{"id": f"s{task}{trial}", "name": "success", "value": int(done), "dataType": "BOOLEAN"}],
         "observations": [{"id": f"o{task}{trial}", "type": "GENERATION", "traceId": f"tr-{task}-{trial}",
                           "input": _talk(task)[:1], "output": _talk(task)[1]}]}
        for task, trial, done in TRIALS
    ]  # fmt: skip
    return json.dumps(traces)


def _braintrust(*, spoken: bool = True) -> Iterator[dict[str, Any]]:
    """A root span, a call of a model and a grader for each trial; with ``spoken`` the root has the messages, too."""
    for task, trial, done in TRIALS:
        root = f"r{task}{trial}"
        asked = {"messages": _talk(task)[:1]} if spoken else {"task": task}
        inside = {"root_span_id": root, "span_parents": [root], "is_root": False}
        scores = {"success": int(done)}
        yield {"id": f"e{root}", "span_id": root, "root_span_id": root, "span_parents": None, "is_root": True,
               "input": asked, "output": "done", "scores": scores, "metadata": {"task_id": task}}  # fmt: skip
        yield {**inside, "id": f"c{root}", "span_id": f"c{root}", "input": _talk(task)[:1],
               "output": [{"message": _talk(task)[1]}], "span_attributes": {"type": "llm"}}  # fmt: skip
        yield {**inside, "id": f"g{root}", "span_id": f"g{root}", "input": {"x": 1}, "output": {"score": int(done)},
               "scores": scores, "span_attributes": {"type": "score"}}  # fmt: skip


def _evals(events: Callable[[str, bool], list[_Event]], *, spec: bool = True, final: bool = True) -> dict[str, str]:
    """A log of OpenAI's evals with these events of each sample."""
    lines: list[dict[str, Any]] = [{"spec": {"completion_fns": ["m"], "run_id": "1"}}] if spec else []
    for task, done in ONCE.items():
        shared = {"run_id": "1", "sample_id": f"shop.dev.{task}", "created_by": "", "created_at": "2026"}
        lines += [
            {**shared, "event_id": n, "type": kind, "data": data} for n, (kind, data) in enumerate(events(task, done))
        ]
    return {"a.jsonl": _lines([*lines, *([{"final_report": {"accuracy": 0.67}}] if final else [])])}


def _match(task: str, done: bool) -> _Event:
    return "match", {"correct": done, "expected": task, "picked": "x", "sampled": "x"}


def _sampling(task: str) -> _Event:
    return "sampling", {"prompt": [{"role": "user", "content": task}], "sampled": ["x"]}


def _agentbench(result: Callable[[bool], dict[str, Any]]) -> str:
    return _lines([
        {"index": number, "error": None, "info": None, "time": {"timestamp": 1},
         "output": {"index": number, "status": "completed", "result": result(done), "history": _talk(task)}}
        for number, (task, done) in enumerate(ONCE.items())
    ])  # fmt: skip


def _weave() -> list[dict[str, Any]]:
    """An evaluation of Weave, an example of it for each task, and what the model did in each."""
    whole = {
        "id": "ev",
        "op_name": "weave:///me/shop/op/Evaluation.evaluate:1",
        "parent_id": None,
        "output": {"goal": 2},
    }
    calls: list[dict[str, Any]] = [{**whole, "trace_id": "t", "inputs": {"self": "x"}}]
    for task, done in ONCE.items():
        scores = {"goal_reached": {"passed": done}}
        calls += [
            {"id": f"c{task}", "op_name": "weave:///me/shop/op/Evaluation.predict_and_score:1", "parent_id": "ev",
             "trace_id": "t", "inputs": {"example": {"task": task}}, "output": {"output": "x", "scores": scores}},
            {"id": f"p{task}", "op_name": "weave:///me/shop/op/Model.predict:1", "parent_id": f"c{task}",
             "trace_id": "t", "inputs": {"q": task}, "output": "x"},
        ]  # fmt: skip
    return calls


def _parquet(*, text: bool = False, bare: bool = False) -> bytes:
    """Rows of conversations, with messages in a list or as a text, or of results."""
    import polars

    rows = [
        {"task_id": task, "trial": trial, "success": done}
        | ({} if bare else {"messages": json.dumps(_talk(task)) if text else _talk(task)})
        for task, trial, done in TRIALS
    ]
    out = io.BytesIO()
    polars.DataFrame(rows).write_parquet(out)
    return out.getvalue()


_TABLE = {"columns": ["inputs", "outputs", "correct/v1/score"], "data": [[t, "y", int(d)] for t, d in ONCE.items()]}
_HISTORY = [
    {"id": 0, "source": "user", "action": "message", "args": {"content": "please"}, "message": "please"},
    {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls"}, "message": "Running"},
    {"id": 2, "source": "agent", "observation": "run", "content": "a.py", "cause": 1},
]
_DOJO = {
    f"m/shop/user_task_{n}/none/none.json": json.dumps(
        {"suite_name": "shop", "user_task_id": f"user_task_{n}", "injection_task_id": None, "messages": _talk(task),
         "error": None, "utility": done, "security": True}
    )
    for n, (task, done) in enumerate(ONCE.items())
}  # fmt: skip
_FRAME = "env.task_name,env.task_seed,agent.agent_name,cum_reward,n_steps,err_msg\n" + "".join(
    f"miniwob.{task},{trial},A,{float(done)},3,\n" for task, trial, done in TRIALS
)
TOOL_LOGS = [
    OddLog("Langfuse metadata.datasetItemId", {"a.json": _langfuse(metadata=lambda t: {"datasetItemId": t})}, TWICE),
    OddLog("Langfuse dataset_item_id", {"a.json": _langfuse(metadata=lambda t: {"dataset_item_id": t})}, TWICE),
    OddLog("Langfuse datasetItemId", {"a.json": _langfuse(datasetItemId=str)}, TWICE),
    OddLog("Braintrust spans", {"a.jsonl": _lines([*_braintrust()])}, TWICE),
    OddLog("Braintrust calls", {"a.json": json.dumps([*_braintrust(spoken=False)])}, TWICE),
    OddLog("Braintrust events", {"a.json": json.dumps({"events": [*_braintrust()], "cursor": "x"})}, TWICE),
    OddLog("evals match", _evals(lambda t, d: [_match(t, d)]), SINGLE),
    OddLog("evals match first", _evals(lambda t, d: [_match(t, d), _sampling(t)]), SINGLE),
    OddLog("evals raw_sample", _evals(lambda t, d: [("raw_sample", {"ideal": t}), _sampling(t), _match(t, d)]), SINGLE),
    OddLog("evals metrics", _evals(lambda t, d: [_sampling(t), ("metrics", {"score": float(d)})]), SINGLE),
    OddLog("evals prompt", _evals(lambda t, d: [("sampling", {"prompt": t, "sampled": "x"}), _match(t, d)]), SINGLE),
    OddLog("evals no spec", _evals(lambda t, d: [_sampling(t), _match(t, d)], spec=False), SINGLE),
    OddLog("evals no report", _evals(lambda t, d: [_sampling(t), _match(t, d)], final=False), SINGLE),
    OddLog(
        "AgentBench rewards",
        {"runs.jsonl": _agentbench(lambda d: {"reward": float(d)})},
        SINGLE,
    ),
    OddLog("Weave evaluation", {"a.jsonl": _lines(_weave())}, SINGLE),
    OddLog("Weave examples", {"a.jsonl": _lines(_weave()[1::2])}, SINGLE),
    OddLog("MLflow table", {"eval_results_table.json": json.dumps(_TABLE)}, SINGLE),
    OddLog(
        "Ragas",
        {"a.csv": "user_input,response,goal_accuracy\n" + "".join(f"{t},x,{float(d)}\n" for t, d in ONCE.items())},
        SINGLE,
    ),
    OddLog(
        "OpenHands",
        {"output.jsonl": _lines([
            {"instance_id": t, "test_result": {"result": d}, "history": _HISTORY} for t, d in ONCE.items()
        ])},
        SINGLE,
    ),
    OddLog("BrowserGym frame", {"result_df.csv": _FRAME}, TWICE),
    OddLog("AgentDojo", _DOJO, SINGLE),
    OddLog(
        "Opik",
        {"a.json": json.dumps([
            {"trace_id": f"{t}{k}", "dataset_item_id": t, "input": {"q": t}, "output": {"r": "x"},
             "feedback_scores": [{"name": "success", "value": float(d), "source": "sdk"}]} for t, k, d in TRIALS
        ])},
        TWICE,
    ),
    OddLog("Parquet", {"a.parquet": _parquet()}, TWICE),
    OddLog("Parquet with texts", {"a.parquet": _parquet(text=True)}, TWICE),
    OddLog("Parquet of results", {"a.parquet": _parquet(bare=True)}, TWICE),
]  # fmt: skip
