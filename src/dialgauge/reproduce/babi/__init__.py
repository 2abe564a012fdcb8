"""Bordes, Boureau and Weston, ICLR 2017: its tables of results, and where its memory networks look."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.reproduce.babi.attention import (
        CLAIMS as CLAIMS,
        KEPT as KEPT,
        MODEL as MODEL,
        SEED as SEED,
        AttentionPlace as AttentionPlace,
        AttentionSample as AttentionSample,
        StoredAttention as StoredAttention,
        attention_at as attention_at,
        attention_tables as attention_tables,
        digest as digest,
        printed as printed,
        stored_attention as stored_attention,
        tasks_of as tasks_of,
        write_attention as write_attention,
    )
    from dialgauge.reproduce.babi.data_claims import DATA_CLAIMS as DATA_CLAIMS
    from dialgauge.reproduce.babi.kept import (
        Kept as Kept,
        KeptCell as KeptCell,
        attention_of as attention_of,
        kept_results as kept_results,
        trained_attention as trained_attention,
        trained_cells as trained_cells,
        write_kept as write_kept,
    )
    from dialgauge.reproduce.babi.reasons import CELLS as CELLS, why_untrained as why_untrained
    from dialgauge.reproduce.babi.tables import (
        LEARNED as LEARNED,
        UNTRAINED as UNTRAINED,
        nearness as nearness,
        reproduce as reproduce,
    )


if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
