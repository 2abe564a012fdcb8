"""I-GCDF1: does the user say all of its goal's constraints, and nothing but them?

Coca, Tseng, Byrne: GCDF1, a goal- and context-driven F-score for evaluating user models (EANCS 2021), section 3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice, pairwise
from typing import Final, TypeAlias

from dialgauge.dialogue import Task
from dialgauge.users.context import DialogueContext, Parameters, Signals
from dialgauge.users.labels import OUTSIDE, REPEATED
from dialgauge.users.point_causes import Reason
from dialgauge.users.records import Behaviour, Ledger
from dialgauge.users.turns import EQUALS, PreparedTurn

MEASURE: Final = "I-GCDF1"

FIRST_TURN = f"{OUTSIDE}/first_turn"
UNPROMPTED = f"{OUTSIDE}/unmatched"


def goal_constraints(task: Task) -> list[str]:
    """The goal's constraints as texts, each once, booking before search."""
    return list(
        dict.fromkeys(
            [
                f"{slot}{EQUALS}{value}".lower()
                for constraints in (task.book, task.fail_book, task.info, task.fail_info)
                for slot, value in constraints.items()
            ]
        )
    )


def score_constraints(context: DialogueContext) -> list[Ledger]:
    """One ledger for each goal domain, then one for each other domain the user spoke of."""
    parameters = context.user_parameters()
    ledgers = [_DomainScorer(context, domain, parameters.get(domain, {})).run() for domain in context.tasks]
    for service, constraints in parameters.items():
        if service not in context.tasks:
            ledgers.append(_outside_domain(context, service, constraints))
    return ledgers


def _outside_domain(context: DialogueContext, service: str, constraints: dict[str, list[int]]) -> Ledger:
    ledger = Ledger(MEASURE, service)
    label = "informed_domains_outside_goals"
    for text, turns in constraints.items():
        for turn in turns if context.config.igcd_f1.repetitions.count_fp else turns[:1]:
            context.record(MEASURE, label, service, text)
            ledger.said_wrong(text, turn, "outside-domain", *context.blame.uncalled_for((label,), turn, (service,)))
    return ledger


