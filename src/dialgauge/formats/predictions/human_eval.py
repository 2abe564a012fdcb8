"""FGA's human-evaluation files: one dialogue a text file, with utterances and both states of each turn.

Blocks between lines of dashes, the first with the dialogue's id::

    Turn: 1
    Sys : Sure! What day are you traveling?
    Usr : I will be leaving on Thursday.

    GT  : {'train': {'day': 'thursday'}}
    PR  : {}

    Matched : False

The system utterance is the one *before* the user's. Utterances may span lines; states are Python literals.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.predictions.common import HOLE, built, in_order
from dialgauge.formats.source import Part
from dialgauge.formats.state_values import clean_state
from dialgauge.text import Note

_CONTRADICTED = Note("contradicted_match", "turns whose 'Matched' contradicts their states")
_LABELS = ("Turn", "Sys", "Usr", "GT", "PR", "Matched")
_SPANS_LINES = frozenset({"Sys", "Usr"})
_LINE = re.compile(r"(Turn|Sys|Usr|GT|PR|Matched) *:(.*)")
_DASHES = re.compile(r"-{5,}\s*")
_ID = re.compile(r"Dialogue ID *:(.*)")
_MOST_LITERAL = 100_000

#: One turn as the file has it: the lines of text after each label.
_Block: TypeAlias = dict[str, list[str]]


class HumanEval(DialogueFormat):
    """Turn blocks of Sys, Usr, GT, PR and Matched."""

    name = "human-eval"
    summary = "FGA's human-evaluation text files, one dialogue per file"
    kind = "predictions"
    fields = frozenset({"text", "state", "predicted"})

    def recognise(self, peek: Peek) -> bool:
        labels = [match[1] for line in peek.lines if (match := _LINE.fullmatch(line))]
        return tuple(labels[:5]) == _LABELS[:5]

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        identifier, blocks = _blocks(part)
        turns = [(_text(block, "Turn"), block) for block in blocks]

        def build(dialogue: str, numbered: list[tuple[str, _Block]]) -> Dialogue:
            return _dialogue(dialogue, in_order(numbered, notes), notes)

        return built([(identifier, turns)], build, part, notes)


def _dialogue(identifier: str, blocks: list[_Block | None], notes: Notes) -> Dialogue:
    turns: list[Turn] = []
    for number, block in enumerate(blocks):
        try:
            turns.extend((HOLE,) if block is None else _turns(block, notes))
        except DialgaugeError as error:
            raise error.at(turn=number) from error
    return Dialogue(id=identifier, turns=tuple(turns))


def _blocks(part: Part) -> tuple[str, list[_Block]]:
    """The id, from the first line or else the file's name, and the blocks of the file.

    A label counts only where it is the next one due, so that an utterance may contain a line that looks like one.
    """
    identifier = part.stem.removesuffix(".txt")
    blocks: list[_Block] = []
    last = _LABELS[-1]
    for number, line in enumerate(part.text().split("\n"), 1):
        due = _LABELS[(_LABELS.index(last) + 1) % len(_LABELS)]
        match = _LINE.fullmatch(line.rstrip())
        if match and match[1] == due:
            if due == "Turn":
                blocks.append({})
            blocks[-1][due] = [match[2]]
            last = due
        elif last in _SPANS_LINES:
            blocks[-1][last].append(line.rstrip("\r"))
        elif not blocks and (named := _ID.fullmatch(line.rstrip())):
            identifier = named[1].strip()
        elif line.strip() and not _DASHES.fullmatch(line):
            raise DialgaugeError(f"'{due} :' was expected here, not '{line.strip()[:60]}'", file=part.name, line=number)
    if last != _LABELS[-1] or not blocks:
        missing = _LABELS[(_LABELS.index(last) + 1) % len(_LABELS)]
        raise DialgaugeError(f"the file ends where '{missing} :' was expected", file=part.name)
    return identifier, blocks


def _text(block: _Block, label: str) -> str:
    return "\n".join(block[label]).strip()


def _turns(block: _Block, notes: Notes) -> Iterator[Turn]:
    reply = _text(block, "Sys")
    if reply:
        yield Turn(speaker="system", text=reply)
    gold, predicted = (_state(_text(block, label), label) for label in ("GT", "PR"))
    matched = _text(block, "Matched") == "True"
    notes.add(_CONTRADICTED, int(matched != (gold == predicted)))
    yield Turn(speaker="user", text=_text(block, "Usr"), state=gold, predicted=predicted)


def _state(literal: str, label: str) -> State:
    if literal == "{{}}":  # a template's escaped braces, printed as they stand
        return {}
    if len(literal) > _MOST_LITERAL:
        raise DialgaugeError(f"the state after {label} is longer than {_MOST_LITERAL:,} characters")
    try:
        value = ast.literal_eval(literal)
        return clean_state(msgspec.convert(value, dict[str, dict[str, str | list[str]]]))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise DialgaugeError(
            f"the state after {label} is not a dictionary of domains, slots and texts: {literal[:80]}"
        ) from error
