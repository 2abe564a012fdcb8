"""The verdict of a comparison: who is ahead by the headline measure, by how much, how sure, and what disagrees.

Scores of which nothing says whether more is better name nobody who is ahead, only who is higher. They come first where
all else that is compared is what conversations took, such as turns: nobody compares agents for that alone.

The headline measure is tested by itself. A reader of one sentence about all others takes whichever shows a difference:
these are a family of their own (Holm), beyond the pairs of systems, for which the tests are corrected already. The
p-values that are told are those of the tables, which are about one measure at a time.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, structs

from dialgauge.kinds import kind_named
from dialgauge.measures import Score
from dialgauge.stats import holm
from dialgauge.text import counted, listed, plain

if TYPE_CHECKING:
    from dialgauge.comparison.result import Comparison

#: A lead below this is none: equal means may differ in their last bits.
_NOTHING = 1e-12
#: Measures that are named one by one.
_NAMED = 4


class MeasureVerdict(Struct, frozen=True):
    """What one measure says: the system with the best value, the next best, and the chance that this is noise.

    Where nothing says which direction is better, ``best`` and ``leader`` are those with the highest value. ``lead`` is
    positive whichever direction is better. ``p`` is the largest p-value of the leader against any other system,
    corrected for pairs, as tables have it; NaN, and nobody leads, where a system has no value. ``p_family`` is
    corrected for the measures of the family too, if this is one of them.
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
    #: The system with the worst value, and how far it is behind the leader; empty where several share that value.
    last: str = ""
    behind: float = 0.0
    #: Did the correction for the family take the answer that this measure gives by itself?
    lost: bool = False

    @property
    def defined(self) -> bool:
        """Whether every system has a value."""
        return not math.isnan(self.p)

    @property
    def amount(self) -> str:
        """The lead with its unit: ``5.8 points``."""
        return self._sized(self.lead)

    @property
    def last_place(self) -> str:
        """Who has the worst value and how far behind; empty where several share it."""
        if not self.last:
            return ""
        far = f"{self._sized(self.behind)} behind {plain(self.leader)}"
        return f"{plain(self.last)} has the worst {plain(self.measure)}, {far}"

    def _sized(self, difference: float) -> str:
        return amount(Score(value=difference, unit=self.unit), difference, math.nan, math.nan)

    @property
    def certainty(self) -> str:
        """The p-value in brackets, with the direction where that is not the usual one."""
        return f"({_p(self.p)})" if self.higher_is_better else f"(lower is better; {_p(self.p)})"


