"""The verdict of a comparison: who is ahead by the headline measure, by how much, how sure, and what disagrees.

The headline measure is tested by itself. A reader of one sentence about all others takes whichever shows a difference:
these are a family of their own (Holm), beyond the pairs of systems, for which the tests are corrected already. The
p-values that are told are those of the tables, which are about one measure at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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
_MOST_MEASURES = 4


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
    lead: float
    p: float
    p_family: float
    clear: bool
    unit: str | None
    higher_is_better: bool | None

    @property
    def amount(self) -> str:
        """The lead with its unit: ``5.8 points``."""
        share, unit = self.unit == "share", self.unit or ""
        lead = f"{100 * self.lead:,.1f}" if share else f"{self.lead:,.2f}"
        if not float(lead.replace(",", "")):
            lead = f"{100 * self.lead if share else self.lead:.1g}"
        named = " points" if share else f" {unit}" if unit.isalpha() and unit.endswith("s") else ""
        return f"{lead}{named}"

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

    def _headline(self, verdict: MeasureVerdict) -> str:
        measure, leader, runner_up = map(plain, (verdict.measure, verdict.leader, verdict.runner_up))
        than = "than" if verdict.higher_is_better is None else "of"
        if math.isnan(verdict.p):
            return f"{measure} has no value for some system"
        if not verdict.lead:
            return f"No difference in {measure}: {leader} and {runner_up} have the same value"
        if not verdict.clear:
            none = "No significant difference" if len(self.systems) == 2 else "No clear winner"
            return f"{none} in {measure}: {leader} leads {runner_up} by {verdict.amount} {verdict.certainty}"
        if len(self.systems) == 2:
            lead = f"{verdict.ahead} {than} {runner_up} by {verdict.amount} in {measure}"
            return f"{leader} is {lead} {verdict.certainty}"
        lead = f"{than} {runner_up} by {verdict.amount} {verdict.certainty}"
        return f"{leader} is {verdict.ahead} {than} every other system in {measure}, {lead}"

    def _others(self, headline: MeasureVerdict, others: Sequence[MeasureVerdict]) -> Iterator[str]:
        own = (headline.leader, headline.ahead) if headline.clear else None
        groups = dict.fromkeys((verdict.leader, verdict.ahead) for verdict in others if verdict.clear)
        for group in sorted(groups, key=lambda group: group != own):
            won = [verdict for verdict in others if verdict.clear and (verdict.leader, verdict.ahead) == group]
            names = _listed(won)
            leader, ahead = group
            alone = f" by {won[0].amount} {won[0].certainty}" if len(won) == 1 else ""
            yield f"also in {names}" if group == own else f"in {names} {plain(leader)} is {ahead}{alone}"
        if unclear := [other for other in others if not other.clear and not math.isnan(other.p)]:
            which = plain(unclear[0].measure) if len(unclear) == 1 else f"{len(unclear)} other measures"
            yield f"no {'significant difference' if len(self.systems) == 2 else 'clear winner'} in {which}"
        if undefined := [other for other in others if math.isnan(other.p)]:
            yield f"some system has no value of {_listed(undefined)}"


def _listed(verdicts: Sequence[MeasureVerdict]) -> str:
    return listed([plain(verdict.measure) for verdict in verdicts], _MOST_MEASURES)


def verdict_of(comparison: Comparison) -> Verdict:
    """The verdict by all measures; those of parts count only where there are no others.

    The headline is that of the kind, else the first that judges: what conversations took, such as turns, does not.
    """
    known = {measure: comparison.scores.run_score(measure) for measure in comparison.measures}
    whole = [name for name in known if not part_of(name) or name.partition("[")[0] not in known]
    measures = whole or list(known)
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
    family = [
        structs.replace(verdict, p_family=p, clear=verdict.clear and p < comparison.alpha)
        for verdict, p in zip(others, corrected, strict=True)
    ]
    return Verdict(comparison.systems, (first, *family), obstacle)


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
        lead=lead if lead >= _NOTHING else 0.0,
        p=p,
        p_family=p,
        clear=p < comparison.alpha and not obstacle,
        unit=score.unit if score is not None else None,
        higher_is_better=comparison.scores.higher_is_better(measure),
    )
