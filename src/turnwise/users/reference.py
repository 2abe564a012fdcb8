"""Results in the layout of the reference evaluator: its tree of behaviours, for people whose tools read that."""

from __future__ import annotations

from typing import Any

from turnwise.users.records import Behaviour, DialogueScore, Measure

SECTIONS: dict[Measure, str] = {"I-GCDF1": "igcd_f1", "R-GCDF1": "rgcd_f1"}

#: Labels whose entries stand in one inner list per domain.
_GROUPED = frozenset(
    {"provision_entire_domain", "provision_slots", "requests_not_in_goal", "requested_domains_outside_goals"}
)
#: Labels whose single turn is written as a list of turns.
_LISTED = frozenset({"sys_preempted_constraint"})


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
            dialogues = labels.setdefault(behaviour.label, {}).setdefault(behaviour.domain, [])
            if score.id not in dialogues:
                dialogues.append(score.id)
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
