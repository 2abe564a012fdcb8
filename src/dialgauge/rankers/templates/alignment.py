"""Paraphrases: templates of two systems that say the same thing with the same slots, learned from use and words.

A template is a system's own when the other (nearly) never says it. Two own templates of different systems with the same
kinds of slots are partners when each is the other's best match by

    words in common (Jaccard)  +  P̄_a(b's partner | where b is said)  +  the reverse  +  ratio of their frequencies

where P̄_a(t | …) is the mean probability that a classifier trained on system a alone gives to t.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dialgauge.rankers.episode import Episode, points_of
from dialgauge.rankers.templates.features import Cues, Reader, gold_candidates
from dialgauge.rankers.templates.history import Aliases
from dialgauge.rankers.templates.inventory import Ints, Inventory
from dialgauge.rankers.templates.logistic import Classifier, Floats

_LEAST_USES = 5
#: The other system may use an own template this often, relative to its owner.
_SLIPS = 0.02
_LEAST_WORDS = 0.25


def own_templates(uses: Floats, others: Floats) -> Ints:
    """Templates that a system uses and the other does not."""
    return np.flatnonzero((uses >= _LEAST_USES) & (others < _SLIPS * uses))


def ownership(first: Floats, second: Floats) -> Ints:
    """Per template: 0 when both systems use it, 1 or 2 when it is the first's or the second's own."""
    owner = np.zeros(len(first), dtype=np.int64)
    owner[own_templates(first, second)] = 1
    owner[own_templates(second, first)] = 2
    return owner


def words_in_common(one: str, other: str) -> float:
    """Jaccard index of the words of two templates, slots and punctuation left out."""
    first, second = _words(one), _words(other)
    return len(first & second) / max(len(first | second), 1)


def _words(template: str) -> set[str]:
    words = (word.lower().strip(".,?;'") for word in template.split() if not word.startswith("<"))
    return {word for word in words if word}


def partners(inventory: Inventory, uses: tuple[Floats, Floats], seen: tuple[Floats, Floats]) -> list[tuple[int, int]]:
    """Pairs (template of the first system, template of the second).

    ``uses`` holds how often each system uses each template; ``seen[0][b, a]`` is the mean probability that the first
    system's classifier gives to template a where the second says b, and ``seen[1][a, b]`` the reverse.
    """
    rates = [counts / max(counts.sum(), 1.0) for counts in uses]
    match: dict[tuple[int, int], float] = {}
    for a in own_templates(uses[0], uses[1]).tolist():
        for b in own_templates(uses[1], uses[0]).tolist():
            common = words_in_common(inventory.templates[a], inventory.templates[b])
            if inventory.signature(a) == inventory.signature(b) != () and common >= _LEAST_WORDS:
                low, high = sorted((rates[0][a], rates[1][b]))
                match[a, b] = common + float(seen[0][b, a] + seen[1][a, b]) + low / high
    return [pair for pair in match if _is_best(pair, match)]


def _is_best(pair: tuple[int, int], match: dict[tuple[int, int], float]) -> bool:
    rivals = [other for other in match if other != pair and (other[0] == pair[0] or other[1] == pair[1])]
    return all(match[pair] > match[rival] for rival in rivals)


def acts_of(templates: int, pairs: list[tuple[int, int]]) -> Ints:
    """An act per template, numbered in the order of their first templates: partners share one."""
    act = list(range(templates))
    for a, b in pairs:
        act = [act[a] if kind == act[b] else kind for kind in act]
    number = {kind: place for place, kind in enumerate(dict.fromkeys(act))}
    return np.array([number[kind] for kind in act], dtype=np.int64)


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

    def mean_probabilities(self, other: _Side) -> Floats:
        """[b, a]: the mean probability of a here where the other system says b."""
        probability = np.exp(self._classifier.log_probabilities(other.cues))
        total = np.zeros((probability.shape[1], probability.shape[1]))
        np.add.at(total, other.templates, probability)
        mean: Floats = total / np.maximum(other.uses, 1.0)[:, None]
        return mean


def aligned(
    dialogs: Sequence[Episode], inventory: Inventory, aliases: Aliases, system_of: Ints
) -> list[tuple[int, int]]:
    """Pairs of templates that say the same in the first and the second system.

    A classifier of each system is asked about the other's dialogs.
    """
    first, second = ([dialogs[at] for at in np.flatnonzero(system_of == system).tolist()] for system in (0, 1))
    if not first or not second:
        return []
    reader = Reader(inventory, aliases, Cues(np.arange(len(inventory.templates)), _CUES))
    one, other = _Side(first, inventory, reader), _Side(second, inventory, reader)
    return partners(inventory, (one.uses, other.uses), (one.mean_probabilities(other), other.mean_probabilities(one)))
