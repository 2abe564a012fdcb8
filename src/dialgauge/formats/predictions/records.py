"""States in records or rows of a table: one a dialogue, a turn, a domain or a slot, or with a column a slot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

from dialgauge.errors import DialgaugeError
from dialgauge.formats.predictions.columns import (
    Columns,
    is_emptied,
    is_system,
    looks_like_state,
    plain_name,
    refuse_two_states,
)
from dialgauge.formats.predictions.common import refuse_gates
from dialgauge.formats.predictions.deletions import with_deletions
from dialgauge.formats.predictions.dialogue_turns import (
    NotUnderstood,
    StateEntries,
    StateEntry,
    dialogue_turn,
    predicted_and_gold,
    says_side,
    share_dialogues,
    turn_entries,
    turn_number,
    turns_in,
    with_gold,
    without_folders,
)
from dialgauge.text import encodable

#: The beginning of an object in what a model answers.
_OBJECT = re.compile(r"\s{0,9}(?:```\w{0,20}\s{1,9})?\{")
#: The share of slots with two values in one turn up to which a model repeats itself.
_MOST_TWICE = 0.01
#: Letters of a word that tells versions apart.
_SHORT = 40
_NOTHING: tuple[Any, ...] = (None, "")
#: Names of what says that an output failed.
_FAILED = frozenset(("error", "errors", "exception", "failure", "errormessage", "err"))
#: What TRADE calls the slots that a turn changes.
_CHANGES = frozenset(("turnlabel", "turnlabels"))
_SCORE = re.compile(r"-?[0-9]{0,9}\.[0-9]+(?:e-?[0-9]+)?")
#: What a span of a trace calls itself, and no turn does.
_SPAN = re.compile(r"(?:^|[._])span_?id$", re.IGNORECASE)
#: Names of what tells runs apart: two in one turn are two predictions.
_RUNS = re.compile(
    r"(?:model|system|run|seed|checkpoint|ckpt|epoch|trial|experiment|exp|tracker)(?:name|id|idx|no|num|number)?"
)


def entries_of_rows(rows: Sequence[Mapping[Any, Any]]) -> StateEntries:
    """The states of records, whatever each of them is of."""
    if settings := _settings_first(rows):
        return _telling(entries_of_rows(rows[1:]), settings)
    columns = Columns.of(rows)
    if any(_SPAN.search(str(name)) for name in columns.names):
        raise NotUnderstood("dialogues and states: these are spans of a tracer", columns.names)
    if not columns.dialogue and (lifted := with_inner_ids(rows, columns.names)):
        return entries_of_rows(lifted)
    if not columns.dialogue:
        raise NotUnderstood("the id of each dialogue (dialogue_id)", columns.names)
    if not columns.turns and (melted := _of_turn_columns(rows, columns)):
        return entries_of_rows(melted)
    pairs = [dialogue_turn(row.get(columns.dialogue)) for row in rows] if columns.turns == "messages" else []
    if pairs and all(pairs) and share_dialogues(filter(None, pairs)) and (answered := _with_answers(rows)):
        return entries_of_rows(answered)
    if not (columns.turns or columns.has_states):
        if columns.turn and (answered := _with_answers(rows)):
            return entries_of_rows(answered)
        raise NotUnderstood(f"the state of each turn{unnamed_states(rows, columns)}", columns.names)
    if filled := _filled_down(rows, columns):
        told = sum(row.get(columns.dialogue) in _NOTHING for row in rows)
        what = f"cells of '{columns.dialogue[:40]}' that are empty, filled with the id above"
        return _telling(entries_of_rows(filled), (what, told, f"dialogue {filled[0][columns.dialogue]}"))
    rows = with_deletions(rows, columns)
    if sides := _sides(rows, columns):
        return with_gold(entries_of_rows(sides[0]), entries_of_rows(sides[1]))
    spoken = _rows_of_states(rows, columns) if columns.speaker else rows
    refuse_two_states(spoken, columns)
    named = [(_identifier(row, rows, columns), row) for row in spoken]
    entries = list(_row_entries(named, columns))
    by_part = bool(columns.slot) or (bool(columns.domain) and len(entries) < len(named))
    made = StateEntries(
        entries,
        columns.keys(),
        long=by_part,
        wide=tuple(columns.wide.values()),
        says_predicted=columns.says_predicted,
        changes=columns.changes,
    )
    unread = tuple(columns.unread_states(spoken))
    for name in unread:
        what = f"states under '{name[:60]}' not read, as '{columns.state[:60]}' is"
        made = _telling(made, (what, len(spoken), f"dialogue {named[0][0]}"))
    return made._replace(unread=unread)


def _telling(entries: StateEntries, told: tuple[str, int, str]) -> StateEntries:
    return entries._replace(told=(*entries.told, told))


def _settings_first(rows: Sequence[Mapping[Any, Any]]) -> tuple[str, int, str] | None:
    """What to tell of a first record that shares no name with the others, which have ids and states."""
    if len(rows) < 2 or not rows[0].keys().isdisjoint(rows[1].keys()):
        return None
    columns, own = Columns.of(rows[1:]), Columns.of(rows[:1])
    if not (columns.dialogue and columns.has_states) or own.dialogue or own.has_states:
        return None
    return f"first records without an id or a state ('{str(next(iter(rows[0]), ''))[:40]}'), passed over", 1, "record 1"


def _filled_down(rows: Sequence[Mapping[Any, Any]], columns: Columns) -> list[dict[Any, Any]]:
    """The rows with the id in each that only the first row of a dialogue has, as where a spreadsheet merged cells.

    None where the turns do not count on below an id, or an id comes twice.
    """
    ids = [row.get(columns.dialogue) for row in rows]
    given = [each for each in ids if each not in _NOTHING]
    if len(given) == len(ids) or ids[0] in _NOTHING or not columns.turn or len({*map(str, given)}) < len(given):
        return []
    filled: list[dict[Any, Any]] = []
    for row, own in zip(rows, ids, strict=True):
        above = filled[-1] if filled and own in _NOTHING else {}
        merged = bool(columns.slot and above) and row.get(columns.turn) in _NOTHING
        turn = above[columns.turn] if merged else row.get(columns.turn)
        now, before = turn_number(turn), turn_number(above.get(columns.turn))
        if above and (now is None or before is None or now < before or (now == before and not columns.slot)):
            return []
        name = above[columns.dialogue] if above else own
        filled.append({**row, columns.dialogue: name, columns.turn: turn})
    return filled


def _sides(
    rows: Sequence[Mapping[Any, Any]], columns: Columns
) -> tuple[list[dict[Any, Any]], list[dict[Any, Any]]] | None:
    """The rows of predictions and those of gold, where a column says which each is: ``source`` with gold and pred."""
    used = {columns.dialogue, columns.turn, columns.turns, columns.state, columns.slot, columns.value, columns.domain}
    for column in columns.names:
        if columns.gold or column in used or not says_side(rows[0].get(column)):
            continue
        if pair := predicted_and_gold({word for row in rows if isinstance(word := row.get(column, 0), str | int)}):
            predicted, gold = (
                [{key: held for key, held in row.items() if key != column} for row in rows if row.get(column) == word]
                for word in pair
            )
            return predicted, gold
    return None


def with_inner_ids(rows: Sequence[Mapping[Any, Any]], names: Sequence[str]) -> list[dict[Any, Any]]:
    """The rows without the object inside of them that has the ids, but with what is in it; none where none has."""
    for name in names:
        inner = [held for row in rows if isinstance(held := row.get(name), Mapping)]
        if len(inner) == len(rows) and (inside := Columns.of(inner)).turn and inside.dialogue:
            return [
                {**{key: content for key, content in row.items() if key != name}, **held}
                for row, held in zip(rows, inner, strict=True)
            ]
    return []


def _of_turn_columns(rows: Sequence[Mapping[Any, Any]], columns: Columns) -> list[dict[str, Any]]:
    """Rows of a turn each, where they have a column a turn with states, or with values of a slot; none where not.

    Behind its last turn a dialogue has empty cells.
    """
    turns = {name: number for name in columns.names if (number := turn_number(name)) is not None}
    if len(turns) < 2 or columns.turn or columns.state or columns.wide:
        return []
    slot = next((name for name in columns.names if plain_name(name) == "slot"), "")
    last: dict[Any, int] = {}
    for row in rows:
        filled = [number for name, number in turns.items() if row.get(name) not in (None, "")]
        dialogue = str(row.get(columns.dialogue))
        last[dialogue] = max(last.get(dialogue, -1), *filled, -1)
    return [
        {
            "dialogue_id": row.get(columns.dialogue),
            "turn": number,
            **({"slot": row.get(slot), "value": row.get(name)} if slot else {"state": row.get(name) or {}}),
        }
        for row in rows
        for name, number in turns.items()
        if number <= last[str(row.get(columns.dialogue))]
    ]


def unnamed_states(rows: Sequence[Mapping[Any, Any]], columns: Columns) -> str:
    """Names that nothing is known of, where what they hold looks like states."""
    likely = []
    for name in columns.names:
        given = [held for row in rows if (held := row.get(name)) not in (None, "", {}, [])]
        looks = sum(looks_like_state(held, frozenset()) for held in given)
        if (
            name not in (columns.dialogue, columns.turn, columns.gold)
            and not is_emptied(name)
            and looks * 2 > len(given)
        ):
            likely.append(f"'{name[:40]}'")
    if not likely and columns.domain:
        return ": columns of slots name their domain, too, such as hotel-area"
    if not likely:
        return " (state, or slot and value)"
    changes = any(is_emptied(name) or plain_name(name) in _CHANGES for name in columns.names)
    called = "changes" if changes else "prediction"
    return f": if it is {' or '.join(likely[:5])}, call that '{called}'"


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
            "one (fill cells down that a spreadsheet merged), and leave out records that hold no prediction",
            columns.names,
        )
    if isinstance(value, str):
        value = without_folders(value)
    return encodable(str(int(value) if isinstance(value, float) and value.is_integer() else value))


def _row_entries(named: Sequence[tuple[str, Mapping[Any, Any]]], columns: Columns) -> Iterator[StateEntry]:
    if columns.turns:
        for name, row in named:
            turns = turns_in(row.get(columns.turns))
            if turns is None:
                raise NotUnderstood(f"the turns of dialogue {name}: its {columns.turns} is no list", columns.names)
            yield from turn_entries(name, turns, {})
    elif columns.turn:
        numbered = [(name, _required_number(name, row, columns), row) for name, row in named]
        pairs = [dialogue_turn(name) for name, _, _ in numbered]
        if len({name for name, _ in named}) > 1 and all(
            pair is not None and pair[1] == number for pair, (_, number, _) in zip(pairs, numbered, strict=True)
        ):  # the ids name the turn, too
            numbered = [(pair[0], *rest[1:]) for pair, rest in zip(pairs, numbered, strict=True) if pair]
        yield from _slot_rows(numbered, columns) if columns.slot else _state_rows(numbered, columns)
    else:
        yield from _rows_without_turns(named, columns)


def _rows_without_turns(named: Sequence[tuple[str, Mapping[Any, Any]]], columns: Columns) -> Iterator[StateEntry]:
    """The turn is part of the id, or the rows of a dialogue are its turns in order, or a row has all of them."""
    pairs = [dialogue_turn(name) for name, _ in named]
    distinct = {name for name, _ in named}
    known = [pair for pair in pairs if pair is not None]
    if len(known) == len(named) and share_dialogues(known) and (len(distinct) == len(named) or columns.slot):
        numbered = [(*pair, row) for pair, (_, row) in zip(known, named, strict=True)]
        yield from _slot_rows(numbered, columns) if columns.slot else _state_rows(numbered, columns)
    elif columns.slot:
        raise NotUnderstood("the number of each turn (turn)", columns.names)
    elif len(distinct) < len(named):
        yield from (_entry(name, None, row, columns) for name, row in named)
    else:
        for name, row in named:
            turns = turns_in(columns.state_of(row))
            if turns is None:
                raise NotUnderstood("the number of each turn (turn)", columns.names)
            yield from turn_entries(name, turns, {})


def _entry(name: str, number: int | None, row: Mapping[Any, Any], columns: Columns) -> StateEntry:
    return StateEntry(name, number, columns.state_of(row), columns.gold_of(row), columns.said_in(row))


def _required_number(dialogue: str, row: Mapping[Any, Any], columns: Columns) -> int:
    number = turn_number(row.get(columns.turn))
    if number is None:
        message = (
            f"the {columns.turn} {row.get(columns.turn)!r:.40} is no number of a turn; number the turns 0, 1, 2, ..."
        )
        raise DialgaugeError(message, dialogue=dialogue)
    return number


def _state_rows(numbered: Iterable[tuple[str, int, Mapping[Any, Any]]], columns: Columns) -> Iterator[StateEntry]:
    groups: dict[tuple[str, int], list[Mapping[Any, Any]]] = {}
    for name, number, row in numbered:
        groups.setdefault((name, number), []).append(row)
    for (name, number), rows in groups.items():
        if len(rows) > 1 and (whole := _state_of_domains(rows, columns)) is not None:
            yield StateEntry(name, number, whole)
        elif len(rows) > 1 and (failed := _failed(rows, columns)):
            raise DialgaugeError(
                f"this turn appears {len(rows)} times, {len(rows) - 1} of them with '{failed[:40]}'; where a turn is "
                f"there again, keep the row without '{failed[:40]}'",
                dialogue=name,
                turn=number,
            )
        elif len(rows) > 1 and (versions := _versions(rows, columns)):
            raise DialgaugeError(f"this turn appears {versions}", dialogue=name, turn=number)
        else:
            yield from (_entry(name, number, row, columns) for row in rows)


def _failed(rows: Sequence[Mapping[Any, Any]], columns: Columns) -> str:
    """The name of what says that an output failed, where all rows of a turn but one did; else empty."""
    for name in (name for name in columns.names if plain_name(name) in _FAILED):
        if sum(row.get(name) in (*_NOTHING, False, "null", "None") for row in rows) == 1:
            return name
    return ""


def _versions(rows: Sequence[Mapping[Any, Any]], columns: Columns) -> str:
    """What tells rows of one turn, or of one slot of it, apart, such as a model; empty where nothing does."""
    used = {columns.dialogue, columns.turn, columns.state, columns.gold, columns.domain, columns.slot, columns.value}
    for column in sorted(columns.names, key=lambda name: not _RUNS.fullmatch(plain_name(name))):
        words = [row.get(column) for row in rows]
        runs = _RUNS.fullmatch(plain_name(column)) is not None
        if column not in used and all(_is_word(word) or (runs and isinstance(word, int)) for word in words):
            named = list(dict.fromkeys(map(repr, words)))
            if len(named) == len(words) or (runs and len(named) > 1):
                return _kept_apart(named, column)
    return ""


def _is_word(held: object) -> bool:
    """May it be the name of a version, and is no score?"""
    return isinstance(held, str) and 0 < len(held) < _SHORT and _SCORE.fullmatch(held) is None


def _kept_apart(named: Sequence[str], column: str) -> str:
    return (
        f"{len(named)} times, with {' and '.join(named[:5])} as its {column[:40]}; keep the rows of one of them, in a "
        "file of its own"
    )


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
    """Rows of a slot each, gathered by turn; an error where they are of two models, or a gate stands beside values."""
    gathered: dict[tuple[str, int], tuple[list[Any], list[Any]]] = {}
    given: dict[tuple[str, int, str, str], list[int]] = {}
    used = {columns.dialogue, columns.turn, columns.slot, columns.value, columns.domain, columns.gold, columns.speaker}
    refuse_gates(name for name in columns.names if name not in used)
    for index, (name, number, row) in enumerate(numbered):
        predicted, gold = gathered.setdefault((name, number), ([], []))
        slot = row.get(columns.slot)
        if slot is None or slot == "" or slot != slot:
            continue
        domain = row.get(columns.domain) if columns.domain else None
        pair = {"slot": slot, **({"domain": domain} if isinstance(domain, str) and domain else {})}
        predicted.append({**pair, "value": row.get(columns.value)})
        given.setdefault((name, number, str(domain), str(slot)), []).append(index)
        if columns.gold:
            gold.append({**pair, "value": row.get(columns.gold)})
    _refuse_runs(numbered, columns)
    _refuse_repeated_slots(numbered, given, columns)
    for (name, number), (predicted, gold) in gathered.items():
        yield StateEntry(name, number, predicted, gold if columns.gold else None)


def _refuse_runs(numbered: Sequence[tuple[str, int, Mapping[Any, Any]]], columns: Columns) -> None:
    """An error where a column that is named for runs, as ``seed``, has two of them in one turn.

    Slots may have a model each.
    """
    used = {columns.dialogue, columns.turn, columns.state, columns.slot, columns.value, columns.speaker}
    for column in columns.names:
        if column in used or not _RUNS.fullmatch(plain_name(column)):
            continue
        runs = [(each, run) for each in numbered if isinstance(run := each[2].get(column), str | int) and run != ""]
        by_slot = {(str(row.get(columns.domain)), str(row.get(columns.slot)), run) for (_, _, row), run in runs}
        if len({key[:2] for key in by_slot}) == len(by_slot):
            continue
        first: dict[tuple[str, int], Any] = {}
        for (name, number, _), run in runs:
            if (before := first.setdefault((name, number), run)) != run:
                versions = _kept_apart([repr(before), repr(run)], column)
                raise DialgaugeError(f"this turn appears {versions}", dialogue=name, turn=number)


def _refuse_repeated_slots(
    numbered: Sequence[tuple[str, int, Mapping[Any, Any]]],
    given: Mapping[tuple[str, int, str, str], Sequence[int]],
    columns: Columns,
) -> None:
    """An error where many slots come twice in their turn: with two values, or again behind the rows of other turns.

    A whole table that is there twice says the same as once.
    """

    def values(rows: Sequence[int]) -> set[str]:
        return {str(numbered[row][2].get(columns.value)) for row in rows}

    repeated = {key: rows for key, rows in given.items() if len(rows) > 1}
    differing = [key for key, rows in repeated.items() if len(values(rows)) > 1]
    most = _MOST_TWICE * len(given)
    harmless = columns.changes or len(repeated) <= most or len({*map(len, given.values())}) == 1
    if len(differing) <= most and harmless:
        return
    stretches = list(accumulate(now[:2] != before[:2] for before, now in pairwise(numbered)))
    apart = [
        key for key, rows in repeated.items() if stretches[rows[-1] - 1] > (stretches[rows[0] - 1] if rows[0] else 0)
    ]
    key = next(iter(differing if len(differing) > most else apart), None)
    if key is None:
        return
    name, number, _, slot = key
    if versions := _versions([numbered[row][2] for row in repeated[key]], columns):
        raise DialgaugeError(f"{slot} appears in this turn {versions}", dialogue=name, turn=number)
    if len(differing) > most:
        sentence = f"has two values in this turn, and so have {len(differing):,} slots; keep one of them"
    else:
        sentence = (
            f"comes twice in this turn, with rows of other turns between, and so do {len(apart):,} slots; if two runs "
            "were appended, keep one of them"
        )
    raise DialgaugeError(f"{slot} {sentence}, in a file for each model", dialogue=name, turn=number)
