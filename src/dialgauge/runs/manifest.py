"""``run.json``: what was run, on what, with which outcome. Plain JSON that other tools can read.

The schema version grows when the meaning of a field changes. A newer dialgauge reads older files through
``UPGRADES``; an older dialgauge refuses newer files with a line that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from os import PathLike, fspath
from pathlib import Path
from typing import Annotated, Any

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.runs.naming import is_table_name

SCHEMA_VERSION = 1
MANIFEST = "run.json"

#: Version to the function that turns such a manifest, as plain JSON, into one of the next version.
UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}


class Input(msgspec.Struct, frozen=True):
    """One source a run read. A folder or pattern counts as its files, in name order (see ``inputs.fingerprint``)."""

    path: str
    files: int
    size: int
    sha256: str


class TableInfo(msgspec.Struct, frozen=True):
    """What a table of a run must be: rows, column names with their types, and the bytes of its Parquet file."""

    rows: int
    columns: dict[str, str]
    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a run but its tables.

    ``scores`` and ``coverage`` are JSON as the kind of run defines them; a number that is undefined is ``null``.
    """

    schema_version: int = SCHEMA_VERSION
    id: str
    kind: str
    name: str
    created: Annotated[datetime, msgspec.Meta(tz=True)]
    command: list[str] = []
    config: dict[str, Any] = {}
    seeds: list[int] = []
    inputs: list[Input] = []
    versions: dict[str, str] = {}
    signature: str = ""
    coverage: dict[str, Any] = {}
    scores: dict[str, Any] = {}
    tables: dict[str, TableInfo] = {}


def plain(value: Any) -> Any:
    """A value as plain JSON types.

    Records become objects, paths text, numpy numbers and arrays their values, sets sorted lists; what JSON cannot
    say in a text (half of a surrogate pair, as in file names that are not UTF-8) is written out as an escape.
    """
    if value is None or type(value) in (bool, int, float):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, msgspec.Struct):
        return plain(msgspec.structs.asdict(value))
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    if isinstance(value, PathLike):
        return plain(fspath(value))
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return plain(value.tolist())
    return msgspec.to_builtins(value)


def _key(key: Any) -> str:
    if isinstance(key, str | int | float):
        return str(plain(key))
    raise TypeError(f"a run keeps JSON only, where {key!r} cannot be a key")


def encode(manifest: Manifest) -> bytes:
    """The manifest as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def load(folder: Path) -> Manifest:
    """The manifest of a run's folder; anything wrong with it is an error that names the file."""
    path = folder / MANIFEST
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise DialgaugeError(f"the run is damaged: it has no {MANIFEST}", file=str(folder)) from error
    except OSError as error:
        raise DialgaugeError(f"it cannot be read ({error.strerror})", file=str(path)) from error
    manifest = _decode(content, path)
    if manifest.id != folder.name:
        raise DialgaugeError(
            f"the run is damaged: its {MANIFEST} belongs to '{manifest.id}'; give the folder that name again",
            file=str(folder),
        )
    return manifest


def _decode(content: bytes, path: Path) -> Manifest:
    try:
        raw = msgspec.json.decode(content, type=dict[str, Any])
        return msgspec.convert(_upgraded(raw, path), Manifest)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeDecodeError) as error:
        reason = str(error) or "nested too deep"
        raise DialgaugeError(
            f"the run is damaged: {MANIFEST} cannot be understood ({reason})", file=str(path)
        ) from error


def _upgraded(raw: dict[str, Any], path: Path) -> dict[str, Any]:
    """The manifest in today's version, with table names that are safe to use as file names."""
    version = raw.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise DialgaugeError(f"the run is damaged: {MANIFEST} has no schema_version", file=str(path))
    if version > SCHEMA_VERSION:
        raise DialgaugeError(
            f"the run has schema version {version}, but this dialgauge reads up to {SCHEMA_VERSION}; upgrade dialgauge",
            file=str(path),
        )
    while version < SCHEMA_VERSION:
        if version not in UPGRADES:
            raise DialgaugeError(f"the run is damaged: there is no schema version {version}", file=str(path))
        raw, version = UPGRADES[version](raw), version + 1
    tables = raw.get("tables")
    for table in tables if isinstance(tables, dict) else ():
        if not is_table_name(table):
            raise DialgaugeError(f"the run is damaged: no table can be called {table!r}", file=str(path))
    return {**raw, "schema_version": version}
