"""Text and calls into acts, for partners that give no acts: people, language models, systems of somebody else.

Only what has a shape or stands in the domain's vocabulary is read: a value behind its slot's label, near it, or where
nothing else of its kind was asked for. Found, booked and refused are read from a system's calls. What cannot be placed
is left alone: nothing is denied, retracted or guessed here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from dialgauge.agents.vocabulary import (
    BYE,
    Phrase,
    Place,
    ServiceWords,
    SlotWords,
    Vocabulary,
    Words,
    is_any,
    joined,
    phrase_of,
)
from dialgauge.dialogue import DONTCARE, Act, Call, Turn
from dialgauge.intents import INFORM, REQUEST
from dialgauge.values import minutes, truth
from dialgauge.worlds.domain import ASKED, GENERAL, UNKNOWN, act

#: Plainly right, plainly another value, perhaps either, or nothing that could be the value.
Status: TypeAlias = Literal["right", "other", "unsure", "none"]

_GENERAL = {
    "bye": re.compile(r"\b(?:good ?bye|bye|farewell)\b", re.IGNORECASE),
    "thank": re.compile(r"\b(?:thanks|thank you|cheers)\b", re.IGNORECASE),
    "greet": re.compile(r"^\W*(?:hello|hi|hey|good (?:morning|evening|afternoon))\b", re.IGNORECASE),
    "affirm": re.compile(r"^\W*(?:yes|yeah|sure|ok|okay|correct|perfect|go ahead)\b", re.IGNORECASE),
    "negate": re.compile(r"^\W*(?:no|nope)\b", re.IGNORECASE),
}
_ASKS = re.compile(
    r"\?|:\s*$|\b(?:tell|give|send|let) (?:me|us)\b|\bfind out\b|\b(?:i|we) (?:need|want) (?:the|its)\b", re.IGNORECASE
)
_ANY = re.compile(
    r"\bany\b|\b(?:do(?:es)?n'?t|do(?:es)? not) (?:really )?(?:care|mind|matter)\b|\bno preference\b", re.IGNORECASE
)
_NOTHING_ELSE = re.compile(r"\bnothing else (?:matters|is important)\b", re.IGNORECASE)
_BOOKS = re.compile(r"\b(?:book|reserve|reservation|booking|order)\b", re.IGNORECASE)
_UNKNOWN = re.compile(
    r"\b(?:unknown|not known|not listed|not recorded|no information|not available|n/a|do(?:n'?t| not) know)\b",
    re.IGNORECASE,
)
#: A booking is said to be made; and what keeps such a word from saying so.
_MADE = re.compile(r"\b(?:booked|reserved|confirmed|scheduled|arranged|ordered|completed)\b", re.IGNORECASE)
_NOT = re.compile(
    r"\b(?:not|no|cannot|unable|unfortunately|sorry|afraid|refused|rejected|declined|failed|unavailable|impossible|full|fully|taken"
    r"|could|can|would|shall|if|once|before|already|instead)\b|n't\b",
    re.IGNORECASE,
)
_BOUND = re.compile(r"^(?:at (?:least|most)|from|by|before|after|until)\s+", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“]([^\"”]+)[\"”]")
#: What stands between a label and its value, and before a bound.
_BETWEEN = frozenset(
    (":", "=", "is", "are", "at", "of", "to", "from", "for", "be", "should", "the", "a", "least", "most")
)
#: What stands before a service that is wanted: "a hotel", "need parking". Others are only mentioned.
_BEFORE_NOUN = frozenset(("a", "an", "any", "another", "some", "need", "want", "for", "find", "book"))
_ENDS = frozenset((".", "?", "!", ";", "\n"))
#: Words of any reply, which carry no value.
_ORDINARY_WORDS = (
    "a all am an and anything are as at be can could do else for further give great happy have hello help here hi how "
    "i in is it let may me more my need no of ok okay on please right s shall sure t thank thanks that the there "
    "this to understood us want was we well what which will with would yes you your ll d m re bye goodbye day welcome "
    "moment just so if any alright certainly absolutely"
)
_ORDINARY = frozenset(_ORDINARY_WORDS.split())


class _Reading:
    """One text as one service's words read it."""

    def __init__(self, words: ServiceWords, text: str) -> None:
        self.words, self.text = words, Words(text)
        tokens = self.text.words
        longest = max(map(len, words.names), default=0)
        #: Names of rows that are meant.
        self.names = [place for place in self.text.find(words.names, longest) if self._is_meant(place)]
        named = {at for place in self.names for at in range(place.first, place.last)}
        self.told: dict[str, list[Place]] = {}
        for name, slot in words.slots.items():
            inside = named if name != words.service.name_slot else ()
            self.told[name] = [place for place in slot.read(self.text) if place.first not in inside]
        labels = {phrase: " ".join(phrase) for phrase in words.labels}
        taken = named | {
            at
            for name, places in self.told.items()
            for place in places
            if words.slots[name].kind == "text" and place.last - place.first > 1
            for at in range(place.first, place.last)
        }
        found = self.text.find(labels, max(map(len, labels), default=0))
        self.labels = [place for place in found if not (place.first in taken and place.last - place.first == 1)]
        #: The sentence of each word; an end inside a value ends nothing.
        self.sentence: list[int] = []
        number = 0
        for at, word in enumerate(tokens):
            self.sentence.append(number)
            number += word in _ENDS and at not in taken

    def _is_meant(self, place: Place) -> bool:
        """Is a name meant? One everyday word only if it is written as a name."""
        phrase = self.text.words[place.first : place.last]
        everyday = phrase in self.words.nouns or phrase in self.words.labels or set(phrase) <= _ORDINARY
        return not everyday or place.value in self.text.written(place.first, place.last)

    def slots_of(self, label: Place) -> tuple[str, ...]:
        """The slots that a label may stand for."""
        return self.words.labels[self.text.words[label.first : label.last]]

    def sentences(self) -> Iterator[tuple[int, str]]:
        """The sentences with their numbers."""
        for number in dict.fromkeys(self.sentence):
            inside = [at for at, own in enumerate(self.sentence) if own == number]
            yield number, self.text.written(inside[0], inside[-1] + 1)

    def owner(self, place: Place) -> tuple[str, ...]:
        """The slots whose label stands nearest before a value in its sentence, or right behind it.

        In "The fee? It is 12." it stands in the sentence before.
        """
        sentence = self.sentence[place.first]
        near = [label for label in self.labels if self.sentence[label.first] == sentence]
        behind = [label for label in near if label.first == place.last]
        before = [label for label in near if label.last <= place.first]
        if before and set(self.text.words[before[-1].last : place.first]) <= _BETWEEN:
            return self.slots_of(before[-1])
        if behind and not set(self.text.words[behind[-1].last : behind[-1].last + 1]) & {":", "="}:
            return self.slots_of(behind[0])
        nearest = before or [label for label in self.labels if self.sentence[label.first] == sentence - 1]
        return self.slots_of(nearest[-1]) if nearest else ()

    def own(self, slot: str, taken: Collection[int] = ()) -> list[Place]:
        """Values that stand at the slot's label."""
        return [place for place in self.told[slot] if place.first not in taken and slot in self.owner(place)]

    def loose(self, slot: str, taken: Collection[int]) -> list[Place]:
        """Values without a label."""
        return [place for place in self.told[slot] if place.first not in taken and not self.owner(place)]

    def taken(self, said: Collection[str], others: Mapping[str, str]) -> set[int]:
        """The words of values that were said before, or are the true ones of other slots."""
        known = {phrase: "" for value in (*said, *others.values()) if (phrase := phrase_of(value))}
        places = list(self.text.find(known, max(map(len, known), default=0)))
        for name, told in self.told.items():
            true = others.get(name, "")
            places += [
                place for place in told
                if phrase_of(place.value) in known or (true and self.words.slots[name].same(place.value, true))
            ]  # fmt: skip
        return {at for place in places for at in range(place.first, place.last)}

    def of_others(self, slot: str) -> set[int]:
        """The words of values at the labels of other slots."""
        places = (place for told in self.told.values() for place in told)
        theirs = (place for place in places if (owner := self.owner(place)) and slot not in owner)
        return {at for place in theirs for at in range(place.first, place.last)}

    def behind(self, label: Place) -> str:
        """The text behind a label and a colon, up to the next label, comma or end of the sentence."""
        words, first = self.text.words, label.last + 1
        if first >= len(words) or words[first - 1] not in (":", "=", "is", "are"):
            return ""
        start = self.text.spans[first - 1][1]
        if quoted := _QUOTED.match(self.text.text[start:].lstrip()):
            return quoted[1]
        last = first
        while last < len(words) and words[last] not in ("\n", ";", ",", "?", "!"):
            if words[last] == "." and (last + 1 == len(words) or self.sentence[last] != self.sentence[last + 1]):
                break
            last += 1
        return self.text.written(first, last).strip()

    def polarity(self, slot: str, *, alone: bool) -> str:
        """A plain yes or no: behind the label, in the domain's own words, or as the beginning of the answer."""
        for label in self.labels:
            if slot in self.slots_of(label) and (meaning := truth(self.behind(label))) is not None:
                return "yes" if meaning else "no"
        if places := self.told[slot]:
            return places[0].value
        first = self.text.words[:1]
        return first[0] if alone and first in (("yes",), ("no",)) else ""

    def rest(self, explained: Collection[str], taken: Collection[int] = ()) -> set[str]:
        """The words that carry something: no ordinary ones, no labels, and nothing that is said for another reason."""
        known = set[str]().union(*map(phrase_of, explained)) if explained else set[str]()
        labelled = {at for label in self.labels for at in range(label.first, label.last)}
        return {
            word for at, word in enumerate(self.text.words)
            if word[-1].isalnum() and word not in _ORDINARY | known and at not in labelled and at not in taken
        }  # fmt: skip


