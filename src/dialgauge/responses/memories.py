"""Where a memory network looks, as the table ``attention`` of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dialgauge.rankers import Attention, Episode, attend, attentive

if TYPE_CHECKING:
    import polars


def attention_frame(weights: Sequence[Attention], reply_turns: Sequence[int]) -> polars.DataFrame:
    """The table ``attention`` of a dialogue: one row per reply, memory and hop."""
    import polars as pl

    rows = [
        (weight.dialogue, reply_turns[weight.turn], index, line.kind, line.text, number, hop[index])
        for weight in weights
        for number, hop in enumerate(weight.hops, start=1)
        for index, line in enumerate(weight.memories)
    ]
    columns = {
        "dialogue": pl.String, "turn": pl.Int64, "memory": pl.Int64, "speaker": pl.String,
        "text": pl.String, "hop": pl.Int64, "weight": pl.Float64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=columns, orient="row")


def attention_tables(bot: Any, dialogs: Sequence[Episode]) -> dict[str, Callable[[], polars.DataFrame]]:
    """The table ``attention`` of some dialogues, made when it is asked for; no table where there are none of them."""
    if not dialogs:
        return {}
    model = attentive(bot)

    def made() -> polars.DataFrame:
        import polars as pl

        return pl.concat([attention_frame(attend(model, dialog.points()), dialog.reply_turns) for dialog in dialogs])

    return {"attention": made}
