"""Faults of simulated users in words: the rows of the tables ``faults`` and ``fault_checks`` keep codes and arguments.

``faults``        reason (a code of ``FAULT_WORDINGS``), about, given, wanted, earlier (the message that is said again)
``fault_checks``  reason (a code of ``SCOPE_WORDINGS``), about, left: what was looked at or left, or why nothing was
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

FaultKind: TypeAlias = Literal[
    "early_end", "invented", "contradicted", "leaked", "repeated", "role_swap", "empty", "withheld", "disobeyed"
]
#: Every kind with its meaning, in the order in which they are shown.
FAULT_KINDS: dict[FaultKind, str] = {
    "early_end": "ends before it is done",
    "invented": "makes up facts",
    "contradicted": "contradicts its goal",
    "leaked": "reveals its instruction",
    "repeated": "repeats itself",
    "role_swap": "speaks as the agent",
    "empty": "neither speaks nor acts",
    "withheld": "withholds what is asked",
    "disobeyed": "ignores how to behave",
}
#: The same with its name, for filters and charts.
FAULT_KIND_WORDS: dict[str, str] = {
    kind: f"{kind.replace('_', ' ')}: {meaning}" for kind, meaning in FAULT_KINDS.items()
}

FAULT_WORDINGS = {
    # Goals of slots, recorded acts
    "other_value": "says {given} for {about}, where its goal has {wanted}",
    "value_of_nobody": "says {given} for {about}, which neither its goal nor the system has",
    "slot_not_given": "was asked for {about} and does not give it",
    "acts_again": "says the same acts again, which were answered",
    "act_of_systems": "acts as the system does ({given})",
    "goal_left_open": "ends with these never said or asked: {listed}",
    # Instructions in prose, messages
    "fact_of_nobody": "states the {about} {given!r}; nobody gave it",
    "booking_by_order": "picks one of the listed bookings by its place, without a basis",
    "booking_guessed": "takes {given} for its own booking without a basis",
    "not_given": "is asked for its {about} and does not give it",
    "no_content": "the message has neither text nor a tool call",
    "after_stop": "goes on after its stop token",
    "tool_syntax": "writes a tool call as text",
    "speaks_of_instructions": "speaks of its instructions",
    "words_of_instruction": "says words of its instruction that address it",
    "agent_phrase": "speaks as the agent ({given!r})",
    "answered_before": "says message {earlier} again, which was answered",
    "verbatim_again": "says message {earlier} again, word for word",
    "mentioned_first": "mentions {about} before the agent did",
    "out_of_scope": "stops as out of its scope where the agent has asked it something",
    "stops_when_asked": "stops where the agent has just asked it for something",
    "stops_confirming": "confirms an action and stops, so that it cannot be done",
    "wish_dropped": "drops what it asked for while the agent waits for the details",
    "wish_unsaid": "ends without ever mentioning {wanted}, which its instruction wants",
    "over_limit": "agrees to ${given}, more than its limit of ${wanted}",
    "unwanted_agreed": "agrees to a summary with {about}, which it does not want",
    "unwanted_taken": "takes {about}, which it does not want, and agrees to it later",
    "asks_for_stops": "asks for flights with a stop, where it wants a nonstop flight",
    "other_flight": "picks {given}, though the flight that fits its instruction was offered",
    # A judge, with its own words or without any
    "judged": "{given}",
    "judged_wordless": "so the judge",
}

_ENDS = "a bare stop after a question for something, a yes with a stop in it, a wish dropped"
_LEAKS = "stop tokens, tool syntax, words about instructions"
SCOPE_WORDINGS = {
    # Why a check could not look
    "no_user": "the user never spoke",
    "no_texts": "the conversation has no texts",
    "no_instruction": "there is no instruction to compare with",
    "no_giving_instruction": "there is no instruction that could give something",
    "may_invent": "the instruction allows making things up",
    "not_to_give": "the instruction says not to give its {joined}",
    "gives_nothing": "nothing in the instruction is recognised as something the user knows; declare it with `knows`",
    "no_manner": "a goal of slots has no orders about manner",
    "circles": "it went in circles before the goodbye, which may be that of a step limit",
    "no_last_words": "the conversation does not end with words of the user",
    "end_unknown": "nothing says who ended the conversation",
    "nothing_unwanted": "no limit and nothing unwanted can be derived",
    "no_orders": "no order of the form 'do not mention ...' can be derived",
    "orders_unclear": "{orders}",
    # What it looked at
    "not_the_user": "the user did not end the conversation",
    "handed_over": "the agent handed the user over",
    "goal_and_system": "every value against goal and system",
    "goal": "every value against the goal",
    "acts_of_turns": "every turn's acts",
    "slots_asked_for": "every question for a slot of the goal",
    "acts": "every act",
    "goal_items": "every constraint and request of the goal",
    "messages": "every message of the user",
    "facts": (
        "e-mail addresses, ids, phone and flight numbers, days, airports and cities, guesses among listed bookings"
    ),
    "questions": "questions for {joined}",
    "questions_but": "questions for {joined}; it is told not to give its {kept}",
    "leaks": f"{_LEAKS}; no instruction to compare with",
    "leaks_and_instruction": f"{_LEAKS}, five words in a row of the instruction",
    "agent_phrases": "phrases that only an agent says",
    "repetitions": (
        "repetition in nearly the same words of what the agent's last message speaks of; "
        "of {either} weighty words, only word for word; of fewer, the third copy"
    ),
    "orders": "not to mention {listed} before the agent does",
    "orders_in_part": "not to mention {listed} before the agent does; not checked: {orders}",
    "ends": f"{_ENDS}; no action of the agent is expected",
    "ends_and_actions": f"{_ENDS}; expected actions it never spoke of",
    "wishes": "{wishes}",
    "judge": "a judge",
}
#: What an instruction rules out; anything else is a thing that it does without.
_WISHES = {"limit": "a limit in dollars", "nonstop": "nonstop flights", "flight": "flights it is expected to take"}


def fault_sentence(row: Mapping[str, Any]) -> str:
    """What the user did, of a row of the table of faults; a code that this version does not know stands for itself.

    >>> fault_sentence({"reason": "other_value", "about": "hotel area", "given": ["north"], "wanted": ["east", "west"]})
    'says north for hotel area, where its goal has east or west'
    """
    wording, wanted = FAULT_WORDINGS.get(row["reason"]), row.get("wanted") or ()
    if wording is None:
        return str(row["reason"])
    return wording.format(
        about=row.get("about") or "", given=", ".join(row.get("given") or ()), wanted=" or ".join(wanted),
        listed=", ".join(wanted), earlier=row.get("earlier"),
    )  # fmt: skip


def fault_words(row: Mapping[str, Any]) -> str:
    """A row of the table of faults in words: its sentence, whether it is minor, and how many messages it holds for.

    >>> fault_words({"reason": "not_given", "about": "user id", "minor": True, "length": 2})
    'is asked for its user id and does not give it (minor, 2 messages)'
    """
    length = row.get("length")
    beside = ["minor"] if row.get("minor") is True else []
    beside += [f"{length} messages"] if isinstance(length, int) and length > 1 else []
    sentence = fault_sentence(row)
    return f"{sentence} ({', '.join(beside)})" if beside else sentence


def scope_sentence(row: Mapping[str, Any]) -> str:
    """What a check looked at, or why it could not look, of a row of the table of checks.

    >>> scope_sentence({"reason": "questions_but", "about": ["user id", "phone"], "left": ["order id"]})
    'questions for user id and phone; it is told not to give its order id'
    """
    wording, about, left = SCOPE_WORDINGS.get(row["reason"]), row.get("about") or (), row.get("left") or ()
    if wording is None:
        return str(row["reason"])
    return wording.format(
        joined=_joined(about), kept=_joined(left), listed=", ".join(about), either=" or ".join(about),
        orders="; ".join(map(_order, left)), wishes=", ".join(_WISHES.get(what, f"no {what}") for what in about),
    )  # fmt: skip


def _joined(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def _order(about: str) -> str:
    """An order that cannot be followed, by what it is about."""
    if not about:
        return "an order not to mention something, whose words do not tell what"
    return f"an order about {about}, whose condition cannot be followed"
