"""Checks of single messages: empty ones, leaked instructions, a user who speaks as the agent, and repetitions."""

from __future__ import annotations

import re

from dialgauge.users.faults.conversation_view import (
    STOP_TOKEN,
    ConversationView,
    RecordedExchange,
    plain_text,
    sentences,
    weighty,
    words,
)
from dialgauge.users.faults.fault_records import FaultFindings, FaultKind, UserFault, runs_of

#: Consecutive words of an instruction that no user says by chance.
_LEAKED_WORDS = 5
_META = re.compile(
    r"\b(?:the|my|your|these) instructions? (?:says?|tells?|asks?|states?|given)\b|\bas an? (?:ai|language model)\b"
    r"|\b(?:system prompt|simulated user|user simulat\w+|role-?play\w*)\b"
    r"|\baccording to (?:the|my) (?:instructions?|scenario)\b",
    re.IGNORECASE,
)
_ABOUT_ITSELF = re.compile(r"^you (?:are|want|have|will|do not|don't|prefer|would|need|also)\b", re.IGNORECASE)
#: Calls, tags and code fences as models write them where they should call a tool.
_TOOL_SYNTAX = re.compile(
    r"</?(?:tool_call|function_call|tool|function)\b|\"(?:tool_calls|function_call|tool_name)\"\s*:"
    r"|```(?:json|tool|xml|python)|\bfunctions\.\w+\(|\{\s*\"name\"\s*:\s*\"\w+\"\s*,\s*\"arguments\"",
)
_AS_THE_AGENT = re.compile(
    r"\bhow (?:can|may) i (?:help|assist) you\b"
    r"|\b(?:is there )?anything else (?:that )?i can (?:help|assist|do for) (?:you|with)\b"
    r"|\bi(?:'m| am) (?:happy|glad|here) to (?:help|assist) you\b"
    r"|\blet me (?:look (?:that|this|it) up|pull up|check) (?:that |this |it |your )?(?:\w+ ){0,3}for you\b"
    r"|\b(?:could|can|may) (?:you|i) (?:please )?(?:provide|have|get) (?:me )?(?:with )?your "
    r"(?:user id|reservation|account|order)\b"
    r"|\bi(?:'ve| have) (?:successfully )?"
    r"(?:cancell?ed|booked|updated|processed|issued|modified|upgraded|transferred) your\b"
    r"|\bi(?:'ve| have| will|'ll) (?:now )?(?:transfer(?:red)?) you to\b"
    r"|\byour (?:reservation|booking|order|request|refund) has been (?:successfully )?"
    r"(?:cancell?ed|booked|updated|processed|issued)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"(?<!\w)'[^'\n]*(?:\w'\w[^'\n]*)*'(?!\w)|\"[^\"\n]*\"|“[^”\n]*”")
_REQUEST = re.compile(r"\?|\b(?:please|provide|confirm|let me know|could you|need your|specify)\b", re.IGNORECASE)
#: Sentences that leave it to the user whether there is more: no request for what it said.
_MORE_TO_DO = re.compile(
    r"\b(?:anything|something|what) else\b|\b(?:further|other|more) (?:questions|help|assistance)|\bfeel free\b"
    r"|\b(?:please )?let (?:me|us) know (?:if|whether|when|how|what)\b|\bdon't hesitate\b",
    re.IGNORECASE,
)
#: How much of the weighty words of two messages must be shared, and how many a message needs to be told by them.
_OVERLAP, _SHORTEST = 0.9, 5
#: How many a message needs that says the same words in the same order: fewer are a mere yes, or thanks.
_SHORTEST_VERBATIM = 3
#: How often the very same words count as said again, whatever they are and whatever the agent says, and how many words
#: these need: a yes or a thank-you is said often.
_COPIES, _SHORTEST_COPY = 3, 4


def _fault(
    view: ConversationView, kind: FaultKind, turn: int, reason: str, *given: str, earlier: int | None = None
) -> UserFault:
    return UserFault(kind, turn, view.message(turn), reason, given=given, earlier=earlier)


def empty(view: ConversationView) -> FaultFindings:
    """No text, no acts, no tool call. Where only acts are recorded, a turn has no text by its nature."""
    faults = [
        _fault(view, "empty", index, "no_content")
        for index, turn in enumerate(view.turns)
        if turn.speaker == "user" and not turn.text.strip() and not turn.calls and not turn.acts
    ]
    return FaultFindings("empty", "whole", "messages", runs_of(faults))


def leaked(view: ConversationView) -> FaultFindings:
    """Words about the instruction, five words in a row of what it says of itself, tool syntax, text after a stop."""
    runs = _meta_runs(view.instruction)
    faults = []
    for index, turn in enumerate(view.turns):
        if turn.speaker == "user" and (reason := _leak(turn.text.replace("’", "'"), runs)):
            faults.append(_fault(view, "leaked", index, reason))
    if runs:
        return FaultFindings("leaked", "whole", "leaks_and_instruction", runs_of(faults))
    return FaultFindings("leaked", "part", "leaks", runs_of(faults))


