"""R-GCDF1: does the user ask for everything its goal wants to know?

Coca, Tseng, Byrne: GCDF1 (EANCS 2021), section 3.2. Scored after I-GCDF1, whose failed searches remove requests.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from dialgauge.users.context import DialogueContext, Signals
from dialgauge.users.labels import REPEATED_REQUESTS
from dialgauge.users.records import Ledger
from dialgauge.users.turns import INFORM, REQUEST, SLOT_VALUE, PreparedTurn

MEASURE: Final = "R-GCDF1"

EVERYWHERE = "*"
ANSWERED = f"{REPEATED_REQUESTS}/repeated_despite_receiving_answer"
SPURIOUS = f"{REPEATED_REQUESTS}/spurious_annotation"
NEVER_ASKED = "lost/never_asked"

#: Service to request ``domain-slot`` to the positions at which it was made.
Requests = dict[str, dict[str, list[int]]]


def goal_requests(context: DialogueContext, domain: str) -> list[str]:
    """The goal's requests as ``domain-slot``, each once."""
    if domain in context.requests_removed:
        return []
    return list(dict.fromkeys([f"{domain}-{slot}".lower() for slot in context.tasks[domain].requests]))


def score_requests(context: DialogueContext) -> list[Ledger]:
    """One ledger for each goal domain, then one for each other domain the user asked about."""
    requested: Requests = {}
    for turn in context.turns[::2]:
        for service, asked in turn.requested.items():
            for request in asked:
                requested.setdefault(service, {}).setdefault(request, []).append(turn.position)
    provided: dict[str, dict[str, int]] = {}
    if context.config.rgcd_f1.missing_requests.system_provision:
        provided = _provided(context, requested)
    ledgers = [
        _DomainScorer(context, domain, requested.get(domain, {}), provided.get(domain, {})).run()
        for domain in context.tasks
    ]
    for service, requests in requested.items():
        if service not in context.tasks:
            context.refuse(f"the user asks about '{service}', a domain outside the goal", min(requests.values())[0])
            label, every = "requested_domains_outside_goals", context.config.rgcd_f1.repetitions.count_fp
            ledgers.append(context.outside_domain(MEASURE, label, service, requests, every=every))
    return ledgers


def _provided(context: DialogueContext, requested: Requests) -> dict[str, dict[str, int]]:
    """What the system gave unasked, by domain: request to the first turn that gives it."""
    given: dict[str, dict[str, int]] = {}
    domains = context.config.rgcd_f1.missing_requests.provision_domains
    for domain in context.tasks if EVERYWHERE in domains else domains:
        wanted = goal_requests(context, domain) if domain in context.tasks else []
        if not wanted:
            continue
        own = requested.get(domain, {})
        unasked = [
            (request, position)
            for request, position in _system_mentions(context, domain)
            if request in wanted and request not in own
        ]
        label = "provision_slots" if domain in requested else "provision_entire_domain"
        for request, _ in unasked:
            context.record(MEASURE, label, domain, request)
        given[domain] = dict(reversed(unasked))
    return given


def _system_mentions(context: DialogueContext, domain: str) -> list[tuple[str, int]]:
    """The slots the system speaks of in the domain, then in booking, as requests with the first turn of each."""
    mentions: list[tuple[str, int]] = []
    for service in context.with_booking(domain):
        first: dict[str, int] = {}
        for utterance, position in context.first_answers.items():
            for act in utterance.services.get(service, ()):
                if act.families & SLOT_VALUE and act.slot:
                    first.setdefault(f"{domain}-{act.slot}".lower(), position)
        mentions += first.items()
    return mentions


