"""Results as the tables of a run, which its view, ``find``, the figures, claims and SQL read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
import polars as pl

from dialgauge.errors import DialgaugeError
from dialgauge.runs import Pieces, frame_from_rows
from dialgauge.text import encodable
from dialgauge.users.config import GcdfConfig
from dialgauge.users.scorer import DialogueScore
from dialgauge.users.verdicts import behaviours, mentions, slot_of

Rows: TypeAlias = Iterable[tuple[Any, ...]]
#: Dialogues whose rows are held at once.
_PIECE = 5_000

_TEXT, _WHOLE, _TEXTS, _WHOLES = pl.String, pl.Int64, pl.List(pl.String), pl.List(pl.Int64)
_SCHEMAS: dict[str, dict[str, Any]] = {
    "verdicts": {
        "dialogue": _TEXT, "measure": _TEXT, "domain": _TEXT, "item": _TEXT, "slot": _TEXT, "verdict": _TEXT,
        "turn": _WHOLE, "behaviours": _TEXTS, "tp": _WHOLE, "fp": _WHOLE, "fn": _WHOLE, "cause": _TEXT,
    },
    "behaviours": {
        "dialogue": _TEXT, "measure": _TEXT, "behaviour": _TEXT, "domain": _TEXT, "item": _TEXT,
        "slot": _TEXT, "first_turn": _WHOLE, "last_turn": _WHOLE, "at_turns": _WHOLES, "count": _WHOLE,
        "expected": _TEXT,
    },
    "conversation_facts": {
        "dialogue": _TEXT, "turns": _WHOLE, "domains": _TEXTS, "end": _TEXT, "loops": _WHOLE, "longest_loop": _WHOLE,
        "most_mentions": _WHOLE, "requests_removed": _TEXTS, "warnings": _TEXTS, "goal": _TEXT,
        "acts_in_domains": _WHOLE, "acts_known": _WHOLE, "slots_wanted": _WHOLE, "slots_uttered": _WHOLE,
    },
    "loops": {
        "dialogue": _TEXT, "first_turn": _WHOLE, "last_turn": _WHOLE, "repeats": _WHOLE, "acts": _TEXTS,
        "domains": _TEXTS, "cause": _TEXT, "said": _TEXT, "heard": _TEXT,
    },
    "confusions": {
        "dialogue": _TEXT, "turn": _WHOLE, "speaker": _TEXT, "error": _TEXT, "said": _TEXT, "heard": _TEXT,
        "sentence": _TEXT,
    },
    "patterns": {
        "dialogue": _TEXT, "kind": _TEXT, "domain": _TEXT, "part": _TEXT, "wanted": _WHOLE, "pattern": _TEXT,
    },
    "normalisation": {
        "dialogue": _TEXT, "source": _TEXT, "turn": _WHOLE, "domain": _TEXT, "slot": _TEXT, "value": _TEXT,
        "nearest": _TEXT, "canonical": _TEXT, "method": _TEXT, "matched": pl.Boolean, "times": _WHOLE,
    },
}  # fmt: skip
_FAILURES = {"dialogue": _TEXT, "turn": _WHOLE, "reason": _TEXT, "file": _TEXT}


def run_tables(
    results: Sequence[DialogueScore], failures: Sequence[DialgaugeError], config: GcdfConfig
) -> dict[str, Pieces | Callable[[], pl.DataFrame]]:
    """The tables of a run, made when they are asked for, and in pieces where they are large."""
    astuple = msgspec.structs.astuple
    rows: dict[str, Callable[[DialogueScore], Rows]] = {
        "verdicts": _verdicts,
        "behaviours": lambda result: _behaviours(result, config),
        "conversation_facts": _facts,
        "loops": lambda result: map(astuple, result.loops),
        "confusions": lambda result: ((turn, *astuple(each), words) for turn, each, words in result.confusions),
        "patterns": lambda result: map(astuple, result.patterns),
        "normalisation": lambda result: (
            (source, turn, *astuple(attempt), times) for source, turn, attempt, times in result.attempts
        ),
    }
    tables = {name: _pieces(results, rows[name], schema) for name, schema in _SCHEMAS.items()}
    return {**tables, "failures": lambda: _failures(failures)}


def _pieces(
    results: Sequence[DialogueScore], rows: Callable[[DialogueScore], Rows], schema: Mapping[str, Any]
) -> Pieces:
    def frames() -> Iterator[pl.DataFrame]:
        for start in range(0, max(len(results), 1), _PIECE):
            piece = results[start : start + _PIECE]
            yield frame_from_rows(((result.id, *row) for result in piece for row in rows(result)), schema)

    return Pieces(frames)


def _failures(failures: Sequence[DialgaugeError]) -> pl.DataFrame:
    """Names of files need not be UTF-8, and tables must be."""
    rows = [
        (encodable(each.dialogue or ""), each.turn, encodable(each.message), each.file and encodable(each.file))
        for each in failures
    ]
    return pl.DataFrame(rows, schema=_FAILURES, orient="row")


def _verdicts(result: DialogueScore) -> Rows:
    for each in result.verdicts:
        about = each.measure, each.domain, each.item, each.slot, each.verdict, each.turn
        yield *about, each.labels, *each.counts, each.cause


def _behaviours(result: DialogueScore, config: GcdfConfig) -> Rows:
    for each in behaviours(result.verdicts, result.goal, config):
        about = each.measure, each.label, each.domain, each.item
        first, last = (each.turns[0], each.turns[-1]) if each.turns else (None, None)
        slot = slot_of(each.measure, each.domain, each.item)
        yield *about, slot, first, last, each.turns, each.count or None, each.expected or None


def _facts(result: DialogueScore) -> Rows:
    counts = Counter((each.measure, each.domain, each.item) for each in mentions(result.verdicts))
    of_goal = (count for (_, domain, _), count in counts.items() if domain in result.goal.tasks)
    longest = max((loop.repeats for loop in result.loops), default=0)
    yield (
        result.turns, tuple(result.goal.tasks), result.end, len(result.loops), longest, max(of_goal, default=1),
        result.requests_removed, result.warnings, msgspec.json.encode(result.goal).decode(),
        result.acts, result.acts_known, result.slots, result.slots_uttered,
    )  # fmt: skip
