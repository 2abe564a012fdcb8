"""I-GCDF1: does the user say all of its goal's constraints, and nothing but them?

Coca, Tseng, Byrne: GCDF1, a goal- and context-driven F-score for evaluating user models (EANCS 2021), section 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from dialgauge.dialogue import Task
from dialgauge.users.acts import EQUALS, SpokenTurn
from dialgauge.users.causes import Reason
from dialgauge.users.labels import OUTSIDE, REPEATED
from dialgauge.users.talk import Signals, Talk
from dialgauge.users.verdicts import Verdict, VerdictName, outside_domain, said_instead

UNPROMPTED = f"{OUTSIDE}/unmatched"
UNEXCUSED = f"{REPEATED}/unmatched"


def score_constraints(talk: Talk) -> list[Verdict]:
    """The verdicts of every goal domain, then those of each other domain the user spoke of."""
    verdicts = [verdict for domain in talk.tasks for verdict in Constraints(talk, domain).run()]
    every = talk.config.igcd_f1.repetitions.count_fp
    for service, constraints in talk.informed.items():
        if service not in talk.tasks:
            label = "informed_domains_outside_goals"
            verdicts += outside_domain("I-GCDF1", label, service, constraints, talk.causes, every=every)
    return verdicts


def goal_constraints(task: Task) -> list[str]:
    """The goal's constraints as texts, each once, booking before search."""
    parts = (task.book, task.fail_book, task.info, task.fail_info)
    texts = [f"{slot}{EQUALS}{value}".lower() for part in parts for slot, value in part.items()]
    return list(dict.fromkeys(texts))


