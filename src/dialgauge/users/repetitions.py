"""Why a user says a constraint of its goal again (spec sections 6.4 and 6.5)."""

from __future__ import annotations

from collections.abc import Callable

from dialgauge.users.scene import Scene
from dialgauge.users.signals import Signals
from dialgauge.users.view import Moment

UNMATCHED = "unmatched"

#: Labels of a failed search or booking: when it is the latest news, and when something went forward after it.
_NOBOOK = ("elicited_by_booking_failure", "nobook_validation_failure")
_NOOFFER = ("elicited_by_no_offers", "nooffer_validation_failure")


class Repetitions:
    """The reasons for repetitions in one domain of one dialogue.

    Constraints are often repeated together; what does not depend on the constraint is found out once for each span.
    """

    def __init__(self, scene: Scene, signals: Signals, domain: str) -> None:
        self._scene, self._signals, self._domain = scene, signals, domain
        self._own = scene.with_booking(domain)
        self._failures: dict[tuple[int, int], list[tuple[str, bool]]] = {}
        self._user: dict[tuple[int, int], list[str]] = {}

    def why(self, text: str, slot: str, first: int, second: int) -> tuple[list[str], list[str]]:
        """The behaviours that excuse saying ``text`` in turn ``second`` again after ``first``, and the failed checks.

        The system's behaviours come first; the user's own are only looked at when the system gave no cause.
        """
        checks = self._scene.config.igcd_f1.repetitions.sys_behaviours
        causes: list[str] = []
        if checks.requests and self._signals.requests_slot(self._scene.moments[second - 1], slot):
            causes.append("elicited_by_sys_question")
        failures = self._failures.get((first, second))
        if failures is None:
            failures = self._failures[first, second] = self._failures_in(first, second)
        causes += [label for label, excuses in failures if excuses]
        if checks.nlu and not self._heard(text, first, second):
            causes.append("failed_sys_nlu")
        failed_checks = [label for label, excuses in failures if not excuses]
        return causes or self._user_causes(first, second), failed_checks

    def _heard(self, text: str, first: int, second: int) -> bool:
        """Did the system understand the constraint in any turn of the span? Every turn is looked at, as the reference
        does: one it cannot normalise is a fault even after the constraint was found."""
        found = False
        for turn in range(first, second, 2):
            found = text in self._scene.heard(turn, self._domain) or found
        return found

    def _failures_in(self, first: int, second: int) -> list[tuple[str, bool]]:
        checks = self._scene.config.igcd_f1.repetitions.sys_behaviours
        span = self._scene.span(first, second)
        found = []
        if checks.booking_failure_response and self._signals.domain.transactional:
            found += self._failure(span, self._signals.refuses_booking, _NOBOOK)
        if checks.no_offers:
            found += self._failure(span, self._signals.is_void, _NOOFFER)
        return found

    def _failure(
        self, span: list[Moment], failure: Callable[[Moment], bool], labels: tuple[str, str]
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
        checks = self._scene.config.igcd_f1.repetitions.user_behaviours
        user, last = self._scene.moments[second], self._scene.moments[second - 1]
        causes = []
        if checks.offer_checks and self._signals.has_choice(last):
            causes.append("confirmed_choice_params")
        if checks.repeats_while_requesting_info and self._signals.requests(user):
            causes.append("repeated_while_requesting_info")
        if checks.repeats_while_booking and self._signals.offers(last):
            causes.append("repeated_while_booking")
        if checks.repeats_when_answering_request and self._signals.requests(last):
            causes.append("repeated_when_answering_request")
        if checks.proposes_multiple_domains and self._switches_domains(user, self._scene.span(first, second)):
            causes.append("switched_between_domains")
        return causes

    def _switches_domains(self, user: Moment, span: list[Moment]) -> bool:
        """Was another domain (or a pleasantry, which counts as one) spoken of in between, and no taxi?"""
        taxi = self._scene.profile.taxi_domain
        if taxi:
            if taxi in user.text or any(taxi in service for service in user.services):
                return False
            if any(taxi in turn.services or taxi in turn.text for turn in span):
                return False
        return any(service not in self._own for turn in span for service in turn.services)
