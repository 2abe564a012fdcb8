"""``--fail-under`` and ``--fail-on-drop``: the checks that make a build fail, with an exit code of their own.

A threshold for a share is written as a percentage (``JGA=50%``) or as a fraction (``JGA=0.5``); ``JGA=50`` could be
either, and is refused. docs/decisions/command-line.md says why.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Struct

from dialgauge.cli.choices import measures_of
from dialgauge.cli.options import Option
from dialgauge.cli.screen import err
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import counted, note_kind

if TYPE_CHECKING:
    from dialgauge.comparison import Comparison, Difference
    from dialgauge.measures import Card, Score
    from dialgauge.runs import Run

EXIT_FAILED_CHECK = 3

FailUnderOption = Annotated[
    list[str] | None,
    Option(
        "--fail-under",
        metavar="MEASURE=VALUE",
        known=measures_of(several=False, ending="="),
        help="Exit with code 3 if below VALUE: 50% or 0.5 for a share; repeatable.",
    ),
]
FailOnDropOption = Annotated[
    str | None,
    Option("--fail-on-drop", metavar="RUN", help="Exit with code 3 if significantly worse than this stored run."),
]


class Gates(Struct, frozen=True):
    """The checks that a build fails on, as options."""

    fail_under: FailUnderOption = None
    fail_on_drop: FailOnDropOption = None

    def gate(
        self, store: Path | None, *, kinds: Sequence[str], family: str | None = None, check_names: bool = True
    ) -> BuildGate:
        """The checks, of a command that makes runs of these kinds; see :meth:`BuildGate.of`."""
        return BuildGate.of(
            self.fail_under, self.fail_on_drop, store, kinds=kinds, family=family, check_names=check_names
        )


_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
#: Chance of failing a build although nothing got worse.
_ALPHA = 0.05


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
        from dialgauge.measures import parse_measure

        try:
            card = parse_measure(self.measure, family).card
        except DialgaugeError as error:
            raise DialgaugeError(f"--fail-under: {error}") from error
        self.least(card)

    def least(self, score: Score | Card[Any]) -> float:
        """The value in the measure's unit."""
        from dialgauge.report import SHARE

        number = float(self.text.removesuffix("%"))
        percent = self.text.endswith("%")
        if score.higher_is_better is False:
            raise DialgaugeError(
                f"--fail-under {self.measure}: lower is better for this measure, so 'under' cannot fail; use "
                "--fail-on-drop, which knows the direction"
            )
        if score.unit != SHARE:
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


class BuildGate(Struct, frozen=True):
    """What a build is to fail on; made before the work, so that a misspelt option costs no scoring."""

    thresholds: Sequence[Threshold] = ()
    baseline: Run | None = None

    @classmethod
    def of(
        cls,
        under: Sequence[str] | None,
        drop: str | None,
        store: Path | None,
        *,
        kinds: Sequence[str],
        family: str | None = None,
        check_names: bool = True,
    ) -> BuildGate:
        """The checks that the options ask for, of a command that makes runs of these kinds.

        ``family`` holds all its measures, if one does; without ``check_names`` it has scores that are no measures.
        """
        thresholds = [Threshold.parse(written) for written in under or ()]
        for threshold in thresholds if check_names else ():
            threshold.check(family)
        if drop is None:
            return cls(thresholds)
        from dialgauge.runs import Store

        baseline = Store(store).open(drop)
        if baseline.kind not in kinds:
            raise DialgaugeError(
                f"--fail-on-drop: {baseline.id} is a run of kind {baseline.kind}, and this command makes runs of kind "
                f"{' or '.join(kinds)}; name one of those"
            )
        return cls(thresholds, baseline)

    def require(self, scored: Iterable[object]) -> None:
        """Before the work: an error where a threshold is for a measure that will not be scored."""
        names = [str(one) for one in scored]
        for threshold in self.thresholds:
            if threshold.measure not in names:
                raise DialgaugeError(
                    f"--fail-under: '{threshold.measure}' is not among the measures to score."
                    f"{nearest(threshold.measure, names)}"
                )

    def exit_code(self, runs: Sequence[Run], otherwise: int) -> int:
        """Say which checks failed and in which measure; the code of a failed check, or the other one."""
        failures = [*self._under(runs), *self._drops(runs)]
        for sentence in failures:
            err.print(f"FAILED: {sentence}")
        return EXIT_FAILED_CHECK if failures else otherwise

    def _under(self, runs: Sequence[Run]) -> Iterator[str]:
        for run in runs:
            for threshold in self.thresholds:
                score = run.scores.get(threshold.measure)
                if score is None:
                    raise DialgaugeError(
                        f"--fail-under: {run.name} has no measure '{threshold.measure}'."
                        f"{nearest(threshold.measure, run.scores)}"
                    )
                least = threshold.least(score)
                if score.value is None or math.isnan(score.value):
                    yield f"{run.name}: {threshold.measure} is undefined, so not at least {threshold.text}"
                elif score.value < least:
                    wanted = threshold.text if "%" in threshold.text else _shown(score, least)
                    yield f"{run.name}: {threshold.measure} {_shown(score, score.value)} is below {wanted}"

    def _drops(self, runs: Sequence[Run]) -> Iterator[str]:
        if self.baseline is None:
            return
        for run in self._same_split(runs, self.baseline):
            yield from _drops(self.baseline, run)

    @staticmethod
    def _same_split(runs: Sequence[Run], baseline: Run) -> list[Run]:
        """Of runs on several splits, those on the baseline's."""
        split = baseline.manifest.config.get("split")
        same = [run for run in runs if run.manifest.config.get("split") == split]
        if not same:
            raise DialgaugeError(f"--fail-on-drop: nothing was evaluated on the split of {baseline.id}, '{split}'")
        return same


