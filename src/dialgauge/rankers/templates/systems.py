"""Dialogs of several systems in one corpus: who speaks is told by the wording, since different systems say the same
things in other words; what each of them says when is then learned by an expert of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from dialgauge.rankers.templates.inventory import Ints, Inventory
from dialgauge.rankers.templates.logistic import CueVocabulary, Floats, fit_logistic, log_softmax

SYSTEMS = 2
_SMOOTHING = 0.1
_ROUNDS = 60
_LEAST_SHARE = 1e-9


def template_counts(inventory: Inventory, replies: Sequence[Sequence[str]]) -> Floats:
    """Dialogs × templates: how often each template was said; texts of no template are left out."""
    counts = np.zeros((len(replies), len(inventory.templates)))
    for row, texts in enumerate(replies):
        templates = [inventory.parse(text).template for text in texts]
        np.add.at(counts[row], [template for template in templates if template >= 0], 1.0)
    return counts


def told_apart(inventory: Inventory, counts: Floats) -> Floats:
    """P(system | dialog), dialogs × systems, the larger system first; ``counts`` is dialogs × templates.

    A mixture, fitted by expectation maximisation from the direction in which wordings differ most:

        P(dialog) = Σ_s π_s Π_replies θ_s(template | kinds of its slots)

    Conditioning on the slots takes out what the dialog is about; what is left is wording.
    """
    kinds = list(dict.fromkeys(inventory.signatures))
    groups = np.eye(len(kinds))[[kinds.index(signature) for signature in inventory.signatures]]
    alike = groups @ groups.T
    usual = within(counts.sum(axis=0, keepdims=True) + _SMOOTHING, alike)
    direction = np.linalg.svd(counts - (counts @ alike) * usual, full_matrices=False)[0][:, 0]
    belongs = np.stack([direction > 0, direction <= 0], axis=1).astype(np.float64)
    for _ in range(_ROUNDS):
        wording = np.log(within(belongs.T @ counts + _SMOOTHING, alike))
        belongs = np.exp(log_softmax(counts @ wording.T + np.log(belongs.mean(axis=0) + _LEAST_SHARE)))
    ordered: Floats = belongs[:, np.argsort(-belongs.sum(axis=0), kind="stable")]
    return ordered


def within(weights: Floats, alike: Floats) -> Floats:
    """Rows of weights normalised among the columns that are alike."""
    shares: Floats = weights / (weights @ alike)
    return shares


def use_rates(counts: Floats, belongs: Floats) -> Floats:
    """Uses of each template per dialog of a system, systems × templates."""
    rates: Floats = belongs.T @ counts / np.maximum(belongs.sum(axis=0), 1.0)[:, None]
    return rates


# Experts.

_FLOOR = 0.01
_TEMPER = 0.25
_STEPS = 40
#: Weights are fitted in units of 1 / √(λ + this · occurrences), about their spread, which takes fewer steps.
_CURVATURE = 0.1


class Experts:
    """Log-probabilities of templates by an expert for each known system.

    Systems differ in what they say when, but have much in common. The weights of system s are W + V_s; both are learned
    at once, V_s from the dialogs of s alone and under the larger penalty:

        maximise  Σ_i log P(t_i | x_i; W + Σ_s P(s | dialog of i) V_s)  −  λ/2 ‖W‖²  −  λ'/2 Σ_s ‖V_s‖²

    In a dialog, each expert is believed as far as it foresaw the replies:

        P(t | x) = Σ_s b_s P_s(t | x),     b_s ∝ prior_s Π_{earlier replies r at y} max(P_s(r | y), ε)^τ

    The floor ε and the temper τ < 1 keep one surprising reply from settling who speaks: an unknown system may share its
    words with one and its habits with another.

    ``weights`` is experts × cues × templates.
    """

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
        weights = unit[:, None] * fit_logistic(scaled, gold, templates, penalty * unit**2, _STEPS)
        shared, *own = weights.reshape(systems + 1, x.shape[1], templates)
        return cls(vocabulary.cues, np.stack([shared + part for part in own]))

    def log_probabilities(self, cues: Sequence[Sequence[str]]) -> Floats:
        """Experts × points × templates."""
        x = self.vocabulary.matrix(cues)
        return np.stack([log_softmax(np.asarray(x @ part)) for part in self.weights])


def mixed(log_p: Floats, before: Sequence[int], heard: Sequence[int], prior: Floats) -> Floats:
    """log P(template), points × templates, from those of the experts (experts × points × templates).

    ``before`` is the place of the point before (-1: none), ``heard`` the template said there (-1: unknown).
    """
    belief = np.tile(np.log(prior), (len(before), 1))
    for index, (earlier, template) in enumerate(zip(before, heard, strict=True)):
        if earlier >= 0:
            belief[index] = belief[earlier]
            if template >= 0:
                belief[index] += _TEMPER * np.maximum(log_p[:, earlier, template], np.log(_FLOOR))
    log_mixed: Floats = np.logaddexp.reduce(log_p + log_softmax(belief).T[:, :, None], axis=0)
    return log_mixed
