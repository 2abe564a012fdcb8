"""How fast a template brings texts that were never heard before: hardly, if said a thousand times; often, if rare.

Of n uses of a template in known dialogs, n₁ had a filling that occurs only once. By Good and Turing the next use has a
new filling with probability u ≈ n₁ / n, and the more uses, the fewer fillings are left. In Fisher's log series, where
n uses have S = α ln(1 + n / α) different fillings, N further uses bring

    E[new | N] = u · c · ln(1 + N / c),     c = n + α,     u = α / c

new ones. Here the slope u is Good and Turing's where a template is used often enough, and the curve is the series'. A
template used rarely or never takes α from those with the same kinds of slots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from dialgauge.responses.templates.inventory import Inventory
from dialgauge.responses.templates.logistic import Floats

Flags = NDArray[np.bool_]
#: A template with fewer uses than this tells too little about itself.
_OFTEN = 10
#: α where hardly any filling repeats, relative to the number of fillings, and where there is but one.
_ALL_DIFFERENT, _ALL_ALIKE = 4.0, 0.2
_NOTHING_KNOWN = 10.0
#: Beyond this many α, a number of fillings says no more about the number of uses.
_SATURATED = 1.5


class Novelty(NamedTuple):
    """Per template: uses in known dialogs, new texts among the candidates, whether it has slots, and the curve."""

    uses: Floats
    new: Floats
    slotted: Flags
    slope: Floats
    scale: Floats

    def expected_new(self, uses: Floats) -> Floats:
        """E[new | N]; the last axis but one of ``uses`` runs over the templates."""
        found: Floats = (self.slope * self.scale)[:, None] * np.log1p(uses / self.scale[:, None])
        return found

    def least_uses(self) -> Floats:
        """The uses that the new texts of each template take: the curve turned round, and no fewer than the texts."""
        fillings = np.minimum(self.new / (self.slope * self.scale), _SATURATED)
        return np.where(self.slotted, np.maximum(self.scale * np.expm1(fillings), self.new), self.new)


def novelty(inventory: Inventory, replies: Sequence[int]) -> Novelty:
    """From the candidates said in known dialogs."""
    counts = Counter(replies)
    said = np.array([counts[candidate] for candidate in range(len(inventory.candidates))])
    uses, once, fillings, new = (
        np.bincount(inventory.template_of, weights=counted, minlength=len(inventory.templates)).astype(np.float64)
        for counted in (said, said == 1, said > 0, said == 0)
    )
    slotted = np.array([len(members) > 1 for members in inventory.members])
    often = uses >= _OFTEN
    alpha = _alphas(inventory, uses, fillings, slotted & often)
    slope = np.where(often, (once + 0.5) / (uses + 1.0), alpha / (alpha + uses))
    return Novelty(uses, new, slotted, slope, uses + alpha)


def log_series(fillings: float, uses: float) -> float:
    """α of S = α ln(1 + n / α)."""
    if fillings >= uses:
        return _ALL_DIFFERENT * max(fillings, 1.0)
    if fillings <= 1:
        return _ALL_ALIKE
    highest = max(1e6, uses**2)  # with one repetition α is about half the square
    return float(brentq(lambda alpha: alpha * np.log1p(uses / alpha) - fillings, 1e-3, highest))


def _alphas(inventory: Inventory, uses: Floats, fillings: Floats, telling: Flags) -> Floats:
    """α of each template: its own, or the geometric mean of those that tell, of the same kinds of slots if any."""
    own = {t: log_series(float(fillings[t]), float(uses[t])) for t in np.flatnonzero(telling).tolist()}
    by_kinds: dict[tuple[str, ...], list[float]] = {}
    for template, alpha in own.items():
        by_kinds.setdefault(inventory.signature(template), []).append(alpha)
    every = list(own.values()) or [_NOTHING_KNOWN]
    return np.array(
        [
            own.get(template) or _geometric_mean(by_kinds.get(inventory.signature(template), every))
            for template in range(len(inventory.templates))
        ]
    )


def _geometric_mean(numbers: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(numbers))))
