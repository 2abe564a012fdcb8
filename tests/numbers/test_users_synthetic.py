"""GCDF1 on the 543 synthetic conversations, against what the authors' evaluator says of each.

Scores come from `dialogue_scores`, behaviours and the lists behind the scores from the tables `behaviours` and
`verdicts`; scores are also computed from the verdicts by the formulas alone.

Notices: the last digit of a score, a dialogue or domain that is missing or swapped, precision in place of recall, a
verdict or behaviour that is missing or stands in another turn.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import surface
import users_oracle as oracle

SHORT = {"I-GCDF1": "igcd", "R-GCDF1": "rgcd"}
#: The lists of predictions and of truth, which the reference keeps among its behaviours.
LISTS = ("pos", "true_pos")
#: Whether a verdict adds true positives, false positives, false negatives.
COUNTS_OF = {
    **dict.fromkeys(("credited", "repeated-forgiven", "out-of-goal-credited", "pre-empted"), (True, False, False)),
    **dict.fromkeys(("repeated-penalised", "wrong-value", "out-of-goal", "outside-domain"), (False, True, False)),
    "missing": (False, False, True),
    **dict.fromkeys(("excused", "not-counted"), (False, False, False)),
}
#: Parts of the document that are not compared.
NOT_COMPARED = {
    "about": "says where the cases come from",
    "canonical_map": "is an input",
    "expected/reference_raises": "the name of a Python exception; what is compared is which dialogues fail",
}


@pytest.fixture(scope="module")
def document(fact: Callable[[str], Any]) -> Any:
    return fact("gcdf1_synthetic.json.gz")


@pytest.fixture(scope="module")
def runs(document: Any) -> list[tuple[list[Any], Any]]:
    """The cases of every configuration with their run; the default configuration comes first."""
    groups: dict[str, list[Any]] = {"{}": []}
    for case in document["cases"]:
        groups.setdefault(json.dumps(case["config_overrides"], sort_keys=True), []).append(case)
    return [
        (cases, surface.users([c["dialogue"] for c in cases], document["canonical_map"], overrides=json.loads(config)))
        for config, cases in groups.items()
    ]


def scored(cases: list[Any]) -> dict[str, Any]:
    """The cases that the reference evaluator can score, by dialogue."""
    return {case["dialogue"]["dialogue_id"]: case for case in cases if "reference_raises" not in case["expected"]}


def test_the_document_is_compared_whole(document: Any) -> None:
    assert document.keys() == {"about", "canonical_map", "cases"}
    kinds = Counter(frozenset(case["expected"]) for case in document["cases"])
    whole = frozenset({"igcd", "rgcd", "igcd_behaviours", "rgcd_behaviours", "goal_after"})
    assert kinds == {whole: 531, frozenset({"reference_raises"}): 12}
    assert {"about", "canonical_map"} <= NOT_COMPARED.keys() and "expected/reference_raises" in NOT_COMPARED


def test_scores(runs: list[tuple[list[Any], Any]]) -> None:
    wrong: list[str] = []
    for cases, run in runs:
        found = surface.user_scores(run)
        for measure, short in SHORT.items():
            assert found[measure].keys() <= scored(cases).keys()
            for name, case in scored(cases).items():
                if not oracle.same(found[measure].get(name, {}), case["expected"][short]):
                    wrong.append(f"{measure} of {case['name']}")
    assert wrong == []


def test_behaviours(runs: list[tuple[list[Any], Any]]) -> None:
    wrong: list[str] = []
    for cases, run in runs:
        stored = oracle.by_dialogue(surface.user_behaviours(run))
        for measure, short in SHORT.items():
            for name, case in scored(cases).items():
                tree = case["expected"][f"{short}_behaviours"]
                theirs: Counter[oracle.Row] = Counter()
                for label in tree.keys() - set(LISTS):
                    theirs += oracle.recorded_rows(measure, label, tree[label], name)
                if oracle.stored_rows(stored.get((name, measure), [])) != theirs:
                    wrong.append(f"{measure} of {case['name']}")
    assert wrong == []


def test_what_was_said_and_wanted(runs: list[tuple[list[Any], Any]]) -> None:
    for cases, run in runs:
        stored = oracle.by_dialogue(surface.user_verdicts(run))
        for measure, short in SHORT.items():
            for name, case in scored(cases).items():
                wanted, said = oracle.multisets(stored.get((name, measure), []))
                tree = case["expected"][f"{short}_behaviours"]
                assert said == Counter(tree["pos"]), case["name"]
                assert wanted == Counter(tree["true_pos"]), case["name"]


def slots_of_turn(turn: dict[str, Any]) -> set[tuple[str, str]]:
    """Service and slot of everything that is said or asked in a turn."""
    named = {(frame["service"], a["slot"].lower()) for frame in turn["frames"] for a in frame["actions"] if "slot" in a}
    asked = [name for frame in turn["frames"] for name in frame.get("state", {}).get("requested_slots", [])]
    return named | {(service, slot.lower()) for service, _, slot in (name.partition("-") for name in asked)}


def test_verdicts_stand_where_something_was_said(runs: list[tuple[list[Any], Any]]) -> None:
    """Once for each turn. Their names say whether they count, and their labels are behaviours of the same item."""
    for cases, run in runs:
        by_name = scored(cases)
        seen: set[tuple[str, str, str, str, int]] = set()
        noticed = {(*row[:3], item) for row in surface.user_behaviours(run) for item in (row[4], row[7])}
        for name, measure, domain, item, verdict, turn, labels, *numbers in surface.user_verdicts(run):
            case = by_name[name]
            if verdict != oracle.POOLED:
                assert tuple(map(bool, numbers)) == COUNTS_OF[verdict], case["name"]
            if turn is not None:
                assert (name, measure, domain, item, turn) not in seen, (case["name"], item)
                seen.add((name, measure, domain, item, turn))
                slot = item.partition("===" if measure == "I-GCDF1" else "-")[0 if measure == "I-GCDF1" else 2]
                said = slots_of_turn(case["dialogue"]["turns"][turn])
                assert said & {(domain, slot), ("booking", slot)}, (case["name"], item)
            for label in labels:
                if not label.startswith("lost/"):
                    assert (name, measure, label, item) in noticed, (case["name"], item, label)


def test_scores_follow_from_verdicts(runs: list[tuple[list[Any], Any]]) -> None:
    compared = 0
    for _, run in runs:
        found, means = surface.user_scores(run), surface.user_means(run)
        for (name, measure), verdicts in oracle.by_dialogue(surface.user_verdicts(run)).items():
            assert oracle.same(found[measure].get(name, {}), oracle.scores_of(verdicts)), name
            compared += 1
            for domain, (f1, _, _) in found[measure].get(name, {}).items():
                of_domain = [row for row in verdicts if domain in (oracle.COMBINED, row[2])]
                assert oracle.f1_of_counts(of_domain) == pytest.approx(f1, abs=1e-12)
        for measure in SHORT:
            assert oracle.same(means[measure], oracle.means(found[measure]))
    assert compared > 1000


def test_requests_that_a_failed_search_removes(runs: list[tuple[list[Any], Any]]) -> None:
    """The reference deletes them from the goal."""
    changed = 0
    for cases, run in runs:
        removed = surface.requests_removed(run)
        assert removed.keys() == scored(cases).keys()
        for name, case in scored(cases).items():
            goal = case["dialogue"]["goal"]
            left = {
                domain: {key: part for key, part in task.items() if key != "reqt" or domain not in removed[name]}
                for domain, task in goal.items()
            }
            assert left == case["expected"]["goal_after"], case["name"]
            changed += left != goal
    assert changed > 10


def test_where_the_reference_aborts_one_dialogue_fails_and_the_others_are_scored(
    runs: list[tuple[list[Any], Any]],
) -> None:
    failed = 0
    for cases, run in runs:
        aborting = {case["dialogue"]["dialogue_id"] for case in cases} - scored(cases).keys()
        found = surface.failed_dialogues(run)
        assert found.keys() == aborting
        assert None not in found.values()
        failed += len(found)
    assert failed == 12


def flat_labels(tree: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Labels of the reference's tree with their records; `group/label` where labels stand in a group."""
    for label, branch in tree.items():
        if label in ("multiple_constraint_informs", "constraints_not_in_goal", "multiple_slot_requests"):
            yield from ((f"{label}/{inner}", records) for inner, records in branch.items())
        else:
            yield label, branch


def test_the_stored_tables_hold_what_the_reference_layout_says(
    document: Any, runs: list[tuple[list[Any], Any]]
) -> None:
    cases, run = runs[0]
    written = surface.reference_layout([case["dialogue"] for case in cases], document["canonical_map"])
    theirs: Counter[oracle.Row] = Counter()
    for measure, short in SHORT.items():
        for label, records in flat_labels(written["metadata"][f"{short}_f1"]):
            if label == "auto_ref":
                for domain, dialogues in records.items():
                    theirs[measure, label, domain, "", (), ""] += len(dialogues)
            elif not label.startswith("preprocessed"):
                for dialogue, entries in records.items():
                    theirs += oracle.recorded_rows(measure, label, entries, dialogue)
    assert oracle.stored_rows(surface.user_behaviours(run)) == theirs
    names = {"igcd_f1": 0, "igcd_precision": 1, "igcd_recall": 2, "rgcd_f1": 0, "rgcd_precision": 1, "rcgd_recall": 2}
    for key, place in names.items():
        means = surface.user_means(run)["I-GCDF1" if key.startswith("i") else "R-GCDF1"]
        assert written[key] == pytest.approx({domain: triple[place] for domain, triple in means.items()}, abs=1e-12)
