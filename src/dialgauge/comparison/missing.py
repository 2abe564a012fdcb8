"""Systems that lack dialogues which others have: who, how many, and what leaving those out does to the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from dialgauge.comparison.scores import PairedScores
from dialgauge.errors import DialgaugeError
from dialgauge.report import number_of
from dialgauge.text import Note, counted, some_of

if TYPE_CHECKING:
    from dialgauge.comparison.result import Comparison
    from dialgauge.runs import Run

#: ``shared`` compares what all systems have, ``refuse`` is an error where one lacks something.
MISSING_POLICIES = ("shared", "refuse")
#: Not a way to compare runs, but to score predictions before: the coverage policy of that name.
SCORED_AS_EMPTY = "empty"
#: How many systems are named with their old and new value.
_NAMED = 6


class LackingSystem(Struct, frozen=True):
    """A system without some of the units, dialogues mostly; ``file`` is where its predictions came from, if known."""

    system: str
    file: str
    number: int
    of: int
    unit: str = "dialogues"

    def sentence(self) -> str:
        """Who lacks how much."""
        where = f" ({self.file})" if self.file else ""
        return f"{self.system}{where} lacks {self.number:,} of {self.of:,} {self.unit}"


def lacking_systems(scores: PairedScores, runs: Mapping[str, Run], unit: str) -> list[LackingSystem]:
    """The systems that lack dialogues which others have, or dialogues or turns which their gold has."""
    lacking = []
    for system, number in zip(scores.systems, scores.lacking or [0] * len(scores.systems), strict=True):
        run = runs.get(system)
        counts = [(number, scores.all_dialogues, f"{unit}s")] if number else _unscored(run) if run else []
        files = [item.path for item in run.manifest.inputs if item.role == "predictions"] if run else []
        lacking += [LackingSystem(system, next(iter(files), ""), *count) for count in counts[:1]]
    return lacking


def _unscored(run: Run) -> list[tuple[int, int, str]]:
    """How many units of how many have no score, by unit, where any lack one."""
    counts = ((unit, count.expected, count.scored) for unit, count in run.coverage.units.items())
    return [
        (expected - scored, expected, unit)
        for unit, expected, scored in counts
        if expected is not None and scored is not None and scored < expected
    ]


def refuse_lacking(lacking: Sequence[LackingSystem]) -> None:
    """An error that names the systems."""
    if lacking:
        raise DialgaugeError(
            f"{'; '.join(system.sentence() for system in lacking)}; predict them too, or compare what all systems have "
            "(--missing shared)"
        )


def missing_sentences(comparison: Comparison) -> list[str]:
    """What is to be read before any number: which file lacks what, and how that moves the others' scores.

    Sentences without their full stop, as all notes are.
    """
    sentences = comparison.pairing.warnings(list(comparison.runs.values()))
    sentences += [Note("lacking", system.sentence()) for system in comparison.lacking]
    if comparison.lacking and comparison.scores.all_dialogues > len(comparison.dialogues):
        together = counted(len(comparison.dialogues), comparison.pairing.unit)
        turns = ", with the same turns" if comparison.scores.unlike_turns else ""
        message = f"All systems are compared on the {together} that all of them have{turns}{_moved(comparison)}"
        sentences.append(Note("shared_only", message))
    if comparison.scores.unlike_turns:
        dialogues = counted(comparison.scores.unlike_turns, "dialogue")
        sentences.append(Note("unlike_turns", f"{dialogues} left out: the systems were scored on different turns"))
    return [*sentences, *_scored_as_empty(comparison.runs)]


def _scored_as_empty(runs: Mapping[str, Run]) -> list[str]:
    counts = [(name, run.coverage) for name, run in runs.items() if run.coverage.policy == SCORED_AS_EMPTY]
    return [
        Note("scored_as_empty", f"{name} has no prediction for {lacks:,} of {count.expected:,} {unit}: scored as empty")
        for name, coverage in counts
        for unit, count in coverage.units.items()
        if count.expected is not None and count.read is not None and (lacks := count.expected - count.read) > 0
    ]


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
    return f", which moves {measure}: {some_of(changes, _NAMED)}" if changes else ""
