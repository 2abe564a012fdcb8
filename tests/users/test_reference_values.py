"""The reference-compatible mode against the reference evaluator's own results, to the last bit."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest

from dialgauge.dialogue import Goal
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Run
from dialgauge.users import (
    MEASURES,
    SECTIONS,
    DialogueScore,
    MeasureName,
    ScoredConversations,
    Scorer,
    behaviour_tree,
    constraint_counts,
    goals_per_domain_set,
    paper_figures,
    reference_report,
    score_name,
)
from dialgauge.values import CanonicalMap
from support.talks import configured, from_record
from support.verdicts import assert_verdicts_add_up, final_goal

SCORED = "scored_dialogues"

SHORT: dict[MeasureName, str] = {"I-GCDF1": "igcd", "R-GCDF1": "rgcd"}


def triples(score: DialogueScore, measure: MeasureName) -> dict[str, list[float]]:
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
        dialogue = from_record(case["dialogue"])
        before = plain_goal(dialogue.goal or Goal())
        scorer = Scorer(configured(case["config_overrides"]), canonical_map=canonical_map)
        score = scorer.score(dialogue)
        scored += 1
        tree = behaviour_tree(score.id, score.behaviours)
        for measure in MEASURES:
            short = SHORT[measure]
            if triples(score, measure) != want[short]:
                wrong.append(f"{case['name']}: {measure} {triples(score, measure)} != {want[short]}")
            behaviours = {**tree[SECTIONS[measure]], **lists(score, measure)}
            if unordered(behaviours) != unordered(want[f"{short}_behaviours"]):
                wrong.append(f"{case['name']}: {behaviours} != {want[f'{short}_behaviours']}")
        after = plain_goal(from_record({**case["dialogue"], "goal": want["goal_after"]}).goal or Goal())
        assert_verdicts_add_up(score)
        assert plain_goal(final_goal(score)) == after, case["name"]
        assert plain_goal(dialogue.goal or Goal()) == before
    assert wrong == []
    assert scored == 531


def lists(score: DialogueScore, measure: MeasureName) -> dict[str, list[str]]:
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
        scorer = Scorer(configured(case["config_overrides"]), canonical_map=canonical_map)
        with pytest.raises(DialgaugeError) as caught:
            scorer.score(from_record(case["dialogue"]))
        assert caught.value.dialogue == case["dialogue"]["dialogue_id"]
        assert caught.value.turn is not None, case["name"]


def test_every_score_of_the_1000_conversations(convlab: ScoredConversations, baseline: Any) -> None:
    assert convlab.failures == []
    assert [score.id for score in convlab.results] == baseline["dialogue_order"]
    for score in convlab.results:
        for measure in MEASURES:
            assert triples(score, measure) == baseline["per_dialogue"][score.id][SHORT[measure]], score.id


def test_aggregates(convlab_run: Run, baseline: Any) -> None:
    scores = dict(convlab_run.scores)
    for measure, short in SHORT.items():
        assert convlab_run.details[SCORED][measure].keys() == baseline["aggregate"][short].keys()
        for domain, want in baseline["aggregate"][short].items():
            assert convlab_run.details[SCORED][measure][domain] == want["n_dialogues"]
            for aspect in ("f1", "precision", "recall"):
                value = scores.pop(score_name(measure, aspect, domain)).value
                assert value == pytest.approx(want[aspect], abs=1e-12)
    assert not scores


def entries(section: str, label: str, score: DialogueScore) -> int:
    """How many entries the reference's tree has for a label in one dialogue."""
    found = behaviour_tree(score.id, score.behaviours)[section].get(label, [])
    return len(found) if isinstance(found, list) else sum(map(len, found.values()))


def test_behaviours_and_the_changed_goals(convlab: ScoredConversations, baseline: Any) -> None:
    removed = sorted([score.id, domain] for score in convlab.results for domain in score.requests_removed)
    assert removed == sorted(baseline["requests_removed_from_goal"])
    for measure, section in SECTIONS.items():
        for label, want in baseline["behaviours"][section].items():
            if label.startswith("preprocessed"):
                continue
            assert sum(map(partial(entries, section, label), convlab.results)) == want["entries"], label
            found: dict[str, set[str]] = {}
            for score in convlab.results:
                for each in score.behaviours:
                    if each.measure == measure and each.label == label:
                        found.setdefault(each.domain, set()).add(score.id)
            assert {domain: sorted(ids) for domain, ids in found.items()} == {
                domain: sorted(set(ids)) for domain, ids in want["dialogue_ids_by_domain"].items()
            }, label