class Constraints:
    """I-GCDF1 of one goal domain: a verdict on every mention and on everything left unsaid."""

    def __init__(self, talk: Talk, domain: str) -> None:
        self._talk, self._domain, self._options = talk, domain, talk.config.igcd_f1
        self._signals = Signals(talk, domain)
        self._said = talk.informed.get(domain, {})
        self._goal = goal_constraints(talk.tasks[domain])
        self._slots = {text.partition(EQUALS)[0] for text in self._goal}
        self._verdicts: list[Verdict] = []

    def run(self) -> list[Verdict]:
        for text, turns in self._said.items():
            slot, equals, value = text.partition(EQUALS)
            if not equals:
                self._talk.refuse(f"the user informs of the slot '{slot}' without a value", turns[0])
                continue
            if EQUALS in value and self._talk.config.strict:
                self._talk.refuse(f"the value {value!r} contains '{EQUALS}', which separates slot and value", turns[0])
            if slot in self._slots:
                self._wanted_slot(text, slot, turns)
            else:
                self._outside(text, slot, value, turns)
        self._unsaid()
        return self._verdicts

    def _add(
        self, item: str, verdict: VerdictName, turn: int | None, labels: tuple[str, ...] = (), **more: Any
    ) -> None:
        self._verdicts.append(Verdict("I-GCDF1", self._domain, item, verdict, turn, labels, **more))

    def _lose(self, item: str, verdict: VerdictName, turn: int, reason: Reason, turns: tuple[int, ...] = ()) -> None:
        labels, cause = reason
        self._add(item, verdict, turn, labels, fp=1, cause=cause, turns=turns)

    def _miss(self, item: str, label: str, turns: tuple[int, ...] = ()) -> None:
        labels, cause = self._talk.causes.unsaid((label,), self._domain)
        self._add(item, "missing", None, labels, fn=1, cause=cause, turns=turns)

    # A slot that the goal has.

    def _wanted_slot(self, text: str, slot: str, turns: list[int]) -> None:
        if text in self._goal:
            self._add(text, "credited", turns[0], tp=1)
        else:
            reason = self._talk.causes.uncalled_for(("lost/value_not_in_goal",), turns[0], (self._domain,), slot)
            self._lose(text, "wrong-value", turns[0], reason)
        if not self._options.repetitions.count_fp:
            for turn in turns[1:]:
                self._add(text, "not-counted", turn)
            return
        for ordinal, (first, second) in enumerate(pairwise(turns), start=1):
            self._repetition(text, slot, ordinal, first, second)

    def _repetition(self, text: str, slot: str, ordinal: int, first: int, second: int) -> None:
        if ordinal == 1:
            self._talk.require_domain(self._domain, second)
        causes = self._talk.causes
        stale, excuses = self._why_again(text, slot, first, second)
        labels = (*stale, *(excuses or (UNEXCUSED,)))
        if not excuses:
            reason = causes.unexcused(labels, self._signals.both, slot, first, second)
        elif ordinal > self._options.repetitions.max_repetitions:
            reason = causes.excused_too_often(labels, second)
        else:
            cause = causes.excused(excuses, second)
            self._add(text, "repeated-forgiven", second, labels, tp=1, cause=cause, turns=(first, second))
            return
        self._lose(text, "repeated-penalised", second, reason, (first, second))

    def _why_again(self, text: str, slot: str, first: int, second: int) -> tuple[list[str], list[str]]:
        """Labels of failures that no longer excuse a repetition, and of what excuses it: the system's doing, else the
        user's."""
        talk, signals, checks = self._talk, self._signals, self._options.repetitions.sys_behaviours
        span = talk.span(first, second)
        stale, excuses = [], []
        if checks.requests and signals.asks_for(span[0], slot):
            excuses.append("elicited_by_sys_question")
        failures = (
            (
                checks.booking_failure_response and signals.domain.transactional,
                signals.refuses_booking,
                "elicited_by_booking_failure",
                "nobook_validation_failure",
            ),
            (checks.no_offers, signals.found_nothing, "elicited_by_no_offers", "nooffer_validation_failure"),
        )
        for checked, failed, excuse, no_excuse in failures:
            failed_at = [failed(turn) for turn in span] if checked else []
            if any(failed_at):
                since = span[: failed_at.index(True)]
                if any(signals.confirms_booking(turn) or signals.offers(turn) for turn in since):
                    stale.append(no_excuse)
                else:
                    excuses.append(excuse)
        # Every turn is looked at, as in the reference, which aborts on one that it cannot normalise.
        heard = [text in talk.heard(turn, self._domain) for turn in range(first, second, 2)] if checks.nlu else [True]
        if not any(heard):
            excuses.append("failed_sys_nlu")
        if not excuses:
            excuses = self._users_excuses(talk.turns[second], span)
        return [f"{REPEATED}/{name}" for name in stale], [f"{REPEATED}/{name}" for name in excuses]

    def _users_excuses(self, user: SpokenTurn, span: Sequence[SpokenTurn]) -> list[str]:
        signals, checks, last = self._signals, self._options.repetitions.user_behaviours, span[0]
        excuses = []
        if checks.offer_checks and signals.counts_matches(last):
            excuses.append("confirmed_choice_params")
        if checks.repeats_while_requesting_info and signals.asks(user):
            excuses.append("repeated_while_requesting_info")
        if checks.repeats_while_booking and signals.offers(last):
            excuses.append("repeated_while_booking")
        if checks.repeats_when_answering_request and signals.asks(last):
            excuses.append("repeated_when_answering_request")
        if checks.proposes_multiple_domains and self._switches(user, span):
            excuses.append("switched_between_domains")
        return excuses

    def _switches(self, user: SpokenTurn, span: Sequence[SpokenTurn]) -> bool:
        """Was another domain (or a pleasantry, which counts as one) spoken of in between, and no taxi?"""
        taxi = self._talk.profile.taxi_domain
        if taxi:
            if taxi in user.text or any(taxi in service for service in user.services):
                return False
            if any(taxi in turn.services or taxi in turn.text for turn in span):
                return False
        return any(service not in self._signals.both for turn in span for service in turn.services)

    # A slot that the goal does not have.

    def _outside(self, text: str, slot: str, value: str, turns: list[int]) -> None:
        options, every = self._options.constraints_not_in_goal, self._options.repetitions.count_fp
        auto = self._auto_matched(slot, value)
        limit = options.auto_matching.max_repetions_matched if auto else options.max_repetitions
        rulings: dict[int, tuple[tuple[str, ...], bool, bool]] = {}
        for ordinal, turn in enumerate(turns, start=1):
            labels, warranted = ((auto,), True) if auto else self._why_outside(slot, turn)
            rulings[turn] = labels, warranted, warranted and ordinal <= limit
            if (warranted or auto) and not every:
                break
        # Where repetitions do not count, one mention does: the credited one, else the first.
        credited = [turn for turn, (_, _, credit) in rulings.items() if credit]
        counted = turns if every else credited[:1] or turns[:1]
        for turn in turns:
            labels, warranted, credit = rulings.get(turn, ((), False, False))
            if turn not in counted:
                self._add(text, "not-counted", turn, labels)
            elif credit:
                self._add(text, "out-of-goal-credited", turn, labels, tp=1)
            elif warranted:
                self._lose(text, "out-of-goal", turn, self._talk.causes.excused_too_often(labels, turn))
            else:
                reason = self._talk.causes.uncalled_for(labels, turn, self._signals.both, slot)
                self._lose(text, "out-of-goal", turn, reason)

    def _auto_matched(self, slot: str, value: str) -> str:
        """The label of a constraint that is always credited, or ""."""
        matching, taxi = self._options.constraints_not_in_goal.auto_matching, self._talk.profile.taxi_domain
        if value in matching.vals:
            return f"{OUTSIDE}/auto_matched_value"
        # The reference consults the slot lists for taxis only, whatever the configuration says.
        listed = not self._talk.config.strict or self._domain == taxi or not taxi
        if listed and slot in matching.slots.get(self._domain, ()):
            return f"{OUTSIDE}/auto_matched_slot"
        if value in matching.slot_value_pairs.get(self._domain, {}).get(slot, ()):
            return f"{OUTSIDE}/auto_matched_slot_value_pair"
        return ""

    def _why_outside(self, slot: str, turn: int) -> tuple[tuple[str, ...], bool]:
        """The labels of a mention, and whether the system's behaviour before it warrants it."""
        if turn == 0:
            return (f"{OUTSIDE}/first_turn",), False
        self._talk.require_domain(self._domain, turn)
        talk, signals, checks = self._talk, self._signals, self._options.constraints_not_in_goal.sys_checks
        before = talk.span(0, turn)
        last, recent = before[0], before[: checks.sys_context_size]
        entity = slot in signals.domain.entity_slots
        bookable = entity and signals.domain.transactional
        names = []
        if checks.requests and signals.asks_for(last, slot):
            names.append("elicited_by_sys_question")
        if checks.offers and any(signals.presents(each, slot) for each in recent):
            names.append("elicited_by_sys_offer")
        if checks.booking_failure_response and bookable and any(signals.refuses_booking(each) for each in recent):
            names.append("elicited_by_booking_failure")
        if checks.booking_request_response and entity and signals.invites_booking(last):
            names.append("elicited_by_booking_acceptance")
        if checks.recommendations and entity and any(signals.recommends(each) for each in before):
            names.append("elicited_by_recommendation")
        if not names:
            return (UNPROMPTED,), False
        taxi, user = talk.profile.taxi_domain, talk.turns[turn]
        if entity and taxi and (taxi in user.services or taxi in user.text):
            return ("wrong_taxi_annotations",), False
        return tuple(f"{OUTSIDE}/{name}" for name in names), True

    # What the goal wants and the user never said.

    def _unsaid(self) -> None:
        missing = [text for text in self._goal if text not in self._said]
        if not missing:
            return
        left = []
        spoken = self._talk.system_said()
        for text in missing:
            turns = next((at for name in self._signals.both if (at := spoken.get(name, {}).get(text))), None)
            if turns is None:
                left.append(text)
            elif self._options.compensate_preemption:
                self._add(text, "pre-empted", turns[0], ("sys_preempted_constraint",), tp=1, turns=tuple(turns))
            else:
                self._miss(text, "sys_preempted_constraint", tuple(turns))
        empty = self._options.empty_db_result
        failed = bool(left) and self._search_failed()
        for text in left:
            if failed and empty.compensate_missed_constraints:
                self._add(text, "excused", None, ("failed_dialogue",))
            else:
                self._miss(text, "failed_dialogue" if failed else self._why_unsaid(text))
        if failed and empty.compensate_request and self._talk.tasks[self._domain].requests:
            self._talk.requests_removed.append(self._domain)

    def _why_unsaid(self, text: str) -> str:
        instead = said_instead(text.partition(EQUALS)[0], self._verdicts)
        return "informed_wrong_value" if instead else "missed_constraints"

    def _search_failed(self) -> bool:
        """Did the system find nothing right after the user's last constraint of the domain?"""
        if not self._said:
            return False
        last = max(turns[-1] for turns in self._said.values())
        if last + 1 >= len(self._talk.turns):
            self._talk.refuse("the user's last turn states constraints and nobody answers it", last)
            return False
        answer = self._talk.turns[last + 1]
        return self._signals.found_nothing(answer) and not self._signals.counts_matches(answer)
