"""Dialogs of several systems in one corpus: who speaks is told by the wording, since different systems say the same
things in other words.

A mixture of S systems, fitted by expectation maximisation:

    P(dialog) = Σ_s π_s Π_replies θ_s(template | kinds of its slots)

Conditioning on the slots takes out what the dialog is about; what is left is wording.
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
_STARTS = 6


def group_matrix(groups: Sequence[object]) -> Floats:
    """Members × groups, 1 where a member is in a group."""
    number = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    matrix = np.zeros((len(groups), len(number)))
    matrix[np.arange(len(groups)), [number[group] for group in groups]] = 1.0
    return matrix


def signature_groups(inventory: Inventory) -> Floats:
    """Templates × kinds of slots."""
    return group_matrix([inventory.signature(template) for template in range(len(inventory.templates))])


def within(weights: Floats, groups: Floats) -> Floats:
    """Rows of weights normalised within each group of columns."""
    shares: Floats = weights / (weights @ groups @ groups.T)
    return shares


class Systems:
    """How often each system uses a template (``use``, systems × templates), and how many dialogs it has (``share``)."""

    def __init__(self, use: Floats, share: Floats, groups: Floats) -> None:
        self.use, self.share = use, share
        self._log_wording = np.log(within(use, groups))

    @classmethod
    def fitted(cls, inventory: Inventory, counts: Floats, seed: int) -> Systems:
        """The likeliest mixture of several starts, the largest system first; ``counts`` is dialogs × templates."""
        groups = signature_groups(inventory)
        draws = np.random.default_rng(seed)
        starts = [draws.dirichlet(np.ones(SYSTEMS), size=len(counts)) for _ in range(_STARTS)]
        best = max((cls._climbed(counts, groups, start) for start in starts), key=lambda fit: fit[0])[1]
        order = np.argsort(-best.share, kind="stable")
        return cls(best.use[order], best.share[order], groups)

    @classmethod
    def _climbed(cls, counts: Floats, groups: Floats, belongs: Floats) -> tuple[float, Systems]:
        """Log-likelihood (rounded, so that equal optima compare equal) and mixture after some rounds."""
        for _ in range(_ROUNDS):
            systems = cls(belongs.T @ counts + _SMOOTHING, belongs.mean(axis=0), groups)
            joint = systems._joint(counts)
            belongs = np.exp(log_softmax(joint))
        return round(float(np.logaddexp.reduce(joint, axis=1).sum()), 3), systems

    def _joint(self, counts: Floats) -> Floats:
        joint: Floats = counts @ self._log_wording.T + np.log(self.share)
        return joint

    def posterior(self, counts: Floats) -> Floats:
        """P(system | templates so far), dialogs × systems."""
        return np.exp(log_softmax(self._joint(counts)))


def template_counts(inventory: Inventory, replies: Sequence[Sequence[int]]) -> Floats:
    """Dialogs × templates: how often each template was said; unknown templates are left out."""
    counts = np.zeros((len(replies), len(inventory.templates)))
    for row, templates in enumerate(replies):
        known = [template for template in templates if template >= 0]
        np.add.at(counts[row], known, 1.0)
    return counts


def most_likely(posterior: Floats) -> Ints:
    """The system of each dialog."""
    return np.asarray(posterior.argmax(axis=1), dtype=np.int64)


# Experts.

_FLOOR = 0.01
_TEMPER = 0.25
_STEPS = 40
#: Weights are fitted in units of 1 / √(λ + this · occurrences), about their spread, which takes fewer steps.
_CURVATURE = 0.1


class Experts:
    """Log-probabilities of templates: an expert for each known system, and one for a system like none of them.

    Systems differ in what they say when, but have much in common. The weights of system s are W + V_s; both are learned
    at once, V_s from the dialogs of s alone and under the larger penalty:

        maximise  Σ_i log P(t_i | x_i; W + Σ_s P(s | dialog of i) V_s)  −  λ/2 ‖W‖²  −  λ'/2 Σ_s ‖V_s‖²

    W alone is the expert for a system never heard. In a dialog, each expert is believed as far as it foresaw the
    replies:

        P(t | x) = Σ_s b_s P_s(t | x),     b_s ∝ Π_{earlier replies r at y} max(P_s(r | y), ε)^τ

    All are believed alike at first, however many dialogs they learned from. The floor ε and the temper τ < 1 keep one
    surprising reply from settling who speaks: an unknown system may share its words with one and its habits with
    another.

    ``weights`` is experts × cues × templates, the expert for strangers last.
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
        log_mixed: Floats = np.logaddexp.reduce(log_p + belief.T[:, :, None], axis=0)
        return log_mixed