class AnswerReader:
    """What one reply tells of the slots of one service."""

    def __init__(self, words: ServiceWords, text: str) -> None:
        self._words, self._reading = words, _Reading(words, text)

    @property
    def names(self) -> list[str]:
        """The rows that are named."""
        return list(dict.fromkeys(place.value for place in self._reading.names))

    def has_label(self, slot: str) -> bool:
        """Is a slot called by its name?"""
        return any(slot in self._reading.slots_of(label) for label in self._reading.labels)

    def _alone(self, slot: SlotWords, asked: Collection[str]) -> bool:
        return sum(self._words.slots[other].kind == slot.kind for other in asked if other in self._words.slots) <= 1

    def heard(self, asked: Sequence[str], explained: Collection[str] = ()) -> dict[str, str]:
        """What somebody who asked for slots takes for answers: any value of the kind asked for."""
        answers = {}
        for name in asked:
            if name in self._words.slots and (value := self._heard(self._words.slots[name], asked, explained)):
                answers[name] = value
        return answers

    def _heard(self, slot: SlotWords, asked: Sequence[str], explained: Collection[str]) -> str:
        reading, alone = self._reading, self._alone(slot, asked)
        if slot.kind == "yes-no":
            if polarity := reading.polarity(slot.name, alone=alone):
                return polarity
        elif places := reading.own(slot.name) or (
            reading.loose(slot.name, reading.taken(explained, {})) if alone else []
        ):
            values = [place.value for place in places] if slot.listed else [places[0].value.partition("|")[0]]
            return "; ".join(dict.fromkeys(values))
        labels = [label for label in reading.labels if slot.name in reading.slots_of(label)]
        text = next(filter(None, map(reading.behind, labels)), "")
        if _UNKNOWN.search(text or reading.text.text) and (text or alone):
            return UNKNOWN
        return text if slot.kind in ("text", "code") else ""

    def status(
        self, slot: SlotWords, truth_: str, asked: Collection[str], said: Collection[str], others: Mapping[str, str]
    ) -> tuple[Status, str]:
        """How the reply answers for a slot whose value is ``truth_``, and with which value; ``others`` are the true
        values of the other slots."""
        reading, alone = self._reading, self._alone(slot, asked)
        explained = {*said, *others.values()}
        unknown = _UNKNOWN.search(reading.text.text) is not None
        taken = reading.taken(said, others)
        if slot.kind == "yes-no":
            answer = reading.polarity(slot.name, alone=alone)
            if answer and truth_ != UNKNOWN:
                return ("right" if truth(answer) == truth(truth_) else "other"), answer
        else:
            own = reading.own(slot.name, taken)
            if truth_ == UNKNOWN and own:
                return "other", own[0].value
            if truth_ != UNKNOWN and self._stands(slot, truth_, own):
                return "right", truth_
            plain = [*reading.told[slot.name]] if slot.kind == "text" else []
            if truth_ != UNKNOWN and (alike := slot.like(truth_)):
                plain += reading.text.places(alike)
            free = [place for place in plain if place.first not in taken]
            wrong = free or own or (reading.loose(slot.name, taken) if alone else [])
            if slot.listed:
                items = {phrase_of(item) for item in truth_.split(";")}
                wrong = [place for place in wrong if phrase_of(place.value) not in items]
            if wrong and truth_ != UNKNOWN:
                several = not free and not own and len({place.value for place in wrong}) > 1
                true, told = set(phrase_of(truth_)), set(phrase_of(wrong[0].value))
                partly = (
                    slot.kind == "text"
                    and not slot.listed
                    and (told <= true or true & reading.rest([*explained, *told]))
                )
                return ("unsure" if several or partly else "other"), wrong[0].value
        labelled = self.has_label(slot.name)
        if unknown or (labelled and truth_ == UNKNOWN):
            return ("right" if truth_ == UNKNOWN else "unsure"), UNKNOWN
        of_others = reading.of_others(slot.name) | taken
        rest = {*reading.text.words} if slot.kind == "yes-no" else reading.rest(explained, of_others)
        shaped = slot.kind in ("number", "time", "code")
        perhaps = rest if truth_ == UNKNOWN else (labelled and not shaped) or slot.may_be_told(rest, truth_)
        return ("unsure" if perhaps else "none"), ""

    def _stands(self, slot: SlotWords, truth_: str, own: Sequence[Place]) -> bool:
        """Does a spelling of the value stand in the reply, with no other one at the slot's own label?"""
        if slot.listed:
            told = {phrase_of(place.value) for place in self._reading.told[slot.name]}
            return {phrase_of(item) for item in truth_.split(";") if item.strip()} <= told
        if own:
            return any(slot.same(place.value, truth_) for place in own)
        if any(slot.same(place.value, truth_) for place in self._reading.told[slot.name]):
            return True
        if slot.kind == "code":
            return joined(truth_) in joined(self._reading.text.text)
        phrase = phrase_of(truth_)
        return any(True for _ in self._reading.text.find({phrase: truth_}, len(phrase)))

    def is_empty(self) -> bool:
        """Is there nothing but ordinary words in it?"""
        return not self._reading.rest(())

    def made(self) -> Literal["made", "not made", ""]:
        """Is a booking said to be made, or not to be? Empty where neither is plain."""
        text = [(said, bool(_NOT.search(said))) for _, said in self._reading.sentences()]
        if any(_MADE.search(said) and not denied and "?" not in said for said, denied in text):
            return "made"
        if any(denied for _, denied in text):
            return "not made"
        forms = [self._words.slots[slot].form for slot in self._words.service.gives]
        return "made" if any(form and form.search(self._reading.text.text) for form in forms) else ""

    def questions(self, told: Collection[str]) -> Iterator[str]:
        """The slots that are asked for: those whose label stands without a value."""
        service = self._words.service
        askable = [slot for slot in (*service.search, *service.booking_slots) if slot not in told]
        for label in self._reading.labels:
            slots = [slot for slot in self._reading.slots_of(label) if slot in askable]
            if slots and not any(self._reading.own(slot) for slot in slots):
                yield slots[0]


