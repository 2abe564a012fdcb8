"""Scores: values, intervals from shared draws, sums, and the table of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars
import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.measures import (
    NO_INTERVAL,
    Card,
    Count,
    Coverage,
    Interval,
    Measure,
    Resampling,
    Score,
    Scores,
    Signature,
    Summed,
    SystemEvidence,
    intervals,
    parse_measure,
    parse_measures,
    score_systems,
    summed_intervals,
)
from dialgauge.stats import ratio_intervals
from measures.toy import LENGTH, TURNS, USERS, Turns


def random_turns(seed: int, dialogues: int = 30) -> Turns:
    draws = np.random.default_rng(seed)
    dialogue = np.sort(draws.integers(0, dialogues, 200)).astype(np.int32)
    dialogue[-1] = dialogues - 1
    size = draws.integers(0, 5, 200).astype(np.float64)
    slots = draws.integers(0, 2, (4, dialogues)).astype(np.float64)
    return Turns(dialogue, np.minimum(draws.integers(0, 5, 200), size), size, (slots, slots + 1))


def system(turns: Turns, *names: str) -> SystemEvidence:
    return SystemEvidence(
        evidence=turns,
        measures=parse_measures(names),
        dialogues=[f"d{number}" for number in range(turns.dialogues)],
        signature=Signature(gold="ab"),
        coverage=Coverage({"turns": Count(expected=4, read=4, scored=4, failed=0)}),
        left_out={"SA": "there is no inventory"},
    )


def test_a_score_says_all_that_is_needed_to_read_it() -> None:
    (scores,) = score_systems([system(TURNS, "JGA", "FGA@0.5", "Length")], Resampling(200, seed=1))
    score = scores["FGA@0.5"]
    assert score.value == parse_measure("FGA@0.5").value(TURNS)
    assert score.low is not None and score.high is not None and score.low <= score.value <= score.high
    assert (score.unit, score.higher_is_better, score.lower, score.upper) == ("share", True, 0.0, 1.0)
    assert Signature.parse(score.signature) == Signature(measure="FGA@0.5(rule=code,over=turns)", gold="ab")
    length = scores["Length"]
    assert (length.unit, length.higher_is_better, length.upper) == ("slots", False, None)
    assert scores.signature == Signature(gold="ab", interval="0.95-studentised-200-1")
    assert list(score.as_dict())[:3] == ["value", "low", "high"]


def test_undefined_is_null() -> None:
    score = Score.of(Measure(LENGTH), math.nan, math.nan, None)
    assert (score.value, score.low, score.high) == (None, None, None)
    assert Signature.parse(score.signature)["measure"] == "Length"
    (scores,) = score_systems([system(TURNS, "JGA")])
    assert (scores["JGA"].value, scores["JGA"].low) == (0.5, None)


def test_a_score_that_is_not_there_says_why() -> None:
    (scores,) = score_systems([system(TURNS, "JGA")])
    with pytest.raises(DialgaugeError, match="no score SA: there is no inventory"):
        scores["SA"]
    with pytest.raises(DialgaugeError, match=r"no score FGA: it was not requested. Known: JGA|Did you mean"):
        scores["FGA"]


def test_the_table_of_dialogues_has_the_sums_of_what_is_scored() -> None:
    (scores,) = score_systems([system(TURNS, "JGA", "F1(average=slot)")])
    frame = scores.frame()
    assert dict(frame.schema) == {
        "dialogue": polars.String, "measure": polars.String, "num": polars.Float64, "den": polars.Float64,
    }  # fmt: skip
    assert frame.rows() == [("d0", "JGA", 2.0, 3.0), ("d1", "JGA", 0.0, 1.0)]
    users = SystemEvidence(evidence=USERS, measures=parse_measures(["I-GCDF1[hotel]"]), dialogues=["a", "b", "c"])
    assert score_systems([users])[0].frame().rows() == [("c", "I-GCDF1[hotel]", 0.25, 1.0)]
    assert Scores(dialogues=[], sums={}, scores={}).frame().schema == frame.schema


def test_intervals_are_those_of_the_sums_and_shared_over_systems() -> None:
    how = Resampling(300, seed=3, level=0.9)
    measures = parse_measures(["JGA", "F1(average=slot)", "F1", "JGA(over=dialogues)"])
    both = [random_turns(0), random_turns(1)]
    together = intervals([[(each, each.sums(turns)) for each in measures] for turns in both], how)
    sums = [measure.sums(turns) for turns in both for measure in (measures[0], *measures[2:])]
    bounds = ratio_intervals(
        [one[0] for one in sums], [one[1] for one in sums], resamples=300, seed=3, level=0.9, bounds=(0.0, 1.0)
    )
    assert [one.ends for row in together for one in (row[0], *row[2:])] == [tuple(pair) for pair in bounds.tolist()]
    alone = [intervals([[(each, each.sums(turns)) for each in measures]], how)[0] for turns in both]
    ends = [[[one.ends for one in row] for row in rows] for rows in (alone, together)]
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-12)


def test_a_mean_over_groups_has_an_interval_around_it() -> None:
    turns = random_turns(5)
    measure = parse_measure("F1(average=slot)")
    ((made,),) = intervals([[(measure, measure.sums(turns))]], Resampling(300))
    assert made.low < measure.value(turns) < made.high
    assert made.made == "0.95-jackknife"


def test_no_dialogues_have_no_interval() -> None:
    nothing = Turns(np.array([], np.int32), np.array([]), np.array([]), (np.zeros((1, 0)), np.zeros((1, 0))))
    measures = parse_measures(["JGA", "F1(average=slot)"])
    [made] = intervals([[(each, each.sums(nothing)) for each in measures]], Resampling(10))
    assert not any(one.defined for one in made)


def test_resampling_prints_as_signatures_have_it() -> None:
    assert str(Resampling(1000, 0, 0.95)) == "0.95-studentised-1000-0"
    for how in (Resampling(200, 3, 0.9), Resampling(method="percentile")):
        assert Resampling.parse(str(how)) == how
    assert Resampling.parse("") is None


def test_scores_of_two_kinds_are_joined_over_the_dialogues_of_either() -> None:
    def one(name: str, ids: list[str], num: list[float]) -> Scores:
        score = Score.of(Measure(LENGTH), sum(num))
        return Scores(dialogues=ids, sums={name: (np.array(num), np.ones(len(num)))}, scores={name: score})

    joined = one("A", ["x", "y"], [1.0, 2.0]).joined(one("B", ["z", "y"], [3.0, 4.0]))
    assert joined.frame().rows() == [("x", "A", 1, 1), ("y", "A", 2, 1), ("y", "B", 4, 1), ("z", "B", 3, 1)]
    assert list(joined.scores) == ["A", "B"]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (lambda evidence, settings: 1 / 0, "the measure Foreign failed .ZeroDivisionError: division by zero."),
        (lambda evidence, settings: (np.ones(1), np.ones(2)), "the measure Foreign failed|gave an array of the shape"),
    ],
)
def test_what_goes_wrong_in_another_packages_measure_is_a_sentence(rows: Any, sentence: str) -> None:
    card = Card(name="Foreign", family="tracking", title="", summary="", formula="", source="", units=rows)
    with pytest.raises(DialgaugeError, match=sentence):
        Measure(card).value(TURNS)


def test_a_value_of_several_sums_has_the_interval_of_its_resampled_sums() -> None:
    """A ratio written as a function of two sums is the ratio, with the same interval."""
    turns = random_turns(3)
    [ratio] = parse_measures(["JGA"])

    def sums(evidence: Turns, settings: Any) -> Any:
        return ratio.sums(evidence)

    card: Card[Any] = Card(
        name="Same", family="tracking", title="t", summary="s", formula="f", source="none",
        sums=sums, of=lambda both: both[..., 0] / both[..., 1],
    )  # fmt: skip
    same: Measure[Any] = Measure(card)
    evidence = SystemEvidence(
        evidence=turns, measures=[ratio, same], dialogues=[f"d{n}" for n in range(turns.dialogues)]
    )
    [scores] = score_systems([evidence], Resampling(200, 7, method="percentile"))
    assert scores["Same"].value == pytest.approx(scores["JGA"].value, abs=1e-12)
    assert scores["Same"].low == pytest.approx(scores["JGA"].low, abs=1e-12)
    assert scores["Same"].high == pytest.approx(scores["JGA"].high, abs=1e-12)
    assert set(scores.frame()["measure"]) == {"JGA", "Same"}


@pytest.mark.parametrize(
    ("lengths", "bounds", "made"),
    [
        ([5.0] * 12, (0.0, 1.0), "0.95-studentised-100-0"),
        ([2.0] * 11 + [60.0], (0.0, 1.0), "0.95-one-more-unit"),
        ([2.0] * 23 + [90.0], (0.0, 1.0), "0.95-studentised-100-0"),
        ([1.0] * 12, (0.0, math.inf), "0.95-one-more-amount"),
        ([1.0] * 501, (0.0, math.inf), "0.95-studentised-100-0"),
    ],
)
def test_which_ratios_get_one_more_unit(lengths: list[float], bounds: tuple[float, float], made: str) -> None:
    """Few uneven dialogues and amounts; the rest is resampled."""
    den = np.array(lengths)
    num = den * np.linspace(0.2, 0.9, len(den))
    [interval] = summed_intervals([Summed(np.stack([num, den]), bounds)], Resampling(100))
    assert interval.made == made and interval.low < num.sum() / den.sum() < interval.high
    [percentile] = summed_intervals([Summed(np.stack([num, den]), bounds)], Resampling(100, method="percentile"))
    assert percentile.made == "0.95-percentile-100-0"


def test_amounts_that_are_all_equal_have_no_interval() -> None:
    [interval] = summed_intervals([Summed(np.stack([np.full(9, 3.0), np.ones(9)]), (0.0, math.inf))], Resampling(100))
    assert not interval.defined


def test_where_no_interval_is_resampled_the_shared_signature_says_nothing_of_resamples() -> None:
    scores = Scores(
        dialogues=["a"],
        sums={},
        scores={name: Score(value=0.5, signature=f"measure:{name}|version:1") for name in "xy"},
    )
    how = Resampling(100)
    both = scores.with_intervals([Interval(0.1, 0.9, "0.95-one-more-unit"), Interval(0.2, 0.8, str(how))], how)
    assert both.signature["interval"] == str(how) and "interval" not in both["y"].signature
    assert "interval:0.95-one-more-unit" in both["x"].signature
    own = scores.with_intervals([Interval(0.1, 0.9, "0.95-one-more-unit"), NO_INTERVAL], how)
    assert "interval" not in own.signature
