"""What a user's text says of one service: wishes, values of a booking, questions.

A value belongs to the slot whose name stands nearest; one without a name to what the assistant asked for, else to the
only slot that can have it. Later values correct earlier ones, and a value that is denied is none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from dialgauge.agents.speech.nlu import ParseContext
from dialgauge.agents.speech.vocabulary import ServiceVocabulary
from dialgauge.dialogue import DONTCARE, Act
from dialgauge.intents import REQUEST
from dialgauge.values import BoundReply, Place, ReplyText, ToldValue, phrase_of
from dialgauge.worlds.domain import ASKED, act

GENERAL_WORDS = {
    "bye": re.compile(r"\b(?:good ?bye|bye|that(?:'s| is) all|that will be all|see you|farewell)\b"),
    "thank": re.compile(r"\b(?:thanks|thank you|thx|cheers|appreciate)\b"),
    "greet": re.compile(r"^\W*(?:hello|hi|hey|good (?:morning|evening|afternoon|day))\b"),
    "affirm": re.compile(
        r"^\W*(?:yes|yep|yeah|sure|ok|okay|correct|sounds good|perfect|please do|go ahead|that works)\b"
    ),
    "negate": re.compile(r"^\W*(?:no|nope|not really)\b(?! \w+ (?:is|are))"),
}
_ANY = re.compile(
    r"\b(?:do ?n't|do not|does ?n't|does not|did ?n't) (?:really )?(?:care|mind|matter)\b|\bany\b|\bwhatever\b"
    r"|\bno (?:real |particular )?preference|\banything (?:is|works|will)|\bdoesnt matter|\bdont care|\bup to you"
    r"|\beither is|\bnot (?:important|picky|fussy)"
)
_NOTHING_ELSE = re.compile(r"\bnothing else (?:matters|is important)|\bno other (?:wishes|requirements|preferences)")
_REQUESTING = re.compile(
    r"\b(?:what(?:'s| is| are|s)?|which|when|where|who|how (?:much|many|long|far|late|often|old|tall|high|wide|deep|"
    r"heavy|big|large|fast|loud)|tell me|give me|find out|get (?:me )?(?:the|its|their)|know|need (?:the|its|their)|"
    r"(?:could|can|may) i (?:get|have)|provide|is there|(?:does|has|is|can|will) (?:it|he|she|this|that)|"
    r"(?:do|have|are) they|are there|send me|do you have the|i want (?:the|its|their)|about the)\b"
)
#: Questions that name no slot: how much something is, and what is asked for with "how tall" and the like.
_COST = re.compile(r"\bhow much (?:is|are|does|do|would|will|for)\b|\b(?:costs?|charges?|expensive|price)\b")
_MEASURED = {
    "tall": ("height",),
    "high": ("height",),
    "wide": ("width",),
    "deep": ("depth",),
    "long": ("length", "duration"),
    "heavy": ("weight",),
    "old": ("age", "year"),
    "big": ("size", "area"),
    "large": ("size", "area"),
    "far": ("distance",),
    "fast": ("speed",),
    "loud": ("noise",),
}
_MEASURE = re.compile(rf"\bhow ({'|'.join(_MEASURED)})\b")
#: "Who grows it?" asks for the grower.
_WHO = re.compile(r"\bwho(?: is| 's| are| will| does)? (\w{3,}?)(?:e?s|ed|ing)?\b(?! you)")
#: Polite questions that want something done, and ask for nothing to be told.
WANTING = re.compile(
    r"\b(?:find me|find us|looking for|search for|book|reserve|arrange|i(?: also)? need an?|i want an?|get me an?|"
    r"i 'd like (?:an?|it) |do you have an?y?|should (?:be|have)|show me)\b"
)
_NOT = frozenset(("not", "n't", "except", "without", "no", "than"))
_BOOKING = re.compile(
    r"\b(?:please take|i(?: 'll|'ll| will) take|buy|book|reserve|reservation|booking|order|arrange|schedule|"
    r"put me down|sign me up)\b"
)
_VERBS = frozenset(("book", "reserve", "order", "know", "have", "find", "take", "get", "see", "arrange", "ask"))
#: What stands between a label and its text, and what follows a text and is none.
_LEADING = frozenset(
    (":", "is", "at", "from", "to", "in", "should", "be", "=", "it", "'s", ",", "will", "please", "use")
)
_POLITE = frozenset(("please", "thanks", "thank", "i", "then", "could", "can"))
_SET = re.compile(r"(?:should be|must be|is|:|=)(?: |$)")


class ServiceTalk:
    """What a text says of one service."""

    def __init__(self, words: ServiceVocabulary, reply: ReplyText, known: ParseContext) -> None:
        self._words, self._service, self._reply, self._known = words, words.service, reply, known
        self._bound = BoundReply(reply, words.slots, {}, questions=True)
        self._nouns = reply.phrases(dict.fromkeys(words.phrases, (words.service.name,)))
        self._asked = [
            act.slot for act in known.own if act.intent == REQUEST and act.domain in (words.service.name, "booking")
        ]
        self._given = tuple(dict.fromkeys((*self._service.wishes, *self._service.booking_slots)))

    def acts(self, *, alone: bool) -> Iterator[Act]:
        """Wishes, values of a booking, questions."""
        inform, request = self._service.act_name("inform"), self._service.act_name("request")
        given = self._values(alone)
        for slot, value in given.items():
            yield act(inform, slot, value)
        lower = self._reply.text.lower()
        if _NOTHING_ELSE.search(lower):
            for slot in self._service.wishes:
                if slot not in given and slot != self._service.name_slot:
                    yield act(inform, slot, DONTCARE)
        for slot in self._requests(given):
            yield act(request, slot, ASKED)
        if not given and _BOOKING.search(lower) and self._service.book is not None:
            yield act(inform)

    def _values(self, alone: bool) -> dict[str, str]:
        """Slots with their values, the last said of each."""
        candidates: dict[tuple[int, int], list[tuple[str, str, ToldValue]]] = {}
        given: dict[str, tuple[int, str]] = {}
        for name in self._given:
            slot = self._words.slots[name]
            if slot.kind == "yes-no":
                polarity = self._yes_no(name)
                if polarity:
                    given[name] = (0, polarity)
                continue
            for told_value in self._bound.told(slot):
                phrase = told_value.place
                if self._denied(phrase.first) or self._in_label(phrase, name):
                    continue
                candidates.setdefault((phrase.first, phrase.last), []).append((name, slot.kind, told_value))
        names = self._reply.phrases(self._words.name_phrases)
        if names and self._service.name_slot:
            given[self._service.name_slot] = (names[-1].first, names[-1].value)
        widest = [
            span
            for span in sorted(candidates)
            if not any(other != span and other[0] <= span[0] and span[1] <= other[1] for other in candidates)
        ]
        for span in widest:
            choice = self._choose(candidates[span], alone)
            if choice is not None:
                name, told_value = choice
                given[name] = (span[0], self._signed(told_value, name))
        typed = {span[0] for span in widest if any(kind not in ("text", "list") for _, kind, _ in candidates[span])}
        given |= self._open_texts(given, typed)
        result = {name: value for name, (_, value) in sorted(given.items(), key=lambda item: item[1][0])}
        return result | dict.fromkeys(self._indifferent(result), DONTCARE)

    def _signed(self, told_value: ToldValue, name: str) -> str:
        """A value as the domain writes it, with the minus that stands before a number."""
        value, tokens, first = _as_value(told_value, name, self._words), self._reply.tokens, told_value.place.first
        if self._words.slots[name].kind != "number" or not first or not value[:1].isdigit():
            return value
        sign = tokens[first - 1]
        apart = first < 2 or tokens[first - 2].end < sign.start
        return f"-{value}" if sign.text in ("-", "−") and sign.end == tokens[first].start and apart else value

    def _choose(self, options: list[tuple[str, str, ToldValue]], alone: bool) -> tuple[str, ToldValue] | None:
        """The slot that a value is meant for."""
        labelled = [
            (name, told_value)
            for name, _, told_value in options
            if self._bound.owner(told_value.place, self._words.slots[name]) == name
        ]
        if labelled:
            asked = [candidate for candidate in labelled if candidate[0] in self._asked]
            return (asked or self._booked_first(labelled))[0]
        loose = [
            (name, told_value)
            for name, _, told_value in options
            if not self._bound.owner(told_value.place, self._words.slots[name])
        ]
        asked = [candidate for candidate in loose if candidate[0] in self._asked]
        if asked:
            return asked[0]
        words = [(name, told_value) for name, kind, told_value in options if kind in ("text", "list", "day")]
        if words:
            return words[0]
        times = [(name, told_value) for name, kind, told_value in options if kind == "time"]
        if len(times) == 1 and alone:  # "candidate Ann Lee, at 20:00": a candidate is no time
            return times[0]
        if alone and len(loose) > 1 and _BOOKING.search(self._reply.text.lower()):
            loose = [candidate for candidate in loose if candidate[0] in self._service.booking_slots]
        return loose[0] if len(loose) == 1 and alone else None

    def _booked_first(self, options: list[tuple[str, ToldValue]]) -> list[tuple[str, ToldValue]]:
        """Where a wish and a booking have a slot of the same name, what is spoken of decides."""
        booking = bool(_BOOKING.search(self._reply.text.lower()))
        return sorted(options, key=lambda option: (option[0] in self._service.booking_slots) is not booking)

    def _denied(self, index: int) -> bool:
        before = self._reply.lower[max(0, index - 2) : index]
        return bool(before) and (
            before[-1] in _NOT or (len(before) > 1 and before[0] in ("not", "n't") and before[1] in ("a", "the", "in"))
        )

    def _in_label(self, phrase: Place[str], name: str) -> bool:
        """Is it a part of what another slot is called, as the day in "comes on Sundays"?"""
        labels = self._bound.labels.get(self._reply.tokens[phrase.first].segment, ())
        return any(
            label.first <= phrase.first and phrase.last <= label.last and label.last - label.first > 1
            for label in labels
            if label.value != name
        )

    def _yes_no(self, name: str) -> str:
        slot = self._words.slots[name]
        labels = [label for places in self._bound.labels.values() for label in places if label.value == name]
        if not labels:
            return self._bare() if name in self._asked else ""
        first, last = self._bound.scope(labels[0])
        around = self._reply.lower[first:last]
        text = " ".join(around)
        if _ANY.search(text) or self._is_question(labels[0].first):
            return ""
        polarity = self._bound.polarity(slot, alone=False)
        if polarity == "no" or any(word in _NOT for word in around[: labels[0].first - first][-2:]):
            return "no"
        return "yes" if polarity in ("yes", "perhaps", "both") else ""

    def _bare(self) -> str:
        lower = self._reply.text.lower()
        if GENERAL_WORDS["affirm"].search(lower):
            return "yes"
        return "no" if GENERAL_WORDS["negate"].search(lower) else ""

    def _is_question(self, index: int) -> bool:
        segment = self._reply.tokens[index].segment
        words = " ".join(self._reply.segment(segment))
        return bool(_REQUESTING.search(words)) and not re.search(
            r"\b(?:i need|i'd like it|looking for|find me|should)\b", words
        )

    def _text_labels(self, name: str) -> list[Place[str]]:
        """Where the label of a text stands, other than in a question."""
        places = [label for some in self._bound.labels.values() for label in some if label.value == name]
        return [label for label in sorted(places, key=lambda label: label.first) if not self._is_question(label.first)]

    def text_places(self) -> set[int]:
        """The places of words that belong to texts which the booking takes."""
        return {
            index
            for name, kind in self._service.booking_slots.items()
            if kind.kind == "text"
            for label in self._text_labels(name)
            for index in range(label.last, self._bound.scope(label)[1])
        }

    def _open_texts(self, given: dict[str, tuple[int, str]], typed: Collection[int]) -> dict[str, tuple[int, str]]:
        """Text behind its label: "pickup Castle Hill 9, day monday", "the engine should be fusion"; else the whole
        answer. ``typed`` are places of values that no text has: days, times, numbers."""
        booked = [name for name, kind in self._service.booking_slots.items() if kind.kind == "text"]
        wished = [name for name, wish in self._service.search.items() if wish.match == "same"]
        texts = {}
        for name in dict.fromkeys((*booked, *wished)):
            if name in given or self._words.slots[name].kind not in ("text", "code"):
                continue
            labels = self._text_labels(name)
            for label in labels:
                _, last = self._bound.scope(label)
                if name not in booked and not _SET.match(" ".join(self._reply.lower[label.last : label.last + 2])):
                    continue
                words = self._verbatim(label.last, last, typed)
                verb = words.partition(" ")[0].lower() in _VERBS  # "I'd like to book" goes nowhere
                about = " ".join(self._reply.segment(self._reply.tokens[label.first].segment))
                if words and not verb and not (name not in booked and _ANY.search(about)):
                    texts[name] = (label.first, words)
            alone = self._asked == [name] and name in booked and not labels
            if name not in texts and alone and len(self._reply.tokens) <= 12:
                texts[name] = (0, self._verbatim(0, len(self._reply.tokens), typed))
        return {name: text for name, text in texts.items() if text[1]}

    def _verbatim(self, first: int, last: int, typed: Collection[int]) -> str:
        """The words as they stand, up to the end of the sentence or to a value of another kind."""
        tokens = self._reply.tokens
        while first < last and tokens[first].text.lower() in _LEADING:
            first += 1
        for index in range(first, last):
            text, following = tokens[index].text, tokens[index + 1].text.lower() if index + 1 < last else ""
            separates = text == "," or (text.lower() == "and" and index > first)
            other = not following or following in _POLITE or {index + 1, index + 2} & {*typed}
            if text in (".", "?", "!", ";") or (separates and other):
                last = index
                break
        return self._reply.text[tokens[first].start : tokens[last - 1].end].strip() if first < last else ""

    def _requests(self, given: dict[str, str]) -> Iterator[str]:
        seen = set()
        for segment, places in sorted(self._bound.labels.items()):
            words = " ".join(self._reply.segment(segment))
            asks = segment in self._reply.questions or _REQUESTING.search(words)
            if not asks or WANTING.search(words):
                continue
            for label in places:
                slot = label.value
                if (
                    slot in self._service.askable
                    and slot not in given
                    and slot not in seen
                    and not self._shadowed(label, places, given)
                ):
                    seen.add(slot)
                    yield slot
        if not seen:
            yield from (slot for slot in self._described() if slot not in given)

    def _described(self) -> Iterator[str]:
        """What a question asks for without naming it: "How much is it?", "How tall does it get?", "Who grows it?"."""
        lower, slots = self._reply.text.lower(), self._words.slots
        labels = {slot: self._words.label(slot).lower().split() for slot in self._service.askable if slot in slots}
        if WANTING.search(" ".join(self._reply.lower)) or not (self._reply.questions or _REQUESTING.search(lower)):
            return
        if _COST.search(lower):
            yield from [slot for slot in labels if slots[slot].money][:1]
        elif measure := _MEASURE.search(lower):
            yield from [slot for slot, words in labels.items() if {*words} & {*_MEASURED[measure[1]]}][:1]
        elif doer := _WHO.search(lower):
            named = {f"{doer[1]}{ending}" for ending in ("er", "r", "or")}
            yield from [slot for slot, words in labels.items() if {*words} & named][:1]

    def _shadowed(self, label: Place[str], places: Sequence[Place[str]], given: dict[str, str]) -> bool:
        """Does the same label stand for another slot that has a value, or that people would sooner ask for?"""
        if any(noun.first <= label.first < noun.last for noun in self._nouns):
            return True
        same = [other.value for other in places if other.first == label.first]
        if any(other in given for other in same):
            return True
        exact = [name for name in same if _is_name(self._words, name, label, self._reply)]
        return bool(exact) and label.value not in exact

    def _indifferent(self, given: dict[str, str]) -> Iterator[str]:
        """Slots that the user has no wish about."""
        lower = self._reply.text.lower()
        if not _ANY.search(lower):
            return
        named = False
        for segment, places in self._bound.labels.items():
            if not _ANY.search(" ".join(self._reply.segment(segment)).replace(" n't", "n't")):
                continue
            for label in places:
                inside = any(noun.first <= label.first < noun.last for noun in self._nouns)
                if label.value in self._service.search and label.value not in given and not inside:
                    named = True
                    yield label.value
        if not named:
            yield from (slot for slot in self._asked if slot in self._given and slot not in given)


def _is_name(words: ServiceVocabulary, name: str, label: Place[str], reply: ReplyText) -> bool:
    text = " ".join(reply.lower[label.first : label.last])
    return phrase_of(text) == phrase_of(words.label(name))


def _as_value(told_value: ToldValue, name: str, words: ServiceVocabulary) -> str:
    """As the domain writes it: of a time with two meanings the one that people keep business at."""
    if words.slots[name].kind != "time":
        return told_value.value
    times = told_value.value.split("|")
    return next((time for time in times if "07:00" <= time < "19:00"), times[0]) if len(times) > 1 else times[0]
