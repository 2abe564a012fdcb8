"""How well an NLU understands: precision, recall and F1 of acts, act by act, and what is taken for what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from dialgauge.agents.speech.nlu import LinearNlu
from dialgauge.agents.speech.nlu_training import NluSample
from dialgauge.dialogue import Act, Speaker

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
        """The harmonic mean of the two."""
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
