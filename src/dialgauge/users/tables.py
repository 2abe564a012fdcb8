"""Results as the tables of a run, which ``explain``, ``find``, the figures and SQL read.

Tables are built column by column from the records' attributes: a thousand dialogues make some 80,000 rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, partial
from itertools import chain
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np

from dialgauge.columns import ColumnKind, ColumnTable, TableColumn, chosen_texts, column
from dialgauge.text import encodable
from dialgauge.users.labels import PAPER_KEYS
from dialgauge.users.measures import ASPECTS, FAULTS, NEED_A_RECORDED_GOAL, lost_to
from dialgauge.users.records import MEASURES, DialogueScore, ProfileFit
from dialgauge.users.scorer import Failure
from dialgauge.users.turns import EQUALS

#: Column name to its values, or to the column; the type of a column follows from its name.
Columns = dict[str, list[Any] | TableColumn]
Results = Sequence[DialogueScore]

_COUNTS = ("tp", "fp", "fn")
#: Columns of lost points, and whose fault they are: ``lost_user_nlu``, ...
LOST = {f"lost_{fault.lower().replace(' ', '_')}": fault for fault in FAULTS}
_WHOLE = ("turn", "turns", "first_turn", "last_turn", "count", "repeats", "loops", "wanted", "longest_loop")
_KINDS: dict[str, ColumnKind] = {
    **dict.fromkeys((*_WHOLE, "most_mentions", "times", *_COUNTS, *LOST, *ProfileFit.__struct_fields__), "Int64"),
    **dict.fromkeys(ASPECTS, "Float64"),
    **dict.fromkeys(("acts", "behaviours", "domains", "requests_removed"), "List(String)"),
    "at_turns": "List(Int64)",
    "matched": "Boolean",
}


def run_tables(results: Results, failures: Sequence[Failure]) -> dict[str, Callable[[], ColumnTable]]:
    """Functions that make the tables of a run when they are asked for."""
    makers: dict[str, Callable[[Results], Columns]] = {
        "domain_scores": _domain_scores,
        "verdicts": _verdicts,
        "behaviours": _behaviours,
        "conversation_facts": _conversation_facts,
        "loops": _loops,
        "confusions": _confusions,
        "patterns": _patterns,
        "normalisation": _normalisation,
    }
    tables: dict[str, Callable[[], ColumnTable]] = {
        name: partial(_table, make, results) for name, make in makers.items()
    }
    return tables | {"failures": partial(_table, _failures, failures)}


def _table(make: Callable[[Any], Columns], records: Any) -> ColumnTable:
    return ColumnTable(
        {
            name: each if isinstance(each, TableColumn) else column(_KINDS.get(name, "String"), each)
            for name, each in make(records).items()
        }
    )


@cache
def _slot(measure: str, domain: str, item: str) -> str:
    """The slot of a constraint ``slot===value`` or of a request ``domain-slot``."""
    return item.partition(EQUALS)[0] if measure == "I-GCDF1" else item.removeprefix(f"{domain.lower()}-")


def _flat(results: Results, part: Callable[[DialogueScore], Collection[Any]]) -> tuple[TableColumn, list[Any]]:
    """The parts of all dialogues in one list, and beside it the dialogue of each."""
    parts = [part(result) for result in results]
    owners = np.repeat(np.arange(len(parts)), np.array(list(map(len, parts)), np.int64))
    return chosen_texts([result.id for result in results], owners), list(chain.from_iterable(parts))


def _attributes(records: Iterable[Any], *names: str) -> dict[str, list[Any]]:
    return {name: list(map(attrgetter(name), records)) for name in names}


def _domain_scores(results: Results) -> Columns:
    rows = [
        (result.id, measure, domain, score)
        for result in results
        for measure in MEASURES
        for domain, score in result.scores[measure].items()
    ]
    names, measures, domains, scores = map(list, zip(*rows, strict=True)) if rows else ([], [], [], [])
    columns: dict[str, list[Any]] = {
        "dialogue": names,
        "measure": measures,
        "domain": domains,
        **_attributes(scores, *ASPECTS, *_COUNTS),
    }
    derived = {result.id for result in results if result.goal_source == "derived"}
    if derived:
        for aspect in NEED_A_RECORDED_GOAL:
            columns[aspect] = [
                None if dialogue in derived else value for dialogue, value in zip(names, columns[aspect], strict=True)
            ]
    lost = [
        result.lost[measure].get(domain, {})
        for result in results
        for measure in MEASURES
        for domain in result.scores[measure]
    ]
    return {**columns, **{name: lost_to(fault, lost) for name, fault in LOST.items()}}


def _verdicts(results: Results) -> Columns:
    names, verdicts = _flat(results, attrgetter("verdicts"))
    return {
        "dialogue": names,
        "measure": [each.measure for each in verdicts],
        "domain": [each.domain for each in verdicts],
        "item": [each.item for each in verdicts],
        "slot": [_slot(each.measure, each.domain, each.item) for each in verdicts],
        "verdict": [each.verdict for each in verdicts],
        "turn": [each.turn for each in verdicts],
        "behaviours": [each.behaviours for each in verdicts],
        "tp": [each.tp for each in verdicts],
        "fp": [each.fp for each in verdicts],
        "fn": [each.fn for each in verdicts],
        "fault": [each.cause if each.fp or each.fn else None for each in verdicts],
        "cause": [each.cause for each in verdicts],
    }


def _behaviours(results: Results) -> Columns:
    names, behaviours = _flat(results, attrgetter("behaviours"))
    turns = [each.turns for each in behaviours]
    return {
        "dialogue": names,
        "measure": [each.measure for each in behaviours],
        "behaviour": [each.label for each in behaviours],
        "paper_key": [PAPER_KEYS.get(each.label) for each in behaviours],
        "domain": [each.domain for each in behaviours],
        "item": [each.item for each in behaviours],
        "slot": [_slot(each.measure, each.domain, each.item) for each in behaviours],
        "first_turn": [each[0] if each else None for each in turns],
        "last_turn": [each[-1] if each else None for each in turns],
        "at_turns": turns,
        "count": [each.count or None for each in behaviours],
        "expected": [each.expected or None for each in behaviours],
    }


def _conversation_facts(results: Results) -> Columns:
    return {
        "dialogue": [result.id for result in results],
        "turns": [result.turns for result in results],
        "domains": [list(result.goal.tasks) for result in results],
        "end": [result.end for result in results],
        "loops": [len(result.loops) for result in results],
        "longest_loop": [max((loop.repeats for loop in result.loops), default=0) for result in results],
        "most_mentions": [_most_mentions(result) for result in results],
        "requests_removed": [result.requests_removed for result in results],
        "warnings": [_json(result.warnings) if result.warnings else None for result in results],
        "goal": [_json(result.goal) for result in results],
        "goal_source": [result.goal_source for result in results],
        **_attributes([result.fit for result in results], "acts_in_domains", "acts_known"),
        **_attributes([result.fit for result in results], "slots_wanted", "slots_uttered"),
    }


def _json(content: Any) -> str:
    return msgspec.json.encode(content).decode()


def _most_mentions(result: DialogueScore) -> int:
    counts = [each.count for each in result.behaviours if each.label in ("repeated_inform", "multiple_req")]
    return max(counts, default=1)


def _loops(results: Results) -> Columns:
    names, loops = _flat(results, attrgetter("loops"))
    return {
        "dialogue": names,
        "first_turn": [loop.first for loop in loops],
        "last_turn": [loop.last for loop in loops],
        **_attributes(loops, "repeats", "acts", "domains", "cause", "detail"),
    }


def _confusions(results: Results) -> Columns:
    names, occurrences = _flat(results, attrgetter("confusions"))
    return {
        "dialogue": names,
        "turn": [turn for turn, _, _ in occurrences],
        **_attributes([confusion for _, confusion, _ in occurrences], "speaker", "fault", "said", "heard"),
        "sentence": [sentence for *_, sentence in occurrences],
    }


def _patterns(results: Results) -> Columns:
    names, patterns = _flat(results, attrgetter("patterns"))
    return {"dialogue": names, **_attributes(patterns, "kind", "domain", "part", "wanted", "pattern")}


def _normalisation(results: Results) -> Columns:
    names, counted = _flat(results, lambda result: Counter(result.attempts).items())
    attempts = [attempt for attempt, _ in counted]
    columns = ("domain", "slot", "value", "nearest", "canonical", "method", "matched")
    return {
        "dialogue": names,
        "source": [source for source, _, _ in attempts],
        "turn": [turn for _, turn, _ in attempts],
        **_attributes([attempt for *_, attempt in attempts], *columns),
        "times": [times for _, times in counted],
    }


def _failures(failures: Sequence[Failure]) -> Columns:
    """Names of files need not be UTF-8, and tables must be."""
    columns = _attributes(failures, "dialogue", "turn", "reason", "file")
    return {
        name: values if name == "turn" else [text and encodable(text) for text in values]
        for name, values in columns.items()
    }
