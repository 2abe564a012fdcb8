"""The simulator against the released files: the same distributions, tested, with the power to notice if not.

Each feature of the dialogs is compared by a chi-square test of homogeneity between the released train, dev and test
dialogs of a task (3,000) and as many simulated ones with another pool of requests. All features of a task are tested
together at a family-wise level of 1% (Bonferroni). Seeds are fixed, so the outcome is too.
"""

from __future__ import annotations

from collections import Counter
from math import sqrt
from pathlib import Path
from statistics import mean, variance

import pytest
from scipy.stats import chi2_contingency

from dialgauge.dialogue import Dialogue
from dialgauge.formats import load_kb
from dialgauge.lab import simulate
from dialgauge.worlds.restaurant import KnowledgeBase, Parameters, load_world
from support.babi_features import features
from support.babi_release import TASKS, knowledge_base_of, released

#: Its shorter sibling: tests/responses/test_simulated_values.py.
pytestmark = pytest.mark.soak
WORLD = load_world()
LEVEL = 0.01
IN_VOCABULARY = ("trn", "dev", "tst")


SEED = Parameters(seed=1)


@pytest.fixture(scope="module")
def their_base(shared_data: Path) -> KnowledgeBase:
    """The released half A, so that the numbers of results agree too."""
    return knowledge_base_of(load_kb(shared_data / "babi" / "dialog-babi-kb-all.txt.gz"), WORLD.half("A"))


@pytest.fixture(scope="module")
def ours(their_base: KnowledgeBase) -> dict[tuple[int, str], list[Dialogue]]:
    """As many simulated dialogs as were released, by task and split."""
    keys = [(task, split) for task in TASKS for split in IN_VOCABULARY]
    return {key: list(simulate(WORLD, *key, 1000, SEED, knowledge=their_base)) for key in keys}


@pytest.fixture(scope="module")
def their_features(shared_data: Path) -> dict[int, dict[str, Counter[str]]]:
    return {task: features(theirs(shared_data, task)) for task in TASKS}


def theirs(data: Path, task: int) -> list[Dialogue]:
    return [dialogue for split in IN_VOCABULARY for dialogue in released(data, task, split)]


def smallest_p(left: dict[str, Counter[str]], right: dict[str, Counter[str]]) -> tuple[float, str]:
    """The smallest p-value over the features both have, times their number, and the feature."""
    worst, common = (1.0, ""), sorted(left.keys() & right.keys())
    for feature in common:
        categories = sorted(left[feature] | right[feature])
        if len(categories) > 1:
            table = [[counts[feature][category] for category in categories] for counts in (left, right)]
            worst = min(worst, (float(chi2_contingency(table).pvalue), feature))
    return worst[0] * len(common), worst[1]


Simulated = dict[tuple[int, str], list[Dialogue]]
Features = dict[int, dict[str, Counter[str]]]


@pytest.mark.parametrize("task", TASKS)
def test_same_distributions_as_the_released_files(their_features: Features, ours: Simulated, task: int) -> None:
    simulated = features(dialogue for split in IN_VOCABULARY for dialogue in ours[task, split])
    assert simulated.keys() == their_features[task].keys()
    p, feature = smallest_p(their_features[task], simulated)
    assert p > LEVEL, feature


@pytest.mark.parametrize(("task", "turns"), [(1, 6.0), (2, 9.5), (3, 9.9), (4, 3.5), (5, 18.4)])
def test_mean_number_of_turns(shared_data: Path, ours: Simulated, task: int, turns: float) -> None:
    """The means differ by less than four standard errors, and round to what the specification measured."""
    left = [len(dialogue.turns) / 2 for dialogue in theirs(shared_data, task)]
    right = [len(dialogue.turns) / 2 for split in IN_VOCABULARY for dialogue in ours[task, split]]
    assert round(mean(left), 1) == pytest.approx(turns, abs=0.1)
    assert abs(mean(left) - mean(right)) < 4 * sqrt(variance(left) / len(left) + variance(right) / len(right))
