"""A classifier of acts or templates from cues."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dialgauge.responses.templates.inventory import Ints
from dialgauge.responses.templates.logistic import CueVocabulary, Floats, fit_logistic, log_softmax


class Classifier:
    """Log-probabilities of classes; ``weights`` is cues × classes."""

    def __init__(self, cues: Sequence[str], weights: Floats) -> None:
        self.vocabulary, self.weights = CueVocabulary(cues), weights

    @classmethod
    def fitted(
        cls,
        cues: Sequence[Sequence[str]],
        gold: Ints,
        classes: int,
        penalty: float,
        *,
        counts: Floats | None = None,
    ) -> Classifier:
        """Learned from points' cues and the numbers of their classes; ``counts`` says how much each point counts."""
        vocabulary = CueVocabulary.of(cues)
        return cls(vocabulary.cues, fit_logistic(vocabulary.matrix(cues), gold, classes, penalty, counts=counts))

    def log_probabilities(self, cues: Sequence[Sequence[str]]) -> Floats:
        """Points × classes."""
        return log_softmax(np.asarray(self.vocabulary.matrix(cues) @ self.weights))
