"""The cards of SGD's official scores: measures like others, of frames instead of states.

A part of one is a group of services, a domain or a service: ``SGD-JGA[#SEEN_SERVICES]``, ``SGD-JGA[Hotels]``,
``SGD-JGA[Hotels_1]``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from dialgauge.measures import Card, Parameter, Settings, UnitNumbers
from dialgauge.tracking.sgd_frames import MATCHINGS

if TYPE_CHECKING:
    from dialgauge.tracking.sgd import SgdFrames

#: The official evaluation's names for the groups that are not one service or domain.
ALL, SEEN, UNSEEN = "#ALL_SERVICES", "#SEEN_SERVICES", "#UNSEEN_SERVICES"

_SOURCE = "Rastogi et al. 2020, Schema-Guided Dialogue State Tracking Task at DSTC8"

_PR = {"P": "precision, shared / predicted", "R": "recall, shared / in the reference"}

MATCHING = Parameter("matching", "auto", MATCHINGS, "how values of non-categorical slots are compared")
JOINT = Parameter("joint", "auto", ("frame", "turn"), "joint scores of each frame, or multiplied over a turn's frames")


def _scores(name: str, joint: bool, frames: SgdFrames, settings: Settings) -> UnitNumbers:
    """The score of each frame; with joint=turn, for joint scores, the product of a turn's frames at its first."""
    values = frames.columns[name]
    kept = frames.scored & ~np.isnan(values)
    if not joint or settings["joint"] == "frame" or not kept.any():
        return np.where(kept, values, 0.0), kept.astype(np.float64)
    rows = np.flatnonzero(kept)
    starts = np.flatnonzero(np.diff(frames.turn[rows], prepend=-1))
    above, below = np.zeros(len(values)), np.zeros(len(values))
    above[rows[starts]] = np.multiply.reduceat(values[rows], starts)
    below[rows[starts]] = 1.0
    return above, below


def _resolved(frames: SgdFrames, settings: Settings) -> Settings:
    return {**settings, "matching": frames.matching, "joint": frames.joint}


def _obstacle(name: str, frames: Any, settings: Settings) -> str | None:
    columns = getattr(frames, "columns", None)
    if columns is None:
        return "it is one of SGD's official scores, which are computed together, given a schema (--schema)"
    for parameter, own in (("matching", frames.matching), ("joint", frames.joint)):
        if settings[parameter] not in ("auto", own):
            return f"the frames were scored with {parameter}={own}"
    return "no frame records it on both sides" if np.isnan(columns[name]).all() else None


def _card(
    name: str, title: str, formula: str, *, joint: bool = False, symbols: Mapping[str, str] = MappingProxyType({})
) -> Card[SgdFrames]:
    return Card(
        name=name,
        family="tracking",
        title=f"SGD's official {title}",
        summary=f"{title[0].upper()}{title[1:]}, by frames as in SGD's official evaluation.",
        formula=formula,
        symbols=symbols,
        source=_SOURCE,
        parts=True,
        units=partial(_scores, name, joint),
        parameters=(MATCHING, JOINT),
        resolve=_resolved,
        obstacle=partial(_obstacle, name),
    )


def _goals(part: str, suffix: str) -> tuple[Card[SgdFrames], Card[SgdFrames]]:
    """The average and the joint goal accuracy over all slots, or over one part of them."""
    over = f"the service's {part}slots"
    return (
        _card(
            f"SGD-AGA{suffix}",
            f"average goal accuracy over {over}",
            f"mean score of {over} filled in the reference; frames with none are skipped",
        ),
        _card(
            f"SGD-JGA{suffix}",
            f"joint goal accuracy over {over}",
            f"product of the scores of all of {over}; frames of services with none are skipped",
            joint=True,
        ),
    )


def _f1(name: str, of: str) -> tuple[Card[SgdFrames], Card[SgdFrames], Card[SgdFrames]]:
    """F1, precision and recall of two multisets in a frame."""
    return (
        _card(f"{name}-F1", f"F1 of {of}", "2 P R / (P + R), 0 if P = R = 0", symbols=_PR),
        _card(f"{name}-P", f"precision of {of}", "shared / predicted, 1 if nothing is predicted"),
        _card(f"{name}-R", f"recall of {of}", "shared / in the reference, 1 if the reference has none"),
    )


SGD_CARDS: tuple[Card[SgdFrames], ...] = (
    *_goals("", ""),
    *_goals("categorical ", "-cat"),
    *_goals("non-categorical ", "-noncat"),
    _card("SGD-intent", "accuracy of the active intent", "1 if the intents are equal, else 0"),
    *_f1("SGD-requested", "the slots the user asks for"),
    *_f1("SGD-tagging", "(slot, text) of non-categorical slots marked in the utterance"),
)

#: What the official evaluation calls each of them.
OFFICIAL_NAMES = {
    "SGD-AGA": "average_goal_accuracy",
    "SGD-JGA": "joint_goal_accuracy",
    "SGD-AGA-cat": "average_cat_accuracy",
    "SGD-JGA-cat": "joint_cat_accuracy",
    "SGD-AGA-noncat": "average_noncat_accuracy",
    "SGD-JGA-noncat": "joint_noncat_accuracy",
    "SGD-intent": "active_intent_accuracy",
    "SGD-requested-F1": "requested_slots_f1",
    "SGD-requested-P": "requested_slots_precision",
    "SGD-requested-R": "requested_slots_recall",
    "SGD-tagging-F1": "slot_tagging_f1",
    "SGD-tagging-P": "slot_tagging_precision",
    "SGD-tagging-R": "slot_tagging_recall",
}
