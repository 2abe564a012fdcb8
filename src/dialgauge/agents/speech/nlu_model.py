"""What the NLU has learned: two linear scorers for each speaker, kept in one ``.npz`` file of plain arrays."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dialgauge.dialogue import Speaker
from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic

#: Of the file's layout.
VERSION = 1
#: A score of this is as much as the margin that training asks for.
SCALE = 64
_SPEAKERS: tuple[Speaker, ...] = ("user", "system")
#: What no model file exceeds.
_MOST_BYTES = 1 << 28
_ARRAYS = ("rows", "columns", "weights")

Label = tuple[str, str, str]


class LinearScorer:
    """Sums of whole-numbered weights: features in rows, labels (act, slot, value) in columns."""

    def __init__(self, features: list[str], labels: list[Label], weights: NDArray[np.int16]) -> None:
        self.features = features
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
    """A trained NLU, for any world. ``recipe`` says what it was made of."""

    parts: dict[Speaker, SpeakerPart]
    recipe: str = ""

    def save(self, path: str | Path) -> None:
        arrays: dict[str, NDArray[Any]] = {"head": _bytes({"version": VERSION, "recipe": self.recipe})}
        for speaker, part in self.parts.items():
            for name, scorer in (("utterance", part.utterance), ("mentions", part.mentions)):
                prefix = f"{speaker}_{name}"
                rows, columns = np.nonzero(scorer.weights)
                arrays[f"{prefix}_words"] = _bytes({"features": scorer.features, "labels": scorer.labels})
                arrays[f"{prefix}_rows"] = rows.astype(np.uint32)
                arrays[f"{prefix}_columns"] = columns.astype(np.uint16)
                arrays[f"{prefix}_weights"] = scorer.weights[rows, columns]
        with atomic(Path(path)) as scratch, scratch.open("wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]

    @staticmethod
    def load(path: str | Path) -> NluModel:
        """Read a model; whatever is wrong with the file is an error."""
        name = str(path)
        try:
            if Path(path).stat().st_size > _MOST_BYTES:
                raise ValueError("it is too large")
            with zipfile.ZipFile(path) as archive:
                if sum(zip_info.file_size for zip_info in archive.infolist()) > _MOST_BYTES:
                    raise ValueError("it is too large")
            with np.load(path, allow_pickle=False) as arrays:
                head = _Head.of(arrays["head"])
                if head.version != VERSION:
                    raise DialgaugeError(
                        f"it is an NLU model of version {head.version}; this program reads version {VERSION}. "
                        "Train it again",
                        file=name,
                    )
                parts = {
                    speaker: SpeakerPart(*[_scorer(arrays, f"{speaker}_{part}") for part in ("utterance", "mentions")])
                    for speaker in _SPEAKERS
                }
        except FileNotFoundError as error:
            raise DialgaugeError("there is no such file", file=name) from error
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, msgspec.MsgspecError) as error:
            why = " ".join(str(error).split())[:120] or type(error).__name__
            raise DialgaugeError(f"it is no NLU model ({why})", file=name) from error
        return NluModel(parts, head.recipe)

    @property
    def checksum(self) -> str:
        digest = hashlib.sha256(self.recipe.encode())
        for speaker in _SPEAKERS:
            for scorer in (self.parts[speaker].utterance, self.parts[speaker].mentions):
                digest.update(msgspec.json.encode([scorer.features, scorer.labels]))
                digest.update(np.ascontiguousarray(scorer.weights, "<i2").tobytes())
        return digest.hexdigest()


class _Head(Struct):
    version: int
    recipe: str

    @staticmethod
    def of(array: NDArray[Any]) -> _Head:
        return msgspec.json.decode(_plain(array, np.uint8).tobytes(), type=_Head)


class _Words(Struct):
    features: list[str]
    labels: list[Label]


def _bytes(content: object) -> NDArray[np.uint8]:
    return np.frombuffer(msgspec.json.encode(content), np.uint8)


def _plain(array: NDArray[Any], kind: Any) -> NDArray[Any]:
    if array.ndim != 1 or array.dtype != kind:
        raise ValueError(f"an array of {array.dtype} in {array.ndim} dimensions")
    return array


def _scorer(arrays: Any, prefix: str) -> LinearScorer:
    words = msgspec.json.decode(_plain(arrays[f"{prefix}_words"], np.uint8).tobytes(), type=_Words)
    rows = _plain(arrays[f"{prefix}_rows"], np.uint32)
    columns = _plain(arrays[f"{prefix}_columns"], np.uint16)
    values = _plain(arrays[f"{prefix}_weights"], np.int16)
    shape = len(words.features), len(words.labels)
    if shape[0] * shape[1] > _MOST_BYTES // 2:
        raise ValueError("it is too large")
    if not len(rows) == len(columns) == len(values):
        raise ValueError("arrays of different lengths")
    if len(rows) and (rows.max() >= shape[0] or columns.max() >= shape[1]):
        raise ValueError("a weight of a feature that it does not have")
    weights = np.zeros(shape, np.int16)
    weights[rows, columns] = values
    return LinearScorer(words.features, words.labels, weights)
