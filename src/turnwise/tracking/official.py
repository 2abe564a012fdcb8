"""SGD's official scores beside the others: the same inputs, scored frame by frame."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from turnwise.dialogue import Ontology
from turnwise.report.cells import Column
from turnwise.report.table import Table
from turnwise.tracking.sgd import SGD_CARDS, SgdScores, score_sgd
from turnwise.tracking.sgd.scores import ALL, SEEN, UNSEEN
from turnwise.tracking.study import System


def sgd_scores(
    system: System, schema: Ontology, seen: Collection[str] | None, *, fuzzy: bool, across_turn: bool
) -> SgdScores:
    """The official scores of one system of a study."""
    return score_sgd(
        system.gold_dialogues, system.dialogues, schema, seen_services=seen, fuzzy=fuzzy, across_turn=across_turn
    )


def sgd_table(found: Mapping[str, SgdScores]) -> Table:
    """All, seen and unseen services of every system."""
    measures = list(SGD_CARDS)
    table = Table(
        "SGD's official scores (percent)",
        ["system", "services", *(Column(measure, digits=2, percent=True) for measure in measures)],
    )
    for name, scores in found.items():
        for group in (ALL, SEEN, UNSEEN):
            if group in scores.groups and scores.groups[group].any():
                values = scores.values(group)
                table.add(name, group, *(values.get(measure) for measure in measures))
        matching = "fuzzy" if scores.fuzzy else "exact"
        joint = "multiplied over a turn's services" if scores.across_turn else "per frame"
        table.notes.append(f"{name}: {len(scores.service):,} frames; {matching} matching; joint scores {joint}.")
    return table
