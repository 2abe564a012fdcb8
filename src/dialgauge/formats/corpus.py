"""Reading a whole source and writing dialogues: the face of the formats for the rest of dialgauge."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast, overload

import msgspec
from msgspec import Struct, field

from dialgauge.dialogue import Dialogue, Ontology, SlotSpec, dialogue_key
from dialgauge.errors import DialgaugeError, missing_extra, nearest
from dialgauge.files import atomic, writing
from dialgauge.formats.base import ALL_FIELDS, AnyFormat, DialogueFormat, Resource, ResourceFormat
from dialgauge.formats.held import hold
from dialgauge.formats.notes import Notes
from dialgauge.formats.packed import DEFAULT_LIMIT
from dialgauge.formats.registry import format_named, recognise, writer_named
from dialgauge.formats.source import Part, is_document, resolve
from dialgauge.text import counted

if TYPE_CHECKING:
    from typing import TypeAlias

    import pandas
    import polars

    from dialgauge.formats.mapping import Mapping as FieldMapping, RecordReader
    from dialgauge.formats.tables import AnyFrame

    #: A format by name, the YAML file of a mapping, a mapping, or a function from a record to a dialogue.
    HowToRead: TypeAlias = str | FieldMapping | RecordReader | None

#: Beyond this many dialogues a misspelt id gets no suggestion.
_MOST_SEARCHED = 20_000
_PASSED_OVER = "files passed over, which hold no dialogues or predictions"


class Corpus(Struct, kw_only=True, dict=True):
    """What a source held: dialogues in file order, the format they were in, resources beside them, and notes.

    >>> corpus = Corpus(source="test.json", format="multiwoz", kind="dialogues", dialogues=[Dialogue(id="A", turns=())])
    >>> corpus
    Corpus('test.json', multiwoz, 1 dialogue)
    >>> len(corpus), corpus[0], corpus["a.json"], [dialogue.id for dialogue in corpus]
    (1, Dialogue('A', 0 turns), Dialogue('A', 0 turns), ['A'])
    """

    format: str
    kind: str
    source: str = ""
    dialogues: Sequence[Dialogue] = []
    resources: list[Resource] = []
    notes: Notes = field(default_factory=Notes)
    files: list[str] = []
    #: What dialogues of the format can carry.
    fields: frozenset[str] = ALL_FIELDS

    def __repr__(self) -> str:
        beside = [counted(len(self.resources), "resource")] if self.resources else []
        name = Path(self.source).name or self.source
        facts = [repr(name), self.format, counted(len(self.dialogues), "dialogue"), *beside]
        return f"Corpus({', '.join(filter(None, facts))})"

    def __len__(self) -> int:
        return len(self.dialogues)

    def __iter__(self) -> Iterator[Dialogue]:
        return iter(self.dialogues)

    def __contains__(self, dialogue: object) -> bool:
        """Is there a dialogue of this id?"""
        return dialogue_key(dialogue) in self._by_id if isinstance(dialogue, str) else dialogue in self.dialogues

    @overload
    def __getitem__(self, which: int | str) -> Dialogue: ...
    @overload
    def __getitem__(self, which: slice) -> Sequence[Dialogue]: ...
    def __getitem__(self, which: int | str | slice) -> Dialogue | Sequence[Dialogue]:
        """A dialogue by its position or its id (case and ``.json`` do not count), or several by their positions."""
        if not isinstance(which, str):
            return self.dialogues[which]
        position = self._by_id.get(dialogue_key(which))
        if position is None:
            known = [dialogue.id for dialogue in self.dialogues]
            hint = nearest(which, known) if len(known) <= _MOST_SEARCHED else ""
            raise DialgaugeError(f"there is no dialogue '{which}'.{hint}", file=self.source or None)
        return self.dialogues[position]

    def to_polars(self) -> polars.DataFrame:
        """The dialogues as a frame of polars, a row per turn; :func:`dialgauge.read` reads it back."""
        from dialgauge.formats.tables import frame_of

        return frame_of(self.dialogues)

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a frame of pandas (extra ``pandas``)."""
        try:
            return self.to_polars().to_pandas()
        except ModuleNotFoundError as error:
            raise missing_extra("pandas", "pandas", "a pandas frame") from error

    def _repr_html_(self) -> str:
        report = import_module("dialgauge.report")  # by name: that room stands above
        html: str = report.notebook_html(report.corpus_summary(self))
        return html

    @cached_property
    def _by_id(self) -> dict[str, int]:
        return {dialogue_key(dialogue.id): position for position, dialogue in enumerate(self.dialogues)}


