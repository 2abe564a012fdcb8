"""Common files of predictions, read without a mapping: a closed list of names and layouts, and nothing else.

=====================  ==============================================================================================
field                  names, of which a file has exactly one
=====================  ==============================================================================================
dialogue               ``dialogue_id``, ``dialogue``, ``dial_id``, ``id``
turn                   ``turn``, ``turn_id``, ``turn_idx``: numbers of user turns, or of all turns, from 0 or 1
predicted              ``predicted``, ``prediction``, ``pred``
gold                   ``gold``, ``gold_state``
the side it is given   ``state``, ``belief``; refused beside one of the others
=====================  ==============================================================================================

Layouts: rows (a list, JSON lines, CSV, TSV, Parquet, a frame) with a dialogue, a turn and a state; a list of dialogues
with ``turns``; ``{dialogue: [turn, ...]}`` and ``{dialogue: {"0": turn, ...}}``, whose turns hold these names or are
states themselves. Exactly one decoder must read all states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat
from dialgauge.formats.mapped_states import StateReader, the_decoder, whole_number
from dialgauge.formats.mapping import Field, Mapping, Reading
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.predictions.states import EMPTY, Misfit, shown
from dialgauge.formats.row_paths import Row, as_text, content_of, rows
from dialgauge.formats.source import Part

IDS = ("dialogue_id", "dialogue", "dial_id", "id")
TURNS = ("turn", "turn_id", "turn_idx")
PREDICTED = ("predicted", "prediction", "pred")
GOLD = ("gold", "gold_state")
EITHER = ("state", "belief")
_STATES = frozenset({*PREDICTED, *GOLD, *EITHER})
_SPEAKERS = ("speaker", "role")
#: Rows whose names are looked at to tell the layout.
_SAMPLE = 200


class CommonPredictions(DialogueFormat):
    """States by dialogue and turn, under documented names."""

    name = "predictions"
    summary = "states by dialogue and turn under documented names: JSON, JSON lines, CSV or TSV"
    kind = "predictions"
    fields = frozenset({"state", "predicted"})

    def recognise(self, peek: Peek) -> bool:
        return False

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        try:
            return read_common(content_of(part), part.name, notes)
        except Misfit as error:
            advice = f"'dialgauge data map {part.name}' proposes a mapping"
            raise DialgaugeError(str(error), file=part.name, advice=advice) from None


def read_common(content: Any, file: str, notes: Notes) -> Iterator[Dialogue]:
    """The dialogues of a file's content, or of rows in memory; :class:`Misfit` where it is in no common layout."""
    mapping = common_mapping(content)
    side = mapping.field("predicted")
    notes.reading = Reading(mapping, either_side=side is not None and side.at not in PREDICTED)
    chosen = list(rows(content, mapping.rows, file))
    if not chosen:
        raise Misfit("there is nothing in it")
    return StateReader(mapping, file).read(chosen, notes)


def common_mapping(content: Any) -> Mapping:
    """The mapping that reads content in a common layout; :class:`Misfit` where it is in none."""
    path, dialogue = _layout(content)
    names = _names(content, path)
    _refuse_speakers(names, rows(content, path))
    plain = not _STATES & names.keys()
    if plain and "{turn}" not in path:
        raise Misfit(f"no field of the rows is a state ({', '.join(sorted(_STATES))}); there is {_listed(names)}")
    dialogue = dialogue or _one(names, IDS, "the dialogue")
    turn = None if "[{turn}]" in path else _turn(content, path, dialogue, names)
    sides = {"predicted": ""} if plain else _sides(names)
    read = {
        side: Field(at=at, written=the_decoder(_values(rows(content, path), at)))  # for each side one
        for side, at in sides.items()
    }
    _refuse_two_states(content, path, read, names)
    return Mapping(
        reads="states",
        rows=path,
        dialogue=None if dialogue == "{dialogue}" else dialogue,
        turn=turn,
        predicted=read.get("predicted"),
        gold=read.get("gold"),
    )


def _turn(content: Any, path: str, dialogue: str, names: Iterable[str]) -> Field | None:
    """The numbers of turns; None where they are bound by the path, from 0 one by one."""
    at = "{turn}" if "{turn}" in path else _one(names, TURNS, "the turn")
    first, step = _numbering(rows(content, path), dialogue, at)
    turn = Field(at=at, first=first, step=step)
    return None if turn == Field(at="{turn}") else turn


def dialogue_named(row: Any) -> str:
    """The id of the dialogue of a row, by the documented names; empty where it has none."""
    name = next((row[name] for name in IDS if name in row), "") if isinstance(row, dict) else ""
    return as_text(name) if isinstance(name, str | int) else ""


