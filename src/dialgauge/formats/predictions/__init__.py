"""Prediction files of state trackers and end-to-end systems, one module per format."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.formats.predictions.common import (
        Beliefs as Beliefs,
        hyphenated as hyphenated,
        hyphenated_slot as hyphenated_slot,
    )
    from dialgauge.formats.predictions.loose import loose_state as loose_state


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