def test_values_that_were_normalised(convlab: ScoredConversations, baseline: Any) -> None:
    want = baseline["behaviours"]["igcd_f1"]
    for source, section in (("user", "user_constraints"), ("system", "sys_constraints"), ("nlu", "sys_nlu")):
        tried = [score.id for score in convlab.results for place, _, _ in score.attempts if place == source]
        assert len(set(tried)) == want[f"preprocessed_{section}"]["dialogues"]
    of_users = Counter(
        f"{'values_matched' if attempt.matched else 'matching_failures'}/{attempt.method}"
        for score in convlab.results
        for source, _, attempt in score.attempts
        if source == "user"
    )
    assert of_users == want["preprocessed_user_constraints"]["entries"]


def test_the_reference_s_file_has_its_record_lists(convlab_run: Run, baseline: Any) -> None:
    """Every list of the tree has as many entries as the reference's, repeated ones included; no label is left out."""
    tree = reference_report(convlab_run)["metadata"]
    for section, labels in baseline["behaviours"].items():
        for label, want in labels.items():
            found: Any = tree[section]
            for part in label.split("/"):
                found = found[part]
            if not label.startswith("preprocessed"):
                ids = {name for names in want["dialogue_ids_by_domain"].values() for name in names}
                assert len(found) == len(ids), label
                continue
            entries = Counter(
                f"{outcome}/{entry['method']}"
                for outcomes in found.values()
                for outcome, domains in outcomes.items()
                for slots in domains.values()
                for records in slots.values()
                for entry in records
            )
            assert (len(found), entries) == (want["dialogues"], want["entries"]), label


def test_figures_that_count(convlab_run: Run, baseline: Any) -> None:
    figures = {figure.key: figure for figure in paper_figures(convlab_run)}
    want = baseline["figures"]
    assert figures["1"].bars["goals"] == want["figure1"]["goals_per_domain"]
    assert goals_per_domain_set(convlab_run) == want["figure1"]["goals_per_domain_set"]
    for key in ("2", "3", "7"):
        assert {bar: row for bar, row in figures[key].bars.items() if row} == want[f"figure{key}"]
    assert figures["2"].slots == want["figure2_distinct_dialogues_per_slot"]
    assert constraint_counts(convlab_run) == want["figure3_constraint_counts"]
    requests = {
        bar: {domain: {f"{domain}-{slot}": n for slot, n in slots.items()} for domain, slots in by_domain.items()}
        for bar, by_domain in figures["7"].slots.items()
    }
    assert requests == want["figure7_distinct_dialogues_per_slot"]


def test_figures_in_percent(convlab_run: Run, baseline: Any) -> None:
    figures = {figure.key: figure for figure in paper_figures(convlab_run)}
    want = baseline["figures"]
    tables = {
        "4a": want["figure4"]["search"],
        "4b": want["figure4"]["booking"],
        "5": {"missed": want["figure5"]["missed"]},
        "6a": {bar.removesuffix("_reqs"): row for bar, row in want["figure6a"].items()},
        "6b": want["figure6b"],
    }
    for key, bars in tables.items():
        for bar, row in bars.items():
            assert {domain: round(figures[key].bars[bar].get(domain, 0.0), 2) for domain in row} == row, (key, bar)
    for key, totals in (
        ("4a", want["figure4_totals"]["search"]),
        ("4b", want["figure4_totals"]["booking"]),
        ("6a", want["figure6a_totals"]),
    ):
        assert {domain: figures[key].totals[domain] for domain in totals} == totals


def test_verdicts_sum_to_the_counts_of_every_score(convlab: ScoredConversations) -> None:
    for score in convlab.results:
        assert_verdicts_add_up(score)
