"""The result of scoring a dialogue: a verdict on every mention and on everything left unsaid.

Scores, lost points and the behaviours of the reference evaluator are sums over verdicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Goal, Speaker
from dialgauge.errors import DialgaugeError
from dialgauge.users.causes import Cause, Causes, End, Loop, Occurrence
from dialgauge.users.config import GcdfConfig
from dialgauge.users.labels import OUTSIDE, REPEATED as REPEATED_CONSTRAINTS, REPEATED_REQUESTS
from dialgauge.users.normalise import Attempt
from dialgauge.users.patterns import Pattern

COMBINED = "combined"

MeasureName: TypeAlias = Literal["I-GCDF1", "R-GCDF1"]
MEASURES: tuple[MeasureName, ...] = ("I-GCDF1", "R-GCDF1")
#: Domain (``combined`` too) to cause to how many points were lost by it.
LostPoints: TypeAlias = dict[str, dict[Cause, int]]

VerdictName: TypeAlias = Literal[
    "credited",
    "repeated-forgiven",
    "repeated-penalised",
    "wrong-value",
    "out-of-goal-credited",
    "out-of-goal",
    "outside-domain",
    "pre-empted",
    "missing",
    "excused",
    "not-counted",
    "pooled",
]

#: What each verdict means, for help texts and explanations.
VERDICTS: dict[VerdictName, str] = {
    "credited": "in the goal, and said (or asked)",
    "repeated-forgiven": "said again, and the context excuses it",
    "repeated-penalised": "said again without an excuse, or too often",
    "wrong-value": "a slot of the goal with another value",
    "out-of-goal-credited": "not in the goal, but the context warrants it",
    "out-of-goal": "not in the goal",
    "outside-domain": "in a domain that the goal does not have",
    "pre-empted": "the system said it, so the user need not",
    "missing": "in the goal, and never said (or asked)",
    "excused": "in the goal and never said, but the search failed before",
    "not-counted": "a repetition that the configuration does not count",
    "pooled": "wrong in one domain, missing in another: they meet in the combined score, which forgets domains",
}

#: Verdicts on repetitions.
REPEATED: tuple[VerdictName, ...] = ("repeated-forgiven", "repeated-penalised")


class Verdict(Struct, frozen=True, array_like=True, gc=False):
    """What became of one mention (``turn``), or of one thing never said.

    ``labels`` are the reference's, and our reasons for lost points; ``turns`` the two ends of a repetition, or where
    the system said it first. The counts of a domain's verdicts sum to its score; a lost point (FP or FN) has a cause.
    """

    measure: MeasureName
    domain: str
    item: str
    verdict: VerdictName
    turn: int | None = None
    labels: tuple[str, ...] = ()
    tp: int = 0
    fp: int = 0
    fn: int = 0
    cause: Cause | None = None
    turns: tuple[int, ...] = ()


class PrfScore(Struct, frozen=True, array_like=True, gc=False):
    """Counts and what follows from them: precision is 1 when nothing was said, recall when nothing was wanted."""

    f1: float
    precision: float
    recall: float
    tp: int
    fp: int
    fn: int

    @classmethod
    def of(cls, tp: int, fp: int, fn: int) -> PrfScore:
        """The score of some counts."""
        precision = tp / (tp + fp) if tp + fp else 1.0
        recall = tp / (tp + fn) if tp + fn else 1.0
        both = precision + recall
        return cls(2.0 * precision * recall / both if both else 0.0, precision, recall, tp, fp, fn)


class Behaviour(Struct, frozen=True, array_like=True, gc=False):
    """One behaviour that was noticed: its label in the reference's tree, the domain, and the constraint or request.

    ``turns``: a mention, or the two ends of a repetition; ``count``: how often, where the reference records that;
    ``expected``: what the goal wanted instead.
    """

    measure: MeasureName
    label: str
    domain: str
    item: str = ""
    turns: tuple[int, ...] = ()
    count: int = 0
    expected: str = ""


class ProfileFit(Struct, frozen=True, array_like=True, gc=False):
    """How well profile and conversation go together: acts about a domain and those of them that belong to a family,
    slots of the goal and those that either side uttered, requested slots and those not written as the profile expects.
    """

    acts_in_domains: int = 0
    acts_known: int = 0
    slots_wanted: int = 0
    slots_uttered: int = 0
    slots_requested: int = 0
    requests_misnamed: int = 0


class DialogueScore(Struct, frozen=True, kw_only=True, gc=False):
    """The result of scoring one dialogue."""

    id: str
    turns: int
    goal: Goal
    scores: dict[MeasureName, dict[str, PrfScore]]
    #: The points that were lost, by measure.
    lost: dict[MeasureName, LostPoints]
    verdicts: tuple[Verdict, ...]
    behaviours: tuple[Behaviour, ...]
    #: What the profile could make of the conversation, and the names of acts that it does not know.
    fit: ProfileFit
    unknown_acts: tuple[str, ...]
    #: Turns with words, and user turns with acts.
    worded: int
    acting: int
    #: The sides of whom it was recorded what they understood.
    heard_by: tuple[Speaker, ...]
    #: Source, turn, value that was brought to a canonical form, how often the reference evaluator records it.
    attempts: tuple[tuple[str, int, Attempt, int], ...]
    #: Domains whose requests a failed search removed from the goal before R-GCDF1.
    requests_removed: tuple[str, ...]
    warnings: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    loops: tuple[Loop, ...]
    #: What was heard otherwise than it was said.
    confusions: tuple[Occurrence, ...]
    end: End


def outside_domain(
    measure: MeasureName, label: str, service: str, mentions: Mapping[str, list[int]], causes: Causes, *, every: bool
) -> Iterator[Verdict]:
    """What is said in a domain that the goal does not have: all wrong, once or ``every`` time."""
    for item, turns in mentions.items():
        for turn in turns if every else turns[:1]:
            labels, cause = causes.uncalled_for((label,), turn, (service,))
            yield Verdict(measure, service, item, "outside-domain", turn, labels, fp=1, cause=cause)


def said_instead(slot: str, verdicts: Iterable[Verdict]) -> str:
    """What a user said of a slot that was never right; "" if nothing."""
    every = list(verdicts)
    right = {each.item for each in every if each.tp}
    said = (each.item for each in every if each.turn is not None and each.item not in right)
    return next((item for item in said if slot in item), "")


# Scores.


def scores(verdicts: Iterable[Verdict]) -> dict[str, PrfScore]:
    """The score of every domain, and of all together."""
    counts: dict[str, list[int]] = {}
    combined = [0, 0, 0]
    for each in verdicts:
        for sums in (counts.setdefault(each.domain, [0, 0, 0]), combined):
            sums[0] += each.tp
            sums[1] += each.fp
            sums[2] += each.fn
    counts[COMBINED] = combined
    return {domain: PrfScore.of(*sums) for domain, sums in counts.items() if any(sums)}


def pooled(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Verdicts that make the counts sum to the combined score.

    That score forgets domains, so what is wrong in one domain can be what is missing in another.
    """
    wrong: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    for each in verdicts:
        if each.domain == COMBINED:
            raise DialgaugeError(f"a domain is called '{COMBINED}', the name of the score of all domains; rename it")
        wrong[each.item] += each.fp
        missing[each.item] += each.fn
    return [
        Verdict(verdicts[0].measure, COMBINED, item, "pooled", tp=met, fp=-met, fn=-met)
        for item in missing
        if (met := min(wrong[item], missing[item]))
    ]


