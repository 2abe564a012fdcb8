"""Scores of runs as figures: what is drawn, on which axis, with which words and how many cases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dialgauge.measures import Score, Scores
from dialgauge.rendering import interval_plot, measure_words, run_figures
from dialgauge.runs import Run, new_run
from runs.contract import scores_of
from support.drawn_charts import datasets, heading, marks, scales

pytest.importorskip("altair")

IDS = ["d1", "d2"]
SUMS = {
    "JGA": ([1.0, 2.0], [2.0, 2.0]),
    "Success(rules=grounded)": ([1.0, 0.0], [1.0, 1.0]),
    "Success[hotel]": ([1.0, 0.0], [1.0, 1.0]),
    "Success[taxi]": ([1.0, 0.0], [1.0, 0.0]),
    "UserFault[early_end]": ([0.0, 0.0], [1.0, 1.0]),
}


def a_run(name: str = "mine", **others: Score) -> Run:
    scores = scores_of(IDS, SUMS)
    sure = {one: _between(score, 0.1) for one, score in scores.scores.items()}
    return new_run(kind="juggling", name=name, scores=replace(scores, scores={**sure, **others}), corpus=[])


def _between(score: Score, half: float) -> Score:
    import msgspec

    value = score.value or 0.0
    return msgspec.structs.replace(score, low=max(0.0, value - half), high=min(1.0, value + half))


def lines(chart: Any) -> dict[str, dict[str, Any]]:
    return {row["system"]: row for row in datasets(chart)}


def test_one_system_has_its_measures_in_words_on_an_axis_to_100() -> None:
    figures = run_figures([a_run()], parts={"UserFault": "kind of fault"})
    assert list(figures) == ["scores", "by_domain", "by_kind_of_fault"]
    chart = figures["scores"]()
    drawn = lines(chart)
    assert list(drawn) == ["Joint goal accuracy (JGA)", "Success (rules: grounded)"]
    joint = drawn["Joint goal accuracy (JGA)"]
    assert [joint[name] for name in ("value", "low", "high", "text")] == [75.0, 65.0, 85.0, "75.0 [65.0, 85.0]"]
    assert {tuple(scale["domain"]) for scale in scales(chart, "x")} == {(0.0, 100.0)}
    assert heading(chart) == "Scores of mine | 2 of 2 dialogues scored | bars: 95% confidence intervals"


def test_parts_have_their_number_of_cases_and_no_codes() -> None:
    figures = run_figures([a_run()], parts={"UserFault": "kind of fault"})
    assert list(lines(figures["by_domain"]())) == ["hotel (n = 2)", "taxi (n = 1)"]
    assert list(lines(figures["by_kind_of_fault"]())) == ["early end (n = 2)"]
    assert "by kind of fault" in heading(figures["by_kind_of_fault"]())


def test_several_systems_have_a_panel_for_each_measure_and_bars_for_each_part() -> None:
    figures = run_figures([a_run(), a_run("theirs"), a_run("theirs")])
    assert list(figures) == ["scores", "by_domain_Success", "by_domain_UserFault"]
    chart = figures["scores"]()
    assert {row["measure"] for row in datasets(chart)} == {
        "Joint goal accuracy (JGA), %",
        "Success (rules: grounded), %",
    }
    assert list(lines(chart)) == ["mine", "theirs (2)", "theirs (3)"]
    bars = datasets(figures["by_domain_Success"]())
    assert {row["label"] for row in bars} == {"hotel · n = 2", "taxi · n = 1"}
    assert {tuple(scale["domain"]) for scale in scales(figures["by_domain_Success"](), "y")} == {(0, 100)}
    assert "whiskers: 95% confidence intervals" in heading(figures["by_domain_Success"]())


def test_other_units_have_axes_of_their_own_and_undefined_scores_are_not_drawn() -> None:
    turns, nothing = Score(value=14.6, low=12.0, high=16.0, unit="turns"), Score(value=None, unit="share")
    figures = run_figures([a_run(Length=turns, Nothing=nothing)])
    assert "Nothing" not in " ".join(lines(figures["scores"]()))
    (row,) = datasets(figures["other_units"]())[:1]
    assert (row["measure"], row["value"], row["text"]) == ("Length, turns", 14.6, "14.60 [12, 16]")


def test_scores_without_intervals_are_points_and_the_figure_says_so() -> None:
    scores: Scores = scores_of(IDS, SUMS)
    chart = run_figures([new_run(kind="juggling", name="mine", scores=scores, corpus=[])])["scores"]()
    row = lines(chart)["Joint goal accuracy (JGA)"]
    assert (row["low"], row["value"], row["high"], row["text"]) == (75.0, 75.0, 75.0, "75.0")
    assert "no intervals were computed" in heading(chart)


def test_sections_divide_the_measures() -> None:
    figures = run_figures([a_run()], in_sections=True)
    assert {"scores_tracker", "scores_task"} <= figures.keys()
    assert "Scores of mine: tracker" in heading(figures["scores_tracker"]())


def test_a_run_without_scores_has_no_figures() -> None:
    assert run_figures([new_run(kind="juggling", name="empty")]) == {}


@pytest.mark.parametrize(
    ("name", "words"),
    [("pass^2(rules=strict)", "pass^2 (rules: strict)"), ("NoSuchMeasure(a=b)", "NoSuchMeasure (a: b)"),
     ("OfferP", "precision of offers (OfferP)"), ("ToolCalls", "tool calls"), ("Cost(of=user)", "Cost (of the user)"),
     ("ActsPerTurn(speaker=system)", "acts per turn (of the system)"), ("LongestRun", "longest run"),
     ("Repeated(what=requests)", "repetitions (Repeated, of requests)"),
     ("BookAttempts", "attempts to book (BookAttempts)"),
     ("I-GCDF1 recall", "recall of I-GCDF1"), ("UserFault", "conversations with a user fault (UserFault)"),
     ("TrialNoise(rules=strict)", "noise floor over trials (TrialNoise, rules: strict)"), ("hits@1", "hits@1")],
)  # fmt: skip
def test_measures_in_words(name: str, words: str) -> None:
    assert measure_words(name) == words


def test_a_system_without_a_score_keeps_its_line_in_every_panel() -> None:
    """Names stand at the first panel only: a panel with fewer lines would give scores to the wrong systems."""
    row = {"value": 0.5, "low": 0.4, "high": 0.6, "percent": True}
    rows = [{**row, "system": name, "measure": "JGA"} for name in ("a", "b", "c")]
    rows += [{**row, "system": name, "measure": "SA"} for name in ("b", "c")]
    assert [scale["domain"] for scale in scales(interval_plot(rows), "y")] == [["a", "b", "c"]] * 6


def two_measures() -> Run:
    """Two measures by domain that do not have equally many dialogues there."""
    sums = {
        "Inform[hotel]": ([1.0, 0.0], [1.0, 1.0]), "Success[hotel]": ([1.0, 0.0], [1.0, 0.0]),
        "Inform[taxi]": ([1.0, 0.0], [1.0, 1.0]), "Success[taxi]": ([1.0, 1.0], [1.0, 1.0]),
    }  # fmt: skip
    return new_run(kind="juggling", name="mine", scores=scores_of(IDS, sums), corpus=[])


def test_every_value_has_its_own_n_where_measures_differ() -> None:
    rows = datasets(run_figures([two_measures()])["by_domain"]())
    assert {(row["system"], row["measure"]): row["text"] for row in rows} == {
        ("hotel", "Inform (%)"): "50.0, n = 2", ("hotel", "Success (%)"): "100.0, n = 1",
        ("taxi", "Inform (%)"): "50.0, n = 2", ("taxi", "Success (%)"): "100.0, n = 2",
    }  # fmt: skip


def test_systems_with_different_n_are_not_given_the_largest() -> None:
    fewer = new_run(
        kind="juggling", name="less", scores=scores_of(IDS, {"Success[hotel]": ([1.0, 0.0], [1.0, 0.0])}), corpus=[]
    )
    bars = datasets(run_figures([a_run(), fewer])["by_domain_Success"]())
    assert {row["label"] for row in bars if row["domain"] == "hotel"} == {"hotel · n = 2, 1"}
    assert "n: cases behind each value, in the order of the bars" in heading(
        run_figures([a_run(), fewer])["by_domain_Success"]()
    )


def test_parts_of_two_kinds_are_two_figures_and_sums_are_left_out() -> None:
    sums = {name: ([1.0, 0.0], [1.0, 1.0]) for name in ("Blame", "Blame[refused]", "Blame[user]", "Blame[unclear]")}
    run = new_run(kind="juggling", name="mine", scores=scores_of(IDS, sums), corpus=[])
    parts: dict[str, str | tuple[str, ...]] = {
        "Blame": "cause",
        "Blame[user]": "side",
        "Blame[unclear]": ("cause", "side"),
    }
    figures = run_figures([run], parts=parts, without=("Blame",), names={"refused": "it was refused"})
    assert list(figures) == ["by_cause", "by_side"]
    assert list(lines(figures["by_cause"]())) == ["it was refused (n = 2)", "unclear (n = 2)"]
    assert list(lines(figures["by_side"]())) == ["user (n = 2)", "unclear (n = 2)"]


def test_remarks_stand_below_every_title() -> None:
    for name, draw in run_figures([a_run(), a_run("theirs *")], remarks=["* with gold states"]).items():
        assert heading(draw()).endswith(" | * with gold states"), name


def test_some_scores_without_intervals_are_told() -> None:
    bare = Score(value=0.5, unit="share")
    figures = run_figures([a_run(Bare=bare)])
    assert "a value without one has no interval" in heading(figures["scores"]())
    assert lines(figures["scores"]())["Bare"]["text"] == "50.0"


def axes(chart: Any) -> list[dict[str, Any]]:
    """The axes along which values are drawn."""
    return [one["x"]["axis"] for _, one in marks(chart) if one.get("x", {}).get("axis")]


@pytest.mark.parametrize(
    ("value", "text", "values"),
    [(0.01, "0.01", [0, 0.005, 0.01]), (6.0, "6", [0, 2, 4, 6]), (0.0, "0", [0, 0.5, 1]),
     (4e-09, "4e-09", [0, 2e-09, 4e-09]), (1234.0, "1,234", [0, 500, 1000, 1500])],
)  # fmt: skip
def test_a_single_number_has_an_axis_of_round_numbers(value: float, text: str, values: list[float]) -> None:
    chart = interval_plot([{"system": "a", "measure": "cost", "value": value, "low": None, "high": None}])
    (axis,) = axes(chart)
    assert (axis["values"], axis["tickCount"]) == (values, len(values))
    assert [scale["domain"] for scale in scales(chart, "x")] == [[values[0], values[-1]]]
    assert datasets(chart)[0]["text"] == text


@pytest.mark.parametrize("value", [0.004, 0.31, 0.5, 0.657, 0.93, 0.999, 1.0])
def test_axes_of_shares_end_at_ticks_within_0_and_100(value: float) -> None:
    low, high = max(0.0, value - 0.03), min(1.0, value + 0.02)
    row = {"system": "a", "measure": "JGA", "value": value, "low": low, "high": high, "percent": True}
    chart = interval_plot([row])
    (axis,), (scale,) = axes(chart), scales(chart, "x")
    assert scale["domain"] == [axis["values"][0], axis["values"][-1]]
    assert 0 <= axis["values"][0] <= 100 * low
    assert 100 * high <= axis["values"][-1] <= 100


def test_numbers_stand_beside_the_panel_with_their_interval() -> None:
    """Above a point they touched the names of systems, and a narrow interval was hidden behind its point."""
    row = {"system": "a long name", "measure": "SA", "value": 0.971, "low": 0.9705, "high": 0.9715, "percent": True}
    chart = interval_plot([row])
    (text,) = [encoding for mark, encoding in marks(chart) if mark == "text"]
    assert text["x"] == {"value": 170}
    assert datasets(chart)[0]["text"] == "97.1 [97.0, 97.2]"


def test_the_cases_of_every_system_are_told() -> None:
    """Eight systems, of which one lacks a dialogue: none is left out of the lines below the title."""
    less = replace(scores_of(IDS, SUMS), coverage=scores_of(IDS[:1], {"JGA": ([1.0], [1.0])}).coverage)
    systems = {f"s{place}": a_run() for place in range(7)}
    systems["less"] = new_run(kind="juggling", name="less", scores=less, corpus=[])
    told = heading(run_figures(systems)["scores"]())
    assert "s0, s1, s2, s3, s4, s5, s6: 2 of 2 dialogues scored | less: 1 of 1 dialogues scored" in told
