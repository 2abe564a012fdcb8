"""Models that learn, in PyTorch (the extra ``neural``). Nothing else imports torch."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.rankers.neural.config import Hyperparameters, embedding_preset, memory_preset, updated
    from dialgauge.rankers.neural.encoding import Lines, WordBags, batches, encode, padded, vocabulary, words_of
    from dialgauge.rankers.neural.entities import Entities, RelationSchema
    from dialgauge.rankers.neural.learned import LearnedRanker, margin_loss, sampled_candidates, with_said_replies
    from dialgauge.rankers.neural.matching import MatchTypes
    from dialgauge.rankers.neural.memn2n import MemN2N
    from dialgauge.rankers.neural.optimiser import Optimiser
    from dialgauge.rankers.neural.reading import (
        MemoryCells,
        MemoryWeights,
        ReadingInput,
        VectorTables,
        hop_gradients,
        look_up,
        read,
        run_hops,
        summed,
        summed_by_row,
        table_gradients,
    )
    from dialgauge.rankers.neural.scoring import cross_entropy, scored
    from dialgauge.rankers.neural.training import Epoch, Training, device_named, within_memory
    from dialgauge.rankers.neural.typed import MarkedMemory, Spelling, Typed

__all__ = [
    "Entities",
    "Epoch",
    "Hyperparameters",
    "LearnedRanker",
    "Lines",
    "MarkedMemory",
    "MatchTypes",
    "MemN2N",
    "MemoryCells",
    "MemoryWeights",
    "Optimiser",
    "ReadingInput",
    "RelationSchema",
    "Spelling",
    "Training",
    "Typed",
    "VectorTables",
    "WordBags",
    "batches",
    "cross_entropy",
    "device_named",
    "embedding_preset",
    "encode",
    "hop_gradients",
    "look_up",
    "margin_loss",
    "memory_preset",
    "padded",
    "read",
    "run_hops",
    "sampled_candidates",
    "scored",
    "summed",
    "summed_by_row",
    "table_gradients",
    "updated",
    "vocabulary",
    "with_said_replies",
    "within_memory",
    "words_of",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
