"""What a simulated user understands of an assistant that speaks as it likes.

Found, booked and refused are read from the assistant's calls, not from its words. An answer is any value of the kind
that was asked for: the user does not know the right one. What the assistant asks is recognised by the slot's name in a
question; where nothing is recognised at all, the user goes on by itself (``PersistentUser``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from dialgauge.agents.manners import BYE
from dialgauge.agents.speech.vocabulary import ServiceVocabulary, Vocabulary
from dialgauge.dialogue import Act, Call, Turn
from dialgauge.intents import INFORM, REQUEST
from dialgauge.values import BoundReply, ReplyText, phrase_of
from dialgauge.worlds.domain import Role, act

_BYE = re.compile(
    r"\b(?:good ?bye|bye(?:-bye)?|farewell|"
    r"have a (?:nice|great|good|lovely|wonderful) (?:day|evening|time|trip|stay))\b"
)
_ASKING = re.compile(
    r"\b(?:please (?:tell|let|give|provide|specify|choose|enter)|let me know|tell me|i(?:'ll| will)? (?:just )?need|"
    r"could (?:you|i)|may i|which|what|when|where|how (?:many|long|much)|do you (?:want|need|have|prefer|mind|care)|"
    r"would you|specify|any preference|your)\b"
)
#: Words of any reply, which a name may be too.
_ORDINARY = frozenset(map(phrase_of, ("yes", "no", "any", "none", "which", "what", "one", "sure", "monday", "here")))


class FreeListener:
    """Hears one conversation's assistant."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._taken: dict[str, str] = {}
        #: Services that were searched since the last time one of theirs was named.
        self._unnamed: set[str] = set()

    def hear(self, turn: Turn, own: Sequence[Act], active: str) -> tuple[Act, ...]:
        """The acts in a turn; ``own`` is what the user said before it, ``active`` the service it speaks of."""
        services = [call.domain for call in turn.calls or () if call.domain in self._vocabulary]
        services += [act.domain for act in own if act.domain in self._vocabulary]
        if active in self._vocabulary:
            services.append(active)
        reply = ReplyText(turn.text)
        acts: list[Act] = []
        for service in dict.fromkeys(services):
            calls = [call for call in turn.calls or () if call.domain == service]
            asked = [act.slot for act in own if act.domain == service and act.intent == REQUEST]
            values = [act.values[0] for act in own if act.intent == INFORM and act.values]
            acts += self._of_service(
                self._vocabulary[service], reply, turn.text, calls, asked, values, service == active
            )
        if _BYE.search(turn.text.lower()):
            acts.append(BYE)
        return tuple(dict.fromkeys(acts))

    def _of_service(
        self,
        words: ServiceVocabulary,
        reply: ReplyText,
        text: str,
        calls: Sequence[Call],
        asked: Sequence[str],
        user_values: Collection[str],
        active: bool,
    ) -> Iterator[Act]:
        service = words.service
        spoken = [phrase.value for phrase in reply.phrases(words.name_phrases)]
        names = [name for name in dict.fromkeys(spoken) if _is_meant(words, name, text)]
        searches = [call for call in calls if call.name == "search"]
        bookings = [call for call in calls if call.name != "search"]
        if searches:
            self._unnamed.add(service.name)
        booked = bool(bookings) and not bookings[-1].failed
        if booked:
            book, values = service.act_name("book"), words.reader.heard(text, service.gives)
            yield from [act(book, slot, value) for slot, value in values.items()] or [act(book)]
        elif bookings and bookings[-1].result == "refused":
            yield act(service.act_name("no_book"))
        elif searches and searches[-1].found == 0 and not self._offered(words, reply, user_values):
            yield act(service.act_name("no_offer"))
            return
        elif not asked or not self._mentions_only(words, names, user_values):
            yield from self._named(words, names, user_values)
        explained = {*user_values, *names, *(str(call.found) for call in searches if call.found is not None)}
        gives = service.gives if booked else ()
        wanted = [slot for slot in asked if slot not in gives]
        for slot, value in words.reader.heard(text, wanted, explained).items():
            yield act(service.act_name("inform"), slot, value)
        if active and not bookings:
            searched = {slot for call in searches for slot in call.arguments}
            yield from self._questions(words, reply, {*asked, *searched})

    def _offered(self, words: ServiceVocabulary, reply: ReplyText, user_values: Collection[str]) -> bool:
        """Is something named that does not merely repeat what the user said?"""
        repeated = {phrase_of(value) for value in user_values}
        named = (phrase.value for phrase in reply.phrases(words.whole_names))
        return any(phrase_of(name) not in repeated and _is_meant(words, name, reply.text) for name in named)

    def _mentions_only(self, words: ServiceVocabulary, names: Sequence[str], user_values: Collection[str]) -> bool:
        """Are those that are named others than the one spoken of? "If you'd rather ring the Hall" offers no hall."""
        taken = self._taken.get(words.service.name, "")
        return bool(taken) and words.service.name not in self._unnamed and not {taken, *user_values} & {*names}

    def _named(self, words: ServiceVocabulary, names: Sequence[str], user_values: Collection[str]) -> Iterator[Act]:
        """One that is spoken of; of several the one already taken, else they are to choose from."""
        service = words.service
        taken = self._taken.get(service.name, "")
        if names:
            self._unnamed.discard(service.name)
        if len(names) > 1 and (known := next((name for name in names if name == taken), "")):
            names = [known]
        if len(names) == 1:
            self._taken[service.name] = names[0]
            yield act(service.act_name("offer"), service.name_slot, names[0])
            return
        select = service.act_name("select") or f"{service.prefix}-Select"
        for name in names:
            yield act(select, service.name_slot, name)

    def _questions(self, words: ServiceVocabulary, reply: ReplyText, asked: Collection[str]) -> Iterator[Act]:
        service = words.service
        askable = [slot for slot in (*service.search, *service.booking_slots) if slot not in asked]
        labels: dict[str, tuple[str, ...]] = {}
        for slot in words.slots:  # all of them, lest "price per hour" ask for hours
            for phrase in words.slots[slot].labels:
                labels[phrase] = (*labels.get(phrase, ()), slot)
        segments = {token.segment for token in reply.tokens}
        for segment in sorted(segments):
            tokens = reply.segment(segment)
            field = tokens[-1] == ":"  # a form: "Frame size:"
            if segment not in reply.questions and not field and not _ASKING.search(" ".join(tokens)):
                continue
            for label in reply.phrases(labels):
                if label.value not in askable:
                    continue
                if reply.tokens[label.first].segment == segment and not self._answered(
                    words, reply, label.value, segment
                ):
                    role: Role = "request" if label.value in service.search else "ask_booking"
                    yield act(service.act_name(role), label.value, "?")

    def _answered(self, words: ServiceVocabulary, reply: ReplyText, slot: str, segment: int) -> bool:
        """Is a value beside the label ("arrival time: 10:57, book?") or in the next segment ("The fee? 12 euros.")?"""
        bound, spoken = BoundReply(reply, words.slots, {}, questions=True), words.slots[slot]
        places = [told.place for told in bound.told(spoken) if bound.owner(told.place, spoken) == slot]
        if any(reply.tokens[phrase.first].segment == segment for phrase in places):
            return True
        if segment not in reply.questions or segment + 1 in reply.questions:
            return False
        following = " ".join(reply.segment(segment + 1))
        return bool(words.reader.heard(following, [slot]))


def _is_meant(words: ServiceVocabulary, name: str, text: str) -> bool:
    """Is a name meant? One that is also an ordinary word, such as "The Book" of books, only as it is written."""
    if phrase_of(name) not in words.phrases and phrase_of(name) not in _ORDINARY:
        return True
    written = name.upper() if text.isupper() else name
    return re.search(rf"(?<!\w){re.escape(written)}", text) is not None