def _layout(content: Any) -> tuple[str, str]:
    """The path of the rows, and where the dialogue stands: in the row, in the object around it, or bound."""
    try:
        first = list(islice(rows(content, "[]"), _SAMPLE))
    except Misfit:
        return _layout_of_object(content)
    if not first or not all(isinstance(row.value, dict) for row in first):
        raise Misfit("it is no list of objects" if first else "there is nothing in it")
    names = dict.fromkeys(name for row in first for name in row.value)
    if "turns" in names and not names.keys() & {*TURNS, *_STATES}:
        inner = list(islice(rows(content, "[].turns[]"), _SAMPLE))
        inner_names = {name for row in inner if isinstance(row.value, dict) for name in row.value}
        path = "[].turns[]" if inner_names & set(TURNS) else "[].turns[{turn}]"
        return path, f"^{_one(names, IDS, 'the dialogue')}"
    return "[]", ""


def _layout_of_object(content: Any) -> tuple[str, str]:
    members = [row.value for row in islice(rows(content, "{dialogue}"), _SAMPLE)]
    if not members:
        raise Misfit("there is nothing in it")
    if all(isinstance(member, list) for member in members):
        records = [row for member in members for row in member if isinstance(row, dict)]
        numbered = any(row.keys() & set(TURNS) and row.keys() & _STATES for row in records)
        return ("{dialogue}[]" if numbered else "{dialogue}[{turn}]"), "{dialogue}"
    if all(isinstance(member, dict) for member in members):
        keys = [key for member in members for key in member]
        if keys and all(key.isascii() and key.isdigit() for key in keys):
            return "{dialogue}.{turn}", "{dialogue}"
    raise Misfit(f"it is an object whose members are neither lists of turns nor turns by number: {shown(members[0])}")


def _sides(names: Iterable[str]) -> dict[str, str]:
    """The fields of states."""
    found = set(names)
    either = [name for name in EITHER if name in found]
    sides = {"predicted": PREDICTED, "gold": GOLD}
    named = {side: _one(names, known, side) for side, known in sides.items() if found & set(known)}
    if either and (named or len(either) > 1):
        several = sorted({*either, *named.values()})
        raise Misfit(f"more than one reading is possible: which is predicted, which is gold of {', '.join(several)}?")
    return named or {"predicted": either[0]}


def _one(names: Iterable[str], known: Sequence[str], what: str) -> str:
    found = [name for name in known if name in set(names)]
    if len(found) > 1:
        raise Misfit(f"more than one reading is possible: {what} may be {' or '.join(found)}")
    if not found:
        raise Misfit(f"no field is {what} ({', '.join(known)}); there is {_listed(names)}")
    return found[0]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(list(names)[:12]) or "nothing"


def _refuse_speakers(names: Iterable[str], all_rows: Iterator[Row]) -> None:
    """Rows of the system's turns would count as the user's."""
    for name in set(names) & set(_SPEAKERS):
        others = {as_text(row.value.get(name)) for row in all_rows if isinstance(row.value, dict)} - {"user"}
        if others:
            raise Misfit(
                f"'{name}' says {', '.join(sorted(others)[:3])}: only a mapping says which rows are meant (where)"
            )


def _values(all_rows: Iterator[Row], path: str) -> Iterator[Any]:
    for row in all_rows:
        try:
            yield row.get(path)
        except Misfit as error:
            raise Misfit(f"row {row.number + 1}: {error}") from None


def _names(content: Any, path: str) -> dict[str, None]:
    """The names of fields in the first rows."""
    first = (row.value for row in islice(rows(content, path), _SAMPLE))
    return dict.fromkeys(name for value in first if isinstance(value, dict) for name in value)


def _refuse_two_states(content: Any, path: str, read: dict[str, Field], names: Iterable[str]) -> None:
    """Plain states beside other fields that hold states may be either."""
    if (plain := read.get("predicted")) is None or plain.at not in EITHER:
        return
    for name in set(names) - {plain.at}:
        values = [row.value.get(name) for row in rows(content, path) if isinstance(row.value, dict)]
        try:
            the_decoder(values)
        except Misfit:
            continue
        if any(value not in EMPTY for value in values):
            raise Misfit(f"more than one reading is possible: the states may be {plain.at} or {name}")


def _numbering(all_rows: Iterator[Row], dialogue: str, turn: str) -> tuple[int, int]:
    """The first number of turns and the step: two where each dialogue has every other number, without gaps."""
    numbers: dict[str, set[int]] = {}
    for row in all_rows:
        try:
            numbers.setdefault(as_text(row.get(dialogue)), set()).add(whole_number(row.get(turn)))
        except Misfit as error:
            raise Misfit(f"row {row.number + 1}: {error}") from None
    first = min((min(each) for each in numbers.values()), default=0)
    for name, each in numbers.items():
        if first not in (0, 1) or min(each) != first:
            raise Misfit(f"turns begin at 0, or at 1, in every dialogue; {shown(name)} begins at {min(each)}")
    by_two = all(each == set(range(first, first + 2 * len(each), 2)) for each in numbers.values())
    return first, 2 if by_two and any(len(each) > 1 for each in numbers.values()) else 1
