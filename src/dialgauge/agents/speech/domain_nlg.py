"""Sentences for the acts of any domain, from the titles of its services and the words of its slots.

Acts of one service and one purpose become one sentence: what is wanted, what is to be booked, what is asked, what is
offered. Each purpose has a few ways to say it (``domain_grammar.py``), of which the style ``varied`` draws one and
``plain`` takes the first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from dialgauge.agents.speech.domain_grammar import GENERAL_WAYS, NOTHING, WAYS, DomainGrammar, ServiceGrammar
from dialgauge.agents.speech.nlg import Wording
from dialgauge.agents.speech.slot_wording import ItemList, Quote
from dialgauge.dialogue import DONTCARE, Act, Speaker
from dialgauge.draws import Draws
from dialgauge.intents import INFORM, NO_BOOK, NO_OFFER, REQUEST, SELECT, name_halves
from dialgauge.values import DAYS, truth
from dialgauge.worlds.domain import CHOICE, UNKNOWN

#: Stands for an offer of the same row as before.
_STILL = "still"
#: Spaces of a value that is more than a name: "The care tip is Feed twice a year" is no sentence.
_LONG_TEXT = 3
_ONE_DIGIT = re.compile(r"\d:[0-5]\d")


class DomainNlg:
    """Words for the acts of users and systems of a domain.

    A user's first sentence about a service says what it wants; "also" is said only once something came before.
    """

    def __init__(self, grammar: DomainGrammar, style: str = "varied") -> None:
        self._grammar, self.style = grammar, style
        self._spoken = False
        #: The name of the row that was offered last, by service.
        self._offered: dict[str, str] = {}

    def generate(self, acts: Sequence[Act], speaker: Speaker, draws: Draws) -> Wording:
        groups: dict[str, list[Act]] = {}
        for act in acts:
            groups.setdefault(act.domain, []).append(_in_full(act))
        pick: Callable[[Sequence[str]], str] = draws.pick if self.style == "varied" else lambda ways: ways[0]
        sentences: list[str] = []
        services = 0
        for domain, group in groups.items():
            grammar = self._grammar.services.get(domain)
            if grammar is None:
                sentences += [pick(ways) for act in group if (ways := GENERAL_WAYS[speaker].get(act.intent))]
                continue
            speaks = (_UserSentences if speaker == "user" else _SystemSentences)(grammar, pick, later=self._spoken)
            own = list(speaks.of(self._again(grammar, group)))
            if services and own and not speaks.opens:
                own[0] = self._grammar.about(domain, own[0])
            sentences += own
            services += 1
            self._spoken = True
        return Wording(" ".join(sentences) or NOTHING)

    def _again(self, grammar: ServiceGrammar, acts: Sequence[Act]) -> list[Act]:
        """The acts, those marked that offer the same row as the last offer did."""
        service, marked = grammar.service, []
        for act in acts:
            if act.slot == service.name_slot and act.name == service.act_name("offer") and act.values:
                again = self._offered.get(service.name) == act.values[0]
                self._offered[service.name] = act.values[0]
                marked.append(replace(act, name=_STILL) if again else act)
            else:
                marked.append(act)
        return marked


class _Sentences:
    """What one side says of a service in one turn."""

    speaker: Speaker

    def __init__(self, grammar: ServiceGrammar, pick: Callable[[Sequence[str]], str], *, later: bool) -> None:
        self._grammar, self._service = grammar, grammar.service
        self._words, self._pick, self._later = grammar.words, pick, later
        #: Was it said which service is spoken of?
        self.opens = False

    def of(self, acts: Sequence[Act]) -> Iterator[str]:
        raise NotImplementedError

    def _say(self, kind: str, acts: Sequence[Act], **parts: str | tuple[ItemList, Sequence[Act]]) -> str:
        def fields(quote: Quote) -> dict[str, str]:
            return {name: self._field(name, part, quote) for name, part in parts.items()}

        return self._grammar.say(self.speaker, self._pick(WAYS[self.speaker][kind]), acts, fields)

    def _field(self, name: str, part: str | tuple[ItemList, Sequence[Act]], quote: Quote) -> str:
        if isinstance(part, str):
            return quote(part) if name in ("name", "value") else part
        items, acts = part
        return items.say([(act.slot, act.values[0]) for act in acts], quote)

    def _list(self, texts: Sequence[str], last: str, between: str = ", ") -> str:
        return between.join(texts[:-1]) + last + texts[-1] if len(texts) > 1 else "".join(texts)


class _UserSentences(_Sentences):
    speaker = "user"

    def of(self, acts: Sequence[Act]) -> Iterator[str]:
        """Openings and wishes, values of a booking, questions."""
        service, grammar = self._service, self._grammar
        informs = [act for act in acts if act.intent == INFORM]
        given = [act for act in informs if act.slot and act.values and act.values[0] != DONTCARE]
        wishes = [act for act in given if act.slot in service.wishes and act.slot != service.name_slot]
        own = [act for act in wishes if grammar.own_words(act.slot)]
        yield from self._wishes(informs, [act for act in wishes if act not in own])
        for act in own:
            yield self._say("said", [act], said=(grammar.said, [act]))
        for act in given:
            if act.slot == service.name_slot:
                yield self._say("named", [act], name=act.values[0])
        for act in informs:
            if act.values == (DONTCARE,):
                kind = "nothing_else" if not act.slot else "any" if act.slot in service.wishes else "any_booked"
                yield self._say(kind, [act], label=self._words.label(act.slot) if act.slot else "")
        booking = [act for act in given if act.slot in service.booking_slots and act.slot not in service.wishes]
        if booking:
            kind = "book" if len(booking) > 1 and service.rows is not None else "details"
            yield self._say(kind, booking, values=(grammar.values, booking))
        yield from self._questions([act for act in acts if act.intent == REQUEST and act.slot])

    def _wishes(self, informs: Sequence[Act], wishes: Sequence[Act]) -> Iterator[str]:
        opening = [act for act in informs if not act.slot and not act.values]
        self.opens = bool(opening)
        open_ended = [
            act for act in wishes if self._grammar.is_open_ended(act.slot) and not self._grammar.is_clause(act.slot)
        ]
        clauses = [
            act for act in wishes if act not in open_ended and (not opening or self._grammar.is_clause(act.slot))
        ]
        named = [act for act in wishes if act not in open_ended and act not in clauses]
        if opening:
            also = "_also" if self._later else ""
            if self._service.rows is None:
                yield self._say(f"need_booked{also}", opening)
            elif named:
                yield self._say(f"need{also}_with", [*opening, *named], wishes=(self._grammar.wishes, named))
            else:
                yield self._say(f"need{also}", opening)
        if clauses:
            yield self._say("should", clauses, should=(self._grammar.should, clauses))
        if open_ended:
            yield self._say("wish", open_ended, wishes=(self._grammar.wishes, open_ended))

    def _question_kind(self, slot: str) -> str:
        grammar = self._grammar
        if grammar.is_state(slot) or grammar.is_deed(slot):
            return "ask_state" if grammar.is_state(slot) else "ask_deed"
        if grammar.is_open_ended(slot):
            return "ask_open"
        return "ask_yes" if grammar.asks_truth(slot) else "ask_several"

    def _questions(self, acts: Sequence[Act]) -> Iterator[str]:
        kinds: dict[str, list[Act]] = {}
        for act in acts:
            kinds.setdefault(self._question_kind(act.slot), []).append(act)
        for kind, asked in kinds.items():
            labels = [self._words.label(act.slot) for act in asked]
            the = "" if kind in ("ask_open", "ask_state", "ask_deed") else "the "
            alone = kind == "ask_several" and len(asked) == 1 and not self._grammar.is_plural(asked[0].slot)
            yield self._say("ask" if alone else kind, asked, labels=self._list(labels, f" and {the}", f", {the}"))


class _SystemSentences(_Sentences):
    speaker = "system"

    def of(self, acts: Sequence[Act]) -> Iterator[str]:
        """What there is not, what is offered and told, questions, and what is booked with all that belongs to it."""
        service = self._service
        booked = [act for act in acts if act.name == service.act_name("book")]
        questions = [act for act in acts if act.intent == REQUEST]
        by_intent = {
            intent: [act for act in acts if act.intent == intent and act not in booked]
            for intent in (NO_OFFER, NO_BOOK, SELECT)
        }
        if none := by_intent[NO_OFFER]:
            yield self._none(none)
        if refused := by_intent[NO_BOOK]:
            yield self._refusal("no_book", refused, "values", self._grammar.values)
        if choice := by_intent[SELECT]:
            yield self._choice(choice)
        spoken = [*booked, *questions, *none, *refused, *choice]
        yield from self._offers([act for act in acts if act not in spoken and act.slot and act.values])
        for act in questions:
            yield self._question(act)
        if booked:
            yield self._say(
                "booked", [act for act in booked if not act.slot] or [replace(booked[0], slot="", values=())]
            )
        for act in booked:
            if act.slot and act.values:
                yield self._told(act)

    def _none(self, acts: Sequence[Act]) -> str:
        grammar = self._grammar
        clauses = [act for act in acts if act.slot in self._service.wishes and grammar.is_clause(act.slot)]
        wishes = [act for act in acts if act not in clauses]
        if not clauses:
            return self._refusal("no_offer", acts, "wishes", grammar.wishes)
        holes = {"clauses": (grammar.clauses, clauses)}
        if not wishes:
            return self._say("no_offer_that", clauses, **holes)
        return self._say("no_offer_with_that", [*wishes, *clauses], wishes=(grammar.wishes, wishes), **holes)

    def _refusal(self, kind: str, acts: Sequence[Act], field: str, items: ItemList) -> str:
        given = [act for act in acts if act.slot and act.values]
        return self._say(f"{kind}_with", given, **{field: (items, given)}) if given else self._say(kind, acts)

    def _choice(self, acts: Sequence[Act]) -> str:
        def names(quote: Quote) -> Mapping[str, str]:
            return {"names": self._list([quote(act.values[0]) for act in acts], " and ")}

        if not any(act.values for act in acts):
            return self._say("choose_any", acts)
        return self._grammar.say("system", self._pick(WAYS["system"]["choose"]), acts, names)

    def _offers(self, acts: Sequence[Act]) -> Iterator[str]:
        for act in acts:
            if act.slot == CHOICE:
                yield self._say("found", [act], count=act.values[0])
        for act in acts:
            if act.slot == self._service.name_slot:
                kind = "still" if act.name == _STILL else "told_name" if act.intent == INFORM else "offer"
                yield self._say(kind, [_inform(act)], name=act.values[0])
        yield from (self._told(act) for act in acts if act.slot not in (CHOICE, self._service.name_slot))

    def _told(self, act: Act) -> str:
        label, value = self._words.label(act.slot), act.values[0]
        if act.slot == self._service.name_slot:
            return self._say("told_name", [_inform(act)], name=value)
        if value == UNKNOWN:
            return self._say("unknown", [_inform(act)], label=label)
        wish = self._service.wishes.get(act.slot)
        if self._grammar.asks_truth(act.slot) and (meaning := truth(value)) is not None:
            if self._grammar.is_state(act.slot):
                return self._say("is_so" if meaning else "is_not_so", [_inform(act)], label=label)
            if self._grammar.is_deed(act.slot):
                deed = self._grammar.deed(act.slot)
                return self._say("does" if meaning else "does_not", [_inform(act)], label=label, deed=deed)
            return self._say("told_short", [_inform(act)], label=label, value="yes" if meaning else "no")
        if self._grammar.is_counted(act.slot) and value.isdecimal():
            return self._say("told_count", [_inform(act)], counted=(self._grammar.counted, [_inform(act)]))
        kind = "told_plural" if self._grammar.is_plural(act.slot) else "told"
        listed = wish is not None and wish.match == "contains"
        if listed or self._grammar.is_open_ended(act.slot) or value.count(" ") >= _LONG_TEXT:
            kind = "told_short"
        value = self._grammar.told_value(act.slot, value)
        return self._say(kind, [_inform(act)], label=label, value=value)

    def _question(self, act: Act) -> str:
        label = self._words.label(act.slot)
        if asked := self._grammar.own_question(act.slot):
            return asked
        return self._say(self._question_kind(act.slot), [act], label=label)

    def _question_kind(self, slot: str) -> str:
        wish = self._service.wishes.get(slot)
        counted = self._grammar.is_plural(slot)
        if wish is None:
            takes = self._service.booking_slots.get(slot)
            kind = takes.kind if takes is not None else ""
            if self._grammar.is_question(slot):
                counts = kind == "number" and self._words.label(slot).lower().startswith("how ")
                return "how_many_of_it" if counts else "under_booked"
            if self._grammar.is_open_ended(slot):
                return "under_booked"
            return "how_many_booked" if counted and kind == "number" else "which_booked"
        if wish.match == "yes-no":
            grammar = self._grammar
            return "want_state" if grammar.is_state(slot) else "want_deed" if grammar.is_deed(slot) else "want_it"
        if wish.match == "contains" and counted:
            return "which_among"
        if wish.timed and wish.match in ("at-least", "at-most"):
            return "earliest" if wish.match == "at-least" else "latest"
        if wish.match == "at-most":
            return "limit"
        return "how_many" if wish.match == "at-least" and counted else "which"


def _inform(act: Act) -> Act:
    """What is told of a row or a booking is read as told; that it belongs to the booking, the sentence before says."""
    return replace(act, name=f"{name_halves(act.name)[0]}-Inform")


def _in_full(act: Act) -> Act:
    """The same with times as nobody can mistake them: "6:30" might be one of the afternoon, "06:30" is not; and with
    days as they are written."""
    if not any(_ONE_DIGIT.fullmatch(value) or value in DAYS for value in act.values):
        return act
    return replace(
        act,
        values=tuple(
            value.capitalize() if value in DAYS else f"0{value}" if _ONE_DIGIT.fullmatch(value) else value
            for value in act.values
        ),
    )
