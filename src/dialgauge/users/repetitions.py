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
        if not causes:
            if span not in self._user:
                self._user[span] = self._user_causes_in(first, second)
            causes = self._user[span]
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
