"""The links of the chain from goal to outcome, and what a broken one looks like."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast, get_args

from msgspec import Struct
from msgspec.structs import asdict, force_setattr

from dialgauge.agents import LOOP_GUARD, MAX_EXCHANGES, TOKEN_BUDGET
from dialgauge.tasks import REASON_GROUPS, TaskFailure, failure_texts
from dialgauge.text import counted, upper_first

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
Side: TypeAlias = Literal["user", "system", "lab", "world", "limit", "infrastructure", "unclear"]
#: In the order of the chain; where two links break in one turn, the earlier one counts.
CAUSES: tuple[Cause, ...] = get_args(Cause)
SIDES: tuple[Side, ...] = get_args(Side)
#: Who broke a link of each cause, and the cause as tables write it.
_SIDES_AND_WORDS: dict[Cause, tuple[Side, str]] = {
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
SIDE_OF: dict[Cause, Side] = {cause: side for cause, (side, _) in _SIDES_AND_WORDS.items()}
CAUSE_WORDS: dict[Cause, str] = {cause: words for cause, (_, words) in _SIDES_AND_WORDS.items()}


class BrokenLink(Struct, frozen=True):
    """Where the chain of one thing that the goal asks for broke."""

    #: What happened: a code of ``LINK_WORDS``, or of the reasons of tasks.
    reason: str
    #: What it is about: a constraint, a booking, a request, a reference, a taxi; empty for the whole domain.
    part: str = ""
    slot: str = ""
    #: The turn in which the link broke; for what never happened, the last turn in which it could have.
    turn: int = 0
    #: Follows from the reason, unless that may be of several.
    cause: Cause = cast("Cause", "")
    #: How far the chain held: the turns in which it was said, heard, acted on and answered.
    said_turn: int | None = None
    heard_turn: int | None = None
    acted_turn: int | None = None
    answered_turn: int | None = None
    #: What was said, heard, called or answered, what should have been, and of what.
    given: tuple[str, ...] = ()
    wanted: str = ""
    entity: str = ""
    #: How often it happened, of how many.
    times: int | None = None
    of: int | None = None

    def __post_init__(self) -> None:
        if not self.cause:
            force_setattr(self, "cause", CAUSE_OF[self.reason])

    @property
    def sentence(self) -> str:
        return link_sentence(asdict(self))

    @property
    def side(self) -> Side:
        return SIDE_OF[self.cause]

    @property
    def order(self) -> tuple[int, int]:
        """First in time, then in the chain. What is unclear and came first leaves the rest unclear."""
        return self.turn, CAUSES.index(self.cause)


#: What was repeated, and how exchanges were lost.
_REPEATED = {
    "not_understood": "itself, since the lab did not understand the answers",
    "said_not_heard": "what the system did not hear",
    "answered_not_heard": "what was answered, since it did not hear the answers",
    "heard_not_acted_on": "what the system heard and did not answer",
}
_LOST = {
    "not_understood": "because the lab did not understand what the system said",
    "said_not_heard": "because the system did not hear what the user said",
    "answered_not_heard": "because the user did not hear what the system said",
    "heard_not_acted_on": "because the system did not answer what it heard",
}
#: Limits that end a conversation. One of time is a technical failure: somebody hung.
CUT_OFF = {MAX_EXCHANGES: "limit of exchanges", LOOP_GUARD: "guard against loops", TOKEN_BUDGET: "budget of tokens"}
_HEARD = "The system heard {slot} {wanted} in turn {heard_turn}; "
_SAID = "The user said {slot} {wanted} in turn {said_turn}; the system heard "
_KNEW = "The system knew all that was wanted in turn {heard_turn} and "
_CUT = "The conversation was cut off after {exchanges}, {share}from turn {turn} on {lost}."
_IN_VAIN = "The search of turn {acted_turn} had {slot} {given}, "
_YET_FIT = ", and found nothing; {fitting} what it had said."
_FIRST = "The first try with {slot} {wanted} was '{given}', "
#: What can happen, by the cause that it is of, in words.
_WORDS_BY_CAUSE: dict[Cause, dict[str, str]] = {
    "never_said": {
        "value_never_said": "The user never said {value}.",
        "wish_never_said": "The user never said what it wants of the {entity}.",
        "said_otherwise": "The user said {slot} {given} in turn {said_turn}; its goal has {wanted}.",
        "name_not_taken": "The system named {entity} in turn {answered_turn}, and the user did not take it.",
        "never_asked": "The user never asked for the {slot}.",
        "never_asked_again": "The user did not ask for the {slot} of what was named in turn {given}.",
        "second_try_unsaid": "The user heard that its first try was refused and never said {slot} {wanted}.",
    },
    "said_not_heard": {
        "dropped": _SAID + "no {slot}.",
        "misheard": _SAID + "{slot} {given}.",
        "overwritten": _SAID + "{slot} {given} in turn {heard_turn}.",
        "heard_unsaid": "The system heard {slot} {given} in turn {heard_turn}, which the user did not say.",
        "question_unheard": "The user asked for the {slot} in turn {said_turn}, and the system never heard it.",
        "reply_unheard": "The system named one in turn {answered_turn}, and heard nothing of what the user said about "
        "it in turn {said_turn}.",
        "goodbye_unsaid": "The system heard a goodbye in turn {turn} that the user did not say.",
    },
    "heard_not_acted_on": {
        "never_searched": _KNEW + "never searched.",
        "search_without": _KNEW + "left {slot} out of its search in turn {acted_turn}.",
        "named_nothing": "The search of turn {acted_turn} had {given}, and the system named nothing.",
        "never_booked": "The system knew the whole booking in turn {heard_turn} and never tried to make it.",
        "never_sent": "The system knew all that a taxi needs in turn {heard_turn} and sent none.",
        "question_unanswered": "The system heard in turn {heard_turn} that the user asks for the {slot} and never told "
        "it.",
        "reply_late": "The system heard turn {said_turn} and only came back to it in turn {answered_turn}, when the "
        "user had gone on.",
        "never_called": _HEARD + "there was no {entity}.",
        "called_without": _HEARD + "the {entity} of turn {given} left it out.",
        "first_try_untold": _FIRST + "and that was never told.",
        "goodbye_early": "The system said goodbye in turn {turn} before the user was done.",
    },
    "acted_on_wrong": {
        "searched_unsaid": _IN_VAIN + "which the user had not said" + _YET_FIT,
        "searched_taken_back": _IN_VAIN + "though the user had said {wanted} in turn {said_turn}" + _YET_FIT,
        "named_unfit": "The system named nothing that fits, though its search of turn {acted_turn} had {given}.",
        "named_beside": _HEARD
        + "the {entity} of turn {acted_turn} was right, and what turn {given} named does not fit.",
        "called_otherwise": _HEARD + "the {entity} of turn {acted_turn} has {slot} {given}.",
    },
    "answered_not_heard": {
        "answer_unheard": "The system told the {slot} in turn {answered_turn}, and the user never heard it.",
        "answer_unsaid": "The user heard '{given}' of the {entity} in turn {turn}, which the system did not say, and "
        "left it at that.",
        "question_missed": "The system asked for {slot} in turn {turn}, and the user did not hear it.",
        "name_misheard": "The system named the {entity} in turn {answered_turn}, which the user did not hear right; it "
        "gave {slot} {given} in turn {said_turn}.",
        "name_unsaid": "The user heard of {given} in turn {answered_turn}, which the system did not say, and gave it "
        "as {slot} in turn {said_turn}.",
        "name_unheard": "The system named {entity} in turn {answered_turn}, which the user did not hear.",
        "other_name_unheard": "The system named another one in turn {answered_turn}, which the user did not hear.",
        "refusal_unheard": "The system refused the first try in turn {answered_turn}, and the user never heard it.",
        "goodbye_misheard": "The user left because it heard a goodbye that the system did not say.",
    },
    "refused": {
        "nothing_in_database": "The search of turn {acted_turn} was for all that was wanted, and the database has "
        "nothing.",
        "booking_came_back": "The booking of turn {acted_turn} was as wanted, and it came back '{given}'.",
    },
    "limit_reached": {
        "limit": "The {limit} came before the user got to {what}; nothing was misheard.",
    },
    "infrastructure": {
        "failed": "{explanation}.",
        "ended": "The {entity} ended the conversation ({given}).",
    },
    "unclear": {
        "refusal_untraceable": "The system refused the first try in turn {answered_turn}; the user does not record "
        "what it heard.",
        "first_try_not_refused": _FIRST + "though the goal expects a refusal.",
        "untraceable": "The user gave or asked for {slot} in turn {turn}; the system does not record what it heard.",
        "acts_not_recorded": "The user's acts are not recorded, so what it said is unknown{why}.",
        "all_held": "Every link that the record shows held{why}.",
    },
}
#: What may be of several causes.
_OF_ANY_CAUSE = {
    "gave_up": "The user gave up: from turn {turn} on the user repeated {repeated}, {times} of {of} times.",
    "exchanges_lost": _CUT,
}
CAUSE_OF = {reason: cause for cause, words in _WORDS_BY_CAUSE.items() for reason in words}
LINK_WORDS = {**{reason: text for words in _WORDS_BY_CAUSE.values() for reason, text in words.items()}, **_OF_ANY_CAUSE}


def link_sentence(link: Mapping[str, Any], why: str = "") -> str:
    """What happened, in words, of a link or a row of the table ``blame``; ``why`` is why the task failed."""
    reason, slot, entity = (link[name] or "" for name in ("reason", "slot", "entity"))
    wanted, cause, of, times = link["wanted"] or "", link["cause"] or "", link["of"] or 0, link["times"] or 0
    if reason in REASON_GROUPS:
        fault = TaskFailure(
            reason=reason, slot=slot, turn=link["turn"], given=tuple(link["given"] or ()), wanted=wanted, entity=entity
        )
        (text,) = failure_texts([fault])
        return f"The {text}." if slot and text.startswith(slot) else f"{upper_first(text)}."
    given = ", ".join(link["given"] or ())
    words = {
        **link,
        "slot": slot, "entity": entity, "wanted": wanted, "given": given,
        "value": f"{slot} {wanted}".strip(),
        "repeated": _REPEATED.get(cause, ""),
        "exchanges": counted(of, "lost exchange"),
        "share": f"{times} of them " if times < of else "",
        "lost": _LOST.get(cause, ""),
        "limit": f"limit of {counted(of, 'exchange')}" if given == MAX_EXCHANGES else CUT_OFF.get(given, given),
        "what": f"the {slot} of the {entity}" if slot else f"what it wants of the {entity}",
        "fitting": f"{counted(times, 'row')} {'fits' if times == 1 else 'fit'}",
        "explanation": upper_first(given),
        "why": f" ({why})" if why else "",
    }  # fmt: skip
    return LINK_WORDS.get(reason, "{reason}").format(**words)
