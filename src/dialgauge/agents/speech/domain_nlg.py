"""Sentences for the acts of any domain, from the titles of its services and the words of its slots.

Acts of one service and one purpose become one sentence: what is wanted, what is to be booked, what is asked, what is
offered. Each purpose has a few ways to say it, of which the style ``varied`` draws one and ``plain`` takes the first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from dialgauge.agents.speech.nlg import Wording
from dialgauge.agents.speech.vocabulary import ServiceVocabulary, Vocabulary
from dialgauge.dialogue import DONTCARE, Act, Speaker
from dialgauge.draws import Draws
from dialgauge.intents import INFORM, NO_BOOK, NO_OFFER, REQUEST, SELECT
from dialgauge.worlds.domain import CHOICE, UNKNOWN

_GENERAL = {
    "user": {
        "bye": ("Goodbye.", "Bye!", "That's all, goodbye."),
        "thank": ("Thank you.", "Thanks a lot!", "Thank you very much."),
        "greet": ("Hello.", "Hi there!", "Good morning."),
        "affirm": ("Yes, please.", "Yes, that's right.", "Sure."),
        "negate": ("No, thank you.", "No, not that."),
    },
    "system": {
        "bye": ("Goodbye.", "Have a nice day!", "Goodbye, and thank you."),
        "welcome": ("You're welcome.", "My pleasure.", "Glad to help."),
        "greet": ("Hello.", "Hello! Welcome."),
        "reqmore": ("Is there anything else?", "Can I help you with anything else?", "Anything else today?"),
    },
}
_NEED = ("I'm looking for {title}{wishes}.", "I need {title}{wishes}.", "Can you find me {title}{wishes}?")
_WISH = ("{wishes}.", "{wishes}, please.", "I'd like this: {list}.")
_BOOK_ONLY = ("I'd like to book {title}.", "I need {title}.", "Can you arrange {title} for me?")
_BOOK = ("Please book it: {values}.", "I'd like to book it: {values}.", "Could you book it: {values}?")
_DETAILS = ("For the booking: {values}.", "Please take {values}.", "Put me down for {values}.")
_ASK = ("Could you tell me the {labels}?", "What is the {labels}?", "I'd like to know the {labels}.")
_ANY = ("Any {label} is fine.", "I don't mind about the {label}.", "The {label} doesn't matter.")
_NOTHING_ELSE = ("Nothing else matters.", "Nothing else matters to me.")
_NAMED = ("I'd like {name}.", "Let's take {name}.", "{name}, please.")
_ALSO_NEEDED = ("I also need {title}{wishes}.", "I'm also looking for {title}{wishes}.")
_WHICH = ("Which {label} would you like?", "What {label} do you have in mind?", "What should the {label} be?")
_WANT_IT = ("Should it have {label}?", "Do you need {label}?")
_FOUND = ("I found {count} that fit. ", "There are {count} that fit. ")
_OFFER = ("How about {name}?", "I can offer {name}.", "There is {name}.")
_CHOOSE = ("I have {names}. Which one would you like?", "You can choose between {names}.")
_NONE = ("I'm sorry, there is no {noun}{with_}.", "Unfortunately, I find no {noun}{with_}.")
_REFUSED = ("I'm sorry, that cannot be booked{with_}.", "Unfortunately, the booking failed{with_}.")
_BOOKED = ("It is booked. {told}", "Your booking is made. {told}", "Done, it is booked. {told}")
_TELL = ("The {label} is {value}.",)
_TELL_UNKNOWN = ("I'm afraid the {label} is not known.", "I don't know the {label}.")

_ONE_DIGIT = re.compile(r"\d:[0-5]\d")


class DomainNlg:
    """Words for the acts of users and systems of a domain.

    A user's first sentence about a service says what it wants; "also" is said only once something came before.
    """

    def __init__(self, vocabulary: Vocabulary, style: str = "varied") -> None:
        self._vocabulary, self.style = vocabulary, style
        self._spoken = False

    def generate(self, acts: Sequence[Act], speaker: Speaker, draws: Draws) -> Wording:
        """The acts in words."""
        speaks = _Sentences(self._vocabulary, speaker, draws if self.style == "varied" else None, later=self._spoken)
        self._spoken = True
        groups: dict[str, list[Act]] = {}
        for act in acts:
            groups.setdefault(act.domain, []).append(act)
        sentences = [sentence for domain, said in groups.items() for sentence in speaks.of(domain, said)]
        return Wording(" ".join(sentences) or "Okay.")


class _Sentences:
    """The sentences of one turn."""

    def __init__(self, vocabulary: Vocabulary, speaker: Speaker, draws: Draws | None, *, later: bool) -> None:
        self._vocabulary, self._speaker, self._draws, self._later = vocabulary, speaker, draws, later

    def of(self, domain: str, acts: Sequence[Act]) -> list[str]:
        """What is said of a service, or of none."""
        acts = [_in_full(act) for act in acts]
        if domain not in self._vocabulary:
            return [self._pick(ways) for act in acts if (ways := _GENERAL[self._speaker].get(act.intent))]
        words = self._vocabulary[domain]
        return self._user(words, acts) if self._speaker == "user" else self._system(words, acts)

    def _pick(self, ways: Sequence[str], **parts: str) -> str:
        way = ways[0] if self._draws is None else self._draws.pick(ways)
        return way.format(**parts)

    # The user

    def _user(self, words: ServiceVocabulary, acts: Sequence[Act]) -> list[str]:
        service = words.service
        informs = [act for act in acts if act.intent == INFORM]
        opens = any(not act.slot and not act.values for act in informs)
        given = {act.slot: act.values[0] for act in informs if act.slot and act.values}
        takes = service.book.takes if service.book else {}
        wishes = {slot: value for slot, value in given.items() if slot in service.wishes and value != DONTCARE}
        booking = {slot: value for slot, value in given.items() if slot in takes and slot not in wishes}
        name = wishes.pop(service.name_slot, "") if service.name_slot else ""
        sentences = []
        if opens and service.rows is None:
            sentences.append(self._pick(_BOOK_ONLY, title=service.title))
        elif opens:
            said = f" with {_listed(self._wish(words, *wish) for wish in wishes.items())}" if wishes else ""
            sentences.append(self._pick(_ALSO_NEEDED if self._later else _NEED, title=service.title, wishes=said))
        elif wishes:
            said = _listed(self._should(words, *wish) for wish in wishes.items())
            short = _listed(self._wish(words, *wish) for wish in wishes.items())
            sentences.append(self._pick(_WISH, wishes=f"{said[:1].upper()}{said[1:]}", list=short))
        if name:
            sentences.append(self._pick(_NAMED, name=name))
        for slot, value in given.items():
            if value == DONTCARE:
                sentences.append(self._pick(_ANY, label=words.label(slot)))
        if any(not act.slot and act.values == (DONTCARE,) for act in informs):
            sentences.append(self._pick(_NOTHING_ELSE))
        booking = {slot: value for slot, value in booking.items() if value != DONTCARE}
        if booking:
            said = ", ".join(
                f"{words.label(slot)} {self._value(words, slot, value)}" for slot, value in booking.items()
            )
            sentences.append(self._pick(_BOOK if len(booking) > 1 and not opens else _DETAILS, values=said))
        asked = [words.label(act.slot) for act in acts if act.intent == REQUEST and act.slot]
        if asked:
            sentences.append(self._pick(_ASK, labels=_listed(asked, " and the ", ", the ")))
        return sentences

    def _wish(self, words: ServiceVocabulary, slot: str, value: str) -> str:
        """A wish as what follows "with": "class compact", "at least 4 seats", "no parking"."""
        wish, label = words.service.wishes[slot], words.label(slot)
        if wish.match == "yes-no":
            return label if value.lower() in ("yes", "true") else f"no {label}"
        if wish.match == "contains":
            return f"{value} among the {label}"
        said = self._value(words, slot, value)
        if wish.match in ("at-least", "at-most"):
            least = wish.match == "at-least"
            if wish.timed:
                return f"{label} {value} or {'later' if least else 'earlier'}"
            return f"{label} {'at least' if least else 'at most'} {said}"
        return f"{label} {said}"

    def _should(self, words: ServiceVocabulary, slot: str, value: str) -> str:
        """A wish as a clause: "the class should be compact", "it should have parking"."""
        wish, label, said = words.service.wishes[slot], words.label(slot), self._wish(words, slot, value)
        if wish.match in ("yes-no", "contains"):
            return f"it should have {said}"
        return f"the {label} should be {said.removeprefix(label).strip()}"

    def _value(self, words: ServiceVocabulary, slot: str, value: str) -> str:
        wish = words.service.wishes.get(slot)
        return f"{value} {wish.unit}" if wish is not None and wish.unit and wish.unit not in value else value

    # The system

    def _system(self, words: ServiceVocabulary, acts: Sequence[Act]) -> list[str]:
        service = words.service
        roles: tuple[tuple[str, Callable[[ServiceVocabulary, Sequence[Act]], list[str]]], ...] = (
            (NO_OFFER, self._no_offer),
            (NO_BOOK, self._no_book),
            (SELECT, self._select),
        )
        sentences: list[str] = []
        rest = list(acts)
        for intent, speak in roles:
            own = [act for act in rest if act.intent == intent]
            if own:
                sentences += speak(words, own)
                rest = [act for act in rest if act.intent != intent]
        booked = [act for act in rest if act.name == service.act_name("book")]
        if booked:
            told = " ".join(self._told(words, act.slot, act.values[0]) for act in booked if act.slot and act.values)
            sentences.append(self._pick(_BOOKED, told=told).strip())
        questions = [act for act in rest if act.intent == REQUEST]
        offers = [act for act in rest if act not in booked and act not in questions and act.slot and act.values]
        sentences += self._offer(words, offers)
        return sentences + [self._question(words, act.slot) for act in questions]

    def _offer(self, words: ServiceVocabulary, acts: Sequence[Act]) -> list[str]:
        service = words.service
        count = next((act.values[0] for act in acts if act.slot == CHOICE), "")
        names = [act.values[0] for act in acts if act.slot == service.name_slot]
        others = [act for act in acts if act.slot not in (CHOICE, service.name_slot)]
        sentences = []
        if names:
            found = self._pick(_FOUND, count=count) if count and count != "1" else ""
            sentences.append(found + self._pick(_OFFER, name=names[-1]))
        return sentences + [self._told(words, act.slot, act.values[0]) for act in others]

    def _told(self, words: ServiceVocabulary, slot: str, value: str) -> str:
        label = words.label(slot)
        if value == UNKNOWN:
            return self._pick(_TELL_UNKNOWN, label=label)
        if slot == words.service.name_slot:
            return f"That is {value}."
        return self._pick(_TELL, label=label, value=self._value(words, slot, value))

    def _question(self, words: ServiceVocabulary, slot: str) -> str:
        told = words.service.wishes.get(slot)
        if asked := self._vocabulary.domain.words_for(slot).ask:
            return asked
        return self._pick(_WANT_IT if told is not None and told.match == "yes-no" else _WHICH, label=words.label(slot))

    def _no_offer(self, words: ServiceVocabulary, acts: Sequence[Act]) -> list[str]:
        given = {act.slot: act.values[0] for act in acts if act.slot and act.values}
        said = _listed(self._wish(words, slot, value) for slot, value in given.items() if slot in words.service.wishes)
        return [self._pick(_NONE, noun=words.noun, with_=f" with {said}" if said else "")]

    def _no_book(self, words: ServiceVocabulary, acts: Sequence[Act]) -> list[str]:
        given = [f"{words.label(act.slot)} {act.values[0]}" for act in acts if act.slot and act.values]
        return [self._pick(_REFUSED, with_=f" with {_listed(given)}" if given else "")]

    def _select(self, words: ServiceVocabulary, acts: Sequence[Act]) -> list[str]:
        names = [act.values[0] for act in acts if act.values]
        return [self._pick(_CHOOSE, names=_listed(names))] if names else []


def _in_full(act: Act) -> Act:
    """The same with times as nobody can mistake them: "6:30" might be one of the afternoon, "06:30" is not."""
    if not any(_ONE_DIGIT.fullmatch(value) for value in act.values):
        return act
    return replace(act, values=tuple(f"0{value}" if _ONE_DIGIT.fullmatch(value) else value for value in act.values))


def _listed(parts: object, last: str = " and ", between: str = ", ") -> str:
    texts = list(parts)  # type: ignore[call-overload]
    return between.join(texts[:-1]) + last + texts[-1] if len(texts) > 1 else "".join(texts)
