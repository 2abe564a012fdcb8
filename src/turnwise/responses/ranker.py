"""What a ranker is: fit on a task's training and development dialogs, then give every candidate a score.

A ranker is one module with one class, found through the entry-point group ``turnwise.rankers``. It is kept in a folder
with a manifest (``ranker.json``) and arrays (``arrays.npz``), never a pickle.
"""

from __future__ import annotations

import hashlib
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from turnwise.errors import TurnwiseError, nearest
from turnwise.files import atomic
from turnwise.responses.episodes import Point
from turnwise.responses.task import Task

GROUP = "turnwise.rankers"
MANIFEST_VERSION = 1

Scores = NDArray[np.float64]
#: Called with a line about the work while it goes on.
Tell = Callable[[str], None]


def silent(_: str) -> None:
    """Tell nobody."""


class Ranker(ABC):
    """A bot that answers by choosing among candidates."""

    #: The name in tables and on the command line, and one line for ``turnwise babi models``.
    name: ClassVar[str]
    summary: ClassVar[str]
    #: Does fitting draw random numbers? If so, several seeds are worth running.
    seeded: ClassVar[bool] = False

    candidates: tuple[str, ...] = ()

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        #: Settings by name, as given on the command line; what they mean is the ranker's business.
        self.options: dict[str, str] = {}
        #: What happened while fitting, one record per epoch, for the run store.
        self.log: list[dict[str, Any]] = []

    @abstractmethod
    def fit(self, task: Task, tell: Tell = silent) -> None:
        """Learn from the task's ``trn`` split, choose on its ``dev`` split; nothing else of it may be looked at."""

    @abstractmethod
    def scores(self, points: Sequence[Point]) -> Scores:
        """A score per point and candidate (points × candidates); the highest wins, ties go to the first in the file."""

    def settings(self) -> dict[str, Any]:
        """What besides arrays is needed to use the ranker again: plain JSON values."""
        return {}

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The numbers that were learned."""
        return {}

    def restore(self, settings: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what :meth:`settings` and :meth:`arrays` gave; ``candidates`` is already set."""
        del settings, arrays


class _Manifest(msgspec.Struct, kw_only=True):
    version: int
    ranker: str
    task: int
    seed: int
    candidates: list[str]
    settings: dict[str, Any]
    arrays_sha256: str


def ranker_names() -> list[str]:
    """The names of all rankers."""
    return sorted(point.name for point in entry_points(group=GROUP))


def ranker_class(name: str) -> type[Ranker]:
    """The ranker of that name, or an error with the nearest names."""
    points = {point.name: point for point in entry_points(group=GROUP)}
    if name not in points:
        raise TurnwiseError(f"there is no model named '{name}'.{nearest(name, points)}")
    loaded: type[Ranker] = points[name].load()
    return loaded


def checked_scores(ranker: Ranker, points: Sequence[Point]) -> Scores:
    """The ranker's scores, or an error when they are not one finite number per point and candidate."""
    scores = np.asarray(ranker.scores(points), dtype=np.float64)
    wanted = (len(points), len(ranker.candidates))
    if scores.shape != wanted:
        raise TurnwiseError(
            f"the model {ranker.name} returned scores of shape {scores.shape} for {wanted[0]} replies among "
            f"{wanted[1]:,} candidates; it must be {wanted}"
        )
    if np.isnan(scores).any():
        at = points[int(np.isnan(scores).any(axis=1).argmax())]
        raise TurnwiseError(
            f"the model {ranker.name} returned a score that is not a number", dialogue=at.dialogue, turn=at.turn
        )
    return scores


def save_ranker(ranker: Ranker, folder: Path, task: int) -> None:
    """Write a fitted ranker to a folder: the arrays first, the manifest that names their checksum last."""
    with atomic(folder / "arrays.npz") as scratch:
        with scratch.open("wb") as out:
            np.savez(out, allow_pickle=False, **ranker.arrays())
        digest = hashlib.sha256(scratch.read_bytes()).hexdigest()
    manifest = _Manifest(
        version=MANIFEST_VERSION,
        ranker=ranker.name,
        task=task,
        seed=ranker.seed,
        candidates=list(ranker.candidates),
        settings=ranker.settings(),
        arrays_sha256=digest,
    )
    with atomic(folder / "ranker.json") as scratch:
        scratch.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1))


def load_ranker(folder: Path, *, task: Task | None = None) -> Ranker:
    """Read a fitted ranker back; a folder that is damaged, newer, or of another task is an error."""
    manifest = _read_manifest(folder)
    if task is not None and (manifest.task != task.number or tuple(manifest.candidates) != task.candidates):
        raise TurnwiseError(
            f"the model was fitted on task {manifest.task} with {len(manifest.candidates):,} candidates and cannot "
            f"answer task {task.number} with {len(task.candidates):,}",
            file=str(folder),
        )
    ranker = ranker_class(manifest.ranker)(manifest.seed)
    ranker.candidates = tuple(manifest.candidates)
    ranker.restore(manifest.settings, _read_arrays(folder / "arrays.npz", manifest.arrays_sha256))
    return ranker


def _read_manifest(folder: Path) -> _Manifest:
    path = folder / "ranker.json"
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=_Manifest)
    except OSError as error:
        raise TurnwiseError(
            f"it holds no model: ranker.json cannot be read ({error.strerror})", file=str(folder)
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise TurnwiseError(f"it is not the manifest of a model: {error}", file=str(path)) from error
    if manifest.version > MANIFEST_VERSION:
        raise TurnwiseError(
            f"the model was written by a newer turnwise (manifest {manifest.version}, known {MANIFEST_VERSION})",
            file=str(path),
        )
    return manifest


def _read_arrays(path: Path, digest: str) -> dict[str, NDArray[Any]]:
    try:
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            raise TurnwiseError("its checksum is not the one in ranker.json; save the model again", file=str(path))
        with np.load(path, allow_pickle=False) as held:
            return {name: held[name] for name in held.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise TurnwiseError(f"the arrays of the model cannot be read ({error})", file=str(path)) from error
