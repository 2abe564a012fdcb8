"""Adapting to a candidate file: every candidate was said in some dialog, so those that the known dialogs lack tell
which system the unknown ones are from and how often it uses each template.

Four things change. Dialogs of a system whose wording is dropped count less in learning. The probabilities of acts and
of wordings are shifted from the uses learned from to those expected (Saerens, Latinne and Decaestecker 2002). A new
template that words a known act otherwise can be said. And new templates are heard as the known ones they resemble.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dialgauge.rankers.episode import Episode
from dialgauge.rankers.templates.alignment import ownership
from dialgauge.rankers.templates.expectation import Flags, Known, expectation, novelty
from dialgauge.rankers.templates.features import reply_candidates, reply_templates
from dialgauge.rankers.templates.inventory import Ints, Inventory
from dialgauge.rankers.templates.logistic import Floats
from dialgauge.rankers.templates.resemblance import inherited, paraphrases, questions, stand_ins
from dialgauge.rankers.templates.systems import Systems, most_likely, template_counts

#: Dialogs of a system whose wording is dropped still count this much: what to say is partly the same everywhere.
_LEAST_WEIGHT = 0.1


class Adapted(NamedTuple):
    """How templates are used in unknown dialogs, relative to known ones.

    ``act`` is added to log P(act); P(template | act) is multiplied by ``factor`` and gets ``extra`` before it is
    normalised (``extra`` is for templates that no known dialog has).
    """

    act: Floats
    factor: Floats
    extra: Floats


class AdaptationPlan(NamedTuple):
    """What the candidates reveal: see :func:`planned`."""

    #: How much each system's dialogs count in learning.
    weights: Floats
    #: (known template, new template) that are one act.
    pairs: list[tuple[int, int]]
    #: Per template the one that it counts as when it is heard.
    stand_in: Ints
    #: Expected uses of each template.
    uses: Floats


def planned(known: Sequence[Episode], inventory: Inventory, systems: Systems, *, told_apart: bool) -> AdaptationPlan:
    """How to adapt to the candidates of an inventory, given all known dialogs; ``systems`` are those learned from.

    Unless the systems are ``told_apart`` by some act that they word differently, they count as one.
    """
    counts = template_counts(inventory, reply_templates(known, inventory))
    fresh = novelty(inventory, reply_candidates(known, inventory))
    expected = expectation(_usage(counts, systems, fresh.slotted, told_apart=told_apart), fresh)
    asking = questions(known, inventory, fresh)
    alike = {new: old for new, old in paraphrases(inventory, fresh.uses).items() if new not in asking}
    share = expected.systems / expected.systems.max()
    return AdaptationPlan(
        np.maximum(share, _LEAST_WEIGHT) if told_apart else np.ones(len(systems.share)),
        [(old, new) for new, old in alike.items()],
        stand_ins(inventory, fresh.uses, {**alike, **asking}),
        inherited(expected, fresh, alike),
    )


def _usage(counts: Floats, systems: Systems, slotted: Flags, *, told_apart: bool) -> Known:
    if not told_apart:
        return Known(counts.sum(axis=0)[None], np.array([float(len(counts))]), slotted.astype(np.int64))
    system_of = most_likely(systems.posterior(counts))
    sides = [counts[system_of == system] for system in range(len(systems.share))]
    uses = np.array([side.sum(axis=0) for side in sides])
    return Known(uses, np.array(list(map(len, sides)), dtype=np.float64), ownership(systems.use[0], systems.use[1]))


def adapted(uses: Floats, expected: Floats, act_of: Ints) -> Adapted:
    """The change from ``uses`` in the dialogs learned from to those expected in unknown ones."""
    acts = int(act_of.max()) + 1
    seen = uses > 0
    sayable = seen | (np.bincount(act_of, weights=uses, minlength=acts)[act_of] > 0)
    expected = np.where(sayable, expected, 0.0)
    scaled = uses * (expected.sum() / uses.sum())
    before, after = (np.bincount(act_of, weights=counts, minlength=acts) for counts in (scaled, expected))
    ratio = np.divide(after, before, out=np.ones(acts), where=before > 0)
    factor = np.divide(expected, scaled, out=np.zeros(len(uses)), where=seen)
    extra = np.divide(expected, before[act_of], out=np.ones(len(uses)), where=before[act_of] > 0)
    return Adapted(np.log(ratio), factor, np.where(seen, 0.0, extra))


def unadapted(act_of: Ints) -> Adapted:
    """No change."""
    return Adapted(np.zeros(int(act_of.max()) + 1), np.ones(len(act_of)), np.zeros(len(act_of)))
