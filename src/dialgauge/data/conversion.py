"""Writing dialogues of one format in another, as a stream, and what was kept of them and what was not."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec import Struct, structs

from dialgauge import formats
from dialgauge.dialogue import Dialogue, Turn, dialogue_key
from dialgauge.errors import DialgaugeError

_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz")
_DIALOGUE_FIELDS = tuple(sorted(formats.ALL_FIELDS & set(Dialogue.__struct_fields__)))
_TURN_FIELDS = tuple(sorted(formats.ALL_FIELDS & set(Turn.__struct_fields__)))


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
    limit: int = formats.DEFAULT_LIMIT,
    original_ids: str | Path | None = None,
    change: Callable[[Dialogue], Dialogue] = lambda dialogue: dialogue,
    advance: Callable[[int], None] = lambda dialogues: None,
) -> Conversion:
    """Write the dialogues of ``source`` to ``target`` in the format ``to``. The target appears whole or not at all.

    ``original_ids`` names a ConvLab-3 data file whose ``original_id`` becomes the dialogues' id; ``change`` makes of
    each dialogue what is written, such as the ``dialogue`` of a redactor.

    >>> import dialgauge
    >>> dialogues = dialgauge.simulate(dialgauge.load_world(), task=1, count=2)
    >>> notes = dialgauge.write(dialogues, "made.jsonl", format="native")
    >>> made = dialgauge.convert("made.jsonl", "made.txt", to="babi")
    >>> made.dialogues, made.source_format
    (2, 'native')
    """
    writer = formats.writer_named(to)
    path = Path(target)
    _may_write(path, force)
    reading, counts = formats.Notes(), _Counts(writer)
    dialogues = formats.stream(source, format=format, limit=limit, notes=reading)
    if original_ids is not None:
        dialogues = OriginalIds(original_ids, limit=limit).renamed(dialogues)
    changed = ((chosen, change(dialogue)) for chosen, dialogue in _one_set(dialogues))
    written = formats.write(counts.watch(changed, advance), path, format=to)
    if original_ids is not None:
        del reading.counts[formats.ORIGINAL_ID_DROPPED]  # it was dropped by the reader, and came back as the id
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
    if path.exists() and not force and str(path) != formats.STANDARD_OUTPUT:
        raise DialgaugeError("the file exists; --force overwrites it", file=str(path))


def _one_set(
    dialogues: Iterable[tuple[formats.Part, formats.DialogueFormat, Dialogue]],
) -> Iterator[tuple[formats.DialogueFormat, Dialogue]]:
    """The dialogues, as long as all are in one format and no id comes twice: else they are not one set."""
    first: formats.DialogueFormat | None = None
    seen: set[str] = set()
    for part, chosen, dialogue in dialogues:
        first = first or chosen
        if chosen.name != first.name:
            raise DialgaugeError(
                f"it is in the format {chosen.name}, but files before it are in {first.name}; name the files of one of "
                "them with a pattern",
                file=part.name,
            )
        key = dialogue_key(dialogue.id)
        if key in seen:
            raise DialgaugeError(
                "this id was used before; ids must be unique (case and .json are ignored)",
                file=part.name,
                dialogue=dialogue.id,
            )
        seen.add(key)
        yield chosen, dialogue


class _Counts:
    """Counts what passes on its way to the writer."""

    def __init__(self, writer: formats.DialogueFormat) -> None:
        self.format = ""
        self.dialogues = self.turns = 0
        self.kept: Counter[str] = Counter()
        self._of_dialogue = [name for name in _DIALOGUE_FIELDS if name in writer.fields]
        self._of_turn = [name for name in _TURN_FIELDS if name in writer.fields]

    def watch(
        self, dialogues: Iterable[tuple[formats.DialogueFormat, Dialogue]], advance: Callable[[int], None]
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
            if (value := getattr(record, name)) or isinstance(value, int):  # a place may be 0
                self.kept[name] += 1


class _Named(Struct, gc=False):
    dialogue_id: str
    original_id: str


_FILE = formats.Listed(_Named)


_CONVLAB3 = ("convlab3", "convlab3-predictions")


class OriginalIds:
    """The ``original_id`` of every dialogue in a ConvLab-3 data file (or the folder or archive that holds it).

    Unified data calls a dialogue ``multiwoz21-test-0`` and notes that it was ``PMUL4648.json``; predictions have the
    unified id alone. The data file therefore gives the names under which both meet files of the original dataset.
    """

    def __init__(self, source: str | Path, *, limit: int = formats.DEFAULT_LIMIT) -> None:
        self._source = os.fspath(source)
        self._names: dict[str, str] = {}
        for part in formats.resolve(source, limit=limit):
            if not formats.is_document(part.stem) and formats.recognise(part).name in _CONVLAB3:
                rows = _FILE.read(part, formats.Notes())
                self._names |= {row.dialogue_id: row.original_id for row in rows}
        if not self._names:
            raise DialgaugeError("it holds no dialogues in ConvLab-3's unified format", file=self._source)

    def renamed(
        self, dialogues: Iterable[tuple[formats.Part, formats.DialogueFormat, Dialogue]]
    ) -> Iterator[tuple[formats.Part, formats.DialogueFormat, Dialogue]]:
        """The dialogues under their original ids; one the data file does not know is an error."""
        for part, chosen, dialogue in dialogues:
            name = self._names.get(dialogue.id)
            if name is None:
                raise DialgaugeError(
                    f"{self._source} has no dialogue with this id", file=part.name, dialogue=dialogue.id
                )
            yield part, chosen, structs.replace(dialogue, id=name)