def stream(
    source: str | Path, *, format: HowToRead = None, limit: int = DEFAULT_LIMIT, notes: Notes | None = None
) -> Iterator[tuple[Part, DialogueFormat, Dialogue]]:
    """The dialogues of a source one by one, each with its file and format. Files that hold no dialogues are passed over
    unless they are all there is. Ids are not checked for duplicates."""
    noted = notes if notes is not None else Notes()
    any_dialogues = False
    for chosen, parts in _by_format(source, format, limit):
        if isinstance(chosen, DialogueFormat):
            any_dialogues = True
            for part, dialogue in chosen.read_parts(parts, noted):
                yield part, chosen, dialogue
    if not any_dialogues:
        raise DialgaugeError("it holds no dialogues or predictions", file=os.fspath(source))


def read(
    source: str | Path | Corpus | AnyFrame | Mapping[str, object] | Iterable[object],
    *,
    format: HowToRead = None,
    success: str = "",
    limit: int = DEFAULT_LIMIT,
) -> Corpus:
    """All of a source: dialogues and what lies beside them.

    A source is a file, folder, pattern, archive or address, a frame of polars or pandas or a Hugging Face dataset,
    predictions or records of a log in plain dictionaries and lists, or dialogues.
    ``format`` names a format or the YAML file of a mapping, or is a :class:`Mapping` or a function from a record to a
    dialogue; without it, a mapping beside the file or else the content tells. ``success`` names the field of a log that
    says whether a conversation passed. Dialogues of two formats in one source,
    or two dialogues of one id, are errors.

    >>> import dialgauge
    >>> corpus = dialgauge.read({"d1": [{"hotel-area": "north"}, {"hotel-area": "east"}]})
    >>> len(corpus), corpus["d1"].turns[-1].predicted
    (1, {'hotel': {'area': ('east',)}})
    """
    if not isinstance(source, str | Path):
        corpus, seen = in_memory(source, format, success), dict[str, str]()
        for dialogue in corpus.dialogues:
            _require_new(dialogue, corpus.source, seen)
        return corpus
    corpus = Corpus(source=os.fspath(source), format="", kind="")
    corpus.notes.verdict = success
    corpus.dialogues = hold(dialogues_of(corpus, format, limit))
    return corpus


def dialogues_of(corpus: Corpus, format: HowToRead, limit: int) -> Iterator[Dialogue]:
    """The dialogues of a corpus from its source, of one format and with different ids; what lies beside is added."""
    seen: dict[str, str] = {}
    for chosen, parts in _by_format(corpus.source, format, limit):
        corpus.files += [part.name for part in parts]
        if isinstance(chosen, ResourceFormat):
            corpus.resources += [chosen.load(part, corpus.notes) for part in parts]
            for part in parts:
                if chosen.name == "document" and not is_document(part.stem):
                    corpus.notes.add_at(_PASSED_OVER, 1, part.name)
            continue
        if corpus.format not in ("", chosen.name):
            raise DialgaugeError(
                f"it is in the format {chosen.name}, but files before it are in {corpus.format}; "
                "name the files of one of them with a pattern",
                file=parts[0].name,
            )
        corpus.format, corpus.kind, corpus.fields = chosen.name, chosen.kind, chosen.fields
        for part, dialogue in chosen.read_parts(parts, corpus.notes):
            _require_new(dialogue, part.name, seen)
            yield dialogue
    if not seen:
        name = Path(corpus.source).name
        hint = (
            f"; a file called {name} is taken for a document: call it .csv, .json or .txt" if is_document(name) else ""
        )
        raise DialgaugeError(f"it holds no dialogues or predictions{hint}", file=corpus.source)


