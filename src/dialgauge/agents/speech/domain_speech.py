"""Speech made from a domain: one vocabulary, its sentences, and both sides' understanding, kept for a whole process."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from dialgauge.agents.manners import NEGATE
from dialgauge.agents.speech.free_listener import FreeListener
from dialgauge.agents.speech.nlu import Parse, ParseContext
from dialgauge.agents.speech.service_talk import GENERAL_WORDS, WANTING, ServiceTalk
from dialgauge.agents.speech.vocabulary import Vocabulary
from dialgauge.dialogue import Act, Ontology, Speaker, Turn
from dialgauge.values import ReplyText
from dialgauge.worlds.domain import GENERAL, Domain, act

if TYPE_CHECKING:
    from dialgauge.agents.speech.domain_grammar import DomainGrammar
    from dialgauge.agents.speech.domain_nlg import DomainNlg


Understanding: TypeAlias = Callable[[Turn, tuple[Act, ...], str], tuple[Act, ...]]
#: The speech of each domain that was asked for, with the records whose identity must not be reused.
_made: dict[tuple[int, int], tuple[Domain, Ontology | None, DomainSpeech]] = {}
_MOST_DOMAINS = 8


class DomainSpeech:
    """How agents without a language model speak and understand in a domain."""

    def __init__(self, domain: Domain, ontology: Ontology | None = None) -> None:
        self.vocabulary = Vocabulary(domain, ontology)
        self._nlu = DomainNlu(self.vocabulary)

    @cached_property
    def grammar(self) -> DomainGrammar:
        """The sentences of the domain; at the level of acts nobody needs them."""
        from dialgauge.agents.speech.domain_grammar import DomainGrammar

        return DomainGrammar(self.vocabulary)

    @classmethod
    def of(cls, domain: Domain, ontology: Ontology | None = None) -> DomainSpeech:
        """The speech of a domain; one serves a whole process."""
        key = (id(domain), id(ontology))
        known = _made.get(key)
        if known is None:
            if len(_made) >= _MOST_DOMAINS:
                _made.pop(next(iter(_made)))
            known = _made[key] = (domain, ontology, cls(domain, ontology))
        return known[2]

    def nlg(self, style: str) -> DomainNlg:
        from dialgauge.agents.speech.domain_nlg import DomainNlg

        return DomainNlg(self.grammar, style)

    def listener(self, speaker: Speaker) -> Understanding:
        """How one conversation's ``speaker`` is understood."""
        free = FreeListener(self.vocabulary).hear if speaker == "system" else self._hear_user

        def hear(turn: Turn, own: tuple[Act, ...], service: str) -> tuple[Act, ...]:
            acts = self.grammar.hear(turn.text, speaker, service)
            return free(turn, own, service) if acts is None else acts

        return hear

    def _hear_user(self, turn: Turn, own: tuple[Act, ...], service: str) -> tuple[Act, ...]:
        return self._nlu.parse(turn.text, ParseContext(own=own, domain=service)).acts


_POINTING = re.compile(r"\b(?:it|its|this|that one|she|her|he|him|his|they|them|their)\b")


class DomainNlu:
    """Understands what users of a domain say."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    @cached_property
    def _called(self) -> dict[str, tuple[str, ...]]:
        called: dict[str, tuple[str, ...]] = {}
        for name, words in self._vocabulary.services.items():
            for phrase in words.phrases:
                called[phrase] = (*called.get(phrase, ()), name)
        return called

    def parse(self, text: str, context: ParseContext | None = None) -> Parse:
        known = context or ParseContext()
        reply = ReplyText(text)
        acts: list[Act] = [
            act(f"{GENERAL}-{intent}") for intent, pattern in GENERAL_WORDS.items() if pattern.search(text.lower())
        ]
        inside: set[int] = set()
        if known.domain in self._vocabulary:  # "note: meet me in the lounge" names no lounge
            inside = ServiceTalk(self._vocabulary[known.domain], reply, known).text_places()
        places = [
            phrase
            for phrase in reply.phrases(self._called)
            if not _is_verb(reply, phrase.first) and phrase.first not in inside
        ]
        named = list(dict.fromkeys(phrase.value for phrase in places))
        services = self._meant(reply, named, known)
        for service in services:
            words = self._vocabulary[service]
            spoken = list(ServiceTalk(words, reply, known).acts(alone=len(services) == 1))
            if service in named and not spoken:
                spoken.append(act(words.service.act_name("inform")))
            acts += spoken
        if any(act.domain != GENERAL for act in acts):
            acts = [act for act in acts if act != NEGATE]
        return Parse(tuple(dict.fromkeys(acts)))

    def _meant(self, reply: ReplyText, named: Sequence[str], known: ParseContext) -> list[str]:
        """The services that are spoken of: named ones, else the current one unless only another has the values."""
        takes_links = [
            name for name in named if known.domain and known.domain in self._vocabulary
            and any(name in targets for targets in self._vocabulary[known.domain].service.refers.values())
        ]  # fmt: skip
        if WANTING.search(" ".join(reply.lower)):
            takes_links = [name for name in takes_links if self._booked_with(reply, name)]
        others = [name for name in named if name not in takes_links or name == known.domain]
        if others:
            return others
        if known.domain in self._vocabulary:
            current = self._vocabulary[known.domain]
            if list(ServiceTalk(current, reply, known).acts(alone=True)) or len(self._vocabulary.services) == 1:
                return [known.domain]
        scored = {
            name: len([act for act in ServiceTalk(words, reply, ParseContext()).acts(alone=False) if act.values])
            for name, words in self._vocabulary.services.items()
        }
        best = max(scored, key=lambda name: scored[name])
        pointing = known.domain in self._vocabulary and _POINTING.search(reply.text.lower())
        if scored[best] and not (pointing and reply.questions):
            return [best]
        return [known.domain] if known.domain in self._vocabulary else []

    def _booked_with(self, reply: ReplyText, name: str) -> bool:
        """Is a service named as a part of a booking: "branch Market", and not "a branch"?"""
        phrases = self._vocabulary[name].phrases
        places = reply.phrases(dict.fromkeys(phrases, (name,)))
        articles = ("a", "an", "another")
        return not any(
            reply.lower[max(0, phrase.first - 2) : phrase.first][-1:] == (word,)
            for phrase in places
            for word in articles
        )


def _is_verb(reply: ReplyText, index: int) -> bool:
    """ "Please book it" names no book."""
    before = reply.lower[index - 1] if index else ""
    following = reply.lower[index + 1] if index + 1 < len(reply.lower) else ""
    return reply.lower[index] in ("book", "order", "reserve") and (
        before in ("to", "please", "you") or following == "it"
    )
