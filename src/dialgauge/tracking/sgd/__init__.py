"""SGD's official scores: per frame (one service in one user turn), over the slots of the service's schema.

Definitions follow the evaluation of the DSTC8 schema-guided track (Rastogi et al., AAAI 2020). MultiWOZ 2.2 numbers
are the same scores with ``matching="exact"`` and ``across_turn=True``.
"""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.tracking.sgd.cards import OFFICIAL_NAMES as OFFICIAL_NAMES, SGD_CARDS as SGD_CARDS
    from dialgauge.tracking.sgd.frames import Frame as Frame, frame_scores as frame_scores
    from dialgauge.tracking.sgd.similarity import (
        difflib_ratio as difflib_ratio,
        levenshtein as levenshtein,
        slot_score as slot_score,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
