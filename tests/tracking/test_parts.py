"""Parts of a corpus: measures of a domain, slot, turn or number of domains, asked for or kept with every run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dialgauge import Run, Store, score
from dialgauge.measures import MANY_UNITS, Resampling, Signature, Summed, summed_intervals
from dialgauge.tracking import DEFAULT_MEASURES
from tracking.corpora import pair_of_dialogues, three_dialogues


def scored(measures: Any = None, **how: Any) -> Run:
    gold, theirs = three_dialogues()
    return score(gold, {"it": theirs}, measures=measures, **how)[0]


def test_every_run_keeps_its_parts_as_scores(tmp_path: Path) -> None:
    """What is kept equals what is asked for by name, value and interval; and it survives a store."""
    gold, theirs = three_dialogues()
    run = score(gold, {"it": theirs}).save(Store(tmp_path))[0]
    rows = run.table("part_scores").rows(named=True)
    names = {by: list(dict.fromkeys(row["part"] for row in rows if row["by"] == by)) for by in ("domain", "turn")}
    assert names == {"domain": ["hotel", "taxi", "train"], "turn": ["0", "1", "2", "3"]}
    sizes = {row["part"]: (row["dialogues"], row["turns"], row["spurious_turns"]) for row in rows}
    assert (sizes["taxi"], sizes["train"]) == ((0, 0, 1), (2, 3, 1))
    of_slot = [row["measure"] for row in rows if row["part"] == "train-day"]
    assert of_slot == ["JGA[train-day]", "AGA[train-day]", "F1[train-day]"]
    asked = {row["measure"]: row for row in rows if row["part"] in ("hotel", "train", "hotel-area", "1")}
    assert len(asked) == 3 * len(DEFAULT_MEASURES) + 3
    for name, found in scored(list(asked)).scores.items():
        assert [asked[name][end] for end in ("value", "low", "high")] == [found.value, found.low, found.high], name
        assert Signature.parse(found.signature)["measure"].endswith(name[name.index("[") :])
        assert Signature.parse(found.signature).get("interval") == asked[name]["interval"]


def test_shares_out_of_their_bounds_are_no_shares() -> None:
    """Three spurious slots against an inventory of one: SA is -2, and not printed as -200.00 percent."""
    gold, theirs = pair_of_dialogues([({"a-b": "x"}, {"c-d": "x", "e-f": "x", "g-h": "x"})])
    found = score([gold], {"it": [theirs]}, profile="verbatim", measures="SA,JGA", intervals=False)
    assert (found["it"]["SA"].value, found["it"]["SA"].unit) == (-3.0, "ratio")
    assert found["it"]["JGA"].unit == "share"
    assert "-300" not in str(found) and "−300" not in str(found)


def test_many_units_are_not_drawn() -> None:
    rng = np.random.default_rng(0)
    den = np.full(MANY_UNITS + 1, 7.0)
    num = rng.binomial(7, 0.6, len(den)).astype(float)
    drawn, linear = (
        summed_intervals([Summed(np.stack([num[:size], den[:size]]), (0.0, 1.0))], Resampling(1000))[0]
        for size in (MANY_UNITS, MANY_UNITS + 1)
    )
    assert linear.made == "0.95-linearised" and drawn.made == "0.95-studentised-1000-0"
    assert linear.ends == pytest.approx(drawn.ends, abs=4e-4)


@pytest.mark.parametrize(("named", "has_final"), [("FinalJGA", True), ("all", False)])
def test_parts_are_those_of_usual_measures_and_of_those_named(named: str, has_final: bool) -> None:
    gold = {"d": [{"hotel-area": "north"}, {"hotel-area": "north", "hotel-stars": "4"}]}
    results = score(gold, {"mine": {"d": [gold["d"][0], gold["d"][0]]}}, measures=f"JGA,{named}", resamples=0)
    parts = dict(results["mine"].table("part_scores").select("measure", "value").rows())
    assert parts["JGA[hotel]"] == 0.5 and parts["JGA[turn=0]"] == 1.0
    assert parts.get("FinalJGA[hotel]") == (0.0 if has_final else None)
