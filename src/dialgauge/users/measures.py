"""I-GCDF1 and R-GCDF1 as measures: F1, precision and recall of each, combined and of any domain (``I-GCDF1[hotel]``).

The unit is the dialogue. A value is the plain mean over the dialogues that have a score; ``combined`` scores pool the
domains of a dialogue.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from dialgauge.measures import Card, Measure, Rows, Settings
from dialgauge.users.records import COMBINED, MEASURES, DialogueScore, MeasureName, PrfScore

ASPECTS = ("f1", "precision", "recall")

_SOURCE = "Coca, Tseng, Byrne: GCDF1, a goal- and context-driven F-score for evaluating user models (EANCS 2021)"
_WHAT = {"I-GCDF1": "constraints", "R-GCDF1": "requests"}
_TITLES = {
    "I-GCDF1": "goal- and context-driven F1 of informing",
    "R-GCDF1": "goal- and context-driven F1 of requesting",
}
_FORMULAS = {"f1": "2 P R / (P + R)", "precision": "P = TP / (TP + FP)", "recall": "R = TP / (TP + FN)"}
_SUMMARIES = {
    "f1": "does the user express all {what} of its goal and no others, repetitions excused by the context?",
    "precision": "which share of the {what} the user expresses belongs to its goal or is warranted by the context?",
    "recall": "which share of the {what} of its goal does the user express?",
}


class UserEvidence:
    """The results of scored dialogues, one unit each; measures of other packages find everything in ``results``."""

    def __init__(self, results: Sequence[DialogueScore]) -> None:
        self.results = results
        self.dialogues = len(results)
        self.dialogue: NDArray[np.integer] = np.arange(len(results))

    def domains(self, measure: MeasureName) -> list[str]:
        """``combined`` and then the domains with a score for the measure, by name."""
        scored = {domain for name, domain in self._columns if name == measure}
        return [COMBINED, *sorted(scored - {COMBINED})]

    def count(self, measure: MeasureName, domain: str) -> int:
        """How many dialogues have a score."""
        places, _ = self._columns.get((measure, domain), ((), ()))
        return len(places)

    def values(self, measure: MeasureName, aspect: str, domain: str) -> NDArray[np.float64]:
        """The score of every dialogue, NaN where it has none."""
        values = np.full(self.dialogues, np.nan)
        if (measure, domain) in self._columns:
            places, scores = self._columns[measure, domain]
            values[places] = [getattr(score, aspect) for score in scores]
        return values

    @cached_property
    def _columns(self) -> dict[tuple[MeasureName, str], tuple[list[int], list[PrfScore]]]:
        """The dialogues with a score, by measure and domain, and their scores."""
        columns: dict[tuple[MeasureName, str], tuple[list[int], list[PrfScore]]] = {}
        for place, result in enumerate(self.results):
            for measure, scores in result.scores.items():
                for domain, score in scores.items():
                    places, column = columns.setdefault((measure, domain), ([], []))
                    places.append(place)
                    column.append(score)
        return columns


def _rows(measure: MeasureName, aspect: str, evidence: UserEvidence, settings: Settings) -> Rows:
    values = evidence.values(measure, aspect, str(settings.get("part", COMBINED)))
    scored = ~np.isnan(values)
    return np.where(scored, values, 0.0), scored.astype(np.float64)


def _mean(measure: MeasureName, aspect: str, evidence: UserEvidence, settings: Settings) -> float:
    values = evidence.values(measure, aspect, str(settings.get("part", COMBINED)))
    scored = values[~np.isnan(values)]
    return float(np.mean(scored)) if len(scored) else math.nan


def _obstacle(measure: MeasureName, evidence: UserEvidence, settings: Settings) -> str | None:
    domain = str(settings.get("part", COMBINED))
    if domain == COMBINED or evidence.count(measure, domain):
        return None
    return f"no conversation has a score in the domain '{domain}'"


def _card(measure: MeasureName, aspect: str) -> Card[UserEvidence]:
    return Card(
        name=measure if aspect == "f1" else f"{measure} {aspect}",
        family="users",
        title=_TITLES[measure] if aspect == "f1" else f"{aspect} of {measure}",
        summary=_SUMMARIES[aspect].format(what=_WHAT[measure]),
        formula=f"mean over dialogues of {_FORMULAS[aspect]}",
        source=_SOURCE,
        rows=partial(_rows, measure, aspect),
        value=partial(_mean, measure, aspect),
        obstacle=partial(_obstacle, measure),
    )


_CARDS = {(measure, aspect): _card(measure, aspect) for measure in MEASURES for aspect in ASPECTS}
CARDS = tuple(_CARDS.values())


def gcdf1(measure: MeasureName, aspect: str = "f1", domain: str = COMBINED) -> Measure[UserEvidence]:
    """The measure of an aspect in a domain."""
    return Measure(_CARDS[measure, aspect], part="" if domain == COMBINED else domain)


def score_name(measure: MeasureName, aspect: str = "f1", domain: str = COMBINED) -> str:
    """Its name wherever it appears: ``I-GCDF1``, ``I-GCDF1 precision``, ``I-GCDF1 precision[hotel]``."""
    return str(gcdf1(measure, aspect, domain))
