"""Error episodes, and the worst dialogues."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge import Run, score
from dialgauge.comparison import compare_runs, comparison_page
from dialgauge.errors import DialgaugeError
from dialgauge.report import run_page
from dialgauge.tracking import slot_episodes
from tracking.corpora import pair_of_dialogues, three_dialogues


def scored(measures: str = "JGA,RSA,FGA@0.5") -> Run:
    gold, theirs = three_dialogues()
    return score(gold, {"it": theirs}, measures=measures, intervals=False)[0]


def test_episodes() -> None:
    found = {entry.slot: entry for entry in slot_episodes(scored())}
    area = found["hotel-area"]
    assert (area.episodes, area.mean_origin, area.mean_turns, area.recovered) == (1, 1.0, 2.0, 1)
    stars = found["hotel-stars"]
    assert (stars.mean_turns, stars.recovered) == (1.0, 1)
    taxi = found["taxi-leave"]
    assert (taxi.mean_origin, taxi.recovered) == (3.0, 0)
    assert (found["train-day"].episodes, found["train-day"].recovered) == (2, 1)
    confused = run_page(scored(), ["confusions"]).tables["confusions"].records()
    facts = [(row["slot"], row["gold"], row["predicted"], row["turns"]) for row in confused]
    assert facts[0] == ("hotel-area", "north", "south", 2)
    assert ("train-day", "(nothing)", "monday", 1) in facts


def test_sensitivity_counts_flips_and_swaps() -> None:
    times = pair_of_dialogues([({"train-leaveat": "09:00"}, {"train-leaveat": "9 : 00"})] * 3, "T")
    two = [pair_of_dialogues([({}, {"train-leaveat": "09:00"}), ({}, {}), ({}, {})], "T")[1]]
    systems = {"one": [times[1]], "two": two}
    runs = score([times[0]], systems, measures="JGA", sensitivity=True, intervals=False).runs
    values = {
        run.name: {row["profile"]: row["value"] for row in run.table("sensitivity").rows(named=True) if not row["rule"]}
        for run in runs
    }
    assert [values["one"][name] for name in ("plain", "canon")] == [0.0, 1.0]
    assert [values["two"][name] for name in ("plain", "canon")] == pytest.approx([1 / 3] * 2)
    rules = {(row["profile"], row["rule"]): row for row in runs[0].table("sensitivity").rows(named=True)}
    effect = rules["canon", "times"]
    assert (effect["gained"], effect["lost"], effect["value"]) == (3, 0, 0.0)
    table = comparison_page(compare_runs(runs, resamples=20), ["sensitivity"]).tables["sensitivity"]
    assert table.answer == "The order changes: two, one under plain; one, two under canon."
    cares = pair_of_dialogues([({"train-leaveat": "09:00"}, {"train-leaveat": "09:00", "train-day": "dontcare"})], "T")
    run = score([cares[0]], {"it": [cares[1]]}, measures="JGA", sensitivity=True, intervals=False)[0]
    rules = {(row["profile"], row["rule"]): row for row in run.table("sensitivity").rows(named=True)}
    assert rules["canon_nodc", "without dontcare"]["gained"] == 1


def test_a_file_with_nothing_in_it_predicts_nothing_where_missing_turns_count_as_empty(tmp_path: Path) -> None:
    """FGA paper, section 2.2: slot accuracy is then (T - |B|) / T."""
    states: list[dict[str, str]] = [{"train-day": "monday"}, {"train-day": "monday", "train-people": "2"}]
    nothing: list[dict[str, str]] = [{}]
    gold = {"a": states, "b": nothing}
    for content in ("{}", " [ ]\n"):
        (tmp_path / "empty.json").write_text(content)
        [system] = score(gold, [tmp_path / "empty.json"], coverage="empty", intervals=False).runs
        assert system["SA"].value == pytest.approx((29 + 28 + 30) / 90)
        assert system["JGA"].value == pytest.approx(1 / 3) and system["F1"].value == 0
        assert system.details["coverage"]["missing_turns"] == 3
        with pytest.raises(DialgaugeError, match="no known layout fits"):
            score(gold, [tmp_path / "empty.json"], intervals=False)
