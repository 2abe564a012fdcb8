"""Templates that no known dialog has: which known ones they resemble.

A new template with the same kinds of slots as a known one and words in common says the same in other words: the two are
one act, and if the known wording is dropped, the new one has taken its place. Others are only heard, not said: where
they occur in a dialog they count as the known template that asks for the same field, or has most words in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from dialgauge.responses.episodes import Episode
from dialgauge.responses.templates.alignment import words_in_common
from dialgauge.responses.templates.expectation import Expected
from dialgauge.responses.templates.inventory import Ints, Inventory
from dialgauge.responses.templates.logistic import Floats
from dialgauge.responses.templates.novelty import Novelty
from dialgauge.responses.templates.questions import Words, asked_fields

#: Least words in common (Jaccard) with a template of the same slots, and with any.
_SAME_SLOTS, _ANY = 0.25, 0.5


def paraphrases(inventory: Inventory, uses: Floats) -> dict[int, int]:
    """New template to the known one with the same kinds of slots and most words in common."""
    known = [t for t in np.flatnonzero(uses > 0).tolist() if inventory.signature(t)]
    found = {}
    for new in np.flatnonzero(uses == 0).tolist():
        alike = [t for t in known if inventory.signature(t) == inventory.signature(new)]
        best = _most_alike(inventory, new, alike, _SAME_SLOTS)
        if best is not None:
            found[new] = best
    return found


def questions(dialogs: Sequence[Episode], inventory: Inventory, novelty: Novelty) -> dict[int, int]:
    """Question with more new texts than known uses, to the known template that asks for the same field."""
    asking = asked_fields(dialogs, inventory)
    words = Words(dialogs, inventory)
    found = {}
    for template in np.flatnonzero(novelty.new > novelty.uses).tolist():
        known = asking.get(words.asked(template) or "")
        if known is not None and known != template:
            found[template] = known
    return found


def stand_ins(inventory: Inventory, uses: Floats, resembled: Mapping[int, int]) -> Ints:
    """Per template the known one that it counts as when it is heard; itself for known ones and strangers."""
    known = np.flatnonzero(uses > 0).tolist()
    found = np.arange(len(inventory.templates))
    for new in np.flatnonzero(uses == 0).tolist():
        best = _most_alike(inventory, new, known, _ANY)
        found[new] = new if best is None else resembled.get(best, best)
    for new, alike in resembled.items():
        found[new] = alike
    return found


def inherited(expected: Expected, novelty: Novelty, alike: Mapping[int, int]) -> Floats:
    """Expected uses, where paraphrases share what their known template, if dropped, would have had."""
    uses = expected.uses.copy()
    texts: Counter[int] = Counter()
    for new, known in alike.items():
        texts[known] += int(novelty.new[new]) + 1
    for new, known in alike.items():
        left = (1.0 - expected.kept[known]) * expected.dialogs * expected.rate[known]
        uses[new] = max(uses[new], left * (novelty.new[new] + 1.0) / texts[known])
    return uses


def _most_alike(inventory: Inventory, new: int, others: Sequence[int], least: float) -> int | None:
    common = {t: words_in_common(inventory.templates[t], inventory.templates[new]) for t in others}
    best = max(common, key=lambda t: common[t], default=None)
    return best if best is not None and common[best] >= least else None
