"""The causes of a failure: where the chain from goal to outcome can break, whose fault that is, and how it is said."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from dialgauge.agents import AGENT_ERROR, BROKEN_ENDS, EXPLANATION, SYSTEM_QUIT
from dialgauge.dialogue import Blame, Dialogue
from dialgauge.tasks import REASON_GROUPS, TaskFailure, failure_texts
from dialgauge.text import upper_first

Cause: TypeAlias = Literal[
    "never_said",
    "said_not_heard",
    "heard_not_acted_on",
    "acted_on_wrong",
    "answered_not_heard",
    "not_understood",
    "refused",
    "limit_reached",
    "infrastructure",
    "unclear",
]
#: In the order of the chain; where two links break in one turn, the earlier one counts.
CAUSES: tuple[Cause, ...] = get_args(Cause)
_SIDES_AND_WORDS: dict[Cause, tuple[str, str]] = {
    "never_said": ("user", "never said"),
    "said_not_heard": ("system", "said, not heard"),
    "heard_not_acted_on": ("system", "heard, not acted on"),
    "acted_on_wrong": ("system", "acted on, wrong"),
    "answered_not_heard": ("user", "answered, not heard"),
    "not_understood": ("lab", "not understood by the lab"),
    "refused": ("world", "refused by the world"),
    "limit_reached": ("limit", "limit reached"),
    "infrastructure": ("infrastructure", "infrastructure"),
    "unclear": ("unclear", "unclear"),
}
SIDE_OF: dict[Cause, str] = {cause: side for cause, (side, _) in _SIDES_AND_WORDS.items()}
CAUSE_WORDS: dict[Cause, str] = {cause: words for cause, (_, words) in _SIDES_AND_WORDS.items()}
SIDES = tuple(dict.fromkeys(SIDE_OF.values()))
#: What happened, by cause. ``{0}`` is the slot, or empty; further arguments are what was said, heard or done.
_WORDS_BY_CAUSE: dict[Cause, dict[str, str]] = {
    "never_said": {
        "value_never_said": "The user never said {0} {1}.",
        "said_otherwise": "The user said {0} {1} in turn {turn}; its goal has {2}.",
        "name_not_taken": "The system named {1} in turn {2}, and the user did not take it.",
        "never_asked": "The user never asked for the {0}.",
    },
    "said_not_heard": {
        "misheard": "The user said {0} {1}; the system heard {2}.",
        "heard_unsaid": "The system heard {0} {1} in turn {turn}, which the user did not say.",
        "question_unheard": "The user asked for the {0} in turn {turn}, and the system never heard it.",
    },
    "heard_not_acted_on": {
        "never_called": "The system knew all that was wanted of the {unit} before turn {turn}; there was no {1}.",
        "called_without": "The {1} of turn {turn} left out {0} {2}, which the system had heard.",
        "named_nothing": "The search of turn {turn} had {1}, and the system named nothing.",
        "question_unanswered": "The system heard before turn {turn} that the user asks for the {0} and never told it.",
        "goodbye_early": "The system said goodbye in turn {turn} before the user was done.",
    },
    "acted_on_wrong": {
        "searched_otherwise": "The search of turn {turn} had {0} {1}, which is not what the user had said, and found "
        "nothing.",
        "named_unfit": "The system named nothing that fits, though its search of turn {turn} had {1}.",
        "called_otherwise": "The system heard {0} {2}; the {1} has {0} {3}.",
        "named_beside": "The {1} had {0} {2}, and what was named does not fit it.",
    },
    "answered_not_heard": {
        "answer_unheard": "The system told the {0} in turn {turn}, and the user never heard it.",
        "answer_unsaid": "The user heard '{1}' of the {unit} in turn {turn}, which the system did not say.",
        "name_misheard": "The user did not hear right what the system named in turn {turn}.",
        "refusal_unheard": "The system refused the first try in turn {turn}, and the user never heard it.",
    },
    "refused": {
        "nothing_in_database": "The search of turn {turn} was for all that was wanted, and the database has nothing.",
        "booking_came_back": "The booking of turn {turn} was as wanted, and it came back '{1}'.",
    },
    "limit_reached": {"limit": "The conversation was cut off ({1}) before the user got to the {unit}."},
    "infrastructure": {"failed": "{1}.", "ended": "The {1} ended the conversation ({2})."},
    "unclear": {
        "first_try_not_refused": "The first try with {0} {1} was '{2}', though the goal expects a refusal.",
        "untraceable": "The {0} cannot be followed: the record does not say what was heard in turn {turn}.",
        "acts_not_recorded": "The user's acts are not recorded, so what it said is unknown.",
        "all_held": "Every link that the record shows held.",
    },
}
#: Of the side that misheard most turns.
_LOST = "From turn {turn} on {1} of the turns were misheard, until {2}."
CAUSE_OF = {code: cause for cause, words in _WORDS_BY_CAUSE.items() for code in words}
WORDS = {"turns_lost": _LOST} | {code: text for words in _WORDS_BY_CAUSE.values() for code, text in words.items()}
_MOST_ARGUMENTS = 4


def blame_for(dialogue: str, unit: str, code: str, turn: int, *arguments: str, cause: Cause | None = None) -> Blame:
    """The record of a broken link; the cause follows from the code, unless that may be of several."""
    known = cause or CAUSE_OF[code]
    return Blame(
        dialogue=dialogue, unit=unit, side=SIDE_OF[known], cause=known, turn=turn, code=code, arguments=arguments
    )


def chain_order(blame: Blame) -> tuple[int, int]:
    """First in time, then in the chain. An earlier unclear link makes the verdict unclear."""
    return blame.turn or 0, CAUSES.index(blame.cause)


def blame_sentence(blame: Blame, why: str = "") -> str:
    """What happened, in words; ``why`` is why the task failed, for a link that does not say it."""
    code, turn, padded = blame.code, blame.turn, [*blame.arguments, *[""] * _MOST_ARGUMENTS]
    if code in REASON_GROUPS:
        slot, given, wanted, entity = padded[:_MOST_ARGUMENTS]
        fault = TaskFailure(
            reason=code, slot=slot, turn=turn, given=(given,) if given else (), wanted=wanted, entity=entity
        )
        (text,) = failure_texts([fault])
        return f"The {text}." if slot and text.startswith(slot) else f"{upper_first(text)}."
    words = WORDS.get(code, code).format(*padded, unit=blame.unit or "task", turn=turn)
    words = " ".join(words.split()).replace(" .", ".").replace(" ;", ";")
    return f"{words.removesuffix('.')} ({why})." if why and CAUSE_OF.get(code) == "unclear" else upper_first(words)


def technical_failure(dialogue: Dialogue) -> Blame | None:
    """The technical failure that ended a conversation: an agent that raised or hung up, or infrastructure."""
    outcome = dialogue.outcome
    if outcome is None:
        return None
    hung_up = outcome.reason == SYSTEM_QUIT and outcome.ended_by == "system"
    if outcome.reason not in (AGENT_ERROR, *BROKEN_ENDS) and not hung_up:
        return None
    why, last = outcome.facts.get(EXPLANATION), max(len(dialogue.turns) - 1, 0)
    if why:
        return blame_for(dialogue.id, "", "failed", last, "", why)
    return blame_for(dialogue.id, "", "ended", last, "", outcome.ended_by, outcome.reason)
