"""What a file says of its conversations beside the words: tasks, how many were planned, what has nothing to see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from dialgauge.dialogue import Dialogue
from dialgauge.formats import checksum
from dialgauge.measures import Signature

#: Ends of conversations of agents that are their own; whatever else a results file names is a failure of something
#: else (as ``dialgauge tasks score`` has it).
_OWN_ENDS = frozenset({"", "user_stop", "agent_stop", "max_steps", "too_many_errors", "agent_error"})
#: Benchmarks that judge every conversation that comes to its end; other logs need not.
_JUDGING = frozenset({"tau", "tau2"})


def task_of(dialogue: Dialogue) -> str:
    """What trials of one task share; a conversation that says nothing of it is a task of its own."""
    return dialogue.ended.task or dialogue.id


def planned_conversations(dialogues: Sequence[Dialogue]) -> int:
    """How many conversations there should be, where the file says it; as many as there are where it does not."""
    plans = {dialogue.ended.planned for dialogue in dialogues} - {None}
    return max([len(dialogues), *(plan[0] * plan[1] for plan in plans if plan is not None)])


def nothing_to_look_at(dialogues: Iterable[Dialogue]) -> dict[str, int]:
    """How many conversations have no word or deed of the user, by the reason."""
    why = (_failure(dialogue) or "the user never spoke" for dialogue in dialogues if not _user_is_there(dialogue))
    return dict(Counter(why).most_common())


def broken_off(dialogues: Iterable[Dialogue]) -> dict[str, int]:
    """How many conversations can be looked at only as far as they go, by what failed."""
    why = (_failure(dialogue) for dialogue in dialogues if _user_is_there(dialogue))
    return dict(Counter(reason for reason in why if reason).most_common())


def _user_is_there(dialogue: Dialogue) -> bool:
    return any(turn.speaker == "user" for turn in dialogue.turns)


def _failure(dialogue: Dialogue) -> str:
    """What failed beside user and agent, where a results file of agents says so; empty where nothing did."""
    outcome = dialogue.ended
    if not outcome.benchmark:
        return ""
    if outcome.reason not in _OWN_ENDS and not outcome.reason.endswith("_limit"):
        return f"failed by infrastructure: {outcome.reason}"
    judged = outcome.success is not None or outcome.benchmark not in _JUDGING
    return "" if judged else "never judged"


def faults_signature(dialogues: Sequence[Dialogue]) -> Signature:
    """What shares of faults depend on beside the agent: the user, its tasks and what it was told, and the limits.

    ``gold`` is the checksum of tasks with their goals: other tasks under the same ids are other data.
    """
    keys = ("user", "policy", "max_steps", "max_errors", "task_set")
    recorded = {key: _joined(dialogue.ended.facts.get(key, "") for dialogue in dialogues) for key in keys}
    recorded["benchmark"] = _joined(dialogue.ended.benchmark for dialogue in dialogues)
    return Signature(
        roles="faults",
        domain=_joined(domain for dialogue in dialogues for domain in dialogue.domains),
        gold=_goals(dialogues),
        dialogues=str(sum(map(_user_is_there, dialogues))),
        **recorded,
    )


def _joined(texts: Iterable[str]) -> str:
    return ",".join(sorted({text for text in texts if text}))


def _goals(dialogues: Iterable[Dialogue]) -> str:
    """The checksum of tasks with their goals, whatever their order and number of trials."""
    written = {msgspec.json.encode((task_of(dialogue), dialogue.goal), order="deterministic") for dialogue in dialogues}
    return checksum(b"\n".join(sorted(written)))