class _DomainScorer:
    """I-GCDF1 of one goal domain."""

    def __init__(self, context: DialogueContext, domain: str, parameters: dict[str, list[int]]) -> None:
        self._context, self._domain, self._said = context, domain, parameters
        self._both = context.with_booking(domain)
        self._options = context.config.igcd_f1
        self._signals = Signals(context, domain)
        self._repetitions = Repetitions(context, self._signals, domain)
        self._goal = goal_constraints(context.tasks[domain])
        self._goal_slots = {text.partition(EQUALS)[0] for text in self._goal}
        self._ledger = Ledger(MEASURE, domain, self._goal)

    def run(self) -> Ledger:
        for text, turns in self._said.items():
            self._constraint(text, turns)
        if not self._ledger.said and self._goal:
            self._context.record(MEASURE, "missed_domain", self._domain)
        self._missing()
        return self._ledger

    def _constraint(self, text: str, turns: list[int]) -> None:
        slot = self._slot(text, turns[0])
        if slot is None:
            return
        if len(turns) > 1:
            self._context.record(MEASURE, "repeated_inform", self._domain, text, count=len(turns))
        if len(turns) > self._options.repetitions_warning:
            self._context.record(MEASURE, "repetitions_warning", self._domain, text)
        if slot not in self._goal_slots:
            self._outside_goal(text, slot, turns)
            return
        in_goal = text in self._ledger.truth
        if in_goal:
            self._ledger.said_right(text, turns[0], "credited")
        else:
            reason = self._context.blame.uncalled_for(("lost/value_not_in_goal",), turns[0], (self._domain,), slot)
            self._ledger.said_wrong(text, turns[0], "wrong-value", *reason)
        if not self._options.repetitions.count_fp:
            self._leave_out(text, turns[1:])
        elif len(turns) > 1:
            self._context.require_domain(self._domain, turns[1])
            self._repeat(text, slot, turns)
            return
        if not in_goal:
            self._context.record(MEASURE, "single_repetitions_nog", self._domain, text, turns=(turns[0],))

    def _slot(self, text: str, turn: int) -> str | None:
        """The slot of a constraint; None when the constraint has no value and is passed over."""
        slot, equals, value = text.partition(EQUALS)
        if not equals:
            self._context.fault(f"the user informs of the slot '{slot}' without a value", turn)
            return None
        if EQUALS in value and self._context.config.strict:
            self._context.fault(f"the value {value!r} contains '{EQUALS}', which separates slot and value", turn)
        return slot

    def _leave_out(self, text: str, turns: Sequence[int]) -> None:
        for turn in turns:
            self._ledger.uncounted(text, turn)

    def _repeat(self, text: str, slot: str, turns: list[int]) -> None:
        """All mentions after the first: in a loop there are dozens."""
        behaviours, blame, ledger = self._context.behaviours, self._context.blame, self._ledger
        for ordinal, span in enumerate(pairwise(turns), start=1):
            first, second = span
            labels, excuses = self._repetitions.why(text, slot, first, second)
            for label in labels:
                behaviours.append(Behaviour(MEASURE, label, self._domain, text, span))
            if not excuses:
                reason = blame.unexcused(labels, self._both, slot, first, second)
            elif ordinal > self._options.repetitions.max_repetitions:
                reason = blame.excused_too_often(excuses, second)
            else:
                ledger.warranted(text, second, "repeated-forgiven", excuses, blame.excused(excuses, second))
                continue
            ledger.said_wrong(text, second, "repeated-penalised", *reason)

    def _outside_goal(self, text: str, slot: str, turns: list[int]) -> None:
        options = self._options.constraints_not_in_goal
        counted = turns if self._options.repetitions.count_fp else turns[:1]
        label = auto_matched(self._context, self._domain, slot, text.partition(EQUALS)[2])
        if label is None:
            self._mentions_outside_goal(text, slot, turns)
            return
        self._context.record(MEASURE, label, self._domain, text, count=len(counted))
        for ordinal, turn in enumerate(counted, start=1):
            if ordinal <= options.auto_matching.max_repetions_matched:
                self._ledger.warranted(text, turn, "out-of-goal-credited", (label,))
            else:
                reason = self._context.blame.excused_too_often((label,), turn)
                self._ledger.said_wrong(text, turn, "out-of-goal", *reason)
        self._leave_out(text, turns[len(counted) :])

    def _mentions_outside_goal(self, text: str, slot: str, turns: list[int]) -> None:
        """Each mention for itself; where repetitions do not count, the first that is warranted decides for all."""
        limit = self._options.constraints_not_in_goal.max_repetitions
        every = self._options.repetitions.count_fp
        blame = self._context.blame
        wrong: list[tuple[int, Reason]] = []
        for ordinal, turn in enumerate(turns, start=1):
            labels, excuses = self._warrants(text, slot, turn)
            if excuses and ordinal <= limit:
                self._ledger.warranted(text, turn, "out-of-goal-credited", labels)
            else:
                reason = (
                    blame.excused_too_often(labels, turn)
                    if excuses
                    else blame.uncalled_for(labels, turn, self._both, slot)
                )
                if every:
                    self._ledger.said_wrong(text, turn, "out-of-goal", *reason)
                else:
                    wrong.append((turn, reason))
            if excuses and not every:
                break
        if not every:
            self._settle_once(text, turns, wrong)

    def _settle_once(self, text: str, turns: list[int], wrong: list[tuple[int, Reason]]) -> None:
        if text not in self._ledger.said:
            turn, reason = wrong[0]
            self._ledger.said_wrong(text, turn, "out-of-goal", *reason)
        entered = {entry.turn for entry in self._ledger.verdicts if entry.item == text}
        self._leave_out(text, [turn for turn in turns if turn not in entered])

    def _warrants(self, text: str, slot: str, turn: int) -> tuple[tuple[str, ...], bool]:
        """The labels of a mention whose slot the goal lacks, and whether they warrant it."""
        if turn == 0:
            self._context.record(MEASURE, FIRST_TURN, self._domain, text, turns=(turn,))
            return (FIRST_TURN,), False
        self._context.require_domain(self._domain, turn)
        labels = why_outside_goal(self._context, self._signals, slot, turn)
        if not labels:
            self._context.record(MEASURE, UNPROMPTED, self._domain, text, turns=(turn,))
            return (UNPROMPTED,), False
        if slot in self._signals.domain.entity_slots and self._mentions_taxi(turn):
            self._context.record(MEASURE, "wrong_taxi_annotations", self._domain, text, turns=(turn,))
            return ("wrong_taxi_annotations",), False
        for label in labels:
            self._context.record(MEASURE, label, self._domain, text, turns=(turn,))
        return tuple(labels), True

    def _mentions_taxi(self, turn: int) -> bool:
        taxi, spoken = self._context.profile.taxi_domain, self._context.turns[turn]
        return bool(taxi) and (taxi in spoken.services or taxi in spoken.text)

    def _missing(self) -> None:
        missing = [text for text in self._ledger.truth if text not in self._ledger.said]
        if missing:
            spoken = self._context.system_parameters()
            missing = [text for text in missing if not self._preempted(text, spoken)]
        if not missing:
            return
        failed = self._search_failed()
        for text in missing:
            label = "failed_dialogue" if failed else self._why_missing(text)
            if failed and self._options.empty_db_result.compensate_missed_constraints:
                self._ledger.excuse(text, (label,))
            else:
                self._ledger.missing(text, *self._context.blame.unsaid((label,), self._domain))
            if label in ("failed_dialogue", "missed_constraints"):
                self._context.record(MEASURE, label, self._domain, text)
        if failed and self._options.empty_db_result.compensate_request and self._context.tasks[self._domain].requests:
            self._context.requests_removed.append(self._domain)

    def _preempted(self, text: str, spoken: Parameters) -> bool:
        """Did the system say it, in any turn?"""
        turns: list[int] | None = None
        for service in self._context.with_booking(self._domain):
            turns = turns or spoken.get(service, {}).get(text)
        if turns is None:
            return False
        label = "sys_preempted_constraint"
        self._context.record(MEASURE, label, self._domain, text, turns=tuple(turns))
        if self._options.compensate_preemption:
            self._ledger.said_right(text, turns[0], "pre-empted", (label,))
        else:
            self._ledger.missing(text, *self._context.blame.unsaid((label,), self._domain))
        return True

    def _why_missing(self, text: str) -> str:
        slot = text.partition(EQUALS)[0]
        for provided in self._said:
            if slot in provided and provided not in self._ledger.truth:
                self._context.record(MEASURE, "informed_wrong_value", self._domain, provided, expected=text)
                return "informed_wrong_value"
        return "missed_constraints"

    def _search_failed(self) -> bool:
        """Did the system find nothing right after the user's last constraint of the domain?"""
        if not self._said:
            return False
        last = max(turns[-1] for turns in self._said.values())
        if last + 1 >= len(self._context.turns):
            self._context.fault("the user's last turn states constraints and nobody answers it", last)
            return False
        answer = self._context.turns[last + 1]
        return self._signals.is_void(answer) and not self._signals.has_choice(answer)


