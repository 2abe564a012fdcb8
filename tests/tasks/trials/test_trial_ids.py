"""Tasks and trials that only ids tell: taken where all ids do, hinted at where they may."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.tasks import score_results

TALK = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("ids", "tasks", "hint"),
    [
        ([f"task_{task}-{trial}" for task in range(3) for trial in range(2)], ["task_0", "task_1", "task_2"], False),
        ([f"task{task}_run{trial}" for task in range(2) for trial in (1, 2)], ["task1", "task0"], False),
        (["a_trial0", "a_trial1", "b_trial0"], ["a", "b"], False),
        (["a1run0", "a1run1", "a2run0"], ["a1", "a2"], False),
        (["a_seed3", "a_seed4", "b_seed3"], ["a", "b"], False),
        (["a (attempt 1)", "a (attempt 2)", "b (attempt 1)"], ["a", "b"], False),
        (["run0/a", "run1/a", "run0/b"], ["a", "b"], False),
        (["a_trial0_pass", "a_trial1_fail", "b_trial0_pass"], ["a", "b"], False),
        (["grep1", "grep2", "crep1", "crep2"], None, False),
        (["a trial 00", "a trial 01", "b trial 00"], ["a", "b"], False),
        (["airline-0", "airline-1", "retail-0", "retail-1", "bank-0", "bank-1"], None, True),
        (["t0-0", "t0-1", "t1-0", "t1-1", "t2-0"], None, True),
        (["t0-0", "t0-1", "t1-0", "t1-1"], None, True),
        ([f"t{task}-{trial}" for task in range(3) for trial in (7, 8)], None, True),
        ([f"2024-0{month}-{day}" for month in range(1, 5) for day in (1, 2)], None, True),
        ([f"run{file}-000{line}" for file in range(3) for line in (1, 2)], None, False),
        (["t0-0", "t0-1", "t1_0", "t1_1", "t2-0", "t2-1"], None, False),
        (["t0-1", "t1-1", "t2-1"], None, False),
        (["a", "b"], None, False),
        (
            [f"t.py::test_task[{task}-{trial}]" for task in ("buy", "sell", "swap") for trial in range(2)],
            ["t.py::test_task[buy]", "t.py::test_task[sell]", "t.py::test_task[swap]"],
            False,
        ),
        (
            [f"t.py::test_{task}[{trial}-2]" for task in ("buy", "sell", "swap") for trial in (1, 2)],
            ["t.py::test_buy[]", "t.py::test_sell[]", "t.py::test_swap[]"],
            False,
        ),
        (["t.py::test_task[buy-0]", "t.py::test_task[buy-1]", "t.py::test_task[sell-0]"], None, False),
    ],
)
def test_tasks_and_trials_in_ids(ids: list[str], tasks: list[str] | None, hint: bool, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    records = ({"id": name, "messages": TALK, "success": place == 0} for place, name in enumerate(ids))
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    [run] = score_results([path]).runs
    assert set(run.table("trials")["task"]) == set(tasks or ids)
    assert ("pass^2" in run.scores) == (tasks is not None)
    told = [note for note in run.notes if ids[-1] in note]
    assert [note.startswith("tasks and trials are taken from the ids") for note in told] == (
        [True] if tasks else [False] if hint else []
    )


def test_names_of_files_are_ids(tmp_path: Path) -> None:
    for task, trial, success in (("a", 0, True), ("a", 1, False), ("b", 0, True), ("b", 1, True)):
        (tmp_path / f"{task}_trial{trial}.json").write_text(json.dumps({"messages": TALK, "success": success}))
    [run] = score_results([tmp_path]).runs
    assert (run["pass^1"].value, run["pass^2"].value) == (0.75, 0.5)


@pytest.mark.parametrize(
    ("ids", "tasks"),
    [
        ([f"{task}__t{n}" for task in ("buy", "sell", "swap") for n in (1, 2)], {"buy", "sell", "swap"}),
        ([f"{task}_s{n}" for task in ("buy", "sell", "swap") for n in (0, 1)], {"buy", "sell", "swap"}),
        ([f"{task}-{n}" for task in ("lost_bag", "new_seat", "gift_card") for n in (0, 1)],
         {"lost_bag", "new_seat", "gift_card"}),
        (["buy__t1", "buy__t2", "sell__t1", "sell__t2"], None),
        (["buy__t1", "buy__t2", "sell__t1", "sell__t2", "swap__t1"], None),
        ([f"{task}_t{n}" for task in ("buy", "sell", "swap") for n in (4, 5)], None),
        ([f"{task}_task_{n}" for task in ("air", "shop", "bank") for n in (0, 1)], None),
        ([f"{task}_task-{n}" for task in ("air", "shop", "bank") for n in (0, 1)], None),
        ([f"lost_bag-{n}" for n in range(6)], None),
    ],
)  # fmt: skip
def test_letters_and_numbers_behind_names(ids: list[str], tasks: set[str] | None, tmp_path: Path) -> None:
    for name in ids:
        (tmp_path / f"{name}.json").write_text(json.dumps({"messages": TALK, "success": name == ids[0]}))
    [run] = score_results([tmp_path], resamples=0).runs
    assert set(run.table("trials")["task"]) == (tasks or set(ids))
    assert any(note.startswith("tasks and trials are taken from the ids") for note in run.notes) == bool(tasks)
