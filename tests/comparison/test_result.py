from __future__ import annotations

import json
import math

import numpy as np
import pytest

from dialgauge.comparison import (
    Comparison,
    PairedScores,
    compare_scores,
    floor_table,
    pair_table,
    rank_table,
    score_table,
    standing_tables,
    verdict_words,
)
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Score
from dialgauge.stats import paired_randomisation, ratio_intervals


def make(shares: tuple[float, ...] = (0.5, 0.52, 0.8), dialogues: int = 80) -> Comparison:
    random = np.random.default_rng(3)
    den = np.broadcast_to(random.integers(3, 9, size=dialogues), (len(shares), 2, dialogues)).astype(float)
    num = random.binomial(den.astype(int), np.array(shares)[:, None, None]).astype(float)
    names = tuple("abc"[: len(shares)])
    scores = PairedScores(names, ("JGA", "SA"), tuple(f"D{place}" for place in range(dialogues)), num, den)
    return compare_scores(scores, resamples=500, seed=7)


def test_it_puts_the_statistics_together() -> None:
    comparison = make()
    scores = comparison.scores
    np.testing.assert_array_equal(
        comparison.intervals[1], ratio_intervals(scores.num[1], scores.den[1], resamples=1000, seed=7)
    )
    found = {(d.first, d.second, d.measure): d for d in comparison.differences()}
    assert len(found) == 6
    pair = found["a", "c", "JGA"]
    assert pair.difference == pytest.approx(comparison.corpus_values[0, 0] - comparison.corpus_values[2, 0])
    assert pair.low < pair.difference < pair.high < 0
    assert pair.significant
    assert pair.p_randomisation == paired_randomisation(scores.num, scores.den, resamples=500, seed=7).p[1, 0]
    assert pair.adjusted >= pair.p_randomisation
    assert pair.wins + pair.ties + pair.losses == 80
    assert not found["a", "b", "JGA"].significant
    assert comparison.difference("a", "c", "JGA") == pair


def test_a_difference_is_first_minus_second_whichever_comes_first() -> None:
    comparison = make()
    there, back = comparison.difference("a", "c", "JGA"), comparison.difference("c", "a", "JGA")
    assert (back.first, back.second, back.difference) == ("c", "a", -there.difference)
    assert (back.low, back.high, back.wins, back.losses) == (-there.high, -there.low, there.losses, there.wins)
    assert (back.adjusted, back.error, back.ties) == (there.adjusted, there.error, there.ties)
    assert back.turned() == there
    with pytest.raises(DialgaugeError, match="compared with itself"):
        comparison.difference("a", "a", "JGA")


@pytest.mark.parametrize(("dialogues", "known"), [(2, False), (5, False), (6, True)])
def test_so_few_dialogues_that_no_difference_could_be_found_resolve_nothing(dialogues: int, known: bool) -> None:
    """Of 5 dialogues the sides can be swapped in 16 ways that differ, so p is at least 1/16."""
    comparison = make((0.2, 0.9), dialogues)
    for numbers in (comparison.floor, comparison.resolved, comparison.detectable):
        assert (not np.isnan(numbers).any()) == known
    told = floor_table(comparison).render("markdown")
    assert ("| JGA | – | – | – |" in told) == ("or there are too few dialogues" in told) == (not known)


def test_equal_systems_say_nothing_about_noise() -> None:
    num = np.array([[[1.0, 0.0, 1.0]], [[1.0, 0.0, 1.0]]])
    same = compare_scores(PairedScores(("a", "b"), ("JGA",), tuple("123"), num, np.ones_like(num)), resamples=50)
    assert math.isnan(same.floor[0])
    told = floor_table(same).render("markdown")
    assert "| JGA | – | – | – | 0.0 |" in told
    assert "–: unknown: the systems differ by the same amount on every dialogue" in told


def test_one_dialogue_is_compared_without_promises() -> None:
    num = np.array([[[1.0]], [[0.0]]])
    alone = compare_scores(
        PairedScores(("a", "b"), ("JGA",), ("1",), num, np.ones_like(num)), resamples=50, level=0.995
    )
    assert alone.basis == "99.5% intervals over 1 dialogue"
    (row,) = json.loads(pair_table(alone).render("json"))["rows"]
    assert (row["difference"], row["p"], row["verdict"]) == (1.0, 1.0, "could be noise")
    assert "difference low" not in row
    assert "[" not in score_table(alone).render("markdown").split("Signature")[0]


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
        assert (verdict_words(difference) == "could be noise") == (not difference.significant)
        assert not (difference.significant and abs(difference.difference) < comparison.floor[column])
        assert not (not difference.significant and abs(difference.difference) > comparison.resolved[column])
    assert 0 < found < 135
    assert (comparison.floor <= comparison.resolved).all()
    assert (comparison.resolved < comparison.detectable).all()


