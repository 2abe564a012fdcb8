"""TF-IDF match: the cosine between the bag of the input and the bag of a candidate; nothing is learned.

    score(x, y) = Σ_w tf_x(w) · idf(w)² · tf_y(w) / (‖x‖ ‖y‖),     idf(w) = ln((1 + N) / (1 + df(w)))

with raw counts and the N candidates as documents: conventions of ours, because the paper (Bordes et al. 2017, section
4.1) does not say. It took as input the last utterance or the whole history, whichever is better on dev: that is
``tfidf-dev``, or the setting ``input=dev``. Plain ``tfidf`` always takes the history (both speakers and facts), which
gives the paper's printed numbers on task 1; there the choice on dev would fall on the last utterance.

With match types a candidate gets one word per type in which it matches the input, and so does the input. The
candidate's norm then depends on the input. The setting ``bigrams`` counts pairs of adjacent words too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.rankers.bags import (
    Bags,
    TypedEntities,
    WordIndex,
    history_bags,
    matches,
    tokens,
    utterance_bags,
    words_and_pairs,
)
from dialgauge.rankers.episode import Point
from dialgauge.rankers.ranker import Ranker, ScoreMatrix, Tell, accuracy, silent
from dialgauge.rankers.task import RankingTask

#: Weights tried for a type word; that of a rare word is 7.6 among the candidates of tasks 1-5.
TYPE_WEIGHTS = (6.0, 12.0, 16.0, 24.0)
#: Dialogs of the development split that a choice is made on.
CHOOSE_ON = 200
#: Cosines that are equal on paper must be equal here, whatever the order of summation.
_DECIMALS = 10
_INPUTS: dict[str, Bags] = {"history": history_bags, "utterance": utterance_bags}


def _truth(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise DialgaugeError(f"the setting {name} must be true or false, not '{text}'")
    return text.lower() == "true"


class TfIdf(Ranker):
    """TF-IDF match over the whole history, without types."""

    name = "tfidf"
    summary = "TF-IDF match of the history with a candidate"
    inputs: ClassVar[tuple[str, ...]] = ("history",)
    weights: ClassVar[tuple[float, ...]] = (0.0,)
    settable = ("input", "bigrams")

    def fit(self, task: RankingTask, tell: Tell = silent) -> None:
        self.bigrams = _truth("bigrams", self.options.get("bigrams", "false"))
        self._prepare(task.candidates, TypedEntities.of_facts(task.facts))
        variants = [(source, weight) for source in self._chosen_inputs() for weight in self.weights]
        self.input, self.weight = variants[0]
        if len(variants) > 1:
            reached = {}
            for variant in variants:
                self.input, self.weight = variant
                reached[variant] = accuracy(self, task.split("dev")[:CHOOSE_ON])
                chosen = f"{self.name}, input {self.input}, type weight {self.weight:g}"
                tell(f"{chosen}: {100 * reached[variant]:.2f} on dev")
            self.input, self.weight = max(reached, key=lambda variant: reached[variant])

    def _chosen_inputs(self) -> tuple[str, ...]:
        """The inputs to choose from: ``input`` names one, or ``dev`` for a choice on the development split."""
        given = self.options.get("input")
        if given is None:
            return self.inputs
        if given == "dev":
            return tuple(_INPUTS)
        if given not in _INPUTS:
            known = (*_INPUTS, "dev")
            raise DialgaugeError(f"there is no input '{given}' for the setting input.{nearest(given, known)}")
        return (given,)

    def _prepare(self, candidates: tuple[str, ...], entities: TypedEntities) -> None:
        self.candidates, self.entities = candidates, entities
        self._mentioned = entities.mentions(candidates)
        self._vocabulary = WordIndex.of_texts(candidates, words_and_pairs if self.bigrams else tokens)
        counts = self._vocabulary.bags(candidates)
        seen = np.bincount(counts.columns, minlength=counts.width)
        self._idf = np.log((1 + len(candidates)) / (1 + seen))
        weighted = counts.scaled(self._idf)
        self._squares = weighted.square_sums()
        self._weighted = weighted.transposed()

    def scores(self, points: Sequence[Point]) -> ScoreMatrix:
        take = _INPUTS[self.input]
        bags = take(self._vocabulary, points).scaled(self._idf)
        products = bags.times(self._weighted)
        of_input = bags.square_sums()[:, None]
        of_candidate = self._squares[None, :]
        if self.weight and self.entities.kinds:
            present = self.entities.present(points, take)
            shared = np.zeros(products.shape)
            for matched in matches(present, self._mentioned):
                shared += matched
            shared *= self.weight**2
            types = np.sum([entities.sizes > 0 for entities in present], axis=0)[:, None]
            products, of_candidate = products + shared, of_candidate + shared
            of_input = of_input + self.weight**2 * types
        norms = np.sqrt(of_input * of_candidate)
        cosines: ScoreMatrix = np.divide(products, norms, out=np.zeros(products.shape), where=norms > 0)
        return cosines.round(_DECIMALS)

    def understands(self, utterance: str) -> bool:
        return any(word in self._vocabulary.index for word in tokens(utterance))

    def move(self, candidates: Sequence[str], facts: Sequence[Fact]) -> None:
        self._prepare(tuple(candidates), TypedEntities.of_facts(facts))

    def settings(self) -> dict[str, Any]:
        return {"input": self.input, "weight": self.weight, "bigrams": self.bigrams, "entities": self.entities.words}

    def restore(self, settings: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.input, self.weight = settings["input"], float(settings["weight"])
        self.bigrams = bool(settings.get("bigrams", False))
        if self.input not in _INPUTS:
            raise ValueError(f"there is no input '{self.input}'")
        self._prepare(self.candidates, TypedEntities(settings["entities"]))


class TfIdfTypes(TfIdf):
    """TF-IDF match with match types; how much a type word weighs is chosen on the development split."""

    name = "tfidf-type"
    summary = "TF-IDF match with match types"
    weights = TYPE_WEIGHTS


class TfIdfChosen(TfIdf):
    """The input (last utterance or history) is chosen on the development split, as the paper did."""

    name = "tfidf-dev"
    summary = "TF-IDF match, input chosen on dev"
    inputs = ("history", "utterance")


class TfIdfTypesChosen(TfIdfTypes):
    """Match types, with input and weight chosen on the development split."""

    name = "tfidf-type-dev"
    summary = "TF-IDF match with match types, input chosen on dev"
    inputs = ("history", "utterance")
