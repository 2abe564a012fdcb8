"""Every behaviour GCDF1 records, under the reference evaluator's names, and every reason for a lost point, in words.

A label is always written whole: ``unmatched`` stands in two trees of the reference and means something else in each.
"""

from __future__ import annotations

from dialgauge.errors import DialgaugeError, nearest

#: The trees of the reference's records.
OUTSIDE = "constraints_not_in_goal"
REPEATED = "multiple_constraint_informs"
REPEATED_REQUESTS = "multiple_slot_requests"
#: Labels that excuse nothing.
UNPROMPTED, FIRST_TURN, IN_PASSING = f"{OUTSIDE}/unmatched", f"{OUTSIDE}/first_turn", "wrong_taxi_annotations"
UNEXCUSED = f"{REPEATED}/unmatched"
ANSWERED = f"{REPEATED_REQUESTS}/repeated_despite_receiving_answer"
SPURIOUS = f"{REPEATED_REQUESTS}/spurious_annotation"
NO_EXCUSE = frozenset({UNPROMPTED, FIRST_TURN, IN_PASSING, UNEXCUSED, ANSWERED, SPURIOUS})

_REPEATED_CONSTRAINT = {
    "elicited_by_sys_question": "the system asked for this very slot",
    "elicited_by_booking_failure": "the system had refused a booking, with no progress since",
    "elicited_by_no_offers": "the system had found nothing, with no progress since",
    "failed_sys_nlu": "the system had not understood it before",
    "confirmed_choice_params": "the system had mentioned the number of matches",
    "repeated_while_requesting_info": "the user asked for information in the same turn",
    "repeated_while_booking": "the system had just offered an entity or a booking",
    "repeated_when_answering_request": "the user answered a question about another slot",
    "switched_between_domains": "other domains were discussed in between",
    "unmatched": "nothing in the context excuses it",
    "nobook_validation_failure": "a booking was refused, but the conversation had moved on since: no excuse",
    "nooffer_validation_failure": "a search found nothing, but the conversation had moved on since: no excuse",
}
_OUTSIDE_GOAL = {
    "auto_matched_value": "the value is always accepted (such as dontcare)",
    "auto_matched_slot": "the slot is always accepted in this domain",
    "auto_matched_slot_value_pair": "slot and value are listed as always accepted",
    "elicited_by_sys_question": "the system asked for this slot",
    "elicited_by_sys_offer": "the system had offered something with this slot",
    "elicited_by_booking_failure": "the system had refused a booking, so another entity is named",
    "elicited_by_booking_acceptance": "the system had proposed a booking, so the entity is named",
    "elicited_by_recommendation": "the system had recommended an entity",
    "first_turn": "said in the first turn, when nothing could have prompted it",
    "unmatched": "nothing before it prompted it",
}
_REPEATED_REQUEST = {
    "system_req_nlu_failure": "the system had not understood the request",
    "repeated_despite_receiving_answer": "the system had answered",
    "user_prempted_request": "the system asked something back instead of answering",
    "delayed_response": "the system had not answered",
    "spurious_annotation": "the conversation had moved on to other domains: an artefact of annotation",
}

#: Label to meaning, as labels stand in the tables of a run.
LABELS: dict[str, str] = {
    **{f"{REPEATED}/{name}": text for name, text in _REPEATED_CONSTRAINT.items()},
    **{f"{OUTSIDE}/{name}": text for name, text in _OUTSIDE_GOAL.items()},
    **{f"{REPEATED_REQUESTS}/{name}": text for name, text in _REPEATED_REQUEST.items()},
    "repeated_inform": "a constraint was said more than once",
    "repetitions_warning": "a constraint or request was repeated very often",
    "single_repetitions_nog": "a slot of the goal with a value that the goal does not have",
    "missed_domain": "a domain of the goal was never mentioned",
    "missed_constraints": "a constraint of the goal was never said",
    "informed_wrong_value": "a constraint of the goal was said with another value",
    "failed_dialogue": "a constraint was not said because the search before it failed",
    "sys_preempted_constraint": "the system said a constraint, so the user need not",
    "informed_domains_outside_goals": "constraints in a domain that the goal does not have",
    "wrong_taxi_annotations": "an entity named in passing while a taxi is discussed",
    "multiple_req": "a request was made more than once",
    "auto_ref": "the reference number of a booking was asked for",
    "provision_entire_domain": "the system gave requested information in a domain where the user asked nothing",
    "provision_slots": "the system gave requested information unasked",
    "requests_not_in_goal": "requests in a domain of the goal that has none",
    "requested_domains_outside_goals": "requests in a domain that the goal does not have",
}
#: Why a point was lost, where the reference evaluator records no behaviour that says so. These stand in verdicts only.
REASONS: dict[str, str] = {
    "lost/loop": "said again in a loop",
    "lost/limit_exceeded": "said again more often than excuses are accepted",
    "lost/answer_misheard": "the user had not understood the system's answer",
    "lost/answer_heard": "the user had heard an answer and said the same again",
    "lost/no_answer": "the system had talked about something else",
    "lost/prompt_misheard": "the user had heard something that the system never said",
    "lost/value_not_in_goal": "the goal has another value for this slot",
    "lost/request_not_in_goal": "the goal does not ask for this",
    "lost/never_asked": "a request of the goal was never made",
    "lost/never_reached": "the conversation was stuck in a loop until its end",
}


def whole_label(name: str) -> str:
    """The label that a name means: the whole label, or its last part where no other ends like it.

    >>> whole_label("repeated_while_booking")
    'multiple_constraint_informs/repeated_while_booking'
    """
    known = [*LABELS, *REASONS]
    labels = [label for label in known if name in (label, label.rpartition("/")[2])]
    if len(labels) > 1:
        raise DialgaugeError(f"'{name}' means {' or '.join(labels)}; write one of them in full")
    if not labels:
        raise DialgaugeError(
            f"there is no behaviour '{name}'.{nearest(name, {label.rpartition('/')[2] for label in known})}"
        )
    return labels[0]


def meaning(label: str) -> str:
    """The meaning of a whole label; an unknown label stands for itself."""
    return LABELS.get(label) or REASONS.get(label, label)
