"""Dialogues that are gone through several times: in memory or, where they are many, in a temporary file.

Memory is then bounded by what the scores need, as long as nobody keeps the dialogues that it is given.
"""

from __future__ import annotations

import os
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, overload

import msgspec

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.files import writing

#: Bytes of native JSON that are held in memory; as records they take three to five times as much.
MOST_HELD = 48 << 20

#: Every 64th dialogue is measured to estimate the size of all.
_SAMPLED = 64
#: Bytes that are read at once.
_BLOCK = 1 << 20
_ENCODER = msgspec.json.Encoder()
_FIELDS = tuple(name for name in Turn.__struct_fields__ if name not in ("speaker", "text"))


def hold(dialogues: Iterable[Dialogue]) -> Sequence[Dialogue]:
    """All of some dialogues: a list, or a file of them where they would take more than :data:`MOST_HELD`."""
    held: list[Dialogue] = []
    sampled = 0
    rest = iter(dialogues)
    for dialogue in rest:
        if not len(held) % _SAMPLED:
            sampled += len(_ENCODER.encode(dialogue))
        held.append(dialogue)
        if sampled * len(held) > MOST_HELD * -(-len(held) // _SAMPLED):
            spooled = SpooledDialogues(held)
            held.clear()
            spooled.extend(rest)
            return spooled
    return held


class SpooledDialogues(Sequence[Dialogue]):
    """Dialogues as JSON in a temporary file, which is gone with them.

    They are decoded each time they are asked for: what is asked for twice is equal, but not the same object.
    """

    def __init__(self, dialogues: Iterable[Dialogue] = ()) -> None:
        self._folder = Path(tempfile.gettempdir())
        with writing(self._folder):
            self._file: IO[bytes] = tempfile.TemporaryFile(prefix="dialgauge-")  # noqa: SIM115 (closed when collected)
        self._decoder = msgspec.json.Decoder(Dialogue)
        #: Where each dialogue ends.
        self._ends = array("Q")
        #: What any turn has, of that which it may have beside its text.
        self.fields: set[str] = set()
        self.user_turns = 0
        self.extend(dialogues)

    def extend(self, dialogues: Iterable[Dialogue]) -> None:
        """More dialogues at the end."""
        end = self._ends[-1] if self._ends else 0
        for dialogue in dialogues:
            for turn in dialogue.turns:
                self.user_turns += turn.speaker == "user"
                self.fields.update(name for name in _FIELDS if getattr(turn, name) is not None)
            content = _ENCODER.encode(dialogue)
            with writing(self._folder):
                self._file.write(content)
            end += len(content)
            self._ends.append(end)
        with writing(self._folder):
            self._file.flush()

    def __len__(self) -> int:
        return len(self._ends)

    def __iter__(self) -> Iterator[Dialogue]:
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
    def __getitem__(self, which: int) -> Dialogue: ...
    @overload
    def __getitem__(self, which: slice) -> list[Dialogue]: ...
    def __getitem__(self, which: int | slice) -> Dialogue | list[Dialogue]:
        if isinstance(which, slice):
            return [self[index] for index in range(len(self))[which]]
        index = range(len(self))[which]
        return self._decoder.decode(self._read(self._ends[index - 1] if index else 0, self._ends[index]))

    def _read(self, start: int, end: int) -> bytes:
        return os.pread(self._file.fileno(), end - start, start)  # several threads may read at once

    def __repr__(self) -> str:
        return f"<{len(self):,} dialogues in a temporary file>"

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def carries(dialogues: Iterable[Dialogue], field: str) -> bool:
    """Does any turn have something in a field, such as a predicted state?"""
    if isinstance(dialogues, SpooledDialogues):
        return field in dialogues.fields
    return any(getattr(turn, field) is not None for dialogue in dialogues for turn in dialogue.turns)


def user_turns(dialogues: Iterable[Dialogue]) -> int:
    """How many turns of users there are."""
    if isinstance(dialogues, SpooledDialogues):
        return dialogues.user_turns
    return sum(turn.speaker == "user" for dialogue in dialogues for turn in dialogue.turns)
