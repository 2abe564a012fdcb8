"""Where the predicted states of a file stand: by dialogue and turn, or in records, under whatever names.

By dialogue (``{dialogue: [state, ...]}``, ``{dialogue: {turn: state}}``, ``{dialogue_turn: state}``) or as records
(JSON, JSON Lines, CSV, TSV, rows of a frame), one a dialogue, a turn or a slot, or with a column a slot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import rows_by_columns
from dialgauge.formats.predictions.columns import (
    TURN_LISTS,
    WRAPPERS,
    Columns,
    is_record,
    is_system,
    plain_name,
    refuse_two_states,
)
from dialgauge.formats.predictions.indexed import with_named_slots
from dialgauge.formats.predictions.written_states import is_deletion
from dialgauge.text import encodable

#: A turn's key: a number, perhaps behind a word that says so.
_TURN = re.compile(r"(?:(?:user|usr|turn|utterance|utt|step|round|t|u)[\s_#:.-]{0,2}){0,2}([0-9]{1,9})(?:\.0)?", re.I)
#: The turn at the end of a key that names a dialogue, too; 1_00000 is a dialogue of SGD.
_TURN_AT_END = re.compile(r"[\s_#:/.-](?:(?:turn|t|utt)[\s_#:.-]?)?(0|[1-9][0-9]{0,4})$", re.I)
#: A pair of Python, as it becomes a key of JSON.
_TUPLE = re.compile(r"""\((['"])([^'"]{1,200})\1,\s?([0-9]{1,5})\)""")
_SPLITS = re.compile(r"(?:train|dev|val|valid|test)-(?=.)")
_LOOK_AT = 200
#: The beginning of an object in what a model answers.
_OBJECT = re.compile(r"\s{0,9}(?:```\w{0,20}\s{1,9})?\{")
#: The share of slots with two values in one turn up to which a model repeats itself.
_MOST_TWICE = 0.01


class NotUnderstood(DialgaugeError):
    """What is missing, and the names that were seen."""

    def __init__(self, missing: str, names: Iterable[object] = ()) -> None:
        self.missing = missing
        self.names = [str(name) for name in names][:_LOOK_AT]
        super().__init__(missing)


class StateEntry(NamedTuple):
    """One state as written; ``turn`` is its number as written, None where its position tells."""

    dialogue: str
    turn: int | None
    state: Any
    gold: Any = None


class StateEntries(NamedTuple):
    """All states of a file, and what they are called there."""

    entries: list[StateEntry]
    keys: tuple[str, ...] = ()
    #: A row a slot or a domain: an empty state has no row.
    long: bool = False
    #: Does a name say that the states are predicted?
    says_predicted: bool = False
    #: Does a name say that what a turn has is what it changes?
    changes: bool = False


def state_entries(written: Any) -> StateEntries:
    """The states of everything that was written, taken out of what is around them."""
    if isinstance(written, Mapping):
        wrapped = [content for key, content in written.items() if plain_name(key) in WRAPPERS and _is_full(content)]
        for inner in wrapped if len(wrapped) == 1 else ():
            with suppress(NotUnderstood):
                return state_entries(inner)
        try:
            return _of_mapping(written)
        except NotUnderstood:
            [*inside] = written.values()
            if len(inside) == 1 and isinstance(inside[0], Mapping | list):
                with suppress(NotUnderstood):
                    return state_entries(inside[0])
            raise
    if isinstance(written, list | tuple):
        return _of_list(written)
    raise NotUnderstood("dialogues, turns and states")


def _is_full(content: object) -> bool:
    return isinstance(content, Mapping | list | tuple) and bool(content)


def _of_list(written: Sequence[Any]) -> StateEntries:
    items = [item for item in written if item not in (None, [], {})]
    if items and all(isinstance(item, Mapping) for item in items):
        named = _of_named_objects(items)
        return named or _of_rows(items)
    if items and all(isinstance(item, list | tuple) for item in items):
        return _of_rows(_positional(items))
    raise NotUnderstood("an id for each dialogue, and a state for each turn")


def _of_named_objects(items: Sequence[Mapping[Any, Any]]) -> StateEntries | None:
    """``[{"MUL0001": [state, ...]}, ...]``: objects of one member each, which is named by its dialogue."""
    if any(len(item) != 1 or is_record(item) for item in items):
        return None
    merged: dict[Any, Any] = {}
    for item in items:
        [(key, content)] = item.items()
        if key in merged or not _is_full(content):
            return None
        merged[key] = content
    return _of_mapping(merged)


def _positional(items: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """Rows without names: dialogue, turn, and the state or a slot and its value."""
    if all(isinstance(cell, Mapping) for item in items for cell in item):
        return [row for item in items for row in item]
    names = {3: ("dialogue", "turn", "state"), 4: ("dialogue", "turn", "slot", "value")}.get(len(items[0]))
    header = [str(cell) for cell in items[0]]
    if all(len(item) == len(header) for item in items) and is_record(dict.fromkeys(header)):
        return [dict(zip(header, item, strict=True)) for item in items[1:]]
    if names is None or any(len(item) != len(names) or turn_number(item[1]) is None for item in items):
        raise NotUnderstood("names of the columns: dialogue_id, turn and state, or dialogue_id, turn, slot and value")
    return [dict(zip(names, item, strict=True)) for item in items]


def _of_mapping(written: Mapping[Any, Any]) -> StateEntries:
    items = [(key, content) for key, content in written.items() if content is not None]
    if not items:
        raise NotUnderstood("dialogues, turns and states")
    if rows := _of_columns(written):
        return _of_rows(rows)
    if is_record(written) and not isinstance(written.get(Columns.of([written]).dialogue, {}), Mapping | list):
        return _of_rows([written])
    contents = [content for _, content in items]
    if all(isinstance(content, Mapping) for content in contents):
        columns = Columns.of(contents)
        if columns.dialogue and (columns.turns or columns.has_states):
            return _of_rows(contents)
    pairs = {key: pair for key, _ in items if (pair := _dialogue_turn(key)) is not None}
    named_by_turn = len(pairs) == len(items) and _share_dialogues(pairs.values())
    looked_at = contents[:_LOOK_AT]
    if named_by_turn and all(map(_may_be_state, looked_at)) and not all(map(_are_turns, looked_at)):
        return StateEntries([_entry(*pairs[key], content) for key, content in items])
    entries: list[StateEntry] = []
    names: dict[str, None] = {}
    for key, content in items:
        turns = _turns_in(content)
        if turns is None:
            raise NotUnderstood("a state for each turn: here is one thing per dialogue", _names_in(content))
        entries += _turn_entries(str(key), turns, names)
    named = [Columns.of([{name: ""}]) for name in names]
    says, changes = any(state.says_predicted for state in named), any(state.changes for state in named)
    return StateEntries(entries, tuple(names), says_predicted=says, changes=changes)


def _entry(dialogue: str, turn: int | None, content: Any) -> StateEntry:
    if isinstance(content, Mapping) and is_record(content):
        columns = Columns.of([content])
        refuse_two_states([content], columns)
        return StateEntry(dialogue, turn, columns.state_of(content), columns.gold_of(content))
    return StateEntry(dialogue, turn, content)


def _names_in(content: Any) -> Iterable[object]:
    return list(content)[:20] if isinstance(content, Mapping) else ()


def _of_columns(written: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """The rows of a table that was written by columns, as pandas does; none where it is no table."""
    rows = rows_by_columns(written)
    if not rows or "columns" in written:
        return rows
    for names in ([*map(str, written)], [str(name).removesuffix("s") for name in written]):  # or in the plural
        columns = Columns.of([dict.fromkeys(names, "")])
        if columns.dialogue and (columns.turn or columns.has_states) and len({*names}) == len(names):
            return [dict(zip(names, row.values(), strict=True)) for row in rows]
    return []


def turn_number(key: object) -> int | None:
    """The number in a turn's key; None where it is none."""
    if isinstance(key, bool):
        return None
    if isinstance(key, float):
        return int(key) if key.is_integer() and key >= 0 else None
    if isinstance(key, int):
        return key if key >= 0 else None
    match = _TURN.fullmatch(key.strip()) if isinstance(key, str) and len(key) < 60 else None
    return int(match[1]) if match else None


def _dialogue_turn(key: object) -> tuple[str, int] | None:
    """Dialogue and turn of a key that names both."""
    if isinstance(key, tuple) and len(key) == 2:
        number = turn_number(key[1])
        return None if number is None else (str(key[0]), number)
    if isinstance(key, str) and (written := _TUPLE.fullmatch(key)):
        return written[2], int(written[3])
    match = _TURN_AT_END.search(key) if isinstance(key, str) and len(key) < 300 else None
    dialogue = key[: match.start()].rstrip(" _#:/.-") if match and isinstance(key, str) else ""
    return (_SPLITS.sub("", dialogue, count=1), int(match[1])) if match and dialogue else None


def _share_dialogues(pairs: Iterable[tuple[str, int]]) -> bool:
    """Do the numbers count turns? Those of each dialogue begin at 0 or 1, or somewhere all do."""
    numbers: dict[str, set[int]] = {}
    for dialogue, number in pairs:
        numbers.setdefault(dialogue, set()).add(number)
    return all(min(each) <= 1 for each in numbers.values()) and (
        any(len(each) > 1 for each in numbers.values()) or all(each in ({0}, {1}) for each in numbers.values())
    )


def _may_be_state(content: object) -> bool:
    return isinstance(content, Mapping | list | tuple | str)


def _are_turns(content: Any) -> bool:
    """Are these surely turns, and not a state?"""
    if isinstance(content, str) or _turns_in(content) is None:
        return False
    if isinstance(content, Mapping):
        return bool(content)
    return any(isinstance(item, Mapping) and "slot" not in item for item in content)


def _turns_in(content: Any) -> list[tuple[int | None, Any]] | None:
    """Number and content of the turns of a dialogue; None where it has none."""
    if isinstance(content, list | tuple):
        return [(None, item) for item in content]
    if not isinstance(content, Mapping):
        return None
    if {"frames", "speaker"} <= content.keys():  # a list of turns, as the package datasets writes it
        speakers = {0: "user", 1: "system"}
        rows = rows_by_columns(content)
        return [(None, {**row, "speaker": speakers.get(row["speaker"], row["speaker"])}) for row in rows] or None
    numbers = [turn_number(key) for key in content]
    if all(number is not None for number in numbers):
        return list(zip(numbers, content.values(), strict=True))
    named = Columns.of([content]).state
    inside = [
        inner
        for key, inner in content.items()
        if (plain_name(key) in TURN_LISTS and isinstance(inner, list | dict))
        or (key == named and isinstance(inner, list))
    ]
    return _turns_in(inside[0]) if len(inside) == 1 else None


def _is_numbered(item: Any) -> bool:
    """Is it a pair of a turn's number and its state?"""
    return isinstance(item, list | tuple) and len(item) == 2 and turn_number(item[0]) is not None


def _turn_entries(
    dialogue: str, turns: Sequence[tuple[int | None, Any]], names: dict[str, None]
) -> Iterator[StateEntry]:
    if all(number is None and _is_numbered(item) for number, item in turns):
        turns = [(turn_number(item[0]), item[1]) for _, item in turns]
    records = [item for _, item in turns if isinstance(item, Mapping) and is_record(item)]
    if not records:
        yield from (StateEntry(dialogue, number, item) for number, item in turns)
        return
    columns = Columns.of(records)
    if not columns.has_states:
        raise NotUnderstood("the state of each turn", columns.names)
    refuse_two_states(records, columns)
    names.update(dict.fromkeys(columns.keys()))
    for number, item in turns:
        if not isinstance(item, Mapping):
            yield StateEntry(dialogue, number, item)
        elif not is_system(item.get(columns.speaker)):
            own = turn_number(item.get(columns.turn)) if columns.turn and not columns.speaker else None
            yield StateEntry(dialogue, number if own is None else own, columns.state_of(item), columns.gold_of(item))


def _of_rows(rows: Sequence[Mapping[Any, Any]]) -> StateEntries:
    columns = Columns.of(rows)
    if not columns.dialogue:
        raise NotUnderstood("the id of each dialogue (dialogue_id)", columns.names)
    if not (columns.turns or columns.has_states):
        if columns.turn and (answered := _with_answers(rows)):
            return _of_rows(answered)
        raise NotUnderstood("the state of each turn (state, or slot and value)", columns.names)
    rows = with_named_slots(rows, columns) if columns.state else rows
    spoken = _rows_of_states(rows, columns) if columns.speaker else rows
    refuse_two_states(spoken, columns)
    named = [(_identifier(row, rows, columns), row) for row in spoken]
    entries = list(_row_entries(named, columns))
    by_part = bool(columns.slot) or (bool(columns.domain) and len(entries) < len(named))
    return StateEntries(
        entries, columns.keys(), long=by_part, says_predicted=columns.says_predicted, changes=columns.changes
    )


def _with_answers(rows: Sequence[Mapping[Any, Any]]) -> list[dict[Any, Any]]:
    """Rows of a turn each, with what their messages to a model end with as its output; none where few end with an
    object, as in the log of an agent."""
    answers = [last_answer(row.get("messages")) for row in rows]
    if 2 * sum(map(is_object, answers)) <= len(rows):
        return []
    return [
        {**{key: content for key, content in row.items() if key != "messages"}, "output": answer}
        for row, answer in zip(rows, answers, strict=True)
    ]


def is_object(answer: str) -> bool:
    """Does what a model answers begin with an object?"""
    return _OBJECT.match(answer) is not None


def last_answer(messages: Any) -> str:
    """The text of the model that messages end with; empty where they end otherwise."""
    last = messages[-1] if isinstance(messages, list) and messages else None
    answer = last.get("content") if isinstance(last, Mapping) and last.get("role") == "assistant" else ""
    return answer if isinstance(answer, str) else ""


def _rows_of_states(rows: Sequence[Mapping[Any, Any]], columns: Columns) -> Sequence[Mapping[Any, Any]]:
    """The user's rows, or the system's where only they have states; an error where both have, and others."""
    users = [row for row in rows if not is_system(row.get(columns.speaker))]
    systems = [row for row in rows if is_system(row.get(columns.speaker))]
    filled = [row for row in systems if columns.state_of(row) not in (None, "", {}, [])]
    if not filled or columns.turns or columns.slot:
        return users
    if not any(columns.state_of(row) for row in users):
        return systems
    before: Any = None
    for row in rows:
        state = columns.state_of(row)
        if not is_system(row.get(columns.speaker)):
            before = state
        elif row in filled and state != before:
            raise DialgaugeError(
                f"the rows of the user and of the system both have a {columns.state}, and they differ; keep those "
                "that hold the state after the user's turn",
                dialogue=str(row.get(columns.dialogue)),
            )
    return users


def _identifier(row: Mapping[Any, Any], rows: Sequence[Mapping[Any, Any]], columns: Columns) -> str:
    value = row.get(columns.dialogue)
    if value is None or value == "" or value != value or isinstance(value, Mapping | list):
        number = next(number for number, each in enumerate(rows, 1) if each is row)
        raise NotUnderstood(
            f"the id of a dialogue: the {columns.dialogue} of record {number:,} is empty or no text; give every record "
            "one, and leave out records that hold no prediction",
            columns.names,
        )
    return encodable(str(int(value) if isinstance(value, float) and value.is_integer() else value))


def _row_entries(named: Sequence[tuple[str, Mapping[Any, Any]]], columns: Columns) -> Iterator[StateEntry]:
    if columns.turns:
        for name, row in named:
            turns = _turns_in(row.get(columns.turns))
            if turns is None:
                raise NotUnderstood(f"the turns of dialogue {name}: its {columns.turns} is no list", columns.names)
            yield from _turn_entries(name, turns, {})
    elif columns.turn:
        numbered = [(name, _required_number(name, row, columns), row) for name, row in named]
        pairs = [_dialogue_turn(name) for name, _, _ in numbered]
        if len({name for name, _ in named}) > 1 and all(
            pair is not None and pair[1] == number for pair, (_, number, _) in zip(pairs, numbered, strict=True)
        ):  # the ids name the turn, too
            numbered = [(pair[0], *rest[1:]) for pair, rest in zip(pairs, numbered, strict=True) if pair]
        yield from _slot_rows(numbered, columns) if columns.slot else _state_rows(numbered, columns)
    else:
        yield from _rows_without_turns(named, columns)


def _rows_without_turns(named: Sequence[tuple[str, Mapping[Any, Any]]], columns: Columns) -> Iterator[StateEntry]:
    """The turn is part of the id, or the rows of a dialogue are its turns in order, or a row has all of them."""
    pairs = [_dialogue_turn(name) for name, _ in named]
    distinct = {name for name, _ in named}
    known = [pair for pair in pairs if pair is not None]
    if len(known) == len(named) and _share_dialogues(known) and (len(distinct) == len(named) or columns.slot):
        numbered = [(*pair, row) for pair, (_, row) in zip(known, named, strict=True)]
        yield from _slot_rows(numbered, columns) if columns.slot else _state_rows(numbered, columns)
    elif columns.slot:
        raise NotUnderstood("the number of each turn (turn)", columns.names)
    elif len(distinct) < len(named):
        yield from (StateEntry(name, None, columns.state_of(row), columns.gold_of(row)) for name, row in named)
    else:
        for name, row in named:
            turns = _turns_in(columns.state_of(row))
            if turns is None:
                raise NotUnderstood("the number of each turn (turn)", columns.names)
            yield from _turn_entries(name, turns, {})


def _required_number(dialogue: str, row: Mapping[Any, Any], columns: Columns) -> int:
    number = turn_number(row.get(columns.turn))
    if number is None:
        message = f"the {columns.turn} {row.get(columns.turn)!r:.40} is no number; number the turns 0, 1, 2, ..."
        raise DialgaugeError(message, dialogue=dialogue)
    return number


def _state_rows(numbered: Iterable[tuple[str, int, Mapping[Any, Any]]], columns: Columns) -> Iterator[StateEntry]:
    groups: dict[tuple[str, int], list[Mapping[Any, Any]]] = {}
    for name, number, row in numbered:
        groups.setdefault((name, number), []).append(row)
    for (name, number), rows in groups.items():
        if len(rows) > 1 and (whole := _state_of_domains(rows, columns)) is not None:
            yield StateEntry(name, number, whole)
        else:
            yield from (StateEntry(name, number, columns.state_of(row), columns.gold_of(row)) for row in rows)


def _state_of_domains(rows: Sequence[Mapping[Any, Any]], columns: Columns) -> dict[Any, Any] | list[Any] | None:
    """The state of a turn that has a row a domain; None where its rows are something else."""
    domains = {domain for row in rows if isinstance(domain := row.get(columns.domain), str)}
    states = [columns.state_of(row) for row in rows]
    if columns.gold or len(domains) < len(rows):
        return None
    if all(isinstance(state, list) and isinstance(state[0], Mapping) for state in states if state):
        return [part for state in states for part in state or ()]
    if not all(isinstance(state, Mapping) for state in states):
        return None
    whole = {key: value for state in states for key, value in state.items()}
    return whole if len(whole) == sum(map(len, states)) else None


def _slot_rows(numbered: Sequence[tuple[str, int, Mapping[Any, Any]]], columns: Columns) -> Iterator[StateEntry]:
    """Rows of a slot each, gathered by turn; an error where many have two values, as of two models."""
    gathered: dict[tuple[str, int], tuple[list[Any], list[Any]]] = {}
    values: dict[tuple[Any, ...], Any] = {}
    twice: list[tuple[Any, ...]] = []
    for name, number, row in numbered:
        predicted, gold = gathered.setdefault((name, number), ([], []))
        slot = row.get(columns.slot)
        if slot is None or slot == "" or slot != slot:
            continue
        domain = row.get(columns.domain) if columns.domain else None
        pair = {"slot": slot, **({"domain": domain} if isinstance(domain, str) and domain else {})}
        operation = row.get(columns.operation) if columns.changes and columns.operation else None
        predicted.append({**pair, "value": row.get(columns.value) if not is_deletion(operation) else None})
        key = (name, number, str(domain), str(slot))
        if str(values.setdefault(key, row.get(columns.value))) != str(row.get(columns.value)):
            twice.append(key)
        if columns.gold:
            gold.append({**pair, "value": row.get(columns.gold)})
    if len(twice) > _MOST_TWICE * len(values):
        name, number, _, slot = twice[0]
        raise DialgaugeError(
            f"{slot} has two values in this turn, and so have {len(twice):,} slots; keep one of them, in a file for "
            "each model",
            dialogue=name,
            turn=number,
        )
    for (name, number), (predicted, gold) in gathered.items():
        yield StateEntry(name, number, predicted, gold if columns.gold else None)
