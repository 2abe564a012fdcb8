"""Conversations of a log as dialogues: their ids, tasks and trials, and everything that is known of each."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dialgauge.dialogue import Dialogue, Outcome, Turn, dialogue_key, read_details, write_details
from dialgauge.errors import DialgaugeError
from dialgauge.formats.logs.facts import Facts
from dialgauge.formats.logs.messages import LogMessages
from dialgauge.formats.tau_messages import ENDED_BY, checksum

#: The detail that says that there are results of tools, and no call that is recorded.
RESULTS_ALONE = "results_alone"
_STOP_TOKEN = re.compile(r"###\s?STOP\s?###")


class Numbering:
    """Tasks and trials of a log as it is read: a task that comes again without a trial is its next trial."""

    def __init__(self) -> None:
        self._tasks: dict[tuple[str, str], int] = {}
        self._domains: dict[str, str] = {}
        self._places: dict[str, tuple[str, str, str]] = {}

    def take(self, facts: Facts, fallback: str, file: str) -> tuple[str, str, int]:
        """The id of a conversation, its task and its trial. ``fallback`` names one that has no name of its own."""
        task = facts.task or facts.id or fallback
        domain = facts.domains[0] if facts.task and len(facts.domains) == 1 else ""
        first = self._domains.setdefault(task, domain)
        if domain and not first:  # those before it named no domain
            first = self._domains[task] = domain
            self._tasks[task, domain] = self._tasks.pop((task, ""))
        before = self._tasks.get((task, domain or first), 0)
        self._tasks[task, domain or first] = before + 1
        trial = before if facts.trial is None else facts.trial
        name = f"{task}#{trial}" if facts.trial is not None or facts.task else task
        model = facts.details.get("agent", "")
        if domain and domain != first:  # another task, under the id of one
            name = f"{domain}/{name}"
        number = next(iter(read_details("task_number", facts.details).values()), "")
        if number and dialogue_key(name) in self._places:  # the task may be the domain of several
            name = f"{task}/{number}#{trial}"
        if dialogue_key(name) in self._places:
            where, other, first_task = self._places[dialogue_key(name)]
            how = "Trials of one task have its id under 'task_id', and numbers under 'trial' or none at all"
            if where != file:
                how += ". Files of several agents are scored one by one"
            elif facts.task and facts.trial is not None:
                how = (
                    f"There are two conversations of the task '{task}' with the number {trial} of a trial: if it was "
                    "run again after an error, or written again as it grew, keep the last (or drop those with an "
                    "error), in which costs and tokens are to be added up where each line has only its own; else "
                    "number them anew under 'trial', give tasks that differ ids of their own under 'task_id', or "
                    "keep the conversations of each agent in a file of its own"
                )
            else:
                how += "; of a conversation that was written again as it grew, keep the last"
            if task != first_task:
                how = f"'{first_task}' and '{task}' differ only in case: write them alike if they are one task"
            if model != other:
                how = f"Keep conversations of each model ({other or 'none'}, {model or 'none'}) in a file of its own"
            reason = f"this id was already used in {where}; ids must be unique. {how}"
            raise DialgaugeError(reason, file=file, dialogue=name)
        self._places[dialogue_key(name)] = (file, model, task)
        return name, task, trial


def logged_dialogue(
    benchmark: str, messages: LogMessages, facts: Facts, named: tuple[str, str, int], shared: Mapping[str, str]
) -> Dialogue:
    """A conversation of a log with everything that is known of it."""
    name, task, trial = named
    turns = messages.turns()
    judged = facts.success is not None or bool(facts.scores)
    reason = facts.reason or ("" if judged or not facts.error else "error") or _stop(turns)
    details = {
        "benchmark": benchmark,
        "task": task,
        "trial": str(trial),
        **write_details("score", facts.scores),
        **facts.details,
        **({"error": facts.error[:1000]} if facts.error else {}),
        **shared,
        **({RESULTS_ALONE: "yes"} if _has_results_alone(messages) else {}),
        **({"policy": checksum(messages.prompt)} if messages.prompt else {}),
    }
    return Dialogue(
        id=name,
        turns=turns,
        goal=facts.goal,
        domains=facts.domains,
        outcome=Outcome(success=facts.success, reason=reason, ended_by=ENDED_BY.get(reason, ""), details=details),
    )


def _has_results_alone(messages: LogMessages) -> bool:
    called = any(message.tool_calls for message in messages.messages)
    return not called and any(message.role == "tool" for message in messages.messages)


def _stop(turns: tuple[Turn, ...]) -> str:
    """Whether the user ended it by the token that simulated users have for it."""
    last = next((turn for turn in reversed(turns) if turn.speaker == "user"), None)
    return "user_stop" if last is not None and _STOP_TOKEN.search(last.text) else ""
