"""Bordes, Boureau and Weston, ICLR 2017: its tables of results, and where its memory networks look."""

from __future__ import annotations

from dialgauge._lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dialgauge.reproduce.babi.attention import (
        CLAIMS,
        KEPT,
        MODEL,
        SEED,
        AttentionPlace,
        AttentionSample,
        StoredAttention,
        attention_at,
        attention_tables,
        digest,
        printed,
        stored_attention,
        tasks_of,
        write_attention,
    )
    from dialgauge.reproduce.babi.data_claims import DATA_CLAIMS
    from dialgauge.reproduce.babi.kept import (
        Kept,
        KeptCell,
        attention_of,
        kept_results,
        trained_attention,
        trained_cells,
        write_kept,
    )
    from dialgauge.reproduce.babi.reasons import CELLS, why_untrained
    from dialgauge.reproduce.babi.tables import LEARNED, UNTRAINED, nearness, reproduce

__all__ = [
    "CELLS",
    "CLAIMS",
    "DATA_CLAIMS",
    "KEPT",
    "LEARNED",
    "MODEL",
    "SEED",
    "UNTRAINED",
    "AttentionPlace",
    "AttentionSample",
    "Kept",
    "KeptCell",
    "StoredAttention",
    "attention_at",
    "attention_of",
    "attention_tables",
    "digest",
    "kept_results",
    "nearness",
    "printed",
    "reproduce",
    "stored_attention",
    "tasks_of",
    "trained_attention",
    "trained_cells",
    "why_untrained",
    "write_attention",
    "write_kept",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(__name__)
