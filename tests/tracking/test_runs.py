"""Tracking runs of every sort keep the contract of all runs, in memory and stored, and are read back as they were."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dialgauge
from dialgauge.dialogue import Dialogue, Ontology, SlotSpec, State, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Resampling
from dialgauge.report import RunSet, Table, run_page
from dialgauge.runs import Run, Store
from dialgauge.tracking import (
    Accumulator,
    SgdScoring,
    chosen_measures,
    read_counts,
    score_prepared,
)
from dialgauge.tracking.details import tracking_details
from dialgauge.values import profile_named
from runs.contract import assert_run_contract
from support.trackers import gold_dialogues, tracker
from tracking.corpora import prepared

NORTH: State = {"hotel": {"area": ("north",)}}


def states() -> RunSet:
    gold = gold_dialogues(8)
    return dialgauge.score(gold, {"a": tracker(gold, 0.2, 1), "b": tracker(gold[:6], 0.2, 2)}, measures="all")


def several_profiles() -> RunSet:
    gold = gold_dialogues(5)
    return dialgauge.score(gold, {"a": tracker(gold, 0.2, 1)}, profile=["plain", "canon"], intervals=False)


def flags() -> RunSet:
    judged = tuple(Turn(speaker="user", judged={"hotel": {"area": right}}) for right in (True, False, False))
    return dialgauge.score(None, {"flags": [Dialogue(id="a", turns=judged)]})


def flags_with_gold() -> RunSet:
    gold = [Dialogue(id="A.json", turns=(Turn(speaker="user", text="hello", state=NORTH),))]
    judged = [Dialogue(id="a", turns=(Turn(speaker="user", judged={"hotel": {"area": False}}),))]
    return dialgauge.score(gold, {"flags": judged}, coverage="empty")


def own_gold() -> RunSet:
    turns = (Turn(speaker="system", text="hello"), Turn(speaker="user", state=NORTH, predicted={}))
    return dialgauge.score(None, {"own": [Dialogue(id="a", turns=turns)]}, intervals=False)


def official() -> RunSet:
    schema = Ontology(domains={"Hotels_1": {"city": SlotSpec(), "stars": SlotSpec(categorical=True)}})

    def turn(stars: str) -> Turn:
        state: State = {"Hotels_1": {"city": ("Rome",), "stars": (stars,)}}
        return Turn(speaker="user", state=state, active=("Hotels_1",), intents={"Hotels_1": "Find"})

    gold, theirs = ([Dialogue(id=name, turns=(turn(one),)) for name in ("x", "y")] for one in ("1", "2"))
    study = prepared(gold, {"sgd": theirs}, exclude=["y"])
    profiles = [profile_named("verbatim")]
    measures = chosen_measures("JGA,F1")
    sgd = SgdScoring(schema, ["Hotels_1"])
    return RunSet(score_prepared(study, measures, profiles, resampling=Resampling(50), sgd=sgd))


def with_sensitivity() -> RunSet:
    gold = gold_dialogues(4)
    profiles = [profile_named(name) for name in ("plain", "canon")]
    study = prepared(gold, {"a": tracker(gold, 0.3, 1), "b": tracker(gold, 0.3, 2)})
    return RunSet(score_prepared(study, chosen_measures("AGA"), profiles[1:], resampling=None, sensitivity=profiles))


SORTS = (states, several_profiles, flags, flags_with_gold, own_gold, official, with_sensitivity)


def kept(run: Run, folder: Path) -> Run:
    return Store(folder).open(Store(folder).add(run).id)


def _views(run: Run) -> dict[str, Table]:
    shown = run_page(run).tables
    assert not any("cannot be made" in table.answer for table in shown.values())
    return {name: table for name, table in shown.items() if name != "provenance"}


@pytest.mark.parametrize("sort", SORTS, ids=lambda sort: sort.__name__)
def test_the_contract_of_runs(sort: object, tmp_path: Path) -> None:
    assert callable(sort)
    results: RunSet = sort()
    for run in results.runs:
        assert_run_contract(run)
        stored = kept(run, tmp_path)
        assert_run_contract(stored)
        before, after = ({name: table.records() for name, table in _views(one).items()} for one in (run, stored))
        assert before == after
        own, again = run.manifest, stored.manifest
        assert (own.scores, own.coverage, own.details) == (again.scores, again.coverage, again.details)


def test_counts_are_read_back_as_they_were() -> None:
    gold = gold_dialogues(6)
    theirs = tracker(gold, 0.3, 1)
    counts = prepared(gold, {"it": theirs}).comparison("it", profile_named("canon")).counts
    again = read_counts(dialgauge.score(gold, {"it": theirs}, measures="JGA", intervals=False)[0])
    for name in ("dialogue", "turn", "first"):
        assert np.array_equal(getattr(counts, name), getattr(again, name)), name
    for name in counts.turns.__struct_fields__:
        assert np.array_equal(getattr(counts.turns, name), getattr(again.turns, name)), name
    assert counts.totals() == again.totals()


def test_an_accumulator_gives_the_scores_of_the_whole() -> None:
    gold = gold_dialogues(8)
    theirs = tracker(gold, 0.2, 1)
    whole = dialgauge.score(gold, {"it": theirs}, measures="all", seed=3)[0]
    pieces = Accumulator(measures="all")
    pieces.update(gold[:3], theirs[:3])
    pieces.update(gold[3:], theirs[3:])
    scores = pieces.scores(Resampling(1000, seed=3))
    own = {name: score for name, score in whole.scores.items() if not name.startswith("F1(average=")}
    assert {name: scores[name] for name in own} == own
    assert scores.coverage == whole.coverage
    assert scores.frame().rows() == whole.table("dialogue_scores").rows()
    for name in set(whole.scores) - set(own):  # the order of slots is that of the alphabet here
        assert scores[name].value == pytest.approx(whole.scores[name].value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("gold_against_itself",), {"__class__": " "}),
        (("coverage", "turns"), "many"),
        (("evidence", "slots"), "ten"),
        (("sgd",), {"matching": 3}),
        (("profile",), 7),
    ],
)
def test_a_stored_run_with_forged_details_is_refused(tmp_path: Path, path: tuple[str, ...], value: object) -> None:
    stored = Store(tmp_path).add(states().runs[0])
    manifest = json.loads((stored.path / "run.json").read_bytes())
    *inner, last = path
    place = manifest["details"]
    for name in inner:
        place = place[name]
    place[last] = value
    (stored.path / "run.json").write_text(json.dumps(manifest))
    with pytest.raises(DialgaugeError, match=r"its details are not those of a tracking run .*; score again"):
        tracking_details(Store(tmp_path).open(stored.id))
