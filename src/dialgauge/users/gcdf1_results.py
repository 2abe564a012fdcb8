"""A stored run in the layout of the authors' evaluator, for people whose tools read that.

``dialgauge runs export RUN --to gcdf1`` writes one JSON object: the means, and under ``metadata`` counts, score
distributions, the configuration and the tree of behaviours. Even its misspelt key ``rcgd_recall`` is the reference's.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from dialgauge.errors import DialgaugeError
from dialgauge.runs import Run
from dialgauge.users.labels import LABELS, REPEATED, REPEATED_REQUESTS
from dialgauge.users.measures import ASPECTS, score_name
from dialgauge.users.verdicts import COMBINED, MeasureName

SECTIONS: dict[MeasureName, str] = {"I-GCDF1": "igcd_f1", "R-GCDF1": "rgcd_f1"}
_MEANS: dict[MeasureName, tuple[str, ...]] = {
    "I-GCDF1": ("igcd_f1", "igcd_precision", "igcd_recall"),
    "R-GCDF1": ("rgcd_f1", "rgcd_precision", "rcgd_recall"),
}
#: Labels whose entries stand in one inner list per domain, and other labels of requests.
_GROUPED = frozenset(
    {"provision_entire_domain", "provision_slots", "requests_not_in_goal", "requested_domains_outside_goals"}
)
_OF_REQUESTS = _GROUPED | {"multiple_req", "auto_ref"}
#: Labels that the reference has and never fills.
_NEVER = (f"{REPEATED}/wrong_taxi_annotations", "slots_missing_from_cmap")
_PREPROCESSED = {
    "user": "preprocessed_user_constraints",
    "system": "preprocessed_sys_constraints",
    "nlu": "preprocessed_sys_nlu",
}


def gcdf1_tree(run: Run) -> dict[str, Any]:
    """The main output file of the authors' evaluator."""
    report: dict[str, Any] = {}
    counts, distributions = {}, {}
    for measure, keys in _MEANS.items():
        lists = _distribution(run, measure)
        counts[SECTIONS[measure]] = {domain: len(rows) for domain, rows in lists.items() if rows}
        scored = [domain for domain in (*sorted(lists.keys() - {COMBINED}), COMBINED) if lists[domain]]
        for key, aspect in zip(keys, ASPECTS, strict=True):
            report[key] = {domain: run.scores[score_name(measure, aspect, domain)].value for domain in scored}
        # The reference's list of the combined score holds those of all domains before it.
        lists[COMBINED] = [row for domain in scored for row in lists[domain]]
        distributions[SECTIONS[measure]] = lists
    report["metadata"] = {
        "counts": counts,
        "score_distributions": distributions,
        "evaluation_config": {key: value for key, value in run.manifest.config.items() if key != "profile"},
        "commit_hash": f"dialgauge {run.manifest.versions['dialgauge']}",
        "date": str(run.manifest.created),
        "signature": run.signature,
        **_trees(run),
    }
    return report


def _distribution(run: Run, measure: MeasureName) -> dict[str, list[list[Any]]]:
    """Score and dialogue by domain."""
    absent = next((name for aspect in ASPECTS if (name := score_name(measure, aspect)) not in run.scores), None)
    if run.kind != "users" or absent:
        raise DialgaugeError(f"run {run.id} has no {absent or measure}, which the authors' layout holds")
    lists: dict[str, list[list[Any]]] = {COMBINED: []}
    names = {score_name(measure), *(name for name in run.scores if name.startswith(f"{measure}["))}
    rows = run.table("dialogue_scores").filter(pl.col("measure").is_in(list(names)))
    for dialogue, name, num, den in rows.select("dialogue", "measure", "num", "den").iter_rows():
        domain = name.partition("[")[2].removesuffix("]") or COMBINED
        lists.setdefault(domain, []).append([num / den, dialogue])
    return lists


def _trees(run: Run) -> dict[str, dict[str, Any]]:
    """Section to label to dialogue to domain to entries; every label is there, even when nothing was recorded."""
    trees: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS.values()}
    for label in (*LABELS, *_NEVER):
        requests = label in _OF_REQUESTS or label.startswith(f"{REPEATED_REQUESTS}/")
        both = label == "repetitions_warning"
        for section in SECTIONS.values() if both else [SECTIONS["R-GCDF1" if requests else "I-GCDF1"]]:
            _place(trees[section], label)
    for row in run.table("behaviours").iter_rows(named=True):
        _add(_place(trees[SECTIONS[row["measure"]]], row["behaviour"]), row)
    for source, key in _PREPROCESSED.items():
        trees["igcd_f1"][key] = _preprocessed(run.table("normalisation").filter(pl.col("source") == source))
    return trees


def _place(tree: dict[str, Any], label: str) -> dict[str, Any]:
    """Where a label's entries go: ``group/name`` is a name inside a group."""
    for part in label.split("/"):
        tree = tree.setdefault(part, {})
    return tree


def _add(branch: dict[str, Any], row: dict[str, Any]) -> None:
    """One behaviour, as the reference writes it."""
    label, dialogue, domain = row["behaviour"], row["dialogue"], row["domain"]
    if label == "auto_ref":
        branch.setdefault(domain, []).append(dialogue)
    elif label == "missed_domain":
        branch.setdefault(dialogue, []).append(domain)
    elif label == "wrong_taxi_annotations":
        branch.setdefault(dialogue, []).append(_entry(row))
    elif label in _GROUPED:
        branch.setdefault(dialogue, {}).setdefault(domain, [[]])[0].append(row["item"])
    else:
        branch.setdefault(dialogue, {}).setdefault(domain, []).append(_entry(row))


def _entry(row: dict[str, Any]) -> Any:
    item, turns = row["item"], row["at_turns"]
    if row["expected"]:
        return {"provided": item, "expected": row["expected"]}
    if row["count"]:
        return {item: row["count"]}
    if len(turns) == 1 and row["behaviour"] != "sys_preempted_constraint":
        return {item: turns[0]}
    return {item: turns} if turns else item


def _preprocessed(rows: pl.DataFrame) -> dict[str, Any]:
    """The values that were normalised, each as often as the reference normalises it."""
    tree: dict[str, Any] = {}
    for row in rows.iter_rows(named=True):
        outcome = "values_matched" if row["matched"] else "matching_failures"
        by_domain = tree.setdefault(row["dialogue"], {}).setdefault(outcome, {})
        entry = {
            "best_match": row["nearest"],
            "canonical_value": row["canonical"],
            "hyp_value": row["value"],
            "method": row["method"],
        }
        by_domain.setdefault(row["domain"], {}).setdefault(row["slot"], []).extend([entry] * row["times"])
    return tree
