"""Checks of wishes: ends while something is open, choices that the instruction rules out.

An instruction is prose, so only a part of it can be derived: a limit in dollars, things it does without, actions that a
right conversation would have had. The rest is not checked. Two rules were withdrawn
because they did not hold on conversations they were not written on (docs/explanation/user-fault-checks.md): a fall-back
used too soon, and ending while the agent waits for an id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import msgspec

from dialgauge.formats import OUT_OF_SCOPE
from dialgauge.users.faults.conversation_view import ConversationView, RecordedExchange, plain_text, sentences
from dialgauge.users.faults.entities import FLIGHT
from dialgauge.users.faults.fault_records import FaultFindings, UserFault, not_checked, runs_of
from dialgauge.users.faults.told_checks import REACTIVE
from dialgauge.users.faults.withheld_items import secret_items, things_named

#: What an action is called where people speak of it, by a word of the tool's name.
_SPOKEN = {
    "cancel": r"cancel|call off|refund|\bdrop\b",
    "baggages": r"\bbag|luggage|suitcase",
    "certificate": r"certificate|voucher|compensat|refund|gesture|credit",
    "insurance": r"insur",
    "passengers": r"passenger|\bname\b|travell?er|person|myself|companion",
    "book": r"\bbook|\bfly|flight|reserv|ticket",
    "exchange": r"exchang|replac|swap|differen",
    "return": r"\breturn|send .*back|refund",
}
#: What an instruction wants beside the actions: how it says so, and how a user would.
_WANTED = {"seats": (r"\bwant\b[^.]*\bseats?\b", r"\bseats?\b|\baisle\b|\bwindow\b")}
_CONDITIONAL = re.compile(r"\b(?:if|unless|in case|willing|otherwise|when)\b", re.IGNORECASE)
_GOODBYE = re.compile(r"\b(?:bye|goodbye)\b", re.IGNORECASE)
_TRANSFERRED = re.compile(r"###\s?TRANSFER|being transferred", re.IGNORECASE)
_DROPS = re.compile(r"\bnever ?mind\b|\bforget (?:it|about it)\b", re.IGNORECASE)
_ASKS = re.compile(
    r"\b(?:please provide|need from you|could you (?:please )?provide|i(?:'ll| will)? need)\b", re.IGNORECASE
)
_YES = re.compile(
    r"^(?:(?:great|perfect|thanks?|thank you|ok(?:ay)?|alright|sounds? (?:good|great)|that (?:sounds|looks|works)|"
    r"everything looks|understood|got it)[^.!?]{0,60}[.!,]\s*)*"
    r"(?:yes|yeah|yep|sure|absolutely|i confirm|confirmed|please (?:go ahead|proceed)|go ahead|let's (?:go|proceed)|"
    r"that (?:sounds|looks|works|all sounds)|everything looks|sounds good|i(?:'d| would) like to (?:proceed|go ahead)|"
    r"ok(?:ay)?, (?:let's|please))",
    re.IGNORECASE,
)
_BUT = re.compile(
    r"\b(?:but|however|instead|except|wait|actually|before|only if|as long as|first|can't|cannot|won't)\b|\?",
    re.IGNORECASE,
)
_CONFIRMATION = re.compile(
    r"\b(?:please confirm|do you (?:confirm|want me to proceed)|would you like (?:me )?to (?:proceed|go ahead)|"
    r"shall i (?:proceed|go ahead)|should i (?:proceed|go ahead)|\(yes/no\)|(?:reply|respond) with ['\"]?yes|"
    r"can you confirm|could you confirm|confirm if you)",
    re.IGNORECASE,
)
_DIRECT_QUESTION = re.compile(
    r"\b(?:could you|can you|please|may i|would you) (?:please |kindly )?"
    r"(?:provide|share|give|tell|confirm|specify|have)\b",
    re.IGNORECASE,
)
#: A question for something, in a word that asks for it or by its name alone ("Your user id?").
_OPEN_QUESTION = re.compile(
    r"(?:^|[,:;]\s*|\b(?:and|so|then|tell me|know)\s+)(?:(?:in|on|at|for|from|to|with) )?"
    r"(?:what|which|when|where|who|whose|how (?:many|much|old|long))\b"
    r"|^(?:and |your |the )*(?:[\w-]+ ){0,2}(?:id|number|name|address|e-?mail|date|birth|code|reason|phone|card)\?",
    re.IGNORECASE,
)
_ENDS_WHEN_ASKED = re.compile(
    r"\bask\w*\b[^.]{0,80}\b(?:hang up|end (?:the|it)|leave|quit|stop)\b|"
    r"\b(?:hang up|end (?:the|it)|leave|quit|stop)\b[^.]{0,80}\b(?:if|when)\b[^.]{0,40}\bask",
    re.IGNORECASE,
)
#: Questions that leave it to the user whether there is more to do.
_LEFT_TO_THE_USER = re.compile(
    r"\b(?:else|other|help|assist\w*|instead|feedback|think|would you like (?:me )?to do|do you want (?:me )?to do)\b",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"\b(?:unfortunately|cannot|unable|not (?:possible|able|eligible|allowed|permitted))\b|\bcan't\b", re.IGNORECASE
)
_ANYTHING_ELSE = re.compile(
    r"\banything else|further (?:assistance|questions|help)|any (?:other|more) questions", re.IGNORECASE
)


def early_end(view: ConversationView) -> FaultFindings:
    """Stops instead of answering, stops with its own confirmation, or never speaks of an expected action's matter."""
    last = view.exchanges[-1] if view.exchanges else None
    if last is None or not last.last:
        return not_checked("early_end", "no_last_words")
    outcome = view.dialogue.outcome
    if not (last.stops or _GOODBYE.search(last.plain) or (outcome and outcome.ended_by == "user")):
        if outcome is None:
            return not_checked("early_end", "end_unknown")
        return FaultFindings("early_end", "whole", "not_the_user")
    if _TRANSFERRED.search(f"{last.asked}\n{last.text}"):
        return FaultFindings("early_end", "whole", "handed_over")
    reason = _out_of_scope(last) or _stops_instead(view, last) or _stops_confirming(last) or _drops_it(view, last)
    unsaid = () if reason else _never_said(view, last)
    number = view.message(last.turn)
    faults = (
        [UserFault("early_end", last.turn, number, reason or "wish_unsaid", wanted=unsaid)] if reason or unsaid else []
    )
    looked_at = "ends_and_actions" if _expected(view) else "ends"
    return FaultFindings("early_end", "part", looked_at, tuple(faults))


