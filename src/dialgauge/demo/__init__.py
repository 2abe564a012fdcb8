"""``dialgauge demo``: the guided tour of a world simulated on the spot; nothing is downloaded."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.demo.steps import (
        PROFILE as PROFILE,
        STEPS as STEPS,
        Answer as Answer,
        Demo as Demo,
        learn_words as learn_words,
        track as track,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