def lost_points(verdicts: Iterable[Verdict], met: Iterable[Verdict]) -> LostPoints:
    """The lost points by domain and cause.

    What pools in the combined score is given back there to the causes that had lost it, the first first. For a score
    with TP true positives and L lost points, ``1 - F1 = L / (2 TP + L)``: F1 splits by cause.
    """
    lost: LostPoints = {}
    wrong = {each.item: each.tp for each in met}
    missing = dict(wrong)
    for each in verdicts:
        if each.cause is None or not (each.fp or each.fn):
            continue
        own = lost.setdefault(each.domain, {})
        own[each.cause] = own.get(each.cause, 0) + each.fp + each.fn
        back = min(wrong.get(each.item, 0), each.fp), min(missing.get(each.item, 0), each.fn)
        if any(back):
            wrong[each.item] -= back[0]
            missing[each.item] -= back[1]
        combined = lost.setdefault(COMBINED, {})
        combined[each.cause] = combined.get(each.cause, 0) + each.fp + each.fn - sum(back)
    return lost


# Behaviours, as the reference evaluator records them.

#: Labels of repeated requests, which the reference records with how often the request was made.
_COUNTED_REQUESTS = f"{REPEATED_REQUESTS}/"
_SPURIOUS = f"{REPEATED_REQUESTS}/spurious_annotation"
_AUTO_MATCHED = f"{OUTSIDE}/auto_matched"
#: Labels of single mentions.
_OF_MENTIONS = (f"{OUTSIDE}/", "wrong_taxi_annotations")


