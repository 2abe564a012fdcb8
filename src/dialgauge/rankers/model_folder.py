"""A fitted model in a folder: a manifest (``ranker.json``) and arrays (``arrays.npz``), never a pickle.

The folder may also hold the checkpoint of a training. A training is named by its model, task and seed; the work of
another one is never written over. Nor is a finished model that the same names, but other data, settings or code, made,
unless that is asked for: to repeat a training as it was does no harm.
"""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic, check_writable, together
from dialgauge.rankers.ranker import (
    RUNTIME_OPTIONS,
    Provenance,
    ReplyModel,
    TrainingName,
    options_by_model,
    ranker_class,
)
from dialgauge.rankers.task import RankingTask, place_of

MANIFEST_VERSION = 1
MANIFEST, ARRAYS, CHECKPOINT = "ranker.json", "arrays.npz", "checkpoint.npz"

#: What comes of reading arrays that somebody damaged or changed: numpy and zipfile let all of these through.
UNREADABLE = (
    OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError, OverflowError, MemoryError, SyntaxError,
    zipfile.BadZipFile, zlib.error, struct.error,
)  # fmt: skip


class _Manifest(msgspec.Struct, kw_only=True):
    version: int
    ranker: str
    task: int
    seed: int
    #: The options it was fitted with.
    options: dict[str, str]
    candidates: list[str]
    settings: dict[str, Any]
    arrays_sha256: str
    #: What it was fitted on and by which code; versions before these were noted did not say.
    provenance: Provenance | None = None


def save_ranker(ranker: ReplyModel, folder: Path, task: int) -> None:
    """Write a fitted ranker to a folder: the arrays, and the manifest that names their checksum, or nothing."""
    with together():
        with atomic(folder / ARRAYS) as scratch:
            with scratch.open("wb") as out:
                np.savez(out, allow_pickle=False, **ranker.arrays())
            digest = hashlib.sha256(scratch.read_bytes()).hexdigest()
        with atomic(folder / MANIFEST) as scratch:
            scratch.write_bytes(_manifest_bytes(ranker, task, digest))


def _manifest_bytes(ranker: ReplyModel, task: int, digest: str) -> bytes:
    manifest = _Manifest(
        version=MANIFEST_VERSION,
        ranker=ranker.name,
        task=task,
        seed=ranker.seed,
        options=ranker.options,
        candidates=list(ranker.candidates),
        settings=ranker.settings(),
        arrays_sha256=digest,
        provenance=ranker.provenance,
    )
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1)


def fitted_on(folder: Path) -> int:
    """The number of the task that the model in a folder was fitted on."""
    return _read_manifest(folder).task


def seed_of(folder: Path) -> int:
    """The seed that the model in a folder was fitted with."""
    return _read_manifest(folder).seed


def training_in(folder: Path) -> TrainingName | None:
    """The training whose model lies in a folder; None where there is no model."""
    if not (folder / MANIFEST).exists():
        return None
    manifest = _read_manifest(folder)
    return TrainingName(manifest.ranker, manifest.task, manifest.seed)


def load_ranker(
    folder: Path, *, task: RankingTask | None = None, options: Mapping[str, str] | None = None
) -> ReplyModel:
    """Read a fitted ranker back; a folder that is damaged, newer, or of another task is an error.

    ``options`` (such as ``device``) come on top of those it was fitted with.
    """
    manifest = _read_manifest(folder)
    if task is not None:
        check_task(folder, task.number)
        _check_candidates(manifest, task, folder)
    ranker = ranker_class(manifest.ranker)(manifest.seed)
    ranker.candidates = tuple(manifest.candidates)
    ranker.options = {**manifest.options, **options_by_model([manifest.ranker], options or {})[manifest.ranker]}
    # Of a model that states none: a checksum of its content, which equals no training's.
    content = hashlib.sha256(msgspec.json.encode(manifest)).hexdigest()[:16]
    ranker.provenance = manifest.provenance or Provenance(f"unknown-{content}", "unknown")
    arrays = _read_arrays(folder / ARRAYS, manifest.arrays_sha256)
    try:
        ranker.restore(manifest.settings, arrays)
    except DialgaugeError as error:
        raise error.at(file=str(folder)) from error
    except (*UNREADABLE, IndexError, AttributeError) as error:
        raise DialgaugeError(
            f"the settings of the model {manifest.ranker} are damaged or of another version of dialgauge "
            f"({type(error).__name__}: {error}); fit it again",
            file=str(folder / MANIFEST),
        ) from error
    return ranker


