"""How the agents of the town put acts into words, and find acts in words."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.agents.speech.domain_grammar import DomainGrammar, ServiceGrammar
    from dialgauge.agents.speech.domain_nlg import DomainNlg
    from dialgauge.agents.speech.domain_nlu import DomainNlu
    from dialgauge.agents.speech.domain_speech import DomainSpeech
    from dialgauge.agents.speech.free_listener import FreeListener
    from dialgauge.agents.speech.mentions import MentionFinder
    from dialgauge.agents.speech.nlg import STYLES, Nlg, TemplateNlg, Wording, template_nlg
    from dialgauge.agents.speech.nlu import LinearNlu, ParseContext, default_nlu
    from dialgauge.agents.speech.nlu_default import default_model, recipe_checksum, train_default
    from dialgauge.agents.speech.nlu_model import NluModel
    from dialgauge.agents.speech.nlu_samples import PRACTICE_ONTOLOGY, human_samples, practice_samples
    from dialgauge.agents.speech.nlu_scores import UnderstoodCounts, understanding
    from dialgauge.agents.speech.nlu_training import NluSample, train_nlu
    from dialgauge.agents.speech.phrase_book import PhraseBook
    from dialgauge.agents.speech.retrieval_nlg import RetrievalNlg
    from dialgauge.agents.speech.vocabulary import ServiceVocabulary, Vocabulary

__all__ = [
    "PRACTICE_ONTOLOGY",
    "STYLES",
    "DomainGrammar",
    "DomainNlg",
    "DomainNlu",
    "DomainSpeech",
    "FreeListener",
    "LinearNlu",
    "MentionFinder",
    "Nlg",
    "NluModel",
    "NluSample",
    "ParseContext",
    "PhraseBook",
    "RetrievalNlg",
    "ServiceGrammar",
    "ServiceVocabulary",
    "TemplateNlg",
    "UnderstoodCounts",
    "Vocabulary",
    "Wording",
    "default_model",
    "default_nlu",
    "human_samples",
    "practice_samples",
    "recipe_checksum",
    "template_nlg",
    "train_default",
    "train_nlu",
    "understanding",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
