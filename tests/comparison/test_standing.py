from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from dialgauge.comparison import Comparison, PairedScores, compare_scores, letters, order, standings
from dialgauge.measures import Score


def alike_of(systems: int, different: set[tuple[int, int]]) -> np.ndarray:
    alike = np.ones((systems, systems), bool)
    for a, b in different:
        alike[a, b] = alike[b, a] = False
    return alike


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.tuples(*[st.integers(0, n - 1)] * 2)))))
def test_two_systems_share_a_letter_exactly_where_they_are_alike(case: tuple[int, set[tuple[int, int]]]) -> None:
    systems, pairs = case
    alike = alike_of(systems, {(a, b) for a, b in pairs if a != b})
    texts = letters(alike, list(range(systems)))
    for one in range(systems):
        assert texts[one]
        for other in range(systems):
            assert bool(set(texts[one]) & set(texts[other])) == alike[one, other]


def compared(shares: list[float], higher_is_better: bool = True) -> Comparison:
    random = np.random.default_rng(1)
    den = np.full((len(shares), 1, 200), 5.0)
    num = random.binomial(5, np.array(shares)[:, None, None], size=den.shape).astype(float)
    names = tuple(f"s{place}" for place in range(len(shares)))
    score = {"JGA": Score(value=0.5, unit="share", higher_is_better=higher_is_better)}
    scores = PairedScores(names, ("JGA",), tuple(map(str, range(200))), num, den, (score,) * len(shares))
    return compare_scores(scores, resamples=500)


def test_ranks_are_what_the_tests_leave_open() -> None:
    comparison = compared([0.3, 0.8, 0.31, 0.6])
    (standing,) = standings(comparison)
    assert order(comparison)[:2] == [1, 3]
    assert standing.letters == ("c", "a", "c", "b")
    assert [standing.ranks(system) for system in range(4)] == ["3-4", "1", "3-4", "2"]


def test_where_less_is_better_the_least_stands_first() -> None:
    comparison = compared([0.3, 0.8, 0.6], higher_is_better=False)
    (standing,) = standings(comparison)
    assert order(comparison) == [0, 2, 1]
    assert [standing.ranks(system) for system in range(3)] == ["1", "3", "2"]
    assert standing.letters == ("a", "c", "b")
