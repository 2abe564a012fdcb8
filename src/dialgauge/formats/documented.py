"""Files with documented names need no mapping: it is written down here, from a closed list of names, and read with.

=====================  ==============================================================================================
states                 names, of which a file has exactly one
=====================  ==============================================================================================
dialogue               ``dialogue_id``, ``dialogue``, ``dial_id``, ``id``
turn                   ``turn``, ``turn_id``, ``turn_idx``: numbers of user turns, or of all turns, from 0 or 1
predicted              ``predicted``, ``prediction``, ``pred``
gold                   ``gold``, ``gold_state``
the side it is given   ``state``, ``belief``; refused beside one of the others
=====================  ==============================================================================================

Layouts of states: rows (a list, JSON lines, CSV, TSV, Parquet, a frame) with a dialogue, a turn and a state; a list of
dialogues with ``turns``; ``{dialogue: [turn, ...]}`` and ``{dialogue: {"0": turn, ...}}``, whose turns hold these names
or are states themselves. Exactly one decoder must read all states.

A record of a log is a conversation: ``messages`` with, as far as they are known, ``task_id``, ``trial``, ``success`` or
``passed`` or ``reward``, ``scores``, ``cost``, ``tokens``, ``seconds``, ``model``, ``instruction``, ``knows``,
``expected_calls`` and ``id``. Records without messages are results. Other members are not read, which the notes say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import Any

from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat, Peek
from dialgauge.formats.logs.logged import NAMES, VERDICTS
from dialgauge.formats.logs.messages import is_message
from dialgauge.formats.mapped_logs import LogReader
from dialgauge.formats.mapped_states import StateReader, the_decoder
from dialgauge.formats.mapping import FACTS, Field, Mapping, Reading
from dialgauge.formats.notes import Notes
from dialgauge.formats.predictions.states import EMPTY, Misfit, shown
from dialgauge.formats.row_paths import Row, as_text, beginning, content_of, is_object, rows
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


def documented_mapping(content: Any) -> Mapping:
    """The mapping of a file with documented names; :class:`Misfit` where it has others."""
    path = "" if is_object(content) else "[]"
    first = next(rows(content, path), None)
    if first is not None and isinstance(first.value, dict) and _is_record(first.value):
        return documented_log(islice(rows(content, path), _SAMPLE), path)
    return documented_states(content)


def dialogue_named(row: Any) -> str:
    """The id of the dialogue of a row, by the documented names; empty where it has none."""
    name = next((row[name] for name in IDS if name in row), "") if isinstance(row, dict) else ""
    return as_text(name) if isinstance(name, str | int) else ""


# -- states ----------------------------------------------------------------------------------------------------------


class DocumentedStates(DialogueFormat):
    """States by dialogue and turn, under documented names."""

    name = "predictions"
    summary = "states by dialogue and turn under documented names: JSON, JSON lines, CSV, TSV, Parquet"
    kind = "predictions"
    fields = frozenset({"state", "predicted"})

    def recognise(self, peek: Peek) -> bool:
        return False

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        return (dialogue for _, dialogue in self.read_parts([part], notes))

    def read_parts(self, parts: Sequence[Part], notes: Notes) -> Iterator[tuple[Part, Dialogue]]:
        for part in parts:
            yield from ((part, dialogue) for dialogue in self._read([part], notes))

    def _read(self, parts: Sequence[Part], notes: Notes) -> Iterator[Dialogue]:
        """The dialogues of a file, or of files whose rows follow each other."""
        first = parts[0]
        try:
            contents = list(map(content_of, parts))
            content = contents[0] if len(parts) == 1 else list(chain.from_iterable(contents))
            mapping = documented_states(content)
        except Misfit as error:
            advice = f"'dialgauge data map {first.name}' proposes a mapping"
            raise DialgaugeError(str(error), file=first.name, advice=advice) from None
        side = mapping.field("predicted")
        notes.reading = Reading(mapping, either_side=side is not None and side.at not in PREDICTED)
        reader = StateReader(mapping, first.name, documented=True)
        return reader.read(list(rows(content, mapping.rows, first.name)), notes)


class DocumentedTable(DocumentedStates):
    """The same in Parquet files, which are cut by rows: a dialogue may begin in one and end in the next."""

    spans_files = True

    def read_parts(self, parts: Sequence[Part], notes: Notes) -> Iterator[tuple[Part, Dialogue]]:
        return ((parts[0], dialogue) for dialogue in self._read(parts, notes))


def documented_states(content: Any) -> Mapping:
    """The mapping of states under documented names; how states are written is told by all rows when they are read."""
    path, dialogue = _layout(content)
    sample = _sample(content, path)
    names = _names(sample)
    _refuse_speakers(names, rows(content, path))
    plain = not _STATES & names.keys()
    if plain and "{turn}" not in path:
        raise Misfit(f"no field of the rows is a state ({', '.join(sorted(_STATES))}); there is {_listed(names)}")
    dialogue = dialogue or _one(names, IDS, "the dialogue")
    turn = Field(at="{turn}" if "{turn}" in path else _one(names, TURNS, "the turn"))
    sides = {"predicted": ""} if plain else _sides(names)
    _refuse_two_states(sides, names, sample)
    try:
        for at in sides.values():
            the_decoder(row.get(at) for row in sample)
    except Misfit as error:
        raise Misfit(f"{', '.join(sides)}: {error}") from None
    return Mapping(
        reads="states",
        rows=path,
        dialogue=None if dialogue == "{dialogue}" else dialogue,
        turn=None if "[{turn}]" in path else turn,
        **{side: Field(at=at) for side, at in sides.items()},  # type: ignore[arg-type]
    )


def _layout(content: Any) -> tuple[str, str]:
    """The path of the rows, and where the dialogue stands: in the row, in the object around it, or bound."""
    if is_object(content):
        return _layout_of_object(content)
    first = _sample(content, "[]")
    if not first or not all(isinstance(row.value, dict) for row in first):
        raise Misfit("it is no list of objects" if first else "there is nothing in it")
    names = _names(first)
    if "turns" in names and not names.keys() & {*TURNS, *_STATES}:
        path = "[].turns[]" if _names(_sample(content, "[].turns[]")).keys() & set(TURNS) else "[].turns[{turn}]"
        return path, f"^{_one(names, IDS, 'the dialogue')}"
    return "[]", ""


def _layout_of_object(content: Any) -> tuple[str, str]:
    members = [row.value for row in _sample(content, "{dialogue}")]
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


def _sample(content: Any, path: str) -> list[Row]:
    return list(islice(rows(content, path), _SAMPLE))


def _names(sample: Iterable[Row]) -> dict[str, None]:
    return _names_of(row.value for row in sample)


def _names_of(values: Iterable[Any]) -> dict[str, None]:
    return dict.fromkeys(name for value in values if isinstance(value, dict) for name in value)


def _refuse_speakers(names: Iterable[str], all_rows: Iterator[Row]) -> None:
    """Rows of the system's turns would count as the user's."""
    for name in set(names) & set(_SPEAKERS):
        others = {as_text(row.value.get(name)) for row in all_rows if isinstance(row.value, dict)} - {"user"}
        if others:
            raise Misfit(
                f"'{name}' says {', '.join(sorted(others)[:3])}: only a mapping says which rows are meant (where)"
            )


def _refuse_two_states(sides: dict[str, str], names: Iterable[str], sample: Sequence[Row]) -> None:
    """Plain states beside other fields that hold states may be either."""
    at = sides.get("predicted")
    for name in set(names) - {at} if at in EITHER else ():
        values = [row.value.get(name) for row in sample if isinstance(row.value, dict)]
        try:
            the_decoder(values)
        except Misfit:
            continue
        if any(value not in EMPTY for value in values):
            raise Misfit(f"more than one reading is possible: the states may be {at} or {name}")


# -- logs ------------------------------------------------------------------------------------------------------------

#: What records of other formats have.
_OTHERS = frozenset(
    {"traj", "turns", "termination_reason", "dialogue_id", "custom_id", "state", "predicted", "prediction", "pred"}
)
#: Last words of fields in which a conversation may stand, and names that tell conversations of one task apart.
_TALK = frozenset({"input", "output", "prompt", "response", "question", "answer", "transcript", "conversation"})
_MARKS = frozenset({"variant", "agent", "model", "system", "config", "seed", "run", "attempt", "epoch", "repeat"})


class DocumentedLog(DialogueFormat):
    """Conversations of agents, or their results alone."""

    name = "messages"
    summary = "logs of agents: records with messages, task_id, trial and success; or tables of results"
    fields = frozenset({"text", "calls", "source", "goal", "outcome"})
    spans_files = True

    def recognise(self, peek: Peek) -> bool:
        first: Any
        if peek.table:
            first = peek.table[0]
        elif isinstance(peek.json, list):
            first = peek.json[0] if peek.json else None
        elif isinstance(peek.json, dict) and len(peek.lines) > 1 and peek.first_line is None:
            first = peek.json
        else:
            first = peek.first_line
        if isinstance(first, dict):
            return _is_record(first)
        names = {cell.strip(' "\ufeff') for cell in re.split(r"[,;\t|]", peek.lines[0])}
        return peek.json is None and "task_id" in names and not names.isdisjoint(VERDICTS)

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        return (dialogue for _, dialogue in self.read_parts([part], notes))

    def read_parts(self, parts: Sequence[Part], notes: Notes) -> Iterator[tuple[Part, Dialogue]]:
        log = None
        for part in parts:
            try:
                content = content_of(part)
            except Misfit as error:
                raise DialgaugeError(str(error), file=part.name) from None
            path = "" if is_object(content) else "[]"
            chosen = list(rows(content, path, part.name))
            if log is None:
                mapping = documented_log(chosen[:_SAMPLE], path)
                notes.reading = Reading(mapping)
                log = LogReader(mapping, notes, documented=Records(part.name))
            for dialogue in log.read(chosen, part):
                yield part, dialogue
        if log is not None:
            log.require_found()


def documented_log(sample: Iterable[Row], path: str) -> Mapping:
    """The mapping that says what the documented names of some records say."""
    records = [row.value for row in sample if isinstance(row.value, dict)]
    names = {name for record in records for name, value in record.items() if value not in (None, "", [], {})}
    verdict = next((name for name in VERDICTS if name in names), "")
    facts = {name: name for name in ("trial", *FACTS) if name in names and name != verdict}
    return Mapping(
        reads="conversations" if "messages" in names else "results",
        rows=path,
        dialogue="id" if "id" in names else None,
        task="task_id" if "task_id" in names else None,
        messages=("messages",) if "messages" in names else (),
        success=Field(at=verdict, at_least=1) if verdict == "reward" else verdict or None,
        **facts,  # type: ignore[arg-type]
    )


def log_misfit(part: Part) -> str:
    """Why the records of a file that no format reads are no log."""
    try:
        content = beginning(part)
        records = [row.value for row in islice(rows(content, "" if is_object(content) else "[]"), _SAMPLE)]
    except DialgaugeError as error:
        return error.message
    except Misfit as error:
        return str(error)
    seen = _listed(_names_of(records)) or shown(records[0] if records else "")
    return f"its records have no 'messages' with a role each, nor 'task_id' with a verdict; there is {seen}"


def _is_record(record: dict[str, Any]) -> bool:
    """True for a record of the layout: messages, or a task or trial with a verdict or scores."""
    if not _OTHERS.isdisjoint(record):
        return False
    messages = record.get("messages")
    if isinstance(messages, list):
        return not messages or is_message(messages[0])
    return "task_id" in record and not {*VERDICTS, "scores"}.isdisjoint(record)


class Records:
    """What records of documented names are checked for, as nobody has said how they are meant."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._before: dict[tuple[str, str], tuple[dict[str, Any], int, int]] = {}

    def record(self, row: Row) -> dict[str, Any]:
        """The record of a row, or an error where what it says stands under other names."""
        record = row.value
        if not isinstance(record, dict):
            raise DialgaugeError(f"{shown(record)} is no object")
        if why := _misfit(record):
            seen = ", ".join(str(name)[:30] for name in list(record)[:12])
            raise DialgaugeError(f"{why} (it has {seen}); 'dialgauge data map {row.file}' proposes how to read it")
        return record

    def check(self, row: Row, dialogue: Dialogue) -> None:
        """An error for calls in texts and, of conversations without a trial, for another agent or a longer history."""
        for before, turn in pairwise(dialogue.turns):
            if turn.text.startswith("Observation:") and "\nAction:" in f"\n{before.text}":
                raise DialgaugeError(
                    "calls and their results stand in texts (Action:, Observation:); give them as 'tool_calls' and "
                    "messages of the role 'tool', or give a function from a record to a Dialogue"
                )
        if row.value.get("trial") not in (None, ""):
            return
        task = dialogue.ended.task
        marks = {name: given for name, given in row.value.items() if name.lower() in _MARKS and given not in (None, "")}
        texts = [turn.text for turn in dialogue.turns]
        others, length, said = self._before.get((row.file, task), (marks, 0, 0))
        self._before[row.file, task] = marks, len(texts), hash(tuple(texts))
        if name := next((name for name in others if others[name] != marks.get(name)), ""):
            raise DialgaugeError(
                f"task '{task}' comes again without a trial, and '{name}' is {shown(others[name])} and "
                f"{shown(marks.get(name))}: is it another trial, or another agent? A mapping says it, which 'dialgauge "
                f"data map {row.file}' proposes"
            )
        if 2 <= length < len(texts) and hash(tuple(texts[:length])) == said:
            raise DialgaugeError(
                f"this conversation of task '{task}' goes on from the one before: is it one conversation as it grew? "
                "Keep the last; or give each a 'trial'"
            )


