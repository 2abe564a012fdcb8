"""Predicted states as people write them: whatever has dialogues, turns and states can be read.

Where states stand says :mod:`~dialgauge.formats.predictions.entries`, how they may look
:mod:`~dialgauge.formats.predictions.written_states`. What was understood is told in one line.

Turn numbers may begin at 0 or 1 and count the user's turns, or all turns of which every other is the user's: all
numbers of a file together tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats.notes import INVALID, NO_ROWS, PARTLY, UNREAD_GOLD, Notes
from dialgauge.formats.predictions.common import HOLE, MOST_TURNS, example_rows
from dialgauge.formats.predictions.dialogue_turns import NotUnderstood, StateEntry
from dialgauge.formats.predictions.entries import state_entries
from dialgauge.formats.predictions.state_texts import TextReader
from dialgauge.formats.predictions.written_states import StateReader
from dialgauge.text import counted, plain

#: Fewer numbers may count through a file by chance.
_SURE = 10
#: The share of states with slots from which a file holds states, whatever was cut off in the others.
_SOUND, _FEW = 0.2, 3
#: Letters of a gold state that are shown.
_QUOTED = 80
_EMPTY_TURNS = "turns without a row, read as empty states"
_UNCHANGED = "turns without a row, read as changing nothing"
_HOLES = "missing turns, left as holes"
_NULLS = "null predictions, read as missing turns"


def read_predictions(written: Any, notes: Notes, *, cells: bool = False, frame: bool = False) -> list[Dialogue]:
    """The dialogues of predictions in plain Python, as JSON or rows have it.

    ``cells``: all values are texts. ``frame``: they are rows of a frame, where null may be an empty cell of a table.
    """
    matches = state_entries(written)
    if frame:
        matches = matches._replace(
            entries=[each._replace(state={}) if each.state is None else each for each in matches.entries]
        )
    if not matches.entries:
        raise NotUnderstood("there is no state of any turn")
    for told in matches.told:
        notes.add_at(*told)
    states = StateReader(notes, cells=cells)
    golds = _GoldReader(notes, cells=cells, texts=states.texts)
    for entry in matches.entries:
        for side in (entry.state, entry.gold):
            states.learn(side)
    matches = matches._replace(entries=_numbered_by_dialogue(matches.entries))
    numbering = _Numbering.of(matches.entries)
    dialogues = [
        _dialogue(name, entries, numbering, states, golds, notes, empty=matches.long, changes=matches.changes)
        for name, entries in _by_dialogue(matches.entries).items()
    ]
    if states.invalid_states * 2 > states.read_states and states.sound_states < max(_FEW, _SOUND * states.read_states):
        sample = states.first_invalid
        raise NotUnderstood(f"states that can be read, such as {{'hotel-area': 'north'}}; here is {sample!r:.60}")
    if states.valueless_states * 2 > states.read_states:
        raise NotUnderstood("a text for each value, as in {'hotel-area': 'north'}", matches.keys)
    if states.nameless_states * 2 > states.read_states:
        raise NotUnderstood("the domain of each slot, as in 'hotel-area'", matches.keys)
    keys = f", keys {'/'.join(matches.keys)}" if matches.keys else ""
    changes = ", changes of each turn put together" if matches.changes else ""
    notes.predicted_slots |= {(domain.lower(), slot.lower()) for domain, slot in states.slots | golds.slots}
    notes.predicted_dialogues += len(dialogues)
    read, slots = counted(notes.predicted_dialogues, "dialogue"), counted(len(notes.predicted_slots), "slot")
    notes.understood = f"{read}, {numbering.sentence()}{changes}, {slots}{keys}"
    notes.says_predicted |= matches.says_predicted
    notes.numbered_from = max(notes.numbered_from, numbering.first if numbering.step == 1 else 0)
    return dialogues


class _GoldReader(StateReader):
    """The gold states of a file, which do not stop the reading of its predictions: others may be scored against."""

    def __init__(self, notes: Notes, *, cells: bool, texts: TextReader) -> None:
        self._own = Notes()
        self._told = notes
        super().__init__(self._own, cells=cells, texts=texts)

    def read_or_none(self, written: Any, dialogue: str, turn: int) -> State | None:
        """The state that was meant; None where it cannot be read in whole."""
        self._own.counts.clear()
        try:
            state = self.read(written, dialogue, turn)
        except DialgaugeError:
            self._own.add(INVALID)
        if self._own.counts.keys() & {INVALID, PARTLY}:
            self._told.add_at(UNREAD_GOLD, 1, f"dialogue {dialogue}, turn {turn}: '{plain(str(written))[:_QUOTED]}'")
            return None
        for what, count in self._own.counts.items():
            self._told.add(f"gold: {what}", count)
        return state


def _by_dialogue(entries: Sequence[StateEntry]) -> dict[str, list[StateEntry]]:
    groups: dict[str, list[StateEntry]] = {}
    for entry in entries:
        groups.setdefault(entry.dialogue, []).append(entry)
    return groups


def _numbered_by_dialogue(entries: list[StateEntry]) -> list[StateEntry]:
    """The entries without their numbers where these count the turns of all dialogues on, through the whole file."""
    numbers = [entry.turn for entry in entries]
    through = numbers in (list(range(len(numbers))), list(range(1, len(numbers) + 1)))
    if not through or len(numbers) < _SURE or len({entry.dialogue for entry in entries}) < 2:
        return entries
    return [entry._replace(turn=None) for entry in entries]


class _Numbering(NamedTuple):
    """How the turns of a file are numbered."""

    first: int = 0
    step: int = 1
    labelled: bool = False

    @classmethod
    def of(cls, entries: Sequence[StateEntry]) -> _Numbering:
        """Told from all numbers of a file."""
        numbers = {entry.turn for entry in entries if entry.turn is not None}
        if not numbers:
            return cls()
        first = min(numbers)
        if first > 1:
            raise NotUnderstood(f"the first turns: turns are numbered from 0 or 1, and here the lowest is {first}")
        even = len(numbers) > 1 and all((number - first) % 2 == 0 for number in numbers)
        return cls(first, 2 if even else 1, labelled=True)

    def place(self, number: int) -> int:
        """The number of a user turn, from 0."""
        index = (number - self.first) // self.step
        if index >= MOST_TURNS:
            raise DialgaugeError(f"turn {number} is beyond the {MOST_TURNS:,} turns a dialogue may have")
        return index

    def sentence(self) -> str:
        """For the line that says what was understood."""
        if not self.labelled:
            return "turns in order"
        by = f" by {self.step}" if self.step > 1 else ""
        return f"turns numbered from {self.first}{by}"


def _twice(dialogue: str, entry: StateEntry) -> DialgaugeError:
    bare = isinstance(entry.state, str) and not any(sign in entry.state for sign in "=-{[:")
    told = (
        "each holds one value, name its slot in a field 'slot' and call what it has 'value', or write whole states"
        if bare and entry.state
        else "each holds the state of one domain, name that domain in a field 'domain'"
    )
    example = example_rows(dialogue) if bare and entry.state else ""
    return DialgaugeError(
        f"this turn appears twice; keep one of them, or, if {told}", dialogue=dialogue, turn=entry.turn, example=example
    )


def _dialogue(
    name: str, entries: Sequence[StateEntry], numbering: _Numbering, states: StateReader, golds: _GoldReader,
    notes: Notes, *, empty: bool, changes: bool,
) -> Dialogue:  # fmt: skip
    turns: dict[int, Turn] = {}
    before: State | None = {} if changes else None
    placed = [(nth if entry.turn is None else numbering.place(entry.turn), entry) for nth, entry in enumerate(entries)]
    for number, entry in sorted(placed, key=lambda pair: pair[0]) if changes else placed:
        if number in turns:
            raise _twice(name, entry)
        try:
            predicted = None if entry.state is None else states.read(entry.state, name, number, before)
        except DialgaugeError as error:
            raise error.at(dialogue=name, turn=number) from error
        notes.add(_NULLS, predicted is None)
        gold = None if entry.gold is None else golds.read_or_none(entry.gold, name, number)
        turns[number] = Turn(speaker="user", predicted=predicted, state=gold)
        before = predicted if changes and predicted is not None else before
    length = max(turns) + 1
    gaps = length - len(turns)
    notes.add(_UNCHANGED if empty and changes else _EMPTY_TURNS if empty else _HOLES, gaps)
    both = any(entry.gold is not None for entry in entries)  # a row a slot has no rows where neither fills any
    gap = Turn(speaker="user", predicted={}, state={} if both else None) if empty else HOLE
    if empty and not changes and (inner := max(turns) - min(turns) + 1 - len(turns)):
        first = next(number for number in range(min(turns), length) if number not in turns)
        notes.add_at(NO_ROWS, inner, f"dialogue {name}, turn {first}")
    whole: list[Turn] = []
    for number in range(length):
        unchanged = whole[-1] if empty and changes and whole else gap
        whole.append(turns.get(number, unchanged))
    return Dialogue(id=name, turns=tuple(whole))
