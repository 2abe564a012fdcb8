"""Logs of agents that follow a script, without any model.

``gold`` makes a task's expected calls and says its outputs, ``nothing`` says goodbye at once, ``wrong`` makes the
expected calls with one wrong value in the last write. The file is τ²-bench's.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from dialgauge.worlds.tools import (
    AgentText,
    Conduct,
    GoldCall,
    ToolDomain,
    ToolTask,
    judge,
    read_tool_tasks,
)

#: Five tasks at the help desk.
DESK_TASKS = Path(__file__).with_name("desk_tasks.json")
SCRIPTS = ("gold", "nothing", "wrong")
_GOODBYE = "Is there anything else?"


def write_scripted_log(domain: ToolDomain, tasks: Path, script: str, file: Path, *, trials: int = 1) -> None:
    """Let a scripted agent do every task of a task file, and write its results."""
    content = tasks.read_bytes()
    entries = json.loads(gzip.decompress(content) if tasks.suffix == ".gz" else content)
    read = read_tool_tasks(tasks)
    simulations = [
        {**_simulation(domain, task, script), "trial": trial, "id": f"{task.id}-{trial}"}
        for task in read
        for trial in range(trials)
    ]
    log = {
        "timestamp": "",
        "info": {
            "num_trials": trials,
            "max_steps": 200,
            "max_errors": 10,
            "agent_info": {"implementation": script, "llm": script},
            "user_info": {"implementation": "silent", "llm": "silent"},
            "environment_info": {"domain_name": domain.name, "policy": domain.policy},
        },
        "tasks": entries,
        "simulations": simulations,
    }
    file.write_bytes(msgspec.json.encode(log))


def _simulation(domain: ToolDomain, task: ToolTask, script: str) -> dict[str, Any]:
    world = domain.world(task)
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": "Hi! How can I help you today?"},
        {"role": "user", "content": task.instruction},
    ]
    calls = list(_scripted(domain, task.expected or (), script))
    for number, call in enumerate(calls):
        name = f"call_{number}"
        outcome = world.call(call.name, call.arguments)
        made = {"id": name, "name": call.name, "arguments": call.arguments, "requestor": "assistant"}
        messages.append({"role": "assistant", "content": None, "tool_calls": [made]})
        messages.append({"role": "tool", "id": name, "content": outcome.text, "error": not outcome.ok})
    answer = " ".join([*(task.outputs if script != "nothing" else ()), _GOODBYE])
    messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": "###STOP###"}]
    verdict = judge(task, Conduct(world=world, said=[AgentText(answer)], calls=calls))
    parts = {part: 1.0 if holds is not False else 0.0 for part, holds in verdict.parts.items()}
    return {
        "task_id": task.id,
        "termination_reason": "user_stop",
        "messages": messages,
        "reward_info": {
            # What only a model could say is taken as said: a script does not speak to anybody.
            "reward": 0.0 if verdict.reward == 0.0 else 1.0,
            "reward_breakdown": parts,
            "action_checks": [
                {"action": {"name": call.name, "arguments": call.arguments}} for call in task.expected or ()
            ],
        },
    }


def _scripted(domain: ToolDomain, expected: Sequence[GoldCall], script: str) -> Iterable[GoldCall]:
    if script == "nothing":
        return []
    tools = domain.tools
    writes = [index for index, call in enumerate(expected) if call.name in tools and tools[call.name].writes]
    if script == "gold" or not writes:
        return expected
    return [_spoilt(call) if index == writes[-1] else call for index, call in enumerate(expected)]


def _spoilt(call: GoldCall) -> GoldCall:
    """The call with one wrong value: the last text that is no id, or else the last text, gets a letter more."""
    texts = [name for name, value in call.arguments.items() if isinstance(value, str)]
    free = [name for name in texts if not name.endswith("_id")] or texts
    wrong = {name: f"{call.arguments[name]}x" for name in free[-1:]}
    return structs.replace(call, arguments={**call.arguments, **wrong})


def write_desk_log(domain: ToolDomain, file: Path) -> None:
    """The log of the demo: two trials of each task, one as expected, one with a wrong value here and there.

    One conversation is filed under another task.
    """
    made = []
    for script in ("gold", "wrong"):
        write_scripted_log(domain, DESK_TASKS, script, file)
        made.append(msgspec.json.decode(file.read_bytes()))
    gold, wrong = made
    gold["info"]["num_trials"] = 2
    for index, simulation in enumerate(list(gold["simulations"])):
        again = (wrong if index % 2 else gold)["simulations"][index]
        gold["simulations"].append({**again, "trial": 1, "id": f"{simulation['task_id']}-1"})
    misfiled = {key: gold["simulations"][-2][key] for key in ("task_id", "trial", "id")}
    gold["simulations"][-2] = {**gold["simulations"][0], **misfiled}
    file.write_bytes(msgspec.json.format(msgspec.json.encode(gold), indent=1) + b"\n")
