"""The records of one scored dialogue: a verdict on every mention and on everything left unsaid.

Scores, lost points and the behaviours of the reference evaluator are sums over verdicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Goal
from dialgauge.errors import DialgaugeError
from dialgauge.users.acts import EQUALS
from dialgauge.users.config import GcdfConfig
from dialgauge.users.labels import OUTSIDE, REPEATED, REPEATED_REQUESTS

COMBINED = "combined"

MeasureName: TypeAlias = Literal["I-GCDF1", "R-GCDF1"]
MEASURES: tuple[MeasureName, ...] = ("I-GCDF1", "R-GCDF1")
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
    "pooled": "said in another domain than the goal has it: right in the combined score, which ignores domains",
}


#: True positives, false positives and false negatives of those verdicts that count.
_COUNTS: dict[VerdictName, tuple[int, int, int]] = {
    "credited": (1, 0, 0),
    "repeated-forgiven": (1, 0, 0),
    "repeated-penalised": (0, 1, 0),
    "wrong-value": (0, 1, 0),
    "out-of-goal-credited": (1, 0, 0),
    "out-of-goal": (0, 1, 0),
    "outside-domain": (0, 1, 0),
    "pre-empted": (1, 0, 0),
    "missing": (0, 0, 1),
    "excused": (0, 0, 0),
    "not-counted": (0, 0, 0),
    "pooled": (1, -1, -1),
}

Cause: TypeAlias = Literal["user NLU", "system NLU", "system policy", "user policy"]
CAUSES: dict[Cause, str] = {
    "user NLU": "the user did not understand the system's answers",
    "system NLU": "the system did not understand the user",
    "system policy": "the system understood and gave no answer in the domain",
    "user policy": "both sides understood each other, and the user still repeated itself",
}


class Verdict(Struct, frozen=True, gc=False):
    """What became of one mention (``turn``), or of one thing never said; ``times`` more than once only where pooled.

    ``labels`` are the reference's, and our reasons for lost points; ``turns`` the two ends of a repetition, or where
    the system said it first; ``answer`` where a request that is made again was answered. The counts of a domain's
    verdicts sum to its score; a lost point (FP or FN) has a cause.
    """

    measure: MeasureName
    domain: str
    item: str
    verdict: VerdictName
    turn: int | None = None
    labels: tuple[str, ...] = ()
    turns: tuple[int, ...] = ()
    answer: int | None = None
    cause: Cause | None = None
    times: int = 1

    @property
    def counts(self) -> tuple[int, int, int]:
        """True positives, false positives and false negatives."""
        tp, fp, fn = _COUNTS[self.verdict]
        return tp * self.times, fp * self.times, fn * self.times

    @property
    def tp(self) -> int:
        return self.counts[0]

    @property
    def fp(self) -> int:
        return self.counts[1]

    @property
    def fn(self) -> int:
        return self.counts[2]

    @property
    def slot(self) -> str:
        """The slot of the constraint or request."""
        return slot_of(self.measure, self.domain, self.item)


def slot_of(measure: str, domain: str, item: str) -> str:
    """The slot of a constraint ``slot===value`` or of a request ``domain-slot``."""
    return item.partition(EQUALS)[0] if measure == "I-GCDF1" else item.removeprefix(f"{domain.lower()}-")


class PrfScore(NamedTuple):
    """F1, precision (1 if nothing was said), recall (1 if nothing was wanted), and the counts that they follow from."""

    f1: float
    precision: float
    recall: float
    tp: int
    fp: int
    fn: int

    @classmethod
    def of(cls, tp: int, fp: int, fn: int) -> PrfScore:
        precision = tp / (tp + fp) if tp + fp else 1.0
        recall = tp / (tp + fn) if tp + fn else 1.0
        both = precision + recall
        return cls(2.0 * precision * recall / both if both else 0.0, precision, recall, tp, fp, fn)


class Behaviour(Struct, frozen=True, gc=False):
    """A behaviour under its label in the reference's tree, with the domain and the constraint or request.

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


def said_instead(slot: str, verdicts: Sequence[Verdict]) -> str:
    """What a user said of a slot that was never right; "" if nothing."""
    right = {each.item for each in verdicts if each.tp}
    said = (each.item for each in verdicts if each.turn is not None and each.item not in right)
    return next((item for item in said if slot in item), "")


# Scores.


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
        Verdict(verdicts[0].measure, COMBINED, item, "pooled", times=met)
        for item in missing
        if (met := min(wrong[item], missing[item]))
    ]


