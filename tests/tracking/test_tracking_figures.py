"""The figures of compared trackers: what they draw is what the comparison says, with intervals and n."""

from __future__ import annotations

from typing import Any

import pytest

from dialgauge import compare
from dialgauge.comparison import Comparison
from dialgauge.measures import Interval, Resampling, intervals, parse_measure
from dialgauge.runs import Run
from dialgauge.tracking import LAMBDAS, compared_counts, read_counts, score, scored_figures, sweep_intervals
from support.drawn_charts import datasets, heading, marks
from support.trackers import gold_dialogues, tracker

pytest.importorskip("altair")


@pytest.fixture(scope="module")
def compared() -> Comparison:
    gold = gold_dialogues()
    systems = {"good": tracker(gold, 0.05, 1), "bad": tracker(gold, 0.4, 2), "alike": tracker(gold, 0.07, 3)}
    return compare(gold, systems, measures=["JGA", "SA", "RSA", "FGA@0.5"], resamples=200)


def _interval(run: Run, name: str, how: Resampling) -> Interval:
    measure = parse_measure(name)
    return intervals([[(measure, measure.sums(read_counts(run)))]], how)[0][0]


def test_the_band_over_lambda_is_the_interval_of_each_score(compared: Comparison) -> None:
    bands = sweep_intervals(compared_counts(compared), Resampling(200, 1))
    run = compared.runs["bad"]
    expected = _interval(run, "FGA@0.5", Resampling(200, 1))
    assert bands["bad"][LAMBDAS.index(0.5)] == pytest.approx(expected.ends)


def scored(size: int, **how: Any) -> dict[str, Any]:
    """The figures of a scored tracker by name."""
    gold = gold_dialogues(size)
    results = score(gold, {"mine": tracker(gold, 0.4, 2)}, measures=["JGA", "FGA@0.5"], **how)
    return {name: draw() for name, draw in scored_figures(results).items()}


@pytest.mark.parametrize("name", ["lambda_sweep", "domains_JGA"])
def test_refused_intervals_are_not_drawn(name: str) -> None:
    chart = scored(8, intervals=False)[name]
    assert "no intervals were computed" in heading(chart)
    assert not {mark for mark, _ in marks(chart)} & {"area", "rule"}
    assert all(row["low"] == row["high"] for row in datasets(chart) if "low" in row)


@pytest.mark.parametrize("name", ["lambda_sweep", "domains_JGA"])
def test_one_dialogue_has_no_intervals_and_none_are_promised(name: str) -> None:
    chart = scored(1, resamples=50)[name]
    assert "no intervals: fewer than two dialogues" in heading(chart)
    assert "confidence" not in heading(chart)
    assert not {mark for mark, _ in marks(chart)} & {"area", "rule"}


def test_the_bands_of_a_scored_tracker_are_the_intervals_of_its_table() -> None:
    gold = gold_dialogues(8)
    [result] = score(gold, {"mine": tracker(gold, 0.4, 2)}, measures=["FGA@0.5"], resamples=70, seed=5).systems
    chart = scored_figures({"mine": result.run})["lambda_sweep"]()
    (row,) = [one for one in datasets(chart) if one.get("lambda") == 0.5 and "low" in one][:1]
    own = result.run.scores["FGA@0.5"]
    assert (row["low"], row["high"]) == pytest.approx((100 * (own.low or 0), 100 * (own.high or 0)))
    assert "95% confidence intervals from 70 resamples" in heading(chart)


@pytest.mark.parametrize(("size", "told"), [(3, True), (12, False), (1, False)])
def test_bands_of_few_dialogues_come_with_a_caution(size: int, told: bool) -> None:
    """With three dialogues, FGA@0.5 had [0.3, 99.4] between [12.9, 70.7] and [17.7, 71.0], in tables as in figures."""
    assert ("the width of a band is uncertain" in heading(scored(size, resamples=50)["lambda_sweep"])) == told