# Why a user may say a constraint whose slot its goal does not have.


def auto_matched(context: DialogueContext, domain: str, slot: str, value: str) -> str | None:
    """The label of a constraint that is always credited, or None."""
    matching = context.config.igcd_f1.constraints_not_in_goal.auto_matching
    if value in matching.vals:
        return f"{OUTSIDE}/auto_matched_value"
    # The reference consults the slot lists for taxis only, whatever the configuration says.
    listed = not context.config.strict or domain == context.profile.taxi_domain or not context.profile.taxi_domain
    if listed and slot in matching.slots.get(domain, ()):
        return f"{OUTSIDE}/auto_matched_slot"
    if value in matching.slot_value_pairs.get(domain, {}).get(slot, ()):
        return f"{OUTSIDE}/auto_matched_slot_value_pair"
    return None


def why_outside_goal(context: DialogueContext, signals: Signals, slot: str, turn: int) -> list[str]:
    """The system behaviours before a user turn that warrant a slot outside the goal."""
    checks = context.config.igcd_f1.constraints_not_in_goal.sys_checks
    is_entity = slot in signals.domain.entity_slots
    last = context.turns[turn - 1]
    recent = list(islice(context.system_before(turn), max(checks.sys_context_size, 0)))
    labels = []
    if checks.requests and signals.requests_slot(last, slot):
        labels.append("elicited_by_sys_question")
    if checks.offers and any(signals.presents_slot(each, slot) for each in recent):
        labels.append("elicited_by_sys_offer")
    bookable = is_entity and signals.domain.transactional
    if checks.booking_failure_response and bookable and any(signals.refuses_booking(each) for each in recent):
        labels.append("elicited_by_booking_failure")
    if checks.booking_request_response and is_entity and signals.invites_booking(last):
        labels.append("elicited_by_booking_acceptance")
    if checks.recommendations and is_entity and signals.recommended_before(turn):
        labels.append("elicited_by_recommendation")
    return [f"{OUTSIDE}/{label}" for label in labels]


