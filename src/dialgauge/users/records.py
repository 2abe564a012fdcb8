"""What scoring a dialogue leaves behind: scores, the behaviours seen, and a verdict on every single mention."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Goal, Task
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.users.analyses import Confusion, Loop, Pattern
from dialgauge.users.normalise import Attempt

COMBINED = "combined"

MeasureName: TypeAlias = Literal["I-GCDF1", "R-GCDF1"]
#: How a conversation ends: in a loop, with the user's goodbye, or just so.
End: TypeAlias = Literal["loop", "goodbye", "open"]
ENDS: tuple[End, ...] = ("loop", "goodbye", "open")
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
    the counts of its score; those of the whole dialogue to the combined score."""

    measure: MeasureName
    domain: str
    item: str
    verdict: VerdictName
    turn: int | None = None
    behaviours: tuple[str, ...] = ()
    tp: int = 0
    fp: int = 0
    fn: int = 0


class DialogueScore(Struct, frozen=True, kw_only=True, gc=False):
    """The result of scoring one dialogue."""

    id: str
    turns: int
    goal: Goal
    scores: dict[MeasureName, dict[str, PrfScore]]
    behaviours: tuple[Behaviour, ...]
    verdicts: tuple[MentionVerdict, ...]
    attempts: tuple[tuple[str, int, Attempt], ...] = ()
    #: Domains whose requests a failed search removed from the goal before R-GCDF1.
    requests_removed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    loops: tuple[Loop, ...] = ()
    #: What was said against what was heard, counted.
    confusions: tuple[tuple[Confusion, int], ...] = ()
    end: End = "open"

    def final_goal(self) -> Goal:
        """The goal as R-GCDF1 saw it: without the requests that a failed search made pointless."""
        tasks = {
            domain: Task(info=task.info, fail_info=task.fail_info, book=task.book, fail_book=task.fail_book)
            if domain in self.requests_removed
            else task
            for domain, task in self.goal.tasks.items()
        }
        return Goal(tasks=tasks, message=self.goal.message)


def score(truth: Counter[str], said: Counter[str]) -> PrfScore | None:
    """F1, precision and recall of two multisets; None when both are empty.

    ``TP = Σ min(count in truth, count in said)``, precision ``TP / |said|`` (1 when nothing was said), recall
    ``TP / |truth|`` (1 when nothing was wanted), F1 ``2·p·r / (p + r)`` (0 when both are 0).
    """
    wanted, given = truth.total(), said.total()
    if not wanted and not given:
        return None
    tp = sum(min(count, said[item]) for item, count in truth.items())
    precision = tp / given if given else 1.0
    recall = tp / wanted if wanted else 1.0
    both = precision + recall
    f1 = 2.0 * precision * recall / both if both else 0.0
    return PrfScore(f1, precision, recall, tp, given - tp, wanted - tp)


# The books of one domain: what the goal wanted, what was said, and a verdict on every entry.


class Ledger:
    """Truth and predictions as multisets. Each booking method adds to the counts exactly what its verdict says."""

    def __init__(self, measure: MeasureName, domain: str, truth: Counter[str] | None = None) -> None:
        self.measure = measure
        self.domain = domain
        self.truth: Counter[str] = Counter() if truth is None else truth
        self.said: Counter[str] = Counter()
        self.verdicts: list[MentionVerdict] = []

    def said_right(self, item: str, turn: int, verdict: VerdictName, behaviours: tuple[str, ...] = ()) -> None:
        """A mention that finds its copy in the truth."""
        self.said[item] += 1
        self.verdicts.append(MentionVerdict(self.measure, self.domain, item, verdict, turn, behaviours, 1, 0, 0))

    def said_wrong(self, item: str, turn: int, verdict: VerdictName, behaviours: tuple[str, ...] = ()) -> None:
        """A mention that finds none."""
        self.said[item] += 1
        self.verdicts.append(MentionVerdict(self.measure, self.domain, item, verdict, turn, behaviours, 0, 1, 0))

    def warranted(self, item: str, turn: int, verdict: VerdictName, behaviours: tuple[str, ...] = ()) -> None:
        """A mention that the context makes part of the truth."""
        self.truth[item] += 1
        self.said_right(item, turn, verdict, behaviours)

    def uncounted(self, item: str, turn: int) -> None:
        """A mention that the configuration leaves out."""
        self._enter(item, "not-counted", turn, ())

    def missing(self, item: str, behaviours: tuple[str, ...] = ()) -> None:
        """Something wanted that was never said."""
        self._enter(item, "missing", None, behaviours, fn=self.truth[item])

    def excuse(self, item: str, behaviours: tuple[str, ...]) -> None:
        """Something wanted that no longer counts."""
        del self.truth[item]
        self._enter(item, "excused", None, behaviours)

    def _enter(
        self, item: str, verdict: VerdictName, turn: int | None, behaviours: tuple[str, ...], *, fn: int = 0
    ) -> None:
        self.verdicts.append(MentionVerdict(self.measure, self.domain, item, verdict, turn, behaviours, fn=fn))


