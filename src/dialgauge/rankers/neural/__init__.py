"""Models that learn, in PyTorch (the extra ``neural``). Nothing else imports torch."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.rankers.neural.config import (
        Hyperparameters as Hyperparameters,
        embedding_preset as embedding_preset,
        memory_preset as memory_preset,
        updated as updated,
    )
    from dialgauge.rankers.neural.encoding import (
        Lines as Lines,
        WordBags as WordBags,
        batches as batches,
        encode as encode,
        padded as padded,
        vocabulary as vocabulary,
        words_of as words_of,
    )
    from dialgauge.rankers.neural.entities import Entities as Entities, RelationSchema as RelationSchema
    from dialgauge.rankers.neural.learned import (
        LearnedRanker as LearnedRanker,
        margin_loss as margin_loss,
        sampled_candidates as sampled_candidates,
        with_said_replies as with_said_replies,
    )
    from dialgauge.rankers.neural.matching import MatchTypes as MatchTypes
    from dialgauge.rankers.neural.memn2n import MemN2N as MemN2N
    from dialgauge.rankers.neural.reading import (
        MemoryCells as MemoryCells,
        MemoryWeights as MemoryWeights,
        ReadingInput as ReadingInput,
        VectorTables as VectorTables,
        hop_gradients as hop_gradients,
        look_up as look_up,
        read as read,
        run_hops as run_hops,
        summed as summed,
        summed_by_row as summed_by_row,
        table_gradients as table_gradients,
    )
    from dialgauge.rankers.neural.scoring import cross_entropy as cross_entropy, scored as scored
    from dialgauge.rankers.neural.training import (
        Epoch as Epoch,
        Optimiser as Optimiser,
        Training as Training,
        device_named as device_named,
        within_memory as within_memory,
    )
    from dialgauge.rankers.neural.typed import MarkedMemory as MarkedMemory, Typed as Typed


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
