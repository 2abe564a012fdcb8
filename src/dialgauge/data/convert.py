"""Turning dialogues of one format into another, as a stream, and telling what was kept and what was not."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from dialgauge.data.check.coverage import id_hash
from dialgauge.data.original_ids import OriginalIds
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import stream, write
from dialgauge.formats.base import ALL_FIELDS, DialogueFormat, Notes
from dialgauge.formats.convlab3 import ORIGINAL_ID_DROPPED
from dialgauge.formats.corpus import STANDARD_OUTPUT
from dialgauge.formats.registry import writer_named
from dialgauge.formats.source import DEFAULT_LIMIT, Part

_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz")
_DIALOGUE_FIELDS = tuple(sorted(ALL_FIELDS & set(Dialogue.__struct_fields__)))
_TURN_FIELDS = tuple(sorted(ALL_FIELDS & set(Turn.__struct_fields__)))


class Conversion(Struct, frozen=True, kw_only=True):
    """What was done: numbers, and by field how often it was kept; notes of the reader and of the writer."""

    source: str
    source_format: str
    target: str
    target_format: str
    dialogues: int
    turns: int
    kept: dict[str, int]
    reading: dict[str, int]
    writing: dict[str, int]


def convert(
    source: str | Path,
    target: str | Path,
    *,
    to: str,
    format: str | None = None,
    force: bool = False,
    limit: int = DEFAULT_LIMIT,
    original_ids: str | Path | None = None,
    advance: Callable[[int], None] = lambda dialogues: None,
) -> Conversion:
    """Write the dialogues of ``source`` to ``target`` in the format ``to``. The target appears whole or not at all.

    ``original_ids`` names a ConvLab-3 data file whose ``original_id`` becomes the dialogues' id.
    """
    writer = writer_named(to)
    path = Path(target)
    _may_write(path, force)
    reading, counts = Notes(), _Counts(writer)
    found = stream(source, format=format, limit=limit, notes=reading)
    if original_ids is not None:
        found = OriginalIds(original_ids, limit=limit).renamed(found)
    written = write(counts.watch(_one_set(found), advance), path, format=to)
    if original_ids is not None:
        del reading.counts[ORIGINAL_ID_DROPPED]  # it was dropped by the reader, and came back as the id
    return Conversion(
        source=os.fspath(source),
        source_format=counts.format,
        target=str(path),
        target_format=to,
        dialogues=counts.dialogues,
        turns=counts.turns,
        kept=dict(sorted(counts.kept.items())),
        reading=dict(sorted(reading.counts.items())),
        writing=dict(sorted(written.counts.items())),
    )


def _may_write(path: Path, force: bool) -> None:
    if path.name.endswith(_ARCHIVES):
        raise DialgaugeError(
            "archives are read but not written; name a plain file or one ending in .gz", file=str(path)
        )
    if path.is_dir():
        raise DialgaugeError("this is a folder; name the file to write", file=str(path))
    if path.exists() and not force and str(path) != STANDARD_OUTPUT:
        raise DialgaugeError("the file exists; --force overwrites it", file=str(path))


def _one_set(
    found: Iterable[tuple[Part, DialogueFormat, Dialogue]],
) -> Iterator[tuple[DialogueFormat, Dialogue]]:
    """The dialogues, as long as all are in one format and no id comes twice: else they are not one set."""
    first: DialogueFormat | None = None
    seen: set[int] = set()
    for part, chosen, dialogue in found:
        first = first or chosen
        if chosen.name != first.name:
            raise DialgaugeError(
                f"it is in the format {chosen.name}, but files before it are in {first.name}; name the files of one of "
                "them with a pattern",
                file=part.name,
            )
        key = id_hash(dialogue.id)
        if key in seen:
            raise DialgaugeError(
                "this id was used before; ids must be unique (case and .json do not count)",
                file=part.name,
                dialogue=dialogue.id,
            )
        seen.add(key)
        yield chosen, dialogue


class _Counts:
    """Counts what passes on its way to the writer."""

    def __init__(self, writer: DialogueFormat) -> None:
        self.format = ""
        self.dialogues = self.turns = 0
        self.kept: Counter[str] = Counter()
        self._of_dialogue = [name for name in _DIALOGUE_FIELDS if name in writer.fields]
        self._of_turn = [name for name in _TURN_FIELDS if name in writer.fields]

    def watch(
        self, dialogues: Iterable[tuple[DialogueFormat, Dialogue]], advance: Callable[[int], None]
    ) -> Iterator[Dialogue]:
        for chosen, dialogue in dialogues:
            self.format = chosen.name
            self.dialogues += 1
            self.turns += len(dialogue.turns)
            self._count(dialogue, self._of_dialogue)
            for turn in dialogue.turns:
                self._count(turn, self._of_turn)
            yield dialogue
            advance(1)

    def _count(self, record: Dialogue | Turn, names: list[str]) -> None:
        for name in names:
            if getattr(record, name):
                self.kept[name] += 1
