"""The simulator against the released files: the same distributions, tested, with the power to notice if not.

Each feature of the dialogs is compared by a chi-square test of homogeneity between the released train, dev and test
dialogs of a task (3,000) and as many simulated ones with another pool of requests. All features of a task are tested
together at a family-wise level of 1% (Bonferroni). Seeds are fixed, so the outcome is too.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from math import sqrt
from pathlib import Path
from statistics import mean, variance

import pytest
from scipy.stats import chi2_contingency, chisquare

from dialgauge.dialogue import Dialogue
from dialgauge.formats import load_kb
from dialgauge.lab import simulate
from dialgauge.worlds.restaurant import FIELDS, KnowledgeBase, Parameters, Request, goals, load_world
from support.babi_features import features, first_request
from support.babi_release import TASKS, knowledge_base_of, released

#: Its shorter sibling: tests/responses/test_simulated_values.py.
pytestmark = pytest.mark.soak
WORLD = load_world()
LEVEL = 0.01
IN_VOCABULARY = ("trn", "dev", "tst")
#: Distinct first requests in train, and in dev and test together (specification, section 3).
POOLS = {1: (159, 141), 2: (154, 146), 3: (60, 35), 4: (151, 126), 5: (163, 137)}
OOV_POOLS = {1: 160, 2: 149, 3: 62, 4: 127, 5: 153}


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


@pytest.mark.parametrize(
    ("task", "constant", "value", "feature"),
    [
        (1, "SAID", {1: (1, 4)}, "number of fields"),
        (2, "UPDATED", {2: (1, 3)}, "number of updates"),
        (4, "SHARES", (0.3, 0.3, 0.4), "questions"),
    ],
)
def test_a_simulator_that_is_off_is_noticed(
    their_features: Features,
    their_base: KnowledgeBase,
    monkeypatch: pytest.MonkeyPatch,
    task: int,
    constant: str,
    value: object,
    feature: str,
) -> None:
    monkeypatch.setattr(goals, constant, value)
    off = features(simulate(WORLD, task, "trn", 1000, SEED, knowledge=their_base))
    p, found = smallest_p(their_features[task], off)
    assert p < LEVEL
    assert found == feature


def test_users_who_accept_too_often_are_noticed(their_features: Features, their_base: KnowledgeBase) -> None:
    parameters = Parameters(seed=1, accept=0.35)
    off = features(simulate(WORLD, 3, "trn", 1000, parameters, knowledge=their_base))
    p, found = smallest_p(their_features[3], off)
    assert p < LEVEL and found == "option that is not the last"


@pytest.mark.parametrize(("task", "turns"), [(1, 6.0), (2, 9.5), (3, 9.9), (4, 3.5), (5, 18.4)])
def test_mean_number_of_turns(shared_data: Path, ours: Simulated, task: int, turns: float) -> None:
    """The means differ by less than four standard errors, and round to what the specification measured."""
    left = [len(dialogue.turns) / 2 for dialogue in theirs(shared_data, task)]
    right = [len(dialogue.turns) / 2 for split in IN_VOCABULARY for dialogue in ours[task, split]]
    assert round(mean(left), 1) == pytest.approx(turns, abs=0.1)
    assert abs(mean(left) - mean(right)) < 4 * sqrt(variance(left) / len(left) + variance(right) / len(right))


@pytest.mark.parametrize("task", TASKS)
def test_released_pools_are_what_ours_are_built_like(shared_data: Path, task: int) -> None:
    train, dev, test = ({first_request(d) for d in released(shared_data, task, split)} for split in IN_VOCABULARY)
    assert not train & (dev | test)
    assert (len(train), len(dev | test)) == POOLS[task]
    assert len({first_request(d) for d in released(shared_data, task, "tst-OOV")}) == OOV_POOLS[task]


@pytest.mark.parametrize("task", TASKS)
def test_our_pools(ours: Simulated, task: int) -> None:
    """Disjoint, half of the eligible requests each, dev and test alike, drawn uniformly (but for task 5)."""
    splits = {split: Counter(map(first_request, ours[task, split])) for split in IN_VOCABULARY}
    evaluation = splits["dev"] + splits["tst"]
    assert not splits["trn"].keys() & evaluation.keys()
    eligible = sum(POOLS[task])
    # A request of a pool of 150 stays undrawn in 1,000 draws with probability 0.001; rarer ones of task 5 more often.
    assert eligible - 5 <= len(splits["trn"] | evaluation) <= eligible
    assert abs(len(splits["trn"]) - eligible / 2) <= 5
    for counts in (splits["trn"], evaluation):
        if task != 5:
            assert chisquare(list(counts.values())).pvalue > LEVEL / 10


def chance_of_results(first: Request, base: KnowledgeBase) -> float:
    """The probability that random updates of a request lead to at least three results, straight from the definition."""
    values = WORLD.values(WORLD.half("A"))
    chance = 0.0
    for count in (1, 2, 3):
        subsets = list(combinations(range(4), count))
        for subset in subsets:
            cuisines, locations, sizes, prices = (
                [value for value in values[field] if (value != first[place]) == (place in subset)]
                for place, field in enumerate(FIELDS)
            )
            finals = list(product(cuisines, locations, sizes, prices))
            good = sum(len(base.query(final)) >= 3 for final in finals)
            chance += good / len(finals) / len(subsets) / 3
    return chance


@pytest.mark.parametrize("whose", ["theirs", "ours"])
@pytest.mark.parametrize("splits", [("trn",), ("dev", "tst")])
def test_first_requests_of_task_5_follow_from_redrawing_whole_dialogs(
    shared_data: Path, ours: Simulated, their_base: KnowledgeBase, whose: str, splits: tuple[str, ...]
) -> None:
    """A request comes up in proportion to its chance of leading to a shown one, in the released files as in ours.

    Uniform first requests do not fit the released dev and test dialogs (p = 0.003).
    """
    dialogues = [d for s in splits for d in (released(shared_data, 5, s) if whose == "theirs" else ours[5, s])]
    counts = Counter(map(first_request, dialogues))
    chances = {request: chance_of_results(request, their_base) for request in counts}
    scale = len(dialogues) / sum(chances.values())
    expected = [chances[request] * scale for request in counts]
    assert chisquare(list(counts.values()), expected).pvalue > LEVEL


@pytest.mark.parametrize("whose", ["theirs", "ours"])
def test_all_restaurants_of_task_5_are_seen_in_training(shared_data: Path, ours: Simulated, whose: str) -> None:
    """A property of the release that ours must keep: a model that memorises names does well on task 5."""
    names = {}
    for split in ("trn", "tst"):
        dialogues = released(shared_data, 5, split) if whose == "theirs" else ours[5, split]
        names[split] = {fact.entity for d in dialogues for t in d.turns for fact in t.results or ()}
    assert names["tst"] <= names["trn"]
    assert len(names["trn"]) == 65 * 3 + 24 * 4 + 5 * 5 + 6
