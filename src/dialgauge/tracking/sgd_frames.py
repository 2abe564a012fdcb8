"""SGD's frames: gold and predicted ones side by side, by dialogue, user turn and service, and the scores of a pair.

Values of open slots are compared by fuzzywuzzy's *token-sort ratio*. What that is depends on what else is installed:
Levenshtein's ratio where the package python-Levenshtein is there, difflib's where it is not. The evaluation's list of
requirements does not have it. Longest common subsequence and difflib's greedy blocks differ on hard pairs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, TypeAlias

from dialgauge import values
from dialgauge.dialogue import Dialogue, Ontology, SlotSpec, State, Turn, Values, dialogue_key
from dialgauge.errors import DialgaugeError, nearest

#: How values of open slots are compared.
Matching: TypeAlias = Literal["levenshtein", "difflib", "exact"]
MATCHINGS: tuple[Matching, ...] = ("levenshtein", "difflib", "exact")


@lru_cache(maxsize=1 << 17)
def similarity(reference: str, predicted: str, matching: str) -> float:
    """The token-sort ratio in whole percents, as a fraction: lower case, no accents or punctuation, words sorted.

    Levenshtein's is twice the longest common subsequence over the sum of both lengths; difflib's is that of the blocks
    that Python's difflib finds: never more, and it matters which text is first.

    >>> similarity("San Jose", "San Jose x", "levenshtein"), similarity("tide", "diet", "levenshtein")
    (0.89, 0.5)
    >>> similarity("tide", "diet", "difflib"), similarity("diet", "tide", "difflib")
    (0.25, 0.5)
    """
    gold, other = map(values.sorted_tokens, (reference, predicted))
    if gold == other:
        return 1.0
    if matching == "difflib":
        from difflib import SequenceMatcher

        return round(100 * SequenceMatcher(None, gold, other).ratio()) / 100
    from rapidfuzz.distance import Indel

    length = len(gold) + len(other)
    return round(100 * ((length - Indel.distance(gold, other)) / length)) / 100


def slot_score(reference: Values, predicted: Values, *, categorical: bool, matching: Matching) -> float:
    """How right a slot is that both sides fill. Only the first predicted value counts.

    Categorical: equality with the first listed value. Non-categorical: the best similarity to the listed values, or
    equality with any of them where matching is exact. A slot that is filled with nothing at all is wrong.
    """
    if not predicted or not reference:
        return 0.0
    value = predicted[0]
    if categorical:
        return float(reference[0] == value)
    if matching == "exact":
        return float(value in reference)
    return max(similarity(listed, value, matching) for listed in reference)


@dataclass(frozen=True, slots=True)
class Frame:
    """What one side says of one service in one user turn; ``None`` is "not recorded"."""

    values: dict[str, Values]
    intent: str | None
    requested: Values | None
    #: Slot and text of every mention marked in the utterance.
    mentions: tuple[tuple[str, str], ...] | None

    @classmethod
    def of(cls, turn: Turn, state: State, service: str, text: str) -> Frame:
        """The frame of a service in a turn."""
        mentions = None
        if turn.spans is not None:
            mentions = tuple((span.slot, text[span.start : span.end]) for span in turn.spans if span.domain == service)
        return cls(
            {**state.get(service, {}), **(turn.blank or {}).get(service, {})},
            None if turn.intents is None else turn.intents.get(service),
            None if turn.requested is None else turn.requested.get(service),
            mentions,
        )


def frame_scores(
    gold: Frame, predicted: Frame, slots: Mapping[str, SlotSpec], *, matching: Matching
) -> dict[str, float]:
    """The scores of one pair of frames by name; those that do not apply are ``nan`` or left out."""
    scores = _goals(gold, predicted, slots, matching)
    if gold.intent is not None and predicted.intent is not None:
        scores["SGD-intent"] = float(gold.intent == predicted.intent)
    if gold.requested is not None and predicted.requested is not None:
        scores |= _shared("SGD-requested", gold.requested, predicted.requested)
    if gold.mentions is not None and predicted.mentions is not None:
        open_slots = {name for name, spec in slots.items() if not spec.categorical}
        sides = ([each for each in frame.mentions or () if each[0] in open_slots] for frame in (gold, predicted))
        scores |= _shared("SGD-tagging", *sides)
    return scores


def _goals(gold: Frame, predicted: Frame, slots: Mapping[str, SlotSpec], matching: Matching) -> dict[str, float]:
    """Joint (product over slots) and average (mean over slots filled in the reference) goal accuracies.

    A slot is filled if the frame has it, whatever its value: the official evaluation knows no value that means absent.
    """
    everything: dict[bool, list[float]] = {True: [], False: []}
    filled: dict[bool, list[float]] = {True: [], False: []}
    for name, spec in slots.items():
        reference, value = gold.values.get(name), predicted.values.get(name)
        if reference is not None and value is not None:
            score = slot_score(reference, value, categorical=spec.categorical, matching=matching)
        else:
            score = float(reference is None and value is None)
        everything[spec.categorical].append(score)
        if reference is not None:
            filled[spec.categorical].append(score)
    scores: dict[str, float] = {}
    for suffix, kinds in (("", (True, False)), ("-cat", (True,)), ("-noncat", (False,))):
        joint = [score for kind in kinds for score in everything[kind]]
        average = [score for kind in kinds for score in filled[kind]]
        scores[f"SGD-JGA{suffix}"] = math.prod(joint) if joint else math.nan
        scores[f"SGD-AGA{suffix}"] = sum(average) / len(average) if average else math.nan
    return scores


def _shared(name: str, reference: Iterable[object], predicted: Iterable[object]) -> dict[str, float]:
    """F1, precision and recall of two multisets; nothing predicted has precision 1, nothing to find has recall 1."""
    ours, theirs = Counter(reference), Counter(predicted)
    shared = (ours & theirs).total()
    precision = shared / theirs.total() if theirs else 1.0
    recall = shared / ours.total() if ours else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {f"{name}-F1": f1, f"{name}-P": precision, f"{name}-R": recall}


@dataclass
class SgdCoverage:
    """What was scored, and what was there on one side only."""

    dialogues: int = 0
    turns: int = 0
    frames: int = 0
    missing_dialogues: list[str] = field(default_factory=list)
    extra_dialogues: list[str] = field(default_factory=list)
    #: User turns of shared dialogues for which no state is predicted.
    missing_turns: int = 0
    #: Predicted slots whose value means "absent" elsewhere, and which count as filled here.
    blanks: int = 0


@dataclass(frozen=True, slots=True)
class Pair:
    """The frames of both sides: of which dialogue, of which turn (counted through the corpus), of which service."""

    dialogue: str
    turn: int
    service: str
    gold: Frame
    predicted: Frame


def pairs(
    gold: Iterable[Dialogue], predicted: Iterable[Dialogue], schema: Ontology, coverage: SgdCoverage
) -> Iterator[Pair]:
    """All pairs of frames, in gold order. Dialogues on one side only are counted; everything else must fit."""
    waiting: dict[str, Dialogue] = {}
    for dialogue in predicted:
        if waiting.setdefault(dialogue_key(dialogue.id), dialogue) is not dialogue:
            raise DialgaugeError("the predictions have two dialogues with this id", dialogue=dialogue.id)
    for dialogue in gold:
        answer = waiting.pop(dialogue_key(dialogue.id), None)
        if answer is None:
            coverage.missing_dialogues.append(dialogue.id)
            continue
        coverage.dialogues += 1
        ours, theirs = list(dialogue.user_turns()), list(answer.user_turns())
        if len(ours) != len(theirs):
            raise DialgaugeError(
                f"gold has {len(ours)} user turns and the predictions have {len(theirs)}; SGD's scores need them all",
                dialogue=dialogue.id,
            )
        for number, (turn, prediction) in enumerate(zip(ours, theirs, strict=True)):
            # Predictions in SGD's shape are read as states; other formats keep them apart from gold.
            state = prediction.state if prediction.predicted is None else prediction.predicted
            if state is None:
                coverage.missing_turns += 1
                continue
            coverage.turns += 1
            coverage.blanks += sum(len(slots) for slots in (prediction.blank or {}).values())
            try:
                for service, *frames in _frames(turn, prediction, state, schema):
                    coverage.frames += 1
                    yield Pair(dialogue.id, coverage.turns, service, *frames)
            except DialgaugeError as error:
                raise error.at(dialogue=dialogue.id, turn=number) from error
    coverage.extra_dialogues.extend(dialogue.id for dialogue in waiting.values())


def _frames(gold: Turn, predicted: Turn, state: State, schema: Ontology) -> Iterator[tuple[str, Frame, Frame]]:
    if gold.state is None or gold.active is None:
        raise DialgaugeError("the gold turn has no frames with states; SGD's scores need SGD or MultiWOZ 2.2 files")
    if gold.text and predicted.text and gold.text != predicted.text:
        raise DialgaugeError(
            f"the utterances differ: '{gold.text[:60]}' in gold, '{predicted.text[:60]}' in the predictions; "
            "check that both are from the same dataset and split"
        )
    for service in gold.active:
        if service not in schema.domains:
            raise DialgaugeError(f"the schema has no service '{service}'.{nearest(service, schema.domains)}")
        if predicted.active is not None and service not in predicted.active:
            raise DialgaugeError(f"there is no predicted frame for the service '{service}'")
        yield service, Frame.of(gold, gold.state, service, gold.text), Frame.of(predicted, state, service, gold.text)
