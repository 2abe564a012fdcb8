"""Parts of a corpus: measures of a domain, slot, turn or number of domains, asked for or kept with every run."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dialgauge import Accumulator, Run, Store, score
from dialgauge.dialogue import Dialogue
from dialgauge.measures import MANY_UNITS, Resampling, Signature, Summed, parse_measure, summed_intervals
from dialgauge.tracking import DEFAULT_MEASURES
from tracking.corpora import pair_of_dialogues

FIRST = [
    ({"hotel-area": "north"}, {"hotel-area": "north"}),
    ({"hotel-area": "north", "hotel-stars": "4"}, {"hotel-area": "south"}),
    ({"hotel-area": "north", "hotel-stars": "4"}, {"hotel-area": "south", "hotel-stars": "4"}),
    ({"hotel-area": "north", "hotel-stars": "4"}, {"hotel-area": "north", "hotel-stars": "4", "taxi-leaveat": "9:00"}),
]
SECOND = [({}, {}), ({"train-day": "monday"}, {"train-day": "monday"})]
THIRD = [
    ({"train-day": "monday"}, {}),
    ({"train-day": "monday"}, {"train-day": "monday"}),
    ({}, {"train-day": "monday"}),
]


def corpus() -> tuple[list[Dialogue], list[Dialogue]]:
    pairs = [pair_of_dialogues(states, name) for states, name in ((FIRST, "A"), (SECOND, "B"), (THIRD, "C"))]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def scored(measures: Any = None, **how: Any) -> Run:
    gold, theirs = corpus()
    return score(gold, {"it": theirs}, measures=measures, **how)[0]


def test_every_run_keeps_its_parts_as_scores(tmp_path: Path) -> None:
    """What is kept equals what is asked for by name, value and interval; and it survives a store."""
    gold, theirs = corpus()
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


def test_parts_of_batches_add_up() -> None:
    gold, theirs = corpus()
    names = ["JGA", "F1", "F1(average=slot)"]
    total = Accumulator(measures=names)
    for right, guess in zip(gold, theirs, strict=True):
        total.update([right], [guess])
    assert total.compute() == pytest.approx({name: float(scored(names)[name]) for name in names})
    for part in ("hotel", "train-day", "turn=1", "domains=1"):
        for name in names:
            measure = parse_measure(f"{name}[{part}]")
            assert measure.value(total.counts) == pytest.approx(float(scored([str(measure)])[str(measure)])), measure


def test_shares_out_of_their_bounds_are_no_shares() -> None:
    """Three spurious slots against an inventory of one: SA is -2, and not printed as -200.00 percent."""
    gold, theirs = pair_of_dialogues([({"a-b": "x"}, {"c-d": "x", "e-f": "x", "g-h": "x"})])
    found = score([gold], {"it": [theirs]}, profile="verbatim", measures="SA,JGA", intervals=False)
    assert (found["it"]["SA"].value, found["it"]["SA"].unit) == (-3.0, "ratio")
    assert found["it"]["JGA"].unit == "share"
    assert "-300" not in str(found) and "−300" not in str(found)


@pytest.mark.parametrize("seed", range(4))
def test_a_domain_scores_what_dialogues_cut_down_to_it_score(seed: int) -> None:
    """An oracle: the states without the other domains, scored whole, and the turns whose gold has the domain."""
    draw = random.Random(seed)
    names = [f"{service}-{slot}" for service in ("Inn_1", "Inn_2", "cab") for slot in "ab"]
    talks = []
    for _ in range(25):
        states: list[tuple[dict[str, str], dict[str, str]]] = [({}, {})]
        for _ in range(draw.randint(1, 7)):
            pair = (dict(states[-1][0]), dict(states[-1][1]))
            for side in pair:
                for name in draw.sample(names, draw.randint(0, 2)):
                    side.pop(name, None) if draw.random() < 0.3 else side.update({name: draw.choice("xy")})
            states.append(pair)
        talks.append(states[1:])
    measures = ["JGA", "TurnLabel"]
    measures += [f"{name}(rule={rule})" for name in ("FGA@0.5", "TurnMatch") for rule in ("code", "paper", "error-set")]
    asked = [f"{measure}[{part}]" for part in ("Inn", "Inn_1", "cab") for measure in measures]
    found = _scored_talks(talks, asked).scores
    for domain in ("Inn", "Inn_1", "cab"):
        cut = [[(_only(gold, domain), _only(theirs, domain)) for gold, theirs in talk] for talk in talks]
        turns = _scored_talks(cut, measures).table("turn_scores")
        having = [bool(state) for talk in cut for state, _ in talk]
        for measure in measures:
            kept = [value for value, there in zip(turns[measure].to_list(), having, strict=True) if there]
            assert float(found[f"{measure}[{domain}]"]) == pytest.approx(sum(kept) / len(kept)), (domain, measure)


def _only(state: dict[str, str], domain: str) -> dict[str, str]:
    return {name: value for name, value in state.items() if name.startswith(domain)}


def _scored_talks(talks: list[list[tuple[dict[str, str], dict[str, str]]]], measures: list[str]) -> Run:
    pairs = [pair_of_dialogues(states, f"d{number}") for number, states in enumerate(talks)]
    gold, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return score(gold, {"it": theirs}, measures=measures, profile="verbatim", intervals=False)[0]


def test_many_units_are_not_drawn() -> None:
    rng = np.random.default_rng(0)
    den = np.full(MANY_UNITS + 1, 7.0)
    num = rng.binomial(7, 0.6, len(den)).astype(float)
    drawn, linear = (
        summed_intervals([Summed(np.stack([num[:size], den[:size]]), (0.0, 1.0))], Resampling(200))[0]
        for size in (MANY_UNITS, MANY_UNITS + 1)
    )
    assert linear.made == "0.95-linearised" and drawn.made == "0.95-studentised-200-0"
    assert linear.ends == pytest.approx(drawn.ends, abs=2e-4)