def _out_of_scope(last: RecordedExchange) -> str:
    """Gives up as out of scope where the agent has asked it something: not to know is an answer."""
    asked = last.asked.rstrip(' }"\n')
    if not OUT_OF_SCOPE.search(last.text) or not asked.endswith("?") or _ANYTHING_ELSE.search(asked):
        return ""
    return "out_of_scope"


def _stops_instead(view: ConversationView, last: RecordedExchange) -> str:
    """A bare stop token where the agent has just asked for something that the user may give."""
    if last.plain or _ANYTHING_ELSE.search(last.asked) or re.search(r"transfer", last.asked, re.IGNORECASE):
        return ""
    asked = last.asked.rstrip(' }"\n')
    if not asked.endswith("?"):
        return ""
    question = sentences(plain_text(asked))[-1]
    asks = _DIRECT_QUESTION.search(asked) or (
        _OPEN_QUESTION.search(question) and not _LEFT_TO_THE_USER.search(question) and not _REFUSED.search(asked)
    )
    if not asks or things_named(question) & secret_items(view.instruction) or _ENDS_WHEN_ASKED.search(view.instruction):
        return ""
    return "stops_when_asked"


def _stops_confirming(last: RecordedExchange) -> str:
    """Says yes to what the agent is about to do, and stops: the agent can no longer do it."""
    if not last.plain or not _YES.match(last.plain) or _ANYTHING_ELSE.search(last.asked):
        return ""
    return "stops_confirming" if _CONFIRMATION.search(last.asked) else ""


def _drops_it(view: ConversationView, last: RecordedExchange) -> str:
    """Takes back a wish while the agent waits for its details, and the instruction has it do no such thing."""
    if not _DROPS.search(last.plain) or not _ASKS.search(last.asked):
        return ""
    instructed = re.search(r"never ?mind|call back|end the conversation|move on", view.instruction, re.IGNORECASE)
    return "" if instructed else "wish_dropped"


def _expected(view: ConversationView) -> list[tuple[str, str]]:
    """The names and arguments of expected actions of the agent that change something."""
    named = [
        (call.name, msgspec.json.encode(call.arguments).decode())
        for call in view.dialogue.ended.expected or ()
        if call.domain != "user"
    ]
    reading = ("get", "search", "list", "find", "calculate", "think", "check", "transfer")
    return [(name, arguments) for name, arguments in named if not name.startswith(reading)]


