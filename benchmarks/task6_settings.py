"""What to learn from and what to answer: settings for the template rankers, all made of train and dev of task 6.

Test dialogs are never read. Train mixes the dialogs of two systems, A (larger) and B; dev sounds like B. The candidates
of a setting are the replies of what is learned from and of what is asked, as in a release.

- ``dev``: learn from train, answer dev;
- ``A > B``, ``B > A``: one system is learned from (B with dev), the other asked: leave one system out;
- ``few B``, ``few A``: all of one system (B with dev) and 50 or 100 dialogs of the other, which is then asked;
- ``mixed A``, ``mixed B``: unheard dialogs of a system, half of it in the words of the other: a third system;
- ``A in B's words``, ``B in A's words``: the same with all templates that can be reworded: words and conduct disagree.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dialgauge.rankers import Episode, RankingTask, load_task
from dialgauge.rankers.templates.inventory import Inventory, learn_lexicon
from dialgauge.rankers.templates.ranker import Templates, replies_of
from dialgauge.rankers.templates.systems import template_counts, told_apart
from dialgauge.rankers.templates.transductive import words_in_common
from dialgauge.responses import evaluate

#: A template is a system's own if it is used this often, and the other uses it this much less.
OWN_USES, SLIPS = 5, 0.02


def release() -> RankingTask | None:
    """Train and dev of task 6, where the data is present."""
    root = os.environ.get("DIALGAUGE_DATA", "")
    if not root or not (Path(root) / "babi").is_dir():
        print("no data: set DIALGAUGE_DATA to the folder that holds babi/")
        return None
    return load_task(Path(root) / "babi", 6, ("trn", "dev"))


class Setting(NamedTuple):
    """What to learn from and what to answer."""

    name: str
    learned: list[Episode]
    asked: list[Episode]

    def sampled(self, most: int) -> Setting:
        """At most so many dialogs of either side."""
        draws = np.random.default_rng(0)
        learned, asked = ([side[at] for at in draws.permutation(len(side))[:most]] for side in self[1:])
        return Setting(self.name, learned, asked)

    def task(self, release: RankingTask) -> RankingTask:
        """The task with just the replies of both sides as candidates; those of the release keep their order."""
        replies = dict.fromkeys(text for dialog in (*self.learned, *self.asked) for text in replies_of(dialog))
        candidates = tuple(sorted(replies, key=lambda text: release.index.get(text, len(release.candidates))))
        return replace(release, splits={"trn": tuple(self.learned)}, candidates=candidates)

    def reached(self, release: RankingTask, ranker: Templates) -> tuple[float, float]:
        """Per-response and per-dialog accuracy in percent."""
        ranker.fit(self.task(release))
        result = evaluate(ranker, tuple(self.asked))
        return 100 * result.per_response, 100 * result.per_dialog


class Rewording:
    """Replies of one system in the words of the other."""

    def __init__(self, inventory: Inventory, pairs: Sequence[tuple[int, int]]) -> None:
        self._inventory, self._partner = inventory, dict(pairs)

    def dialog(self, dialog: Episode) -> Episode:
        """A dialog with its replies reworded."""
        lines = (line._replace(text=self.text(line.text)) if line.kind == "bot" else line for line in dialog.lines)
        return dialog._replace(lines=tuple(lines))

    def text(self, text: str) -> str:
        """The reply with its slots in the partner's template."""
        template, slots = self._inventory.parse(text)
        if template not in self._partner:
            return text
        value = {f"<{slot.kind}>": slot.value for slot in slots}
        return " ".join(value.get(word, word) for word in self._inventory.templates[self._partner[template]].split())


class World:
    """The dialogs of the two systems, and the templates that say the same."""

    def __init__(self, task: RankingTask) -> None:
        trn, self._dev = list(task.split("trn")), list(task.split("dev"))
        self._inventory = Inventory(learn_lexicon(task.facts, trn, task.candidates), task.candidates)
        counts = template_counts(self._inventory, list(map(replies_of, trn)))
        system_of = told_apart(self._inventory, counts).argmax(axis=1)
        self._trn = trn
        self._a, self._b = ([trn[at] for at in np.flatnonzero(system_of == system)] for system in (0, 1))
        self._like_b = [*self._b, *self._dev]
        self._pairs = self._partners(*(counts[system_of == system].sum(axis=0) for system in (0, 1)))

    def fixed(self) -> list[Setting]:
        """The settings that do not depend on chance."""
        return [
            Setting("dev", self._trn, self._dev),
            Setting("A > B", self._a, self._like_b),
            Setting("B > A", self._like_b, self._a),
        ]

    def drawn(self, draw: int) -> Iterator[Setting]:
        """One draw of every setting that depends on chance."""
        draws = np.random.default_rng(draw)
        a, b, like_b = ([side[at] for at in draws.permutation(len(side))] for side in (self._a, self._b, self._like_b))
        yield Setting("few B", [*a, *b[:50]], b[50:])
        yield Setting("few A", [*self._like_b, *a[:100]], a[100:700])
        half_a, half_b = len(a) // 2, len(like_b) // 2
        for name, pairs in (
            ("mixed {}", [pair for pair in self._pairs if draws.random() < 0.5]),
            ("{} in {}'s words", self._pairs),
        ):
            to_b = Rewording(self._inventory, pairs).dialog
            yield Setting(name.format("A", "B"), [*a[:half_a], *self._b], list(map(to_b, a[half_a:])))
            to_a = Rewording(self._inventory, [(b, a) for a, b in pairs]).dialog
            yield Setting(name.format("B", "A"), [*a, *like_b[:half_b]], list(map(to_a, like_b[half_b:])))

    def _partners(self, of_a: np.ndarray, of_b: np.ndarray) -> list[tuple[int, int]]:
        """Templates of A alone and of B alone with the same slots, each with more words of the other than of any."""
        texts, signatures = self._inventory.templates, self._inventory.signatures
        common = {
            (a, b): words_in_common(texts[a], texts[b])
            for a in np.flatnonzero((of_a >= OWN_USES) & (of_b < SLIPS * of_a)).tolist()
            for b in np.flatnonzero((of_b >= OWN_USES) & (of_a < SLIPS * of_b)).tolist()
            if signatures[a] == signatures[b] != ()
        }
        best_of_a = {a: max((pair for pair in common if pair[0] == a), key=common.__getitem__) for a, _ in common}
        best_of_b = {b: max((pair for pair in common if pair[1] == b), key=common.__getitem__) for _, b in common}
        return [pair for pair in common if best_of_a[pair[0]] == pair == best_of_b[pair[1]] and common[pair] > 0]
