"""The dialogues behind the runs, each corpus stored once: ``corpora/CHECKSUM/{dialogues,turns}.parquet``.

Invariants
- The checksum is the SHA-256 of the dialogues as native JSONL: equal dialogues are one corpus, whoever stores them.
- A corpus enters the store by one rename, after its bytes are on the disk, and before the run that needs it does.
- Corpora are moved in and away only under the lock of the store, under which runs come and go, too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import polars as pl

from dialgauge import formats
from dialgauge.dialogue import Dialogue, Goal, Outcome, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.runs.manifest import MANIFEST
from dialgauge.runs.tables import DIALOGUES, FIXED, TURNS, Pieces, TableInfo, frames_from_rows, size_of, write_table
from dialgauge.runs.workspace import delete_tree, sync_folder, write_durably, writing

CORPORA = "corpora"
CORPUS_FILE = "corpus.json"
#: Stands for the corpus of a run whose manifest cannot be read: it may need any.
_ANY = "*"

_ENCODER = msgspec.json.Encoder()


class _CorpusFile(msgspec.Struct, frozen=True):
    """What ``corpus.json`` holds."""

    tables: dict[str, TableInfo]


class _Reference(msgspec.Struct, frozen=True):
    """The part of a manifest that names its corpus."""

    corpus: str = ""


class EncodedCorpus(msgspec.Struct, frozen=True):
    """Dialogues as the tables ``dialogues`` and ``turns``, and their checksum."""

    checksum: str
    ids: frozenset[str]
    tables: dict[str, Pieces]


def encode_corpus(dialogues: Iterable[Dialogue]) -> EncodedCorpus:
    """The checksum of the dialogues and their tables, which are made when they are written or read."""
    held = dialogues if isinstance(dialogues, Sequence) else formats.hold(dialogues)
    digest = hashlib.sha256()
    ids: dict[str, None] = {}
    for dialogue in held:
        digest.update(_ENCODER.encode(dialogue) + b"\n")
        if dialogue.id in ids:
            raise DialgaugeError("two dialogues have this id, so a run cannot tell them apart", dialogue=dialogue.id)
        ids[dialogue.id] = None
    tables = {
        DIALOGUES: Pieces(lambda: frames_from_rows(map(_head, held), FIXED[DIALOGUES])),
        TURNS: Pieces(lambda: frames_from_rows(_turns(held), FIXED[TURNS])),
    }
    return EncodedCorpus(digest.hexdigest(), frozenset(ids), tables)


def _head(dialogue: Dialogue) -> tuple[str, int, tuple[str, ...], str | None, str | None]:
    """The row of a dialogue in the table ``dialogues``."""
    goal = None if dialogue.goal is None else _ENCODER.encode(dialogue.goal).decode()
    outcome = None if dialogue.outcome is None else _ENCODER.encode(dialogue.outcome).decode()
    return dialogue.id, len(dialogue.turns), dialogue.domains, goal, outcome


def _turns(dialogues: Iterable[Dialogue]) -> Iterator[tuple[str, int, str, str, str]]:
    """The rows of the table ``turns``."""
    for dialogue in dialogues:
        for number, turn in enumerate(dialogue.turns):
            yield dialogue.id, number, turn.speaker, turn.text, _ENCODER.encode(turn).decode()


def decode_corpus(dialogues: pl.DataFrame, turns: pl.DataFrame) -> Iterator[Dialogue]:
    """The dialogues of the two tables, one at a time; the turns stand in the dialogues' order."""
    turn = msgspec.json.Decoder(Turn)
    start = 0
    for name, count, domains, goal, outcome in dialogues.iter_rows():
        records = turns["record"][start : start + count].to_list()
        start += count
        yield Dialogue(
            id=name,
            turns=tuple(turn.decode(record) for record in records),
            goal=None if goal is None else msgspec.json.decode(goal, type=Goal),
            domains=tuple(domains),
            outcome=None if outcome is None else msgspec.json.decode(outcome, type=Outcome),
        )


class Corpora:
    """The corpora of one store."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._folder = store / CORPORA

    def folder(self, checksum: str) -> Path:
        """Where the tables of a corpus lie."""
        return self._folder / checksum

    def tables(self, checksum: str) -> dict[str, TableInfo]:
        """What the tables of a corpus must be; an error where it is not there."""
        path = self._folder / checksum / CORPUS_FILE
        try:
            return msgspec.json.decode(path.read_bytes(), type=_CorpusFile).tables
        except OSError as error:
            raise DialgaugeError(f"the corpus cannot be read ({error.strerror})", file=str(path)) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise DialgaugeError(f"the corpus is damaged ({error})", file=str(path)) from error

    def prepare(self, corpus: EncodedCorpus, scratch: Path) -> None:
        """Write the tables of a corpus into a scratch folder, unless the store has them already."""
        if scratch.exists() or self._intact(corpus.checksum):
            return
        with writing(self._store):
            scratch.mkdir()
            infos = {name: write_table(name, table, scratch) for name, table in corpus.tables.items()}
            write_durably(scratch / CORPUS_FILE, msgspec.json.encode(_CorpusFile(infos)))
            sync_folder(scratch)

    def add(self, corpus: EncodedCorpus, scratch: Path) -> None:
        """Move a corpus into the store, unless it is there already; whoever calls this holds the store's lock."""
        self.prepare(corpus, scratch)
        with writing(self._store):
            if not self._intact(corpus.checksum):
                target = self._folder / corpus.checksum
                delete_tree(target)  # a damaged one
                self._folder.mkdir(exist_ok=True)
                scratch.rename(target)
                sync_folder(self._folder)
            delete_tree(scratch)

    def _intact(self, checksum: str) -> bool:
        """Whether the corpus is there with all of its tables, by their sizes."""
        try:
            tables = self.tables(checksum).items()
            return all(size_of(self._folder / checksum, name, info) == info.size for name, info in tables)
        except (DialgaugeError, OSError):
            return False

    def unused(self) -> list[Path]:
        """The corpora that no run needs; none while a damaged run may need any."""
        if not self._folder.is_dir():
            return []
        needed = {_named_in(entry) for entry in self._store.iterdir() if not entry.name.startswith(".")}
        return [entry for entry in self._folder.iterdir() if entry.is_dir() and not {entry.name, _ANY} & needed]


def _named_in(folder: Path) -> str:
    """The corpus that a run names; empty where it names none."""
    try:
        manifest = folder / MANIFEST
        return msgspec.json.decode(manifest.read_bytes(), type=_Reference).corpus if manifest.exists() else ""
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _ANY
