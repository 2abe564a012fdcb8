"""Experts and the way to a point, against simple loops straight from their formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from dialgauge.formats import NO_RESULT, SILENCE
from dialgauge.rankers import Episode, Line, Point
from dialgauge.rankers.templates import Experts, Inventory, learn_lexicon, log_softmax, mixed, read

Floats = NDArray[np.float64]


def talk(name: str, turns: int) -> Episode:
    """A dialog of so many turns, the second of them with facts before the user speaks."""
    lines: list[Line] = []
    for turn in range(turns):
        if turn == 1:
            lines.append(Line("fact", "inn R_cuisine thai"))
        lines += [Line("user", SILENCE if turn == 0 else f"{name} asks {turn}"), Line("bot", f"{name} says {turn}")]
    return Episode(name, tuple(lines), tuple(at for at, line in enumerate(lines) if line.kind == "user"))


@pytest.fixture(scope="module")
def inventory() -> Inventory:
    replies = tuple(f"{name} says {turn}" for name in "xy" for turn in range(4))
    return Inventory(learn_lexicon((), (), replies), replies)


@given(st.lists(st.tuples(st.sampled_from("xy"), st.integers(0, 3)), max_size=8))
def test_the_way_to_a_point_is_its_dialog_up_to_it(inventory: Inventory, wanted: list[tuple[str, int]]) -> None:
    moments, places = read([talk(name, 4).points()[turn] for name, turn in wanted], inventory, {})
    for (name, turn), place in zip(wanted, places, strict=True):
        alone, _ = read(talk(name, 4).points()[: turn + 1], inventory, {})
        way, heard = [place], []
        while moments[way[-1]].before >= 0:
            heard.append(moments[way[-1]].heard)
            way.append(moments[way[-1]].before)
        assert [moments[at].cues for at in way] == [moment.cues for moment in reversed(alone)]
        assert [inventory.templates[at] for at in heard] == [f"{name} says {at}" for at in range(turn - 1, -1, -1)]


def test_points_in_order_are_read_once(inventory: Inventory) -> None:
    points = [*talk("x", 4).points(), *talk("y", 3).points()]
    moments, places = read(points, inventory, {})
    assert places == list(range(7)) and len(moments) == 7
    assert [moment.before for moment in moments] == [-1, 0, 1, 2, -1, 4, 5]
    assert len(read(points[2:], inventory, {})[0]) == 7


def test_an_utterance_that_a_query_answers_tells_nothing_about_who_speaks(inventory: Inventory) -> None:
    """The bot's results come, silence, then its words: no reply was heard at the utterance."""
    lines = (Line("user", "hello"), Line("fact", NO_RESULT), Line("user", SILENCE), Line("bot", "x says 1"))
    point = Point("d", 1, lines, "bye")
    assert [(moment.before, moment.heard) for moment in read([point], inventory, {})[0]] == [
        (-1, -1), (0, -1), (1, inventory.parse("x says 1").template)
    ]  # fmt: skip


def expected_mixture(log_p: Floats, said: list[int], prior: Floats) -> Floats:
    """The last of a dialog's points, by the formula: floor 0.01, temper 0.25."""
    belief = prior.copy()
    for at, template in enumerate(said):
        if template >= 0:
            belief *= np.maximum(np.exp(log_p[:, at, template]), 0.01) ** 0.25
    belief /= belief.sum()
    mixed: Floats = np.einsum("s,st->t", belief, np.exp(log_p[:, len(said)]))
    return mixed


@given(st.lists(st.integers(-1, 3), max_size=5), st.integers(0, 2**32 - 1))
def test_experts_are_mixed_as_the_formula_says(said: list[int], seed: int) -> None:
    raw = np.random.default_rng(seed).normal(scale=4.0, size=(3, len(said) + 1, 4))
    log_p = np.stack([log_softmax(part) for part in raw])
    prior = np.array([0.5, 0.2, 0.3])
    found = mixed(log_p, list(range(-1, len(said))), [-1, *said], prior)
    np.testing.assert_allclose(np.exp(found[-1]), expected_mixture(log_p, said, prior), atol=1e-12)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1.0)


def habits() -> tuple[list[list[str]], list[int], Floats]:
    """Two systems: where asked, the first says 0 and the second 1; both greet with 2. The first has more points."""
    cues = [["always", "asked"], ["always", "greeted"]] * 60
    first = np.arange(len(cues)) < 80
    gold = [2 if "greeted" in found else int(not of_first) for found, of_first in zip(cues, first, strict=True)]
    return cues, gold, np.stack([first, ~first], axis=1).astype(np.float64)


def test_experts_learn_habits_and_what_is_common() -> None:
    cues, gold, belongs = habits()
    experts = Experts.fitted(cues, np.array(gold), belongs, 3, (1.0, 1.0))
    one, two = np.exp(experts.log_probabilities([["always", "asked"], ["always", "greeted"]]))
    assert one[0, 0] > 0.8
    assert two[0, 1] > 0.8
    assert min(one[1, 2], two[1, 2]) > 0.8


def test_a_reply_tells_who_speaks() -> None:
    cues, gold, belongs = habits()
    experts = Experts.fitted(cues, np.array(gold), belongs, 3, (1.0, 1.0))
    log_p = experts.log_probabilities([["always", "asked"]] * 3)
    for said in (0, 1):
        found = mixed(log_p, [-1, 0, 1], [-1, said, said], np.array([0.5, 0.5]))
        assert found[2].argmax() == said
        assert found[0, said] < found[1, said] < found[2, said]


def test_a_larger_penalty_of_their_own_makes_experts_alike() -> None:
    cues, gold, belongs = habits()

    def apart(own: float) -> float:
        one, two = Experts.fitted(cues, np.array(gold), belongs, 3, (1.0, own)).weights
        return float(np.abs(one - two).max())

    assert apart(1e6) < 1e-3 < apart(10.0) < apart(1.0)


def test_the_experts_are_at_the_optimum_of_their_loss() -> None:
    """The gradient of the penalised likelihood, written out with the shared and own weights, vanishes."""
    cues, gold, belongs = habits()
    penalty, own_penalty = 2.0, 5.0
    experts = Experts.fitted(cues, np.array(gold), belongs, 3, (penalty, own_penalty))
    x = experts.vocabulary.matrix(cues).toarray()
    shared = own_penalty * experts.weights.sum(axis=0) / (penalty + 2 * own_penalty)  # where the penalties balance
    excess = np.zeros((len(cues), 3))
    for at in range(len(cues)):
        weights = shared + sum(belongs[at, s] * (experts.weights[s] - shared) for s in (0, 1))
        excess[at] = np.exp(log_softmax((x[at] @ weights)[None, :]))[0] - np.eye(3)[gold[at]]
    assert np.abs(x.T @ excess + penalty * shared).max() == pytest.approx(0.0, abs=0.05)
    for s in (0, 1):
        pull = own_penalty * (experts.weights[s] - shared)
        assert np.abs((x * belongs[:, [s]]).T @ excess + pull).max() == pytest.approx(0.0, abs=0.05)
