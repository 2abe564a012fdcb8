"""Speech made from a domain: one vocabulary, its sentences, and both sides' understanding, kept for a whole process."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from dialgauge.agents.speech.domain_nlu import DomainNlu
from dialgauge.agents.speech.free_listener import FreeListener
from dialgauge.agents.speech.nlu import ParseContext
from dialgauge.agents.speech.vocabulary import Vocabulary
from dialgauge.dialogue import Act, Ontology, Speaker, Turn
from dialgauge.worlds.domain import Domain

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
        """Words for one conversation."""
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
