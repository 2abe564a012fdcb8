"""``--fail-under`` and ``--fail-on-drop``: the checks that make a build fail, with an exit code of their own.

A threshold for a share is written as a percentage (``JGA=50%``) or as a fraction (``JGA=0.5``); ``JGA=50`` could be
either, and is refused. docs/decisions.md says why.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from dialgauge import measures, runs, stats
from dialgauge.cli.app import EXIT_INCOMPLETE
from dialgauge.cli.options import RUN, Real, measures_of, option, options
from dialgauge.cli.screen import err
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import counted, note_kind

if TYPE_CHECKING:
    from dialgauge.comparison import Comparison, Difference
    from dialgauge.runs import Run

EXIT_FAILED_CHECK = 3
_SHARE = "share"
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
#: Chance of failing a build although nothing got worse.
_ALPHA = 0.05


@options
class Gates:
    """The checks that a build fails on, as options."""

    fail_under: tuple[str, ...] = option(
        "--fail-under",
        multiple=True,
        metavar="MEASURE=VALUE",
        shell_complete=measures_of(several=False, ending="="),
        help="Exit 3 if below VALUE (50% or 0.5); repeatable.",
    )
    fail_on_drop: str | None = option(
        "--fail-on-drop", type=RUN, metavar="RUN", help="Exit 3 if significantly worse than this stored run."
    )
    margin: float = option(
        "--margin", type=Real(0), default=0.0, metavar="POINTS", show_default=False, help="Tolerate drops up to this."
    )

    def gate(self, store: Path | None, kind: str, *, known: bool = True) -> Gate:
        """The checks, parsed before the work; ``kind`` is that of the runs that the command makes.

        ``known``: all measures that it can score are registered.
        """
        thresholds = [Threshold.parse(written) for written in self.fail_under]
        for threshold in thresholds if known else ():
            threshold.least(measures.parse_measure(threshold.measure).card)
        if self.fail_on_drop is None:
            return Gate(thresholds, self.margin)
        folder = Path(self.fail_on_drop)
        is_run = (folder / runs.MANIFEST).is_file()
        baseline: Run = runs.Run.load(folder) if is_run else runs.Store(store).open(self.fail_on_drop)
        if baseline.kind != kind:
            raise DialgaugeError(
                f"--fail-on-drop: {baseline.id} is a run of kind {baseline.kind}, and this command makes runs of kind "
                f"{kind}; name one of those"
            )
        return Gate(thresholds, self.margin, baseline)


class Threshold(Struct, frozen=True):
    """The least value of a measure, as it was written."""

    measure: str
    text: str

    @classmethod
    def parse(cls, written: str) -> Threshold:
        """``MEASURE=VALUE``; the measure may have parameters with equals signs of their own."""
        measure, equals, text = written.rpartition("=")
        measure, text = measure.strip(), text.strip()
        if not equals or not measure or not _NUMBER.fullmatch(text.removesuffix("%").rstrip()):
            raise DialgaugeError(
                f"--fail-under expects MEASURE=VALUE, VALUE being 50% or 0.5 for a share (got '{written}')"
            )
        return cls(measure, text)

    def least(self, score: measures.Score | measures.Card[Any]) -> float:
        """The value in the measure's unit."""
        number = float(self.text.removesuffix("%"))
        percent = self.text.endswith("%")
        if score.higher_is_better is False:
            raise DialgaugeError(
                f"--fail-under {self.measure}: lower is better for this measure, so 'under' cannot fail; use "
                "--fail-on-drop, which knows the direction"
            )
        if score.unit != _SHARE:
            if percent:
                raise DialgaugeError(f"--fail-under {self.measure}={self.text}: not a share; give it in its own unit")
            return number
        if percent:
            number /= 100
        elif number >= 1 and "." not in self.text:
            raise DialgaugeError(
                f"--fail-under {self.measure}={self.text} is ambiguous: write {self.text}% or a fraction such as 0.5"
            )
        if not 0 <= number <= 1:
            raise DialgaugeError(f"--fail-under {self.measure}={self.text} must be between 0% and 100%")
        return number

    def check(self, run: Run) -> Check:
        """Whether a run reaches it; an undefined value does not."""
        score = run.scores.get(self.measure)
        if score is None:
            raise DialgaugeError(
                f"--fail-under: {run.name} has no measure '{self.measure}'.{nearest(self.measure, run.scores)}"
            )
        least, value = self.least(score), score.value
        if value is None or math.isnan(value):
            passed, sentence = False, f"{self.measure} is undefined, so not at least {self.text}"
        else:
            passed = value >= least
            wanted = self.text if "%" in self.text else _shown(score, least)
            side = "at least" if passed else "below"
            sentence = f"{self.measure} {_shown(score, value)} is {side} {wanted}"
        return Check(run.name, "fail-under", self.measure, least, value if value == value else None, passed, sentence)


class Check(Struct, frozen=True):
    """What one check found: a measure of a run against a threshold, or against a baseline."""

    system: str
    #: ``fail-under``, ``fail-on-drop``, or ``missing`` for units that the baseline has and the run lacks.
    check: str
    measure: str
    limit: float
    value: float | None
    passed: bool
    sentence: str

    def record(self) -> dict[str, object]:
        """The check as ``--json`` has it."""
        return {"name": f"{self.system}: {self.check} {self.measure}", **msgspec.structs.asdict(self)}


