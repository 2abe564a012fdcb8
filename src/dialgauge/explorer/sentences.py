"""The answer to each question as a sentence: which system is better, and what one run says. Made from runs only.

Verdicts and intervals of a comparison are its own: corrected for all pairs, so that "better" stands exactly where the
difference is significant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dialgauge.comparison import MISSING_OPTIONS, Comparison, Difference, Standing, missing_sentences, standings
from dialgauge.measures import Count
from dialgauge.presentation import Glossary, amount, capitalised, is_number, kind_sentences, listed, sentence
from dialgauge.report import plain
from dialgauge.runs import Run
from dialgauge.text import counted, note_kind

#: Measures of which sentences speak; the table has all of them.
_MEASURES = 12
#: Up to so many measures, all that two systems differ in is said in one sentence.
_ONE_SENTENCE = 3
#: Systems that are named one by one.
_SYSTEMS = 6
#: Notes that begin with the name of a measure, which stays as it is.
_NAMED_FIRST = frozenset({"no_sums", "not_paired", "other_meaning", "partial_reward", "uncounted"})


def comparison_sentences(comparison: Comparison, *, notes: bool = True) -> list[str]:
    """Which system is better, by each measure; what is missing comes first, what else is to be known last.

    Without ``notes`` the verdicts alone, for pages that show these elsewhere. A difference in brackets is the first
    system's value minus the second's.
    """
    kinds = {run.kind for run in comparison.runs.values()}
    words = Glossary(kinds.pop() if len(kinds) == 1 else "")
    missing = [sentence(note) for note in missing_sentences(comparison) if note_kind(note) != MISSING_OPTIONS]
    measures = spoken_of(comparison.measures)
    several = len(comparison.systems) > 2
    verdicts = (_of_several if several else _of_two)(comparison, measures, words)
    if set(comparison.verdict.lost) & set(measures):
        number = counted(len(comparison.verdict.measures), "measure")
        verdicts.append(sentence(f"Here each measure is taken by itself; the verdict corrects p for {number}"))
    if not notes:
        return verdicts
    return [*missing, *verdicts, *map(_noted, comparison.scores.notes)]


def _noted(note: str) -> str:
    return sentence(note) if note_kind(note) in _NAMED_FIRST else capitalised(note)


def spoken_of(measures: Sequence[str]) -> list[str]:
    """The measures of the whole, as long as there are any; not those of parts, as in ``I-GCDF1[hotel]``."""
    whole = [measure for measure in measures if not measure.endswith("]")]
    return (whole or list(measures))[:_MEASURES]


def _of_two(comparison: Comparison, measures: Sequence[str], words: Glossary) -> list[str]:
    first, second = comparison.systems
    differences = [comparison.difference(first, second, measure) for measure in measures]
    won: list[str] = []
    for start in dict.fromkeys(opening for difference in differences if (opening := _opening(comparison, difference))):
        same = [difference for difference in differences if _opening(comparison, difference) == start]
        won.append(f"{start} {'; '.join(_by(comparison, difference, words) for difference in same)}")
    unsure = [
        difference for difference in differences if not difference.significant and is_number(difference.difference)
    ]
    others: list[str] = []
    if unsure:
        each = [
            f"by {words.said(difference.measure, f'difference {_amount(comparison, difference)}')}"
            for difference in unsure
        ]
        others.append(f"{listed(each)} they cannot be told apart")
    undefined = [difference.measure for difference in differences if not is_number(difference.difference)]
    if undefined:
        others.append(f"by {listed(list(map(words.said, undefined)))} nothing can be said, as a value is undefined")
    if len(differences) <= _ONE_SENTENCE and won:
        return [sentence("; ".join([*won, *others]))]
    return [*map(sentence, won), *map(capitalised, others)]


def _opening(comparison: Comparison, difference: Difference) -> str:
    """How the sentence of a significant difference begins; measures with the same opening share a sentence."""
    if not difference.significant:
        return ""
    first, second = (
        (difference.first, difference.second)
        if difference.better == difference.first
        else (difference.second, difference.first)
    )
    return f"{plain(first)} is {_word(comparison, difference.measure)} than {plain(second)}"


def _word(comparison: Comparison, measure: str) -> str:
    """Better, but for measures of which neither direction is."""
    score = comparison.scores.run_score(measure)
    return "higher" if score is not None and score.higher_is_better is None else "better"


def _by(comparison: Comparison, difference: Difference, words: Glossary) -> str:
    """``by JGA (joint goal accuracy), by 5.8 points, [4.1, 7.5]``."""
    falling = ", where lower is better," if not difference.higher_is_better else ","
    return f"by {words.said(difference.measure)}{falling} by {_amount(comparison, _from_the_better(difference))}"


def _from_the_better(difference: Difference) -> Difference:
    """The difference as the better system's lead, which is positive."""
    return difference if difference.difference > 0 else difference.turned()


def _amount(comparison: Comparison, difference: Difference) -> str:
    return amount(
        comparison.scores.run_score(difference.measure), difference.difference, difference.low, difference.high
    )


class _Verdict(NamedTuple):
    """One measure of several systems: the leader, those that it cannot be told apart from, and those without value."""

    measure: str
    standing: Standing
    leader: int
    rivals: list[int]
    undefined: list[int]

    @property
    def clear(self) -> bool:
        return not self.rivals and not self.undefined


