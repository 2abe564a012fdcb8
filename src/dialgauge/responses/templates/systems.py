"""Dialogs of several systems in one corpus: who speaks is told by the wording, since different systems say the same
things in other words.

A mixture of S systems, fitted by expectation maximisation:

    P(dialog) = Σ_s π_s Π_replies θ_s(template | kinds of its slots)

Conditioning on the slots takes out what the dialog is about; what is left is wording.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dialgauge.responses.templates.inventory import Ints, Inventory
from dialgauge.responses.templates.logistic import Floats, log_softmax

SYSTEMS = 2
_SMOOTHING = 0.1
_ROUNDS = 60
_STARTS = 6


def group_matrix(groups: Sequence[object]) -> Floats:
    """Members × groups, 1 where a member is in a group."""
    number = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    found = np.zeros((len(groups), len(number)))
    found[np.arange(len(groups)), [number[group] for group in groups]] = 1.0
    return found


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
        best = max((cls._climbed(counts, groups, start) for start in starts), key=lambda found: found[0])[1]
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
        found: Floats = counts @ self._log_wording.T + np.log(self.share)
        return found

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