class Checks(Struct, frozen=True):
    """All checks of a command's runs."""

    found: Sequence[Check] = ()
    baseline: str = ""
    margin: float = 0.0

    def records(self) -> list[dict[str, object]]:
        """The checks for ``--json``."""
        return [check.record() for check in self.found]

    def exit_code(self, otherwise: int) -> int:
        """Say which checks failed and in which measure; the code of a failed check, of missing units, or the other."""
        failed = [check for check in self.found if not check.passed]
        for check in failed:
            err.print(f"FAILED: {check.system}: {check.sentence}")
        drops = [check for check in self.found if check.check == "fail-on-drop"]
        for system in dict.fromkeys(check.system for check in drops):
            tested = [check for check in drops if check.system == system]
            if all(check.passed for check in tested):
                names = ", ".join(check.measure for check in tested)
                beyond = f" beyond the margin of {self.margin:g}" if self.margin else ""
                err.print(f"{system}: no significant drop{beyond} compared with {self.baseline} ({names})", style="dim")
        if failed and all(check.check == "missing" for check in failed):
            return EXIT_INCOMPLETE
        return EXIT_FAILED_CHECK if failed else otherwise


class Gate(Struct, frozen=True):
    """What a build is to fail on."""

    thresholds: Sequence[Threshold] = ()
    margin: float = 0.0
    baseline: runs.Run | None = None

    def check(self, runs: Sequence[Run]) -> Checks:
        """Check the runs; of runs on several splits, those on the baseline's are compared with it."""
        found = [threshold.check(run) for run in runs for threshold in self.thresholds]
        if self.baseline is None:
            return Checks(found)
        split = self.baseline.manifest.config.get("split")
        same = [run for run in runs if run.manifest.config.get("split") == split]
        if not same:
            raise DialgaugeError(f"--fail-on-drop: nothing was evaluated on the split of {self.baseline.id}, '{split}'")
        for run in same:
            found += _drop_checks(self.baseline, run, self.margin)
        return Checks(found, self.baseline.id, self.margin)


def _drop_checks(baseline: Run, run: Run, margin: float) -> Iterator[Check]:
    """Each measure of a run against the baseline, over the dialogues both have; p is Holm's over the measures."""
    from dialgauge.comparison import compare_runs

    if run.id == baseline.id:  # the same command was run again
        yield Check(run.name, "fail-on-drop", "every measure", margin, 0.0, True, "it is the baseline itself")
        return
    comparison = compare_runs([baseline, run])
    for note in comparison.notes:
        if note_kind(note) != "unlike_turns":  # which the check says itself
            err.print(f"--fail-on-drop: {note}")
    of_baseline, missing = comparison.scores.lacking or (0, 0)
    if missing:  # what is missing may be what got worse
        unit, every = comparison.pairing.unit, comparison.scores.all_dialogues - of_baseline
        unlike = comparison.scores.unlike_turns
        others = f", and {counted(unlike, 'more was', 'more were')} scored on different turns" if unlike else ""
        sentence = (
            f"it lacks {missing:,} of {counted(every, unit)} that {baseline.id} has{others}, so whether it got worse "
            f"there is unknown; measures are compared on the other {len(comparison.dialogues):,}"
        )
        yield Check(run.name, "missing", f"{unit}s", 0, missing, False, sentence)
    old, new = comparison.systems
    differences = [comparison.difference(new, old, measure) for measure in comparison.measures]
    tested = [difference for difference in differences if not math.isnan(difference.p)]
    corrected = stats.holm([difference.p for difference in tested]) if tested else ()
    for difference, p in zip(tested, map(float, corrected), strict=True):
        worse = bool(difference.difference) and (difference.better or difference.higher) == old
        larger = abs(difference.difference) > margin / (100 if _is_share(run.scores.get(difference.measure)) else 1)
        drop = (1 if difference.higher_is_better is False else -1) * difference.difference + 0.0
        passed = not (worse and larger and p < _ALPHA)
        sentence = _drop_sentence(comparison, difference, p, baseline.id)
        yield Check(run.name, "fail-on-drop", difference.measure, margin, drop, passed, sentence)


def _drop_sentence(comparison: Comparison, difference: Difference, p: float, baseline: str) -> str:
    score = comparison.scores.run_score(difference.measure)
    column = comparison.measures.index(difference.measure)
    old, new = (_shown(score, float(comparison.corpus_values[row, column])) for row in (0, 1))
    low, high = sorted((abs(difference.low), abs(difference.high)))
    if not difference.difference and not difference.wins and not difference.losses and not comparison.too_few:
        low = high = 0.0  # no dialogue differs, which no test can vary
    size = _size(score, abs(difference.difference))
    ends = "no 95% interval" if math.isnan(low) else f"95% interval {_size(score, low, high)}"
    verb = ("rose" if difference.difference > 0 else "dropped") if difference.difference else "moved"
    return (
        f"{difference.measure} {verb} by {size} from {old} to {new} compared with {baseline} "
        f"({ends}, p = {p:.2g}, {counted(len(comparison.dialogues), comparison.pairing.unit)})"
    )


def _shown(score: measures.Score | None, value: float) -> str:
    return f"{value:.2%}" if _is_share(score) else f"{value:.4g}"


def _size(score: measures.Score | None, *values: float) -> str:
    """Differences, of shares in points."""
    if _is_share(score):
        return f"{' to '.join(f'{100 * value:.2f}' for value in values)} points"
    return " to ".join(f"{value:.4g}" for value in values)


def _is_share(score: measures.Score | None) -> bool:
    return score is not None and score.unit == _SHARE
