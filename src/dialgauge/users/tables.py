"""Results as the tables of a run, which ``explain``, ``find``, the figures and SQL read.

Tables are built column by column from the records' attributes: a thousand dialogues make some 80,000 rows. Most rows
repeat what others say of another turn, so what they say is looked at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import chain, count
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np
import polars as pl

from dialgauge.runs import coded, column_of
from dialgauge.text import encodable
from dialgauge.users.acts import EQUALS
from dialgauge.users.labels import PAPER_KEYS
from dialgauge.users.measures import ASPECTS, FAULTS, lost_to
from dialgauge.users.scorer import Failure
from dialgauge.users.verdicts import MEASURES, DialogueScore, ProfileFit

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

#: Column name to its values, or to the column; the type of a column follows from its name.
Columns = dict[str, list[Any] | pl.Series]
Results = Sequence[DialogueScore]

_COUNTS = ("tp", "fp", "fn")
#: Columns of lost points, and whose fault they are: ``lost_user_nlu``, ...
LOST = {f"lost_{fault.lower().replace(' ', '_')}": fault for fault in FAULTS}
_WHOLE = ("turn", "turns", "first_turn", "last_turn", "count", "repeats", "loops", "wanted", "longest_loop")
_KINDS: dict[str, str] = {
    **dict.fromkeys((*_WHOLE, "most_mentions", "times", *_COUNTS, *LOST, *ProfileFit.__struct_fields__), "Int64"),
    **dict.fromkeys(ASPECTS, "Float64"),
    **dict.fromkeys(("acts", "behaviours", "domains", "requests_removed"), "List(String)"),
    "at_turns": "List(Int64)",
    "matched": "Boolean",
}


def run_tables(results: Results, failures: Sequence[Failure]) -> dict[str, Callable[[], pl.DataFrame]]:
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
    tables: dict[str, Callable[[], pl.DataFrame]] = {
        name: partial(_table, make, results) for name, make in makers.items()
    }
    return tables | {"failures": partial(_table, _failures, failures)}


def _table(make: Callable[[Any], Columns], records: Any) -> pl.DataFrame:
    return pl.DataFrame(
        {
            name: each if isinstance(each, pl.Series) else column_of(name, each, _KINDS.get(name, "String"))
            for name, each in make(records).items()
        }
    )


def numbered(things: Sequence[T]) -> tuple[list[T], NDArray[np.int64]]:
    """The distinct things in the order in which they first appear, and for each which of them it is."""
    places: defaultdict[T, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(places.__getitem__, things), np.int64, len(things))
    return list(places), codes


def _alike(records: Sequence[Any], contents: list[tuple[Any, ...]]) -> tuple[list[Any], NDArray[np.int64]]:
    """Of the records that have the same content one each, and for every record which of them it is like."""
    _, codes = numbered(contents)
    first = np.flatnonzero(np.diff(np.maximum.accumulate(codes), prepend=-1))
    return [records[index] for index in first.tolist()], codes


def _chosen(columns: dict[str, list[Any]], codes: NDArray[np.int64]) -> dict[str, pl.Series]:
    """Columns of a few rows as those of many, each of which is one of them."""
    return {name: column_of(name, each, _KINDS.get(name, "String")).gather(codes) for name, each in columns.items()}


def _slot(measure: str, domain: str, item: str) -> str:
    """The slot of a constraint ``slot===value`` or of a request ``domain-slot``."""
    return item.partition(EQUALS)[0] if measure == "I-GCDF1" else item.removeprefix(f"{domain.lower()}-")


def _flat(results: Results, part: Callable[[DialogueScore], Collection[Any]]) -> tuple[pl.Series, list[Any]]:
    """The parts of all dialogues in one list, and beside it the dialogue of each."""
    parts = [part(result) for result in results]
    owners = np.repeat(np.arange(len(parts)), np.array(list(map(len, parts)), np.int64))
    return coded([result.id for result in results], owners), list(chain.from_iterable(parts))


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
    lost = [
        result.lost[measure].get(domain, {})
        for result in results
        for measure in MEASURES
        for domain in result.scores[measure]
    ]
    return {**columns, **{name: lost_to(fault, lost) for name, fault in LOST.items()}}


def _verdicts(results: Results) -> Columns:
    names, verdicts = _flat(results, attrgetter("verdicts"))
    contents = [(v.measure, v.domain, v.item, v.verdict, v.labels, v.tp, v.fp, v.fn, v.cause) for v in verdicts]
    few, codes = _alike(verdicts, contents)
    turns, places = numbered([each.turn for each in verdicts])
    about = {
        **_attributes(few, "measure", "domain", "item"),
        "slot": [_slot(each.measure, each.domain, each.item) for each in few],
        **_attributes(few, "verdict"),
    }
    result = {
        "behaviours": [each.labels for each in few],
        **_attributes(few, *_COUNTS),
        "fault": [each.cause if each.fp or each.fn else None for each in few],
        **_attributes(few, "cause"),
    }
    return {
        "dialogue": names,
        **_chosen(about, codes),
        **_chosen({"turn": turns}, places),
        **_chosen(result, codes),
    }


def _behaviours(results: Results) -> Columns:
    names, behaviours = _flat(results, attrgetter("behaviours"))
    contents = [(b.measure, b.label, b.domain, b.item, b.count, b.expected) for b in behaviours]
    few, codes = _alike(behaviours, contents)
    about = {
        "measure": [each.measure for each in few],
        "behaviour": [each.label for each in few],
        "paper_key": [PAPER_KEYS.get(each.label) for each in few],
        "domain": [each.domain for each in few],
        "item": [each.item for each in few],
        "slot": [_slot(each.measure, each.domain, each.item) for each in few],
    }
    turns, places = numbered([each.turns for each in behaviours])
    mentions = {
        "first_turn": [each[0] if each else None for each in turns],
        "last_turn": [each[-1] if each else None for each in turns],
        "at_turns": turns,
    }
    more = {
        "count": [each.count or None for each in few],
        "expected": [each.expected or None for each in few],
    }
    return {"dialogue": names, **_chosen(about, codes), **_chosen(mentions, places), **_chosen(more, codes)}


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
        **_attributes(loops, "repeats", "acts", "domains", "cause", "said", "heard"),
    }


def _confusions(results: Results) -> Columns:
    names, occurrences = _flat(results, attrgetter("confusions"))
    turns, confusions, sentences = map(list, zip(*occurrences, strict=True)) if occurrences else ([], [], [])
    few, codes = numbered(confusions)
    return {
        "dialogue": names,
        "turn": turns,
        **_chosen(_attributes(few, "speaker", "fault", "said", "heard"), codes),
        "sentence": sentences,
    }


def _patterns(results: Results) -> Columns:
    names, patterns = _flat(results, attrgetter("patterns"))
    return {"dialogue": names, **_attributes(patterns, "kind", "domain", "part", "wanted", "pattern")}


def _normalisation(results: Results) -> Columns:
    names, counted = _flat(results, attrgetter("attempts"))
    columns = ("domain", "slot", "value", "nearest", "canonical", "method", "matched")
    return {
        "dialogue": names,
        "source": [source for source, *_ in counted],
        "turn": [turn for _, turn, *_ in counted],
        **_attributes([attempt for _, _, attempt, _ in counted], *columns),
        "times": [times for *_, times in counted],
    }


def _failures(failures: Sequence[Failure]) -> Columns:
    """Names of files need not be UTF-8, and tables must be."""
    columns = _attributes(failures, "dialogue", "turn", "reason", "file")
    return {
        name: values if name == "turn" else [text and encodable(text) for text in values]
        for name, values in columns.items()
    }
