"""Results in the layout of the reference evaluator, for people whose tools read that (spec section 8).

``dialgauge users score --reference FILE`` writes one JSON object: the means, and under ``metadata`` counts, score
distributions, the configuration and the tree of behaviours. Even its misspelt key ``rcgd_recall`` is the reference's.
"""

from __future__ import annotations

from typing import Any

import msgspec

from dialgauge._version import __version__
from dialgauge.users.evaluation import UserEvaluation
from dialgauge.users.records import COMBINED, LABELS, MEASURES, Behaviour, DialogueScore, Measure
from dialgauge.users.summary import summarise

SECTIONS: dict[Measure, str] = {"I-GCDF1": "igcd_f1", "R-GCDF1": "rgcd_f1"}

_MEANS: dict[Measure, dict[str, str]] = {
    "I-GCDF1": {"f1": "igcd_f1", "precision": "igcd_precision", "recall": "igcd_recall"},
    "R-GCDF1": {"f1": "rgcd_f1", "precision": "rgcd_precision", "recall": "rcgd_recall"},
}
_REQUEST_LABELS = frozenset(
    {
        "multiple_req",
        "auto_ref",
        "provision_entire_domain",
        "provision_slots",
        "requests_not_in_goal",
        "requested_domains_outside_goals",
    }
)
_BOTH = "repetitions_warning"
#: Labels whose entries stand in one inner list per domain.
_GROUPED = _REQUEST_LABELS - {"multiple_req", "auto_ref"}
#: Labels whose single turn is written as a list of turns.
_LISTED = frozenset({"sys_preempted_constraint"})
_PREPROCESSED = {
    "user": "preprocessed_user_constraints",
    "system": "preprocessed_sys_constraints",
    "nlu": "preprocessed_sys_nlu",
}


def reference_report(evaluation: UserEvaluation) -> dict[str, Any]:
    """The main output file of the reference evaluator."""
    summary = summarise(evaluation, resamples=0)
    report: dict[str, Any] = {}
    for measure, names in _MEANS.items():
        for aspect, key in names.items():
            rows = [row for row in summary if row.measure == measure and row.dialogues]
            report[key] = {row.domain: getattr(row, aspect).value for row in rows}
    report["metadata"] = {
        "counts": {
            SECTIONS[measure]: {
                row.domain: row.dialogues for row in summary if row.measure == measure and row.dialogues
            }
            for measure in MEASURES
        },
        "score_distributions": {SECTIONS[measure]: _distribution(evaluation, measure) for measure in MEASURES},
        "evaluation_config": msgspec.to_builtins(evaluation.config),
        "commit_hash": f"dialgauge {__version__}",
        "signature": evaluation.signature,
        **_trees(evaluation),
    }
    return report


def behaviour_tree(score: DialogueScore) -> dict[str, dict[str, Any]]:
    """One dialogue's behaviours by section, label and domain, as the reference writes them for that dialogue."""
    tree: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS.values()}
    for behaviour in score.behaviours:
        labels = tree[SECTIONS[behaviour.measure]]
        if behaviour.label == "missed_domain":
            labels.setdefault(behaviour.label, []).append(behaviour.domain)
        elif behaviour.label == "wrong_taxi_annotations":
            labels.setdefault(behaviour.label, []).append(_entry(behaviour))
        elif behaviour.label == "auto_ref":
            labels.setdefault(behaviour.label, {})[behaviour.domain] = [score.id]
        elif behaviour.label in _GROUPED:
            labels.setdefault(behaviour.label, {}).setdefault(behaviour.domain, [[]])[0].append(behaviour.item)
        else:
            labels.setdefault(behaviour.label, {}).setdefault(behaviour.domain, []).append(_entry(behaviour))
    return tree


def _entry(behaviour: Behaviour) -> Any:
    if behaviour.expected:
        return {"provided": behaviour.item, "expected": behaviour.expected}
    if behaviour.count:
        return {behaviour.item: behaviour.count}
    if len(behaviour.turns) == 1 and behaviour.label not in _LISTED:
        return {behaviour.item: behaviour.turns[0]}
    return {behaviour.item: list(behaviour.turns)} if behaviour.turns else behaviour.item


def _distribution(evaluation: UserEvaluation, measure: Measure) -> dict[str, list[list[Any]]]:
    """Score and dialogue by domain; ``combined`` holds all lists together, as the reference has it."""
    lists: dict[str, list[list[Any]]] = {}
    for score in evaluation.scores:
        for domain, found in score.scores[measure].items():
            lists.setdefault(domain, []).append([found.f1, score.id])
    combined = [row for domain in sorted(lists.keys() - {COMBINED}) for row in lists[domain]]
    return lists | {COMBINED: [*combined, *lists.get(COMBINED, [])]}


def _trees(evaluation: UserEvaluation) -> dict[str, dict[str, Any]]:
    """Section to label to dialogue to domain to entries; every label is there, even when nothing was recorded."""
    trees: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS.values()}
    for label in LABELS:
        of_requests = label in _REQUEST_LABELS or label.startswith("multiple_slot_requests/")
        for section in SECTIONS.values() if label == _BOTH else [SECTIONS["R-GCDF1" if of_requests else "I-GCDF1"]]:
            _place(trees[section], label)
    for score in evaluation.scores:
        for section, labels in behaviour_tree(score).items():
            for label, entries in labels.items():
                place = _place(trees[section], label)
                if label == "auto_ref":
                    for domain, ids in entries.items():
                        place.setdefault(domain, []).extend(ids)
                else:
                    place[score.id] = entries
    return trees | {"igcd_f1": trees["igcd_f1"] | _preprocessed(evaluation)}


def _place(tree: dict[str, Any], label: str) -> dict[str, Any]:
    """Where a label's entries go: ``group/name`` is a name inside a group."""
    for part in label.split("/"):
        tree = tree.setdefault(part, {})
    return tree


def _preprocessed(evaluation: UserEvaluation) -> dict[str, Any]:
    """The values that were normalised, each attempt once (the reference repeats some)."""
    found: dict[str, Any] = {key: {} for key in _PREPROCESSED.values()}
    for score in evaluation.scores:
        for source, _, attempt in score.attempts:
            outcome = "values_matched" if attempt.matched else "matching_failures"
            by_domain = found[_PREPROCESSED[source]].setdefault(score.id, {}).setdefault(outcome, {})
            by_domain.setdefault(attempt.domain, {}).setdefault(attempt.slot, []).append(
                {
                    "best_match": attempt.nearest,
                    "canonical_value": attempt.canonical,
                    "hyp_value": attempt.value,
                    "method": attempt.method,
                }
            )
    return found