def check_task(folder: Path, number: int) -> None:
    """A model of another task is an error."""
    if (fitted := fitted_on(folder)) != number:
        raise DialgaugeError(
            f"the model was fitted on {place_of(fitted)} and cannot answer {place_of(number)}; load one fitted on it, "
            "or evaluate it there anyway with 'babi evaluate --transfer'",
            file=str(folder),
        )


def _check_candidates(manifest: _Manifest, task: RankingTask, folder: Path) -> None:
    if tuple(manifest.candidates) != task.candidates:
        raise DialgaugeError(
            f"the model was fitted on task {manifest.task} with {len(manifest.candidates):,} candidates, but this data "
            f"has {len(task.candidates):,} (different ones, or in another order); 'babi evaluate --transfer' "
            "evaluates it there anyway",
            file=str(folder),
        )


def _read_manifest(folder: Path) -> _Manifest:
    path = folder / MANIFEST
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DialgaugeError(
            f"it holds no model: {MANIFEST} cannot be read ({error.strerror})", file=str(folder)
        ) from error
    try:
        version = msgspec.json.decode(content, type=dict[str, Any]).get("version")
        if isinstance(version, int) and version > MANIFEST_VERSION:
            raise DialgaugeError(
                f"the model was written by a newer dialgauge (manifest {version}, known {MANIFEST_VERSION})",
                file=str(path),
            )
        return msgspec.json.decode(content, type=_Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DialgaugeError(f"it is not the manifest of a model: {error}", file=str(path)) from error


def _read_arrays(path: Path, digest: str) -> dict[str, NDArray[Any]]:
    try:
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != digest:
            raise DialgaugeError(f"its checksum is not the one in {MANIFEST}; save the model again", file=str(path))
        with np.load(io.BytesIO(content), allow_pickle=False) as held:
            return {name: held[name] for name in held.files}
    except UNREADABLE as error:
        raise DialgaugeError(f"the arrays of the model cannot be read ({error})", file=str(path)) from error


class _Progress(msgspec.Struct):
    """The name of its training, as a checkpoint states it."""

    training: TrainingName | None = None


def claim_folder(folder: Path, ranker: ReplyModel, task: RankingTask, *, force: bool = False) -> Path:
    """The place for the checkpoint of a training in a folder; an error when another's work lies there.

    So is a folder in which nothing can be written: better now than after hours of training. With ``force`` whatever
    model lies there is replaced, once the new one is finished.
    """
    wanted, checkpoint = TrainingName.of(ranker, task), folder / CHECKPOINT
    if force:
        training_in(folder)  # what is no model of ours is not replaced
        check_writable(folder)
        checkpoint.unlink(missing_ok=True)
        return checkpoint
    for what, owner in (("model", training_in(folder)), ("checkpoint", _training_of(checkpoint))):
        if owner not in (None, wanted):
            raise DialgaugeError(
                f"the {what} of another training is already there ({owner}, not {wanted}); "
                "choose another folder, or delete this one",
                file=str(folder),
            )
    if (folder / MANIFEST).exists() and not _repeats(_read_manifest(folder), ranker, task):
        raise DialgaugeError(
            f"a finished model is already there ({wanted}), fitted with other data, settings or code; choose another "
            "folder, or replace it with --force",
            file=str(folder),
        )
    check_writable(folder)
    return checkpoint


def _repeats(manifest: _Manifest, ranker: ReplyModel, task: RankingTask) -> bool:
    """Whether a training would give the model that lies there once more."""
    before, now = ({k: v for k, v in of.options.items() if k not in RUNTIME_OPTIONS} for of in (manifest, ranker))
    return before == now and manifest.provenance == Provenance.of(ranker, task)


def _training_of(checkpoint: Path) -> TrainingName | None:
    if not checkpoint.exists():
        return None
    try:
        with np.load(checkpoint, allow_pickle=False) as held:
            return msgspec.json.decode(held["progress"].tobytes(), type=_Progress).training
    except (*UNREADABLE, msgspec.DecodeError) as error:
        raise DialgaugeError(
            f"the checkpoint cannot be read ({error}); delete it to start over", file=str(checkpoint)
        ) from error
