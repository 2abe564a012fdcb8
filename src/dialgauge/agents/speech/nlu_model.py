"""The trained weights of the town's NLU: two linear scorers for each speaker, in one ``.npz`` file of plain arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dialgauge.dialogue import Speaker

#: A score of this is as much as the margin that training asked for.
SCALE = 64
_WEIGHTS = Path(__file__).parent / "phrases" / "nlu.npz"
_SPEAKERS: tuple[Speaker, ...] = ("user", "system")

Label = tuple[str, str, str]


class LinearScorer:
    """Sums of whole-numbered weights: features in rows, labels (act, slot, value) in columns."""

    def __init__(self, features: list[str], labels: list[Label], weights: NDArray[np.int16]) -> None:
        self.labels = labels
        self.weights = weights
        #: Labels by kind of mention, kept by those who need them.
        self.fitting: dict[str, list[int]] = {}
        self._row = {feature: row for row, feature in enumerate(features)}

    def scores(self, features: list[str]) -> NDArray[np.int32]:
        row = self._row
        rows = [row[feature] for feature in features if feature in row]
        scores: NDArray[np.int32] = np.add.reduce(self.weights.take(rows, axis=0), axis=0, dtype=np.int32)
        return scores


class SpeakerPart(Struct, frozen=True):
    """What was learned of one speaker's utterances."""

    utterance: LinearScorer
    mentions: LinearScorer


class NluModel(Struct, frozen=True):
    """A trained NLU, for any world."""

    parts: dict[Speaker, SpeakerPart]


class _Words(Struct):
    features: list[str]
    labels: list[Label]


def default_model() -> NluModel:
    """The model that ships with the package."""
    with np.load(_WEIGHTS, allow_pickle=False) as arrays:
        return NluModel(
            {
                speaker: SpeakerPart(*[_scorer(arrays, f"{speaker}_{part}") for part in ("utterance", "mentions")])
                for speaker in _SPEAKERS
            }
        )


def _scorer(arrays: Any, prefix: str) -> LinearScorer:
    words = msgspec.json.decode(arrays[f"{prefix}_words"].tobytes(), type=_Words)
    weights = np.zeros((len(words.features), len(words.labels)), np.int16)
    weights[arrays[f"{prefix}_rows"], arrays[f"{prefix}_columns"]] = arrays[f"{prefix}_weights"]
    return LinearScorer(words.features, words.labels, weights)
