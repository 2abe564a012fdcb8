"""Adapting to a candidate file: every candidate was said in some dialog, so those that the known dialogs lack tell how
often each template is used in the unknown ones.

Of n uses of a template in known dialogs, n₁ had a filling that occurs only once. By Good and Turing the next use has a
filling not seen before with probability u ≈ n₁ / n, and N further uses bring about N · u new texts (Good and Toulmin
1956, first order). Turned round: a template with m new texts in the candidate file is used N ≈ m / u times in the
unknown dialogs. One template tells little, so those of a group g (the own templates of one system, of the other, and
those both use) lend each other a ratio, and each then has a Gamma prior of shape a around it:

    s_g = (1 + Σ m) / (1 + Σ n u)   over the group's templates with slots,     E[N] = (a + m) / (a / (s_g · n) + u)

A template without slots says nothing and keeps s_g · n. A template that is new as a whole gets the act of the known
template with the most words in common, if there is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from turnwise.responses.templates.alignment import words_in_common
from turnwise.responses.templates.inventory import Ints, Inventory
from turnwise.responses.templates.logistic import Floats

_SIBLING = 0.5
#: Shape of the Gamma prior: the larger, the more a template follows its group; chosen by leaving one system out.
_SHAPE = 10.0
#: A template with fewer uses than this is rare; those tell how new the texts of a new template are.
_RARE = 20


class Adapted(NamedTuple):
    """How templates are used in unknown dialogs, relative to known ones.

    ``act`` is added to log P(act); P(template | act) is multiplied by ``factor`` and gets ``extra`` before it is
    normalised (``extra`` is for templates that no known dialog has).
    """

    act: Floats
    factor: Floats
    extra: Floats


def expected_uses(inventory: Inventory, replies: Sequence[int], group_of: Ints) -> Floats:
    """How often each template is used in unknown dialogs; ``replies`` are the candidates said in known ones."""
    counts = Counter(replies)
    said = np.array([counts[candidate] for candidate in range(len(inventory.candidates))])
    uses, once, new = (
        np.bincount(inventory.template_of, weights=weights, minlength=len(inventory.templates))
        for weights in (said, said == 1, said == 0)
    )
    has_slots = np.array([len(members) > 1 for members in inventory.members])
    known = uses > 0
    rare = known & has_slots & (uses < _RARE)
    newness = float(once[rare].sum() + 1.0) / float(uses[rare].sum() + 1.0)
    unseen = np.where(known, (once + 0.5) / (uses + 1.0), newness)
    telling = known & has_slots
    groups = int(group_of.max()) + 1
    found = np.bincount(group_of[telling], weights=new[telling], minlength=groups)
    due = np.bincount(group_of[telling], weights=(uses * unseen)[telling], minlength=groups)
    ratio = ((found + 1.0) / (due + 1.0))[group_of]
    prior = ratio * uses
    posterior = (_SHAPE + new) / (np.divide(_SHAPE, prior, out=np.ones(len(prior)), where=known) + unseen)
    return np.where(known, np.where(has_slots, posterior, prior), new / unseen)


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


def adapted(uses: Floats, expected: Floats, act_of: Ints) -> Adapted:
    """The change from ``uses`` in the dialogs learned from to those expected in unknown ones."""
    scaled = uses * (expected.sum() / uses.sum())
    acts = int(act_of.max()) + 1
    before, after = (np.bincount(act_of, weights=counts, minlength=acts) for counts in (scaled, expected))
    seen = uses > 0
    ratio = np.divide(after, before, out=np.ones(acts), where=before > 0)
    factor = np.divide(expected, scaled, out=np.zeros(len(uses)), where=seen)
    extra = np.divide(expected, before[act_of], out=np.ones(len(uses)), where=before[act_of] > 0)
    return Adapted(np.log(ratio), factor, np.where(seen, 0.0, extra))


def unadapted(act_of: Ints) -> Adapted:
    """No change."""
    return Adapted(np.zeros(int(act_of.max()) + 1), np.ones(len(act_of)), np.zeros(len(act_of)))