class Verdict(Struct, frozen=True):
    """What each measure says, the headline first; as text, one sentence without its full stop."""

    systems: tuple[str, ...]
    measures: tuple[MeasureVerdict, ...]
    #: Why there can be none, whatever the scores are; empty where there can.
    obstacle: str = ""
    #: Measures of which nothing says whether more is better; whether they tell systems apart is said of each by itself.
    undirected: tuple[MeasureVerdict, ...] = ()
    #: Do these come first?
    undirected_first: bool = False

    def __str__(self) -> str:
        if self.obstacle:
            return f"No verdict: {self.obstacle}"
        if self.undirected_first or not self.measures:
            lead = f"No {'score' if self.measures else 'measure'} says which system is better"
            return "; ".join([lead, *self._higher(), *self._others(self.measures), *self._correction])
        headline, *others = self.measures
        last = [headline.last_place] if headline.last_place and not self._two else []
        higher = [] if any(measure.clear for measure in self.measures) else self._higher(unclear=False)
        parts = self._headline(headline), *self._others(others, headline), *last, *self._correction, *higher
        return "; ".join(parts)

    @property
    def family(self) -> tuple[MeasureVerdict, ...]:
        """The measures that are tested together: all but the headline."""
        return self.measures[0 if self.undirected_first else 1 :]

    @property
    def _correction(self) -> list[str]:
        if len(self.family) < 2 or not any(verdict.clear for verdict in self.family):
            return []
        return [f"the {'' if self.undirected_first else 'other '}{len(self.family)} measures are tested as one family"]

    def _higher(self, *, unclear: bool = True) -> Iterator[str]:
        """Differences without a direction and, unless they are left out, the measures that show none."""
        clear = [verdict for verdict in self.undirected if verdict.clear][:_NAMED]
        for verdict in clear:
            than = f" than {plain(verdict.runner_up)}, which is next" if not self._two else ""
            last = "; nothing says whether more is better" if verdict is clear[-1] else ""
            yield (
                f"in {plain(verdict.measure)} {plain(verdict.leader)} is {verdict.amount} higher{than} "
                f"({_p(verdict.p)} by itself{last}{' in any of them' if last and len(clear) > 1 else ''})"
            )
        if unclear:
            rest = [verdict for verdict in self.undirected if not verdict.clear]
            yield from self._unclear(rest, "", "shows no clear difference", "show no clear difference")

    @property
    def lost(self) -> tuple[str, ...]:
        """The measures that tell systems apart by themselves, but not as part of their family."""
        return tuple(measure.measure for measure in self.measures if measure.lost)

    @property
    def _two(self) -> bool:
        return len(self.systems) == 2

    def _headline(self, verdict: MeasureVerdict) -> str:
        measure, leader, runner_up = map(plain, (verdict.measure, verdict.leader, verdict.runner_up))
        if not verdict.defined:
            return f"{measure} has no value for some system"
        if verdict.clear and self._two:
            return f"{leader} is ahead of {runner_up} by {verdict.amount} in {measure} {verdict.certainty}"
        if verdict.clear:
            lead = f"of {runner_up} by {verdict.amount} {verdict.certainty}"
            return f"{leader} is ahead of every other system in {measure}, {lead}"
        if not verdict.lead:
            return f"{measure} has the same best value for {listed([plain(name) for name in verdict.best], _NAMED)}"
        if self._two:
            apart = f"{measure} cannot tell {' and '.join(map(plain, self.systems))} apart"
            return f"{apart}: a difference of {verdict.amount} could be noise {verdict.certainty}"
        behind = f"{leader} has the top value, {runner_up} is {verdict.amount} behind"
        return f"{measure} names no clear winner: {behind} {verdict.certainty}"

    def _others(self, others: Sequence[MeasureVerdict], headline: MeasureVerdict | None = None) -> Iterator[str]:
        clear = [other for other in others if other.clear]
        for leader in sorted(
            dict.fromkeys(verdict.leader for verdict in clear),
            key=lambda name: headline is not None and name != headline.leader,
        ):
            won = [verdict for verdict in clear if verdict.leader == leader]
            names = listed([plain(verdict.measure) for verdict in won], _NAMED)
            if headline is not None and headline.clear and leader == headline.leader:
                yield f"also in {names}"
            elif len(won) == 1:
                yield f"in {names} {plain(leader)} is ahead by {won[0].amount} {won[0].certainty}"
            else:
                yield f"in {names} {plain(leader)} is ahead"
        unclear = [other for other in others if not other.clear]
        other = "" if headline is not None and headline.clear else "other "
        yield from self._unclear(unclear, other, "names no clear winner", "name no clear winner")

    def _unclear(self, verdicts: Sequence[MeasureVerdict], other: str, one: str, several: str) -> Iterator[str]:
        """Measures that tell nobody apart, and those that some system has no value of."""
        if unclear := [verdict.measure for verdict in verdicts if verdict.defined]:
            what = "cannot tell them apart" if self._two else one if len(unclear) == 1 else several
            yield f"{_counted(unclear, other)} {what}"
        if undefined := [verdict.measure for verdict in verdicts if not verdict.defined]:
            yield f"{_counted(undefined)} {_verb('lack', undefined)} a value for some system"


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def _counted(measures: Sequence[str], other: str = "") -> str:
    return plain(measures[0]) if len(measures) == 1 else counted(len(measures), f"{other}measure")


def _verb(verb: str, measures: Sequence[str]) -> str:
    return f"{verb}s" if len(measures) == 1 else verb


def verdict_of(comparison: Comparison) -> Verdict:
    """The verdict by all measures that have a better direction; those of parts count only where there are no others."""
    known = {measure: comparison.scores.run_score(measure) for measure in comparison.measures}
    directed = [name for name, score in known.items() if score is None or score.higher_is_better is not None]
    measures = [measure for measure in directed if not is_of_part(measure, known)] or directed
    kinds = dict.fromkeys(run.kind for run in comparison.runs.values())
    headlines = [name for kind in kinds for name in kind_named(kind).headline if name in measures]
    judging = [name for name in measures if not _is_effort(known[name])]
    measures.sort(key=lambda measure: measure not in (headlines or judging)[:1])
    undirected = [name for name in known if name not in directed]
    undirected_first = bool(undirected) and not judging
    first = 0 if undirected_first else 1
    obstacle = _obstacle(comparison, max(1, len(measures) - first))
    alone, others = (
        [_verdict_alone(comparison, measure, obstacle) for measure in names] for names in (measures, undirected)
    )
    corrected = holm([verdict.p for verdict in alone[first:]]).tolist() if alone[first:] else []
    family = [_in_family(verdict, p, comparison.alpha) for verdict, p in zip(alone[first:], corrected, strict=True)]
    return Verdict(comparison.systems, (*alone[:first], *family), obstacle, tuple(others), undirected_first)


