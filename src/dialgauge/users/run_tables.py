"""An evaluation as tables: what the run store keeps and SQL and ``find`` ask.

Tables are built column by column from the records' attributes: a thousand dialogues make some 80,000 rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import chain, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from dialgauge.users.evaluation import UserEvaluation
from dialgauge.users.records import COMBINED, MEASURES, DialogueScore, Measure
from dialgauge.users.summary import ASPECTS, score_name
from dialgauge.users.turns import EQUALS

if TYPE_CHECKING:
    import polars

#: Column name to its values; the type of a column follows from what it holds.
Columns = dict[str, list[Any]]

_COUNTS = ("tp", "fp", "fn")
_WHOLE = frozenset({*_COUNTS, "turn", "turns", "first_turn", "last_turn", "count", "repeats", "loops", "wanted"})
_WHOLE |= {"longest_loop", "most_mentions"}
_REAL = frozenset({*ASPECTS, "num", "den"})
_FLAG = frozenset({"matched"})


def frames(evaluation: UserEvaluation) -> dict[str, polars.DataFrame]:
    """All tables of an evaluation."""
    import polars as pl

    def kind(column: str) -> Any:
        if column in _WHOLE:
            return pl.Int64
        return pl.Float64 if column in _REAL else pl.Boolean if column in _FLAG else pl.String

    tables: dict[str, Callable[[UserEvaluation], Columns]] = {
        "dialogue_scores": _dialogue_scores,
        "domain_scores": _domain_scores,
        "explanations": _explanations,
        "behaviours": _behaviours,
        "conversations": _conversations,
        "loops": _loops,
        "confusions": _confusions,
        "patterns": _patterns,
        "normalisation": _normalisation,
        "failures": _failures,
    }
    return {
        name: pl.DataFrame([pl.Series(column, values, kind(column)) for column, values in make(evaluation).items()])
        for name, make in tables.items()
    }


@cache
def slot_of(measure: Measure, domain: str, item: str) -> str:
    """The slot of a constraint ``slot===value`` or of a request ``domain-slot``."""
    return item.partition(EQUALS)[0] if measure == "I-GCDF1" else item.removeprefix(f"{domain}-".lower())


def _flat(evaluation: UserEvaluation, part: Callable[[DialogueScore], Iterable[Any]]) -> tuple[list[str], list[Any]]:
    """The parts of all dialogues in one list, and beside it the dialogue of each."""
    parts = [(score.id, tuple(part(score))) for score in evaluation.scores]
    names = chain.from_iterable(repeat(identifier, len(each)) for identifier, each in parts)
    return list(names), list(chain.from_iterable(each for _, each in parts))


def _attributes(records: list[Any], *names: str) -> Columns:
    return {name: list(map(attrgetter(name), records)) for name in names}


def _dialogue_scores(evaluation: UserEvaluation) -> Columns:
    rows = [
        (score.id, score_name(measure, aspect, domain), getattr(found, aspect))
        for score in evaluation.scores
        for measure in MEASURES
        for domain, found in score.scores[measure].items()
        for aspect in (ASPECTS if domain == COMBINED else ASPECTS[:1])
    ]
    names = ("dialogue", "measure", "num")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)} | {"den": [1.0] * len(rows)}


def _domain_scores(evaluation: UserEvaluation) -> Columns:
    rows = [
        (score.id, measure, domain, found)
        for score in evaluation.scores
        for measure in MEASURES
        for domain, found in score.scores[measure].items()
    ]
    keys = {name: [row[place] for row in rows] for place, name in enumerate(("dialogue", "measure", "domain"))}
    return keys | _attributes([row[3] for row in rows], *ASPECTS, *_COUNTS)


def _explanations(evaluation: UserEvaluation) -> Columns:
    names, verdicts = _flat(evaluation, lambda score: score.verdicts)
    return {
        "dialogue": names,
        **_attributes(verdicts, "measure", "domain", "item"),
        "slot": [slot_of(each.measure, each.domain, each.item) for each in verdicts],
        **_attributes(verdicts, "verdict", "turn"),
        "behaviours": [", ".join(each.behaviours) for each in verdicts],
        **_attributes(verdicts, *_COUNTS),
    }


def _behaviours(evaluation: UserEvaluation) -> Columns:
    names, found = _flat(evaluation, lambda score: score.behaviours)
    return {
        "dialogue": names,
        **_attributes(found, "measure"),
        "behaviour": [each.label for each in found],
        **_attributes(found, "domain", "item"),
        "slot": [slot_of(each.measure, each.domain, each.item) for each in found],
        "first_turn": [each.turns[0] if each.turns else None for each in found],
        "last_turn": [each.turns[-1] if each.turns else None for each in found],
        "count": [each.count or None for each in found],
        "expected": [each.expected or None for each in found],
    }


def _conversations(evaluation: UserEvaluation) -> Columns:
    scores = evaluation.scores
    return {
        "dialogue": [score.id for score in scores],
        "turns": [score.turns for score in scores],
        "domains": [", ".join(score.goal.tasks) for score in scores],
        "end": [score.end for score in scores],
        "loops": [len(score.loops) for score in scores],
        "longest_loop": [max((loop.repeats for loop in score.loops), default=0) for score in scores],
        "most_mentions": [_most_mentions(score) for score in scores],
        "warnings": ["; ".join(score.warnings) for score in scores],
    }


def _most_mentions(score: DialogueScore) -> int:
    counts = [each.count for each in score.behaviours if each.label in ("repeated_inform", "multiple_req")]
    return max(counts, default=1)


def _loops(evaluation: UserEvaluation) -> Columns:
    names, loops = _flat(evaluation, lambda score: score.loops)
    return {
        "dialogue": names,
        "first_turn": [loop.first for loop in loops],
        "last_turn": [loop.last for loop in loops],
        **_attributes(loops, "repeats"),
        "acts": [", ".join(loop.acts) for loop in loops],
        "domains": [", ".join(loop.domains) for loop in loops],
        **_attributes(loops, "cause", "detail"),
    }


def _confusions(evaluation: UserEvaluation) -> Columns:
    names, counted = _flat(evaluation, lambda score: score.confusions)
    return {
        "dialogue": names,
        **_attributes([confusion for confusion, _ in counted], "speaker", "fault", "said", "heard"),
        "count": [count for _, count in counted],
    }


def _patterns(evaluation: UserEvaluation) -> Columns:
    names, patterns = _flat(evaluation, lambda score: score.patterns)
    return {"dialogue": names, **_attributes(patterns, "kind", "domain", "part", "wanted", "pattern")}


def _normalisation(evaluation: UserEvaluation) -> Columns:
    names, attempts = _flat(evaluation, lambda score: score.attempts)
    return {
        "dialogue": names,
        "source": [source for source, _, _ in attempts],
        "turn": [turn for _, turn, _ in attempts],
        **_attributes(
            [attempt for *_, attempt in attempts],
            "domain",
            "slot",
            "value",
            "nearest",
            "canonical",
            "method",
            "matched",
        ),
    }


def _failures(evaluation: UserEvaluation) -> Columns:
    return _attributes(list(evaluation.failures), "dialogue", "turn", "reason", "file")
