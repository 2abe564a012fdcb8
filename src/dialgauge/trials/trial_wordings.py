"""Trials of agents in words: their runs keep codes and counts, in ``details`` and in the table ``trials``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialgauge.text import counted, some_of

if TYPE_CHECKING:
    from dialgauge.runs import Run

#: The codes of tau-bench and tau2-bench in words; the run's table has the codes.
END_REASONS = {
    "user_stop": "the user ended it",
    "agent_stop": "the agent ended it",
    "max_steps": "step limit reached",
    "too_many_errors": "too many errors",
    "agent_error": "the agent failed",
    "user_error": "the user failed",
    "infrastructure_error": "infrastructure failed",
}
#: How many numbers of trials are named.
_NAMED = 8


def trials_sentence(run: Run) -> str:
    """How many conversations there are of those that were planned."""
    details, conversations, tasks = run.details, run.coverage["conversations"], run.coverage["tasks"]
    planned, failures = details["planned"], details["infrastructure"]
    trials = counted(planned["trials"], "trial")
    listed = f" ({', '.join(f'{reason} {count:,}' for reason, count in failures.items())})" if failures else ""
    parts = [
        f"{conversations.scored:,} of {planned['conversations']:,} conversations scored ({_plan(run, trials)})",
        f"{details['begun']:,} begun",
        f"{details['finished']:,} finished",
        f"{sum(failures.values()):,} failed by infrastructure{listed}",
    ]
    if details["not_judged"]:
        parts.append(f"{details['not_judged']:,} not judged")
    if untouched := planned["tasks"] - (tasks.read or 0):
        parts.append(f"{counted(untouched, 'task')} never begun")
    if beyond := sum(details["beyond_plan"].values()):
        parts.append(f"{counted(beyond, 'conversation')} beyond the plan of {trials}")
    if numbers := details["odd_trials"]:
        parts.append(f"the trials are those numbered {some_of((f'{number:,}' for number in numbers), _NAMED)}")
    return ("" if run.coverage.complete else "INCOMPLETE: ") + ", ".join(parts)


def _plan(run: Run, trials: str) -> str:
    plan, planned = run.details["plan"], run.details["planned"]
    if plan != "log":
        told = " planned" if plan == "named" else "; the file names no plan"
        return f"{counted(planned['tasks'], 'task')} x {trials}{told}"
    most = "" if run.details["even_trials"] else "up to "
    each = f", {most}{trials} each" if planned["trials"] > 1 else ""
    return f"{counted(run.coverage['tasks'].read or 0, 'task')}{each}; the log names no plan"