def close(ledgers: list[Ledger], measure: MeasureName) -> tuple[dict[str, PrfScore], list[MentionVerdict]]:
    """The scores by domain and combined, and all verdicts.

    The combined score pools the items of all domains, so what is wrong in one can meet what is missing in another; a
    verdict ``pooled`` says so, and makes the verdicts sum to the combined counts too.
    """
    scores: dict[str, PrfScore] = {}
    verdicts: list[MentionVerdict] = []
    truth: Counter[str] = Counter()
    said: Counter[str] = Counter()
    for ledger in ledgers:
        if ledger.domain == COMBINED:
            raise DialgaugeError(f"a domain is called '{COMBINED}', the name of the score of all domains; rename it")
        verdicts += ledger.verdicts
        truth.update(ledger.truth)
        said.update(ledger.said)
        of_domain = score(ledger.truth, ledger.said)
        if of_domain is not None:
            scores[ledger.domain] = of_domain
    combined = score(truth, said)
    if combined is not None:
        if len(ledgers) > 1:
            verdicts += _pooled(ledgers, measure, truth, said)
        scores[COMBINED] = combined
    return scores, verdicts


def _pooled(
    ledgers: list[Ledger], measure: MeasureName, truth: Counter[str], said: Counter[str]
) -> list[MentionVerdict]:
    apart: Counter[str] = Counter()
    for ledger in ledgers:
        for item, count in ledger.truth.items():
            apart[item] += min(count, ledger.said[item])
    matched = {item: min(count, said[item]) - apart[item] for item, count in truth.items()}
    return [
        MentionVerdict(measure, COMBINED, item, "pooled", None, (), tp=count, fp=-count, fn=-count)
        for item, count in matched.items()
        if count
    ]


# Every behaviour GCDF1 records, under the reference evaluator's names, and what each means in plain words.

_REPEATED_CONSTRAINT = {
    "elicited_by_sys_question": "the system asked for this very slot",
    "elicited_by_booking_failure": "the system had refused a booking, and nothing went forward since",
    "elicited_by_no_offers": "the system had found nothing, and nothing went forward since",
    "failed_sys_nlu": "the system had not understood it before",
    "confirmed_choice_params": "the system had spoken of the number of matches",
    "repeated_while_requesting_info": "the user asked for information in the same turn",
    "repeated_while_booking": "the system had just offered an entity or a booking",
    "repeated_when_answering_request": "the user answered a question about another slot",
    "switched_between_domains": "other domains were spoken of in between",
    "unmatched": "no reason was found",
    "nobook_validation_failure": "a booking was refused, but the talk had gone forward since: no excuse",
    "nooffer_validation_failure": "a search found nothing, but the talk had gone forward since: no excuse",
}
_OUTSIDE_GOAL = {
    "auto_matched_value": "the value is always accepted (such as dontcare)",
    "auto_matched_slot": "the slot is always accepted in this domain",
    "auto_matched_slot_value_pair": "slot and value are listed as always accepted",
    "elicited_by_sys_question": "the system asked for this slot",
    "elicited_by_sys_offer": "the system had offered something with this slot",
    "elicited_by_booking_failure": "the system had refused a booking, so another entity is named",
    "elicited_by_booking_acceptance": "the system had proposed a booking, so the entity is named",
    "elicited_by_recommendation": "the system had recommended an entity",
    "first_turn": "said in the first turn, when nothing could have prompted it",
    "unmatched": "nothing before it prompted it",
}
_REPEATED_REQUEST = {
    "system_req_nlu_failure": "the system had not understood the request",
    "repeated_despite_receiving_answer": "the system had answered",
    "user_prempted_request": "the system asked something back instead of answering",
    "delayed_response": "the system had not answered",
    "spurious_annotation": "the talk had moved on to other domains: an artefact of annotation",
}

#: Label to meaning, as labels stand in the tables of a run.
LABELS: dict[str, str] = {
    **{f"multiple_constraint_informs/{name}": text for name, text in _REPEATED_CONSTRAINT.items()},
    **{f"constraints_not_in_goal/{name}": text for name, text in _OUTSIDE_GOAL.items()},
    **{f"multiple_slot_requests/{name}": text for name, text in _REPEATED_REQUEST.items()},
    "repeated_inform": "a constraint was said more than once",
    "repetitions_warning": "a constraint or request was repeated very often",
    "single_repetitions_nog": "a slot of the goal with a value that the goal does not have",
    "missed_domain": "a domain of the goal was never spoken of",
    "missed_constraints": "a constraint of the goal was never said",
    "informed_wrong_value": "a constraint of the goal was said with another value",
    "failed_dialogue": "a constraint was not said because the search before it failed",
    "sys_preempted_constraint": "the system said a constraint, so the user need not",
    "informed_domains_outside_goals": "constraints in a domain that the goal does not have",
    "wrong_taxi_annotations": "an entity named in passing while a taxi is discussed",
    "multiple_req": "a request was made more than once",
    "auto_ref": "the reference number of a booking was asked for",
    "provision_entire_domain": "the system gave requested information in a domain where the user asked nothing",
    "provision_slots": "the system gave requested information unasked",
    "requests_not_in_goal": "requests in a domain of the goal that wants none",
    "requested_domains_outside_goals": "requests in a domain that the goal does not have",
}


def matching_labels(pattern: str) -> list[str]:
    """The labels that a name or pattern means: the whole label, its last part, or either with ``*``."""
    labels = [
        label for label in LABELS if fnmatchcase(label, pattern) or fnmatchcase(label.rpartition("/")[2], pattern)
    ]
    if not labels:
        names = {label.rpartition("/")[2] for label in LABELS}
        raise DialgaugeError(f"there is no behaviour '{pattern}'.{nearest(pattern, names)}")
    return labels


def meaning(name: str) -> str:
    """What a label or the last part of one means; the name itself when it is none of ours."""
    if name in LABELS:
        return LABELS[name]
    return next((text for label, text in LABELS.items() if label.endswith(f"/{name}")), name)
