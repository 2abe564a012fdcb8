"""Why a user may say a constraint whose slot its goal does not have (spec section 6.3)."""

from __future__ import annotations

from itertools import islice

from dialgauge.users.scene import Scene
from dialgauge.users.signals import Signals


def auto_matched(scene: Scene, domain: str, slot: str, value: str) -> str | None:
    """The label of a constraint that is always credited, or None."""
    matching = scene.config.igcd_f1.constraints_not_in_goal.auto_matching
    if value in matching.vals:
        return "auto_matched_value"
    # The reference consults the slot lists for taxis only, whatever the configuration says.
    listed = not scene.config.strict or domain == scene.profile.taxi_domain
    if listed and slot in matching.slots.get(domain, ()):
        return "auto_matched_slot"
    if value in matching.slot_value_pairs.get(domain, {}).get(slot, ()):
        return "auto_matched_slot_value_pair"
    return None


def why_outside_goal(scene: Scene, signals: Signals, slot: str, turn: int) -> list[str]:
    """The system behaviours before a user turn that warrant a slot outside the goal."""
    checks = scene.config.igcd_f1.constraints_not_in_goal.sys_checks
    is_entity = slot in signals.domain.entity_slots
    last = scene.moments[turn - 1]
    recent = list(islice(scene.system_before(turn), max(checks.sys_context_size, 0)))
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
    return labels
