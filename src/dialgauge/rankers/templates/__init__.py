"""Replies as templates with slots: what to say is classified, what to fill in is chosen, both learned from dialogs."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.rankers.templates.cues import Mark
    from dialgauge.rankers.templates.filling import Filling, FillingLikelihood
    from dialgauge.rankers.templates.history import learn_aliases
    from dialgauge.rankers.templates.inventory import Inventory, Slot, learn_lexicon
    from dialgauge.rankers.templates.logistic import CueVocabulary, fit_logistic, log_softmax
    from dialgauge.rankers.templates.ranker import Templates, TemplatesTransductive, read, replies_of
    from dialgauge.rankers.templates.systems import Experts, mixed, template_counts, told_apart, use_rates
    from dialgauge.rankers.templates.transductive import (
        Adaptation,
        Novelty,
        adapted,
        expectation,
        log_negative_binomial,
        paraphrases,
        words_in_common,
    )

__all__ = [
    "Adaptation",
    "CueVocabulary",
    "Experts",
    "Filling",
    "FillingLikelihood",
    "Inventory",
    "Mark",
    "Novelty",
    "Slot",
    "Templates",
    "TemplatesTransductive",
    "adapted",
    "expectation",
    "fit_logistic",
    "learn_aliases",
    "learn_lexicon",
    "log_negative_binomial",
    "log_softmax",
    "mixed",
    "paraphrases",
    "read",
    "replies_of",
    "template_counts",
    "told_apart",
    "use_rates",
    "words_in_common",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