def _of_several(comparison: Comparison, measures: Sequence[str], words: Glossary) -> list[str]:
    by_name = dict(zip(comparison.measures, standings(comparison), strict=True))
    verdicts = [_verdict(comparison, measure, by_name[measure]) for measure in measures]
    sentences: list[str] = []
    for leader in dict.fromkeys(verdict.leader for verdict in verdicts if verdict.clear):
        won = [verdict for verdict in verdicts if verdict.clear and verdict.leader == leader]
        word = listed(list(dict.fromkeys(_word(comparison, verdict.measure) for verdict in won)))
        leads = "; ".join(_lead(comparison, verdict, words) for verdict in won)
        sentences.append(sentence(f"{plain(comparison.systems[leader])} is {word} than every other system {leads}"))
    unclear: dict[tuple[int, ...], list[_Verdict]] = {}
    for verdict in verdicts:
        if not verdict.clear:
            unclear.setdefault((verdict.leader, *verdict.rivals, -1, *verdict.undefined), []).append(verdict)
    sentences += [_unclear(comparison, alike, words) for alike in unclear.values()]
    return [*sentences, *_disagreement(comparison, verdicts), *_open_ranks(comparison, verdicts)]


def _verdict(comparison: Comparison, measure: str, standing: Standing) -> _Verdict:
    values = comparison.oriented[:, comparison.scores.place_of_measure(measure)]
    undefined = np.flatnonzero(np.isnan(values)).tolist()
    if len(undefined) == len(values):
        return _Verdict(measure, standing, 0, [], undefined)
    leader = int(np.nanargmax(values))
    names = comparison.systems
    rivals = [
        index
        for index in range(len(names))
        if index != leader
        and index not in undefined
        and not comparison.difference(names[leader], names[index], measure).significant
    ]
    return _Verdict(measure, standing, leader, rivals, undefined)


def _lead(comparison: Comparison, verdict: _Verdict, words: Glossary) -> str:
    """``by JGA (joint goal accuracy; ahead of dots by 5.8 points, [4.1, 7.5])``."""
    values = comparison.oriented[:, comparison.scores.place_of_measure(verdict.measure)]
    next_best = max((index for index in range(len(values)) if index != verdict.leader), key=lambda index: values[index])
    names = comparison.systems
    difference = _from_the_better(comparison.difference(names[verdict.leader], names[next_best], verdict.measure))
    falling = "" if comparison.scores.higher_is_better(verdict.measure) else "lower is better"
    ahead = f"ahead of {plain(names[next_best])} by {_amount(comparison, difference)}"
    return f"by {words.said(verdict.measure, falling, ahead)}"


def _unclear(comparison: Comparison, alike: Sequence[_Verdict], words: Glossary) -> str:
    """Who leads without being told apart from everybody, and who has no value, by measures that say the same."""
    names, measures = [plain(name) for name in comparison.systems], listed([words.said(each.measure) for each in alike])
    first = alike[0]
    if len(first.undefined) == len(names):
        return sentence(f"By {measures} nothing can be said, as no system has a value")
    leader, rivals = names[first.leader], listed([names[rival] for rival in first.rivals], _SYSTEMS)
    if len(first.rivals) + 1 == len(names):
        return sentence(f"By {measures} no system can be told apart from {leader}, which has the top value")
    lacking = listed([names[index] for index in first.undefined], _SYSTEMS)
    without = f"; no value: {lacking}" if lacking else ""
    if rivals:
        column = comparison.oriented[:, comparison.scores.place_of_measure(first.measure)]
        level = any(column[rival] == column[first.leader] for rival in first.rivals)
        top = "shares the top value, and" if level else "has the top value, but"
        return sentence(f"By {measures} {leader} {top} cannot be told apart from {rivals}{without}")
    beaten = [name for index, name in enumerate(names) if index != first.leader and index not in first.undefined]
    verdict = (
        f"is {_word(comparison, first.measure)} than {listed(beaten, _SYSTEMS)}" if beaten else "alone has a value"
    )
    return sentence(f"By {measures} {leader} {verdict}{without}")


def _disagreement(comparison: Comparison, verdicts: Sequence[_Verdict]) -> list[str]:
    """Where measures name different winners; two that cannot be told apart are no contradiction."""
    directed = [verdict for verdict in verdicts if verdict.clear and _word(comparison, verdict.measure) == "better"]
    winners = list(dict.fromkeys(verdict.leader for verdict in directed))
    if len(winners) < 2:
        return []
    won = {leader: [plain(verdict.measure) for verdict in directed if verdict.leader == leader] for leader in winners}
    each = [f"{plain(comparison.systems[leader])} by {listed(measures)}" for leader, measures in won.items()]
    return [sentence(f"The measures disagree about the winner: {'; '.join(each)}")]


def _open_ranks(comparison: Comparison, verdicts: Sequence[_Verdict]) -> list[str]:
    """The ranks that the tests leave the systems, by measures that leave any open."""
    groups: dict[tuple[tuple[int, ...], tuple[int, ...]], list[_Verdict]] = {}
    for verdict in verdicts:
        if verdict.standing.best != verdict.standing.worst and len(verdict.undefined) < len(comparison.systems):
            groups.setdefault((verdict.standing.best, verdict.standing.worst), []).append(verdict)
    sentences = []
    for alike in groups.values():
        standing = alike[0].standing
        places = sorted(zip(standing.best, standing.worst, range(len(comparison.systems)), strict=True))
        ranks = [f"{plain(comparison.systems[index])} {standing.ranks(index)}" for *_, index in places]
        names = listed([plain(verdict.measure) for verdict in alike])
        sentences.append(sentence(f"Possible ranks by {names}: {listed(ranks, _SYSTEMS)}"))
    return sentences


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
