"""Systems that lack dialogues which others have: who, how many, and what leaving those out does to the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from dialgauge.comparison.scores import PairedScores
from dialgauge.report import number_of
from dialgauge.text import MANY_NAMED, Note, counted, some_of

if TYPE_CHECKING:
    from dialgauge.comparison.result import Comparison
    from dialgauge.runs import Run

#: The coverage policy of runs whose missing predictions were scored as empty.
_SCORED_AS_EMPTY = "empty"


def lacking_systems(scores: PairedScores, runs: Mapping[str, Run], unit: str) -> list[str]:
    """A sentence for each system that lacks dialogues which others have, or units which its gold has."""
    sentences: list[str] = []
    for place, system in enumerate(scores.systems):
        run = runs.get(system)
        counts = [(count, scores.all_dialogues, f"{unit}s") for count in scores.lacking[place : place + 1] if count]
        counts += _unscored(run) if run else []
        file = (
            next((f" ({item.path})" for item in run.manifest.inputs if item.role == "predictions"), "") if run else ""
        )
        for number, expected, units in counts[:1]:
            sentences.append(Note("lacking", f"{system}{file} lacks {number:,} of {expected:,} {units}"))
    return sentences


def _unscored(run: Run) -> list[tuple[int, int, str]]:
    """How many units of how many have no score, by unit, where any lack one."""
    counts = ((unit, count.expected, count.scored) for unit, count in run.coverage.units.items())
    return [
        (expected - scored, expected, unit)
        for unit, expected, scored in counts
        if expected is not None and scored is not None and scored < expected
    ]


def missing_sentences(comparison: Comparison) -> list[str]:
    """What is to be read before any number: which file lacks what, and how that moves the others' scores.

    Sentences without their full stop, as all notes are.
    """
    sentences = [*comparison.pairing.warnings(list(comparison.runs.values())), *comparison.lacking]
    if comparison.lacking and comparison.scores.all_dialogues > len(comparison.dialogues):
        together = counted(len(comparison.dialogues), comparison.pairing.unit)
        turns = ", with the same turns" if comparison.scores.unlike_turns else ""
        message = f"All systems are compared on the {together} that all of them have{turns}{_moved(comparison)}"
        sentences.append(Note("shared_only", message))
    if comparison.scores.unlike_turns:
        dialogues = counted(comparison.scores.unlike_turns, "dialogue")
        sentences.append(Note("unlike_turns", f"{dialogues} left out: the systems were scored on different turns"))
    return [*sentences, *_scored_as_empty(comparison.runs)]


def _scored_as_empty(runs: Mapping[str, Run]) -> Iterator[str]:
    for name, run in runs.items():
        for unit, count in run.coverage.units.items() if run.coverage.policy == _SCORED_AS_EMPTY else ():
            lacks = (count.expected or 0) - (count.read or 0)
            if count.read is not None and lacks > 0:
                sentence = f"{name} has no prediction for {lacks:,} of {count.expected:,} {unit}: scored as empty"
                yield Note("scored_as_empty", sentence)


def _moved(comparison: Comparison) -> str:
    """How the first measure of each system changes, as the end of a sentence; nothing where none does."""
    measure = comparison.measures[0]
    number = number_of(comparison.scores.run_score(measure))
    changes = []
    for row, known in enumerate(comparison.scores.run_scores):
        before = known[measure].value if measure in known else None
        if before is None:
            continue
        old, new = number.text(before), number.text(float(comparison.corpus_values[row, 0]))
        if old != new:
            changes.append(f"{comparison.systems[row]} {old} -> {new}")
    return f", which moves {measure}: {some_of(changes, MANY_NAMED)}" if changes else ""
