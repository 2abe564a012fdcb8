"""Aligning the templates of the two largest systems of a corpus: a classifier of each looks at the other's dialogs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dialgauge.responses.episodes import Episode, points_of
from dialgauge.responses.templates.alignment import partners
from dialgauge.responses.templates.classifier import Classifier
from dialgauge.responses.templates.cues import Cues
from dialgauge.responses.templates.examples import Reader, gold_candidates
from dialgauge.responses.templates.inventory import Ints, Inventory
from dialgauge.responses.templates.logistic import Floats
from dialgauge.responses.templates.talk import Aliases

_PENALTY = 2.0
#: Replies of the bot differ between systems, so the classifiers do without them.
_CUES = ("words", "state")


class _Side:
    """The dialogs of one system: cues and gold templates, and a classifier of them."""

    def __init__(self, dialogs: Sequence[Episode], inventory: Inventory, reader: Reader) -> None:
        points = points_of(dialogs)
        self.cues = [example.cues for example in reader.read(points)]
        self.templates: Ints = inventory.template_of[gold_candidates(points, inventory)]
        self.uses: Floats = np.bincount(self.templates, minlength=len(inventory.templates)).astype(np.float64)
        self._classifier = Classifier.fitted(self.cues, self.templates, len(inventory.templates), _PENALTY)

    def looks_at(self, other: _Side) -> Floats:
        """[b, a]: the mean probability of a here where the other system says b."""
        found = np.exp(self._classifier.log_probabilities(other.cues))
        total = np.zeros((found.shape[1], found.shape[1]))
        np.add.at(total, other.templates, found)
        mean: Floats = total / np.maximum(other.uses, 1.0)[:, None]
        return mean


def aligned(
    dialogs: Sequence[Episode], inventory: Inventory, aliases: Aliases, system_of: Ints
) -> list[tuple[int, int]]:
    """Pairs of templates that say the same in the first and the second system."""
    first, second = ([dialogs[at] for at in np.flatnonzero(system_of == system).tolist()] for system in (0, 1))
    if not first or not second:
        return []
    reader = Reader(inventory, aliases, Cues(np.arange(len(inventory.templates)), _CUES))
    one, other = _Side(first, inventory, reader), _Side(second, inventory, reader)
    return partners(inventory, (one.uses, other.uses), (one.looks_at(other), other.looks_at(one)))
