"""Acts in words: ``label: value``, and what the domain itself gives as ``say`` and ``ask``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from dialgauge.agents.vocabulary import ServiceWords, Vocabulary, is_any
from dialgauge.dialogue import Act
from dialgauge.intents import INFORM, NO_BOOK, NO_OFFER, REQUEST, SELECT
from dialgauge.text import upper_first
from dialgauge.values import truth
from dialgauge.worlds.domain import CHOICE, GENERAL, UNKNOWN

#: What would end a value too early for whoever reads it.
_ENDS = re.compile(r"[,;?!\n]|[.:](?!\d)")
_GENERAL = {
    "bye": "Goodbye.", "thank": "Thank you.", "greet": "Hello.", "affirm": "Yes, please.", "negate": "No, thank you.",
    "reqmore": "Can I help with anything else?", "welcome": "You are welcome.",
}  # fmt: skip
#: What comes before all else in a turn.
_FIRST = ("greet", "affirm", "negate")


class Wording:
    """Words for one side of one conversation."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        #: The service that was spoken of last.
        self._service = ""

    def user(self, acts: Sequence[Act]) -> str:
        """A user's turn in words."""
        return self._worded(acts, "", self._wishes)

    def system(self, acts: Sequence[Act], service: str) -> str:
        """A system's turn in words; ``service`` is the one whose booking it speaks of."""
        return self._worded(acts, service, self._answers)

    def _worded(
        self, acts: Sequence[Act], booked: str, worded: Callable[[ServiceWords, list[Act]], Iterable[str]]
    ) -> str:
        general = [act.intent for act in acts if act.domain == GENERAL]
        groups: dict[str, list[Act]] = {}
        for act in acts:
            if act.domain != GENERAL:
                groups.setdefault(act.domain if act.domain in self._vocabulary else booked, []).append(act)
        said = [_GENERAL[intent] for intent in general if intent in _FIRST]
        for service, own in groups.items():
            if service in self._vocabulary:
                said += worded(self._vocabulary[service], own)
                self._service = service
        return " ".join([*said, *(_GENERAL[intent] for intent in general if intent not in _FIRST)])

    # The user

    def _wishes(self, words: ServiceWords, acts: list[Act]) -> Iterator[str]:
        service = words.service
        informs = [act for act in acts if act.intent == INFORM]
        opens = any(not act.slot and not act.values for act in informs)
        if opens or service.name != self._service:
            yield f"I {'need' if service.rows is None else 'am looking for'} {service.title}."
        given = [act for act in informs if act.slot and act.values and not is_any(act.values[0])]
        wishes = [act for act in given if act.slot in service.wishes]
        booked = [act for act in given if act.slot not in service.wishes]
        yield from self._items(words, wishes, "I'd like {}.", "{}.")
        yield from self._items(words, booked, "Please book it for {}.", "For the booking: {}.")
        for act in informs:
            if act.values and is_any(act.values[0]):
                yield f"{upper_first(words.label(act.slot))}: any." if act.slot else "Nothing else matters."
        if asked := [words.label(act.slot) for act in acts if act.intent == REQUEST and act.slot]:
            yield f"Please tell me: {', '.join(asked)}."

    def _items(self, words: ServiceWords, acts: Iterable[Act], own: str, plain: str) -> Iterator[str]:
        """Values in the domain's own words where it has some, all others behind their labels."""
        listed: dict[str, str] = {}
        for act in acts:
            say, value = self._vocabulary.domain.words_for(act.slot).say, act.values[0]
            if say and quoted(value) == value:
                yield own.format(say.format(value=value))
            else:
                listed[act.slot] = value
        if listed:
            yield upper_first(plain.format(items(words, listed)))

    # The system

    def _answers(self, words: ServiceWords, acts: list[Act]) -> Iterator[str]:
        service, name = words.service, words.service.name_slot
        by_intent: dict[str, list[Act]] = {}
        for act in acts:
            by_intent.setdefault("booked" if act.name == service.act_name("book") else act.intent, []).append(act)
        for intent, sentence in ((NO_OFFER, "I found nothing"), (NO_BOOK, "It could not be booked")):
            if intent in by_intent:
                listed = items(words, {act.slot: act.values[0] for act in by_intent[intent] if act.slot and act.values})
                yield f"{sentence} for {listed}." if listed else f"{sentence}."
        booked, choice = by_intent.get("booked", []), by_intent.get(SELECT, [])
        made = bool(booked) and (service.act_name("book") != service.act_name("inform") or service.rows is None)
        if made:
            yield "It is booked."
        told = [
            act for act in acts if act.slot and act.values and act.intent not in (REQUEST, NO_OFFER, NO_BOOK, SELECT)
        ]
        for act in told:
            value = act.values[0]
            if act.slot == CHOICE:
                yield f"There are {value}."
            elif act.slot == name and not made:
                yield f"I can offer {quoted(value)}."
            else:
                label = upper_first(words.label(act.slot))
                yield f"{label}: not known." if value == UNKNOWN else f"{label}: {_told(words, act.slot, value)}."
        if choice:
            names = [quoted(act.values[0]) for act in choice if act.values]
            yield f"Would you like {' or '.join(names)}?" if names else "Would you like one of them?"
        asked = [act.slot for act in by_intent.get(REQUEST, []) if act.slot]
        for slot in asked:
            if own := self._vocabulary.domain.words_for(slot).ask:
                yield own
        if plain := [words.label(slot) for slot in asked if not self._vocabulary.domain.words_for(slot).ask]:
            yield f"Please tell me: {', '.join(plain)}."
        if any(act.name == service.act_name("offer_booking") and not act.slot for act in acts):
            yield "Shall I book it?"


def items(words: ServiceWords, values: Mapping[str, str]) -> str:
    """``label: value`` for each slot, with the bound that a wish is."""
    return ", ".join(f"{words.label(slot)}: {_bound(words, slot)}{quoted(value)}" for slot, value in values.items())


def quoted(value: str) -> str:
    """The value, in quotes where a sign in it would end it too early."""
    return f'"{value}"' if _ENDS.search(value) else value


def _bound(words: ServiceWords, slot: str) -> str:
    wish = words.service.wishes.get(slot)
    return {"at-least": "at least ", "at-most": "at most "}.get(wish.match, "") if wish is not None else ""


def _told(words: ServiceWords, slot: str, value: str) -> str:
    meaning = truth(value) if words.slots[slot].kind == "yes-no" else None
    if words.slots[slot].listed:
        return " and ".join(item.strip() for item in value.split(";"))
    return quoted(value) if meaning is None else "yes" if meaning else "no"
