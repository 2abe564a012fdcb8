"""The verdict of a comparison: who is ahead by the headline measure, by how much, how sure, and what disagrees.

The headline measure is tested by itself. A reader of one sentence about all others takes whichever shows a difference:
these are a family of their own (Holm), beyond the pairs of systems, for which the tests are corrected already. The
p-values that are told are those of the tables, which are about one measure at a time.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from dialgauge.kinds import kind_named
from dialgauge.measures import Score
from dialgauge.report import part_of
from dialgauge.stats import holm
from dialgauge.text import counted, listed, plain

if TYPE_CHECKING:
    from dialgauge.comparison.result import Comparison

#: A lead below this is none: equal means may differ in their last bits.
_NOTHING = 1e-12
#: Measures that are named one by one.
_NAMED = 4
#: Digits of a lead after the point, at most: as many as keep a small one from being printed as 0.
_MOST_DIGITS = 6


class MeasureVerdict(Struct, frozen=True):
    """What one measure says: the system with the best value, the next best, and the chance that this is noise.

    Where nothing says which direction is better (``higher_is_better`` is None), the best value is the highest.
    ``lead`` is never negative. ``p`` is the largest p-value of the leader against any other system, corrected for
    pairs, as tables have it; NaN, and nobody leads, where a system has no value. ``p_family`` is corrected for the
    measures of the family too, if this is one of them.
    """

    measure: str
    leader: str
    runner_up: str
    #: All systems with the best value; ``leader`` is the first of them.
    best: tuple[str, ...]
    lead: float
    p: float
    p_family: float
    clear: bool
    unit: str | None
    higher_is_better: bool | None
    #: Significant alone, but not after Holm's correction over the family.
    lost: bool = False

    @property
    def defined(self) -> bool:
        """Whether every system has a value."""
        return not math.isnan(self.p)

    @property
    def amount(self) -> str:
        """The lead with its unit: ``5.8 points``."""
        share = self.unit == "share"
        lead, digits = (100 * self.lead, 1) if share else (self.lead, 2)
        while lead and digits < _MOST_DIGITS and not float(f"{lead:.{digits}f}"):
            digits += 1
        unit = self.unit or ""
        named = " points" if share else f" {unit}" if unit.isalpha() and unit.endswith("s") else ""
        return f"{lead:,.{digits}f}{named}"

    @property
    def certainty(self) -> str:
        """The p-value in brackets, with the direction where more is not better."""
        p = "p < 0.001" if self.p < 0.001 else f"p = {self.p:.2g}"
        direction = {False: "lower is better; ", None: "nothing says whether more is better; "}
        return f"({direction.get(self.higher_is_better, '')}{p})"

    @property
    def ahead(self) -> str:
        return "higher" if self.higher_is_better is None else "ahead"


class Verdict(Struct, frozen=True):
    """What each measure says, the headline first; as text, one sentence without its full stop."""

    systems: tuple[str, ...]
    measures: tuple[MeasureVerdict, ...]
    #: Why there can be none, whatever the scores are; empty where there can.
    obstacle: str = ""

    def __str__(self) -> str:
        if self.obstacle:
            return f"No verdict: {self.obstacle}"
        headline, *others = self.measures
        return "; ".join([self._headline(headline), *self._others(headline, others)])

    @property
    def family(self) -> tuple[MeasureVerdict, ...]:
        """The measures that are tested together: all but the headline."""
        return self.measures[1:]

    @property
    def lost(self) -> tuple[str, ...]:
        """The measures that tell systems apart by themselves, but not as part of their family."""
        return tuple(measure.measure for measure in self.measures if measure.lost)

    @property
    def _two(self) -> bool:
        return len(self.systems) == 2

    def _headline(self, verdict: MeasureVerdict) -> str:
        measure, leader, runner_up = map(plain, (verdict.measure, verdict.leader, verdict.runner_up))
        than = "than" if verdict.higher_is_better is None else "of"
        if not verdict.defined:
            return f"{measure} has no value for some system"
        if verdict.clear and self._two:
            by = f"{verdict.ahead} {than} {runner_up} by {verdict.amount}"
            return f"{leader} is {by} in {measure} {verdict.certainty}"
        if verdict.clear:
            lead = f"{than} {runner_up} by {verdict.amount} {verdict.certainty}"
            return f"{leader} is {verdict.ahead} {than} every other system in {measure}, {lead}"
        if not verdict.lead:
            return f"{measure} has the same best value for {listed([plain(name) for name in verdict.best], _NAMED)}"
        if self._two:
            apart = f"{measure} cannot tell {' and '.join(map(plain, self.systems))} apart"
            return f"{apart}: a difference of {verdict.amount} could be noise {verdict.certainty}"
        behind = f"{leader} has the top value, {runner_up} is {verdict.amount} behind"
        return f"{measure} names no clear winner: {behind} {verdict.certainty}"

    def _others(self, headline: MeasureVerdict, others: Sequence[MeasureVerdict]) -> Iterator[str]:
        clear = [other for other in others if other.clear]
        groups = dict.fromkeys((verdict.leader, verdict.ahead) for verdict in clear)
        for leader, ahead in sorted(groups, key=lambda group: group != (headline.leader, headline.ahead)):
            won = [verdict for verdict in clear if (verdict.leader, verdict.ahead) == (leader, ahead)]
            names = listed([plain(verdict.measure) for verdict in won], _NAMED)
            if headline.clear and (leader, ahead) == (headline.leader, headline.ahead):
                yield f"also in {names}"
            elif len(won) == 1:
                yield f"in {names} {plain(leader)} is {ahead} by {won[0].amount} {won[0].certainty}"
            else:
                yield f"in {names} {plain(leader)} is {ahead}"
        if unclear := [other.measure for other in others if other.defined and not other.clear]:
            several = "measures" if headline.clear else "other measures"
            which = plain(unclear[0]) if len(unclear) == 1 else f"{len(unclear)} {several}"
            winner = "names no clear winner" if len(unclear) == 1 else "name no clear winner"
            yield f"{which} {'cannot tell them apart' if self._two else winner}"
        if undefined := [plain(other.measure) for other in others if not other.defined]:
            yield f"some system has no value of {listed(undefined, _NAMED)}"


def verdict_of(comparison: Comparison) -> Verdict:
    """The verdict by all measures; those of parts count only where there are no others.

    The headline is that of the kind, else the first that judges: what conversations took, such as turns, does not.
    """
    known = {measure: comparison.scores.run_score(measure) for measure in comparison.measures}
    measures = [measure for measure in known if not is_of_part(measure, known)] or list(known)
    kinds = dict.fromkeys(run.kind for run in comparison.runs.values())
    headlines = [name for kind in kinds for name in kind_named(kind).headline if name in measures]
    directed = [name for name in measures if comparison.scores.higher_is_better(name) is not None]
    judging = [name for name in directed if not _is_effort(known[name])]
    undirected = [name for name in measures if name not in directed]
    headline = [*headlines, *judging, *undirected, *measures][0]
    measures.sort(key=lambda measure: measure != headline)
    obstacle = _obstacle(comparison, max(1, len(measures) - 1))
    first, *others = (_verdict_alone(comparison, measure, obstacle) for measure in measures)
    corrected = holm([verdict.p for verdict in others]).tolist() if others else []
    family = [_in_family(verdict, p, comparison.alpha) for verdict, p in zip(others, corrected, strict=True)]
    return Verdict(comparison.systems, (first, *family), obstacle)


def _in_family(verdict: MeasureVerdict, p: float, alpha: float) -> MeasureVerdict:
    clear = verdict.clear and p < alpha
    return structs.replace(verdict, p_family=p, clear=clear, lost=verdict.clear and not clear)


def _is_effort(score: Score | None) -> bool:
    """Is it what conversations took, such as turns or dollars, and says nothing of how good they were?"""
    return score is not None and score.higher_is_better is False and score.unit != "share"


def _obstacle(comparison: Comparison, measures: int) -> str:
    """What makes a verdict impossible: too few units, or too few resamples for the smallest p-value to survive Holm."""
    if comparison.too_few:
        return f"{counted(len(comparison.dialogues), comparison.pairing.unit)} are too few for one"
    needed = math.floor(measures / comparison.alpha + 1e-9)
    if comparison.resamples < needed:
        return (
            f"{counted(comparison.resamples, 'resample')} are too few for one with a family of "
            f"{counted(measures, 'measure')}, which takes {needed:,}"
        )
    return ""


def _verdict_alone(comparison: Comparison, measure: str, obstacle: str) -> MeasureVerdict:
    """What a measure says by itself: its p-value is not corrected for other measures."""
    score, names = comparison.scores.run_score(measure), comparison.systems
    values = comparison.oriented[:, comparison.scores.place_of_measure(measure)]
    leader, second = np.argsort(-values, kind="stable")[:2].tolist()
    best = np.flatnonzero(abs(values - values[leader]) < _NOTHING).tolist() or [leader]
    lead = float(values[leader] - values[second])
    if np.isnan(values).any():
        p = math.nan
    else:
        others = [name for name in names if name != names[leader]]
        p = max(comparison.difference(names[leader], other, measure).adjusted for other in others)
    return MeasureVerdict(
        measure,
        names[leader],
        names[second],
        best=tuple(names[place] for place in best),
        lead=lead if lead >= _NOTHING else 0.0,
        p=p,
        p_family=p,
        clear=p < comparison.alpha and not obstacle,
        unit=score.unit if score is not None else None,
        higher_is_better=comparison.scores.higher_is_better(measure),
    )


def is_of_part(measure: str, measures: Container[str]) -> bool:
    """Whether it is another of these measures for a part of the data: ``JGA[hotel]`` beside ``JGA``."""
    return bool(part_of(measure)) and measure.partition("[")[0] in measures
