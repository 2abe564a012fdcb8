"""Transcripts: one dialogue turn by turn, as every output shows it.

What a kind of run knows about a turn stands around the words as tables: tool calls before them, states or acts beside
them. So a new kind of run needs no template of its own, and two runs of any kind can be laid side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TypeAlias

from msgspec import Struct

from dialgauge.report.table import Table, Tone, Value

#: One row of two transcripts side by side; None where that side has no such turn.
TurnPair: TypeAlias = "tuple[Turn | None, Turn | None]"


class Mark(Struct, frozen=True):
    """A short remark with a tone: ``passed``, ``message 18 decides``."""

    text: str
    tone: Tone = "plain"


class Turn(Struct, frozen=True, kw_only=True):
    """One turn. ``number`` is its position in the dialogue, from 0; ``source`` names the log's messages it shows.

    Messages are counted from 0 over both speakers, everywhere; a call and the words that follow it are one turn.
    """

    number: int
    speaker: str
    text: str
    marks: Sequence[Mark] = ()
    before: Sequence[Table] = ()
    beside: Sequence[Table] = ()
    source: str = ""

    @property
    def message(self) -> str:
        """The number that readers see: of the log's messages, or of the turn itself."""
        return self.source or str(self.number)

    @property
    def facts(self) -> list[list[Value]]:
        """The rows of all tables around the words."""
        return [*_rows(self.before), *_rows(self.beside)]

    def says_the_same(self, other: Turn) -> bool:
        """Whether the other turn has the same words after the same calls; what was made of them may differ."""
        return (self.speaker, self.text, _rows(self.before)) == (other.speaker, other.text, _rows(other.before))


class Transcript(Struct, frozen=True, kw_only=True):
    """A dialogue. ``tables`` are about all of it and come first; ``words`` are coloured wherever they are said."""

    run: str
    dialogue: str
    turns: Sequence[Turn]
    marks: Sequence[Mark] = ()
    tables: Mapping[str, Table] = {}
    words: Mapping[str, Tone] = {}


def side_by_side(first: Transcript, second: Transcript) -> list[TurnPair]:
    """The turns of two transcripts in pairs: equal words on one row, what lies between them row by row."""
    said, other_said = ([(turn.speaker, turn.text) for turn in each.turns] for each in (first, second))
    pairs: list[TurnPair] = []
    for _, start, end, other_start, other_end in SequenceMatcher(None, said, other_said, autojunk=False).get_opcodes():
        pairs += zip_longest(first.turns[start:end], second.turns[other_start:other_end])
    return pairs


def first_difference(pairs: Sequence[TurnPair]) -> int | None:
    """The first row on which two transcripts differ, in the words or in the facts around them; None if none does."""
    for row, (own, other) in enumerate(pairs):
        if own is None or other is None or not own.says_the_same(other) or own.facts != other.facts:
            return row
    return None


def _rows(tables: Sequence[Table]) -> list[list[Value]]:
    return [[cell.value for cell in row] for table in tables for row in table.rows]