def test_the_level_is_that_of_verdicts_and_intervals() -> None:
    scores = make().scores
    strict = compare_scores(scores, resamples=500, level=0.999)
    assert strict.alpha == 0.001
    assert not any(difference.significant for difference in strict.differences())  # 1/501 is more
    assert "use 1,000 or more (--resamples)" in floor_table(strict).notes[-1]


def test_the_signature_names_what_the_numbers_depend_on() -> None:
    signature = make().signature
    for part in ("dialogues:80", "resamples:500", "seed:7", "correction:step-down-max-t", "paired-randomisation-0.95"):
        assert part in signature
    assert "correction:none" in make((0.5, 0.6)).signature


def test_systems_stand_best_first_with_letters() -> None:
    rows = json.loads(score_table(make()).render("json"))["rows"]
    assert [row["system"] for row in rows] == ["c", "a", "b"]
    assert [row["JGA mark"].strip() for row in rows] == ["a", "b", "b"]
    text = score_table(make()).render("latex")
    assert r"\textbf{0.8" in text
    assert "Signature: dialogues:80" in text
    assert "step-down max-T over the 3 pairs" in text


def test_pair_table_answers_the_plain_question() -> None:
    rows = json.loads(pair_table(make()).render("json"))["rows"]
    answers = {(row["first"], row["second"], row["measure"]): row["verdict"] for row in rows}
    assert answers["a", "b", "JGA"] == "could be noise"
    assert answers["a", "c", "JGA"] == "c is better"
    assert "p adjusted" in rows[0]
    assert "p adjusted" not in json.loads(pair_table(make((0.5, 0.9))).render("json"))["rows"][0]


def test_an_undefined_measure_is_never_a_number() -> None:
    comparison = make((0.5, 0.6))
    scores = comparison.scores
    num, den = scores.num.copy(), scores.den.copy()
    num[:, 1], den[:, 1] = 0, 0
    undefined = compare_scores(PairedScores(scores.systems, scores.measures, scores.dialogues, num, den), resamples=50)
    assert verdict_words(list(undefined.differences())[1]) == "undefined"
    for table in (score_table(undefined), pair_table(undefined), floor_table(undefined), rank_table(undefined)):
        for output in ("markdown", "latex", "csv", "json"):
            assert "nan" not in str(table.render(output)).lower()
    assert math.isnan(undefined.floor[1])


def test_rank_table_names_measures_that_disagree() -> None:
    den = np.full((3, 2, 4), 10.0)
    num = np.array([[[5.0] * 4, [9.0] * 4], [[6.0] * 4, [8.0] * 4], [[7.0] * 4, [7.0] * 4]])
    comparison = compare_scores(PairedScores(("a", "b", "c"), ("JGA", "SA"), tuple("1234"), num, den), resamples=20)
    table = rank_table(comparison)
    assert json.loads(table.render("json"))["rows"][0]["SA"] == -1.0
    assert table.notes == ["These measures order some of the 3 system pairs oppositely: JGA and SA (3)."]


def test_measures_rank_alike_whichever_direction_is_better() -> None:
    den = np.full((3, 2, 4), 10.0)
    num = np.array([[[5.0] * 4, [9.0] * 4], [[6.0] * 4, [8.0] * 4], [[7.0] * 4, [7.0] * 4]])
    falling = {"turns": Score(value=1.0, unit="turns", higher_is_better=False)}
    scores = PairedScores(("a", "b", "c"), ("JGA", "turns"), tuple("1234"), num, den, run_scores=(falling,) * 3)
    table = rank_table(compare_scores(scores, resamples=20))
    assert json.loads(table.render("json"))["rows"][0]["turns"] == 1.0
    assert table.notes == []


def test_too_few_resamples_to_find_anything_are_said() -> None:
    """Whatever the number of pairs: the smallest adjusted p-value is one over the number of resamples plus 1."""
    scores = make().scores
    few, enough = (floor_table(compare_scores(scores, resamples=count)) for count in (19, 20))
    assert "nothing can be significant: use 20 or more (--resamples)" in few.notes[-1]
    assert not any("--resamples" in note for note in enough.notes)
    assert any(difference.significant for difference in compare_scores(scores, resamples=20).differences())


