"""How often unknown dialogs use each template, and whose wording they have: inferred from the new texts among the
candidates, which somebody must have said there.

With D unknown dialogs and r_t uses per dialog in the system that template t belongs to,

    N_t = D · r_t · exp(ε),      ε ~ (1 − p) Normal(0, σ²) + p Normal(0, τ²)      uses of a template that is kept
    m_t ~ negative binomial with mean E[new | N_t] (see :class:`Novelty`) and shape κ      new texts

A template that only system s has is kept with probability π_s, else dropped (used next to never). What both systems
say is kept, at a rate between theirs that leans to the system whose wording is kept. D has a broad prior around half
the known dialogs; π_s is estimated in turns with it. The shape κ allows for texts that come in bursts, so that one
template is weak evidence. σ, τ, p and κ were chosen by how well uses are estimated when a system is held out.

Where no two systems are told apart, any template with slots may be dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammaln

from dialgauge.rankers.templates.inventory import Ints, Inventory
from dialgauge.rankers.templates.logistic import Floats

Flags = NDArray[np.bool_]

_SIGMA, _TAU, _ODD = 0.3, 1.0, 0.1
_SHAPE = 5.0
#: Uses of a dropped template, relative to one that is kept.
_DROPPED = 0.01
_ROUNDS = 5
#: New texts that are expected of any template, however rare.
_STRAY = 0.01
_LEAST_WEIGHT = 0.02

_NODES, _MASS = np.polynomial.hermite_e.hermegauss(31)
_EPSILON = np.concatenate([_SIGMA * _NODES, _TAU * _NODES])
_LOG_MASS = np.log(np.concatenate([(1.0 - _ODD) * _MASS, _ODD * _MASS]) / _MASS.sum())


class Known(NamedTuple):
    """Known dialogs: uses of templates by system, how many dialogs each system has, and what may be dropped.

    ``owner`` is 0 for templates that are kept, s + 1 for those that are dropped with the wording of system s.
    """

    uses: Floats
    dialogs: Floats
    owner: Ints


class Expected(NamedTuple):
    """Per template: expected uses, the rate per dialog, and P(kept); P(kept) by system, and the number of dialogs."""

    uses: Floats
    rate: Floats
    kept: Floats
    systems: Floats
    dialogs: float


def expectation(known: Known, novelty: Novelty) -> Expected:
    """What the new texts say about unknown dialogs."""
    systems = np.full(len(known.dialogs), 0.5)
    telling = novelty.slotted & (novelty.uses > 0)
    for _ in range(_ROUNDS):
        rate = _rates(known, systems)
        posterior = _Posterior(known, novelty, rate, systems, telling)
        for system in range(len(systems)):
            own = telling & (known.owner == system + 1)
            systems[system] = (posterior.kept[own].sum() + 0.5) / (own.sum() + 1.0)
    usual = np.append(1.0, systems)[known.owner] * posterior.dialogs * rate
    dropped = _DROPPED * posterior.dialogs * rate
    seen = np.maximum(posterior.kept * posterior.uses + (1.0 - posterior.kept) * dropped, novelty.new)
    uses = np.where(telling, seen, np.where(novelty.uses > 0, usual, novelty.least_uses()))
    return Expected(uses, rate, np.where(telling, posterior.kept, 1.0), systems, posterior.dialogs)


def _rates(known: Known, systems: Floats) -> Floats:
    """Uses per dialog: in the system a template belongs to; for those of both, the mean weighted by kept wording."""
    rates = known.uses / np.maximum(known.dialogs, 1.0)[:, None]
    weights = systems**2 + _LEAST_WEIGHT
    every = np.vstack([weights @ rates / weights.sum(), rates])
    of_template: Floats = every[known.owner, np.arange(rates.shape[1])]
    return of_template


class _Posterior:
    """P(kept) and E[log uses | kept] per template, and the number of dialogs, over a grid of D and ε."""

    def __init__(self, known: Known, novelty: Novelty, rate: Floats, systems: Floats, telling: Flags) -> None:
        total = float(known.dialogs.sum())
        log_dialogs = np.log(total) + np.linspace(-3.0, 1.5, 60)
        dialogs = np.exp(log_dialogs)[:, None]
        uses = (dialogs * (rate + 1e-9))[:, :, None] * np.exp(_EPSILON)
        joint = _log_likelihood(novelty.new[:, None], novelty.expected_new(uses) + _STRAY) + _LOG_MASS
        if_kept = np.logaddexp.reduce(joint, axis=2)
        if_dropped = _log_likelihood(novelty.new, novelty.slope * dialogs * rate * _DROPPED + _STRAY)
        prior = np.clip(np.append(1.0, systems)[known.owner], 0.0, 1.0 - 1e-9)
        evidence = np.logaddexp(np.log(prior) + if_kept, np.log1p(-prior) + if_dropped)
        log_posterior = evidence[:, telling].sum(axis=1) - 0.5 * (log_dialogs - np.log(total / 2.0)) ** 2
        posterior = np.exp(log_posterior - np.logaddexp.reduce(log_posterior))
        self.dialogs = float(np.exp(posterior @ log_dialogs))
        self.kept: Floats = posterior @ np.exp(np.log(prior) + if_kept - evidence)
        log_uses = (np.exp(joint - if_kept[:, :, None]) * np.log(uses)).sum(axis=2)
        self.uses: Floats = posterior @ np.exp(log_uses)


def _log_likelihood(new: Floats, mean: Floats) -> Floats:
    """Log of the negative binomial probability of ``new`` texts."""
    log_p: Floats = (
        gammaln(new + _SHAPE)
        - gammaln(_SHAPE)
        - gammaln(new + 1.0)
        + _SHAPE * np.log(_SHAPE / (_SHAPE + mean))
        + new * np.log(mean / (_SHAPE + mean))
    )
    return log_p


# Novelty.

#: A template with fewer uses than this tells too little about itself.
_OFTEN = 10
#: α where hardly any filling repeats, relative to the number of fillings, and where there is but one.
_ALL_DIFFERENT, _ALL_ALIKE = 4.0, 0.2
_NOTHING_KNOWN = 10.0
#: Beyond this many α, a number of fillings says no more about the number of uses.
_SATURATED = 1.5


class Novelty(NamedTuple):
    """Per template: uses in known dialogs, new texts among the candidates, whether it has slots, and the curve.

    Of n uses of a template in known dialogs, n₁ had a filling that occurs only once. By Good and Turing the next use
    has a new filling with probability u ≈ n₁ / n, and the more uses, the fewer fillings are left. In Fisher's log
    series, where n uses have S = α ln(1 + n / α) different fillings, N further uses bring

        E[new | N] = u · c · ln(1 + N / c),     c = n + α,     u = α / c

    new ones. Here the slope u is Good and Turing's where a template is used often enough, and the curve is the series'.
    A template used rarely or never takes α from those with the same kinds of slots.
    """

    uses: Floats
    new: Floats
    slotted: Flags
    slope: Floats
    scale: Floats

    def expected_new(self, uses: Floats) -> Floats:
        """E[new | N]; the last axis but one of ``uses`` runs over the templates."""
        expected: Floats = (self.slope * self.scale)[:, None] * np.log1p(uses / self.scale[:, None])
        return expected

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
