"""The transductive ranker of task 6 on systems it has not learned from: what adapting to the candidate file buys.

    DIALGAUGE_DATA=../shared/data python benchmarks/bench_transductive.py [--draws N]

Test dialogs are never read. Train has two systems, A and B; dev sounds like B.
In each setting the candidates are the replies of what is learned from and of what is asked, as in a release:

- ``few B``, ``few A``: all of one system (B with dev) and 50 or 100 dialogs of the other, which is then asked;
- ``A > B``, ``B > A``: one system is learned from (B with dev), the other asked: leave one system out;
- ``mixed A``, ``mixed B``: unheard dialogs of a system, half of its acts in the words of the other: a third system;
- ``A in B's words``, ``B in A's words``: the same with all acts that can be reworded: wording and conduct disagree.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from bench_templates import limited, release, systems_of

from dialgauge.rankers.episode import Episode
from dialgauge.rankers.task import RankingTask
from dialgauge.rankers.templates.alignment import aligned
from dialgauge.rankers.templates.inventory import Inventory, learn_lexicon
from dialgauge.rankers.templates.logistic import Floats
from dialgauge.rankers.templates.ranker import Templates, TemplatesTransductive
from dialgauge.rankers.templates.resemblance import learn_aliases
from dialgauge.responses.evaluation import evaluate

RANKERS = (Templates, TemplatesTransductive)


class Setting(NamedTuple):
    """What to learn from and what to answer."""

    name: str
    learned: list[Episode]
    asked: list[Episode]


class Rewording:
    """Replies of one system in the words of the other."""

    def __init__(self, inventory: Inventory, partner: dict[int, int]) -> None:
        self._inventory, self._partner = inventory, partner

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
        trn = task.split("trn")
        system_of = systems_of(task)
        self.a, self.b = ([trn[at] for at in np.flatnonzero(system_of == system).tolist()] for system in (0, 1))
        self.like_b = [*self.b, *task.split("dev")]
        self._inventory = Inventory(learn_lexicon(task.facts, trn, task.candidates), task.candidates)
        self.pairs = aligned(trn, self._inventory, learn_aliases(trn, self._inventory), system_of)

    def settings(self, draws: np.random.Generator) -> Iterator[Setting]:
        """One draw of every setting that depends on chance."""
        a, b = self._shuffled(self.a, draws), self._shuffled(self.b, draws)
        like_b = self._shuffled(self.like_b, draws)
        yield Setting("few B", [*a, *b[:50]], b[50:])
        yield Setting("few A", [*self.like_b, *a[:100]], a[100:700])
        half_a, half_b = len(a) // 2, len(like_b) // 2
        to_b, to_a = self.pairs, [(b, a) for a, b in self.pairs]
        for name, pairs_b, pairs_a in (
            ("mixed {}", self._half(to_b, draws), self._half(to_a, draws)),
            ("{} in {}'s words", to_b, to_a),
        ):
            reworded = Rewording(self._inventory, dict(pairs_b)).dialog
            yield Setting(name.format("A", "B"), [*a[:half_a], *self.b], list(map(reworded, a[half_a:])))
            reworded = Rewording(self._inventory, dict(pairs_a)).dialog
            yield Setting(name.format("B", "A"), [*a, *like_b[:half_b]], list(map(reworded, like_b[half_b:])))

    def left_out(self) -> Iterator[Setting]:
        """One system learned from, the other asked."""
        yield Setting("A > B", self.a, self.like_b)
        yield Setting("B > A", self.like_b, self.a)

    def _shuffled(self, dialogs: Sequence[Episode], draws: np.random.Generator) -> list[Episode]:
        return [dialogs[at] for at in draws.permutation(len(dialogs)).tolist()]

    def _half(self, pairs: Sequence[tuple[int, int]], draws: np.random.Generator) -> list[tuple[int, int]]:
        return [pair for pair in pairs if draws.random() < 0.5]


def measured(task: RankingTask, setting: Setting, kind: Callable[[int], Templates]) -> tuple[float, float]:
    """Per-response and per-dialog accuracy in percent."""
    ranker = kind(0)
    ranker.fit(limited(task, setting.learned, setting.asked))
    result = evaluate(ranker, tuple(setting.asked))
    return 100 * result.per_response, 100 * result.per_dialog


def _cell(mean: Floats, spread: Floats) -> str:
    if not spread.any():
        return f"{mean[0]:.1f} ({mean[1]:.1f})"
    return f"{mean[0]:.1f} ± {spread[0]:.1f} ({mean[1]:.1f} ± {spread[1]:.1f})"


def rows(task: RankingTask, draws: int) -> None:
    """Print a row per setting: mean and (over draws) spread."""
    world = World(task)
    by_name: dict[str, list[Setting]] = {setting.name: [setting] for setting in world.left_out()}
    for draw in range(draws):
        for setting in world.settings(np.random.default_rng(draw)):
            by_name.setdefault(setting.name, []).append(setting)
    print("| setting | draws | " + " | ".join(f"`{kind.name}`" for kind in RANKERS) + " |")
    print("| --- | --- |" + " --- |" * len(RANKERS))
    for name, settings in by_name.items():
        cells = []
        for kind in RANKERS:
            found = np.array([measured(task, setting, kind) for setting in settings])
            cells.append(_cell(found.mean(axis=0), found.std(axis=0)))
        print(f"| {name} | {len(settings)} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=3, help="draws per setting")
    draws, task = parser.parse_args().draws, release()
    if task is not None:
        rows(task, draws)


if __name__ == "__main__":
    main()
