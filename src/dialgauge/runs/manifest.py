"""``run.json``: what was run, on what, with which scores. Plain JSON that other tools can read.

The schema version grows when the meaning of a field changes. A dialgauge refuses newer files with a line that says so.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from os import PathLike, fspath, urandom
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.measures import Coverage, Score
from dialgauge.runs.tables import TableInfo, is_table_name
from dialgauge.runs.workspace import write_durably, writing

if TYPE_CHECKING:
    from dialgauge.measures import Scores

SCHEMA_VERSION = 3
MANIFEST = "run.json"
_SCRATCH = f"{MANIFEST}.new"

#: A run id: time in UTC, what was run, and four digits of its checksum (``20261115-104500-tracking-augpt-3f2a``).
RUN_ID = re.compile(r"\d{8}-\d{6}-[a-z0-9]+(?:-[a-z0-9]+)*-[0-9a-f]{4}")
_LONGEST_PIECE = 40


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """One source a run read, and as what. A folder or pattern counts as its files, in name order."""

    path: str
    #: What it was read as: ``gold``, ``predictions``, ``dialogues``, ...
    role: str = ""
    files: int
    size: int
    sha256: str


#: The column ``seeds`` of the table of runs holds 64 bits.
MOST_SEED = 2**63 - 1


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a run but its tables. A number that is undefined is ``null``."""

    schema_version: int = SCHEMA_VERSION
    id: str
    #: The family it belongs to, or what else it is (a training).
    kind: str
    name: str
    created: Annotated[datetime, msgspec.Meta(tz=True)]
    command: list[str] = []
    config: dict[str, Any] = {}
    seeds: list[Annotated[int, msgspec.Meta(ge=-MOST_SEED - 1, le=MOST_SEED)]] = []
    inputs: list[Input] = []
    versions: dict[str, str] = {}
    #: Checksum of the dialogues, which lie in the store's ``corpora``; empty where there are none.
    corpus: str = ""
    #: What all scores share.
    signature: str = ""
    coverage: Coverage = msgspec.field(default_factory=Coverage)
    scores: dict[str, Score] = {}
    #: Small extras of the family.
    details: dict[str, Any] = {}
    notes: list[str] = []
    #: What each note is about, as codes.
    note_kinds: list[str] = []
    #: The tables in the run's own folder.
    tables: dict[str, TableInfo] = {}

    def __post_init__(self) -> None:
        if len(self.notes) != len(self.note_kinds):
            raise ValueError("notes and note_kinds differ in length")


def new_id(created: datetime, kind: str, name: str, end: str = "") -> str:
    """A run id; its end keeps two runs of the same second apart, and is random where none is given."""
    pieces = [f"{created:%Y%m%d-%H%M%S}", slug(kind) or "run", slug(name), end or urandom(2).hex()]
    return "-".join(piece for piece in pieces if piece)


def content_digest(manifest: Manifest) -> str:
    """A checksum over everything that was measured and how; not over when, by which command and from which paths."""
    inputs = [msgspec.structs.replace(given, path="") for given in manifest.inputs]
    same = msgspec.structs.replace(manifest, id="", created=datetime.fromtimestamp(0, UTC), command=[], inputs=inputs)
    return hashlib.sha256(msgspec.json.encode(same, order="deterministic")).hexdigest()


def renamed(run: str, kind: str, name: str) -> str:
    """The id of the same run under another name.

    >>> renamed("20261115-104500-tracking-augpt-3f2a", "tracking", "other")
    '20261115-104500-tracking-other-3f2a'
    """
    return "-".join(piece for piece in (run[:15], slug(kind) or "run", slug(name), run[-4:]) if piece)


def slug(text: str) -> str:
    """The text in small letters, digits and single hyphens, cut to 40 characters; empty when none are left."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_LONGEST_PIECE].rstrip("-")


def is_run_id(text: str) -> bool:
    """Whether a folder of this name claims to be a run."""
    return RUN_ID.fullmatch(text) is not None


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


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of a run, by one rename; of a new run it is the last file."""
    with writing(folder):
        write_durably(folder / _SCRATCH, msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")
        (folder / _SCRATCH).replace(folder / MANIFEST)


def load(folder: Path) -> Manifest:
    """The manifest of a run's folder; anything wrong with it is an error that names the file."""
    path = folder / MANIFEST
    if path.is_fifo() or path.is_socket():  # would be waited for
        raise DialgaugeError(f"the run is damaged: its {MANIFEST} is not a file", file=str(folder))
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise DialgaugeError(f"the run is damaged: it has no {MANIFEST}", file=str(folder)) from error
    except OSError as error:
        raise DialgaugeError(f"it cannot be read ({error.strerror})", file=str(path)) from error
    try:
        raw = msgspec.json.decode(content, type=dict[str, Any])
        _check(raw, path)
        manifest = msgspec.convert(raw, Manifest)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError, UnicodeDecodeError) as error:
        reason = str(error) or "nested too deep"
        raise DialgaugeError(
            f"the run is damaged: {MANIFEST} cannot be understood ({reason})", file=str(path)
        ) from error
    if manifest.id != folder.name:
        raise DialgaugeError(
            f"the run is damaged: its {MANIFEST} belongs to '{manifest.id}'; give the folder that name again",
            file=str(folder),
        )
    return manifest


def _check(raw: dict[str, Any], path: Path) -> None:
    """An error unless it is of our version and has names that are safe to use in paths."""
    version = raw.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise DialgaugeError(f"the run is damaged: {MANIFEST} has no schema_version", file=str(path))
    if version != SCHEMA_VERSION:
        raise DialgaugeError(
            f"the run has schema version {version}, but this dialgauge reads {SCHEMA_VERSION}; "
            f"{'upgrade dialgauge' if version > SCHEMA_VERSION else 'score again'}",
            file=str(path),
        )
    tables, corpus = raw.get("tables"), raw.get("corpus", "")
    for table in tables if isinstance(tables, dict) else ():
        if not is_table_name(table):
            raise DialgaugeError(f"the run is damaged: no table can be called {table!r}", file=str(path))
    if isinstance(corpus, str) and not re.fullmatch(r"[0-9a-f]{64}|", corpus):
        raise DialgaugeError(f"the run is damaged: no corpus can be called {corpus!r}", file=str(path))


def left_out(scores: Scores) -> dict[str, Any]:
    """Why measures were left out, as a run keeps it."""
    return {"left_out": plain(dict(scores.left_out))} if scores.left_out else {}
