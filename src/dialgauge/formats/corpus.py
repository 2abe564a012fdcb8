"""Reading a whole source, and writing one: the face of the formats for the rest of dialgauge."""

from __future__ import annotations

import gc
import gzip
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from dialgauge.dialogue import Dialogue, Ontology, SlotSpec, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic
from dialgauge.formats.base import ALL_FIELDS, AnyFormat, DialogueFormat, Notes, Resource, ResourceFormat
from dialgauge.formats.document import is_document
from dialgauge.formats.registry import format_named, recognise, writer_named
from dialgauge.formats.source import DEFAULT_LIMIT, Part, resolve

#: As the name of a file to write.
STANDARD_OUTPUT = "-"


@dataclass
class Corpus:
    """What a source held: dialogues in file order, the format they were in, resources beside them, and notes."""

    format: str
    kind: str
    dialogues: list[Dialogue] = field(default_factory=list)
    resources: list[Resource] = field(default_factory=list)
    notes: Notes = field(default_factory=Notes)
    files: list[str] = field(default_factory=list)


@contextmanager
def bulk_load() -> Iterator[None]:
    """Pause the garbage collector: creating many records is then 2.5 to 7 times as fast, and none is garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def stream(
    source: str | Path, *, format: str | None = None, limit: int = DEFAULT_LIMIT, notes: Notes | None = None
) -> Iterator[tuple[Part, DialogueFormat, Dialogue]]:
    """The dialogues of a source one by one, each with its file and format. Files that hold no dialogues are passed over
    unless they are all there is. Ids are not checked for duplicates."""
    counted = notes if notes is not None else Notes()
    found = False
    for part, chosen in _chosen(source, format, limit):
        if isinstance(chosen, DialogueFormat):
            found = True
            for dialogue in chosen.read(part, counted):
                yield part, chosen, dialogue
    if not found:
        raise DialgaugeError("it holds no dialogues or predictions", file=os.fspath(source))


def read(source: str | Path, *, format: str | None = None, limit: int = DEFAULT_LIMIT) -> Corpus:
    """All of a source: dialogues and what lies beside them.

    The format is recognised from the content unless named; dialogues of two formats in one source, or two dialogues of
    one id, are errors.
    """
    corpus = Corpus(format="", kind="")
    seen: dict[str, str] = {}
    with bulk_load():
        for part, chosen in _chosen(source, format, limit):
            corpus.files.append(part.name)
            if isinstance(chosen, ResourceFormat):
                corpus.resources.append(chosen.load(part, corpus.notes))
                continue
            if corpus.format not in ("", chosen.name):
                raise DialgaugeError(
                    f"it is in the format {chosen.name}, but files before it are in {corpus.format}; "
                    "name the files of one of them with a pattern",
                    file=part.name,
                )
            corpus.format, corpus.kind = chosen.name, chosen.kind
            for dialogue in chosen.read(part, corpus.notes):
                key = dialogue_key(dialogue.id)
                if key in seen:
                    raise DialgaugeError(
                        f"this id was already used in {seen[key]}; ids must be unique (case and .json do not count)",
                        file=part.name,
                        dialogue=dialogue.id,
                    )
                seen[key] = part.name
                corpus.dialogues.append(dialogue)
    if not corpus.dialogues:
        raise DialgaugeError("it holds no dialogues or predictions", file=os.fspath(source))
    return corpus


def read_ontology(source: str | Path, *, format: str | None = None, limit: int = DEFAULT_LIMIT) -> Ontology:
    """The ontology of a source (a MultiWOZ ontology, an SGD schema, or a folder that holds them), merged in order."""
    notes = Notes()
    domains: dict[str, dict[str, SlotSpec]] = {}
    intents: dict[str, tuple[str, ...]] = {}
    for part, chosen in _chosen(source, format, limit):
        found = chosen.load(part, notes).ontology if isinstance(chosen, ResourceFormat) else None
        if found is not None:
            for domain, slots in found.domains.items():
                domains.setdefault(domain, {}).update(slots)
            intents.update(found.intents)
    if not domains:
        raise DialgaugeError("it holds no ontology (slots and their values)", file=os.fspath(source))
    return Ontology(domains=domains, intents=intents)


def _chosen(source: str | Path, format: str | None, limit: int) -> Iterator[tuple[Part, AnyFormat]]:
    """Each part and its format; a named format does not hold for documents (README, ...) beside the data."""
    named = format_named(format) if format else None
    parts = resolve(source, limit=limit)
    for part in parts:
        if named is None or (len(parts) > 1 and is_document(part.stem)):
            yield part, recognise(part)
        else:
            yield part, named


def write(dialogues: Iterable[Dialogue], target: str | Path, *, format: str) -> Notes:
    """Write dialogues to a file (gzipped when its name ends in ``.gz``), atomically; the notes say what was dropped.

    The target ``-`` is standard output, which gets everything or, when something is wrong, nothing.
    """
    writer = writer_named(format)
    path, notes = Path(target), Notes()
    wanted = _noting(dialogues, writer.fields, notes)
    if str(path) == STANDARD_OUTPUT:
        with tempfile.TemporaryFile() as whole:
            writer.write(wanted, whole, notes)
            whole.seek(0)
            shutil.copyfileobj(whole, sys.stdout.buffer)
        return notes
    with atomic(path) as scratch, scratch.open("wb") as plain, _packed(plain, path) as out:
        writer.write(wanted, out, notes)
    return notes


@contextmanager
def _packed(plain: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    if path.suffix != ".gz":
        yield plain
        return
    # Neither a name nor a time in the header: the same dialogues make the same bytes.
    with gzip.GzipFile("", "wb", fileobj=plain, mtime=0) as packed:
        yield cast(IO[bytes], packed)


def _noting(dialogues: Iterable[Dialogue], kept: frozenset[str], notes: Notes) -> Iterator[Dialogue]:
    """Count what the format has no place for; an empty container was recorded too, an empty text was not."""
    lost = ALL_FIELDS - kept
    of_dialogue, of_turn = sorted(lost & {"goal", "domains", "outcome"}), sorted(lost - {"goal", "domains", "outcome"})
    for dialogue in dialogues:
        for name in of_dialogue:
            notes.add(f"field {name} dropped", int(bool(getattr(dialogue, name))))
        for turn in dialogue.turns:
            for name in of_turn:
                notes.add(f"field {name} dropped", int(getattr(turn, name) not in (None, "")))
        yield dialogue
