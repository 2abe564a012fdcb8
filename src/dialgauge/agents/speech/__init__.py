"""How the agents of the town put acts into words, and find acts in words."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.agents.speech.domain_grammar import DomainGrammar as DomainGrammar, ServiceGrammar as ServiceGrammar
    from dialgauge.agents.speech.domain_nlg import DomainNlg as DomainNlg
    from dialgauge.agents.speech.domain_speech import DomainNlu as DomainNlu, DomainSpeech as DomainSpeech
    from dialgauge.agents.speech.free_listener import FreeListener as FreeListener
    from dialgauge.agents.speech.mentions import MentionFinder as MentionFinder
    from dialgauge.agents.speech.nlg import (
        STYLES as STYLES,
        Nlg as Nlg,
        TemplateNlg as TemplateNlg,
        template_nlg as template_nlg,
    )
    from dialgauge.agents.speech.nlu import (
        LinearNlu as LinearNlu,
        ParseContext as ParseContext,
        default_nlu as default_nlu,
    )
    from dialgauge.agents.speech.phrase_book import PhraseBook as PhraseBook
    from dialgauge.agents.speech.retrieval_nlg import RetrievalNlg as RetrievalNlg
    from dialgauge.agents.speech.vocabulary import ServiceVocabulary as ServiceVocabulary, Vocabulary as Vocabulary


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
