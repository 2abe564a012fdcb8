"""Who speaks? An expert for each known system, one for a system like none of them, and what the dialog tells so far.

Systems differ in what they say when, but have much in common. The weights of system s are W + V_s; both are learned at
once, V_s from the dialogs of s alone and under the larger penalty:

    maximise  Σ_i log P(t_i | x_i; W + Σ_s P(s | dialog of i) V_s)  −  λ/2 ‖W‖²  −  λ'/2 Σ_s ‖V_s‖²

W alone is the expert for a system never heard. In a dialog, each expert is believed as far as it foresaw the replies:

    P(t | x) = Σ_s b_s P_s(t | x),     b_s ∝ Π_{earlier replies r at y} max(P_s(r | y), ε)^τ

All are believed alike at first, however many dialogs they learned from. The floor ε and the temper τ < 1 keep one
surprising reply from settling who speaks: an unknown system may share its words with one and its habits with another.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from dialgauge.responses.templates.inventory import Ints
from dialgauge.responses.templates.logistic import CueVocabulary, Floats, fit_logistic, log_softmax

_FLOOR = 0.01
_TEMPER = 0.25
_STEPS = 40
#: Weights are fitted in units of 1 / √(λ + this · occurrences), about their spread, which takes fewer steps.
_CURVATURE = 0.1


class Experts:
    """Log-probabilities of templates by each expert; ``weights`` is experts × cues × templates, the stranger last."""

    def __init__(self, cues: Sequence[str], weights: Floats) -> None:
        self.vocabulary, self.weights = CueVocabulary(cues), weights

    @classmethod
    def fitted(
        cls, cues: Sequence[Sequence[str]], gold: Ints, belongs: Floats, templates: int, penalties: tuple[float, float]
    ) -> Experts:
        """Learned from points' cues and templates; ``belongs`` is points × systems, ``penalties`` are λ and λ'."""
        vocabulary = CueVocabulary.of(cues)
        x = vocabulary.matrix(cues)
        systems = belongs.shape[1]
        wide = sparse.hstack([x, *(sparse.diags_array(column) @ x for column in belongs.T)]).tocsr()
        penalty = np.repeat(penalties, [x.shape[1], systems * x.shape[1]])
        unit = 1 / np.sqrt(penalty + _CURVATURE * np.asarray(wide.sum(axis=0)).ravel())
        scaled = sparse.csr_matrix(wide @ sparse.diags_array(unit))
        found = unit[:, None] * fit_logistic(scaled, gold, templates, penalty * unit**2, _STEPS)
        shared, *own = found.reshape(systems + 1, x.shape[1], templates)
        return cls(vocabulary.cues, np.stack([*(shared + part for part in own), shared]))

    def log_probabilities(self, cues: Sequence[Sequence[str]]) -> Floats:
        """Experts × points × templates."""
        x = self.vocabulary.matrix(cues)
        return np.stack([log_softmax(np.asarray(x @ part)) for part in self.weights])

    def believed(self, log_p: Floats, before: Sequence[int], said: Ints) -> Floats:
        """Log of what is believed of the experts at each point, points × experts.

        ``before`` is the place of the point before (-1: none), ``said`` the template heard there (-1: unknown).
        """
        belief = np.zeros((len(before), len(self.weights)))
        for place, (earlier, template) in enumerate(zip(before, said, strict=True)):
            if earlier >= 0:
                belief[place] = belief[earlier]
                if template >= 0:
                    belief[place] += _TEMPER * np.maximum(log_p[:, earlier, template], np.log(_FLOOR))
        return log_softmax(belief)

    def mixed(self, log_p: Floats, before: Sequence[int], said: Ints) -> Floats:
        """log P(template), points × templates."""
        belief = self.believed(log_p, before, said)
        found: Floats = np.logaddexp.reduce(log_p + belief.T[:, :, None], axis=0)
        return found
