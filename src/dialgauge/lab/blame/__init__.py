"""Whose fault a failed conversation of the lab was: the first broken link of the chain from goal to outcome."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.lab.blame.reasons import CAUSES as CAUSES, SIDE_OF as SIDE_OF, Cause as Cause
    from dialgauge.lab.blame.scores import BlameEvidence as BlameEvidence


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
