"""The agents of the town: users, systems, and how they speak and listen."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.agents.town.agenda import AgendaOptions, AgendaUser
    from dialgauge.agents.town.baseline import BaselineOptions, BaselineUser
    from dialgauge.agents.town.channel import Channel, ChannelRates, Damage
    from dialgauge.agents.town.channel_counting import count_rates
    from dialgauge.agents.town.mentions import MentionFinder, ValueMention
    from dialgauge.agents.town.nlg import STYLES, Nlg, TemplateNlg, Wording, template_nlg
    from dialgauge.agents.town.nlu import LinearNlu, Parse, ParseContext, default_nlu
    from dialgauge.agents.town.nlu_default import default_model, train_default
    from dialgauge.agents.town.nlu_model import NluModel
    from dialgauge.agents.town.nlu_samples import PRACTICE_ONTOLOGY, human_samples, practice_samples
    from dialgauge.agents.town.nlu_scores import Understanding, understanding
    from dialgauge.agents.town.nlu_sessions import session_samples
    from dialgauge.agents.town.nlu_training import NluSample, train_nlu
    from dialgauge.agents.town.phrase_book import PhraseBook
    from dialgauge.agents.town.pipeline import TownSystem, TownUser
    from dialgauge.agents.town.policy import RuleSystem
    from dialgauge.agents.town.retrieval_nlg import RetrievalNlg
    from dialgauge.agents.town.tracker import Belief

__all__ = [
    "PRACTICE_ONTOLOGY",
    "STYLES",
    "AgendaOptions",
    "AgendaUser",
    "BaselineOptions",
    "BaselineUser",
    "Belief",
    "Channel",
    "ChannelRates",
    "Damage",
    "LinearNlu",
    "MentionFinder",
    "Nlg",
    "NluModel",
    "NluSample",
    "Parse",
    "ParseContext",
    "PhraseBook",
    "RetrievalNlg",
    "RuleSystem",
    "TemplateNlg",
    "TownSystem",
    "TownUser",
    "Understanding",
    "ValueMention",
    "Wording",
    "count_rates",
    "default_model",
    "default_nlu",
    "human_samples",
    "practice_samples",
    "session_samples",
    "template_nlg",
    "train_default",
    "train_nlu",
    "understanding",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
