"""I-GCDF1: does the user say all of its goal's constraints, and nothing but them?

Coca, Tseng, Byrne: GCDF1, a goal- and context-driven F-score for evaluating user models (EANCS 2021), section 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Final

from dialgauge.dialogue import Task
from dialgauge.users.context import DialogueContext, Parameters, Signals
from dialgauge.users.labels import OUTSIDE
from dialgauge.users.point_causes import Reason
from dialgauge.users.records import Behaviour, Ledger
from dialgauge.users.repetitions import Repetitions
from dialgauge.users.turns import EQUALS

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
    parameters, every = context.user_parameters(), context.config.igcd_f1.repetitions.count_fp
    ledgers = [_DomainScorer(context, domain, parameters.get(domain, {})).run() for domain in context.tasks]
    for service, constraints in parameters.items():
        if service not in context.tasks:
            label = "informed_domains_outside_goals"
            ledgers.append(context.outside_domain(MEASURE, label, service, constraints, every=every))
    return ledgers


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
            self._context.refuse(f"the user informs of the slot '{slot}' without a value", turn)
            return None
        if EQUALS in value and self._context.config.strict:
            self._context.refuse(f"the value {value!r} contains '{EQUALS}', which separates slot and value", turn)
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
        if every:
            return
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
        taxi, spoken = self._context.profile.taxi_domain, self._context.turns[turn]
        names_taxi = taxi and (taxi in spoken.services or taxi in spoken.text)
        if names_taxi and slot in self._signals.domain.entity_slots:
            self._context.record(MEASURE, "wrong_taxi_annotations", self._domain, text, turns=(turn,))
            return ("wrong_taxi_annotations",), False
        for label in labels:
            self._context.record(MEASURE, label, self._domain, text, turns=(turn,))
        return tuple(labels), True

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
            self._context.refuse("the user's last turn states constraints and nobody answers it", last)
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