def _misfit(record: dict[str, Any]) -> str:
    """Why a record is not of the layout: what it says stands under other names; empty where it is."""
    if not _is_record(record):
        return "it has no 'messages' with a role each, nor 'task_id' with a verdict"
    others = {name: value for name, value in record.items() if name not in NAMES and value not in (None, "")}
    for name, value in others.items():
        if isinstance(value, dict) and (inside := next((key for key in value if key in NAMES - {"id"}), "")):
            return f"'{inside}' is read beside the messages only, and stands inside of '{name}'"
    if "messages" not in record and (held := [name for name, value in others.items() if _may_talk(name, value)]):
        return f"it has no 'messages', and '{held[0]}' may be these"
    if "trial" in record and "task_id" not in record:
        return "it has a 'trial' and no 'task_id'"
    named = record.get("task_id") is not None or record.get("id") is not None
    if not named and (names := [name for name, value in others.items() if isinstance(value, str | int)]):
        return f"it has no 'task_id' and no 'id', and '{names[0]}' may be one"
    return ""


def _may_talk(name: str, value: Any) -> bool:
    """True for what a conversation could stand in: a list, an object, a text of several lines or of such a name."""
    text = isinstance(value, str) and ("\n" in value or re.split(r"[^a-z]+", name.lower())[-1] in _TALK)
    return isinstance(value, list | dict) or text
