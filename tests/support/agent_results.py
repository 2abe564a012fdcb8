"""Results of agents as files, from a line of verdicts for each task."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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


def tau2_file(
    path: Path,
    rewards: Mapping[str, tuple[str, Sequence[float | None]]],
    trials: int,
    reasons: Mapping[str, str] | None = None,
) -> Path:
    """A file of tau2-bench: for each task its domain and the rewards of its trials, None for one that is not there.

    ``reasons`` is what the users of some tasks are told instead of the usual.
    """
    told = reasons or {}
    instructions = {
        task: {"domain": domain, "reason_for_call": told.get(task, f"You want {task}.")}
        for task, (domain, _) in rewards.items()
    }
    content = {
        "info": {
            "num_trials": trials,
            "agent_info": {"llm": "one"},
            "user_info": {"llm": "two"},
            "environment_info": {"domain_name": next(iter(rewards.values()))[0]},
        },
        "tasks": [{"id": task, "user_scenario": {"instructions": given}} for task, given in instructions.items()],
        "simulations": [
            {
                "task_id": task,
                "trial": trial,
                "messages": [{"role": "user", "content": "hello"}],
                "termination_reason": "user_stop",
                "reward_info": {"reward": reward},
            }
            for task, (_, given) in rewards.items()
            for trial, reward in enumerate(given)
            if reward is not None
        ],
    }
    path.write_text(json.dumps(content))
    return path


def desk_tasks(path: Path, **changed: str) -> Path:
    """Tasks for the depot's help desk as tau2-bench writes them; ``changed`` are other instructions, by task."""
    gold = {
        "window": [("choose_window", {"parcel_id": "P-1001", "day": "wednesday", "hours": "08:00-12:00"})],
        "duty": [("track_parcel", {"parcel_id": "P-1004"}), ("pay_duty", {"parcel_id": "P-1004"})],
        "nothing": [("track_parcel", {"parcel_id": "P-1002"})],
    }
    tasks = [
        {
            "id": name,
            "user_scenario": {"instructions": {"reason_for_call": changed.get(name, f"Your wish is {name}.")}},
            "evaluation_criteria": {
                "actions": [{"name": tool, "arguments": arguments} for tool, arguments in calls],
                "communicate_info": ["22.4"] if name == "duty" else [],
                "reward_basis": ["DB", "COMMUNICATE"],
            },
        }
        for name, calls in gold.items()
    ]
    path.write_text(json.dumps(tasks))
    return path
