"""Refusals that nobody asked for: a search found nothing because of a value that the user had not said, or had taken
back, while rows fit what it had said."""

from __future__ import annotations

from collections.abc import Mapping

from dialgauge.dialogue import Call
from dialgauge.errors import DialgaugeError
from dialgauge.intents import INFORM, NO_OFFER
from dialgauge.lab.blame.broken_links import BrokenLink
from dialgauge.lab.blame.spoken_record import DomainRecord, TalkRecord, Word, names_one
from dialgauge.values import constrains, same_value
from dialgauge.worlds.domain import SEARCH


def false_refusal(talk: TalkRecord, record: DomainRecord, turn: int, call: Call) -> BrokenLink | None:
    """What made an empty search of a turn one for something else than the user wanted. None: it was for that."""
    by_slot = {word.slot: word for word in record.said if word.intent == INFORM and word.turn < turn}
    unsaid = {slot: value for slot, value in call.arguments.items() if _not_as_said(value, by_slot.get(slot))}
    if call.found != 0 or not unsaid:
        return None
    fitting = _fitting(talk, record, {slot: word.value for slot, word in by_slot.items()})
    if not fitting:
        return None
    links = [_unsaid_value(record, turn, slot, value, by_slot.get(slot), fitting) for slot, value in unsaid.items()]
    return min(links, key=lambda link: (link.order, link.said_turn is None))  # what was taken back before what is new


def sent_away_falsely(talk: TalkRecord, record: DomainRecord, left: int) -> BrokenLink | None:
    """The first of the false refusals that were the last that a user heard of a domain before it left."""
    named = max((word.turn for word in record.told if names_one(word, talk.domains.names)), default=-1)
    refusals = record.tells(NO_OFFER, named)
    first = None
    for turn, call in record.called(SEARCH, left - 1):
        if turn in refusals:
            false = false_refusal(talk, record, turn, call)
            first = (first or false) if false else None
    return first


def _not_as_said(value: str, word: Word | None) -> bool:
    return constrains(value) and (word is None or not same_value(word.value, value))


def _fitting(talk: TalkRecord, record: DomainRecord, values: Mapping[str, str]) -> int:
    """How many rows fit what the user had said; none where it said what cannot be searched by."""
    wishes = {slot: value for slot, value in values.items() if slot in record.informable and constrains(value)}
    try:
        return len(talk.search.find(record.domain, wishes).rows)
    except DialgaugeError:
        return 0


def _unsaid_value(
    record: DomainRecord, turn: int, slot: str, value: str, word: Word | None, fitting: int
) -> BrokenLink:
    """The link that broke for one value of a search: heard so, or made up by the system."""
    heard = record.hears(slot, turn)
    if heard is None or not same_value(heard.value, value):
        return BrokenLink(
            "searched_unsaid" if word is None else "searched_taken_back", "constraint", slot, turn, acted_turn=turn,
            said_turn=word.turn if word else None, given=(value,), times=fitting, wanted=word.value if word else "",
        )  # fmt: skip
    if word is None:
        return BrokenLink("heard_unsaid", "constraint", slot, heard.turn, heard_turn=heard.turn, given=(value,))
    return BrokenLink(
        "misheard" if heard.turn == word.turn else "overwritten", "constraint", slot, max(word.turn, heard.turn),
        said_turn=word.turn, heard_turn=heard.turn, given=(value,), wanted=word.value,
    )  # fmt: skip
