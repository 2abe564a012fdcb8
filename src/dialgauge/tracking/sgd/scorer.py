"""From gold and predicted dialogues to SGD's scores."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

import numpy as np

from dialgauge.dialogue import Dialogue, Ontology
from dialgauge.errors import DialgaugeError
from dialgauge.tracking.sgd.cards import SGD_CARDS
from dialgauge.tracking.sgd.frame_scores import frame_scores
from dialgauge.tracking.sgd.frames import SgdCoverage, pairs
from dialgauge.tracking.sgd.scores import SgdScores


def score_sgd(
    gold: Iterable[Dialogue],
    predicted: Iterable[Dialogue],
    schema: Ontology,
    *,
    seen_services: Collection[str] | None = None,
    fuzzy: bool = True,
    across_turn: bool = False,
) -> SgdScores:
    """Score predictions frame by frame.

    ``schema`` gives the slots of each service and which of them are categorical. ``seen_services`` are those of the
    training schema; without them, seen and unseen services are not told apart. ``fuzzy=False`` asks for one of the
    listed values exactly; ``across_turn`` multiplies the joint scores of a turn's services (MultiWOZ 2.2 uses both).
    """
    coverage = SgdCoverage()
    columns: dict[str, list[float]] = {name: [] for name in SGD_CARDS}
    ids: list[str] = []
    services: list[str] = []
    dialogue: list[int] = []
    turn: list[int] = []
    for pair in pairs(gold, predicted, schema, coverage):
        if not ids or ids[-1] != pair.dialogue:
            ids.append(pair.dialogue)
        turn.append(pair.turn)
        dialogue.append(len(ids) - 1)
        services.append(pair.service)
        scores = frame_scores(pair.gold, pair.predicted, schema.domains[pair.service], fuzzy=fuzzy)
        for name, column in columns.items():
            column.append(scores.get(name, math.nan))
    if not services:
        raise _nothing(coverage)
    return SgdScores(
        ids=ids,
        dialogue=np.array(dialogue, np.int64),
        turn=np.array(turn, np.int64),
        service=np.array(services, np.str_),
        columns={name: np.array(column, np.float64) for name, column in columns.items()},
        coverage=coverage,
        seen_services=None if seen_services is None else frozenset(seen_services),
        fuzzy=fuzzy,
        across_turn=across_turn,
    )


def _nothing(coverage: SgdCoverage) -> DialgaugeError:
    if coverage.dialogues:
        return DialgaugeError("gold and predictions share dialogues, but no frame has a state on both sides")
    return DialgaugeError(
        "gold and predictions share no dialogue: "
        f"gold has ids like '{next(iter(coverage.missing_dialogues), '(none)')}', "
        f"the predictions like '{next(iter(coverage.extra_dialogues), '(none)')}'"
    )
