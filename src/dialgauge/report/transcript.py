"""Transcripts: one dialogue turn by turn, as every output shows it.

What a kind of run knows about a turn stands around the words as tables: tool calls before them, states or acts beside
them. So a new kind of run needs no template of its own, and two runs of any kind can be laid side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TypeAlias

from msgspec import Struct

from dialgauge.report.table import Table, Tone, Value

#: One row of transcripts side by side; None where one has no such turn.
TurnRow: TypeAlias = "tuple[Turn | None, ...]"


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


def side_by_side(transcripts: Sequence[Transcript]) -> list[TurnRow]:
    """The turns of some transcripts, row by row."""
    return list(zip_longest(*(transcript.turns for transcript in transcripts)))


def say_the_same(row: TurnRow) -> bool:
    """Whether all transcripts have this turn, with the same words after the same calls."""
    first, *others = row
    return first is not None and all(other is not None and first.says_the_same(other) for other in others)


def first_difference(rows: Sequence[TurnRow]) -> int | None:
    """The first row on which transcripts differ, in the words or in the facts around them; None if none does."""
    for place, row in enumerate(rows):
        first, *others = row
        if not say_the_same(row) or any(
            other is None or first is None or other.facts != first.facts for other in others
        ):
            return place
    return None


def calls_apart(transcripts: Sequence[Transcript]) -> list[int | None]:
    """By transcript the turn with the first call in which one that passed and one that failed differ.

    Trials of a task differ in their words at once, and that says little; calls are what they are judged by.
    """
    calls = [[(turn.number, row[:2]) for turn in each.turns for row in _rows(turn.before)] for each in transcripts]
    verdicts = [next((mark.tone for mark in each.marks if mark.tone in ("good", "bad")), "") for each in transcripts]
    if set(verdicts) != {"good", "bad"}:
        return [None] * len(transcripts)
    passed, failed = (calls[verdicts.index(tone)] for tone in ("good", "bad"))
    shared = 0
    while shared < min(len(passed), len(failed)) and passed[shared][1] == failed[shared][1]:
        shared += 1
    return [own[shared][0] if shared < len(own) else None for own in calls]


def _rows(tables: Sequence[Table]) -> list[list[Value]]:
    return [[cell.value for cell in row] for table in tables for row in table.rows]
