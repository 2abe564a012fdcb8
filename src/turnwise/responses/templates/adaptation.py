"""Adapting to a candidate file: every candidate was said in some dialog, so those that the known dialogs lack tell how
often each template is used in the unknown ones.

Let a template be used N times in the unknown dialogs, with filling c each time with probability p_c. Fillings of known
dialogs say nothing about N. Of the others, those in the candidate file were said and all the rest was not:

    log L(N) = Σ_{c new} log(1 − exp(−N p_c))  −  N (1 − Σ_{c candidate} p_c)

p_c is the product of the frequencies of its entities. N has a Gamma prior around the template's uses in the known
dialogs; its posterior mean is taken. A template without slots keeps its prior; a template that is new as a whole gets
the act of the known template with the most words in common, if there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from turnwise.responses.templates.alignment import words_in_common
from turnwise.responses.templates.inventory import Ints, Inventory
from turnwise.responses.templates.logistic import Floats

#: Counts added to every entity of a kind.
_SMOOTHING = 0.5
_SIBLING = 0.5
#: Shape of the Gamma prior: 1 is vague.
_SHAPE = 1.0
_GRID = np.logspace(-2, 4, 600)
#: Templates that tell how many unknown dialogs there are must have been used this often.
_USED = 20


class Adapted(NamedTuple):
    """How templates are used in unknown dialogs, relative to known ones.

    ``act`` is added to log P(act); P(template | act) is multiplied by ``factor`` and gets ``extra`` before it is
    normalised (``extra`` is for templates that no known dialog has).
    """

    act: Floats
    factor: Floats
    extra: Floats


def filling_probabilities(inventory: Inventory, replies: Sequence[int]) -> Floats:
    """Per candidate the product of its entities' frequencies in known replies, each among the entities of its kind."""
    counts = np.full(len(inventory.entities), _SMOOTHING)
    for candidate in replies:
        np.add.at(counts, inventory.keys[candidate], 1.0)
    kinds = np.unique(inventory.entity_kinds, return_inverse=True)[1]
    share = counts / np.bincount(kinds, weights=counts)[kinds] if len(counts) else counts
    return np.array([np.prod(share[keys]) for keys in inventory.keys])


def expected_uses(p: Floats, is_new: Floats, prior_mean: float) -> float:
    """The posterior mean of N for one template, from its candidates' probabilities and which of them are new."""
    new = p[is_new > 0]
    happened = np.log(-np.expm1(-_GRID[:, None] * new[None, :])).sum(axis=1)
    log_posterior = happened - _GRID * max(1.0 - float(p.sum()), 0.0) + _gamma(prior_mean)
    weight = np.exp(log_posterior - log_posterior.max()) * _GRID  # the grid is logarithmic: dN = N dlog N
    return float((weight * _GRID).sum() / weight.sum())


def _gamma(mean: float) -> Floats:
    found: Floats = (_SHAPE - 1.0) * np.log(_GRID) - _SHAPE * _GRID / mean
    return found


def uses_in_unknown(
    inventory: Inventory, replies: Sequence[int], known: set[str], new_prior: float
) -> tuple[Floats, float]:
    """(expected uses of each template in the unknown dialogs, how many times the known dialogs they are).

    ``replies`` are the candidates said in the dialogs learned from, ``known`` the texts of all known dialogs.
    """
    uses = np.bincount(inventory.template_of[list(replies)], minlength=len(inventory.templates)).astype(np.float64)
    p = filling_probabilities(inventory, replies)
    is_new = np.array([text not in known for text in inventory.candidates], dtype=np.float64)
    scale = 1.0
    for _ in range(2):
        prior = scale * np.where(uses > 0, uses, new_prior)
        found = np.array(
            [
                expected_uses(p[members], is_new[members], float(mean)) if len(members) > 1 else float(mean)
                for members, mean in zip(inventory.members, prior, strict=True)
            ]
        )
        telling = [t for t, members in enumerate(inventory.members) if len(members) > 1 and uses[t] >= _USED]
        scale = float(np.median(found[telling] / uses[telling])) if telling else 1.0
    return found, scale


def siblings(inventory: Inventory, uses: Floats) -> list[tuple[int, int]]:
    """(known template, new template) where the new one has most words in common with the known one, and many."""
    known = np.flatnonzero(uses > 0).tolist()
    pairs = []
    for new in np.flatnonzero(uses == 0).tolist():
        shared = {t: words_in_common(inventory.templates[t], inventory.templates[new]) for t in known}
        best = max(shared, key=lambda t: shared[t], default=-1)
        if best >= 0 and shared[best] >= _SIBLING:
            pairs.append((best, new))
    return pairs


def adapted(uses: Floats, expected: Floats, scale: float, act_of: Ints) -> Adapted:
    """The change from known to unknown dialogs."""
    acts = int(act_of.max()) + 1
    before = scale * np.bincount(act_of, weights=uses, minlength=acts)
    after = np.bincount(act_of, weights=expected, minlength=acts)
    seen = uses > 0
    ratio = np.divide(after, before, out=np.ones(acts), where=before > 0)
    factor = np.divide(expected, scale * uses, out=np.zeros(len(uses)), where=seen)
    extra = np.divide(expected, before[act_of], out=np.ones(len(uses)), where=before[act_of] > 0)
    return Adapted(np.log(ratio), factor, np.where(seen, 0.0, extra))


def unadapted(act_of: Ints) -> Adapted:
    """No change."""
    return Adapted(np.zeros(int(act_of.max()) + 1), np.ones(len(act_of)), np.zeros(len(act_of)))
