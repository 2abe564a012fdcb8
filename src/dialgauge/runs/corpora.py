"""The dialogues behind the runs, each corpus stored once: ``corpora/CHECKSUM/{dialogues,turns}.parquet``.

Invariants
- The checksum is the SHA-256 of the dialogues as native JSONL: equal dialogues are one corpus, whoever stores them.
- A corpus enters the store by one rename, after its bytes are on the disk, and before the run that needs it does.
- A folder in ``.work`` names the corpus its run needs (``PIN``, later its ``run.json``) before that corpus is looked
  for. Corpora are moved in and away only under one lock, and away only if no run and no folder in ``.work`` names them.
- Every folder of ``.work`` that is discarded, by its owner or by a sweep, has its corpus looked at first. So a corpus
  whose run never came to be, or is gone, outlives the next sweep at most.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from dialgauge import formats
from dialgauge.dialogue import Dialogue, Goal, Outcome, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.locks import try_lock
from dialgauge.runs.manifest import MANIFEST
from dialgauge.runs.tables import DIALOGUES, FIXED, TABLE_ENDING, TURNS, TableInfo
from dialgauge.runs.workspace import WORK, delete_tree, sync_folder, write_durably, write_table, writing

if TYPE_CHECKING:
    import polars

    from dialgauge.columns import ColumnTable
    from dialgauge.formats import SpooledDialogues

CORPORA = "corpora"
CORPUS_FILE = "corpus.json"
PIN = "corpus-pin"

_SCRATCH, _OLD = "corpus-new", "corpus-old"
_LOCK = ".lock"
_PATIENCE = 60.0  # seconds; the lock is held for a look at the manifests and one rename
#: Stands for the corpus of a run whose manifest cannot be read: it may need any.
_ANY = "*"

_ENCODER = msgspec.json.Encoder()
#: A row of the table ``dialogues``.
_Head: TypeAlias = "tuple[str, int, tuple[str, ...], bytes | None, bytes | None]"


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
    tables: dict[str, ColumnTable]


def encode_corpus(dialogues: Iterable[Dialogue]) -> EncodedCorpus:
    """Encode each dialogue once, for the checksum and the tables alike; those in a file again for each table."""
    if not isinstance(dialogues, Sequence):
        dialogues = formats.hold(dialogues)
    spooled = dialogues if isinstance(dialogues, formats.SpooledDialogues) else None
    digest = hashlib.sha256()
    ids: list[str] = []
    rows, height = _CorpusRows(), 0
    for dialogue in dialogues:
        for piece in rows.add(dialogue):
            digest.update(piece)
        ids.append(dialogue.id)
        height += len(dialogue.turns)
        if spooled is not None:
            rows = _CorpusRows()
    distinct = frozenset(ids)
    if len(distinct) < len(ids):
        raise _twice(ids)
    tables = rows.tables() if spooled is None else _pieced(spooled, height)
    return EncodedCorpus(digest.hexdigest(), distinct, tables)


class _CorpusRows:
    """Dialogues as rows of both tables."""

    def __init__(self) -> None:
        self.heads: list[_Head] = []
        self.turns: list[Turn] = []
        self.records: list[bytes] = []
        self.size = 0

    def add(self, dialogue: Dialogue) -> list[bytes]:
        """One more; its line in the native format, in pieces."""
        lines = _ENCODER.encode_lines(dialogue.turns)
        head = _head(dialogue)
        self.heads.append(head)
        self.turns += dialogue.turns
        self.records += lines[:-1].split(b"\n") if lines else ()  # JSON has no other ends of lines
        self.size += len(lines) - len(dialogue.turns)
        return _native(dialogue, lines, *head[-2:])

    def tables(self) -> dict[str, ColumnTable]:
        """The tables ``dialogues`` and ``turns``."""
        from dialgauge.columns import ColumnTable

        return {DIALOGUES: ColumnTable.of_rows(FIXED[DIALOGUES], self.heads), TURNS: self.turns_table()}

    def turns_table(self) -> ColumnTable:
        import numpy as np

        from dialgauge.columns import ColumnTable, chosen_texts, column

        sizes = np.array([head[1] for head in self.heads], np.int64)
        owners = np.repeat(np.arange(len(sizes)), sizes)
        columns = {
            "dialogue": chosen_texts([head[0] for head in self.heads], owners),
            "turn": column("Int64", np.arange(len(owners)) - (np.cumsum(sizes) - sizes)[owners]),
            "speaker": column("String", [turn.speaker for turn in self.turns]),
            "text": column("String", [turn.text for turn in self.turns]),
            "record": column("String", self.records),
        }
        return ColumnTable(columns)


def _head(dialogue: Dialogue) -> _Head:
    """The row of a dialogue in the table ``dialogues``."""
    goal = None if dialogue.goal is None else _ENCODER.encode(dialogue.goal)
    outcome = None if dialogue.outcome is None else _ENCODER.encode(dialogue.outcome)
    return dialogue.id, len(dialogue.turns), dialogue.domains, goal, outcome


def _pieced(dialogues: SpooledDialogues, turns: int) -> dict[str, ColumnTable]:
    """The same tables, made some dialogues at a time."""
    from dialgauge.columns import PIECE_BYTES, PIECE_ROWS, PiecedTable

    def pieces() -> Iterator[ColumnTable]:
        rows = _CorpusRows()
        for dialogue in dialogues:
            rows.add(dialogue)
            if len(rows.turns) > PIECE_ROWS or rows.size > PIECE_BYTES:
                yield rows.turns_table()
                rows = _CorpusRows()
        yield rows.turns_table()

    return {
        DIALOGUES: PiecedTable.of_made_rows(FIXED[DIALOGUES], len(dialogues), lambda: map(_head, dialogues)),
        TURNS: PiecedTable(FIXED[TURNS], turns, pieces),
    }


def _native(dialogue: Dialogue, turns: bytes, goal: bytes | None, outcome: bytes | None) -> list[bytes]:
    """The line of the dialogue in the native format, as the parts that are encoded already and what joins them."""
    parts = [b'{"id":', _ENCODER.encode(dialogue.id), b',"turns":[', turns[:-1].replace(b"\n", b","), b"]"]
    if goal is not None:
        parts += b',"goal":', goal
    if dialogue.domains:
        parts += b',"domains":', _ENCODER.encode(dialogue.domains)
    if outcome is not None:
        parts += b',"outcome":', outcome
    return [*parts, b"}\n"]


def _twice(ids: list[str]) -> DialgaugeError:
    seen: set[str] = set()
    twice = next(name for name in ids if name in seen or seen.add(name))  # type: ignore[func-returns-value]
    return DialgaugeError("two dialogues have this id, so a run cannot tell them apart", dialogue=twice)


def decode_corpus(dialogues: polars.DataFrame, turns: polars.DataFrame) -> Iterator[Dialogue]:
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

    def table_path(self, checksum: str, table: str) -> Path:
        """Where a table of a corpus lies."""
        return self._folder / checksum / f"{table}{TABLE_ENDING}"

    def tables(self, checksum: str) -> dict[str, TableInfo]:
        """What the tables of a corpus must be; an error where it is not there."""
        path = self._folder / checksum / CORPUS_FILE
        try:
            return msgspec.json.decode(path.read_bytes(), type=_CorpusFile).tables
        except OSError as error:
            raise DialgaugeError(f"the corpus cannot be read ({error.strerror})", file=str(path)) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise DialgaugeError(f"the corpus is damaged ({error})", file=str(path)) from error

    def add(self, corpus: EncodedCorpus, claim: Path) -> None:
        """Store a corpus for the run that is made in the folder ``claim``, unless it is there already."""
        with writing(self._store):
            self._folder.mkdir(exist_ok=True)
            with self._locked():
                write_durably(claim / PIN, corpus.checksum.encode())
                if self._intact(corpus.checksum):
                    return
            scratch = claim / _SCRATCH
            scratch.mkdir()
            infos = {
                name: write_table(frame, scratch / f"{name}{TABLE_ENDING}") for name, frame in corpus.tables.items()
            }
            write_durably(scratch / CORPUS_FILE, msgspec.json.encode(_CorpusFile(infos)))
            sync_folder(scratch)
            with self._locked():
                self._move_in(scratch, corpus.checksum, claim)
            delete_tree(scratch)
            delete_tree(claim / _OLD)

    def _move_in(self, scratch: Path, checksum: str, claim: Path) -> None:
        if self._intact(checksum):  # another process was faster
            return
        target = self._folder / checksum
        if target.exists():  # a damaged one makes room
            target.rename(claim / _OLD)
        scratch.rename(target)
        sync_folder(self._folder)

    def _intact(self, checksum: str) -> bool:
        """Whether the corpus is there with all of its tables, by their sizes."""
        try:
            tables = self.tables(checksum)
            return all(self.table_path(checksum, name).stat().st_size == info.size for name, info in tables.items())
        except (DialgaugeError, OSError):
            return False

    def pin(self, run: Path, claim: Path) -> None:
        """Note in the folder ``claim`` which corpus a run needs that is about to be moved there and deleted."""
        if needed := _needed(run):
            write_durably(claim / PIN, needed.encode())

    def release(self, claim: Path) -> None:
        """Move the corpus that a folder of ``.work`` names into it, to be deleted with it, if nothing else needs it."""
        named = _needed(claim)
        if not named or not self._folder.is_dir():
            return
        with writing(self._store), self._locked():
            present = sorted(entry.name for entry in self._folder.iterdir() if entry.is_dir())
            candidates = [name for name in present if named in (name, _ANY)]
            needed = self._needed_elsewhere(claim) if candidates else set()
            for name in candidates:
                if not {name, _ANY} & needed:
                    (self._folder / name).rename(claim / name)
            sync_folder(self._folder)

    def _needed_elsewhere(self, claim: Path) -> set[str]:
        """The corpora that other folders name. Those in the making are looked at first: they move to the store."""
        work = self._store / WORK
        making = [entry for entry in work.iterdir() if entry != claim and entry.is_dir()]
        needed = {_needed(entry) for entry in making}
        stored = [entry for entry in self._store.iterdir() if not entry.name.startswith(".") and entry.name != CORPORA]
        return needed | {_needed(entry) for entry in stored}

    @contextmanager
    def _locked(self) -> Iterator[None]:
        lock = try_lock(self._folder / _LOCK, _PATIENCE)
        if lock is None:
            raise DialgaugeError("another process holds the store's corpora; wait for it", file=str(self._folder))
        try:
            yield
        finally:
            lock.release()


def _needed(folder: Path) -> str:
    """The corpus that a run, or the folder it is made in, names; empty where it names none."""
    try:
        if (pin := folder / PIN).exists():
            return pin.read_text(encoding="utf-8")
        manifest = folder / MANIFEST
        return msgspec.json.decode(manifest.read_bytes(), type=_Reference).corpus if manifest.exists() else ""
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _ANY
