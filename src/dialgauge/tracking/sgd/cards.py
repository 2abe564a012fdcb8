"""The declared cards of SGD's scores: what each is called here and in the official evaluation, and what it means."""

from __future__ import annotations

from dataclasses import dataclass

_SOURCE = "Rastogi et al. 2020, Schema-Guided Dialogue State Tracking Task at DSTC8"


@dataclass(frozen=True, kw_only=True)
class SgdCard:
    """The declaration of one score. Every value lies in [0, 1], and higher is better."""

    name: str
    #: What the official evaluation calls it.
    official: str
    summary: str
    formula: str
    #: Is it multiplied within a turn when joint scores are taken across a turn's services?
    joint: bool = False
    source: str = _SOURCE


def _goal(part: str, suffix: str, official: str) -> tuple[SgdCard, SgdCard]:
    """The average and the joint goal accuracy over all slots, or over one part of them."""
    over = f"the service's {part}slots"
    return (
        SgdCard(
            name=f"SGD-AGA{suffix}",
            official=f"average_{official}_accuracy",
            summary=f"average goal accuracy over {over}",
            formula=f"mean score of {over} filled in the reference; frames with none are skipped",
        ),
        SgdCard(
            name=f"SGD-JGA{suffix}",
            official=f"joint_{official}_accuracy",
            summary=f"joint goal accuracy over {over}",
            formula=f"product of the scores of all of {over}; frames of services with none are skipped",
            joint=True,
        ),
    )


def _f1(name: str, official: str, of: str) -> tuple[SgdCard, SgdCard, SgdCard]:
    """F1, precision and recall of two multisets in a frame."""
    return (
        SgdCard(
            name=f"{name}-F1", official=f"{official}_f1", summary=f"F1 of {of}", formula="2PR / (P + R), 0 if P = R = 0"
        ),
        SgdCard(
            name=f"{name}-P",
            official=f"{official}_precision",
            summary=f"precision of {of}",
            formula="shared / predicted, 1 if nothing is predicted",
        ),
        SgdCard(
            name=f"{name}-R",
            official=f"{official}_recall",
            summary=f"recall of {of}",
            formula="shared / in the reference, 1 if the reference has none",
        ),
    )


_ALL = (
    *_goal("", "", "goal"),
    *_goal("categorical ", "-cat", "cat"),
    *_goal("non-categorical ", "-noncat", "noncat"),
    SgdCard(
        name="SGD-intent",
        official="active_intent_accuracy",
        summary="accuracy of the active intent",
        formula="1 if the intents are equal, else 0",
    ),
    *_f1("SGD-requested", "requested_slots", "the slots the user asks for"),
    *_f1("SGD-tagging", "slot_tagging", "(slot, text) of non-categorical slots marked in the utterance"),
)

#: All scores by name.
SGD_CARDS = {card.name: card for card in _ALL}
