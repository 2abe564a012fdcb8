"""The reference-compatible mode against the reference evaluator's own results, to the last bit."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from turnwise.dialogue import Dialogue, Goal
from turnwise.errors import TurnwiseError
from turnwise.formats.base import Notes
from turnwise.formats.gcdf1 import Gcdf1
from turnwise.formats.source import Part
from turnwise.users.config import Config, with_overrides
from turnwise.users.records import DialogueScore, Measure
from turnwise.users.reference import SECTIONS, behaviour_tree
from turnwise.users.score import Scorer
from turnwise.values.canonical_map import CanonicalMap


def load(path: Path) -> Any:
    with gzip.open(path) as stream:
        return json.load(stream)


@pytest.fixture(scope="module")
def synthetic(expected: Path) -> Any:
    return load(expected / "gcdf1_synthetic.json.gz")


def dialogue_of(record: dict[str, Any]) -> Dialogue:
    content = json.dumps([record]).encode()
    (found,) = Gcdf1().read(Part("case", lambda: io.BytesIO(content), 1 << 20), Notes())
    return found


def triples(score: DialogueScore, measure: Measure) -> dict[str, list[float]]:
    return {domain: [found.f1, found.precision, found.recall] for domain, found in score.scores[measure].items()}


def unordered(value: Any) -> Any:
    """Lists as sorted lists: the reference's order carries no meaning."""
    if isinstance(value, dict):
        return {key: unordered(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return sorted((unordered(entry) for entry in value), key=repr)
    return value


def plain_goal(goal: Goal) -> dict[str, Any]:
    """A goal without empty parts, requests as a set."""
    return {
        domain: {
            key: part
            for key, part in {
                "info": task.info,
                "fail_info": task.fail_info,
                "book": task.book,
                "fail_book": task.fail_book,
                "reqt": sorted(task.requests),
            }.items()
            if part
        }
        for domain, task in goal.tasks.items()
    }


def test_synthetic_cases(synthetic: Any) -> None:
    canonical_map = CanonicalMap(synthetic["canonical_map"])
    wrong: list[str] = []
    scored = 0
    for case in synthetic["cases"]:
        want = case["expected"]
        if "reference_raises" in want:
            continue
        dialogue = dialogue_of(case["dialogue"])
        before = plain_goal(dialogue.goal or Goal())
        scorer = Scorer(with_overrides(Config(), case["config_overrides"]), canonical_map=canonical_map)
        score = scorer.score(dialogue)
        scored += 1
        tree = behaviour_tree(score)
        for measure, short in (("I-GCDF1", "igcd"), ("R-GCDF1", "rgcd")):
            if triples(score, measure) != want[short]:
                wrong.append(f"{case['name']}: {measure} {triples(score, measure)} != {want[short]}")
            behaviours = {**tree[SECTIONS[measure]], **lists(score, measure)}
            if unordered(behaviours) != unordered(want[f"{short}_behaviours"]):
                wrong.append(f"{case['name']}: {behaviours} != {want[f'{short}_behaviours']}")
        after = plain_goal(dialogue_of({**case["dialogue"], "goal": want["goal_after"]}).goal or Goal())
        assert plain_goal(score.final_goal()) == after, case["name"]
        assert plain_goal(dialogue.goal or Goal()) == before
    assert wrong == []
    assert scored == 531


def lists(score: DialogueScore, measure: Measure) -> dict[str, list[str]]:
    """The dialogue-wide lists of predictions and truth, put together from the verdicts."""
    said: Counter[str] = Counter()
    truth: Counter[str] = Counter()
    for verdict in score.verdicts:
        if verdict.measure == measure and verdict.verdict != "pooled":
            said[verdict.item] += verdict.tp + verdict.fp
            truth[verdict.item] += verdict.tp + verdict.fn
    return {"pos": list(said.elements()), "true_pos": list(truth.elements())}


def test_where_the_reference_aborts_the_dialogue_fails_with_a_reason(synthetic: Any) -> None:
    canonical_map = CanonicalMap(synthetic["canonical_map"])
    aborting = [case for case in synthetic["cases"] if "reference_raises" in case["expected"]]
    assert len(aborting) == 12
    for case in aborting:
        scorer = Scorer(with_overrides(Config(), case["config_overrides"]), canonical_map=canonical_map)
        with pytest.raises(TurnwiseError) as caught:
            scorer.score(dialogue_of(case["dialogue"]))
        assert caught.value.dialogue == case["dialogue"]["dialogue_id"]
        assert caught.value.turn is not None, case["name"]
