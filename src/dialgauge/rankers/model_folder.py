"""A fitted model in a folder: a manifest (``ranker.json``) and arrays (``arrays.npz``), never a pickle.

While a model is trained the folder holds its checkpoint; a finished model is replaced only if that is asked for.
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
    Provenance,
    ReplyModel,
    options_by_model,
    ranker_class,
)
from dialgauge.rankers.task import RankingTask, place_of

MANIFEST, ARRAYS, CHECKPOINT = "ranker.json", "arrays.npz", "checkpoint.npz"

#: What comes of reading arrays that somebody damaged or changed: numpy and zipfile let all of these through.
UNREADABLE = (
    OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError, OverflowError, MemoryError, SyntaxError,
    zipfile.BadZipFile, zlib.error, struct.error,
)  # fmt: skip


class ModelManifest(msgspec.Struct, kw_only=True):
    """The manifest of a saved model."""

    ranker: str
    task: int
    seed: int
    #: The options it was fitted with.
    options: dict[str, str]
    candidates: list[str]
    settings: dict[str, Any]
    arrays_sha256: str
    #: What it was fitted on and by which code.
    provenance: Provenance | None


def save_ranker(ranker: ReplyModel, folder: Path, task: int) -> None:
    """Write a fitted ranker to a folder: the arrays, and the manifest that names their checksum, or nothing."""
    with together():
        with atomic(folder / ARRAYS) as scratch:
            with scratch.open("wb") as out:
                np.savez(out, allow_pickle=False, **ranker.arrays())
            digest = hashlib.sha256(scratch.read_bytes()).hexdigest()
        manifest = ModelManifest(
            ranker=ranker.name,
            task=task,
            seed=ranker.seed,
            options=ranker.options,
            candidates=list(ranker.candidates),
            settings=ranker.settings(),
            arrays_sha256=digest,
            provenance=ranker.provenance,
        )
        with atomic(folder / MANIFEST) as scratch:
            scratch.write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    (folder / CHECKPOINT).unlink(missing_ok=True)


def load_ranker(
    folder: Path, *, task: RankingTask | None = None, options: Mapping[str, str] | None = None
) -> ReplyModel:
    """Read a fitted ranker back; a folder that is damaged, newer, or of another task is an error.

    ``options`` (such as ``device``) come on top of those it was fitted with.
    """
    manifest = read_manifest(folder)
    if task is not None and (manifest.task, tuple(manifest.candidates)) != (task.number, task.candidates):
        raise DialgaugeError(
            f"the model was fitted on {place_of(manifest.task)} with {len(manifest.candidates):,} candidates, and this "
            f"is {place_of(task.number)} with {len(task.candidates):,} (other ones, or in another order); load a model "
            "fitted on it, or evaluate this one there anyway with 'babi evaluate --transfer'",
            file=str(folder),
        )
    ranker = ranker_class(manifest.ranker)(manifest.seed)
    ranker.candidates = tuple(manifest.candidates)
    ranker.options = {**manifest.options, **options_by_model([manifest.ranker], options or {})[manifest.ranker]}
    ranker.provenance = manifest.provenance
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


def read_manifest(folder: Path) -> ModelManifest:
    """The manifest of the model in a folder."""
    path = folder / MANIFEST
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DialgaugeError(
            f"it holds no model: {MANIFEST} cannot be read ({error.strerror})", file=str(folder)
        ) from error
    try:
        return msgspec.json.decode(content, type=ModelManifest)
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


def claim_folder(folder: Path) -> Path:
    """The place for the checkpoint of a training in a folder; an error where a finished model lies there.

    So is a folder in which nothing can be written: better now than after hours of training.
    """
    if (folder / MANIFEST).exists():
        manifest = read_manifest(folder)
        raise DialgaugeError(
            f"a finished model is already there ({manifest.ranker} on {place_of(manifest.task)}, seed "
            f"{manifest.seed}); choose another folder, or delete this one",
            file=str(folder),
        )
    check_writable(folder)
    return folder / CHECKPOINT
