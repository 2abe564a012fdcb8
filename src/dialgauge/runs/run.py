"""A run: a manifest and tables, in memory or in a store. Everything that is shown is made from one."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import msgspec
import polars as pl

from dialgauge import measures
from dialgauge.dialogue import Dialogue, dialogue_key
from dialgauge.errors import DialgaugeError, UnknownNameError, nearest
from dialgauge.files import parquet_bytes, reason
from dialgauge.measures import Coverage, Score, Signature
from dialgauge.runs.corpora import Corpora, EncodedCorpus, decode_corpus, encode_corpus
from dialgauge.runs.manifest import Manifest, left_out, load, new_id, plain
from dialgauge.runs.provenance import Source, draft, this_command, with_origin
from dialgauge.runs.stored_table import StoredTable
from dialgauge.runs.tables import (
    CORPUS_TABLES,
    DIALOGUE_SCORES,
    DIALOGUES,
    FIXED,
    TURNS,
    GivenTable,
    Pieces,
    TableInfo,
    check_columns,
    check_fixed,
    check_table_name,
    empty_info,
    empty_table,
    schema_of,
    whole,
)
from dialgauge.text import Note, note_kind, plain as printable, some_of

DetailsT = TypeVar("DetailsT")

#: A table, or a function that makes it when it is asked for.
Frame: TypeAlias = GivenTable | Callable[[], GivenTable]
#: Dialogues, or a function that gives them each time they are asked for.
CorpusSource: TypeAlias = "Sequence[Dialogue] | Callable[[], Iterable[Dialogue]] | SharedCorpus"


class SharedCorpus:
    """Dialogues that several runs in memory have in common: encoded once, when the first of them needs it."""

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        self.dialogues = dialogues

    @cached_property
    def encoded(self) -> EncodedCorpus:
        """The dialogues as a store keeps them."""
        return encode_corpus(self.dialogues)


class Run(ABC):
    """One run. Tables are read, or made, when asked for; ``path`` is its folder, where it is stored.

    >>> import dialgauge
    >>> gold = {"d1": [{"hotel-area": "north"}]}
    >>> run = dialgauge.score(gold, {"mine": gold}, measures="JGA").runs[0]
    >>> run.kind, run.name, run["JGA"], run.table("dialogue_scores").columns
    ('tracking', 'mine', <Score 1, n=1>, ['dialogue', 'measure', 'num', 'den'])
    """

    #: Whether it lies in a store.
    stored = False

    def __init__(self, facts: Manifest) -> None:
        self._facts = facts
        self._frames: dict[str, pl.DataFrame] = {}

    @classmethod
    def load(cls, path: Path, manifest: Manifest | None = None) -> StoredRun:
        """The run in a folder of a store; damage to its manifest is an error."""
        return StoredRun(path, manifest or load(path))

    @property
    @abstractmethod
    def manifest(self) -> Manifest:
        """Everything about the run but its tables."""

    @property
    @abstractmethod
    def tables(self) -> Mapping[str, TableInfo]:
        """The tables by name, the three that every run has first: rows, columns, checksum."""

    @property
    @abstractmethod
    def has_corpus(self) -> bool:
        """Whether it has dialogues of its own."""

    @abstractmethod
    def given_table(self, name: str) -> GivenTable:
        """One table for storing it: a large one in pieces."""

    @abstractmethod
    def dialogues(self) -> Iterator[Dialogue]:
        """The dialogues of the run's corpus, one at a time; none where it has no corpus."""

    @abstractmethod
    def encoded_corpus(self) -> EncodedCorpus | None:
        """The dialogues as a store keeps them; None where the run has no corpus."""

    @abstractmethod
    def _table(self, name: str) -> pl.DataFrame:
        """One table, read or made."""

    @property
    def id(self) -> str:
        """The run's id, which is its folder's name."""
        return self._facts.id

    @property
    def kind(self) -> str:
        """The family it belongs to, or what else it is."""
        return self._facts.kind

    @property
    def name(self) -> str:
        """What it is called: mostly the system that was measured."""
        return self._facts.name

    @property
    def scores(self) -> dict[str, Score]:
        """The scores by measure."""
        return self._facts.scores

    def __getitem__(self, measure: str) -> Score:
        name: object = measure
        if not isinstance(name, str) or measure not in self.scores:
            raise measures.no_score(measure, self.scores, self.details.get("left_out") or {}, self.name)
        return self.scores[measure]

    def __contains__(self, measure: object) -> bool:
        return measure in self.scores

    @property
    def signature(self) -> str:
        """What the signatures of all scores share."""
        return self._facts.signature

    @property
    def coverage(self) -> Coverage:
        """How much was scored, with units."""
        return self._facts.coverage

    @property
    def details(self) -> dict[str, Any]:
        """Small extras of the family."""
        return self._facts.details

    def details_as(self, form: type[DetailsT]) -> DetailsT:
        """The details in the form that the family gives them; a stored run may have been changed."""
        try:
            return msgspec.convert(self.details, form)
        except msgspec.ValidationError as error:
            raise DialgaugeError(
                f"run {self.id} cannot be shown: its details are not those of a {self.kind} run of this version "
                f"({error}); score again"
            ) from None

    @property
    def notes(self) -> list[str]:
        """What a reader of the scores should know."""
        return [Note(kind, text) for kind, text in zip(self._facts.note_kinds, self._facts.notes, strict=True)]

    @property
    def path(self) -> Path:
        """The folder of a stored run."""
        raise ValueError("the run is in memory only; store.add(run) stores it")

    @property
    def files(self) -> Mapping[str, list[Path]]:
        """The Parquet files of each table of a stored run that has some; tables without rows may have none."""
        raise ValueError("the run is in memory only; store.add(run) stores it")

    def table(self, name: str) -> pl.DataFrame:
        """One table, read once; of a stored run after comparing its bytes with the checksum."""
        if name not in self.tables:
            where = f"run {self.id}" if self.stored else f"the run '{self.name}'"
            raise DialgaugeError(f"{where} has no table '{name}'.{nearest(name, self.tables)}")
        if name not in self._frames:
            self._frames[name] = self._table(name)
        return self._frames[name]

    def verify(self, *names: str) -> None:  # noqa: B027 - in memory there is nothing to compare
        """Compare the bytes of some stored tables, or of all, with their checksums."""

    def dialogue(self, name: str) -> Dialogue:
        """One dialogue of the corpus, whatever way its id is written."""
        ids = self.table(DIALOGUES)["dialogue"]
        known = next((own for own in ids if dialogue_key(own) == dialogue_key(name)), None)
        if known is None:
            raise UnknownNameError(f"run {self.id} has no dialogue '{name}'.{nearest(name, ids, listed=False)}")
        heads, turns = (self.table(table) for table in CORPUS_TABLES)
        return next(decode_corpus(heads.filter(heads["dialogue"] == known), turns.filter(turns["dialogue"] == known)))

    def __repr__(self) -> str:
        shown = [f"{name} {'-' if score.value is None else f'{score:.4g}'}" for name, score in self.scores.items()]
        where = self.id if self.stored else "not stored"
        return printable(f"<Run {self.kind} '{self.name}' ({where}): {some_of(shown) or 'no scores'}>")

    def _repr_html_(self) -> str:
        report = import_module("dialgauge.report")  # by name: that room stands above
        html: str = report.notebook_html(report.run_summary(self))
        return html


