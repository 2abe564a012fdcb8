"""Results of agents as files, from a line of verdicts for each task."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def tau_result(task: str | int, trial: int, reward: float | None, **info: Any) -> dict[str, Any]:
    """One conversation of tau-bench."""
    return {
        "task_id": task,
        "reward": reward,
        "info": {
            "task": {"instruction": f"You want {task}."},
            "source": "user",
            "user_cost": 0.01,
            "reward_info": {"reward": reward, "info": {"r_actions": reward}},
            **info,
        },
        "traj": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "bye"}],
        "trial": trial,
    }


def tau_file(path: Path, verdicts: Mapping[str, str]) -> Path:
    """A file of tau-bench; ``+`` is a trial that passed, ``-`` one that failed, ``!`` one with an error, ``.`` none."""
    results = [
        tau_result(task, trial, float(mark == "+"), **({"error": "RateLimitError"} if mark == "!" else {}))
        for task, marks in verdicts.items()
        for trial, mark in enumerate(marks)
        if mark != "."
    ]
    path.write_text(json.dumps(results))
    return path
