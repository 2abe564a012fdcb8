"""``--fail-under`` and ``--fail-on-drop``: the checks that make a build fail, with an exit code of their own.

A threshold for a share is written as a percentage (``JGA=50%``) or as a fraction (``JGA=0.5``); ``JGA=50`` could be
either, and is refused. docs/decisions.md says why.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from dialgauge import measures, runs, stats
from dialgauge.cli.app import EXIT_INCOMPLETE
from dialgauge.cli.options import Real, measures_of, option, options
from dialgauge.cli.screen import err
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import counted, note_kind

if TYPE_CHECKING:
    from dialgauge.comparison import Comparison, Difference
    from dialgauge.runs import Run

EXIT_FAILED_CHECK = 3
_SHARE = "share"
_DROP = "fail-on-drop"
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
        "--fail-on-drop", metavar="RUN|FILE", help="Exit 3 if significantly worse than this."
    )
    margin: float = option(
        "--margin", type=Real(0), default=0.0, metavar="POINTS", show_default=False, help="Tolerate drops up to this."
    )

    def gate(self, store: Path | None, kind: str, *, family: str | None = None, scores_files: bool = False) -> Gate:
        """Parse the checks before scoring, so that a misspelt option costs no time.

        ``kind`` is that of the runs that the command makes; ``family`` has all its measures, None if any may, "" if
        names are not known before. ``scores_files``: it can score a baseline's file.
        """
        thresholds = [Threshold.parse(written) for written in self.fail_under]
        for threshold in thresholds if family != "" else ():
            threshold.check(family)
        name = self.fail_on_drop
        if name is None:
            return Gate(thresholds, self.margin)
        folder, path = runs.Store(store).folder / name, Path(name)
        if (path / runs.MANIFEST).is_file():
            baseline: Run = runs.Run.load(path)
        elif path.is_file() or (path.is_dir() and not folder.is_dir()):
            if not scores_files:
                raise DialgaugeError(f"--fail-on-drop: {name} is to be scored, and here a stored run is needed")
            return Gate(thresholds, self.margin, baseline_file=name)
        else:
            baseline = runs.Store(store).open(name)
        if baseline.kind != kind:
            raise DialgaugeError(
                f"--fail-on-drop: {baseline.id} is a run of kind {baseline.kind}, and this command makes runs of kind "
                f"{kind}; name one of those"
            )
        return Gate(thresholds, self.margin, baseline=baseline)


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

    def check(self, family: str | None) -> None:
        """An error where no such measure exists, or where it cannot have such a value."""
        try:
            card = measures.parse_measure(self.measure, family).card
        except DialgaugeError as error:
            raise DialgaugeError(f"--fail-under: {error}") from error
        self.least(card)

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


class Check(Struct, frozen=True):
    """What one check found: a measure of a run against a threshold, or against a baseline."""

    system: str
    measure: str
    passed: bool
    sentence: str
    #: What else there is to know, by the names that ``--json`` gives it.
    facts: Mapping[str, object]

    def record(self) -> dict[str, object]:
        """The check as ``--json`` has it; a drop is limited to the margin, and nothing may be missing."""
        facts = self.facts
        return {
            "name": f"{self.system}: {facts['check']} {self.measure}",
            "limit": facts.get("least", facts.get("margin", 0)),
            "value": next(facts[key] for key in ("value", "drop", "missing") if key in facts),
            "passed": self.passed,
            "system": self.system,
            "measure": self.measure,
            **facts,
            "sentence": self.sentence,
        }


class Checks(Struct, frozen=True):
    """All checks of a command's runs."""

    found: Sequence[Check] = ()
    margin: float = 0.0

    def records(self) -> list[dict[str, object]]:
        """The checks for ``--json``."""
        return [check.record() for check in self.found]

    def exit_code(self, otherwise: int) -> int:
        """Say which checks failed and in which measure; the code of a failed check, of missing units, or the other."""
        failed = [check for check in self.found if not check.passed]
        for check in failed:
            err.print(f"FAILED: {check.system}: {check.sentence}")
        drops = [check for check in self.found if "drop" in check.facts]
        for system in dict.fromkeys(check.system for check in drops):
            tested = [check for check in drops if check.system == system]
            if all(check.passed for check in tested):
                names = ", ".join(check.measure for check in tested)
                beyond = f" beyond the margin of {self.margin:g}" if self.margin else ""
                against = tested[0].facts["against"]
                err.print(f"{system}: no significant drop{beyond} compared with {against} ({names})", style="dim")
        if failed and all("missing" in check.facts for check in failed):
            return EXIT_INCOMPLETE
        return EXIT_FAILED_CHECK if failed else otherwise


