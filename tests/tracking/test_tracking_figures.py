"""The figures of compared trackers: what they draw is what the comparison says, with intervals and n."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from dialgauge import compare
from dialgauge.comparison import Comparison, ComparisonOptions, comparison_figures, turn_correlations
from dialgauge.dialogue import Dialogue, Turn
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


@pytest.mark.parametrize(
    ("kind", "title"), [("pearson", "Pearson's r"), ("spearman", "Spearman's rho"), ("kendall", "Kendall's tau-b")]
)
def test_the_correlation_that_was_asked_for_is_drawn_and_named(compared: Comparison, kind: str, title: str) -> None:
    figures = comparison_figures(compared, ComparisonOptions(correlations=(kind,)))
    assert sorted(name for name in figures if name.startswith("correlation")) == [
        f"correlation_{kind}_{name}" for name in ("1_good", "2_bad", "3_alike")
    ]
    chart = figures[f"correlation_{kind}_2_bad"]()
    assert title in heading(chart)
    names, matrix = turn_correlations(compared.turn_scores["bad"], compared.measures, kind)
    cells = {(row["row"], row["column"]): row["r"] for row in datasets(chart)}
    assert cells == {
        (one, other): matrix[row][column] for row, one in enumerate(names) for column, other in enumerate(names)
    }


def _only_hotel(turn: Turn) -> Turn:
    return replace(turn, state={name: slots for name, slots in (turn.state or {}).items() if name == "hotel"})


def drawn_bars(comparison: Comparison) -> list[dict[str, Any]]:
    return datasets(comparison_figures(comparison)["domains_JGA"]())


def test_bars_by_domain_have_the_intervals_of_the_scorer() -> None:
    """With states of one domain only, the bar of that domain is the system's score, and so is its interval."""
    whole = gold_dialogues(30)
    gold = [
        Dialogue(id=one.id, turns=tuple(turn for turn in map(_only_hotel, one.turns) if turn.state)) for one in whole
    ]
    gold = [one for one in gold if one.turns]
    systems = {name: tracker(gold, rate, seed) for name, rate, seed in (("a", 0.1, 1), ("b", 0.3, 2))}
    comparison = compare(gold, systems, measures="JGA", resamples=500, seed=3)
    rows = {row["group"]: row for row in drawn_bars(comparison)}
    for name, run in comparison.runs.items():
        low, high = _interval(run, "JGA", Resampling(seed=3)).ends
        assert low < rows[name]["value"] / 100 < high
        assert (rows[name]["low"], rows[name]["high"]) == pytest.approx((100 * low, 100 * high))


def _interval(run: Run, name: str, how: Resampling) -> Interval:
    measure = parse_measure(name)
    return intervals([[(measure, measure.sums(read_counts(run)))]], how)[0][0]


def test_bars_by_domain_are_over_the_dialogues_that_are_compared() -> None:
    """One system lacks dialogues: the others' bars must not count them."""
    gold = gold_dialogues(20)
    all_of_them = tracker(gold, 0.3, 1)
    comparison = compare(gold, {"whole": all_of_them, "part": tracker(gold, 0.3, 2)[:12]}, measures="JGA", resamples=50)
    alone = compare(gold[:12], {"whole": all_of_them[:12], "other": all_of_them[:12]}, measures="JGA", resamples=50)
    ours = {row["label"]: row["value"] for row in drawn_bars(comparison) if row["group"] == "whole"}
    theirs = {row["label"]: row["value"] for row in drawn_bars(alone) if row["group"] == "whole"}
    assert ours == theirs


def test_figures_say_over_how_much_they_are(compared: Comparison) -> None:
    figures = comparison_figures(compared)
    turns = len(compared.turn_scores["good"])
    size = f"{len(compared.dialogues)} dialogues"
    assert f"95% intervals over {size}, {turns} turns" in heading(figures["lambda_sweep"]())
    assert f"JGA by domain | 95% intervals over {size}" in heading(figures["domains_JGA"]())
    for name, draw in figures.items():
        assert size in heading(draw()) or name == "mean_spread", name


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
