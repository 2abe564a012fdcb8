"""Words for the codes that runs of trials store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dialgauge.report import Tone
from dialgauge.runs import Run
from dialgauge.text import counted, some_of, upper_first
from dialgauge.trials.calls import ExpectedAction
from dialgauge.trials.suspects import measured_suspects
from dialgauge.worlds.tools import Integrity

#: How conversations end.
ENDS: Mapping[str, str] = {
    "user_stop": "the user ended it",
    "agent_stop": "the agent ended it",
    "max_steps": "step limit reached",
    "too_many_errors": "too many errors",
    "agent_error": "the agent failed",
    "user_error": "the user failed",
    "infrastructure_error": "infrastructure failed",
}
#: Facts about tasks. Those that make a task unfair come first.
UNFAIR = ("failing_write", "unsupported", "order_matters", "unidentified")
FACTS: Mapping[str, str] = {
    "failing_write": "an expected write fails",
    "unsupported": "a value that nobody was given",
    "order_matters": "the order of the writes matters",
    "unidentified": "the user cannot be identified",
    "failing_read": "an expected read fails (harmless)",
    "orders_untried": "too many writes to try all orders",
    "pair_order_matters": "the order of the items matters",
    "short_output": "an output so short that it occurs by chance",
    "outside_basis": "criteria that the reward ignores",
    "basis_without_content": "a part of the reward that is always 1",
}
#: What a task asks of the data.
CHANGES: Mapping[str, str] = {"writes_needed": "something must change", "null_pass": "nothing may change"}
#: Whether a conversation matches the task that it is filed under.
MATCHES: Mapping[str, tuple[str, Tone]] = {
    "belongs": ("matches its task", "good"),
    "unknown": ("undecidable", "plain"),
    "foreign": ("is another task's", "bad"),
}
#: What a failure is suspected for; ``{}`` is what it is about.
SIGNS: Mapping[str, str] = {
    "technical_end": "the conversation broke off for a technical reason",
    "unidentified": "the user never identified itself, though its instruction says who it is",
    "stopped": "the user stopped while something was open",
    "never_voiced": "the user never asked for what {} does",
    "looped": "the user repeated itself until the step limit",
    "insists": "the agent kept asking for a record id instead of the user id",
    "extra_write": "the agent called {}, which its task does not expect",
    "wrong_value": "the agent gave a wrong {}",
    "not_done_transferred": "the agent transferred the user instead of calling {}",
    "not_done_failed": "the agent called {} but never got it right",
    "not_done_refused": "the agent refused what {} does",
    "not_done_left": "the agent never called {}, though the user asked for it",
    "out_of_steps": "the agent reached the step limit",
    "unsaid": "the agent never said '{}'",
    "unknowable": "only {} differs, and nobody was told it",
    "failing_gold": "an expected call fails in its own world",
}
NO_SIGN = "no evidence against either side"
SUSPECTED: Mapping[str, str] = {
    "agent": "agent",
    "user": "user",
    "both": "both",
    "task": "task",
    "infrastructure": "infrastructure",
    "unclear": "nobody",
}


def sign_words(code: str | None, about: Sequence[str] | None = None) -> str:
    """What a failure is suspected for; without what it is about, the same words for all failures of that kind."""
    named = "X" if about is None else " ".join(about)
    return SIGNS.get(code or "", NO_SIGN).format(named)


def fault_words(code: str, about: Sequence[str]) -> str:
    """What the user did wrong."""
    named = f" ({', '.join(filter(None, about))})" if any(about) else ""
    return f"{code.replace('_', ' ')}{named}"


def expectation_words(actions: Sequence[ExpectedAction]) -> str:
    """What became of the calls that a task expects."""
    if not actions:
        return "no call was expected"
    if any(action.call is None for action in actions):
        return "an expected call was never made"
    return (
        "all expected calls made" if all(action.same for action in actions) else "an expected call has other arguments"
    )


def coverage_sentence(run: Run) -> str:
    """How many conversations there are of those that were planned."""
    details, scored = run.details, run.coverage["conversations"].scored
    planned = details["planned"]
    size = counted(planned["tasks"], "task")
    if planned["trials"] > 1:
        size += f" x {counted(planned['trials'], 'trial')}"
    if run.coverage.complete:
        return f"{counted(scored or 0, 'conversation')} ({size})"
    lost = [f"{reason or 'infrastructure'} {count:,}" for reason, count in details["infrastructure"].items()]
    lost += [f"not judged {details['not_judged']:,}"] if details["not_judged"] else []
    if (absent := planned["conversations"] - details["begun"]) > 0:
        lost.append(f"missing {absent:,}")
    named = " planned" if details["plan_named"] else ""
    return f"{scored:,} of {planned['conversations']:,}{named} conversations have a verdict ({size}; {', '.join(lost)})"


def rate_sentence(run: Run) -> str:
    """How many tasks pass, once and every time; of an incomplete log only what its pass rate may be."""
    passes = [name for name in run.scores if name.startswith("pass^") and "[" not in name]
    if not run.coverage.complete:
        sentence, bounds = f"Incomplete: {coverage_sentence(run)}", run.details["pass_1_if_missing"]
        if bounds and bounds["all_failed"] < bounds["all_passed"]:
            low, high = (f"{100 * end:.1f}" for end in bounds.values())
            sentence += f"; pass^1 of the full log lies between {low}% (if the rest fails) and {high}% (if it passes)"
        return f"{sentence}."
    if not passes:
        return f"{upper_first(coverage_sentence(run))}; no pass rate."
    first = run.scores[passes[0]]
    told = [passes[0]]
    if first.low is not None and first.high is not None:
        told.append(f"95% interval {100 * first.low:.1f} to {100 * first.high:.1f}")
    measured = f"({', '.join(told)})"
    if passes[0] != "pass^1":
        return f"In {100 * float(first):.1f}% of tasks {_all_trials(passes[0])} passed {measured}."
    sentence = f"{100 * float(first):.1f}% of tasks passed {measured}"
    if len(passes) > 1:
        most, tasks = passes[-1], run.details["pass_tasks"]
        of = "" if tasks[most] == tasks[passes[0]] else f" of the {tasks[most]:,} tasks with that many trials"
        sentence += f"; in {100 * float(run.scores[most]):.1f}%{of} {_all_trials(most)} passed"
    return f"{sentence}."


def _all_trials(measure: str) -> str:
    """The trials that ``pass^3`` is about."""
    numbers = ("three", "four", "five", "six", "seven", "eight", "nine", "ten")
    k = int(measure.removeprefix("pass^"))
    return "both trials" if k == 2 else f"all {numbers[k - 3] if k - 3 < len(numbers) else k} trials"


def match_sentence(integrity: Integrity) -> str:
    """Whether the conversations of a log match their tasks."""
    total, foreign = counted(integrity.conversations, "conversation"), integrity.foreign
    if foreign:
        match = "matches" if len(foreign) == 1 else "match"
        fits = (f"{each.conversation} fits task {each.fits}" if each.fits else each.conversation for each in foreign)
        return f"{len(foreign):,} of {total} {match} another task ({some_of(fits)})."
    if integrity.unknown == integrity.conversations:
        why = (
            "the ids in their calls fit most other tasks, too"
            if integrity.others_hit
            else "no call names an id that a task has"
        )
        return f"Whether conversations match their tasks is undecidable: {why}."
    undecided = f"; {integrity.unknown:,} are undecidable" if integrity.unknown else ""
    return f"{integrity.belongs:,} of {total} match their task{undecided}."


def measured_sentences() -> tuple[str, str]:
    """How far suspects can be trusted, and on what that was measured."""
    measured = measured_suspects()
    right, agent = measured.right, measured.always_agent
    interval = f"95% interval {100 * (right.low or 0):.0f} to {100 * (right.high or 1):.0f}"
    return (
        f"On unseen tasks {100 * right.value:.0f}% of such suspicions were right ({interval}).",
        f"Measured on {measured.failures} labelled failures; always suspecting the agent would be right in "
        f"{100 * agent.value:.0f}%.",
    )


def percent(value: float | None) -> str:
    """A share as people read it."""
    return "" if value is None else f"{100 * value:.1f}%"
