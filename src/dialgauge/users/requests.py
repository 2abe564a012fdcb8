"""R-GCDF1: does the user ask for everything its goal wants to know?

Coca, Tseng, Byrne: GCDF1 (EANCS 2021), section 3.2. Scored after I-GCDF1, whose failed searches remove requests.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from dialgauge.users.acts import INFORM, REQUEST, SLOT_VALUE, SpokenTurn
from dialgauge.users.labels import REPEATED_REQUESTS
from dialgauge.users.talk import Signals, Talk
from dialgauge.users.verdicts import Verdict, VerdictName, outside_domain

ANSWERED = f"{REPEATED_REQUESTS}/repeated_despite_receiving_answer"
SPURIOUS = f"{REPEATED_REQUESTS}/spurious_annotation"


def score_requests(talk: Talk) -> list[Verdict]:
    """The verdicts of every goal domain, then those of each other domain the user asked about."""
    verdicts = [verdict for domain in talk.tasks for verdict in Requests(talk, domain).run()]
    for service, requests in talk.requested.items():
        if service not in talk.tasks:
            talk.refuse(f"the user asks about '{service}', a domain outside the goal", min(requests.values())[0])
            label, every = "requested_domains_outside_goals", talk.config.rgcd_f1.repetitions.count_fp
            verdicts += outside_domain("R-GCDF1", label, service, requests, talk.causes, every=every)
    return verdicts


class Requests:
    """R-GCDF1 of one goal domain."""

    def __init__(self, talk: Talk, domain: str) -> None:
        self._talk, self._domain, self._options = talk, domain, talk.config.rgcd_f1
        self._signals = Signals(talk, domain)
        self._asked = talk.requested.get(domain, {})
        wanted = () if domain in talk.requests_removed else talk.tasks[domain].requests
        self._goal = dict.fromkeys(f"{domain}-{slot}".lower() for slot in wanted)
        self._verdicts: list[Verdict] = []

    def run(self) -> list[Verdict]:
        provided = self._provided()
        for request, turns in self._asked.items():
            self._request(request, turns)
        label = "provision_slots" if self._asked else "provision_entire_domain"
        for request, turns in provided.items():
            self._add(request, "pre-empted", turns[0], (label,), tp=1, turns=tuple(turns))
        for request in self._goal:
            if request not in self._asked and request not in provided:
                labels, cause = self._talk.causes.unsaid(("lost/never_asked",), self._domain)
                self._add(request, "missing", None, labels, fn=1, cause=cause)
        return self._verdicts

    def _add(
        self, item: str, verdict: VerdictName, turn: int | None, labels: tuple[str, ...] = (), **more: Any
    ) -> None:
        self._verdicts.append(Verdict("R-GCDF1", self._domain, item, verdict, turn, labels, **more))

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
            self._add(request, "credited", turns[0], tp=1)
        elif request in self._options.auto_add_to_ref and self._talk.tasks[self._domain].book:
            self._add(request, "out-of-goal-credited", turns[0], ("auto_ref",), tp=1)
        else:
            labels, cause = self._talk.causes.uncalled_for(
                ("lost/request_not_in_goal",), turns[0], (self._domain,), self._slot(request)
            )
            self._add(request, "out-of-goal", turns[0], labels, fp=1, cause=cause)
        for ordinal, (first, second) in enumerate(pairwise(turns), start=1):
            if self._options.repetitions.count_fp:
                self._repetition(request, ordinal, first, second)
            else:
                self._add(request, "not-counted", second)

    def _repetition(self, request: str, ordinal: int, first: int, second: int) -> None:
        causes, services, slot = self._talk.causes, self._signals.both, self._slot(request)
        span = self._talk.span(first, second)
        if self._is_spurious(request, first, second, span):
            self._add(
                request, "repeated-penalised", second, (SPURIOUS,), fp=1, cause="user policy", turns=(first, second)
            )
            return
        labels, answer = self._why_again(request, first, span)
        if labels and answer is None and ordinal <= self._options.repetitions.repeats_to_penalty:
            cause = causes.excused(labels, second)
            self._add(request, "repeated-forgiven", second, labels, tp=1, cause=cause, turns=(first, second))
            return
        if answer is not None:
            reason = causes.answered(labels, services, slot, answer, second)
        elif labels:
            reason = causes.excused_too_often(labels, second)
        else:
            reason = causes.unexcused(labels, services, slot, first, second)
        self._add(request, "repeated-penalised", second, reason[0], fp=1, cause=reason[1], turns=(first, second))

    def _why_again(self, request: str, first: int, span: list[SpokenTurn]) -> tuple[tuple[str, ...], SpokenTurn | None]:
        """The labels of a repetition, and the turn that had answered the request, if there is one."""
        checks = self._options.repetitions.system_behaviour
        labels: list[str] = []
        answer = None
        if checks.validate_nlu and not self._understood(request, self._talk.turns[first]):
            labels.append(f"{REPEATED_REQUESTS}/system_req_nlu_failure")
        if checks.validate_policy:
            answer = next((turn for turn in span if self._answers(request, turn)), None)
            asked_back = "user_prempted_request" if self._signals.asks(span[-1]) else "delayed_response"
            labels.append(f"{REPEATED_REQUESTS}/{asked_back}" if answer is None else ANSWERED)
        return tuple(labels), answer

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
