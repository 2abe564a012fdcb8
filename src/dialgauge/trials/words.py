"""Words for the codes that runs of trials store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dialgauge.report import Tone
from dialgauge.text import counted, some_of
from dialgauge.trials.expected_calls import ExpectedAction
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
#: What an end means for the score.
COUNTED: Mapping[str, str] = {
    "finished": "finished",
    "limit": "failed at a limit",
    "infrastructure": "infrastructure: not counted",
}
#: What is to be known about a task. The unfair ones come first.
UNFAIR = ("failing_write", "unsupported", "order_matters", "unidentified")
FACTS: Mapping[str, str] = {
    "failing_write": "an expected write fails",
    "unsupported": "an expected value that nobody was given",
    "order_matters": "another order of the writes ends elsewhere",
    "unidentified": "the user cannot be identified",
    "failing_read": "an expected read fails (harmless)",
    "orders_untried": "too many writes to try all orders",
    "pair_order_matters": "another order of the items ends elsewhere",
    "short_output": "an output so short that it occurs by chance",
    "outside_basis": "criteria that the reward ignores",
    "basis_without_content": "a part of the reward that is always 1",
}
#: What a task asks of the data.
CHANGES: Mapping[str, str] = {"writes_needed": "something must change", "null_pass": "nothing may change"}
#: Whether a conversation belongs to the task that it is filed under.
MATCHES: Mapping[str, tuple[str, Tone]] = {
    "belongs": ("belongs to its task", "good"),
    "unknown": ("cannot be told", "plain"),
    "foreign": ("filed under another task", "bad"),
}
#: What decided a failure; ``{}`` is what it is about.
SIGNS: Mapping[str, str] = {
    "technical_end": "the conversation broke off for a technical reason",
    "unidentified": "the user never says who it is, though its instruction does, and nothing could be looked up",
    "stopped": "the user stops while something is open",
    "never_voiced": "the user never speaks of what {} is for",
    "said_otherwise": "the user gives another {} than its instruction",
    "assented": "the user agrees to what its instruction rules out ({})",
    "looped": "the user repeats itself until the steps are used up",
    "insists": "the agent wants the id of a record, or hands over, instead of finding out who the user is",
    "extra_write": "the agent calls {}, which nothing calls for",
    "wrong_value": "the agent gives a wrong {}",
    "not_done_transferred": "the agent hands the user over instead of calling {}",
    "not_done_failed": "the agent calls {} in vain and never gets it right",
    "not_done_refused": "the agent refuses what {} is for",
    "not_done_left": "the user speaks of what {} is for, and the agent never calls it",
    "not_done_otherwise": "the user speaks of what {} is for, and the agent does not make this call",
    "out_of_steps": "the agent uses up the steps",
    "unsaid": "the agent never tells ‘{}’",
    "unknowable": "only {} differs, which nobody was told",
    "failing_gold": "an expected call fails in its own world",
}
NO_SIGN = "nothing that was looked at tells"
#: Whom rules blame; of some sides they only raise a suspicion.
BLAMED: Mapping[str, str] = {
    "agent": "agent",
    "user": "user (suspected)",
    "both": "both",
    "task": "task (suspected)",
    "unclear": "unclear",
}


def sign_words(code: str | None, about: str | None = None) -> str:
    """What decided a failure; without what it is about, the same words for all failures of that kind."""
    named = "…" if about is None else about.replace("_", " ") if code == "assented" else about
    return SIGNS.get(code or "", NO_SIGN).format(named)


def expectation_words(actions: Sequence[ExpectedAction]) -> str:
    """What became of the calls that a task expects."""
    if not actions:
        return "no call was expected"
    if any(not action.made for action in actions):
        return "an expected call was never made"
    return "all expected calls made" if all(action.same for action in actions) else "made with other arguments"


def match_sentence(integrity: Integrity) -> str:
    """Whether the conversations of a log belong to their tasks."""
    total = counted(integrity.conversations, "conversation")
    if integrity.foreign:
        named = [
            f"{each.conversation} fits task {each.fits}" if each.fits else each.conversation
            for each in integrity.foreign
        ]
        return (
            f"The log is not what it says: {len(named):,} of {total} are filed under another task ({some_of(named)})."
        )
    if integrity.unknown == integrity.conversations:
        return "Whether conversations belong to their tasks cannot be told: no call names an id of one."
    untold = "; the rest cannot be told" if integrity.unknown else ""
    return f"{integrity.belongs:,} of {total} belong to their tasks{untold}."
