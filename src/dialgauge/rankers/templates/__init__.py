"""Replies as templates with slots: what to say is classified, what to fill in is chosen, both learned from dialogs."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.rankers.templates.cues import Mark as Mark
    from dialgauge.rankers.templates.filling import Filling as Filling, FillingLikelihood as FillingLikelihood
    from dialgauge.rankers.templates.history import learn_aliases as learn_aliases
    from dialgauge.rankers.templates.inventory import (
        Inventory as Inventory,
        Slot as Slot,
        learn_lexicon as learn_lexicon,
    )
    from dialgauge.rankers.templates.logistic import (
        CueVocabulary as CueVocabulary,
        fit_logistic as fit_logistic,
        log_softmax as log_softmax,
    )
    from dialgauge.rankers.templates.ranker import (
        Templates as Templates,
        TemplatesTransductive as TemplatesTransductive,
        read as read,
        replies_of as replies_of,
    )
    from dialgauge.rankers.templates.systems import (
        Experts as Experts,
        mixed as mixed,
        template_counts as template_counts,
        told_apart as told_apart,
        use_rates as use_rates,
    )
    from dialgauge.rankers.templates.transductive import (
        Adaptation as Adaptation,
        Novelty as Novelty,
        adapted as adapted,
        expectation as expectation,
        log_negative_binomial as log_negative_binomial,
        paraphrases as paraphrases,
        words_in_common as words_in_common,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