#: TP, FP, FN, and how many of the lost points (FP and FN) each of the four causes has.
Tally: TypeAlias = list[int]


def tallies(verdicts: Sequence[Verdict]) -> dict[tuple[MeasureName, str], Tally]:
    """The counts of every measure and domain, ``combined`` too, where there is anything to count.

    What pools in the combined score is given back there to the causes that had lost it, the first first. For a score
    with TP true positives and L lost points, ``1 - F1 = L / (2 TP + L)``: F1 splits by cause.
    """
    causes = list(CAUSES)
    sums: dict[tuple[MeasureName, str], Tally] = {}
    wrong = {(each.measure, each.item): each.tp for each in verdicts if each.verdict == "pooled"}
    missing = dict(wrong)
    for each in verdicts:
        key, (tp, fp, fn) = (each.measure, each.item), each.counts
        lost, back = fp + fn, (min(wrong.get(key, 0), fp), min(missing.get(key, 0), fn))
        for domain in dict.fromkeys((each.domain, COMBINED)):
            own = sums.setdefault((each.measure, domain), [0] * (3 + len(causes)))
            own[0] += tp
            own[1] += fp
            own[2] += fn
            if each.cause is not None and lost:
                own[3 + causes.index(each.cause)] += lost - (sum(back) if domain == COMBINED else 0)
        if each.cause is not None and lost and any(back):
            wrong[key] -= back[0]
            missing[key] -= back[1]
    return {key: own for key, own in sums.items() if any(own[:3])}


# Behaviours, as the reference evaluator records them.


def behaviours(verdicts: Iterable[Verdict], goal: Goal, config: GcdfConfig) -> Iterator[Behaviour]:
    """Every behaviour of one dialogue."""
    by_domain: dict[tuple[MeasureName, str], dict[str, list[Verdict]]] = {}
    for each in verdicts:
        if each.verdict != "pooled":
            by_domain.setdefault((each.measure, each.domain), {}).setdefault(each.item, []).append(each)
    for (measure, domain), by_item in by_domain.items():
        own = [each for of_item in by_item.values() for each in of_item]
        informs, in_goal = measure == "I-GCDF1", domain in goal.tasks
        options = config.igcd_f1 if informs else config.rgcd_f1
        for item, of_item in by_item.items():
            said = mentions(of_item)
            if in_goal and len(said) > 1:
                label = "repeated_inform" if informs else "multiple_req"
                yield Behaviour(measure, label, domain, item, count=len(said))
            if in_goal and len(said) > options.repetitions_warning:
                yield Behaviour(measure, "repetitions_warning", domain, item)
            alone = len(said) == 1 or not options.repetitions.count_fp
            if in_goal and of_item[0].verdict == "wrong-value" and alone:
                yield Behaviour(measure, "single_repetitions_nog", domain, item, (said[0].turn or 0,))
            for each in of_item:
                for label in each.labels:
                    yield from _of_label(each, label, of_item, own)
        if in_goal and informs and not mentions(own):
            yield Behaviour(measure, "missed_domain", domain)
        if in_goal and not informs and not any(each.tp or each.fn for each in own):
            yield from (Behaviour(measure, "requests_not_in_goal", domain, each.item) for each in own if each.fp)


def mentions(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts on something that the user said."""
    return [each for each in verdicts if each.turn is not None and each.verdict != "pre-empted"]


def _of_label(
    each: Verdict, label: str, of_item: Sequence[Verdict], of_domain: Sequence[Verdict]
) -> Iterator[Behaviour]:
    """The behaviours that one label of a verdict records."""
    tree, _, name = label.rpartition("/")
    at = (each.measure, label, each.domain, each.item)
    if name.startswith("auto_matched"):
        if each is of_item[0]:
            yield Behaviour(*at, count=sum(label in other.labels for other in of_item))
    elif tree == REPEATED or name in ("spurious_annotation", "sys_preempted_constraint"):
        yield Behaviour(*at, each.turns)
    elif tree == REPEATED_REQUESTS:
        yield Behaviour(*at, count=len(mentions(of_item)))
    elif each.turn is not None and (tree == OUTSIDE or name == "wrong_taxi_annotations"):
        yield Behaviour(*at, (each.turn,))
    elif name == "informed_wrong_value":
        provided = said_instead(each.slot, of_domain)
        yield Behaviour(each.measure, label, each.domain, provided, expected=each.item)
    elif each.verdict == "pre-empted":  # the reference looks into the domain and into booking
        yield from (Behaviour(*at) for _ in each.turns)
    elif tree != "lost":
        yield Behaviour(*at)