class MemoryRun(Run):
    """A run that is not stored; inputs are read when the manifest is needed."""

    def __init__(
        self, facts: Manifest, frames: Mapping[str, Frame], corpus: CorpusSource | None, inputs: Iterable[Source] = ()
    ) -> None:
        super().__init__(facts)
        self._given = frames
        self._corpus = corpus
        self._inputs = tuple(inputs)

    @cached_property
    def manifest(self) -> Manifest:
        return with_origin(self._facts, self._inputs)

    @property
    def tables(self) -> Mapping[str, TableInfo]:
        # Made anew each time: kept here, it would close a cycle that holds all dialogues until the collector comes.
        return _MadeTables((*CORPUS_TABLES, *self._given), self.table)

    @property
    def has_corpus(self) -> bool:
        return self._corpus is not None

    def given_table(self, name: str) -> GivenTable:
        if name in self._frames:
            return self._frames[name]
        if name in CORPUS_TABLES:
            return self._encoded.tables[name]
        given = self._given[name]
        return given() if callable(given) else given

    def _table(self, name: str) -> pl.DataFrame:
        frame = whole(self.given_table(name))
        check_columns(name, frame.columns)
        check_fixed(name, frame)
        return frame

    def dialogues(self) -> Iterator[Dialogue]:
        if isinstance(self._corpus, SharedCorpus):
            return iter(self._corpus.dialogues)
        return iter(self._corpus() if callable(self._corpus) else self._corpus or ())

    @cached_property
    def _encoded(self) -> EncodedCorpus:
        if isinstance(self._corpus, SharedCorpus):
            return self._corpus.encoded
        return encode_corpus(self._corpus() if callable(self._corpus) else self._corpus or ())

    def encoded_corpus(self) -> EncodedCorpus | None:
        return None if self._corpus is None else self._encoded


