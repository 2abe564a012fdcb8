"""The result of a comparison: scores with intervals, and for every pair of systems the differences and their tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from dialgauge import stats
from dialgauge._version import __version__
from dialgauge.comparison.missing import lacking_systems, missing_sentences
from dialgauge.comparison.pairing import Pairing
from dialgauge.comparison.scores import PairedScores, no_shared_measure, shared_turns
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Resampling, Score, Signature
from dialgauge.text import counted

if TYPE_CHECKING:
    import polars

    from dialgauge.comparison.verdict import Verdict
    from dialgauge.report import Page, Picture, Table
    from dialgauge.runs import Run


@dataclass(frozen=True)
class Difference:
    """First minus second system on one measure. Undefined numbers are NaN.

    ``p`` is the p-value that decides: that of the randomisation, or of an amount the larger one of two tests.
    ``adjusted``, ``low`` and ``high`` hold for all pairs of systems together (step-down max-T); the interval excludes 0
    exactly where the difference is ``significant``. ``wins`` and ``losses`` are dialogues on which the first system is
    better and worse than the second, or higher and lower if the measure has no better direction.
    """

    first: str
    second: str
    measure: str
    difference: float
    low: float
    high: float
    error: float
    p: float
    adjusted: float
    wins: int
    ties: int
    losses: int
    significant: bool
    higher_is_better: bool | None = True

    def as_dict(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)} | {"better": self.better}

    @property
    def higher(self) -> str:
        """The system whose score is higher, significantly or not; of equal ones the second."""
        return self.first if self.difference > 0 else self.second

    @property
    def better(self) -> str | None:
        """The system whose score is better, significantly or not; of equal ones the second. None: nothing says it."""
        if self.higher_is_better is None:
            return None
        return self.first if (self.difference > 0) == self.higher_is_better and self.difference else self.second

    def turned(self) -> Difference:
        """The same difference seen from the other side: second minus first."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=0.0 - self.difference,
            low=0.0 - self.high,
            high=0.0 - self.low,
            wins=self.losses,
            losses=self.wins,
        )


class SharedScores(dict[str, Score]):
    """The scores of a system by measure."""

    def __missing__(self, measure: str) -> Score:
        raise no_shared_measure(measure, self)