def _leak(text: str, runs: frozenset[tuple[str, ...]]) -> str:
    """The code of what the message reveals; empty where it reveals nothing."""
    stop = STOP_TOKEN.search(text)
    if stop and plain_text(text[stop.end() :]):
        return "after_stop"
    if _TOOL_SYNTAX.search(text):
        return "tool_syntax"
    if _META.search(text):
        return "speaks_of_instructions"
    spoken = words(text)
    if any(tuple(spoken[start : start + _LEAKED_WORDS]) in runs for start in range(len(spoken))):
        return "words_of_instruction"
    return ""


def _meta_runs(instruction: str) -> frozenset[tuple[str, ...]]:
    """Five words in a row of the sentences that speak to the user, those with ``you`` as their first or second word.

    A sentence in the first person can share the rest of such a sentence without fault: it restates the wish. What
    stands in quotation marks is there to be said.
    """
    runs = set()
    for sentence in sentences(_QUOTED.sub(" ", instruction)):
        spoken = words(sentence)
        for start in range(len(spoken) - _LEAKED_WORDS + 1):
            run = tuple(spoken[start : start + _LEAKED_WORDS])
            if {"you", "your"} & set(run[:2]) and _ABOUT_ITSELF.match(" ".join(run)):
                runs.add(run)
    return frozenset(runs)


def role_swap(view: ConversationView) -> FaultFindings:
    """Phrases that only an agent says. What goes to the user's own tools is no swap: it was not said to the agent."""
    faults = [
        _fault(view, "role_swap", exchange.turn, "agent_phrase", match[0].strip().lower())
        for exchange in view.exchanges
        if not view.turns[exchange.turn].calls and (match := _AS_THE_AGENT.search(exchange.plain))
    ]
    return FaultFindings("role_swap", "part", "agent_phrases", runs_of(faults))


def repeated(view: ConversationView) -> FaultFindings:
    """A message with nearly the same weighty words as an earlier one, answered since and not asked for again."""
    faults = []
    earlier: list[RecordedExchange] = []
    for exchange in view.exchanges:
        if view.turns[exchange.turn].calls:  # it tells what its tools gave it
            continue
        before = next((other for other in reversed(earlier) if _says_again(view, exchange, other)), None)
        copies = [other for other in earlier if _is_copy(exchange, other)]
        if before is not None:
            number = view.message(before.turn)
            faults.append(_fault(view, "repeated", exchange.turn, "answered_before", earlier=number))
        elif len(copies) + 1 >= _COPIES:
            number = view.message(copies[0].turn)
            faults.append(_fault(view, "repeated", exchange.turn, "verbatim_again", earlier=number))
        earlier.append(exchange)
    lengths = tuple(map(str, range(_SHORTEST_VERBATIM, _SHORTEST)))
    return FaultFindings("repeated", "part", "repetitions", runs_of(faults), about=lengths)


def _says_again(view: ConversationView, exchange: RecordedExchange, other: RecordedExchange) -> bool:
    now, before = set(weighty(exchange.plain)), set(weighty(other.plain))
    if exchange.stops or len(now & before) < _OVERLAP * len(now | before):
        return False
    if len(now) < _SHORTEST and not (len(now) >= _SHORTEST_VERBATIM and _is_verbatim(exchange, other)):
        return False
    if any(character.isdigit() for word in now - before for character in word):
        return False
    return not _asked_for(view, exchange, now)


def _is_copy(exchange: RecordedExchange, other: RecordedExchange) -> bool:
    """The very same words; where the agent too says the same words again, it has asked again."""
    spoken = words(exchange.plain)
    asked_again = "?" in exchange.asked and words(exchange.asked) == words(other.asked)
    return len(spoken) >= _SHORTEST_COPY and spoken == words(other.plain) and not asked_again


def _is_verbatim(exchange: RecordedExchange, other: RecordedExchange) -> bool:
    """The same words but for light ones, and no question to answer: so short an answer can fit two questions."""
    wanted = (sentence for sentence in sentences(plain_text(exchange.asked)) if not _MORE_TO_DO.search(sentence))
    return weighty(exchange.plain) == weighty(other.plain) and not any(_REQUEST.search(sentence) for sentence in wanted)


def _asked_for(view: ConversationView, exchange: RecordedExchange, spoken: set[str]) -> bool:
    """Did the agent's last message ask for it again, or say nothing about it?"""
    questions = [
        sentence
        for sentence in sentences(plain_text(exchange.asked))
        if _REQUEST.search(sentence) and not _MORE_TO_DO.search(sentence)
    ]
    asked = {word for sentence in questions for word in weighty(sentence)}
    answer = set(weighty(exchange.asked))
    return bool(asked & spoken) or not answer & spoken
