"""I-GCDF1 and R-GCDF1 as measures: F1, precision and recall of each, combined and of any domain (``I-GCDF1[hotel]``).

The unit is the dialogue. A value is the plain mean over the dialogues that have a score; ``combined`` scores pool the
domains of a dialogue.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Card, Floats, Settings, Units
from dialgauge.users.scorer import DialogueScore
from dialgauge.users.verdicts import CAUSES, COMBINED, MEASURES, Cause, MeasureName, tallies

ASPECTS = ("f1", "precision", "recall")
#: Who loses points, and by which causes.
SIDES: dict[str, tuple[Cause, ...]] = {
    "user NLU": ("user NLU",),
    "user policy": ("user policy",),
    "system": ("system NLU", "system policy"),
}
POINT_KINDS: dict[MeasureName, str] = {"I-GCDF1": "constraints", "R-GCDF1": "requests"}


def score_name(measure: MeasureName, aspect: str = "f1", domain: str = COMBINED) -> str:
    """A score's name wherever it appears: ``I-GCDF1``, ``I-GCDF1 precision``, ``I-GCDF1 precision[hotel]``."""
    name = measure if aspect == "f1" else f"{measure} {aspect}"
    return name if domain == COMBINED else f"{name}[{domain}]"


def loss_name(measure: MeasureName, side: str) -> str:
    """``I-GCDF1 lost to user NLU``."""
    return f"{measure} lost to {side}"


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
        counts: dict[tuple[str, str], list[list[int]]] = {}
        for place, result in enumerate(results):
            for key, tally in tallies(result.verdicts).items():
                counts.setdefault(key, []).append([place, *tally])
        #: By measure and domain, for every dialogue with a score: its place and its tally.
        self._counts = {key: np.array(rows, dtype=np.int64) for key, rows in counts.items()}

    def part(self, name: str) -> UserEvidence:
        """One domain."""
        if all(domain != name for _, domain in self._counts):
            raise DialgaugeError(f"no conversation has a score in the domain '{name}'")
        other = copy.copy(self)
        other.domain = name
        return other

    def domains(self, measure: str) -> list[str]:
        """The domains with a score for the measure, by name."""
        return sorted({domain for name, domain in self._counts if name == measure} - {COMBINED})

    def has(self, measure: MeasureName) -> bool:
        """Whether any dialogue has a score in the domain."""
        return self.domain == COMBINED or (measure, self.domain) in self._counts

    def units(self, measure: MeasureName, amount: Amount) -> Floats:
        """The amount of every dialogue and whether it has one."""
        values = np.zeros((2, self.dialogues))
        if (measure, self.domain) in self._counts:
            places, *tally = self._counts[measure, self.domain].T
            values[0, places] = amount(np.array(tally))
            values[1, places] = 1.0
        return values


#: From the tallies of dialogues (a row for each count) to their F1, precision or recall, or to a share of F1.
Amount: TypeAlias = Callable[[NDArray[np.int64]], Floats]


def _share(part: Floats, rest: Floats) -> Floats:
    share: Floats = np.divide(part, part + rest, out=np.ones(len(part)), where=part + rest > 0)
    return share


def _aspect(aspect: str, tally: NDArray[np.int64]) -> Floats:
    tp, fp, fn = tally[:3].astype(np.float64)
    precision, recall = _share(tp, fp), _share(tp, fn)
    if aspect != "f1":
        return precision if aspect == "precision" else recall
    both = precision + recall
    f1: Floats = np.divide(2.0 * precision * recall, both, out=np.zeros(len(both)), where=both > 0)
    return f1


def _loss(causes: Sequence[Cause], tally: NDArray[np.int64]) -> Floats:
    tp, fp, fn = tally[:3]
    lost: Floats = sum(tally[3 + list(CAUSES).index(cause)] for cause in causes) / (2 * tp + fp + fn)
    return lost


def _units(measure: MeasureName, amount: Amount, evidence: UserEvidence, settings: Settings) -> Floats:
    return evidence.units(measure, amount)


def _obstacle(measure: MeasureName, evidence: UserEvidence, settings: Settings) -> str | None:
    return None if evidence.has(measure) else f"no conversation has a score in the domain '{evidence.domain}'"


# The cards.

_SOURCE = "Coca, Tseng, Byrne: GCDF1, a goal- and context-driven F-score for evaluating user models (EANCS 2021)"
_TITLES = {
    "I-GCDF1": "goal- and context-driven F1 of informing",
    "R-GCDF1": "goal- and context-driven F1 of requesting",
}
_FORMULAS = {"f1": "2 P R / (P + R)", "precision": "TP / (TP + FP)", "recall": "TP / (TP + FN)"}
_SUMMARIES = {
    "f1": "Does the user express all {what} of its goal and no others, repetitions excused by the context?",
    "precision": "Which share of the {what} the user expresses belongs to its goal or is warranted by the context?",
    "recall": "Which share of the {what} of its goal does the user express?",
}
_SYMBOLS = {
    "P": "precision, TP / (TP + FP)",
    "R": "recall, TP / (TP + FN)",
    "TP": "parts of the goal (constraints or requests) that the user expresses",
    "FP": "what the user expresses and neither its goal nor the context warrants",
    "FN": "parts of the goal that the user never expresses",
}
_USED = {"f1": ("P", "R", "TP", "FP", "FN"), "precision": ("TP", "FP"), "recall": ("TP", "FN")}
_WHOSE = {"user NLU": "the user's understanding", "user policy": "the user's policy", "system": "the system"}


def _card(measure: MeasureName, aspect: str) -> Card[UserEvidence]:
    return Card(
        name=score_name(measure, aspect),
        family="users",
        title=_TITLES[measure] if aspect == "f1" else f"{aspect} of {measure}",
        summary=_SUMMARIES[aspect].format(what=POINT_KINDS[measure]),
        formula=f"mean over dialogues of {_FORMULAS[aspect]}",
        symbols={letter: _SYMBOLS[letter] for letter in _USED[aspect]},
        source=_SOURCE,
        parts=True,
        units=partial(_units, measure, partial(_aspect, aspect)),
        obstacle=partial(_obstacle, measure),
    )


def _loss_card(measure: MeasureName, side: str) -> Card[UserEvidence]:
    return Card(
        name=loss_name(measure, side),
        family="users",
        title=f"what {measure} loses to {_WHOSE[side]}",
        summary=f"How much of {measure} is lost to {_WHOSE[side]}? With {measure}, the three losses sum to 1.",
        formula="mean over dialogues of lost points by that side / (2 TP + FP + FN)",
        symbols={letter: _SYMBOLS[letter] for letter in ("TP", "FP", "FN")},
        source="dialgauge; 1 - F1 = (FP + FN) / (2 TP + FP + FN) is a sum over lost points",
        parts=True,
        units=partial(_units, measure, partial(_loss, SIDES[side])),
        obstacle=partial(_obstacle, measure),
        higher_is_better=False,
    )


#: I-GCDF1 and R-GCDF1 by aspect, and what each loses to each side.
SCORES = tuple(_card(measure, aspect) for measure in MEASURES for aspect in ASPECTS)
CARDS = (*SCORES, *(_loss_card(measure, side) for measure in MEASURES for side in SIDES))
DEFAULT = tuple(card.name for card in CARDS)
HEADS = tuple(card.name for card in SCORES)