def _drops(baseline: Run, run: Run) -> Iterator[str]:
    """The measures in which a run is significantly worse than the baseline, over the dialogues both have."""
    from dialgauge.comparison import MISSING_OPTIONS, UNLIKE_TURNS, compare_runs

    comparison = compare_runs([baseline, run])
    for note in comparison.notes:
        if note_kind(note) not in (MISSING_OPTIONS, UNLIKE_TURNS):  # which compare has, and this check not
            err.print(f"--fail-on-drop: {note}")
    worse = list(_significantly_worse(comparison))
    for difference, p in worse:
        yield f"{run.name}: {_told(comparison, difference, p, baseline)}"
    if not worse:
        tested = ", ".join(comparison.measures)
        err.print(f"{run.name}: no significant drop compared with {baseline.id} ({tested})", style="dim")


def _significantly_worse(comparison: Comparison) -> Iterator[tuple[Difference, float]]:
    """What got worse, new minus old, with p corrected for the number of measures (Holm)."""
    from dialgauge.stats import holm

    old, new = comparison.systems
    found = [comparison.difference(new, old, measure) for measure in comparison.measures]
    tested = [difference for difference in found if not math.isnan(difference.p)]
    corrected = holm([difference.p for difference in tested]) if tested else ()
    for one, p in zip(tested, corrected, strict=True):
        if p < _ALPHA and one.difference and one.better == old:
            yield one, float(p)


def _told(comparison: Comparison, one: Difference, p: float, baseline: Run) -> str:
    score = comparison.scores.run_score(one.measure)
    column = comparison.measures.index(one.measure)
    old, new = (_shown(score, float(comparison.values[place, column])) for place in (0, 1))
    low, high = sorted((abs(one.low), abs(one.high)))
    size, ends = _size(score, abs(one.difference)), _size(score, low, high)
    verb = "dropped" if one.higher_is_better else "rose"
    return (
        f"{one.measure} {verb} by {size} from {old} to {new} compared with {baseline.id} "
        f"(95% interval {ends}, p = {p:.2g}, {counted(len(comparison.dialogues), comparison.view.unit)})"
    )


def _shown(score: Score | None, value: float) -> str:
    return f"{value:.2%}" if _is_share(score) else f"{value:.4g}"


def _size(score: Score | None, *values: float) -> str:
    """Differences, of shares in points."""
    if _is_share(score):
        return f"{' to '.join(f'{100 * value:.2f}' for value in values)} points"
    return " to ".join(f"{value:.4g}" for value in values)


def _is_share(score: Score | None) -> bool:
    from dialgauge.report import SHARE

    return score is not None and score.unit == SHARE
