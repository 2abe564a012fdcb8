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
    from dialgauge.rankers.neural.entities import (
        MatchTypes as MatchTypes,
        RelationSchema as RelationSchema,
        TypedEntities as TypedEntities,
    )
    from dialgauge.rankers.neural.learned import LearnedRanker as LearnedRanker
    from dialgauge.rankers.neural.models import MemN2N as MemN2N, Typed as Typed
    from dialgauge.rankers.neural.networks import margin_loss as margin_loss
    from dialgauge.rankers.neural.training import (
        Epoch as Epoch,
        Progress as Progress,
        Training as Training,
        device_named as device_named,
        within_memory as within_memory,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