def of_costs(first: np.ndarray, second: np.ndarray) -> Comparison:
    known = {"Cost": Score(value=1.0, unit="dollars", higher_is_better=False, lower=0.0, upper=None)}
    num = np.stack([first, second])[:, None]
    ids = tuple(f"D{place}" for place in range(len(first)))
    scores = PairedScores(("a", "b"), ("Cost",), ids, num, np.ones_like(num), run_scores=(known, known))
    return compare_scores(scores, resamples=1000)


@pytest.mark.parametrize(("size", "seed"), [(20, 20), (600, 5)])  # with these it is soon told apart
def test_where_the_randomisation_alone_would_have_told_costs_apart_is_said(size: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    for _ in range(60):
        comparison = of_costs(np.exp(random.normal(-0.78, 1.25, size)), np.exp(random.normal(-0.125, 0.5, size)))
        cost = comparison.difference("a", "b", "Cost")
        if cost.randomisation_alone:
            break
    assert cost.p_randomisation < 0.05 <= cost.p == cost.adjusted and not cost.significant
    assert cost.low <= 0 <= cost.high
    notes = " ".join(score_table(comparison).notes)
    assert "The randomisation alone would have told apart: Cost of a and b (p = 0.0" in notes
    assert "one_more_unit:Cost" in comparison.signature
    method = "one-more-amount" if size <= 500 else "studentised"
    assert f"interval:0.95-{method}" in comparison.score_signature("a", "Cost")


def test_noise_floor_of_pass_k_is_that_of_the_test_that_decides() -> None:
    """Its interval asks for one more task and is wider: the floor was 26.6 beside a difference of 17 found in 80%."""
    num = np.array([[[0, 1, 1, 2, 2, 2, 3, 3, 4, 4]], [[0, 2, 1, 3, 2, 4, 3, 4, 4, 4]]]) / 4
    ids = tuple(f"D{place}" for place in range(10))
    known = {"pass^1": Score(value=0.5, lower=0.0, upper=1.0)}
    scores = PairedScores(("a", "b"), ("pass^1",), ids, num, np.ones_like(num), run_scores=(known, known))
    comparison = compare_scores(scores, resamples=1000)
    assert comparison.one_more == ("pass^1",)
    assert comparison.floor[0] < comparison.detectable[0]


def test_an_end_that_the_randomisation_sets_is_told() -> None:
    """With one more task the interval would hold 0: the end towards 0 is the test's, which found the difference."""
    passed = np.array([[[2, 4, 2, 2, 3, 3, 3, 1]], [[0, 3, 1, 2, 1, 0, 2, 0]]]) / 4
    known = {"pass^1": Score(value=0.5, lower=0.0, upper=1.0)}
    ids = tuple(f"D{place}" for place in range(8))

    def compared(num: np.ndarray) -> Comparison:
        scores = PairedScores(("a", "b"), ("pass^1",), ids, num, np.ones_like(num), run_scores=(known, known))
        return compare_scores(scores, resamples=1000)

    comparison = compared(passed)
    assert comparison.tested.low[0, 0] == comparison.randomisation.low[0, 0] > 0
    (note,) = comparison.notes
    assert note.startswith("with one more") and note.endswith("randomisation test, which found it: pass^1 of a and b")
    assert f"W{note[1:]}." in score_table(comparison).notes
    assert compared(passed[::-1]).end_notes and not compared(passed[[0, 0]]).end_notes


def test_a_measure_with_two_bounds_keeps_its_test() -> None:
    comparison = make()
    assert all(one.p == one.p_randomisation and not one.randomisation_alone for one in comparison.differences())
    assert "one_more_unit" not in comparison.signature


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
    assert verdict_words(comparison.difference("b", "a", "q")) == "a is higher"
    assert comparison.difference("a", "b", "q").better is None
    assert comparison.document()["measures"][0]["higher_is_better"] is None
    words = " ".join(table.render("markdown") for table in (*standing_tables(comparison), *comparison.tables()))
    assert "Systems by measures, highest q first" in words and "**5" not in words
    assert "is better" not in words.replace("whether more is better", "")
    ranks = standing_tables(undirected(3))[-1]
    assert ranks.notes == ["Rank 1 is the highest value of q."]


def test_a_difference_that_never_varies_is_told_to_have_no_interval() -> None:
    told = pair_table(undirected()).render("markdown")
    assert "+2.0000 |" in told and "No interval where systems differ by the same amount on every dialogue (q)" in told
