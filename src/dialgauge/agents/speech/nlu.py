"""From words to acts: a linear NLU that knows the world's values and learns the rest.

:class:`MentionFinder` finds the values in a text. A linear classifier gives each of them an act and a slot, or none;
another one says which acts the utterance as a whole has: questions, acts without a slot, "any", "unknown", yes and no.
Weights and scores are whole numbers: the same text gives the same acts on every machine.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from msgspec import Struct

from dialgauge.agents.speech.mentions import SLOT_KINDS, Delexicalised, MentionFinder
from dialgauge.agents.speech.nlu_features import context_features, mention_features, utterance_features
from dialgauge.agents.speech.nlu_model import SCALE, LinearScorer, NluModel, default_model
from dialgauge.dialogue import Act, Ontology, Span, Speaker
from dialgauge.worlds.town import act

#: Judgements that are kept, and the mentions of an utterance that are judged.
_KEPT = 1 << 15
_MOST_MENTIONS = 60
#: Below this confidence an act is not even doubtful.
_DOUBTFUL = 0.1
#: A score as high as the margin that training asks for is a confidence of 0.95.
_STEEP = 3.0
_LEAST = math.ceil(SCALE * math.log(_DOUBTFUL / (1 - _DOUBTFUL)) / _STEEP)


class ParseContext(Struct, frozen=True):
    """What the listener knows when it hears an utterance.

    Its own last acts, the partner's previous turn as the listener heard it, the domain they speak of, and the domain
    of a booking that waits for its confirmation.
    """

    own: tuple[Act, ...] = ()
    before: tuple[Act, ...] = ()
    domain: str = ""
    pending: str = ""


class Parse(Struct, frozen=True):
    """The acts of an utterance with how sure each is, the acts that are not sure enough, and where values stand."""

    acts: tuple[Act, ...] = ()
    confidences: tuple[float, ...] = ()
    unsure: tuple[Act, ...] = ()
    spans: tuple[Span, ...] = ()


class _Judged(NamedTuple):
    """An act to be: with the number of the mention that gives the value, or the value itself."""

    name: str
    slot: str
    value: str
    mention: int
    confidence: float


class LinearNlu:
    """Understands what users or systems of a world say.

    ``threshold`` is the confidence that an act needs; acts below it but above a tenth are ``unsure``.
    """

    def __init__(self, model: NluModel, ontology: Ontology, *, threshold: float = 0.5) -> None:
        self.model = model
        self.finder = MentionFinder(ontology)
        self._threshold = threshold
        self._judged: dict[tuple[str, str, tuple[str, ...]], tuple[_Judged, ...]] = {}

    def parse(self, text: str, speaker: Speaker, context: ParseContext | None = None) -> Parse:
        """The acts of what ``speaker`` said, as the other side understands it."""
        known = context or ParseContext()
        delexicalised = self.finder.find(text)
        features = context_features(known.own, known.before, known.domain, known.pending)
        details = "\x1f".join([mention.detail for mention in delexicalised.mentions])
        key = (speaker, f"{' '.join(delexicalised.tokens)}\x1e{details}", features)
        judged = self._judged.get(key)
        if judged is None:
            judged = judge(self.model, delexicalised, speaker, features)
            if len(self._judged) < _KEPT:
                self._judged[key] = judged
        sure: dict[Act, float] = {}
        unsure: list[Act] = []
        spans: list[Span] = []
        for name, slot, value, mention, confidence in judged:
            spoken = delexicalised.mentions[mention].value if mention >= 0 else value
            parsed = act(name, slot, spoken)
            if confidence < self._threshold:
                unsure.append(parsed)
                continue
            sure.setdefault(parsed, confidence)
            if mention >= 0:
                span = delexicalised.mentions[mention]
                spans.append(Span(parsed.domain, slot, span.start, span.end))
        return Parse(tuple(sure), tuple(sure.values()), tuple(unsure), tuple(spans))


#: The NLU of each world that was asked for, with the world's ontology: its identity must not be reused.
_made: dict[int, tuple[Ontology, LinearNlu]] = {}
_MOST_WORLDS = 8


def default_nlu(ontology: Ontology) -> LinearNlu:
    """The NLU that needs no data, for a world; one serves a whole process."""
    known = _made.get(id(ontology))
    if known is None:
        model = next((nlu.model for _, nlu in _made.values()), None)
        if len(_made) >= _MOST_WORLDS:
            _made.pop(next(iter(_made)))
        known = _made[id(ontology)] = (ontology, LinearNlu(model or default_model(), ontology))
    return known[1]


def judge(
    model: NluModel, delexicalised: Delexicalised, speaker: Speaker, context: tuple[str, ...]
) -> tuple[_Judged, ...]:
    """What is said, before values are filled in."""
    part = model.parts[speaker]
    valued = [
        judged
        for number in range(min(len(delexicalised.mentions), _MOST_MENTIONS))
        for judged in _of_mention(part.mentions, delexicalised, number, context)
    ]
    taken = {(judged.name, judged.slot) for judged in valued if judged.confidence >= 0.5}
    whole = _of_utterance(part.utterance, delexicalised, context)
    return (*[judged for judged in whole if (judged.name, judged.slot) not in taken], *valued)


def _of_mention(
    scorer: LinearScorer, delexicalised: Delexicalised, number: int, context: tuple[str, ...]
) -> list[_Judged]:
    """The best act and slot of a mention against the next best; label 0 is none."""
    mention = delexicalised.mentions[number]
    labels = fitting(scorer, mention.kind)
    if len(labels) < 2:
        return []
    scores = scorer.scores(mention_features(delexicalised, mention, context))[labels].tolist()
    ranked = sorted(range(len(labels)), key=scores.__getitem__, reverse=True)
    best, second = ranked[0], ranked[1]
    confidence = _confidence(scores[best] - scores[second])
    if best == 0:
        best, confidence = second, round(1 - confidence, 4)
    if confidence < _DOUBTFUL:
        return []
    name, slot, _ = scorer.labels[labels[best]]
    return [_Judged(name, slot, "", number, confidence)]


def fitting(scorer: LinearScorer, kind: str) -> list[int]:
    """The labels that a mention of a kind can have; the first is "none"."""
    known = scorer.fitting.get(kind)
    if known is None:
        slots = [slot for _, slot, _ in scorer.labels]
        known = [0, *[index for index, slot in enumerate(slots) if index and kind in SLOT_KINDS.get(slot, ())]]
        scorer.fitting[kind] = known
    return known


def _of_utterance(scorer: LinearScorer, delexicalised: Delexicalised, context: tuple[str, ...]) -> list[_Judged]:
    """The acts that the utterance as a whole has; one value for each act and slot."""
    scores = scorer.scores(utterance_features(delexicalised, context))
    best: dict[tuple[str, str], _Judged] = {}
    for index in (scores >= _LEAST).nonzero()[0].tolist():
        confidence = _confidence(int(scores[index]))
        name, slot, value = scorer.labels[index]
        known = best.get((name, slot))
        if known is None or known.confidence < confidence:
            best[name, slot] = _Judged(name, slot, value, -1, confidence)
    return list(best.values())


def _confidence(score: int) -> float:
    """From the whole-numbered score; rounded, as exponentials differ in their last digits from machine to machine."""
    return round(1 / (1 + math.exp(-max(-30.0, min(30.0, _STEEP * score / SCALE)))), 4)
