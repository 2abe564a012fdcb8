"""Training the NLU: averaged perceptrons in whole numbers, so that the same samples give the same model everywhere.

A sample is a text with its context and acts. Where the text mentions an act's value, the mention is what is learned
from; every other act (a question, "any", yes, no slot at all) is learned as a label of the whole utterance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dialgauge.agents.speech.mentions import SLOT_KINDS, Delexicalised, MentionFinder
from dialgauge.agents.speech.nlu import LinearNlu, ParseContext
from dialgauge.agents.speech.nlu_features import context_features, mention_features, utterance_features
from dialgauge.agents.speech.nlu_model import SCALE, Label, LinearScorer, NluModel, SpeakerPart
from dialgauge.dialogue import Act, Ontology, Span, Speaker
from dialgauge.draws import Draws
from dialgauge.errors import DialgaugeError

_NONE: Label = ("", "", "")
#: Values that are no words of the text.
UNSPOKEN = ("", "?", "dontcare", "unknown", "yes", "no", "none")
#: A score must clear this many updates before training leaves a decision alone.
_MARGIN = 6
_BOLD = 3


class NluSample(Struct, frozen=True, kw_only=True):
    """An utterance to learn from, or to be tried on. ``spans`` say where the values stand, if anyone knows."""

    text: str
    speaker: Speaker
    acts: tuple[Act, ...]
    context: ParseContext = ParseContext()
    spans: tuple[Span, ...] = ()


def train_nlu(
    samples: Iterable[NluSample], ontology: Ontology, *, epochs: int = 5, seed: int = 0, recipe: str = ""
) -> NluModel:
    """Learn from samples."""
    finder = MentionFinder(ontology)
    tables: dict[Speaker, tuple[_SampleTable, _SampleTable]] = {
        "user": (_SampleTable(), _SampleTable()),
        "system": (_SampleTable(), _SampleTable()),
    }
    seen = 0
    for sample in samples:
        seen += 1
        utterances, mentions = tables[sample.speaker]
        delexicalised, context = finder.find(sample.text), sample.context
        features = context_features(context.own, context.before, context.domain, context.pending)
        labels, whole = aligned(sample, delexicalised, finder)
        utterances.add(utterance_features(delexicalised, features), whole)
        for index, mention in enumerate(delexicalised.mentions):
            label = labels.get(index, _NONE)
            mentions.add(mention_features(delexicalised, mention, features), {label}, mention.kind)
    if not seen:
        raise DialgaugeError("there is nothing to train the NLU on: no samples were given")
    parts: dict[Speaker, SpeakerPart] = {}
    for speaker, (utterances, mentions) in tables.items():
        parts[speaker] = SpeakerPart(
            _learned(utterances, _LabelSets(utterances), epochs, Draws(seed, "nlu", speaker, "utterance")),
            _learned(mentions, _OneLabel(mentions), epochs, Draws(seed, "nlu", speaker, "mentions")),
        )
    return NluModel(parts, recipe)


def aligned(
    sample: NluSample, delexicalised: Delexicalised, finder: MentionFinder
) -> tuple[dict[int, Label], set[Label]]:
    """The label of each mention that has one, and the labels of the utterance as a whole."""
    labels: dict[int, Label] = {}
    whole: set[Label] = set()
    for act in sample.acts:
        for value in act.values or ("",):
            index = None if value in UNSPOKEN else _mention_of(act, value, sample.spans, delexicalised, finder, labels)
            if index is None:
                whole.add((act.name, act.slot, value if value in UNSPOKEN else finder.value(value)))
            else:
                labels[index] = (act.name, act.slot, "")
    return labels, whole


def _mention_of(
    act: Act,
    value: str,
    spans: tuple[Span, ...],
    delexicalised: Delexicalised,
    finder: MentionFinder,
    taken: dict[int, Label],
) -> int | None:
    """The first free mention that has the act's value; one at the act's own place if that is known."""
    wanted = finder.value(value)
    kinds = SLOT_KINDS.get(act.slot, ())
    fitting = [
        index
        for index, mention in enumerate(delexicalised.mentions)
        if mention.kind in kinds and index not in taken and mention.value.lower() == wanted
    ]
    places = [span for span in spans if span.slot == act.slot and span.domain == act.domain]
    for index in fitting:
        mention = delexicalised.mentions[index]
        if any(span.start < mention.end and mention.start < span.end for span in places):
            return index
    return fitting[0] if fitting and not places else None


class _SampleTable:
    """Samples as numbers: features and labels in the order in which they first came."""

    def __init__(self) -> None:
        self.features: dict[str, int] = {}
        self.rows: list[NDArray[np.intp]] = []
        self.targets: list[set[Label]] = []
        self.kinds: list[str] = []

    def add(self, features: list[str], labels: set[Label], kind: str = "") -> None:
        known = self.features
        self.rows.append(np.array([known.setdefault(feature, len(known)) for feature in features], np.intp))
        self.targets.append(labels)
        self.kinds.append(kind)

    def labels(self, *first: Label, least: int = 1) -> list[Label]:
        counts: Counter[Label] = Counter(label for labels in self.targets for label in labels if label not in first)
        return [*first, *sorted(label for label, count in counts.items() if count >= least)]


class _LabelSets:
    """Any number of labels for a sample: each is a yes or no of its own."""

    def __init__(self, table: _SampleTable) -> None:
        self.labels = table.labels(least=2)
        index_of = {label: number for number, label in enumerate(self.labels)}
        self._signs: list[NDArray[np.int32]] = []
        kept: dict[tuple[int, ...], NDArray[np.int32]] = {}
        for target in table.targets:
            numbers = tuple(sorted(index_of[label] for label in target if label in index_of))
            if numbers not in kept:
                signs = np.full(len(self.labels), -1, np.int32)
                signs[list(numbers)] = 1
                kept[numbers] = signs
            self._signs.append(kept[numbers])

    def step(self, number: int, scores: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.int32]] | None:
        """Labels to change, and by what."""
        signs = self._signs[number]
        # A label that is rarely right must win by more, or the many samples without it would drown it.
        wrong = np.flatnonzero(scores * signs < _MARGIN * (1 + _BOLD * (signs > 0)))
        return (wrong, signs[wrong]) if len(wrong) else None


class _OneLabel:
    """One label for a sample, of those that fit its kind."""

    def __init__(self, table: _SampleTable) -> None:
        self.labels = table.labels(_NONE)
        index_of = {label: number for number, label in enumerate(self.labels)}
        self._gold = [index_of[next(iter(target))] for target in table.targets]
        self._kinds = table.kinds
        self._fitting = {
            kind: np.array(
                [0, *[at for at, label in enumerate(self.labels) if at and kind in SLOT_KINDS.get(label[1], ())]],
                np.intp,
            )
            for kind in dict.fromkeys(table.kinds)
        }

    def step(self, number: int, scores: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.int32]] | None:
        """The right label up and the strongest wrong one down, unless they are far enough apart."""
        fitting, gold = self._fitting[self._kinds[number]], self._gold[number]
        if len(fitting) < 2:
            return None
        own = scores[fitting]
        right = int(scores[gold])
        own[fitting == gold] = -(1 << 30)
        rival = int(fitting[int(own.argmax())])
        if right - int(scores[rival]) >= _MARGIN:
            return None
        return np.array([gold, rival], np.intp), np.array([1, -1], np.int32)


def _learned(table: _SampleTable, decision: _LabelSets | _OneLabel, epochs: int, draws: Draws) -> LinearScorer:
    """Averaged perceptron: the mean of the weights over all steps, in whole numbers.

    The mean is had without summing: a change made at step t counts for all steps but the first t.
    """
    weights = np.zeros((len(table.features), len(decision.labels)), np.int32)
    late = np.zeros(weights.shape, np.int64)
    step: Callable[[int, NDArray[np.int32]], tuple[NDArray[np.intp], NDArray[np.int32]] | None] = decision.step
    steps = 0
    for epoch in range(epochs):
        for number in draws.shuffled(range(len(table.rows))):
            row = table.rows[number]
            change = step(number, weights[row].sum(axis=0, dtype=np.int32))
            if change is not None:
                columns, amounts = change
                cells = row[:, None], columns
                weights[cells] += amounts
                late[cells] += steps * amounts
            steps += 1
        if not epoch and epochs > 1:  # the first round is practice: what counts is learned after it
            steps, late[:] = 0, 0
    return _rounded(list(table.features), decision, weights.astype(np.int64) * steps - late, max(steps, 1))


def _rounded(
    features: Sequence[str], decision: _LabelSets | _OneLabel, total: NDArray[np.int64], steps: int
) -> LinearScorer:
    """Mean weights with the margin as ``SCALE``; features that changed nothing are left out."""
    unit = steps * _MARGIN
    weights = np.clip((total * (SCALE * 2) + unit) // (2 * unit), -32767, 32767).astype(np.int16)
    used = np.flatnonzero(weights.any(axis=1)).tolist()
    return LinearScorer([features[index] for index in used], decision.labels, np.ascontiguousarray(weights[used]))


#: Act and slot, with the value where values count.
Item = tuple[str, ...]


class UnderstoodCounts(Struct, frozen=True):
    """Counts over samples: what was understood (``right``), understood wrongly (``extra``), and missed."""

    right: Counter[Item]
    extra: Counter[Item]
    missed: Counter[Item]
    #: For pairs of act-slots: how often the second was understood where the first was said and missed.
    confused: Counter[tuple[Item, Item]]

    @property
    def precision(self) -> float:
        """The share of what was understood that was said."""
        return _share(self.right.total(), self.extra.total())

    @property
    def recall(self) -> float:
        """The share of what was said that was understood."""
        return _share(self.right.total(), self.missed.total())

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def understanding(
    nlu: LinearNlu, samples: Iterable[NluSample], speaker: Speaker | None = None, *, values: bool = True
) -> UnderstoodCounts:
    """Try an NLU on samples of one speaker or of both; ``values`` says whether values count.

    Values are compared as the NLU's world writes them: "city centre" is "centre", "5 pm" is "17:00".
    """
    right: Counter[Item] = Counter()
    extra: Counter[Item] = Counter()
    missed: Counter[Item] = Counter()
    confused: Counter[tuple[Item, Item]] = Counter()
    for sample in samples:
        if speaker is not None and sample.speaker != speaker:
            continue
        said = _items(sample.acts, nlu, values)
        heard = _items(nlu.parse(sample.text, sample.speaker, sample.context).acts, nlu, values)
        right.update(said & heard)
        extra.update(heard - said)
        missed.update(said - heard)
        confused.update({(pair[:2], other[:2]) for pair in said - heard for other in heard - said})
    return UnderstoodCounts(right, extra, missed, confused)


def _items(acts: Iterable[Act], nlu: LinearNlu, values: bool) -> set[Item]:
    if not values:
        return {(act.name, act.slot) for act in acts}
    plain = nlu.finder.value
    return {(act.name, act.slot, value and plain(value)) for act in acts for value in act.values or ("",)}


def _share(right: int, wrong: int) -> float:
    return right / (right + wrong) if right + wrong else 0.0
