"""The figures of a whole evaluation: means over dialogues, for each domain and combined, with intervals.

A figure is the plain mean over the dialogues that have a score for its domain, ``combined`` the mean of the dialogues'
own combined scores (spec section 8). Intervals come from resampling dialogues.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from dialgauge.users.evaluation import UserEvaluation
from dialgauge.users.records import COMBINED, MEASURES, Measure, PrfScore

ASPECTS = ("f1", "precision", "recall")
RESAMPLES = 1000


class MeanScore(Struct, frozen=True):
    """A mean and its 95% interval; NaN where there are no dialogues."""

    value: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float | None]:
        """For JSON: undefined is null."""
        return {key: _defined(getattr(self, key)) for key in ("value", "low", "high")}


class DomainSummary(Struct, frozen=True):
    """One measure in one domain: F1, precision and recall, and over how many dialogues."""

    measure: Measure
    domain: str
    dialogues: int
    f1: MeanScore
    precision: MeanScore
    recall: MeanScore


def score_name(measure: Measure, aspect: str = "f1", domain: str = COMBINED) -> str:
    """The name of a figure wherever it appears: ``I-GCDF1``, ``I-GCDF1 precision``, ``I-GCDF1[hotel]``."""
    place = "" if domain == COMBINED else f"[{domain}]"
    return f"{measure}{place}" if aspect == "f1" else f"{measure}{place} {aspect}"


def summarise(evaluation: UserEvaluation, *, resamples: int = RESAMPLES, seed: int = 0) -> list[DomainSummary]:
    """Every measure, combined and for each domain."""
    import numpy as np

    from dialgauge.stats import ratio_intervals

    width = len(ASPECTS)
    rows = [(measure, domain) for measure in MEASURES for domain in domains(evaluation, measure)]
    values = np.full((len(rows) * width, len(evaluation.scores)), np.nan)
    for place, (measure, domain) in enumerate(rows):
        for column, score in enumerate(evaluation.scores):
            found = score.scores[measure].get(domain)
            if found is not None:
                values[place * width : (place + 1) * width, column] = (found.f1, found.precision, found.recall)
    present = ~np.isnan(values)
    intervals = np.full((len(values), 2), np.nan)
    if resamples and values.size:
        intervals = ratio_intervals(
            np.where(present, values, 0.0), present.astype(float), resamples=resamples, seed=seed
        )
    figures = [
        MeanScore(float(np.mean(row[there])) if there.any() else math.nan, float(low), float(high))
        for row, there, (low, high) in zip(values, present, intervals, strict=True)
    ]
    return [
        DomainSummary(measure, domain, int(present[place * width].sum()), *figures[place * width : (place + 1) * width])
        for place, (measure, domain) in enumerate(rows)
    ]


def domains(evaluation: UserEvaluation, measure: Measure) -> list[str]:
    """``combined`` and then the domains that have a score for the measure, by name."""
    found = {domain for score in evaluation.scores for domain in score.scores[measure]} - {COMBINED}
    return [COMBINED, *sorted(found)]


def shared_signature(signatures: Sequence[str]) -> str:
    """What the signatures of several systems have in common, part by part.

    >>> shared_signature(["mode:reference|dialogues:10", "mode:reference|dialogues:9"])
    'mode:reference'
    """
    first, *others = (signature.split("|") for signature in signatures)
    return "|".join(part for part in first if all(part in other for other in others))


def as_system(
    evaluation: UserEvaluation, summary: list[DomainSummary], *, per_dialogue: bool = False
) -> dict[str, Any]:
    """One system in the shape of ``dialgauge score --json``."""
    combined = [row for row in summary if row.domain == COMBINED]
    system: dict[str, Any] = {
        "name": evaluation.name,
        "mode": evaluation.config.mode,
        "profile": evaluation.profile,
        "dialogues": len(evaluation.scores),
        "turns": evaluation.turns,
        "scores": {
            score_name(row.measure, aspect): getattr(row, aspect).as_dict()
            | {"dialogues": row.dialogues, "signature": f"{score_name(row.measure, aspect)}|{evaluation.signature}"}
            for row in combined
            for aspect in ASPECTS
        },
        "by": {"domain": _by_domain(summary)},
        "coverage": evaluation.coverage(),
        "failures": [str(failure) for failure in evaluation.failures],
    }
    if per_dialogue:
        system["per_dialogue"] = {
            score.id: {measure: _triples(score.scores[measure]) for measure in MEASURES} for score in evaluation.scores
        }
    return system


def _by_domain(summary: list[DomainSummary]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in summary:
        if row.domain == COMBINED:
            continue
        group = found.setdefault(row.domain, {"dialogues": 0, "scores": {}, "details": {}})
        group["dialogues"] = max(group["dialogues"], row.dialogues)
        for aspect in ASPECTS:
            figure: MeanScore = getattr(row, aspect)
            name = score_name(row.measure, aspect)
            group["scores"][name] = _defined(figure.value)
            group["details"][name] = figure.as_dict() | {"dialogues": row.dialogues}
    return found


def _triples(scores: dict[str, PrfScore]) -> dict[str, dict[str, float]]:
    return {domain: {aspect: getattr(score, aspect) for aspect in ASPECTS} for domain, score in scores.items()}


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value
