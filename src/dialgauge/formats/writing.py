"""Writing dialogues to a file or to standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from dialgauge.dialogue import Dialogue
from dialgauge.files import atomic, writing
from dialgauge.formats.base import ALL_FIELDS
from dialgauge.formats.notes import Notes
from dialgauge.formats.registry import writer_named

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