class SystemListener:
    """What a simulated user understands of a system: calls first, then words."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        #: The row last taken of each service.
        self._taken: dict[str, str] = {}

    def hear(self, turn: Turn, own: Sequence[Act], active: str) -> tuple[Act, ...]:
        """The acts in a turn; ``own`` is what the user said before it, ``active`` the service it speaks of."""
        calls = [call for call in turn.calls or () if call.domain in self._vocabulary]
        services = [call.domain for call in calls] + [act.domain for act in own if act.domain in self._vocabulary]
        if active in self._vocabulary:
            services.append(active)
        acts: list[Act] = []
        for service in dict.fromkeys(services):
            asked = [act.slot for act in own if act.domain == service and act.intent == REQUEST]
            said = [act.values[0] for act in own if act.intent == INFORM and act.values]
            made = [call for call in calls if call.domain == service]
            acts += self._of_service(self._vocabulary[service], turn.text, made, asked, said, active=service == active)
        if _GENERAL["bye"].search(turn.text):
            acts.append(BYE)
        return tuple(dict.fromkeys(acts))

    def _of_service(
        self, words: ServiceWords, text: str, calls: Sequence[Call], asked: Sequence[str], said: Collection[str],
        *, active: bool,
    ) -> Iterator[Act]:  # fmt: skip
        service, reader = words.service, AnswerReader(words, text)
        names = reader.names
        searches = [call for call in calls if call.name == "search"]
        bookings = [call for call in calls if call.name != "search"]
        booked = bool(bookings) and not bookings[-1].failed
        if booked:
            name, values = service.act_name("book"), reader.heard(service.gives)
            yield from [act(name, slot, value) for slot, value in values.items()] or [act(name)]
            yield from self._named(words, names) if len(names) == 1 else ()
        elif bookings and bookings[-1].result == "refused":
            yield act(service.act_name("no_book"))
        elif searches and searches[-1].found == 0 and not {*names} - {*said}:
            yield act(service.act_name("no_offer"))
            return
        else:
            yield from self._named(words, names)
        explained = {*said, *names, *(str(call.found) for call in searches if call.found is not None)}
        gives = service.gives if booked else ()
        for slot, value in reader.heard([slot for slot in asked if slot not in gives], explained).items():
            yield act(service.act_name("inform"), slot, value)
        if active and not bookings:
            yield from self._asked(
                words, text, reader, {*asked, *(slot for call in searches for slot in call.arguments)}
            )

    def _named(self, words: ServiceWords, names: Sequence[str]) -> Iterator[Act]:
        """One that is spoken of; of several the one already taken, else they are to choose from."""
        service = words.service
        taken = self._taken.get(service.name, "")
        if len(names) > 1 and taken in names:
            names = [taken]
        if len(names) == 1:
            self._taken[service.name] = names[0]
            yield act(service.act_name("offer"), service.name_slot, names[0])
            return
        select = service.act_name("select") or f"{service.prefix}-Select"
        for name in names:
            yield act(select, service.name_slot, name)

    def _asked(self, words: ServiceWords, text: str, reader: AnswerReader, told: Collection[str]) -> Iterator[Act]:
        service, domain = words.service, self._vocabulary.domain
        own = [
            slot
            for slot in (*service.search, *service.booking_slots)
            if (ask := domain.words_for(slot).ask) and ask in text
        ]
        for slot in dict.fromkeys([*own, *reader.questions(told)]):
            yield act(service.act_name("request" if slot in service.search else "ask_booking"), slot, ASKED)


class UserListener:
    """What a system, or the record, understands of a user's words."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        nouns: dict[Phrase, list[str]] = {}
        for name, words in vocabulary.services.items():
            for phrase in words.nouns:
                nouns.setdefault(phrase, []).append(name)
        self._nouns = {phrase: names[0] for phrase, names in nouns.items() if len(names) == 1}

    def hear(self, turn: Turn, own: Sequence[Act], active: str) -> tuple[Act, ...]:
        """The acts in a turn; ``own`` is what the system said before it, ``active`` the service last spoken of."""
        text = turn.text
        acts = [act(f"{GENERAL}-{intent}") for intent, pattern in _GENERAL.items() if pattern.search(text)]
        words = Words(text)
        labels = self._vocabulary[active].labels if active in self._vocabulary else {}
        named = []
        for place in words.find(self._nouns, 9):
            before = words.words[place.first - 1] in _BEFORE_NOUN
            if (before if place.first else words.words[: place.last] not in labels) and place.value not in named:
                named.append(place.value)
        services = [name for name in named if name != active] or [active or self._best(text)]
        for name in services:
            if name in self._vocabulary:
                spoken = list(self._of_service(self._vocabulary[name], text, own))
                service = self._vocabulary[name].service
                opened = name in named and name != active
                if opened and not (spoken and (service.rows is None or service.requires)):
                    acts.append(act(service.act_name("inform")))
                acts += spoken
        return tuple(dict.fromkeys(acts))

    def _best(self, text: str) -> str:
        """The service that has most of the values."""
        counts = {
            name: sum(bool(each.values) for each in self._of_service(words, text, ()))
            for name, words in self._vocabulary.services.items()
        }
        best = max(counts, key=lambda name: counts[name], default="")
        return best if counts.get(best) or len(counts) == 1 else ""

    def _of_service(self, words: ServiceWords, text: str, own: Sequence[Act]) -> Iterator[Act]:
        service, reading = words.service, _Reading(words, text)
        inform, request = service.act_name("inform"), service.act_name("request")
        asked = [
            each.slot for each in own
            if each.intent == REQUEST and each.domain in (service.name, *self._vocabulary.domain.booking_acts)
        ]  # fmt: skip
        given = self._labelled(words, reading)
        given |= {slot: value for slot, value in self._mentioned(words, reading, asked).items() if slot not in given}
        if not given and len(asked) == 1 and len(reading.text.words) <= 12 and not _ANY.search(text):
            kind = service.booking_slots.get(asked[0])
            if kind is not None and kind.kind == "text":
                given = {asked[0]: text.strip(" .")}
            elif words.slots[asked[0]].kind == "yes-no" and (meaning := reading.polarity(asked[0], alone=True)):
                given = {asked[0]: meaning}
        yield from (act(inform, slot, value) for slot, value in given.items())
        if _NOTHING_ELSE.search(text):
            yield act(inform, "", DONTCARE)
        elif not given and _ANY.search(text):
            labelled = [slot for label in reading.labels for slot in reading.slots_of(label) if slot in service.known]
            yield from (act(inform, slot, DONTCARE) for slot in labelled or asked if slot in service.known)
        asks = [
            slot
            for number, said in reading.sentences()
            if _ASKS.search(said)
            for label in reading.labels
            if reading.sentence[label.first] == number
            for slot in reading.slots_of(label)
            if slot in service.askable and slot not in given
        ]
        yield from (act(request, slot, ASKED) for slot in dict.fromkeys(asks))
        if not given and not asks and service.book is not None and _BOOKS.search(text):
            yield act(inform)

    def _labelled(self, words: ServiceWords, reading: _Reading) -> dict[str, str]:
        """Values behind their label and a colon; of a booking's texts the very text."""
        service, given = words.service, dict[str, str]()
        for label in reading.labels:
            text = reading.behind(label)
            for slot in reading.slots_of(label) if text else ():
                if slot not in service.known:
                    continue
                if is_any(text):
                    given[slot] = DONTCARE
                elif value := self._value(words, slot, text):
                    given[slot] = value
        return given

    def _value(self, words: ServiceWords, slot: str, text: str) -> str:
        """What a text behind a label gives for its slot."""
        spoken, takes = words.slots[slot], words.service.booking_slots.get(slot)
        if spoken.kind == "yes-no":
            meaning = truth(text)
            return "" if meaning is None else "yes" if meaning else "no"
        text = _BOUND.sub("", text)
        if spoken.kind == "time" and minutes(text) is not None:
            return text
        whole = next((value for value in spoken.values if phrase_of(value) == phrase_of(text)), "")
        if whole:
            return whole
        places = spoken.read(Words(text))
        if places:
            return _chosen(places[-1].value)
        is_open = (takes is not None and takes.kind == "text") or (
            slot in words.service.search and words.service.search[slot].match == "same"
        )
        return text if is_open and slot != words.service.name_slot and not text.endswith("?") else ""

    def _mentioned(self, words: ServiceWords, reading: _Reading, asked: Collection[str]) -> dict[str, str]:
        """Values without a colon: in the domain's own words, at a label, or of one slot only."""
        service, domain, given = words.service, self._vocabulary.domain, dict[str, str]()
        for slot in service.known:
            own = re.escape(domain.words_for(slot).say).replace(re.escape("{value}"), "(.+?)")
            found = re.search(rf"\b{own}(?=[.,;?!\n]|$)", reading.text.text, re.IGNORECASE) if own else None
            value = self._value(words, slot, found[1]) if found else ""
            spoken = words.slots[slot]
            if value and (value in spoken.values or spoken.kind != "text" or not spoken.values):
                given[slot] = value
        if reading.names and service.name_slot in service.known:
            given.setdefault(service.name_slot, reading.names[-1].value)
        called = reading.text.find(dict.fromkeys(words.nouns, ""), 9)
        nouns = {at for noun in called for at in range(noun.first, noun.last)}
        candidates: dict[tuple[int, int], list[tuple[str, Place]]] = {}
        for slot in service.known:
            for place in reading.told[slot] if slot not in given and slot != service.name_slot else ():
                if place.first not in nouns:
                    candidates.setdefault((place.first, place.last), []).append((slot, place))
        spans = [
            span for span in candidates
            if not any(other != span and other[0] <= span[0] and span[1] <= other[1] for other in candidates)
        ]  # fmt: skip
        for span in sorted(spans):
            options = candidates[span]
            owned = [option for option in options if option[0] in reading.owner(option[1])]
            free = [option for option in options if not reading.owner(option[1])]
            wanted = [option for option in owned or free if option[0] in asked] or owned or free
            if owned or len(wanted) == 1:
                slot, place = wanted[0]
                given[slot] = _chosen(place.value)
        return given


def _chosen(value: str) -> str:
    """Of a time with two meanings the one that people keep business at."""
    times = value.split("|")
    return next((time for time in times if "07:00" <= time < "19:00"), times[0])
