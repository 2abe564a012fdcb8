"""Why a user says a constraint of its goal again: what the system did before, else what the user itself does.

Coca, Tseng, Byrne: GCDF1 (EANCS 2021), section 3.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from dialgauge.users.context import DialogueContext, Signals
from dialgauge.users.labels import REPEATED
from dialgauge.users.turns import PreparedTurn

UNEXCUSED = f"{REPEATED}/unmatched"

#: Labels of a failed search or booking: when it is the latest news, and when something went forward after it.
_NOBOOK = (f"{REPEATED}/elicited_by_booking_failure", f"{REPEATED}/nobook_validation_failure")
_NOOFFER = (f"{REPEATED}/elicited_by_no_offers", f"{REPEATED}/nooffer_validation_failure")
_QUESTION = f"{REPEATED}/elicited_by_sys_question"
_NLU = f"{REPEATED}/failed_sys_nlu"


#: The labels of a repetition, and those of them that excuse it.
Repeated: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]


class Repetitions:
    """The reasons for repetitions in one domain of one dialogue."""

    def __init__(self, context: DialogueContext, signals: Signals, domain: str) -> None:
        self._context, self._signals, self._domain = context, signals, domain
        self._own = context.with_booking(domain)
        self._checks = context.config.igcd_f1.repetitions.sys_behaviours

    def why(self, text: str, slot: str, first: int, second: int) -> Repeated:
        """Why ``text`` is said in turn ``second`` again after ``first``.

        The system's behaviours come first; the user's own are only looked at when the system gave no cause.
        """
        excuses, failed_checks = self._failures_in(first, second)
        causes = excuses
        if self._checks.requests and self._signals.requests_slot(self._context.turns[second - 1], slot):
            causes = [_QUESTION, *excuses]
        if self._checks.nlu and not self._heard(text, first, second):
            causes = [*causes, _NLU]
        if not causes:
            causes = self._user_causes_in(first, second)
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
