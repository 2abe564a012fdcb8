"""How runs of bots that choose replies are paired."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialgauge.comparison import Pairing
from dialgauge.responses.measures import PER_RESPONSE

if TYPE_CHECKING:
    import polars

    from dialgauge.runs import Run


class ResponsesPairing(Pairing):
    """Bots may differ in model and seed."""

    own_parts = frozenset({"model", "options", "seed", "fitted", "code"})

    def turn_scores(self, run: Run) -> polars.DataFrame | None:
        """Whether each reply is right, under the name of the accuracy it makes up."""
        import polars as pl

        if "replies" not in run.tables:
            return None
        return run.table("replies").select("dialogue", "turn", pl.col("correct").cast(pl.Float64).alias(PER_RESPONSE))


PAIRING = ResponsesPairing()
