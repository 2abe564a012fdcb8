"""Systems that lack dialogues which others have: who, how many, and what leaving those out does to the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from msgspec import Struct

from dialgauge.comparison.scores import PairedScores
from dialgauge.comparison.views import view_of_runs
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.rendering import score_column
from dialgauge.text import Note, counted, some_of

if TYPE_CHECKING:
    from dialgauge.comparison.result import Comparison
    from dialgauge.runs import Run

#: ``shared`` compares what all systems have, ``without`` leaves incomplete systems out, ``refuse`` is an error.
MissingPolicy: TypeAlias = Literal["shared", "without", "refuse"]
MISSING_POLICIES: tuple[MissingPolicy, ...] = get_args(MissingPolicy)

#: Not a way to compare runs, but to score predictions before: the coverage policy of that name.
SCORED_AS_EMPTY = "empty"

#: The notes that name options of ``compare``, by which missing dialogues and turns would be treated otherwise.
MISSING_OPTIONS, UNLIKE_TURNS = "missing_options", "unlike_turns"
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
        where = f" ({self.file})" if self.file else ""
        return f"{self.system}{where} lacks {self.number:,} of {self.of:,} {self.unit}"


def missing_policy(name: str) -> MissingPolicy:
    """A policy by name; ``empty`` is one for predictions, not for runs."""
    for policy in MISSING_POLICIES:
        if policy == name:
            return policy
    if name == SCORED_AS_EMPTY:
        raise DialgaugeError(
            "runs are already scored, so missing predictions cannot be scored as empty states; score the "
            "predictions again with --coverage empty"
        )
    known = (*MISSING_POLICIES, SCORED_AS_EMPTY)
    raise DialgaugeError(f"there is no policy '{name}' for missing predictions.{nearest(name, known)}")


def lacking_systems(scores: PairedScores, runs: Mapping[str, Run]) -> list[LackingSystem]:
    """The systems that lack dialogues which others have, or dialogues or turns which their gold has."""
    lacking, unit = [], view_of_runs(list(runs.values())).unit
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
            f"{'; '.join(system.sentence() for system in lacking)}; predict them too, or choose what to do: --missing "
            "shared compares what all systems have, --missing empty scores them as empty states, --missing without "
            f"leaves {', '.join(system.system for system in lacking)} out"
        )


#: Only files can be scored anew.
_EMPTY = "--missing empty scores what is missing as empty states (when comparing files), "


def missing_sentences(comparison: Comparison) -> list[str]:
    """What is to be read before any number: which file lacks what, and how that moves the others' scores.

    Sentences without their full stop, as all notes are.
    """
    sentences = [*comparison.view.told_first(list(comparison.runs.values()))]
    sentences += [Note("lacking", system.sentence()) for system in comparison.lacking]
    if comparison.lacking and comparison.scores.all_dialogues > len(comparison.dialogues):
        together = counted(len(comparison.dialogues), comparison.view.unit)
        moved = _moved(comparison)
        turns = ", with the same turns" if comparison.scores.unlike_turns else ""
        message = f"So all systems are compared on the {together} that all of them have{turns}{moved}"
        empty = _EMPTY if comparison.view.scores_missing_as_empty else ""
        ways = f"{empty}--missing without leaves incomplete systems out"
        sentences += [
            Note("shared_only", message),
            Note(MISSING_OPTIONS, f"Other ways: {ways}, --missing refuse stops"),
        ]
    if comparison.scores.unlike_turns:
        dialogues = counted(comparison.scores.unlike_turns, "dialogue")
        sentences += [
            Note(UNLIKE_TURNS, f"{dialogues} left out: the systems were scored on different turns there"),
            Note(MISSING_OPTIONS, "--missing empty scores all turns of all systems"),
        ]
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
    look = score_column(measure, comparison.scores.run_score(measure))
    changes = []
    for row, known in enumerate(comparison.scores.run_scores):
        before = known[measure].value if measure in known else None
        old, new = look.text(before), look.text(float(comparison.corpus_values[row, 0]))
        if before is not None and old != new:
            changes.append(f"{comparison.systems[row]} {old} -> {new}")
    if not changes:
        return ""
    return f", which moves {measure}: {some_of(changes, _NAMED)}"