class _DomainScorer:
    """R-GCDF1 of one goal domain."""

    def __init__(
        self, context: DialogueContext, domain: str, requested: dict[str, list[int]], provided: dict[str, int]
    ) -> None:
        self._context, self._domain = context, domain
        self._requested, self._provided = requested, provided
        self._options = context.config.rgcd_f1
        self._signals = Signals(context, domain)
        self._ledger = Ledger(MEASURE, domain, goal_requests(context, domain))

    def run(self) -> Ledger:
        for request, turns in self._requested.items():
            self._request(request, turns)
        for request, turn in self._provided.items():
            label = "provision_slots" if self._requested else "provision_entire_domain"
            self._ledger.said_right(request, turn, "pre-empted", (label,))
        ledger = self._ledger
        for request in [each for each in ledger.truth if each not in ledger.said]:
            ledger.missing(request, *self._context.blame.unsaid((NEVER_ASKED,), self._domain))
        if not ledger.truth:
            for request, count in ledger.said.items():
                for _ in range(count):
                    self._context.record(MEASURE, "requests_not_in_goal", self._domain, request)
        return ledger

    def _request(self, request: str, turns: list[int]) -> None:
        if len(turns) > 1:
            self._context.record(MEASURE, "multiple_req", self._domain, request, count=len(turns))
        if len(turns) > self._options.repetitions_warning:
            self._context.record(MEASURE, "repetitions_warning", self._domain, request)
        self._first(request, turns[0])
        if not self._options.repetitions.count_fp:
            for turn in turns[1:]:
                self._ledger.uncounted(request, turn)
            return
        for ordinal, (first, second) in enumerate(pairwise(turns), start=1):
            self._repetition(request, len(turns), ordinal, first, second)

    def _first(self, request: str, turn: int) -> None:
        if request in self._ledger.truth:
            self._ledger.said_right(request, turn, "credited")
        elif request in self._options.auto_add_to_ref and self._context.tasks[self._domain].book:
            self._context.record(MEASURE, "auto_ref", self._domain, request)
            self._ledger.warranted(request, turn, "out-of-goal-credited", ("auto_ref",))
        else:
            reason = self._context.blame.uncalled_for(
                ("lost/request_not_in_goal",), turn, (self._domain,), self._slot(request)
            )
            self._ledger.said_wrong(request, turn, "out-of-goal", *reason)

    def _repetition(self, request: str, count: int, ordinal: int, first: int, second: int) -> None:
        span = self._context.span(first, second)
        if self._is_spurious(request, first, second, span):
            self._context.record(MEASURE, SPURIOUS, self._domain, request, turns=(first, second))
            self._ledger.said_wrong(request, second, "repeated-penalised", (SPURIOUS,), "user policy")
            return
        labels, answer = self._why_repeated(request, first, span)
        for label in labels:
            self._context.record(MEASURE, label, self._domain, request, count=count)
        if labels and answer is None and ordinal <= self._options.repetitions.repeats_to_penalty:
            cause = self._context.blame.excused(labels, second)
            self._ledger.warranted(request, second, "repeated-forgiven", labels, cause)
            return
        blame, services, slot = self._context.blame, self._context.with_booking(self._domain), self._slot(request)
        if answer is not None:
            reason = blame.answered(labels, services, slot, answer, second)
        elif labels:
            reason = blame.excused_too_often(labels, second)
        else:
            reason = blame.unexcused(labels, services, slot, first, second)
        self._ledger.said_wrong(request, second, "repeated-penalised", *reason)

    def _is_reference(self, request: str) -> bool:
        return any(marker in request for marker in self._context.profile.reference_markers)

    def _is_spurious(self, request: str, first: int, second: int, span: list[PreparedTurn]) -> bool:
        """Is the second request an artefact of annotation, the talk having moved on to other domains?"""
        profile = self._context.profile
        if self._is_reference(request) or (self._domain == profile.taxi_domain and profile.taxi_domain in request):
            return False
        aside = (profile.booking_service, profile.general_service)
        discussed = {service for turn in span for service in turn.services if service not in aside}
        if not discussed:
            return False
        if self._domain not in discussed and len(span) > 1:
            return True
        if len(span) <= 3 or discussed == {self._domain}:
            return False
        users = (self._context.turns[first], self._context.turns[second])
        return any(sum(service != profile.general_service for service in user.services) > 1 for user in users)

    def _why_repeated(
        self, request: str, first: int, span: list[PreparedTurn]
    ) -> tuple[tuple[str, ...], PreparedTurn | None]:
        """The labels of a repetition, and the turn that had answered the request, if there is one."""
        checks = self._options.repetitions.system_behaviour
        labels: list[str] = []
        answer = None
        if checks.validate_nlu and not self._understood(request, self._context.turns[first]):
            labels.append(f"{REPEATED_REQUESTS}/system_req_nlu_failure")
        if checks.validate_policy:
            answer = next((turn for turn in span if self._answers(request, turn)), None)
            asked_back = "user_prempted_request" if self._signals.requests(span[-1]) else "delayed_response"
            labels.append(f"{REPEATED_REQUESTS}/{asked_back}" if answer is None else ANSWERED)
        return tuple(labels), answer

    def _slot(self, request: str) -> str:
        return request.removeprefix(f"{self._domain}-".lower())

    def _understood(self, request: str, user: PreparedTurn) -> bool:
        """Did the system hear the first request? Where nothing was recorded, it did."""
        if user.heard is None:
            return True
        acts = user.heard.services.get(self._domain, ())
        return any(act.families & REQUEST and act.slot == self._slot(request) for act in acts)

    def _answers(self, request: str, turn: PreparedTurn) -> bool:
        if self._is_reference(request) and self._signals.confirms_booking(turn):
            return True
        answers = False
        for act in turn.services.get(self._domain, ()):
            if act.families & INFORM and act.slot:
                if not act.has_value:
                    self._context.refuse(f"the system informs of '{act.slot}' without a value", turn.position)
                answers = answers or act.slot == self._slot(request)
        return answers
