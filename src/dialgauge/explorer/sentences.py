"""What one run says, in sentences. Made from the run only; a comparison has its verdict."""

from __future__ import annotations

from dialgauge.measures import Count
from dialgauge.presentation import capitalised, kind_sentences, sentence
from dialgauge.rendering import plain
from dialgauge.runs import Run
from dialgauge.text import counted, note_kind

#: Notes that begin with the name of a measure, which stays as it is.
_NAMED_FIRST = frozenset({"no_sums", "not_paired", "other_meaning", "partial_reward", "uncounted"})


def _noted(note: str) -> str:
    return sentence(note) if note_kind(note) in _NAMED_FIRST else capitalised(note)


def run_sentences(run: Run, *, notes: bool = True) -> list[str]:
    """What one run says: how complete it is where it is not, its headline, what goes wrong most, what to beware of.

    Of its ``notes`` all but the one that says how much of gold was scored: that is told where it matters.
    """
    beware = [_noted(note) for note in run.notes if notes and note.strip() and note_kind(note) != "coverage"]
    return [*_incomplete(run), *kind_sentences(run), *beware]


def _incomplete(run: Run) -> list[str]:
    """How much was not scored; nothing where all was, or where nobody knows how much there should be."""
    lacking = [lack for unit, count in run.coverage.units.items() if (lack := _lacks(unit, count))]
    policy = f" ({plain(run.coverage.policy)})" if lacking and run.coverage.policy else ""
    return [sentence(f"{plain(run.name)} is incomplete: {'; '.join(lacking)}{policy}")] if lacking else []


def _lacks(unit: str, count: Count) -> str:
    expected, known = count.expected, [number for number in (count.read, count.scored) if number is not None]
    if expected is None:
        return f"{counted(count.failed, plain(unit), plain(unit))} failed" if count.failed else ""
    missing = expected - min(known, default=expected)
    if missing <= 0 and not count.failed:
        return ""
    failed = f", {count.failed:,} failed" if count.failed else ""
    scored = "" if count.scored is None or missing == expected - count.scored else f", {count.scored:,} scored"
    return f"it lacks {max(missing, 0):,} of {expected:,} {plain(unit)}{failed}{scored}"