@dataclass(frozen=True, repr=False)
class Comparison(Mapping[str, SharedScores]):
    """Systems compared over the dialogues they share; ``runs`` holds the run of each system, where there is one.

    >>> import dialgauge
    >>> gold = {str(n): [{"hotel-area": "north"}] for n in range(8)}
    >>> systems = {"right": gold, "silent": {name: [{}] for name in gold}}
    >>> comparison = dialgauge.compare(gold, systems, measures="JGA", resamples=1000)
    >>> print(comparison.verdict)
    right is ahead of silent by 100.0 points in JGA (p = 0.005)
    """

    scores: PairedScores
    intervals: stats.Floats
    #: ``tested``: results as reported, after adjustments. ``randomisation``: the randomisation test unadjusted.
    tested: stats.PairedRandomisation
    randomisation: stats.PairedRandomisation
    #: Those of the tests.
    resamples: int
    seed: int
    level: float
    runs: Mapping[str, Run] = field(default_factory=dict)
    pairing: Pairing = field(default_factory=Pairing)
    #: Interval method by system and measure.
    made: Mapping[tuple[str, str], str] = field(default_factory=dict)
    #: Measures whose interval uses the one-more-unit method; for ``amounts`` the p-value does, too.
    one_more: tuple[str, ...] = ()
    amounts: tuple[str, ...] = ()
    #: Whether the user named the measures: none of them is then folded away.
    named: bool = False

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems' names, in the order they were given."""
        return self.scores.systems

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures all systems have."""
        return self.scores.measures

    @property
    def dialogues(self) -> tuple[str, ...]:
        """The ids of the compared dialogues, as the first system writes them."""
        return self.scores.dialogues

    @property
    def notes(self) -> tuple[str, ...]:
        """What is left out, what was scored differently, how files were read."""
        return (*missing_sentences(self), *self.scores.notes)

    @cached_property
    def lacking(self) -> list[str]:
        """A sentence for each system that lacks dialogues which others, or their gold, have."""
        return lacking_systems(self.scores, self.runs, self.pairing.unit)

    @property
    def complete(self) -> bool:
        """Whether every system was compared on everything there is."""
        return not self.lacking and not self.scores.unlike_turns and not self.pairing.mismatched

    @cached_property
    def corpus_values(self) -> stats.Floats:
        """The corpus values, (systems, measures)."""
        return self.scores.values

    @cached_property
    def oriented(self) -> stats.Floats:
        """The corpus values with the sign turned where less is better: a better system stands higher."""
        signs = [-1.0 if self.scores.higher_is_better(measure) is False else 1.0 for measure in self.measures]
        oriented: stats.Floats = self.corpus_values * np.array(signs)
        return oriented

    @property
    def alpha(self) -> float:
        """Differences with an adjusted p-value below this are significant: what the level leaves."""
        return round(1 - self.level, 12)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """All pairs of systems, by their places."""
        return self.randomisation.pairs

    @cached_property
    def significant(self) -> NDArray[np.bool_]:
        """Which differences are significant after correction, (pairs, measures)."""
        significant: NDArray[np.bool_] = self.tested.adjusted < self.alpha
        return significant

    @cached_property
    def floor(self) -> stats.Floats:
        """For each measure the noise floor: no pair of systems that differs by less was told apart.

        It is the shortest way from a difference to the end of its interval; NaN where no pair varies from dialogue to
        dialogue.
        """
        return _extreme(self._reaches, np.fmin)

    @cached_property
    def resolved(self) -> stats.Floats:
        """For each measure the longest such way: every pair of systems that differs by more was told apart."""
        return _extreme(self._reaches, np.fmax)

    @cached_property
    def detectable(self) -> stats.Floats:
        """For each measure the true difference that would be detected 8 times in 10, whatever the pair."""
        return _extreme(self._found_eight_times, np.fmax)

    @cached_property
    def _found_eight_times(self) -> stats.Floats:
        sizes = stats.detectable(self.tested.reach, self.tested.error)
        return np.full_like(sizes, np.nan) if self.too_few else sizes

    @property
    def too_few(self) -> bool:
        """Whether even the largest difference would not be significant.

        With so few units no p can fall below alpha, so the inverted test gives no finite interval.
        """
        return 2.0 ** (1 - len(self.dialogues)) >= self.alpha

    @cached_property
    def _reaches(self) -> stats.Floats:
        """From each difference to that end of its interval that faces 0; NaN where nothing varies."""
        # For one_more measures the randomisation test decides, even though another interval is printed.
        decides = [self.randomisation if measure in self.one_more else self.tested for measure in self.measures]
        low, high = (
            np.stack([getattr(test, end)[:, index] for index, test in enumerate(decides)], axis=1)
            for end in ("low", "high")
        )
        difference = self.tested.difference
        reach = np.where(difference < 0, high - difference, difference - low)
        return np.where(np.isnan(self._found_eight_times), np.nan, np.minimum(reach, self._widths))

    @cached_property
    def _widths(self) -> stats.Floats:
        """For each measure how far two values can be apart; infinite where nobody says."""
        return np.array([high - low for low, high in map(self.scores.bounds, self.measures)])

    @property
    def resampling(self) -> Resampling:
        """How the intervals of single scores are made: as those of scores that are not compared."""
        return Resampling(seed=self.seed, level=self.level)

    @property
    def basis(self) -> str:
        """What the intervals come from, in words."""
        return f"{100 * self.level:g}% intervals over {counted(len(self.dialogues), self.pairing.unit)}"

    @property
    def signature(self) -> str:
        """What the numbers depend on; two comparisons with equal signatures are comparable."""
        own = Signature(
            dialogues=str(len(self.dialogues)),
            test="paired-randomisation",
            intervals=f"paired-randomisation-{self.level:g}",
            resamples=str(self.resamples),
            seed=str(self.seed),
            correction="step-down-max-t" if len(self.systems) > 2 else "none",
            one_more_unit=",".join((*self.one_more, *self.amounts)),
            version=__version__,
        )
        return " + ".join([own.long(), *self._run_signatures()])

    def score_signature(self, system: str, measure: str) -> str:
        """The signature of a value over the compared dialogues: that of the run's score, with what differs here."""
        signature = self.scores.signature(system, measure)
        how = self.made[system, measure]
        number = str(len(self.dialogues))
        if signature.get("dialogues", number) != number:  # the other counts and checksums are of more dialogues
            signature = Signature(**{key: value for key, value in signature.items() if key not in ("turns", "gold")})
        return signature.with_(measure=signature.get("measure", measure), dialogues=number, interval=how).long()

    def _run_signatures(self) -> list[str]:
        """What the signatures of all runs share."""
        written = {run.signature for run in self.runs.values() if run.signature}
        # The intervals shown are the comparison's own.
        shared = Signature.shared(map(Signature.parse, sorted(written))).with_(interval="")
        return [shared.long()] if written and len(shared) else []

    @cached_property
    def verdict(self) -> Verdict:
        """Who is ahead, by how much, how sure, and by which measures not; as text, one sentence."""
        from dialgauge.comparison.verdict import verdict_of

        return verdict_of(self)

    @cached_property
    def turn_scores(self) -> Mapping[str, polars.DataFrame]:
        """The scores of the compared dialogues' turns by system, where every run has them; else nothing."""
        frames = {name: self.pairing.turn_scores(run) for name, run in self.runs.items()}
        return {
            name: shared_turns(frame, self.dialogues)
            for name, frame in frames.items()
            if frame is not None and all(other is not None for other in frames.values())
        }

    def differences(self) -> Iterator[Difference]:
        """Every pair of systems on every measure, measure by measure."""
        for column in range(len(self.measures)):
            for row in range(len(self.pairs)):
                yield self._difference(row, column)

    def difference(self, first: str, second: str, measure: str) -> Difference:
        """One pair on one measure, first minus second."""
        column = self.scores.place_of_measure(measure)
        a, b = self.scores.place_of_system(first), self.scores.place_of_system(second)
        if a == b:
            raise DialgaugeError(f"'{first}' is compared with itself; name two different systems")
        difference = self._difference(self.pairs.index((min(a, b), max(a, b))), column)
        return difference if a < b else difference.turned()

    def detectable_between(self, first: str, second: str, measure: str) -> float:
        """The true difference of one pair that would be detected 8 times in 10; NaN where nothing varies."""
        pair = sorted(map(self.scores.place_of_system, (first, second)))
        row, column = self.pairs.index((pair[0], pair[1])), self.scores.place_of_measure(measure)
        return float(self._found_eight_times[row, column])

    def _difference(self, row: int, column: int) -> Difference:
        a, b = self.pairs[row]
        tested, width = self.tested, self._widths[column]
        higher_is_better = self.scores.higher_is_better(self.measures[column])
        higher, ties, lower = stats.win_tie_loss(self._by_dialogue[a, column], self._by_dialogue[b, column])
        return Difference(
            first=self.systems[a],
            second=self.systems[b],
            measure=self.measures[column],
            difference=float(tested.difference[row, column]),
            low=np.nan if self.too_few else float(np.maximum(tested.low[row, column], -width)),
            high=np.nan if self.too_few else float(np.minimum(tested.high[row, column], width)),
            error=float(tested.error[row, column]),
            p=float(tested.p[row, column]),
            adjusted=float(tested.adjusted[row, column]),
            wins=lower if higher_is_better is False else higher,
            ties=ties,
            losses=higher if higher_is_better is False else lower,
            significant=bool(self.significant[row, column]),
            higher_is_better=higher_is_better,
        )

    @cached_property
    def _by_dialogue(self) -> stats.Floats:
        return self.scores.by_dialogue

    def __getitem__(self, system: str | int) -> SharedScores:
        """The scores of a system over the compared dialogues, by measure; a position is taken for a name too."""
        row = self.scores.place_of_system(self.systems[system] if isinstance(system, int) else system)
        return SharedScores((measure, self._score(row, column)) for column, measure in enumerate(self.measures))

    def __iter__(self) -> Iterator[str]:
        return iter(self.systems)

    def __len__(self) -> int:
        return len(self.systems)

    def _score(self, row: int, column: int) -> Score:
        system, measure = self.systems[row], self.measures[column]
        value, (low, high) = self.corpus_values[row, column], self.intervals[row, column]
        known = self.scores.run_score(measure) or Score(value=None)
        ends = {"value": value, "low": low, "high": high}
        numbers = {name: None if np.isnan(number) else float(number) for name, number in ends.items()}
        return structs.replace(known, **numbers, signature=self.score_signature(system, measure))

    def frame(self) -> polars.DataFrame:
        """The differences: one row for each pair of systems and measure, with interval, p-values, wins and losses."""
        import polars

        return polars.DataFrame([difference.as_dict() for difference in self.differences()])

    def page(self, names: Sequence[str] | None = None) -> Page:
        """Everything as a page, or some of its tables: scores, differences, ranks, divergences, resolution, spread."""
        from dialgauge.comparison.tables import comparison_page

        return comparison_page(self, names)

    def table(self) -> Table:
        """The scores with letters, best system first."""
        from dialgauge.comparison.tables import scores

        return scores(self)

    def to_latex(self) -> str:
        """:meth:`table` for a paper (booktabs), ready for ``\\input``."""
        from dialgauge.report import latex_table

        return latex_table(self.table(), self.signature)

    def plot(self, name: str = "scores") -> Picture:
        """The scores with their intervals as a picture, or another table that has a chart."""
        from dialgauge.report import Picture, has_picture

        table = self.page([name]).tables.get(name)
        if table is None or not has_picture(table):
            raise DialgaugeError(f"there is nothing to draw in '{name}'")
        return Picture(table)

    def explain(self, dialogue: str) -> Page:
        """A dialogue as the first two systems have it, side by side."""
        from dialgauge.report import side_page

        return side_page(list(self.runs.values())[:2], dialogue)

    def __str__(self) -> str:
        return str(self.page(["scores", "differences"]))

    def _repr_html_(self) -> str:
        return self.page(["scores", "differences"])._repr_html_()

    def __repr__(self) -> str:
        size = f"{counted(len(self.measures), 'measure')}, {counted(len(self.dialogues), self.pairing.unit)}"
        return f"<Comparison of {', '.join(self.systems)}: {size}>"


def _extreme(values: stats.Floats, which: np.ufunc) -> stats.Floats:
    """The smallest or largest of each column, NaN where all are undefined."""
    result: stats.Floats = which.reduce(values, axis=0)
    return result