def behaviours(verdicts: Sequence[Verdict], goal: Goal, config: GcdfConfig) -> Iterator[Behaviour]:
    """Every behaviour of one dialogue."""
    by_domain: dict[tuple[MeasureName, str], list[Verdict]] = {}
    for each in verdicts:
        if each.verdict != "pooled":
            by_domain.setdefault((each.measure, each.domain), []).append(each)
    for (measure, domain), own in by_domain.items():
        by_item: dict[str, list[Verdict]] = {}
        for each in own:
            by_item.setdefault(each.item, []).append(each)
        for item, of_item in by_item.items():
            if domain in goal.tasks:
                yield from _repetitions(measure, domain, item, of_item, config)
            for each in of_item:
                for label in each.labels:
                    yield from _noticed(each, label, of_item, own)
        if domain in goal.tasks:
            yield from _of_domain(measure, domain, own)


def _mentions(verdicts: Iterable[Verdict]) -> list[Verdict]:
    return [each for each in verdicts if each.turn is not None and each.verdict != "pre-empted"]


def _repetitions(
    measure: MeasureName, domain: str, item: str, of_item: Sequence[Verdict], config: GcdfConfig
) -> Iterator[Behaviour]:
    """How often something was said in a domain of the goal."""
    mentions = _mentions(of_item)
    options = config.igcd_f1 if measure == "I-GCDF1" else config.rgcd_f1
    if len(mentions) > 1:
        label = "repeated_inform" if measure == "I-GCDF1" else "multiple_req"
        yield Behaviour(measure, label, domain, item, count=len(mentions))
    if len(mentions) > options.repetitions_warning:
        yield Behaviour(measure, "repetitions_warning", domain, item)
    if of_item[0].verdict == "wrong-value" and (len(mentions) == 1 or not options.repetitions.count_fp):
        yield Behaviour(measure, "single_repetitions_nog", domain, item, (mentions[0].turn or 0,))


def _noticed(each: Verdict, label: str, of_item: Sequence[Verdict], own: Sequence[Verdict]) -> Iterator[Behaviour]:
    """What one label of a verdict records."""
    at = (each.measure, label, each.domain, each.item)
    if label.startswith("lost/"):
        return
    if label.startswith(_AUTO_MATCHED):
        if each is of_item[0]:
            yield Behaviour(*at, count=sum(label in other.labels for other in of_item))
    elif label.startswith(f"{REPEATED_CONSTRAINTS}/") or label == _SPURIOUS:
        yield Behaviour(*at, each.turns)
    elif label.startswith(_COUNTED_REQUESTS):
        yield Behaviour(*at, count=len(_mentions(of_item)))
    elif label.startswith(_OF_MENTIONS) and each.turn is not None:
        yield Behaviour(*at, (each.turn,))
    elif label == "sys_preempted_constraint":
        yield Behaviour(*at, each.turns)
    elif label == "informed_wrong_value":
        provided = said_instead(each.item.partition("===")[0], own)
        yield Behaviour(each.measure, label, each.domain, provided, expected=each.item)
    elif each.verdict == "pre-empted":  # the reference looks into the domain and into booking
        yield from (Behaviour(*at) for _ in each.turns)
    else:
        yield Behaviour(*at)


def _of_domain(measure: MeasureName, domain: str, own: Sequence[Verdict]) -> Iterator[Behaviour]:
    """What the verdicts of a goal domain say together."""
    if measure == "I-GCDF1" and not _mentions(own):
        yield Behaviour(measure, "missed_domain", domain)
    if measure == "R-GCDF1" and not any(each.tp or each.fn for each in own):
        yield from (Behaviour(measure, "requests_not_in_goal", domain, each.item) for each in own if each.fp)
