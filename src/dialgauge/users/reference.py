"""Results in the layout of the reference evaluator, for people whose tools read that.

``dialgauge users score --reference FILE`` writes one JSON object: the means, and under ``metadata`` counts, score
distributions, the configuration and the tree of behaviours. Even its misspelt key ``rcgd_recall`` is the reference's.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

from dialgauge.errors import DialgaugeError
from dialgauge.runs import Run
from dialgauge.users.labels import LABELS, REPEATED, REPEATED_REQUESTS
from dialgauge.users.measures import ASPECTS, score_name
from dialgauge.users.presentation import SCORED
from dialgauge.users.verdicts import COMBINED, MEASURES, Behaviour, MeasureName

SECTIONS: dict[MeasureName, str] = {"I-GCDF1": "igcd_f1", "R-GCDF1": "rgcd_f1"}

_MEANS: dict[MeasureName, dict[str, str]] = {
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
#: Labels that the reference has and never fills.
_NEVER = (f"{REPEATED}/wrong_taxi_annotations", "slots_missing_from_cmap")
#: Labels whose entries stand in one inner list per domain.
_GROUPED = _REQUEST_LABELS - {"multiple_req", "auto_ref"}
#: Labels whose single turn is written as a list of turns.
_LISTED = frozenset({"sys_preempted_constraint"})
_PREPROCESSED = {
    "user": "preprocessed_user_constraints",
    "system": "preprocessed_sys_constraints",
    "nlu": "preprocessed_sys_nlu",
}


def reference_report(run: Run) -> dict[str, Any]:
    """The main output file of the reference evaluator."""
    absent = [name for name in (score_name(*each) for each in product(MEASURES, ASPECTS)) if name not in run.scores]
    if absent:
        why = run.details.get("left_out", {}).get(absent[0], "it was not among the measures requested")
        raise DialgaugeError(f"the reference evaluator's file holds {absent[0]}, and the run does not: {why}")
    scored: dict[MeasureName, dict[str, int]] = run.details[SCORED]
    counts = {measure: {domain: n for domain, n in scored[measure].items() if n} for measure in MEASURES}
    report: dict[str, Any] = {}
    for measure, names in _MEANS.items():
        for aspect, key in names.items():
            report[key] = {domain: run.scores[score_name(measure, aspect, domain)].value for domain in counts[measure]}
    report["metadata"] = {
        "counts": {SECTIONS[measure]: counts[measure] for measure in MEASURES},
        "score_distributions": {SECTIONS[measure]: _distribution(run, measure) for measure in MEASURES},
        "evaluation_config": {key: value for key, value in run.manifest.config.items() if key != "profile"},
        "commit_hash": f"dialgauge {run.manifest.versions['dialgauge']}",
        "date": str(run.manifest.created),
        "signature": run.signature,
        **_trees(run),
    }
    return report


def behaviour_tree(dialogue: str, behaviours: Iterable[Behaviour]) -> dict[str, dict[str, Any]]:
    """One dialogue's behaviours by section, label and domain, as the reference writes them for that dialogue."""
    tree: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS.values()}
    for behaviour in behaviours:
        labels = tree[SECTIONS[behaviour.measure]]
        if behaviour.label == "missed_domain":
            labels.setdefault(behaviour.label, []).append(behaviour.domain)
        elif behaviour.label == "wrong_taxi_annotations":
            labels.setdefault(behaviour.label, []).append(_entry(behaviour))
        elif behaviour.label == "auto_ref":
            labels.setdefault(behaviour.label, {})[behaviour.domain] = [dialogue]
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


def _distribution(run: Run, measure: MeasureName) -> dict[str, list[list[Any]]]:
    """Score and dialogue by domain; ``combined`` holds all lists together, as the reference has it."""
    lists: dict[str, list[list[Any]]] = {}
    for of, domain, f1, dialogue in run.table("domain_scores").select("measure", "domain", "f1", "dialogue").rows():
        if of == measure:
            lists.setdefault(domain, []).append([f1, dialogue])
    combined = [row for domain in sorted(lists.keys() - {COMBINED}) for row in lists[domain]]
    return lists | {COMBINED: [*combined, *lists.get(COMBINED, [])]}


def _trees(run: Run) -> dict[str, dict[str, Any]]:
    """Section to label to dialogue to domain to entries; every label is there, even when nothing was recorded."""
    trees: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS.values()}
    for label in (*LABELS, *_NEVER):
        of_requests = label in _REQUEST_LABELS or label.startswith(f"{REPEATED_REQUESTS}/")
        for section in SECTIONS.values() if label == _BOTH else [SECTIONS["R-GCDF1" if of_requests else "I-GCDF1"]]:
            _place(trees[section], label)
    for dialogue, behaviours in _behaviours(run).items():
        for section, labels in behaviour_tree(dialogue, behaviours).items():
            for label, entries in labels.items():
                branch = _place(trees[section], label)
                if label == "auto_ref":
                    for domain, ids in entries.items():
                        branch.setdefault(domain, []).extend(ids)
                else:
                    branch[dialogue] = entries
    return trees | {"igcd_f1": trees["igcd_f1"] | _preprocessed(run)}


def _behaviours(run: Run) -> dict[str, list[Behaviour]]:
    columns = ("dialogue", "measure", "behaviour", "domain", "item", "at_turns", "count", "expected")
    records: dict[str, list[Behaviour]] = {}
    for dialogue, measure, label, domain, item, turns, count, expected in (
        run.table("behaviours").select(columns).iter_rows()
    ):
        record = Behaviour(measure, label, domain, item, tuple(turns), count or 0, expected or "")
        records.setdefault(dialogue, []).append(record)
    return records


def _place(tree: dict[str, Any], label: str) -> dict[str, Any]:
    """Where a label's entries go: ``group/name`` is a name inside a group."""
    for part in label.split("/"):
        tree = tree.setdefault(part, {})
    return tree


def _preprocessed(run: Run) -> dict[str, Any]:
    """The values that were normalised, each as often as the reference normalises it: what the system said once for
    every domain with missing constraints, what it heard once for every repetition it is looked up for."""
    tree: dict[str, Any] = {key: {} for key in _PREPROCESSED.values()}
    for row in run.table("normalisation").iter_rows(named=True):
        outcome = "values_matched" if row["matched"] else "matching_failures"
        by_domain = tree[_PREPROCESSED[row["source"]]].setdefault(row["dialogue"], {}).setdefault(outcome, {})
        entry = {
            "best_match": row["nearest"],
            "canonical_value": row["canonical"],
            "hyp_value": row["value"],
            "method": row["method"],
        }
        by_domain.setdefault(row["domain"], {}).setdefault(row["slot"], []).extend([entry] * row["times"])
    return tree
