"""Why a user says a constraint of its goal again (spec sections 6.4 and 6.5)."""

from __future__ import annotations

from collections.abc import Callable

from turnwise.users.scene import Scene
from turnwise.users.signals import Signals
from turnwise.users.view import Moment

UNMATCHED = "unmatched"


def why_repeated(
    scene: Scene, signals: Signals, domain: str, text: str, slot: str, first: int, second: int
) -> tuple[list[str], list[str]]:
    """The behaviours that excuse saying ``text`` in turn ``second`` again after ``first``, and the failed checks.

    The system's behaviours come first; the user's own are only looked at when the system gave no cause.
    """
    span = scene.span(first, second)
    causes, failed_checks = _system_causes(scene, signals, domain, text, slot, first, second, span)
    return causes or _user_causes(scene, signals, domain, second, span), failed_checks


def _system_causes(
    scene: Scene, signals: Signals, domain: str, text: str, slot: str, first: int, second: int, span: list[Moment]
) -> tuple[list[str], list[str]]:
    checks = scene.config.igcd_f1.repetitions.sys_behaviours
    causes: list[str] = []
    failed: list[str] = []
    if checks.requests and signals.requests_slot(span[0], slot):
        causes.append("elicited_by_sys_question")
    if checks.booking_failure_response and signals.domain.transactional:
        held = _before_progress(signals, span, signals.refuses_booking)
        if held is not None:
            (causes if held else failed).append("elicited_by_booking_failure" if held else "nobook_validation_failure")
    if checks.no_offers:
        held = _before_progress(signals, span, signals.is_void)
        if held is not None:
            (causes if held else failed).append("elicited_by_no_offers" if held else "nooffer_validation_failure")
    if checks.nlu and not any(text in scene.heard(turn, domain) for turn in range(first, second, 2)):
        causes.append("failed_sys_nlu")
    return causes, failed


def _before_progress(signals: Signals, span: list[Moment], failure: Callable[[Moment], bool]) -> bool | None:
    """Is the most recent failure at least as recent as the most recent progress? None when there was no failure."""
    failures = [failure(turn) for turn in span]
    if not any(failures):
        return None
    recent = failures.index(True)
    return not any(signals.shows_progress(turn) for turn in span[:recent])


def _user_causes(scene: Scene, signals: Signals, domain: str, second: int, span: list[Moment]) -> list[str]:
    checks = scene.config.igcd_f1.repetitions.user_behaviours
    causes = []
    if checks.offer_checks and signals.has_choice(span[0]):
        causes.append("confirmed_choice_params")
    if checks.repeats_while_requesting_info and signals.requests(scene.moments[second]):
        causes.append("repeated_while_requesting_info")
    if checks.repeats_while_booking and signals.offers(span[0]):
        causes.append("repeated_while_booking")
    if checks.repeats_when_answering_request and signals.requests(span[0]):
        causes.append("repeated_when_answering_request")
    if checks.proposes_multiple_domains and _switches_domains(scene, domain, scene.moments[second], span):
        causes.append("switched_between_domains")
    return causes


def _switches_domains(scene: Scene, domain: str, user: Moment, span: list[Moment]) -> bool:
    """Was another domain (or a pleasantry, which counts as one) spoken of in between, and no taxi?"""
    taxi = scene.profile.taxi_domain
    if taxi:
        if taxi in user.text or any(taxi in service for service in user.services):
            return False
        if any(taxi in turn.services or taxi in turn.text for turn in span):
            return False
    own = scene.with_booking(domain)
    return any(service not in own for turn in span for service in turn.services)
