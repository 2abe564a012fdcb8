"""Dialogues that are gone through several times: in memory or, where they are many, in a temporary file.

Memory is then bounded by what the scores need, as long as nobody keeps the dialogues that it is given.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import IO, Any, TypeVar, overload

import msgspec

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.files import writing

S = TypeVar("S")
T = TypeVar("T")

#: Bytes of native JSON that are held in memory; as records they take three to five times as much.
MOST_HELD = 48 << 20

#: The size of every so many dialogues is looked at, which tells that of the others.
_SAMPLED = 64
#: Bytes that are read at once.
_BLOCK = 1 << 20
_ENCODER = msgspec.json.Encoder()
_FIELDS = tuple(name for name in Turn.__struct_fields__ if name not in ("speaker", "text"))


def hold(dialogues: Iterable[Dialogue]) -> Sequence[Dialogue]:
    """All of some dialogues: a list, or a file of them where they would take more than :data:`MOST_HELD`."""
    held, rest = _first(dialogues)
    if rest is None:
        return held
    spooled = SpooledDialogues(held)
    held.clear()
    spooled.extend(rest)
    return spooled


def _first(items: Iterable[S]) -> tuple[list[S], Iterator[S] | None]:
    """Items up to the limit, and the others where there are any."""
    held: list[S] = []
    sampled = 0
    rest = iter(items)
    for item in rest:
        if not len(held) % _SAMPLED:
            sampled += len(_ENCODER.encode(item))
        held.append(item)
        if sampled * len(held) > MOST_HELD * -(-len(held) // _SAMPLED):
            return held, rest
    return held, None


class Spool(Sequence[T]):
    """Records whose JSON lies in a temporary file, which is gone with them.

    They are decoded each time they are asked for: what is asked for twice is equal, but not the same object.
    """

    def __init__(self, kind: Any) -> None:
        import tempfile  # few inputs are so large

        self._folder = Path(tempfile.gettempdir())
        with writing(self._folder):
            self._file: IO[bytes] = tempfile.TemporaryFile(prefix="dialgauge-")  # noqa: SIM115 (closed when collected)
        self._decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(kind)
        #: Where each record ends.
        self._ends = array("Q")

    def extend(self, records: Iterable[T]) -> None:
        """More records at the end."""
        end = self._ends[-1] if self._ends else 0
        for record in records:
            content = _ENCODER.encode(record)
            with writing(self._folder):
                self._file.write(content)
            end += len(content)
            self._ends.append(end)
        with writing(self._folder):
            self._file.flush()

    def __len__(self) -> int:
        return len(self._ends)

    def __iter__(self) -> Iterator[T]:
        begin = index = 0
        while index < len(self._ends):
            stop = index + 1
            while stop < len(self._ends) and self._ends[stop] - begin <= _BLOCK:
                stop += 1
            block = memoryview(self._read(begin, self._ends[stop - 1]))
            start = begin
            for end in self._ends[index:stop]:
                yield self._decoder.decode(block[start - begin : end - begin])
                start = end
            begin, index = start, stop

    @overload
    def __getitem__(self, which: int) -> T: ...
    @overload
    def __getitem__(self, which: slice) -> list[T]: ...
    def __getitem__(self, which: int | slice) -> T | list[T]:
        if isinstance(which, slice):
            return [self[index] for index in range(len(self))[which]]
        index = range(len(self))[which]
        return self._decoder.decode(self._read(self._ends[index - 1] if index else 0, self._ends[index]))

    def _read(self, start: int, end: int) -> bytes:
        if hasattr(os, "pread"):  # several threads may read at once
            return os.pread(self._file.fileno(), end - start, start)
        self._file.seek(start)
        return self._file.read(end - start)

    def __repr__(self) -> str:
        return f"<{len(self):,} records in a temporary file>"

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


class SpooledDialogues(Spool[Dialogue]):
    """Dialogues in a temporary file, and what is known of all of them."""

    def __init__(self, dialogues: Iterable[Dialogue] = ()) -> None:
        super().__init__(Dialogue)
        #: What any turn has, of that which it may have beside its text.
        self.fields: set[str] = set()
        self.user_turns = 0
        self.extend(dialogues)

    def extend(self, records: Iterable[Dialogue]) -> None:
        """More dialogues at the end."""
        super().extend(map(self._noted, records))

    def _noted(self, dialogue: Dialogue) -> Dialogue:
        for turn in dialogue.turns:
            self.user_turns += turn.speaker == "user"
            self.fields.update(name for name in _FIELDS if getattr(turn, name) is not None)
        return dialogue


def carries(dialogues: Iterable[Dialogue], field: str) -> bool:
    """Does any turn have something in a field, such as a predicted state?"""
    if isinstance(dialogues, SpooledDialogues):
        return field in dialogues.fields
    recorded = attrgetter(field)
    return any(
        list(map(recorded, turns)).count(None) < len(turns) for turns in (dialogue.turns for dialogue in dialogues)
    )


def user_turns(dialogues: Iterable[Dialogue]) -> int:
    """How many turns of users there are."""
    if isinstance(dialogues, SpooledDialogues):
        return dialogues.user_turns
    return sum([turn.speaker for turn in dialogue.turns].count("user") for dialogue in dialogues)
