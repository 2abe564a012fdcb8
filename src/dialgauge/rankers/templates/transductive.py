"""Adapting to a candidate file: every candidate was said in some dialog, so those that the known dialogs lack tell
which system the unknown ones are from and how often it uses each template.

Of n uses of template t in known dialogs, n₁ had a filling that occurs only once; by Good and Turing a use has a new
filling with probability u_t ≈ n₁ / n. Unknown dialogs are D dialogs of one of the known systems, or of one with the
words of both. With r_t uses per dialog in that system,

    N_t = D · r_t · g_t,     g_t ~ Gamma(κ, κ),     new texts m_t ~ Poisson(u_t · N_t)

so m_t is negative binomial, and given D and the system E[g_t] = (m_t + κ) / (u_t · D · r_t + κ).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from dialgauge.rankers.templates.inventory import Ints, Inventory
from dialgauge.rankers.templates.logistic import Floats, log_softmax

#: κ: texts come in bursts, so that one template is weak evidence.
_SHAPE = 2.0
#: What a system uses next to never, relative to the one that uses it.
_DROPPED = 0.01
#: New texts that are expected of any template, however rare.
_STRAY = 0.01
#: A system of which nothing is heard is still believed this much, relative to the other.
_LEAST_BELIEF = 0.3
#: ln of D relative to the known dialogs: what is tried, and the mean of a broad prior.
_DIALOGS, _HALF = np.linspace(-3.0, 1.5, 46), np.log(0.5)
#: Least words in common (Jaccard) of paraphrases.
_WORDS = 0.25


class Adaptation(NamedTuple):
    """How unknown dialogs differ from those learned from.

    ``prior`` is the belief in each expert at the start of a dialog. Template t is as probable as its ``source`` (itself
    unless no known dialog has it) times exp(``shift``), before normalising.
    """

    prior: Floats
    source: Ints
    shift: Floats

    @classmethod
    def none(cls, systems: int, templates: int) -> Adaptation:
        """No change; experts are believed alike, however many dialogs each learned from."""
        return cls(np.full(systems, 1 / systems), np.arange(templates), np.zeros(templates))

    def of(self, log_p: Floats) -> Floats:
        """log P(template) in unknown dialogs, points × templates."""
        return log_softmax(log_p[:, self.source] + self.shift)


class Novelty(NamedTuple):
    """Per template: uses in known dialogs, new texts among the candidates, u, and whether its new texts tell anything.

    They do if the template is known and has slots.
    """

    uses: Floats
    new: Floats
    slope: Floats
    telling: NDArray[np.bool_]

    @classmethod
    def of(cls, inventory: Inventory, replies: Iterable[str]) -> Novelty:
        """From the texts said in known dialogs."""
        times = Counter(replies)
        occurrences = np.array([times[text] for text in inventory.candidates])
        uses, once, new = (
            np.bincount(inventory.template_of, weights=counted, minlength=len(inventory.templates)).astype(np.float64)
            for counted in (occurrences, occurrences == 1, occurrences == 0)
        )
        slotted = np.array([len(members) > 1 for members in inventory.members])
        return cls(uses, new, (once + 0.5) / (uses + 1.0), slotted & (uses > 0))


class Expected(NamedTuple):
    """Of unknown dialogs: uses of each template, the same had no new text been seen, and belief in each system."""

    uses: Floats
    usual: Floats
    systems: Floats


def expectation(novelty: Novelty, rates: Floats, dialogs: int) -> Expected:
    """What the new texts say; ``rates`` are uses per dialog in the known systems, ``dialogs`` how many are known."""
    highest = rates.max(axis=0)
    speakers = np.vstack([np.maximum(rates, _DROPPED * highest), highest])  # the last has the words of all
    uses = dialogs * np.exp(_DIALOGS)[:, None, None] * speakers
    expected_new = novelty.slope * uses + _STRAY
    evidence = log_negative_binomial(novelty.new, expected_new)[:, :, novelty.telling].sum(axis=2)
    log_posterior = evidence - 0.5 * (_DIALOGS - _HALF)[:, None] ** 2
    posterior = np.exp(log_posterior - np.logaddexp.reduce(log_posterior, axis=None))
    factor = np.where(novelty.telling, (novelty.new + _SHAPE) / (expected_new + _SHAPE), 1.0)
    *systems, both = posterior.sum(axis=0)
    return Expected(
        np.einsum("dh,dht->t", posterior, uses * factor),
        np.einsum("dh,dht->t", posterior, uses),
        np.array(systems) + both / len(systems),
    )


def log_negative_binomial(count: Floats, mean: Floats) -> Floats:
    """Log-probability of counts with these means and shape κ."""
    log_p: Floats = (
        gammaln(count + _SHAPE)
        - gammaln(_SHAPE)
        - gammaln(count + 1.0)
        + _SHAPE * np.log(_SHAPE / (_SHAPE + mean))
        + count * np.log(mean / (_SHAPE + mean))
    )
    return log_p


def adapted(inventory: Inventory, replies: Sequence[Sequence[str]], rates: Floats, learned: Floats) -> Adaptation:
    """How to adapt, given the replies of known dialogs, one by one, and the uses per dialog in their systems.

    ``learned`` are the rates in the dialogs that the experts learned from.
    """
    novelty = Novelty.of(inventory, chain.from_iterable(replies))
    expected = expectation(novelty, rates, len(replies))
    known_of = paraphrases(inventory, novelty.uses)
    uses = _inherited(expected, novelty, known_of)
    belief = np.maximum(expected.systems / expected.systems.max(), _LEAST_BELIEF)
    prior = belief / belief.sum()
    source = np.array([known_of.get(template, template) for template in range(len(inventory.templates))])
    before = (prior @ learned)[source]
    sayable = before > 0
    after = np.where(sayable, uses, 0.0)
    shift = np.zeros(len(source))
    shift[sayable] = np.log(after[sayable] / after.sum()) - np.log(before[sayable] / before.sum())
    return Adaptation(prior, source, shift)


# New templates.


def paraphrases(inventory: Inventory, uses: Floats) -> dict[int, int]:
    """New template to the known one with the same kinds of slots and most words in common: it says the same."""
    known_of = {}
    for new in np.flatnonzero(uses == 0).tolist():
        signature = inventory.signatures[new]
        alike = [t for t in np.flatnonzero(uses > 0).tolist() if inventory.signatures[t] == signature != ()]
        common = {t: words_in_common(inventory.templates[t], inventory.templates[new]) for t in alike}
        best = max(common, key=lambda t: common[t], default=-1)
        if common.get(best, 0.0) >= _WORDS:
            known_of[new] = best
    return known_of


def words_in_common(text: str, other: str) -> float:
    """Jaccard index of the words of two templates, slots and punctuation left out."""
    first, second = _words(text), _words(other)
    return len(first & second) / max(len(first | second), 1)


def _words(template: str) -> set[str]:
    words = (word.lower().strip(".,?;'") for word in template.split() if not word.startswith("<"))
    return {word for word in words if word}


def _inherited(expected: Expected, novelty: Novelty, known_of: dict[int, int]) -> Floats:
    """Expected uses, where a known template shares what is usual for it with its paraphrases, by their new texts.

    A new text takes one use of a new template, and 1 / u uses of a known one.
    """
    uses = expected.uses.copy()
    weight = np.where(novelty.uses > 0, novelty.new / novelty.slope, novelty.new) + 0.1
    for known in dict.fromkeys(known_of.values()):
        family = [known, *(new for new, source in known_of.items() if source == known)]
        total = max(expected.usual[known], expected.uses[known])
        uses[family] = total * weight[family] / weight[family].sum()
    return uses
