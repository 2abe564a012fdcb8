"""What scoring a dialogue leaves behind: scores, the behaviours seen, and a verdict on every single mention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Goal, Speaker
from dialgauge.errors import DialgaugeError
from dialgauge.users.loops import Cause, End, Loop
from dialgauge.users.mishearing import Occurrence
from dialgauge.users.normalise import Attempt
from dialgauge.users.patterns import Pattern

COMBINED = "combined"

MeasureName: TypeAlias = Literal["I-GCDF1", "R-GCDF1"]
#: Domain (``combined`` too) to cause to how many points were lost by it.
LostPoints: TypeAlias = dict[str, dict[Cause, int]]
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
    "pooled": "wrong in one domain, missing in another: they meet in the combined score, which forgets domains",
}

#: Those of what was said again.
REPEATED: tuple[VerdictName, ...] = ("repeated-forgiven", "repeated-penalised")


class PrfScore(Struct, frozen=True, array_like=True, gc=False):
    """Counts and what follows from them (see :func:`score`)."""

    f1: float
    precision: float
    recall: float
    tp: int
    fp: int
    fn: int


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


class MentionVerdict(Struct, frozen=True, array_like=True, gc=False):
    """What became of one mention, or of one thing that was not mentioned. The counts of all verdicts of a domain sum to
    the counts of its score; those of the whole dialogue to the combined score.

    ``behaviours`` are whole labels; a lost point (FP or FN) has at least one, and a cause;
    so has a forgiven repetition.
    """

    measure: MeasureName
    domain: str
    item: str
    verdict: VerdictName
    turn: int | None = None
    behaviours: tuple[str, ...] = ()
    tp: int = 0
    fp: int = 0
    fn: int = 0
    cause: Cause | None = None


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
    behaviours: tuple[Behaviour, ...] = ()
    verdicts: tuple[MentionVerdict, ...] = ()
    #: The points that were lost, by measure.
    lost: dict[MeasureName, LostPoints] = {}
    #: What the profile could make of the conversation, and the names of acts that it does not know.
    fit: ProfileFit = ProfileFit()
    unknown_acts: tuple[str, ...] = ()
    #: Domain and slot of the goal's slots that neither side uttered.
    unuttered: tuple[tuple[str, str], ...] = ()
    #: Turns with words, and with acts.
    worded: int = 0
    acting: int = 0
    #: The sides of whom it was recorded what they understood.
    heard_by: tuple[Speaker, ...] = ()
    #: Values that were brought to a canonical form, as often as the reference evaluator records each.
    attempts: tuple[tuple[str, int, Attempt], ...] = ()
    #: Domains whose requests a failed search removed from the goal before R-GCDF1.
    requests_removed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    loops: tuple[Loop, ...] = ()
    #: What was heard otherwise than it was said.
    confusions: tuple[Occurrence, ...] = ()
    end: End = "open"


def prf_score(truth: Mapping[str, int], produced: Mapping[str, int]) -> PrfScore | None:
    """F1, precision and recall of two multisets; None when both are empty.

    ``TP = Σ min(count in truth, count in said)``, precision ``TP / |said|`` (1 when nothing was said), recall
    ``TP / |truth|`` (1 when nothing was wanted), F1 ``2·p·r / (p + r)`` (0 when both are 0).
    """
    wanted, given = sum(truth.values()), sum(produced.values())
    if not wanted and not given:
        return None
    tp = wanted if truth == produced else sum([min(count, produced.get(item, 0)) for item, count in truth.items()])
    precision = tp / given if given else 1.0
    recall = tp / wanted if wanted else 1.0
    both = precision + recall
    f1 = 2.0 * precision * recall / both if both else 0.0
    return PrfScore(f1, precision, recall, tp, given - tp, wanted - tp)


# The books of one domain: what the goal wanted, what was said, and a verdict on every entry.


class Ledger:
    """Truth and predictions as multisets. Each booking method adds to the counts exactly what its verdict says."""

    def __init__(self, measure: MeasureName, domain: str, wanted: Sequence[str] = ()) -> None:
        self.measure = measure
        self.domain = domain
        self.truth: dict[str, int] = dict.fromkeys(wanted, 1)
        self.said: dict[str, int] = {}
        self.verdicts: list[MentionVerdict] = []
        #: The lost points by cause.
        self.lost: dict[Cause, int] = {}

    def said_right(
        self,
        item: str,
        turn: int,
        verdict: VerdictName,
        behaviours: tuple[str, ...] = (),
        cause: Cause | None = None,
    ) -> None:
        """A mention that finds its copy in the truth."""
        self.said[item] = self.said.get(item, 0) + 1
        self.verdicts.append(MentionVerdict(self.measure, self.domain, item, verdict, turn, behaviours, 1, 0, 0, cause))

    def said_wrong(self, item: str, turn: int, verdict: VerdictName, behaviours: tuple[str, ...], cause: Cause) -> None:
        """A mention that finds none."""
        self.said[item] = self.said.get(item, 0) + 1
        self.lost[cause] = self.lost.get(cause, 0) + 1
        self.verdicts.append(MentionVerdict(self.measure, self.domain, item, verdict, turn, behaviours, 0, 1, 0, cause))

    def warranted(
        self,
        item: str,
        turn: int,
        verdict: VerdictName,
        behaviours: tuple[str, ...] = (),
        cause: Cause | None = None,
    ) -> None:
        """A mention that the context makes part of the truth."""
        self.truth[item] = self.truth.get(item, 0) + 1
        self.said_right(item, turn, verdict, behaviours, cause)

    def uncounted(self, item: str, turn: int) -> None:
        """A mention that the configuration leaves out."""
        self._enter(item, "not-counted", turn, ())

    def missing(self, item: str, behaviours: tuple[str, ...], cause: Cause) -> None:
        """Something wanted that was never said."""
        self.lost[cause] = self.lost.get(cause, 0) + self.truth[item]
        self._enter(item, "missing", None, behaviours, fn=self.truth[item], cause=cause)

    def excuse(self, item: str, behaviours: tuple[str, ...]) -> None:
        """Something wanted that no longer counts."""
        del self.truth[item]
        self._enter(item, "excused", None, behaviours)

    def _enter(
        self,
        item: str,
        verdict: VerdictName,
        turn: int | None,
        behaviours: tuple[str, ...],
        *,
        fn: int = 0,
        cause: Cause | None = None,
    ) -> None:
        self.verdicts.append(
            MentionVerdict(self.measure, self.domain, item, verdict, turn, behaviours, fn=fn, cause=cause)
        )


class Closed(NamedTuple):
    """The result of one measure: scores and lost points by domain and combined, and all verdicts."""

    scores: dict[str, PrfScore]
    verdicts: list[MentionVerdict]
    lost: LostPoints


def close(ledgers: list[Ledger], measure: MeasureName) -> Closed:
    """The result of the ledgers of all domains.

    The combined score pools the items of all domains, so what is wrong in one can meet what is missing in another; a
    verdict ``pooled`` says so, and makes the verdicts sum to the combined counts too.
    """
    scores: dict[str, PrfScore] = {}
    verdicts: list[MentionVerdict] = []
    truth: dict[str, int] = {}
    produced: dict[str, int] = {}
    for ledger in ledgers:
        if ledger.domain == COMBINED:
            raise DialgaugeError(f"a domain is called '{COMBINED}', the name of the score of all domains; rename it")
        verdicts += ledger.verdicts
        _pool(truth, ledger.truth)
        _pool(produced, ledger.said)
        of_domain = prf_score(ledger.truth, ledger.said)
        if of_domain is not None:
            scores[ledger.domain] = of_domain
    combined = prf_score(truth, produced)
    if combined is None:
        return Closed(scores, verdicts, {})
    met = combined.tp - sum([score.tp for score in scores.values()])
    pooled = _pooled(ledgers, measure, truth, produced) if met else []
    scores[COMBINED] = combined
    return Closed(scores, [*verdicts, *pooled], _lost_points(ledgers, verdicts, pooled))


def _pool(counts: dict[str, int], more: dict[str, int]) -> None:
    """Add to a multiset; to an empty one, in one go."""
    if not counts:
        counts.update(more)
        return
    for item, count in more.items():
        counts[item] = counts.get(item, 0) + count


def _pooled(
    ledgers: list[Ledger], measure: MeasureName, truth: dict[str, int], produced: dict[str, int]
) -> list[MentionVerdict]:
    apart: dict[str, int] = {}
    for ledger in ledgers:
        for item, count in ledger.truth.items():
            apart[item] = apart.get(item, 0) + min(count, ledger.said.get(item, 0))
    matched = {item: min(count, produced.get(item, 0)) - apart[item] for item, count in truth.items()}
    return [
        MentionVerdict(measure, COMBINED, item, "pooled", None, (), tp=count, fp=-count, fn=-count)
        for item, count in matched.items()
        if count
    ]


def _lost_points(
    ledgers: list[Ledger], verdicts: Sequence[MentionVerdict], pooled: Sequence[MentionVerdict]
) -> LostPoints:
    """The lost points by domain and cause.

    What pools in the combined score is given back there to the causes that had lost it. For a score with TP true
    positives and L lost points, ``1 - F1 = L / (2 TP + L)``: each lost point costs the same, so F1 splits by cause.
    """
    lost: LostPoints = {ledger.domain: ledger.lost for ledger in ledgers if ledger.lost}
    if lost:
        combined: dict[Cause, int] = {}
        for points in lost.values():
            for cause, count in points.items():
                combined[cause] = combined.get(cause, 0) + count
        for each in pooled:
            _give_back(combined, each, verdicts)
        lost[COMBINED] = combined
    return lost


def _give_back(lost: dict[Cause, int], pooled: MentionVerdict, verdicts: Sequence[MentionVerdict]) -> None:
    """Points that a pooled item takes back from those who had lost them, the first first."""
    wrong = missing = pooled.tp
    for each in verdicts:
        if each.cause is not None and each.item == pooled.item and (each.fp or each.fn):
            back = min(wrong, each.fp) + min(missing, each.fn)
            wrong -= min(wrong, each.fp)
            missing -= min(missing, each.fn)
            lost[each.cause] -= back