def in_memory(source: object, format: HowToRead = None, success: str = "") -> Corpus:
    """What is in memory as a corpus: frames, plain dictionaries and lists, or dialogues, whose ids are not checked."""
    from dialgauge.formats.tables import frame_table, is_frame, read_tables, with_empty_cells

    if isinstance(source, Corpus):
        return source
    if is_frame(source):
        table = frame_table(source)
        if format is not None or not table.has_dialogues:
            return _as_file(list(map(with_empty_cells, table.rows)), table.name, format, success)
        corpus = Corpus(source=table.name, format="table", kind="dialogues")
        corpus.dialogues = [dialogue for _, dialogue in read_tables([table], corpus.notes)]
        if not corpus.dialogues:
            raise DialgaugeError("it holds no dialogues or predictions", file=corpus.source)
        return corpus
    held = list(source) if isinstance(source, Iterable) and not isinstance(source, Mapping | tuple) else source
    if isinstance(held, list | tuple) and held and all(isinstance(each, Dialogue) for each in held):
        return Corpus(source=f"the {type(source).__name__}", format="", kind="", dialogues=held)
    if not isinstance(held, Mapping | list | tuple):
        raise DialgaugeError(
            f"something of type {type(held).__name__} cannot be read: give a file, a frame of polars or pandas, a "
            "Hugging Face dataset, dialogues, or predictions in dictionaries and lists"
        )
    return _as_file(held, f"the {type(held).__name__}", format, success)


def _as_file(source: object, name: str, format: HowToRead, success: str) -> Corpus:
    """What a file of the same content holds."""
    try:
        content = msgspec.json.encode(source, enc_hook=_of_numpy)
    except (TypeError, ValueError, RecursionError) as error:
        raise DialgaugeError(f"it holds what JSON cannot express ({error})", file=name) from error
    part = Part(name, lambda: io.BytesIO(content), DEFAULT_LIMIT)
    chosen = _asked(format) or recognise(part)
    if not isinstance(chosen, DialogueFormat):
        raise DialgaugeError("it holds no dialogues or predictions", file=name)
    corpus = Corpus(source=name, format=chosen.name, kind=chosen.kind, fields=chosen.fields)
    corpus.notes.verdict = success
    corpus.dialogues = [dialogue for _, dialogue in chosen.read_parts([part], corpus.notes)]
    return corpus


def _of_numpy(value: Any) -> Any:
    """A number or an array of NumPy as plain Python; what frames put in place of null is null."""
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if type(value).__module__ != "numpy":
        raise TypeError(f"something of type {type(value).__name__}")
    return value.tolist()


def _require_new(dialogue: Dialogue, file: str, seen: dict[str, str]) -> None:
    """Remember an id; one that was seen before is an error."""
    key = dialogue_key(dialogue.id)
    if key in seen:
        raise DialgaugeError(
            f"this id was already used in {seen[key]}; ids must be unique (case and .json are ignored)",
            file=file,
            dialogue=dialogue.id,
        )
    seen[key] = file


def read_ontology(source: str | Path, *, format: str | None = None, limit: int = DEFAULT_LIMIT) -> Ontology:
    """The ontology of a source (a MultiWOZ ontology, an SGD schema, or a folder that holds them), merged in order."""
    notes = Notes()
    domains: dict[str, dict[str, SlotSpec]] = {}
    intents: dict[str, tuple[str, ...]] = {}
    for part, chosen in _chosen(source, format, limit):
        ontology = chosen.load(part, notes).ontology if isinstance(chosen, ResourceFormat) else None
        if ontology is not None:
            for domain, slots in ontology.domains.items():
                domains.setdefault(domain, {}).update(slots)
            intents.update(ontology.intents)
    if not domains:
        raise DialgaugeError("it holds no ontology (slots and their values)", file=os.fspath(source))
    return Ontology(domains=domains, intents=intents)


