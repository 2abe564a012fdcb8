"""The same scores for parts of the corpus: by domain, service, slot, turn, and number of domains.

Turns grouped by a property of the turn keep the numerators and denominators they had, so the parts add up to the
whole. Domains are different: there the states themselves are cut down to the domain (RSA paper, Table 2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.tracking.comparison import StateComparison
from dialgauge.tracking.counts import CORRECT, MISSED, SPURIOUS, WRONG, Counts, TurnCounts
from dialgauge.tracking.encode import Codes, Flags, Verdicts
from dialgauge.tracking.measures.base import Measure

#: Group name to what is known about the group.
View: TypeAlias = dict[str, dict[str, Any]]
VIEWS = ("domain", "service", "slot", "turn", "n-domains")


def view(name: str, comparison: StateComparison, measures: Sequence[Measure]) -> View:
    """One view by name."""
    counts = comparison.counts
    makers: dict[str, Callable[[], View]] = {
        "domain": lambda: _by_domain(comparison, measures, lambda domain: domain.split("_")[0]),
        "service": lambda: _by_domain(comparison, measures, lambda domain: domain),
        "slot": lambda: _by_slot(comparison),
        "turn": lambda: _by_group(counts, measures, counts.turn),
        "n-domains": lambda: _by_group(counts, measures, domains_per_dialogue(comparison)[counts.dialogue]),
    }
    require_view(name)
    if name != "turn" and (comparison.flags_only or not comparison.has_gold):
        raise DialgaugeError(
            f"the view by {name} needs gold and predicted states, and there are only correctness flags"
        )
    return makers[name]()


def require_view(name: str) -> None:
    """An error with the nearest names where there is no such view."""
    if name not in VIEWS:
        raise DialgaugeError(f"there is no view by '{name}'.{nearest(name, VIEWS)}")


def _by_group(counts: Counts, measures: Sequence[Measure], group: Codes) -> View:
    """Groups of turns: sums of the rows the turns have in the whole corpus."""
    names, member = np.unique(group, return_inverse=True)
    found: View = {}
    for place, name in enumerate(names.tolist()):
        chosen = member == place
        scores = {}
        for measure in measures:
            if not measure.grouped:
                above, below = (part[chosen].sum() for part in measure.rows(counts))
                scores[str(measure)] = float(above / below) if below else math.nan
        found[str(name)] = {
            "dialogues": len(np.unique(counts.dialogue[chosen])),
            "turns": int(chosen.sum()),
            "scores": scores,
        }
    return found


def _by_domain(comparison: StateComparison, measures: Sequence[Measure], group: Callable[[str], str]) -> View:
    """For each domain: the turns whose gold state has a slot of it, both states cut down to it.

    Slot accuracy keeps the whole inventory T in its denominator, as TRADE and SOM-DST do; ``SA(T=domain)`` is beside
    it. Turns where the domain is predicted but not in gold are outside this rule and counted apart.
    """
    pairs = comparison.slots
    domains = sorted({group(domain) for domain, _ in pairs})
    per_turn = [measure for measure in measures if not measure.grouped and "history" not in measure.card.needs]
    tables: dict[str, tuple[list[TurnCounts], list[Codes]]] = {domain: ([], []) for domain in domains}
    spurious = dict.fromkeys(domains, 0)
    for stretch in comparison.stretches():
        verdicts = comparison.verdicts(stretch)
        owner = np.array([group(pairs[number][0]) for number in stretch.slots.tolist()])
        for domain in domains:
            part = verdicts[owner == domain]
            in_gold = ((part != 0) & (part != SPURIOUS)).any(axis=0)
            spurious[domain] += int((~in_gold & (part == SPURIOUS).any(axis=0)).sum())
            if in_gold.any():
                tables[domain][0].append(_restricted(part[:, in_gold]))
                tables[domain][1].append(np.flatnonzero(in_gold).astype(np.int32) + stretch.start)
    known = comparison.coder.profile.inventory
    found: View = {}
    for domain, (parts, rows) in tables.items():
        size = sum(group(other) == domain for other, _ in known or pairs)
        if parts:
            counts = _joined(comparison.counts, parts, np.concatenate(rows))
            errors = counts.errors.sum() / len(counts)
            found[domain] = {
                "dialogues": counts.dialogues,
                "turns": len(counts),
                "spurious_domain_turns": spurious[domain],
                "scores": {str(measure): measure.value(counts) for measure in per_turn}
                | {"SA(T=domain)": float((size - errors) / size) if size else math.nan},
            }
        elif spurious[domain]:
            found[domain] = {"dialogues": 0, "turns": 0, "spurious_domain_turns": spurious[domain], "scores": {}}
    return found


def _restricted(verdicts: Verdicts) -> TurnCounts:
    correct, wrong, missed, spurious = (
        (verdicts == kind).sum(axis=0, dtype=np.int32) for kind in (CORRECT, WRONG, MISSED, SPURIOUS)
    )
    nothing: Flags = np.zeros(verdicts.shape[1], bool)
    return TurnCounts(correct, wrong, missed, spurious, nothing, nothing, nothing)


def _joined(whole: Counts, parts: list[TurnCounts], rows: Codes) -> Counts:
    """Counts over chosen turns of the whole, dialogues numbered anew."""
    dialogue = whole.dialogue[rows]
    first: Flags = np.ones(len(rows), bool)
    first[1:] = dialogue[1:] != dialogue[:-1]
    return Counts(
        turns=TurnCounts(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in TurnCounts.__dataclass_fields__)
        ),
        dialogue=(np.cumsum(first) - 1).astype(np.int32),
        turn=whole.turn[rows],
        first=first,
        inventory=whole.inventory,
    )


def _by_slot(comparison: StateComparison) -> View:
    """The four counts of each slot over all turns, and what follows from them."""
    table, turns = comparison.slot_counts, len(comparison.counts)
    found: View = {}
    order = sorted(range(len(table.pairs)), key=lambda number: table.pairs[number])
    for number in order:
        domain, slot = table.pairs[number]
        correct, wrong, missed, spurious = (int(part[number].sum()) for part in table.parts())
        found[f"{domain}-{slot}"] = {
            "turns": turns,
            "correct": correct,
            "wrong_value": wrong,
            "missed": missed,
            "spurious": spurious,
            "scores": {
                "Accuracy": (turns - wrong - missed - spurious) / turns,
                "Precision": _share(correct, correct + wrong + spurious),
                "Recall": _share(correct, correct + wrong + missed),
                "F1": _share(2 * correct, 2 * correct + 2 * wrong + missed + spurious),
            },
        }
    return found


def _share(above: int, below: int) -> float:
    return above / below if below else math.nan


def domains_per_dialogue(comparison: StateComparison) -> Codes:
    """For each dialogue the number of domains its gold states ever have."""
    table = comparison.slot_counts.by_domain()
    in_gold = (table.correct + table.wrong + table.missed) > 0
    domains: Codes = np.add.reduce(in_gold, axis=0, dtype=np.int32)
    return domains
