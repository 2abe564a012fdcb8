"""I-GCDF1 and R-GCDF1 as measures: F1, precision and recall of each, combined and of any domain (``I-GCDF1[hotel]``).

The unit is the dialogue. A value is the plain mean over the dialogues that have a score; ``combined`` scores pool the
domains of a dialogue.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Card, Floats, Measure, Settings, Units
from dialgauge.users.causes import Cause
from dialgauge.users.verdicts import COMBINED, MEASURES, DialogueScore, MeasureName, PrfScore

ASPECTS = ("f1", "precision", "recall")
#: Whose fault lost points are, and the causes behind it.
FAULTS: dict[str, tuple[Cause, ...]] = {
    "user NLU": ("user NLU",),
    "user policy": ("user policy",),
    "system": ("system NLU", "system policy"),
}

_SOURCE = "Coca, Tseng, Byrne: GCDF1, a goal- and context-driven F-score for evaluating user models (EANCS 2021)"
POINT_KINDS = {"I-GCDF1": "constraints", "R-GCDF1": "requests"}
_TITLES = {
    "I-GCDF1": "goal- and context-driven F1 of informing",
    "R-GCDF1": "goal- and context-driven F1 of requesting",
}
_FORMULAS = {"f1": "2 P R / (P + R)", "precision": "TP / (TP + FP)", "recall": "TP / (TP + FN)"}
_SYMBOLS = {
    "P": "precision, TP / (TP + FP)",
    "R": "recall, TP / (TP + FN)",
    "TP": "parts of the goal (constraints or requests) that the user expresses",
    "FP": "what the user expresses and neither its goal nor the context warrants",
    "FN": "parts of the goal that the user never expresses",
}
_USED = {"f1": ("P", "R", "TP", "FP", "FN"), "precision": ("TP", "FP"), "recall": ("TP", "FN")}
#: Who caused something, in words.
WHOSE = {
    "user NLU": "the user's understanding",
    "user policy": "the user's policy",
    "system NLU": "the system's understanding",
    "system policy": "the system's policy",
    "system": "the system",
}
_SUMMARIES = {
    "f1": "Does the user express all {what} of its goal and no others, repetitions excused by the context?",
    "precision": "Which share of the {what} the user expresses belongs to its goal or is warranted by the context?",
    "recall": "Which share of the {what} of its goal does the user express?",
}


class _Column(NamedTuple):
    """The dialogues that have a score for a measure in a domain, these scores, of how many points each is made
    (2 TP + FP + FN), and the lost ones by cause."""

    places: list[int]
    scores: list[PrfScore]
    points: list[int]
    lost: list[dict[Cause, int]]


def lost_to(fault: str, lost: Sequence[Mapping[Cause, int]]) -> list[int]:
    """How many of some lost points, given by cause, are the fault of one side."""
    first, *more = ([points.get(cause, 0) for points in lost] for cause in FAULTS[fault])
    return list(map(sum, zip(first, *more, strict=True))) if more else first


class UserEvidence(Units):
    """The results of scored dialogues, one unit each; measures of other packages find everything in ``results``.

    Units stand in the order of the files. Dialogues are numbered in the order of their ids, so that what is drawn for
    intervals does not depend on the order of the files. A part is a domain; without one, all of a dialogue's domains
    are pooled.
    """

    domain = COMBINED

    def __init__(self, results: Sequence[DialogueScore]) -> None:
        self.results = results
        self.dialogues = len(results)
        ordered = sorted(range(len(results)), key=lambda index: (dialogue_key(results[index].id), results[index].id))
        self.ids = [results[index].id for index in ordered]
        self.dialogue: NDArray[np.integer] = np.argsort(np.array(ordered, dtype=np.int64), kind="stable")
        self._values: dict[tuple[MeasureName, str, str], NDArray[np.float64]] = {}

    def part(self, name: str) -> UserEvidence:
        """One domain."""
        if all(domain != name for _, domain in self._columns):
            raise DialgaugeError(f"no conversation has a score in the domain '{name}'")
        other = copy.copy(self)
        other.domain = name
        return other

    def domains(self, measure: MeasureName) -> list[str]:
        """``combined`` and then the domains with a score for the measure, by name."""
        scored = {domain for name, domain in self._columns if name == measure}
        return [COMBINED, *sorted(scored - {COMBINED})]

    def count(self, measure: MeasureName, domain: str) -> int:
        """How many dialogues have a score."""
        return len(self._columns[measure, domain].places) if (measure, domain) in self._columns else 0

    def values(self, measure: MeasureName, aspect: str, domain: str) -> NDArray[np.float64]:
        """The score of every dialogue, NaN where it has none."""
        key = (measure, aspect, domain)
        if key not in self._values:
            values = self._values[key] = np.full(self.dialogues, np.nan)
            if (measure, domain) in self._columns:
                column = self._columns[measure, domain]
                values[column.places] = [getattr(score, aspect) for score in column.scores]
            values.flags.writeable = False
        return self._values[key]

    def lost(self, measure: MeasureName, fault: str, domain: str) -> NDArray[np.float64]:
        """What a fault takes from the F1 of every dialogue: its lost points / (2 TP + FP + FN), NaN without a score."""
        values = np.full(self.dialogues, np.nan)
        if (measure, domain) in self._columns:
            column = self._columns[measure, domain]
            values[column.places] = np.array(lost_to(fault, column.lost)) / column.points
        return values

    def split(self, measure: MeasureName, domain: str) -> dict[str, float]:
        """The mean that each fault takes from F1; with F1 they sum to 1. Empty where no dialogue has a score."""
        if not self.count(measure, domain):
            return {}
        return {fault: float(np.nanmean(self.lost(measure, fault, domain))) for fault in FAULTS}

    @cached_property
    def _columns(self) -> dict[tuple[MeasureName, str], _Column]:
        columns: dict[tuple[MeasureName, str], _Column] = {}
        for index, result in enumerate(self.results):
            for measure, scores in result.scores.items():
                lost = result.lost[measure]
                for domain, score in scores.items():
                    column = columns.get((measure, domain))
                    if column is None:
                        column = columns[measure, domain] = _Column([], [], [], [])
                    column.places.append(index)
                    column.scores.append(score)
                    column.points.append(2 * score.tp + score.fp + score.fn)
                    column.lost.append(lost.get(domain, {}))
        return columns


def _scores(measure: MeasureName, aspect: str, evidence: UserEvidence, settings: Settings) -> Floats:
    return _where_known(evidence.values(measure, aspect, evidence.domain))


def _losses(measure: MeasureName, fault: str, evidence: UserEvidence, settings: Settings) -> Floats:
    return _where_known(evidence.lost(measure, fault, evidence.domain))


def _where_known(values: Floats) -> Floats:
    known = ~np.isnan(values)
    return np.stack([np.where(known, values, 0.0), known])


def _obstacle(measure: MeasureName, evidence: UserEvidence, settings: Settings) -> str | None:
    domain = evidence.domain
    if domain == COMBINED or evidence.count(measure, domain):
        return None
    return f"no conversation has a score in the domain '{domain}'"


def _symbols(*used: str) -> dict[str, str]:
    return {letter: _SYMBOLS[letter] for letter in used}


def _card(measure: MeasureName, aspect: str) -> Card[UserEvidence]:
    return Card(
        name=measure if aspect == "f1" else f"{measure} {aspect}",
        family="users",
        title=_TITLES[measure] if aspect == "f1" else f"{aspect} of {measure}",
        summary=_SUMMARIES[aspect].format(what=POINT_KINDS[measure]),
        formula=f"mean over dialogues of {_FORMULAS[aspect]}",
        symbols=_symbols(*_USED[aspect]),
        source=_SOURCE,
        parts=True,
        units=partial(_scores, measure, aspect),
        obstacle=partial(_obstacle, measure),
    )


def _loss_card(measure: MeasureName, fault: str) -> Card[UserEvidence]:
    return Card(
        name=f"{measure} lost to {fault}",
        family="users",
        title=f"what {measure} loses to {WHOSE[fault]}",
        summary=f"How much of {measure} is lost to {WHOSE[fault]}? With {measure}, the three losses sum to 1.",
        formula="mean over dialogues of lost points of that fault / (2 TP + FP + FN)",
        symbols=_symbols("TP", "FP", "FN"),
        source="dialgauge; 1 - F1 = (FP + FN) / (2 TP + FP + FN) is a sum over lost points",
        parts=True,
        units=partial(_losses, measure, fault),
        obstacle=partial(_obstacle, measure),
        higher_is_better=False,
    )


_CARDS = {(measure, aspect): _card(measure, aspect) for measure in MEASURES for aspect in ASPECTS}
#: What is scored unless measures are named, and what can be asked for besides.
DEFAULT_CARDS = tuple(_CARDS.values())
DEFAULT = tuple(card.name for card in DEFAULT_CARDS)
CARDS = (*DEFAULT_CARDS, *(_loss_card(measure, fault) for measure in MEASURES for fault in FAULTS))


def gcdf1(measure: MeasureName, aspect: str = "f1", domain: str = COMBINED) -> Measure[UserEvidence]:
    """The measure of an aspect in a domain."""
    return Measure(_CARDS[measure, aspect], part="" if domain == COMBINED else domain)


def score_name(measure: MeasureName, aspect: str = "f1", domain: str = COMBINED) -> str:
    """Its name wherever it appears: ``I-GCDF1``, ``I-GCDF1 precision``, ``I-GCDF1 precision[hotel]``."""
    return str(gcdf1(measure, aspect, domain))
