"""The one sentence about a comparison: the headline first, its certainty, and what the other measures say."""

from __future__ import annotations

import numpy as np
import pytest

from dialgauge.comparison import PairedScores, Verdict, compare_runs, compare_scores
from dialgauge.measures import Score, Scores
from dialgauge.runs import new_run

DIALOGUES = 60


def verdict(rates: list[list[float]], measures: str = "JGA F1 RSA", *, kind: str = "", lower: str = "") -> Verdict:
    """Systems a, b, ... that have each measure on this share of the dialogues, in different ones."""
    names, known = "abcd"[: len(rates)], measures.split()
    ids = [f"d{number}" for number in range(DIALOGUES)]
    random = np.random.default_rng(0)
    num = np.array([[random.permutation(np.arange(DIALOGUES) < rate * DIALOGUES) for rate in row] for row in rates])
    num = num.astype(float)
    den = np.ones_like(num)
    if not kind:
        return compare_scores(PairedScores(tuple(names), tuple(known), tuple(ids), num, den), resamples=999).verdict
    runs = [
        new_run(
            kind=kind,
            name=name,
            scores=Scores(
                dialogues=ids,
                sums={measure: (num[row, column], den[row, column]) for column, measure in enumerate(known)},
                scores={
                    measure: Score(
                        value=float(num[row, column].mean()),
                        unit="share",
                        higher_is_better={lower: False, "Neutral": None}.get(measure, True),
                    )
                    for column, measure in enumerate(known)
                },
            ),
        )
        for row, name in enumerate(names)
    ]
    return compare_runs(runs, resamples=999).verdict


def test_who_is_ahead_by_how_much_and_who_disagrees() -> None:
    assert str(verdict([[0.9, 0.9, 0.5], [0.3, 0.3, 0.5]])) == (
        "a is ahead of b by 0.60 in JGA (p = 0.001); also in F1; no significant difference in RSA"
    )
    assert str(verdict([[0.9, 0.2, 0.5], [0.3, 0.8, 0.5]])) == (
        "a is ahead of b by 0.60 in JGA (p = 0.001); in F1 b is ahead by 0.60 (p = 0.001); "
        "no significant difference in RSA"
    )


def test_the_headline_is_tested_by_itself_and_the_others_as_a_family() -> None:
    """A difference that is significant by itself is not, as one of eleven."""
    names = " ".join(f"M{n}" for n in range(12))
    first = verdict([[0.72] + [0.5] * 11, [0.5] + [0.5] * 11], names, kind="chess")
    assert first.measures[0].clear and first.measures[0].p == first.measures[0].p_family < 0.05
    second = verdict([[0.5, 0.72] + [0.5] * 10, [0.5, 0.5] + [0.5] * 10], names, kind="chess")
    other = second.measures[1]
    assert other.p < 0.05 < other.p_family == pytest.approx(11 * other.p)
    assert not other.clear
    clear = verdict([[0.5, 0.95] + [0.5] * 10, [0.5, 0.1] + [0.5] * 10], names, kind="chess")
    assert clear.measures[1].clear


def test_equal_and_undefined_values_are_told() -> None:
    assert str(verdict([[0.5], [0.5]], "JGA")) == "No difference in JGA: a and b have the same value"
    num = np.ones((2, 2, 10))
    den = np.ones_like(num)
    den[1, 0] = num[1, 0] = 0
    scores = PairedScores(("a", "b"), ("JGA", "F1"), tuple("0123456789"), num, den)
    told = compare_scores(scores, resamples=50).verdict
    assert str(told) == "JGA has no value for some system; no significant difference in F1"
    assert np.isnan(told.measures[0].p)


@pytest.mark.parametrize("name", ["\x1b[31mred", "a\nb"])
def test_names_cannot_act_on_a_terminal(name: str) -> None:
    num = np.stack([np.ones((1, 20)), np.zeros((1, 20))])
    scores = PairedScores((name, "b"), ("JGA",), tuple(map(str, range(20))), num, np.ones_like(num))
    assert name not in str(compare_scores(scores, resamples=99).verdict)


def test_where_nothing_could_be_found_there_is_no_verdict() -> None:
    """Holm over the measures needs that many more resamples; five units can show nothing at all."""
    scores = _apart(40, "JGA", "F1", "RSA")
    few = compare_scores(scores, resamples=39).verdict
    assert str(few) == "No verdict: 39 resamples are too few for one with a family of 2 measures, which takes 40"
    assert not any(measure.clear for measure in few.measures)
    assert str(compare_scores(scores, resamples=40).verdict).startswith("a is ahead of b")
    assert str(compare_scores(_apart(5, "JGA"), resamples=999).verdict) == "No verdict: 5 dialogues are too few for one"


def _apart(units: int, *measures: str) -> PairedScores:
    """The first system right everywhere, the second nowhere."""
    shape = (len(measures), units)
    ids = tuple(f"d{number}" for number in range(units))
    return PairedScores(("a", "b"), measures, ids, np.stack([np.ones(shape), np.zeros(shape)]), np.ones((2, *shape)))


def test_the_last_bits_of_equal_means_are_no_difference() -> None:
    thirds = np.array([[[1 / 3] * 6], [[1 / 3 + 1e-16] * 3 + [1 / 3 - 2e-16] * 3]])
    paired = PairedScores(("a", "b"), ("M",), tuple("abcdef"), thirds, np.ones_like(thirds))
    assert str(compare_scores(paired, resamples=200).verdict) == "No difference in M: a and b have the same value"