def _never_said(view: ConversationView, last: RecordedExchange) -> tuple[str, ...]:
    """What is wanted without a condition for an expected action; the user never spoke of it, nor was it asked."""
    if REACTIVE.search(view.instruction):
        return ()
    user = f"{view.said_before(last.turn, 'user')}\n{last.plain}".lower()
    questions = [
        sentence for sentence in sentences(view.said_before(last.turn, "system").lower()) if sentence.endswith("?")
    ]
    wishes = [sentence.lower() for sentence in sentences(view.instruction) if not _CONDITIONAL.search(sentence)]
    done = {call.name for turn in view.turns if turn.speaker == "system" for call in turn.calls or ()}
    undone = [(name, arguments) for name, arguments in _expected(view) if name not in done or "baggages" in arguments]
    matters = [matter for name, arguments in undone for matter in _matters(name, arguments)]
    matters += [
        (what, spoken)
        for what, (pattern, spoken) in _WANTED.items()
        if any(re.search(pattern, wish) for wish in wishes)
    ]
    for what, spoken in matters:
        wanted = any(re.search(spoken, wish) for wish in wishes)
        if wanted and not re.search(spoken, user) and not any(re.search(spoken, question) for question in questions):
            return (what,)
    return ()


def _matters(name: str, arguments: str) -> Iterator[tuple[str, str]]:
    for word in name.split("_"):
        if word in _SPOKEN:
            yield word, _SPOKEN[word]
    if re.search(r'"total_baggages":[1-9]', arguments):
        yield "baggage", _SPOKEN["baggages"]


_NONSTOP = re.compile(r"\bto a (?:nonstop|direct) flight\b(?! if)", re.IGNORECASE)
_STOPS_ALLOWED = re.compile(
    r"\b(?:stop ?overs?|one stop|layovers?)\b[^.]*\b(?:fine|ok|okay|accept)|don't care about direct", re.IGNORECASE
)
_WITH_STOPS = re.compile(
    r"\b(?:let's|i'd like to|please|could you|can you|can we)\b[^.?!]*\b(?:one|1|two)-?\s?stop (?:options?|flights?)",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"\b(?:up ?to|less than|under|below|at most|no more than|budget of|maximum of)\s+\$\s?(\d[\d,]*)", re.IGNORECASE
)
#: What a change costs beyond what was paid, all told; what one passenger pays says nothing of the whole.
_EXTRA = re.compile(
    r"\b(?:additional|extra|difference|fees?|charged?)\b[^.$\n]{0,60}\$\s?(\d[\d,]*(?:\.\d+)?)(?!\s*(?:per|each|/))",
    re.IGNORECASE,
)
_TOTAL = re.compile(r"\btotal\b[^.$\n]{0,40}\$\s?(\d[\d,]*(?:\.\d+)?)(?!\s*(?:per|each|/))", re.IGNORECASE)
_PURCHASE = re.compile(r"\b(?:purchase|book|spend|ticket)\b", re.IGNORECASE)
_REFUND = re.compile(r"\brefund|credited|balance", re.IGNORECASE)
#: What an instruction may do without: its names there, and how the agent's summary shows it.
_WITHOUT = {
    "insurance": (r"insurance", r"insurance\W{0,6}(?::|-)\W{0,6}(?:yes|included|added)\b"),
    "checked bags": (
        r"(?:bags?|baggages?|luggage)",
        r"(?:checked |total )*bag(?:s|gage)?\W{0,6}(?::|-)\W{0,6}[1-9]\b",
    ),
}
#: A refusal has the thing itself as its object, perhaps in a list, and nothing that is done to it behind it.
_REFUSES = (
    r"(?:(?:\b(?:have|has|had|is|was|got)\s+)?\bno"
    r"|(?<!if you )(?:\bdo not|\bdon't|(?<!do )\bnot)\s+(?:want|need|wish for|require|have)"
    r"(?:\s+to\s+(?:have|get|buy|take|add|purchase|include|check(?: in)?|bring))?)\s+"
    r"(?:(?:any|an?|the|more|extra|additional|other|travel|trip|flight|checked|check-in|free)\s+"
    r"|(?:bags?|baggages?|luggage|insurance|seats?|meals?|upgrades?|extras)(?:\s*[,/]\s*|\s+)(?:(?:or|nor|and)\s+)?)*"
)
_STATE = re.compile(r"\b(?:have|has|had|is|was|got)\b(?<!to have)", re.IGNORECASE)
_REFUSAL_ENDS = (
    r"(?:\s+(?:coverage|policy|added|included|either|at all))*\s*(?=$|[.,;:()!]|(?:or|nor|and|but|because|since|as)\b"
    r"|(?:for|on|with|in)\s+(?:\w+\s+){0,2}(?:flights?|trips?|bookings?|reservations?|tickets?|journey)\b)"
)
#: How a user itself says that it takes what it does without: where it agrees to that later, this is the first message.
_TAKES = {
    "insurance": re.compile(r"\b(?:add|include|want|take|get|purchase|with)\b[^.;]{0,30}\binsurance", re.IGNORECASE),
    "checked bags": re.compile(r"\b(?:one|two|three|four|[1-9])\b(?: \w+){0,2} bags?\b", re.IGNORECASE),
}
_DENIED = re.compile(r"\b(?:no|not|none|never|without|cannot)\b|n't\b|\?|\bif\b", re.IGNORECASE)


