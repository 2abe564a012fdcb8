"""The scores of one pair of frames, ``nan`` where a score does not apply (``NA`` in the official evaluation)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from dialgauge.dialogue import SlotSpec
from dialgauge.tracking.sgd.frames import Frame
from dialgauge.tracking.sgd.matching import slot_score

#: Score by name; a score that does not apply is ``nan`` or left out.
FrameScores: TypeAlias = dict[str, float]

_PARTS = (("", (True, False)), ("-cat", (True,)), ("-noncat", (False,)))


def frame_scores(gold: Frame, predicted: Frame, slots: Mapping[str, SlotSpec], *, fuzzy: bool) -> FrameScores:
    """All scores of one pair of frames."""
    scores = _goals(gold, predicted, slots, fuzzy)
    if gold.intent is not None and predicted.intent is not None:
        scores["SGD-intent"] = float(gold.intent == predicted.intent)
    if gold.requested is not None and predicted.requested is not None:
        scores |= _f1("SGD-requested", gold.requested, predicted.requested)
    if gold.mentions is not None and predicted.mentions is not None:
        open_slots = {name for name, spec in slots.items() if not spec.categorical}
        scores |= _f1("SGD-tagging", *(_among(frame.mentions or (), open_slots) for frame in (gold, predicted)))
    return scores


def _goals(gold: Frame, predicted: Frame, slots: Mapping[str, SlotSpec], fuzzy: bool) -> FrameScores:
    """Joint (product over slots) and average (mean over slots filled in the reference) goal accuracies."""
    everything: dict[bool, list[float]] = {True: [], False: []}
    filled: dict[bool, list[float]] = {True: [], False: []}
    for name, spec in slots.items():
        reference, said = gold.values.get(name), predicted.values.get(name)
        if reference and said:
            score = slot_score(reference, said, categorical=spec.categorical, use_fuzzy=fuzzy)
        else:
            score = 0.0 if reference or said else 1.0
        everything[spec.categorical].append(score)
        if reference:
            filled[spec.categorical].append(score)
    scores: FrameScores = {}
    for suffix, kinds in _PARTS:
        joint = [score for kind in kinds for score in everything[kind]]
        average = [score for kind in kinds for score in filled[kind]]
        scores[f"SGD-JGA{suffix}"] = math.prod(joint) if joint else math.nan
        scores[f"SGD-AGA{suffix}"] = sum(average) / len(average) if average else math.nan
    return scores


def _among(mentions: Iterable[tuple[str, str]], slots: set[str]) -> list[tuple[str, str]]:
    return [mention for mention in mentions if mention[0] in slots]


def _f1(name: str, reference: Iterable[object], predicted: Iterable[object]) -> FrameScores:
    """F1, precision and recall of two multisets; nothing predicted has precision 1, nothing to find has recall 1."""
    ours, theirs = Counter(reference), Counter(predicted)
    shared = (ours & theirs).total()
    precision = shared / theirs.total() if theirs else 1.0
    recall = shared / ours.total() if ours else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {f"{name}-F1": f1, f"{name}-P": precision, f"{name}-R": recall}
