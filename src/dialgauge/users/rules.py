"""The rules of I-GCDF1 and R-GCDF1: a verdict on every mention, and on everything left unsaid.

I-GCDF1: does the user say all of its goal's constraints, and nothing but them? R-GCDF1: does it ask for everything that
its goal wants to know? Coca, Tseng, Byrne: GCDF1, a goal- and context-driven F-score for evaluating user models (EANCS
2021), sections 3.1 and 3.2. R-GCDF1 is scored after I-GCDF1, whose failed searches remove requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import ClassVar

from dialgauge.users.acts import EQUALS, INFORM, REQUEST, SLOT_VALUE, SpokenTurn
from dialgauge.users.labels import (
    ANSWERED,
    FIRST_TURN,
    IN_PASSING,
    NO_EXCUSE,
    OUTSIDE,
    REPEATED,
    REPEATED_REQUESTS,
    SPURIOUS,
    UNEXCUSED,
    UNPROMPTED,
)
from dialgauge.users.talk import Mentions, Signals, Talk
from dialgauge.users.verdicts import MeasureName, Verdict, VerdictName, said_instead


def verdicts_of(talk: Talk) -> Iterator[Verdict]:
    """The verdicts of both measures, of every goal domain and then of each other domain the user spoke of."""
    for domain in talk.tasks:
        yield from Constraints(talk, domain).run()
    every = talk.config.igcd_f1.repetitions.count_fp
    yield from _elsewhere("I-GCDF1", "informed_domains_outside_goals", talk, talk.informed, every=every)
    for domain in talk.tasks:
        yield from Requests(talk, domain).run()
    for service, requests in talk.requested.items():
        if service not in talk.tasks:
            talk.refuse(f"the user asks about '{service}', a domain outside the goal", min(requests.values())[0])
    every = talk.config.rgcd_f1.repetitions.count_fp
    yield from _elsewhere("R-GCDF1", "requested_domains_outside_goals", talk, talk.requested, every=every)


def _elsewhere(measure: MeasureName, label: str, talk: Talk, said: Mentions, *, every: bool) -> Iterator[Verdict]:
    """What is said in domains that the goal does not have: all wrong, once or ``every`` time."""
    for service, mentions in said.items():
        if service not in talk.tasks:
            for item, turns in mentions.items():
                for turn in turns if every else turns[:1]:
                    yield Verdict(measure, service, item, "outside-domain", turn, (label,))


class _Rules:
    """One measure of one goal domain."""

    measure: ClassVar[MeasureName]

    def __init__(self, talk: Talk, domain: str) -> None:
        self._talk, self._domain = talk, domain
        self._signals = Signals(talk, domain)
        self._verdicts: list[Verdict] = []

    def _add(
        self,
        item: str,
        verdict: VerdictName,
        turn: int | None,
        labels: Sequence[str] = (),
        turns: tuple[int, ...] = (),
        answer: int | None = None,
    ) -> None:
        self._verdicts.append(Verdict(self.measure, self._domain, item, verdict, turn, tuple(labels), turns, answer))


class Constraints(_Rules):
    """I-GCDF1 of one goal domain."""

    measure = "I-GCDF1"

    def __init__(self, talk: Talk, domain: str) -> None:
        super().__init__(talk, domain)
        self._options = talk.config.igcd_f1
        self._said = talk.informed.get(domain, {})
        parts = talk.tasks[domain].constraints
        self._goal = dict.fromkeys(f"{slot}{EQUALS}{value}".lower() for part in parts for slot, value in part.items())
        self._slots = {text.partition(EQUALS)[0] for text in self._goal}

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
        if missing := [text for text in self._goal if text not in self._said]:
            self._unsaid(missing)
        return self._verdicts

    # A slot that the goal has.

    def _wanted_slot(self, text: str, slot: str, turns: list[int]) -> None:
        self._add(text, "credited" if text in self._goal else "wrong-value", turns[0])
        for ordinal, (first, second) in enumerate(pairwise(turns), start=1):
            if not self._options.repetitions.count_fp:
                self._add(text, "not-counted", second)
                continue
            if ordinal == 1:
                self._talk.require_domain(self._domain, second)
            stale, excuses = self._why_again(text, slot, first, second)
            forgiven = excuses and ordinal <= self._options.repetitions.max_repetitions
            verdict: VerdictName = "repeated-forgiven" if forgiven else "repeated-penalised"
            self._add(text, verdict, second, (*stale, *(excuses or (UNEXCUSED,))), (first, second))

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
        rulings: dict[int, tuple[tuple[str, ...], bool]] = {}
        for ordinal, turn in enumerate(turns, start=1):
            labels, warranted = ((auto,), True) if auto else self._why_outside(slot, turn)
            rulings[turn] = labels, warranted and ordinal <= limit
            if warranted and not every:
                break
        # Where repetitions do not count, one mention does: the credited one, else the first.
        credited = [turn for turn, (_, credit) in rulings.items() if credit]
        counted = turns if every else credited[:1] or turns[:1]
        for turn in turns:
            labels, credit = rulings.get(turn, ((), False))
            verdict: VerdictName = "out-of-goal-credited" if credit else "out-of-goal"
            self._add(text, verdict if turn in counted else "not-counted", turn, labels)

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
            return (FIRST_TURN,), False
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
            return (IN_PASSING,), False
        return tuple(f"{OUTSIDE}/{name}" for name in names), True

    # What the goal wants and the user never said.

    def _unsaid(self, missing: Sequence[str]) -> None:
        left = []
        spoken = self._talk.system_said()
        for text in missing:
            turns = next((at for name in self._signals.both if (at := spoken.get(name, {}).get(text))), None)
            if turns is None:
                left.append(text)
            elif self._options.compensate_preemption:
                self._add(text, "pre-empted", turns[0], ("sys_preempted_constraint",), tuple(turns))
            else:
                self._add(text, "missing", None, ("sys_preempted_constraint",), tuple(turns))
        empty = self._options.empty_db_result
        failed = bool(left) and self._search_failed()
        for text in left:
            if failed:
                excused = empty.compensate_missed_constraints
                self._add(text, "excused" if excused else "missing", None, ("failed_dialogue",))
            else:
                instead = said_instead(text.partition(EQUALS)[0], self._verdicts)
                self._add(text, "missing", None, ("informed_wrong_value" if instead else "missed_constraints",))
        if failed and empty.compensate_request and self._talk.tasks[self._domain].requests:
            self._talk.requests_removed.append(self._domain)

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


class Requests(_Rules):
    """R-GCDF1 of one goal domain."""

    measure = "R-GCDF1"

    def __init__(self, talk: Talk, domain: str) -> None:
        super().__init__(talk, domain)
        self._options = talk.config.rgcd_f1
        self._asked = talk.requested.get(domain, {})
        wanted = () if domain in talk.requests_removed else talk.tasks[domain].requests
        self._goal = dict.fromkeys(f"{domain}-{slot}".lower() for slot in wanted)

    def run(self) -> list[Verdict]:
        provided = self._provided()
        for request, turns in self._asked.items():
            self._request(request, turns)
        label = "provision_slots" if self._asked else "provision_entire_domain"
        for request, turns in provided.items():
            self._add(request, "pre-empted", turns[0], (label,), tuple(turns))
        for request in self._goal:
            if request not in self._asked and request not in provided:
                self._add(request, "missing", None)
        return self._verdicts

    def _provided(self) -> dict[str, list[int]]:
        """Requests that the system met unasked, each with the first turn in the domain and in booking."""
        options = self._options.missing_requests
        if not options.system_provision or not {"*", self._domain} & set(options.provision_domains):
            return {}
        given: dict[str, list[int]] = {}
        for service in self._signals.both:
            first: dict[str, int] = {}
            for turn in self._talk.turns[1::2]:
                for act in turn.acts(SLOT_VALUE, [service]):
                    first.setdefault(f"{self._domain}-{act.slot}".lower(), turn.position)
            for request, position in first.items():
                if request in self._goal and request not in self._asked:
                    given.setdefault(request, []).append(position)
        return given

    def _request(self, request: str, turns: list[int]) -> None:
        if request in self._goal:
            self._add(request, "credited", turns[0])
        elif request in self._options.auto_add_to_ref and self._talk.tasks[self._domain].book:
            self._add(request, "out-of-goal-credited", turns[0], ("auto_ref",))
        else:
            self._add(request, "out-of-goal", turns[0])
        for ordinal, (first, second) in enumerate(pairwise(turns), start=1):
            if not self._options.repetitions.count_fp:
                self._add(request, "not-counted", second)
                continue
            labels, answer = self._why_again(request, first, second)
            excused = (
                labels and NO_EXCUSE.isdisjoint(labels) and ordinal <= self._options.repetitions.repeats_to_penalty
            )
            verdict: VerdictName = "repeated-forgiven" if excused else "repeated-penalised"
            self._add(request, verdict, second, labels, (first, second), answer)

    def _why_again(self, request: str, first: int, second: int) -> tuple[list[str], int | None]:
        """The labels of a repetition, and the turn that had answered the request, if there is one."""
        span, checks = self._talk.span(first, second), self._options.repetitions.system_behaviour
        if self._is_spurious(request, first, second, span):
            return [SPURIOUS], None
        labels, answer = [], None
        if checks.validate_nlu and not self._understood(request, self._talk.turns[first]):
            labels.append(f"{REPEATED_REQUESTS}/system_req_nlu_failure")
        if checks.validate_policy:
            answer = next((turn.position for turn in span if self._answers(request, turn)), None)
            asked_back = "user_prempted_request" if self._signals.asks(span[-1]) else "delayed_response"
            labels.append(f"{REPEATED_REQUESTS}/{asked_back}" if answer is None else ANSWERED)
        return labels, answer

    def _slot(self, request: str) -> str:
        return request.removeprefix(f"{self._domain}-".lower())

    def _is_reference(self, request: str) -> bool:
        return any(marker in request for marker in self._talk.profile.reference_markers)

    def _is_spurious(self, request: str, first: int, second: int, span: list[SpokenTurn]) -> bool:
        """Is the second request an artefact of annotation, the talk having moved on to other domains?"""
        profile = self._talk.profile
        if self._is_reference(request) or (self._domain == profile.taxi_domain and profile.taxi_domain in request):
            return False
        discussed = {name for turn in span for name in turn.services}
        discussed -= {profile.booking_service, profile.general_service}
        if not discussed:
            return False
        if self._domain not in discussed and len(span) > 1:
            return True
        if len(span) <= 3 or discussed == {self._domain}:
            return False
        users = (self._talk.turns[first], self._talk.turns[second])
        return any(sum(name != profile.general_service for name in user.services) > 1 for user in users)

    def _understood(self, request: str, user: SpokenTurn) -> bool:
        """Did the system hear the first request? Where nothing was recorded, it did."""
        if user.heard is None:
            return True
        heard = [act for act in user.heard if act.act.domain == self._domain and act.families & REQUEST]
        return any(act.slot == self._slot(request) for act in heard)

    def _answers(self, request: str, turn: SpokenTurn) -> bool:
        if self._is_reference(request) and self._signals.confirms_booking(turn):
            return True
        told = [act for act in turn.acts(INFORM, [self._domain]) if act.slot]
        for act in told:
            if not act.has_value:
                self._talk.refuse(f"the system informs of '{act.slot}' without a value", turn.position)
        return any(act.slot == self._slot(request) for act in told)
