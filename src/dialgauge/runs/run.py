"""A run: a manifest and tables, in memory or in a store. Everything that is shown is made from one."""

from __future__ import annotations

import io
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
from dialgauge.runs.tables import (
    CORPUS_TABLES,
    DIALOGUE_SCORES,
    DIALOGUES,
    FIXED,
    TURNS,
    GivenTable,
    Pieces,
    StoredTable,
    check_columns,
    check_fixed,
    check_table_name,
    empty_table,
    one_frame,
)
from dialgauge.text import Note, note_kind, plain as printable, some_of

DetailsT = TypeVar("DetailsT")

#: A table, or a function that makes it when it is asked for.
Frame: TypeAlias = GivenTable | Callable[[], GivenTable]
#: Dialogues, or a function that gives them each time they are asked for.
CorpusSource: TypeAlias = "Sequence[Dialogue] | Callable[[], Iterable[Dialogue]] | SharedCorpus"


class SharedCorpus:
    """Dialogues that several runs in memory may have in common: encoded once, when the first of them needs it."""

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        self.dialogues = dialogues

    @cached_property
    def encoded(self) -> EncodedCorpus:
        """The dialogues as a store keeps them."""
        return encode_corpus(self.dialogues)


class Run:
    """One run. Tables are read, or made, when asked for; ``path`` is its folder, where it is stored.

    >>> import dialgauge
    >>> gold = {"d1": [{"hotel-area": "north"}]}
    >>> run = dialgauge.score(gold, {"mine": gold}, measures="JGA").runs[0]
    >>> run.kind, run.name, run["JGA"], run.table("dialogue_scores").columns
    ('tracking', 'mine', <Score 1, n=1>, ['dialogue', 'measure', 'num', 'den'])
    """

    def __init__(
        self,
        facts: Manifest,
        frames: Mapping[str, Frame] | None = None,
        corpus: CorpusSource | None = None,
        inputs: Iterable[Source] = (),
        folder: Path | None = None,
    ) -> None:
        """A run in memory, of tables and dialogues, or the run in a folder of a store."""
        self._facts = facts
        self._given = frames or {}
        self._corpus = corpus
        self._inputs = tuple(inputs)
        self._folder = folder
        self._frames: dict[str, pl.DataFrame] = {}

    @classmethod
    def load(cls, path: Path, manifest: Manifest | None = None) -> Run:
        """The run in a folder of a store; damage to its manifest is an error."""
        return cls(manifest or load(path), folder=path)

    @property
    def stored(self) -> bool:
        """Whether it lies in a store."""
        return self._folder is not None

    @property
    def path(self) -> Path:
        """The folder of a stored run."""
        if self._folder is None:
            raise ValueError("the run is in memory only; store.add(run) stores it")
        return self._folder

    @cached_property
    def manifest(self) -> Manifest:
        """Everything about the run but its tables; of a run in memory the inputs are read now."""
        return self._facts if self.stored else with_origin(self._facts, self._inputs)

    @cached_property
    def _files(self) -> dict[str, StoredTable]:
        """The tables of a stored run that have files: its own, and those of its corpus."""
        checksum, corpora = self._facts.corpus, Corpora(self.path.parent)
        try:
            shared = corpora.tables(checksum) if checksum else {}
        except DialgaugeError as error:
            raise DialgaugeError(f"the run is damaged: {error}", file=str(self.path)) from error
        corpus = {name: StoredTable(name, shared[name], corpora.folder(checksum), self.path) for name in shared}
        own = self._facts.tables.items()
        return corpus | {name: StoredTable(name, info, self.path, self.path) for name, info in own}

    @property
    def files(self) -> Mapping[str, list[Path]]:
        """The Parquet files of each table of a stored run that has some; tables without rows may have none."""
        return {name: table.paths for name, table in self._files.items()}

    @property
    def tables(self) -> list[str]:
        """The names of the tables, those that every run has first."""
        return list(dict.fromkeys([*FIXED, *(self._files if self.stored else self._given)]))

    def rows(self, table: str) -> int:
        """How many rows a table has."""
        if self.stored and table in self._files:
            return self._files[table].info.rows
        return self.table(table).height

    def table(self, name: str) -> pl.DataFrame:
        """One table, read once; of a stored run after comparing its bytes with the checksum."""
        if name not in self.tables:
            where = f"run {self.id}" if self.stored else f"the run '{self.name}'"
            raise DialgaugeError(f"{where} has no table '{name}'.{nearest(name, self.tables)}")
        if name not in self._frames:
            if self.stored:
                self._frames[name] = self._files[name].read() if name in self._files else empty_table(name)
            else:
                frame = one_frame(self.given_table(name))
                check_columns(name, frame.columns)
                check_fixed(name, frame)
                self._frames[name] = frame
        return self._frames[name]

    def given_table(self, name: str) -> GivenTable:
        """One table for storing it: a large one in pieces."""
        if self.stored:
            return Pieces(self._files[name].pieces) if name in self._files else empty_table(name)
        if name in self._frames:
            return self._frames[name]
        if name in CORPUS_TABLES:
            return self._encoded.tables[name]
        given = self._given[name]
        return given() if callable(given) else given

    def check(self) -> None:
        """Look at presence and size of every stored table (:meth:`verify` reads all bytes)."""
        for table in self._files.values():
            table.check()

    def verify(self, *names: str) -> None:
        """Compare the bytes of some stored tables, or of all, with their checksums."""
        for name in names or self._files:
            self._files[name].verify()

    @property
    def has_corpus(self) -> bool:
        """Whether it has dialogues of its own."""
        return bool(self._facts.corpus) if self.stored else self._corpus is not None

    def dialogues(self) -> Iterator[Dialogue]:
        """The dialogues of the run's corpus, one at a time; none where it has no corpus."""
        if self.stored:
            try:
                yield from decode_corpus(self.table(DIALOGUES), self.table(TURNS))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError) as error:
                what = f"holds something that is not a dialogue ({reason(error)})"
                raise self._files[TURNS].damage(what) from error
        elif isinstance(self._corpus, SharedCorpus):
            yield from self._corpus.dialogues
        else:
            yield from self._corpus() if callable(self._corpus) else self._corpus or ()

    @cached_property
    def _encoded(self) -> EncodedCorpus:
        if isinstance(self._corpus, SharedCorpus):
            return self._corpus.encoded
        return encode_corpus(self._corpus if isinstance(self._corpus, Sequence) else self.dialogues())

    def encoded_corpus(self) -> EncodedCorpus | None:
        """The dialogues as a store keeps them; None where the run has no corpus."""
        return self._encoded if self.has_corpus else None

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
    return Run(facts, {DIALOGUE_SCORES: dialogue_scores or Pieces(result.frames), **frames}, corpus, inputs)


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
    return Run(manifest, frames, packed.corpus, manifest.inputs)
