"""The model that asks who speaks: templates by a mixture of experts, weighed by what the dialog tells so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialgauge.responses.episodes import Point
from dialgauge.responses.templates.examples import Example
from dialgauge.responses.templates.experts import Experts
from dialgauge.responses.templates.fitting import weights_fitting
from dialgauge.responses.templates.inventory import Ints
from dialgauge.responses.templates.logistic import Floats
from dialgauge.responses.templates.model import Model
from dialgauge.responses.templates.systems import SYSTEMS
from dialgauge.responses.templates.trail import trail_to


class MixtureModel(Model):
    """log P(candidate) = log Σ_s P(s | dialog so far) P_s(template | cues) + log P(filling | template, marks)."""

    experts: Experts

    def scores(self, points: Sequence[Point]) -> Floats:
        trail = trail_to(points)
        examples = self.read(trail.points)
        said = np.array([self.inventory.parse(text).template if text else -1 for text in trail.said], dtype=np.int64)
        by_expert = self.experts.log_probabilities([example.cues for example in examples])
        log_templates = self.experts.mixed(by_expert, trail.before, said)
        return self._filled(log_templates[trail.places], [examples[place] for place in trail.places])

    def _fit_templates(self, examples: Sequence[Example], templates: Ints, of_points: Floats) -> None:
        cues = [example.cues for example in examples]
        penalties = (self.options.penalty, self.options.own_penalty)
        self.experts = Experts.fitted(cues, templates, of_points, len(self.inventory.templates), penalties)

    def _template_settings(self) -> dict[str, Any]:
        return {"expert_cues": self.experts.vocabulary.cues}

    def _template_arrays(self) -> dict[str, NDArray[Any]]:
        return {"experts": self.experts.weights}

    def _restore_templates(self, settings: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        cues, weights = settings["expert_cues"], arrays["experts"]
        self.experts = Experts(cues, weights_fitting(weights, SYSTEMS + 1, len(cues), len(self.inventory.templates)))
