from __future__ import annotations

import math

import numpy as np
import pytest

from dialgauge.comparison import Comparison, PairedScores, compare_scores
from dialgauge.measures import Score
from dialgauge.report import Table, csv_page, json_page, latex_page, markdown_page


def make(shares: tuple[float, ...] = (0.5, 0.52, 0.8), dialogues: int = 80) -> Comparison:
    random = np.random.default_rng(3)
    den = np.broadcast_to(random.integers(3, 9, size=dialogues), (len(shares), 2, dialogues)).astype(float)
    num = random.binomial(den.astype(int), np.array(shares)[:, None, None]).astype(float)
    names = tuple("abc"[: len(shares)])
    scores = PairedScores(names, ("JGA", "SA"), tuple(f"D{place}" for place in range(dialogues)), num, den)
    return compare_scores(scores, resamples=500, seed=7)


def table(comparison: Comparison, name: str) -> Table:
    return comparison.page([name]).tables[name]


def test_one_dialogue_is_compared_without_promises() -> None:
    num = np.array([[[1.0]], [[0.0]]])
    alone = compare_scores(
        PairedScores(("a", "b"), ("JGA",), ("1",), num, np.ones_like(num)), resamples=50, level=0.995
    )
    assert alone.basis == "99.5% intervals over 1 dialogue"
    (row,) = table(alone, "differences").records()
    assert (row["difference"], row["p"], row["verdict"]) == (1.0, 1.0, "could be noise")
    assert "difference low" not in row
    assert "[" not in str(table(alone, "scores"))


def test_floor_verdicts_and_intervals_tell_one_story() -> None:
    """No row is found below the noise floor, none missed above what is resolved, none has an interval against it."""
    random = np.random.default_rng(0)
    den = np.full((10, 3, 150), 6.0)
    num = random.binomial(6, np.linspace(0.5, 0.6, 10)[:, None, None], size=den.shape).astype(float)
    names = tuple(f"s{place}" for place in range(10))
    scores = PairedScores(names, ("A", "B", "C"), tuple(map(str, range(150))), num, den)
    comparison = compare_scores(scores, resamples=1000)
    found = 0
    for difference in comparison.differences():
        column = comparison.measures.index(difference.measure)
        found += difference.significant
        assert difference.significant == (difference.low > 0 or difference.high < 0)
        assert not (difference.significant and abs(difference.difference) < comparison.floor[column])
        assert not (not difference.significant and abs(difference.difference) > comparison.resolved[column])
    assert 0 < found < 135
    assert (comparison.floor <= comparison.resolved).all()
    assert (comparison.resolved < comparison.detectable).all()


def test_an_undefined_measure_is_never_a_number() -> None:
    comparison = make((0.5, 0.6))
    scores = comparison.scores
    num, den = scores.num.copy(), scores.den.copy()
    num[:, 1], den[:, 1] = 0, 0
    undefined = compare_scores(PairedScores(scores.systems, scores.measures, scores.dialogues, num, den), resamples=50)
    assert table(undefined, "differences").records()[1]["verdict"] == "undefined"
    for render in (markdown_page, latex_page, csv_page, json_page):
        assert "nan" not in render(undefined.page()).lower()
    assert math.isnan(undefined.floor[1])


def test_measures_rank_alike_whichever_direction_is_better() -> None:
    den = np.full((3, 2, 4), 10.0)
    num = np.array([[[5.0] * 4, [9.0] * 4], [[6.0] * 4, [8.0] * 4], [[7.0] * 4, [7.0] * 4]])
    falling = {"turns": Score(value=1.0, unit="turns", higher_is_better=False)}
    scores = PairedScores(("a", "b", "c"), ("JGA", "turns"), tuple("1234"), num, den, run_scores=(falling,) * 3)
    agreement = table(compare_scores(scores, resamples=20), "agreement")
    assert agreement.records()[0]["turns"] == 1.0
    assert agreement.notes == []


def test_intervals_of_scores_do_not_depend_on_the_order_of_dialogues() -> None:
    scores = make().scores
    order = np.random.default_rng(1).permutation(80)
    shuffled = PairedScores(
        scores.systems, scores.measures, scores.dialogues, scores.num[..., order], scores.den[..., order]
    )
    np.testing.assert_array_equal(
        compare_scores(scores, resamples=200).intervals, compare_scores(shuffled, resamples=200).intervals
    )


def undirected(systems: int = 2) -> Comparison:
    """Systems whose score nobody knows the direction of; the first is 2 higher than the second on every task."""
    random = np.random.default_rng(0)
    q = random.normal(3, 1, 30)
    num = np.stack([[q + 2 - 2 * place + (random.normal(0, 0.1, 30) if place > 1 else 0)] for place in range(systems)])
    known = {"q": Score(value=3.0, unit="points", higher_is_better=None)}
    ids = tuple(map(str, range(30)))
    return compare_scores(PairedScores(tuple("abc"[:systems]), ("q",), ids, num, np.ones_like(num), (known,) * systems))


def test_where_nothing_says_whether_more_is_better_nobody_is_best() -> None:
    comparison = undirected()
    assert table(comparison, "differences").records()[0]["verdict"] == "a is higher"
    assert comparison.difference("a", "b", "q").better is None
    scores = comparison.table()
    assert scores.title == "Scores, highest q first" and not any(cell.strong for row in scores.rows for cell in row)
    assert "Not known whether higher is better: q." in scores.notes


@pytest.mark.parametrize(("dialogues", "known"), [(2, False), (5, False), (6, True)])
def test_so_few_dialogues_that_no_difference_could_be_found_resolve_nothing(dialogues: int, known: bool) -> None:
    """Of 5 dialogues the sides can be swapped in 16 ways that differ, so p is at least 1/16."""
    comparison = make((0.2, 0.9), dialogues)
    for numbers in (comparison.floor, comparison.resolved, comparison.detectable):
        assert (not np.isnan(numbers).any()) == known
    assert (table(comparison, "resolution").records()[0]["noise floor"] is None) == (not known)


def test_the_signature_names_what_the_numbers_depend_on() -> None:
    signature = make().signature
    for part in ("dialogues:80", "resamples:500", "seed:7", "correction:step-down-max-t", "paired-randomisation-0.95"):
        assert part in signature
    assert "correction:none" in make((0.5, 0.6)).signature