class Gate(Struct, frozen=True):
    """What a build is to fail on."""

    thresholds: Sequence[Threshold] = ()
    margin: float = 0.0
    baseline: runs.Run | None = None
    #: A file to score as the others are, in place of a stored baseline.
    baseline_file: str = ""

    def require(self, scored: Iterable[object]) -> None:
        """Before the work: an error where a threshold is for a measure that will not be scored."""
        names = [str(score) for score in scored]
        for threshold in self.thresholds:
            if threshold.measure not in names:
                raise DialgaugeError(
                    f"--fail-under: '{threshold.measure}' is not among the measures to score."
                    f"{nearest(threshold.measure, names)}"
                )

    def check(self, runs: Sequence[Run], score_file: Callable[[str], Run] | None = None) -> Checks:
        """Check the runs; ``score_file`` makes the run of a baseline's file, where the command can."""
        found = [_threshold_check(run, threshold) for run in runs for threshold in self.thresholds]
        baseline, against = self.baseline, self.baseline.id if self.baseline else self.baseline_file
        if baseline is None and against and score_file is not None:
            baseline = score_file(against)
        if baseline is not None:
            for run in _same_split(runs, baseline):
                found += _drop_checks(baseline, against, run, self.margin)
        return Checks(found, self.margin)


def _threshold_check(run: Run, threshold: Threshold) -> Check:
    score = run.scores.get(threshold.measure)
    if score is None:
        raise DialgaugeError(
            f"--fail-under: {run.name} has no measure '{threshold.measure}'.{nearest(threshold.measure, run.scores)}"
        )
    least = threshold.least(score)
    facts = {"check": "fail-under", "value": score.value, "least": least}
    if score.value is None or math.isnan(score.value):
        sentence = f"{threshold.measure} is undefined, so not at least {threshold.text}"
        return Check(run.name, threshold.measure, False, sentence, facts | {"value": None})
    wanted = threshold.text if "%" in threshold.text else _shown(score, least)
    passed = score.value >= least
    sentence = f"{threshold.measure} {_shown(score, score.value)} is {'at least' if passed else 'below'} {wanted}"
    return Check(run.name, threshold.measure, passed, sentence, facts)


def _same_split(runs: Sequence[Run], baseline: Run) -> list[Run]:
    """Of runs on several splits, those on the baseline's."""
    split = baseline.manifest.config.get("split")
    same = [run for run in runs if run.manifest.config.get("split") == split]
    if not same:
        raise DialgaugeError(f"--fail-on-drop: nothing was evaluated on the split of {baseline.id}, '{split}'")
    return same


def _drop_checks(baseline: Run, against: str, run: Run, margin: float) -> Iterator[Check]:
    """Each measure of a run against the baseline, over the dialogues both have; p is Holm's over the measures."""
    from dialgauge.comparison import compare_runs

    own: dict[str, object] = {"check": _DROP, "against": against}
    if run.id == baseline.id:  # the same command was run again
        facts = own | {"margin": margin, "drop": 0.0}
        yield Check(run.name, "every measure", True, f"it is the run {against} itself", facts)
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
            f"it lacks {missing:,} of {counted(every, unit)} that {against} has{others}, so whether it got worse there "
            f"is unknown; measures are compared on the other {len(comparison.dialogues):,}"
        )
        yield Check(run.name, f"{unit}s", False, sentence, own | {"missing": missing})
    old, new = comparison.systems
    differences = [comparison.difference(new, old, measure) for measure in comparison.measures]
    tested = [difference for difference in differences if not math.isnan(difference.p)]
    corrected = stats.holm([difference.p for difference in tested]) if tested else ()
    for difference, p in zip(tested, map(float, corrected), strict=True):
        worse = bool(difference.difference) and (difference.better or difference.higher) == old
        larger = abs(difference.difference) > margin / (100 if _is_share(run.scores.get(difference.measure)) else 1)
        sign = 1 if difference.higher_is_better is False else -1
        low, high = sorted(sign * end + 0.0 for end in _ends(comparison, difference))
        facts = own | {
            "margin": margin, "drop": sign * difference.difference + 0.0, "low": low, "high": high, "p": p,
        }  # fmt: skip
        sentence = _drop_sentence(comparison, difference, p, against)
        yield Check(run.name, difference.measure, not (worse and larger and p < _ALPHA), sentence, facts)


def _ends(comparison: Comparison, difference: Difference) -> tuple[float, float]:
    """The interval of a difference; 0 to 0 where no dialogue differs, which no test can vary."""
    unvaried = not difference.difference and not difference.wins and not difference.losses and not comparison.too_few
    return (0.0, 0.0) if unvaried else (difference.low, difference.high)


def _drop_sentence(comparison: Comparison, difference: Difference, p: float, against: str) -> str:
    score = comparison.scores.run_score(difference.measure)
    column = comparison.measures.index(difference.measure)
    old, new = (_shown(score, float(comparison.corpus_values[row, column])) for row in (0, 1))
    low, high = sorted(map(abs, _ends(comparison, difference)))
    size = _size(score, abs(difference.difference))
    ends = "no 95% interval" if math.isnan(low) else f"95% interval {_size(score, low, high)}"
    verb = ("rose" if difference.difference > 0 else "dropped") if difference.difference else "moved"
    return (
        f"{difference.measure} {verb} by {size} from {old} to {new} compared with {against} "
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
