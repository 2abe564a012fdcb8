"""What scoring gives back: values, intervals, tables, notebooks, pieces, streams, stored runs."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import dialgauge
from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Resampling
from dialgauge.report import run_page
from dialgauge.runs import Store
from dialgauge.tracking import (
    ALL_MEASURES,
    Accumulator,
    LooseState,
    compute,
)
from runs.contract import assert_run_contract
from support.soak import examples
from tracking.corpora import corpora, pair_of_dialogues

RIGHT = [({"hotel-area": "north"}, {"hotel-area": "north"}), ({"hotel-area": "north"}, {"hotel-area": "south"})]
WRONG: list[tuple[dict[str, str], dict[str, str]]] = [({"train-day": "monday"}, {})]


def data(copies: int = 4) -> tuple[list[Dialogue], list[Dialogue]]:
    pairs = [pair_of_dialogues(RIGHT if n % 3 else WRONG, f"D{n}") for n in range(copies)]
    return [one for one, _ in pairs], [two for _, two in pairs]


@settings(max_examples=examples(25), deadline=None)
@given(corpora(), st.integers(1, 3))
def test_pieces_give_the_same_as_the_whole(both: tuple[list[Dialogue], list[Dialogue]], size: int) -> None:
    gold = both[0]
    theirs = {one.id.lower().removesuffix(".json"): one for one in both[1]}
    pairs = [(one, theirs[key]) for one in gold if (key := one.id.lower().removesuffix(".json")) in theirs]
    whole, merged = Accumulator(measures=list(ALL_MEASURES)), Accumulator(measures=list(ALL_MEASURES))
    whole.update([one for one, _ in pairs], [two for _, two in pairs])
    for start in range(0, len(pairs), size):
        shard = Accumulator(measures=list(ALL_MEASURES))
        shard.update(*map(list, zip(*pairs[start : start + size], strict=True)))
        merged.merge(pickle.loads(pickle.dumps(shard)))
    try:
        expected = whole.compute()
    except DialgaugeError as error:
        assert any(words in str(error) for words in ("share", "no turn has", "nothing has been added"))
        return
    assert merged.compute() == pytest.approx(expected, nan_ok=True)


def test_accumulator_rules() -> None:
    gold, theirs = data()
    accumulator = Accumulator(measures="JGA")
    with pytest.raises(DialgaugeError, match="nothing has been added"):
        accumulator.compute()
    accumulator.update(gold, theirs)
    score = accumulator.scores(Resampling(200))["JGA"]
    assert score.low is not None and score.high is not None
    assert score.low <= accumulator.compute()["JGA"] <= score.high
    with pytest.raises(DialgaugeError, match="same measures, profile"):
        accumulator.merge(Accumulator(measures="SA"))
    accumulator.reset()
    with pytest.raises(DialgaugeError, match="nothing has been added"):
        accumulator.compute()


def test_the_manner_of_hugging_face() -> None:
    references: list[list[LooseState]] = [[{"hotel": {"area": "north"}}, {"hotel": {"area": ["north", "north side"]}}]]
    predictions: list[list[LooseState]] = [[{"hotel-area": "north"}, {"hotel": {"area": "north side"}}]]
    assert compute(predictions=predictions, references=references, measures=["JGA", "F1"]) == {"JGA": 1.0, "F1": 1.0}
    assert set(dialgauge.compute(predictions=predictions, references=references)) >= {"JGA", "FGA@0.5"}
    with pytest.raises(DialgaugeError, match="predictions for 1 dialogue, but references for 0"):
        compute(predictions=predictions, references=[])
    with pytest.raises(DialgaugeError, match="dialogue 0: there are predictions for 1 turn, but the reference has"):
        compute(predictions=[predictions[0][:1]], references=references)
    with pytest.raises(DialgaugeError, match="dialogue 0, turn 0: 'area' is neither"):
        compute(predictions=[[{"area": "x"}]], references=[[{}]])


@settings(max_examples=examples(20), deadline=None)
@given(corpora(), st.sampled_from(["canon", "trippy_variants", "verbatim"]))
def test_a_stored_run_shows_what_the_scored_one_does(
    tmp_path_factory: pytest.TempPathFactory, both: tuple[list[Dialogue], list[Dialogue]], profile: str
) -> None:
    try:
        results = dialgauge.score(both[0], {"it": both[1]}, measures="all", profile=profile)
    except DialgaugeError as error:
        assert "share" in str(error) or "no turn has" in str(error) or "in the scope" in str(error)
        return
    assert_run_contract(results[0])
    stored = Store(tmp_path_factory.mktemp("runs")).add(results[0])
    assert_run_contract(stored)
    shown, before = (
        {name: table.records() for name, table in run_page(run).tables.items() if name != "provenance"}
        for run in (stored, results[0])
    )
    assert shown == before


def test_ten_thousand_slot_names_do_not_exhaust_memory() -> None:
    """A file with values in place of slot names is scored in pieces, not as one huge table."""
    pairs = [
        pair_of_dialogues([({"hotel-area": "north"}, {f"hotel-s{n}-{k}": "x" for k in range(100)})] * 2, f"D{n}")
        for n in range(100)
    ]
    found = dialgauge.score([a for a, _ in pairs], {"it": [b for _, b in pairs]}, intervals=False)[0]
    assert found["JGA"] == 0.0
    assert found.details["counts"]["off_ontology"] == 20_000
    assert found["F1"] == 0.0


def test_asking_for_what_is_not_there() -> None:
    gold, theirs = data()
    results = dialgauge.score(gold, {"mine": theirs}, measures="JGA", intervals=False)
    with pytest.raises(DialgaugeError, match="there is no system 'mien'. Did you mean 'mine'".replace(".", r"\.")):
        results["mien"]
    for asked in ("JGA", "jga"):
        with pytest.raises(DialgaugeError, match=r"a measure, and each system has its own: results\['mine'\]\['JGA'\]"):
            results[asked]
    with pytest.raises(DialgaugeError, match="mine has no score SA: it was not requested"):
        results["mine"]["SA"]


@pytest.mark.parametrize("bad", [{"hotel-area": None}, {"hotel": {"area": 5}}, {"hotel-area": ["north", 1]}, "hotel"])
def test_states_that_are_none_are_errors(bad: Any) -> None:
    with pytest.raises(DialgaugeError, match=r"strings|mapping"):
        compute(predictions=[[bad]], references=[[{"hotel-area": "north"}]])


def test_accumulators_count_what_is_missing() -> None:
    gold, theirs = data(4)
    left_out, as_empty = (Accumulator(measures="JGA", coverage=policy) for policy in ("intersection", "empty"))
    for one in (left_out, as_empty):
        one.update(gold[:2], theirs[:2])
        one.update(gold[2:], theirs[3:])
        assert (one.coverage.missing_turns, one.coverage.extra_turns) == (2, 0)
    whole = dialgauge.score(gold, {"it": theirs[:2] + theirs[3:]}, measures="JGA", coverage="empty", intervals=False)[0]
    assert as_empty.compute()["JGA"] == whole["JGA"] < left_out.compute()["JGA"]
    with pytest.raises(DialgaugeError, match="same measures, profile and coverage"):
        left_out.merge(as_empty)