def _asked(format: HowToRead) -> AnyFormat | None:
    """The format that was asked for."""
    if format is None or isinstance(format, str):
        return format_named(format) if format else None
    from dialgauge.formats.mapping import MappedFormat, Mapping as FieldMapping, RecordFormat

    return MappedFormat(format) if isinstance(format, FieldMapping) else RecordFormat(format)


def _chosen(source: str | Path, format: HowToRead, limit: int) -> list[tuple[Part, AnyFormat]]:
    """Each part and its format; a named format does not hold for documents (README, ...) beside the data."""
    named = _asked(format)
    parts = resolve(source, limit=limit)
    beside = len(parts) > 1
    return [
        (part, recognise(part) if named is None or (beside and is_document(part.stem)) else named) for part in parts
    ]


def _by_format(source: str | Path, format: HowToRead, limit: int) -> Iterator[tuple[AnyFormat, list[Part]]]:
    """Each part and its format, those that follow each other together where a dialogue may go on in the next one."""

    def key(pair: tuple[Part, AnyFormat]) -> tuple[str, str]:
        part, chosen = pair
        return chosen.name, "" if isinstance(chosen, DialogueFormat) and chosen.spans_files else part.name

    for _, group in groupby(_chosen(source, format, limit), key=key):
        held = list(group)
        yield held[0][1], [part for part, _ in held]


# -- writing ---------------------------------------------------------------------------------------------------------

#: As the name of a file to write.
STANDARD_OUTPUT = "-"
_OF_DIALOGUE = frozenset(Dialogue.__struct_fields__)


def write(dialogues: Iterable[Dialogue], target: str | Path, *, format: str) -> Notes:
    """Write dialogues to a file (gzipped when its name ends in ``.gz``), atomically; the notes say what was dropped.

    The target ``-`` is standard output, which gets everything or, when something is wrong, nothing.

    >>> import dialgauge
    >>> hello = dialgauge.Dialogue(id="d1", turns=(dialgauge.Turn(speaker="user", text="hello"),))
    >>> notes = dialgauge.write([hello], "hello.jsonl", format="native")
    >>> dialgauge.read("hello.jsonl")[0].turns[0].text
    'hello'
    """
    writer = writer_named(format)
    path, notes = Path(target), Notes()
    noted = _noting(dialogues, writer.fields, notes)
    if str(path) == STANDARD_OUTPUT:
        import shutil
        import tempfile

        with tempfile.TemporaryFile() as whole:
            with writing(Path(tempfile.gettempdir())):
                writer.write(noted, whole, notes)
                whole.flush()
            whole.seek(0)
            shutil.copyfileobj(whole, sys.stdout.buffer)
        return notes
    with atomic(path) as scratch, scratch.open("wb") as plain, _packed(plain, path) as out:
        writer.write(noted, out, notes)
    return notes


@contextmanager
def _packed(plain: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    if path.suffix != ".gz":
        yield plain
        return
    import gzip

    # Neither a name nor a time in the header: the same dialogues make the same bytes.
    with gzip.GzipFile("", "wb", fileobj=plain, mtime=0) as packed:
        yield cast(IO[bytes], packed)


def _noting(dialogues: Iterable[Dialogue], kept: frozenset[str], notes: Notes) -> Iterator[Dialogue]:
    """Count what the format has no place for; an empty container was recorded too, an empty text was not."""
    lost = ALL_FIELDS - kept
    of_dialogue, of_turn = sorted(lost & _OF_DIALOGUE), sorted(lost - _OF_DIALOGUE)
    for dialogue in dialogues:
        for name in of_dialogue:
            notes.add(f"field {name} dropped", int(bool(getattr(dialogue, name))))
        for turn in dialogue.turns:
            for name in of_turn:
                notes.add(f"field {name} dropped", int(getattr(turn, name) not in (None, "")))
        yield dialogue
