"""The turns of a dialogue, by whatever keys: numbers, words with numbers, or their order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dialgauge.errors import DialgaugeError
from dialgauge.formats.json_text import literal, rows_by_columns
from dialgauge.formats.predictions.columns import (
    TURN_LISTS,
    Columns,
    is_no_state,
    is_record,
    is_system,
    plain_name,
    refuse_two_states,
)
from dialgauge.formats.predictions.deletions import with_deletions
from dialgauge.formats.predictions.loose import answer_in
from dialgauge.formats.predictions.state_texts import is_domain, names_domain

#: A turn's key: a number, perhaps behind a word that says so, or before the number of turns: ``3/7``.
_TURN = re.compile(
    r"(?:(?:user|usr|turn|utterance|utt|step|round|t|u)[\s_#:.-]{0,2}){0,2}"
    r"([0-9]{1,9})(?:\.0)?(?:\s?(?:/|of)\s?[0-9]{1,5})?",
    re.I,
)
#: The turn at the end of a key that names a dialogue, too; 1_00000 is a dialogue of SGD.
_TURN_AT_END = re.compile(r"[\s_#:|/.-](?:(?:turn|t|utt)[\s_#:/.-]?)?(0|[1-9][0-9]{0,4})$", re.I)
#: A pair of Python, as it becomes a key of JSON.
_TUPLE = re.compile(r"""\((['"])([^'"]{1,200})\1,\s?([0-9]{1,5})\)""")
#: The folders of a file that is named in place of a dialogue.
_FOLDERS = re.compile(r"^.{0,300}[/\\](?=[^/\\]{1,100}\.(?:json|txt)$)")
#: A dialogue's id as the name of a file; other files have numbers behind words.
FILE_ID = re.compile(
    r"(?!(?:pred|output|result|epoch|step|seed|run|test|dev|val|gen|part|file|data|beam|v)[a-z]*_?[0-9])"
    r"[A-Za-z]{0,8}[-_]?[0-9]{2,6}(?:_[0-9]{2,6})?",
    re.IGNORECASE,
)
_SPLITS = re.compile(r"(?:train|dev|val|valid|test)-(?=.)")
_LOOK_AT = 200
#: Words that say that something is gold, and that it is predicted.
_GOLD_WORDS = frozenset("gold golden gt groundtruth truth true reference ref label target annotation".split())  # noqa: SIM905
_PREDICTED_WORDS = frozenset("pred preds predicted prediction predictions hyp hypothesis model output".split())  # noqa: SIM905
_EMPTY: tuple[Any, ...] = ("", None, {})


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
    #: What the user says in this turn, where that stands beside it.
    said: str = ""


class StateEntries(NamedTuple):
    """All states of a file, and what they are called there."""

    entries: list[StateEntry]
    keys: tuple[str, ...] = ()
    #: A row a slot or a domain: an empty state has no row.
    long: bool = False
    #: The slots that have a column each.
    wide: tuple[str, ...] = ()
    #: Does a name say that the states are predicted?
    says_predicted: bool = False
    #: Does a name say that what a turn has is what it changes?
    changes: bool = False
    #: What had to be read as something else: what, how often, and where first.
    told: tuple[tuple[str, int, str], ...] = ()
    #: Names of states that were not read.
    unread: tuple[str, ...] = ()


def says_side(word: object) -> bool:
    """Does a word say that something is gold, or predicted?"""
    return plain_name(word) in _GOLD_WORDS | _PREDICTED_WORDS


def predicted_and_gold(words: Iterable[object]) -> tuple[Any, Any] | None:
    """Of two words the one that says predicted and the one that says gold; None where they do not."""
    both = sorted(words, key=lambda word: plain_name(word) in _GOLD_WORDS)
    if len(both) != 2 or plain_name(both[0]) not in _PREDICTED_WORDS or plain_name(both[1]) not in _GOLD_WORDS:
        return None
    return both[0], both[1]


def with_gold(predicted: StateEntries, gold: StateEntries) -> StateEntries:
    """The predicted states of a file with the gold ones that it holds apart from them.

    A turn that only gold has is empty where each slot has a row, and missing elsewhere.
    """
    golds = _by_position(gold.entries)
    ours = _by_position(predicted.entries)
    dialogues = {entry.dialogue for entry in predicted.entries}
    joined = [entry._replace(gold=golds[key].state if key in golds else None) for key, entry in ours.items()]
    for key, entry in golds.items():
        if key not in ours:
            empty: list[Any] | None = [] if predicted.long and entry.dialogue in dialogues else None
            joined.append(StateEntry(entry.dialogue, entry.turn, empty, entry.state))
    return predicted._replace(entries=joined, says_predicted=True)


def _by_position(entries: Sequence[StateEntry]) -> dict[tuple[str, int], StateEntry]:
    positions: dict[tuple[str, int], StateEntry] = {}
    counts: Counter[str] = Counter()
    for entry in entries:
        key = (entry.dialogue, counts[entry.dialogue] if entry.turn is None else entry.turn)
        counts[entry.dialogue] += 1
        if key in positions:
            raise DialgaugeError("this turn appears twice; keep one of them", dialogue=entry.dialogue, turn=entry.turn)
        positions[key] = entry
    return positions


def without_folders(name: str) -> str:
    """The id of a dialogue that is named by the path of its file."""
    return _FOLDERS.sub("", name)


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


def dialogue_turn(key: object) -> tuple[str, int] | None:
    """Dialogue and turn of a key that names both."""
    if isinstance(key, tuple) and len(key) == 2:
        number = turn_number(key[1])
        return None if number is None else (str(key[0]), number)
    if isinstance(key, str) and (written := _TUPLE.fullmatch(key)):
        return written[2], int(written[3])
    match = _TURN_AT_END.search(key) if isinstance(key, str) and len(key) < 300 else None
    dialogue = key[: match.start()].rstrip(" _#:|/.-") if match and isinstance(key, str) else ""
    return (_SPLITS.sub("", dialogue, count=1), int(match[1])) if match and dialogue else None


def share_dialogues(pairs: Iterable[tuple[str, int]]) -> bool:
    """Do the numbers count turns? Those of each dialogue begin at 0 or 1, or somewhere all do."""
    numbers: dict[str, set[int]] = {}
    for dialogue, number in pairs:
        numbers.setdefault(dialogue, set()).add(number)
    return all(min(each) <= 1 for each in numbers.values()) and (
        any(len(each) > 1 for each in numbers.values()) or all(each in ({0}, {1}) for each in numbers.values())
    )


def turns_in(content: Any) -> list[tuple[int | None, Any]] | None:
    """Number and content of the turns of a dialogue; None where it has none."""
    if isinstance(content, list | tuple):
        return [(None, item) for item in content]
    if isinstance(content, str) and content.lstrip()[:1] == "[" and isinstance(listed := literal(content), list):
        return turns_in(listed)
    if not isinstance(content, Mapping):
        return None
    if {"frames", "speaker"} <= content.keys():  # a list of turns, as the package datasets writes it
        speakers = {0: "user", 1: "system"}
        rows = rows_by_columns(content)
        return [(None, {**row, "speaker": speakers.get(row["speaker"], row["speaker"])}) for row in rows] or None
    if slots := _turns_by_slot(content):
        return slots
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
    return turns_in(inside[0]) if len(inside) == 1 else None


def _turns_by_slot(content: Mapping[Any, Any]) -> list[tuple[int | None, Any]]:
    """``{"hotel-area": ["", "north"]}``: of each slot, or of each domain, what it has in all turns.

    One is empty, which alternatives never are.
    """
    lists = list(content.values())
    if not all(isinstance(values, list) and len(values) == len(lists[0]) > 1 for values in lists):
        return []
    if not all(names_domain(str(name)) or is_domain(name) for name in content):
        return []
    if not any(value in _EMPTY for values in lists for value in values):
        return []
    return [(None, row) for row in rows_by_columns(content)]


def _is_numbered(item: Any) -> bool:
    """Is it a pair of a turn's number and its state?"""
    return isinstance(item, list | tuple) and len(item) == 2 and turn_number(item[0]) is not None


def answered_states(messages: Any) -> list[str]:
    """What a model answers each message with, where that mostly is a state; none where it is something else."""
    if not isinstance(messages, list) or not all(isinstance(said, Mapping) and "content" in said for said in messages):
        return []
    contents = [said["content"] for said in messages if said.get("role") == "assistant"]
    texts = [text if isinstance(text, str) else "" for text in contents]
    states = [state for text in texts if (state := answer_in(text)[0]) is not None and _names_domains(state)]
    return texts if 2 * len(states) > len(texts) else []


def _names_domains(state: Mapping[Any, Any]) -> bool:
    """Does an object hold nothing but slots that name their domains, and domains with slots?"""
    return all(
        isinstance(name, str) and (is_domain(name) if isinstance(held, Mapping) else names_domain(name))
        for name, held in state.items()
    )


def _named_states(items: Sequence[Any]) -> str:
    """The one unknown name under which turns have their states, beside single values: ``{"t": 0, "ds": {...}}``."""
    names = {key for item in items if isinstance(item, Mapping) for key in item}
    inner = [name for name in names if all(isinstance(item, Mapping) and _is_state(item.get(name)) for item in items)]
    if len(inner) != 1 or not isinstance(inner[0], str) or is_no_state(inner[0]) or is_domain(inner[0]):
        return ""
    others = [value for item in items for name, value in item.items() if name != inner[0]]
    single = not any(isinstance(value, Mapping | list) for value in others)
    return inner[0] if single and not any(names_domain(str(name)) for name in names) else ""


def _is_state(held: object) -> bool:
    return isinstance(held, Mapping) and (_names_domains(held) or not held)


def turn_entries(
    dialogue: str, turns: Sequence[tuple[int | None, Any]], names: dict[str, None]
) -> Iterator[StateEntry]:
    """The states of a dialogue's turns; ``names`` gathers what they are called."""
    if answers := answered_states([item for _, item in turns]):
        names.update(messages=None)
        yield from (StateEntry(dialogue, None, answer) for answer in answers)
        return
    if all(number is None and _is_numbered(item) for number, item in turns):
        turns = [(turn_number(item[0]), item[1]) for _, item in turns]
    records = [item for _, item in turns if isinstance(item, Mapping) and is_record(item)]
    if not records and (named := _named_states([item for _, item in turns])):
        names.update({named: None})
        turns = [(turn_number(item.get("t")) if number is None else number, item[named]) for number, item in turns]
    if not records:
        yield from (StateEntry(dialogue, number, item) for number, item in turns)
        return
    columns = Columns.of(records)
    if not columns.has_states:
        raise NotUnderstood("the state of each turn", columns.names)
    changed = dict(zip(map(id, records), with_deletions(records, columns), strict=True))
    refuse_two_states(records, columns)
    names.update(dict.fromkeys(columns.keys()))
    for number, written in turns:
        item = changed.get(id(written), written)
        if not isinstance(item, Mapping):
            yield StateEntry(dialogue, number, item)
        elif not is_system(item.get(columns.speaker)):
            own = turn_number(item.get(columns.turn)) if columns.turn and not columns.speaker else None
            place = number if own is None else own
            said = columns.said_in(item)
            yield StateEntry(dialogue, place, columns.state_of(item), columns.gold_of(item), said)