# Why a user says a constraint of its goal again.

UNEXCUSED = f"{REPEATED}/unmatched"

#: Labels of a failed search or booking: when it is the latest news, and when something went forward after it.
_NOBOOK = (f"{REPEATED}/elicited_by_booking_failure", f"{REPEATED}/nobook_validation_failure")
_NOOFFER = (f"{REPEATED}/elicited_by_no_offers", f"{REPEATED}/nooffer_validation_failure")
_QUESTION = f"{REPEATED}/elicited_by_sys_question"
_NLU = f"{REPEATED}/failed_sys_nlu"


#: The labels of a repetition, and those of them that excuse it.
Repeated: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]


class Repetitions:
    """The reasons for repetitions in one domain of one dialogue.

    Constraints are often repeated together; what does not depend on the constraint is looked at once for each span.
    """

    def __init__(self, context: DialogueContext, signals: Signals, domain: str) -> None:
        self._context, self._signals, self._domain = context, signals, domain
        self._own = context.with_booking(domain)
        self._taxi = context.profile.taxi_domain
        self._checks = context.config.igcd_f1.repetitions.sys_behaviours
        #: By what a short exchange is made of, and by the turn that ends it: the reasons by constraint.
        self._exchanges: dict[tuple[int, int, int, bool, bool], dict[str, Repeated]] = {}
        self._ending: dict[int, dict[str, Repeated]] = {}
        self._failures: dict[tuple[int, int], tuple[list[str], list[str]]] = {}
        self._user: dict[tuple[int, int], list[str]] = {}

    def why(self, text: str, slot: str, first: int, second: int) -> Repeated:
        """Why ``text`` is said in turn ``second`` again after ``first``.

        Users that loop repeat the same exchange: one that is made of the same acts and leaves no other trace than its
        answer is looked at once.
        """
        if second - first > 2:
            return self._why(text, slot, first, second)
        known = self._ending.get(second)
        if known is None:
            known = self._ending[second] = self._exchanges.setdefault(self._exchange(first), {})
        reason = known.get(text)
        if reason is None:
            traces = self._traces()
            reason = self._why(text, slot, first, second)
            if self._traces() == traces:
                known[text] = reason
        return reason

    def _exchange(self, first: int) -> tuple[int, int, int, bool, bool]:
        """What decides about a repetition in the user's very next turn."""
        utterance, answer, again = self._context.turns[first : first + 3]
        return id(utterance.heard), id(answer.said), id(again.said), self._taxi in answer.text, self._taxi in again.text

    def _traces(self) -> tuple[int, int]:
        return len(self._context.warnings), len(self._context.attempts)

    def _why(self, text: str, slot: str, first: int, second: int) -> Repeated:
        """The system's behaviours come first; the user's own are only looked at when the system gave no cause."""
        span = (first, second)
        failures = self._failures.get(span)
        if failures is None:
            failures = self._failures[span] = self._failures_in(first, second)
        excuses, failed_checks = failures
        causes = excuses
        if self._checks.requests and self._signals.requests_slot(self._context.turns[second - 1], slot):
            causes = [_QUESTION, *excuses]
        if self._checks.nlu and not self._heard(text, first, second):
            causes = [*causes, _NLU]
        causes = causes or self._user_causes(first, second)
        return (*failed_checks, *(causes or (UNEXCUSED,))), tuple(causes)

    def _heard(self, text: str, first: int, second: int) -> bool:
        """Did the system understand the constraint in any turn of the span? Every turn is looked at, as the reference
        does: one it cannot normalise is a fault even after the constraint was understood."""
        heard = False
        for turn in range(first, second, 2):
            heard = text in self._context.heard(turn, self._domain) or heard
        return heard

    def _failures_in(self, first: int, second: int) -> tuple[list[str], list[str]]:
        """The labels of failures that excuse, and of those that do not."""
        span = self._context.span(first, second)
        failures: list[tuple[str, bool]] = []
        if self._checks.booking_failure_response and self._signals.domain.transactional:
            failures += self._failure(span, self._signals.refuses_booking, _NOBOOK)
        if self._checks.no_offers:
            failures += self._failure(span, self._signals.is_void, _NOOFFER)
        return [label for label, excuses in failures if excuses], [label for label, excuses in failures if not excuses]

    def _failure(
        self, span: list[PreparedTurn], failure: Callable[[PreparedTurn], bool], labels: tuple[str, str]
    ) -> list[tuple[str, bool]]:
        """The label of a failure in the span, and whether it excuses: not when something went forward after it."""
        failures = [failure(turn) for turn in span]
        if not any(failures):
            return []
        latest = failures.index(True)
        excuses = not any(self._signals.shows_progress(turn) for turn in span[:latest])
        return [(labels[0] if excuses else labels[1], excuses)]

    def _user_causes(self, first: int, second: int) -> list[str]:
        known = self._user.get((first, second))
        if known is None:
            known = self._user[first, second] = self._user_causes_in(first, second)
        return known

    def _user_causes_in(self, first: int, second: int) -> list[str]:
        checks = self._context.config.igcd_f1.repetitions.user_behaviours
        user, last = self._context.turns[second], self._context.turns[second - 1]
        causes = []
        if checks.offer_checks and self._signals.has_choice(last):
            causes.append("confirmed_choice_params")
        if checks.repeats_while_requesting_info and self._signals.requests(user):
            causes.append("repeated_while_requesting_info")
        if checks.repeats_while_booking and self._signals.offers(last):
            causes.append("repeated_while_booking")
        if checks.repeats_when_answering_request and self._signals.requests(last):
            causes.append("repeated_when_answering_request")
        if checks.proposes_multiple_domains and self._switches_domains(user, self._context.span(first, second)):
            causes.append("switched_between_domains")
        return [f"{REPEATED}/{cause}" for cause in causes]

    def _switches_domains(self, user: PreparedTurn, span: list[PreparedTurn]) -> bool:
        """Was another domain (or a pleasantry, which counts as one) spoken of in between, and no taxi?"""
        taxi = self._context.profile.taxi_domain
        if taxi:
            if taxi in user.text or any(taxi in service for service in user.services):
                return False
            if any(taxi in turn.services or taxi in turn.text for turn in span):
                return False
        return any(service not in self._own for turn in span for service in turn.services)
