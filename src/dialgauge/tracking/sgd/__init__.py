"""SGD's official scores: per frame (one service in one user turn), over the slots of the service's schema.

Definitions follow the evaluation of the DSTC8 schema-guided track (Rastogi et al., AAAI 2020). MultiWOZ 2.2 numbers
are the same scores with ``fuzzy=False`` and ``across_turn=True``.
"""

from __future__ import annotations

from dialgauge.tracking.sgd.cards import SGD_CARDS, SgdCard
from dialgauge.tracking.sgd.scorer import score_sgd
from dialgauge.tracking.sgd.scores import SgdScores

__all__ = ["SGD_CARDS", "SgdCard", "SgdScores", "score_sgd"]
