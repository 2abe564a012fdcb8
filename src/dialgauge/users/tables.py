"""Results as the tables of a run, which its view, ``find``, the figures, claims and SQL read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
import polars as pl

from dialgauge.text import encodable
from dialgauge.users.acts import EQUALS
from dialgauge.users.labels import PAPER_KEYS
from dialgauge.users.scorer import Failure
from dialgauge.users.verdicts import DialogueScore

Results = Sequence[DialogueScore]
Rows = Iterable[tuple[Any, ...]]

_TEXT, _WHOLE, _TEXTS, _WHOLES = pl.String, pl.Int64, pl.List(pl.String), pl.List(pl.Int64)
_VERDICTS = {
    "dialogue": _TEXT, "measure": _TEXT, "domain": _TEXT, "item": _TEXT, "slot": _TEXT, "verdict": _TEXT,
    "turn": _WHOLE, "behaviours": _TEXTS, "tp": _WHOLE, "fp": _WHOLE, "fn": _WHOLE, "cause": _TEXT,
}  # fmt: skip
_BEHAVIOURS = {
    "dialogue": _TEXT, "measure": _TEXT, "behaviour": _TEXT, "paper_key": _TEXT, "domain": _TEXT, "item": _TEXT,
    "slot": _TEXT, "first_turn": _WHOLE, "last_turn": _WHOLE, "at_turns": _WHOLES, "count": _WHOLE, "expected": _TEXT,
}  # fmt: skip
_FACTS = {
    "dialogue": _TEXT, "turns": _WHOLE, "domains": _TEXTS, "end": _TEXT, "loops": _WHOLE, "longest_loop": _WHOLE,
    "most_mentions": _WHOLE, "requests_removed": _TEXTS, "warnings": _TEXTS, "goal": _TEXT, "acts_in_domains": _WHOLE,
    "acts_known": _WHOLE, "slots_wanted": _WHOLE, "slots_uttered": _WHOLE,
}  # fmt: skip
_LOOPS = {
    "dialogue": _TEXT, "first_turn": _WHOLE, "last_turn": _WHOLE, "repeats": _WHOLE, "acts": _TEXTS, "domains": _TEXTS,
    "cause": _TEXT, "said": _TEXT, "heard": _TEXT,
}  # fmt: skip
_CONFUSIONS = {
    "dialogue": _TEXT, "turn": _WHOLE, "speaker": _TEXT, "error": _TEXT, "said": _TEXT, "heard": _TEXT,
    "sentence": _TEXT,
}  # fmt: skip
_PATTERNS = {"dialogue": _TEXT, "kind": _TEXT, "domain": _TEXT, "part": _TEXT, "wanted": _WHOLE, "pattern": _TEXT}
_NORMALISATION = {
    "dialogue": _TEXT, "source": _TEXT, "turn": _WHOLE, "domain": _TEXT, "slot": _TEXT, "value": _TEXT,
    "nearest": _TEXT, "canonical": _TEXT, "method": _TEXT, "matched": pl.Boolean, "times": _WHOLE,
}  # fmt: skip
_FAILURES = {"dialogue": _TEXT, "turn": _WHOLE, "reason": _TEXT, "file": _TEXT}


def run_tables(results: Results, failures: Sequence[Failure]) -> dict[str, Callable[[], pl.DataFrame]]:
    """Functions that make the tables of a run when they are asked for."""
    tables: dict[str, tuple[Callable[[DialogueScore], Rows], Mapping[str, Any]]] = {
        "verdicts": (_verdicts, _VERDICTS),
        "behaviours": (_behaviours, _BEHAVIOURS),
        "conversation_facts": (_facts, _FACTS),
        "loops": (_loops, _LOOPS),
        "confusions": (_confusions, _CONFUSIONS),
        "patterns": (_patterns, _PATTERNS),
        "normalisation": (_normalisation, _NORMALISATION),
    }
    makers = {name: partial(_table, results, rows, schema) for name, (rows, schema) in tables.items()}
    return {**makers, "failures": partial(_failures, failures)}


def _table(results: Results, rows: Callable[[DialogueScore], Rows], schema: Mapping[str, Any]) -> pl.DataFrame:
    columns = zip(*((result.id, *row) for result in results for row in rows(result)), strict=True)
    values = list(columns) or [()] * len(schema)
    return pl.DataFrame([_column(name, own, dtype) for (name, dtype), own in zip(schema.items(), values, strict=True)])


def _column(name: str, values: Sequence[Any], dtype: Any) -> pl.Series:
    """The values as a column; of lists, which are costly to make and mostly the same few, each only once."""
    if dtype not in (_TEXTS, _WHOLES):
        return pl.Series(name, values, dtype)
    places = {each: place for place, each in enumerate(dict.fromkeys(values))}
    distinct = pl.Series(name, list(map(list, places)), dtype)
    return distinct.gather([places[each] for each in values])


def _failures(failures: Sequence[Failure]) -> pl.DataFrame:
    """Names of files need not be UTF-8, and tables must be."""
    rows = [
        (encodable(each.dialogue), each.turn, encodable(each.reason), each.file and encodable(each.file))
        for each in failures
    ]
    return pl.DataFrame(rows, schema=_FAILURES, orient="row")


def _verdicts(result: DialogueScore) -> Rows:
    for each in result.verdicts:
        slot = _slot(each.measure, each.domain, each.item)
        about = each.measure, each.domain, each.item, slot, each.verdict, each.turn
        yield *about, each.labels, each.tp, each.fp, each.fn, each.cause


def _slot(measure: str, domain: str, item: str) -> str:
    """The slot of a constraint ``slot===value`` or of a request ``domain-slot``."""
    return item.partition(EQUALS)[0] if measure == "I-GCDF1" else item.removeprefix(f"{domain.lower()}-")


def _behaviours(result: DialogueScore) -> Rows:
    for each in result.behaviours:
        about = each.measure, each.label, PAPER_KEYS.get(each.label), each.domain, each.item
        first, last = (each.turns[0], each.turns[-1]) if each.turns else (None, None)
        slot = _slot(each.measure, each.domain, each.item)
        yield *about, slot, first, last, each.turns, each.count or None, each.expected or None


def _facts(result: DialogueScore) -> Rows:
    counts = [each.count for each in result.behaviours if each.label in ("repeated_inform", "multiple_req")]
    longest, fit = max((loop.repeats for loop in result.loops), default=0), result.fit
    yield (
        result.turns, tuple(result.goal.tasks), result.end, len(result.loops), longest, max(counts, default=1),
        result.requests_removed, result.warnings, msgspec.json.encode(result.goal).decode(),
        fit.acts_in_domains, fit.acts_known, fit.slots_wanted, fit.slots_uttered,
    )  # fmt: skip


def _loops(result: DialogueScore) -> Rows:
    return map(msgspec.structs.astuple, result.loops)


def _confusions(result: DialogueScore) -> Rows:
    return ((turn, *msgspec.structs.astuple(each), sentence) for turn, each, sentence in result.confusions)


def _patterns(result: DialogueScore) -> Rows:
    return map(msgspec.structs.astuple, result.patterns)


def _normalisation(result: DialogueScore) -> Rows:
    for source, turn, attempt, times in result.attempts:
        yield source, turn, *msgspec.structs.astuple(attempt), times
