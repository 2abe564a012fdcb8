"""Writing dialogues of one format in another, as a stream, and what was kept of them and what was not."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec import Struct, field

from dialgauge import formats
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError

_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz")


class Conversion(Struct, kw_only=True):
    """What was done: numbers, and by field how often it was kept; notes of the reader and of the writer."""

    source: str
    target: str
    target_format: str
    source_format: str = ""
    dialogues: int = 0
    turns: int = 0
    kept: Counter[str] = field(default_factory=Counter)
    reading: dict[str, int] = {}
    writing: dict[str, int] = {}


def convert(
    source: str | Path,
    target: str | Path,
    *,
    to: str,
    format: str | None = None,
    force: bool = False,
    limit: int = formats.DEFAULT_LIMIT,
    change: Callable[[Dialogue], Dialogue] = lambda dialogue: dialogue,
    advance: Callable[[int], None] = lambda dialogues: None,
) -> Conversion:
    """Write the dialogues of ``source`` to ``target`` in the format ``to``. The target appears whole or not at all.

    ``change`` makes of each dialogue what is written, such as the ``dialogue`` of a redactor.

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
    done = Conversion(source=os.fspath(source), target=str(path), target_format=to)
    corpus = formats.Corpus(source=done.source, format="", kind="")
    dialogues = formats.dialogues_of(corpus, format, limit)
    written = formats.write(_counted(map(change, dialogues), writer.fields, done, advance), path, format=to)
    done.source_format = corpus.format
    done.kept = Counter(dict(sorted(done.kept.items())))
    done.reading, done.writing = (dict(sorted(each.counts.items())) for each in (corpus.notes, written))
    return done


def _may_write(path: Path, force: bool) -> None:
    if path.name.endswith(_ARCHIVES):
        raise DialgaugeError(
            "archives are read but not written; name a plain file or one ending in .gz", file=str(path)
        )
    if path.is_dir():
        raise DialgaugeError("this is a folder; name the file to write", file=str(path))
    if path.exists() and not force and str(path) != formats.STANDARD_OUTPUT:
        raise DialgaugeError("the file exists; delete it, or name another one", file=str(path))


def _counted(
    dialogues: Iterable[Dialogue], written: frozenset[str], done: Conversion, advance: Callable[[int], None]
) -> Iterator[Dialogue]:
    """The dialogues on their way to the writer, with the fields that are kept of them counted."""
    of_dialogue, of_turn = (
        sorted(formats.ALL_FIELDS & written & set(kind.__struct_fields__)) for kind in (Dialogue, Turn)
    )
    for dialogue in dialogues:
        done.dialogues += 1
        done.turns += len(dialogue.turns)
        for record, names in ((dialogue, of_dialogue), *((turn, of_turn) for turn in dialogue.turns)):
            for name in names:
                if (value := getattr(record, name)) or isinstance(value, int):  # a place may be 0
                    done.kept[name] += 1
        yield dialogue
        advance(1)