class _MadeTables(Mapping[str, TableInfo]):
    """The tables of a run in memory: listing them makes none, looking at one makes it."""

    def __init__(self, names: Sequence[str], make: Callable[[str], pl.DataFrame]) -> None:
        self._names = dict.fromkeys(names)
        self._make = make

    def __getitem__(self, name: str) -> TableInfo:
        if name not in self._names:
            raise KeyError(name)
        frame = self._make(name)
        return TableInfo(frame.height, schema_of(frame), 0, "")

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class StoredRun(Run):
    """A run in a store: its own files, and those of its corpus, each checked when it is read."""

    stored = True

    def __init__(self, path: Path, manifest: Manifest) -> None:
        super().__init__(manifest)
        self._path = path

    @property
    def path(self) -> Path:
        return self._path

    @property
    def manifest(self) -> Manifest:
        return self._facts

    @cached_property
    def _stored(self) -> dict[str, StoredTable]:
        """The tables that have files."""
        checksum, corpora = self._facts.corpus, Corpora(self.path.parent)
        try:
            shared = corpora.tables(checksum) if checksum else {}
        except DialgaugeError as error:
            raise DialgaugeError(f"the run is damaged: {error}", file=str(self.path)) from error
        corpus = {name: StoredTable(name, shared[name], corpora.folder(checksum), self.path) for name in shared}
        own = self._facts.tables.items()
        return corpus | {name: StoredTable(name, info, self.path, self.path) for name, info in own}

    @cached_property
    def tables(self) -> Mapping[str, TableInfo]:
        stored = {name: table.info for name, table in self._stored.items()}
        return {**{name: stored.get(name) or empty_info(name) for name in FIXED}, **stored}

    @property
    def has_corpus(self) -> bool:
        return bool(self._facts.corpus)

    @property
    def files(self) -> Mapping[str, list[Path]]:
        return {name: table.paths for name, table in self._stored.items()}

    def check(self) -> None:
        """Look at presence and size of every table (:meth:`verify` reads all bytes)."""
        for table in self._stored.values():
            table.check()

    def verify(self, *names: str) -> None:
        for name in names or self._stored:
            self._stored[name].verify()

    def given_table(self, name: str) -> GivenTable:
        return Pieces(self._stored[name].pieces) if name in self._stored else empty_table(name)

    def _table(self, name: str) -> pl.DataFrame:
        return self._stored[name].read() if name in self._stored else empty_table(name)

    def dialogues(self) -> Iterator[Dialogue]:
        try:
            yield from decode_corpus(self.table(DIALOGUES), self.table(TURNS))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError) as error:
            raise self._stored[TURNS].damage(f"holds something that is not a dialogue ({reason(error)})") from error

    def encoded_corpus(self) -> EncodedCorpus | None:
        return encode_corpus(self.dialogues()) if self.has_corpus else None


def new_run(
    *,
    kind: str,
    name: str,
    scores: measures.Scores | None = None,
    tables: Mapping[str, Frame] | None = None,
    corpus: CorpusSource | None = None,
    config: Mapping[str, Any] | None = None,
    inputs: Iterable[Source] = (),
    seeds: int | Sequence[int] | None = None,
    signature: str | Signature = "",
    details: Mapping[str, Any] | None = None,
    notes: Iterable[str] = (),
    dialogue_scores: Pieces | None = None,
) -> Run:
    """A run in memory; inputs are read when the manifest is needed, and tables are made when asked for.

    ``dialogue_scores`` is for scores whose sums were put down in pieces, and are not in ``scores``.
    """
    result = scores or measures.Scores(dialogues=(), sums={}, scores={})
    facts = draft(kind=kind, name=name, config=config, seeds=seeds, signature=signature)
    facts = msgspec.structs.replace(
        facts,
        id=new_id(facts.created, kind, name),
        signature=facts.signature or (result.signature.long() if result.scores else ""),
        scores=dict(result.scores),
        coverage=result.coverage,
        details=plain({**(details or {}), **left_out(result)}),
        notes=plain(notes := list(notes)),
        note_kinds=[note_kind(note) for note in notes],
    )
    frames = {check_table_name(table): frame for table, frame in (tables or {}).items()}
    if DIALOGUE_SCORES in frames:
        raise ValueError(f"the table {DIALOGUE_SCORES!r} comes from the scores")
    return MemoryRun(facts, {DIALOGUE_SCORES: dialogue_scores or Pieces(result.frames), **frames}, corpus, inputs)


class _PackedRun(msgspec.Struct):
    manifest: Manifest
    tables: dict[str, bytes]
    #: The dialogues; None where the run has no corpus.
    corpus: list[Dialogue] | None


def packed_run(run: Run) -> bytes:
    """A run as bytes; the same run gives the same bytes."""
    tables = {name: parquet_bytes(run.table(name)) for name in run.tables if name not in CORPUS_TABLES}
    corpus = list(run.dialogues()) if run.has_corpus else None
    return msgspec.msgpack.encode(_PackedRun(run.manifest, tables, corpus))


def unpacked_run(content: bytes) -> Run:
    """The run in memory, as it was packed, by the command of this process."""
    packed = msgspec.msgpack.decode(content, type=_PackedRun)
    frames = {name: pl.read_parquet(io.BytesIO(table)) for name, table in packed.tables.items()}
    manifest = msgspec.structs.replace(packed.manifest, command=plain(this_command()))  # not the worker's
    return MemoryRun(manifest, frames, packed.corpus, manifest.inputs)