def contradicted(view: ConversationView) -> FaultFindings:
    """Says yes to more than its limit or to what it does without, or gives up a nonstop flight."""
    if not view.instruction:
        return not_checked("contradicted", "no_instruction")
    limit = _LIMIT.search(view.instruction)
    without = [(what, shown) for what, (name, shown) in _WITHOUT.items() if _refuses(view.instruction, what, name)]
    nonstop = _NONSTOP.search(view.instruction) is not None and not _STOPS_ALLOWED.search(view.instruction)
    # What the user would have chosen had it kept to its instruction.
    flights = {flight for _, arguments in _expected(view) for flight in FLIGHT.findall(arguments)}
    derived = (
        *(["limit"] if limit else []),
        *(what for what, _ in without),
        *(["nonstop"] if nonstop else []),
        *(["flight"] if flights else []),
    )
    if not derived:
        return not_checked("contradicted", "nothing_unwanted")
    faults: list[UserFault] = []
    for exchange in view.exchanges:
        fault = partial(UserFault, "contradicted", exchange.turn, view.message(exchange.turn))
        assents = _YES.match(exchange.plain) and not _BUT.search(exchange.plain)
        if assents and _CONFIRMATION.search(exchange.asked):
            if limit and (cost := _over(view.instruction, exchange.asked, limit)):
                faults.append(fault("over_limit", about="limit", given=(f"{cost:g}",), wanted=(limit[1],)))
            faults += [
                fault("unwanted_agreed", about=what)
                for what, shown in without
                if re.search(shown, exchange.asked, re.IGNORECASE)
            ]
        if nonstop and _WITH_STOPS.search(exchange.plain):
            faults.append(fault("asks_for_stops", about="nonstop"))
        if flights and (other := _other_flight(exchange, flights)):
            faults.append(fault("other_flight", about="flight", given=(other,)))
    return FaultFindings("contradicted", "part", "wishes", runs_of([*faults, *_said_before(view, faults)]), derived)


def _other_flight(exchange: RecordedExchange, expected: set[str]) -> str:
    """The flight that the user chooses out of several, where it was offered the expected one beside it."""
    offered, named = set(FLIGHT.findall(exchange.asked)), set(FLIGHT.findall(exchange.plain))
    if "?" in exchange.plain or not offered & expected or not named or named & expected:
        return ""
    return min(named & offered, default="")


def _refuses(instruction: str, what: str, name: str) -> bool:
    """Does the instruction do without a thing? Not to speak of it, or to want nothing done to it, is no such wish.

    To have no bags is to need none; to have no insurance says nothing of what is wanted.
    """
    if what == "checked bags" and _TAKES[what].search(instruction):
        return False  # none yet, but some are wanted
    refusals = re.finditer(rf"{_REFUSES}{name}\b{_REFUSAL_ENDS}", instruction, re.IGNORECASE)
    return any(what != "insurance" or not _STATE.search(refusal[0]) for refusal in refusals)


def _said_before(view: ConversationView, faults: list[UserFault]) -> Iterator[UserFault]:
    """Earlier messages in which the user itself took what it later agreed to: the first of them is the evidence.

    They count only beside such an agreement; alone they are too weak a sign.
    """
    last = {fault.about: fault.turn for fault in reversed(faults) if fault.about in _TAKES}
    for about, turn in last.items():
        for exchange in view.exchanges:
            taking = [sentence for sentence in sentences(exchange.plain) if _TAKES[about].search(sentence)]
            if exchange.turn < turn and any(not _DENIED.search(sentence) for sentence in taking):
                number = view.message(exchange.turn)
                yield UserFault("contradicted", exchange.turn, number, "unwanted_taken", about=about)


def _over(instruction: str, message: str, limit: re.Match[str]) -> float | None:
    """What the agent's message says the change, or the whole, will cost, where that is more than the limit."""
    most = float(limit[1].replace(",", ""))
    sentence_of_limit = next((name for name in sentences(instruction) if limit[0] in name), instruction)
    pattern = _TOTAL if _PURCHASE.search(sentence_of_limit) else _EXTRA
    costs = [
        float(match[1].replace(",", ""))
        for sentence in sentences(plain_text(message))
        for match in pattern.finditer(sentence)
        if not _REFUND.search(sentence)
    ]
    # Where one price keeps the limit, several options are on offer: a yes alone does not say which was taken.
    return max(costs) if costs and min(costs) > most else None