def _in_family(verdict: MeasureVerdict, p: float, alpha: float) -> MeasureVerdict:
    clear = verdict.clear and p < alpha
    return structs.replace(verdict, p_family=p, clear=clear, lost=verdict.clear and not clear)


def _is_effort(score: Score | None) -> bool:
    """Is it what conversations took, such as turns or dollars, and says nothing of how good they were?"""
    return score is not None and score.higher_is_better is False and score.unit != "share"


def _verdict_alone(comparison: Comparison, measure: str, obstacle: str) -> MeasureVerdict:
    """What a measure says by itself: its p-value is not corrected for other measures."""
    leader, second, lead, p = _leader(comparison, measure)
    score = comparison.scores.run_score(measure)
    return MeasureVerdict(
        measure,
        comparison.systems[leader],
        comparison.systems[second],
        lead=lead,
        p=p,
        p_family=p,
        clear=p < comparison.alpha and not obstacle,
        unit=score.unit if score is not None else None,
        higher_is_better=comparison.scores.higher_is_better(measure),
        **_ends(comparison, measure, leader),
    )


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


def _ends(comparison: Comparison, measure: str, leader: int) -> dict[str, Any]:
    """The systems with the best value; and where just one has the worst, which, and how far it is behind."""
    values = comparison.oriented[:, comparison.scores.place_of_measure(measure)]
    best, last = (np.flatnonzero(abs(values - end) < _NOTHING).tolist() for end in (values.max(), values.min()))
    ends = {"best": tuple(comparison.systems[place] for place in best or [leader])}
    if len(last) != 1:
        return ends
    return ends | {"last": comparison.systems[last[0]], "behind": float(values.max() - values.min())}


def _leader(comparison: Comparison, measure: str) -> tuple[int, int, float, float]:
    """The best system and the next best by their places, what lies between them, and the p-value of the best."""
    values = comparison.oriented[:, comparison.scores.place_of_measure(measure)]
    if np.isnan(values).any():
        return 0, 1, math.nan, math.nan
    leader, second = np.argsort(-values, kind="stable")[:2].tolist()
    names = comparison.systems
    others = [name for index, name in enumerate(names) if index != leader]
    p = max(comparison.difference(names[leader], other, measure).adjusted for other in others)
    lead = float(values[leader] - values[second])
    return leader, second, lead if lead >= _NOTHING else 0.0, p


#: Digits after the point, at least and at most: as many as keep a number that is not 0 from being printed as one.
_LEAST, _MOST = 1, 6


def numbers(score: Score | None, *values: float | None) -> list[str]:
    """Values of one measure, all with the same number of digits; shares in percent.

    >>> numbers(Score(value=0.5, unit="share"), 0.058, 0.0004)
    ['5.80', '0.04']
    """
    scale = 100.0 if score is not None and score.unit == "share" else 1.0
    defined = [scale * value for value in values if value is not None and math.isfinite(value)]
    least = _LEAST if scale > 1 else 2
    digits = next((d for d in range(least, _MOST) if all(not n or float(f"{n:.{d}f}") for n in defined)), _MOST)
    return [
        "undefined" if value is None or not math.isfinite(value) else _written(scale * (value or 0.0), digits)
        for value in values
    ]


def _written(number: float, digits: int) -> str:
    text = f"{number:,.{digits}f}"
    return text.lstrip("-") if not float(text.replace(",", "")) else text


def interval(low: str, high: str) -> str:
    """``, [low, high]``, or nothing where the ends are not known."""
    return "" if "undefined" in (low, high) else f", [{low}, {high}]"


def unit_of(score: Score | None) -> str:
    """What follows a difference: points of percent for shares, else the unit's own name, where a number can precede it.

    >>> unit_of(Score(value=7.19, unit="exchanges")), unit_of(Score(value=0.5, unit="reciprocal rank"))
    (' exchanges', '')
    """
    if score is None or score.unit is None:
        return ""
    if score.unit == "share":
        return " points"
    return f" {score.unit}" if score.unit.isalpha() and score.unit.endswith("s") else ""


def amount(score: Score | None, value: float, low: float, high: float) -> str:
    """A difference with its interval: ``5.8 points, [4.1, 7.5]``."""
    number, lower, upper = numbers(score, value, low, high)
    return f"{number}{unit_of(score)}{interval(lower, upper)}"


def is_of_part(measure: str, measures: Container[str]) -> bool:
    """Is it the value of another measure for a part of the data, as ``JGA[hotel]``? ``Score[quality]`` is its own."""
    return measure.endswith("]") and measure.partition("[")[0] in measures
