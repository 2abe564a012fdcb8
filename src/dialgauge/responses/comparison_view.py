"""What the responses add to a comparison: which replies are right, and the first reply in which two bots differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialgauge.comparison import ComparisonView, ItemDifference, TurnDivergence, dialogue_rows
from dialgauge.formats import SILENCE
from dialgauge.rankers import NO_ANSWER
from dialgauge.responses.measures import PER_RESPONSE

if TYPE_CHECKING:
    import polars

    from dialgauge.runs import Run


class _ResponsesView(ComparisonView):
    own_parts = frozenset({"model", "options", "seed", "fitted", "code"})

    def turn_scores(self, run: Run) -> polars.DataFrame | None:
        """Whether each reply is right, under the name of the accuracy it makes up."""
        import polars as pl

        if "replies" not in run.tables:
            return None
        return run.table("replies").select("dialogue", "turn", pl.col("correct").cast(pl.Float64).alias(PER_RESPONSE))

    def divergence(self, first: Run, second: Run, dialogue: str) -> TurnDivergence | None:
        """The first reply for which two bots chose different sentences."""
        if any("replies" not in run.tables for run in (first, second)):
            return super().divergence(first, second, dialogue)
        theirs = {reply["turn"]: reply for reply in dialogue_rows(second, "replies", dialogue).iter_rows(named=True)}
        mine = dialogue_rows(first, "replies", dialogue).iter_rows(named=True)
        pairs = [(reply, theirs[reply["turn"]]) for reply in mine if reply["turn"] in theirs]
        unlike = [pair for pair in pairs if pair[0]["chosen"] != pair[1]["chosen"]]
        if not unlike:
            return None
        own, other = unlike[0]
        item = ItemDifference(
            _heard(first, dialogue, own["turn"]),
            own["gold"],
            own["chosen"] or NO_ANSWER,
            other["chosen"] or NO_ANSWER,
        )
        return TurnDivergence(own["turn"], len(unlike), (item,))


def _heard(run: Run, dialogue: str, turn: int) -> str:
    """The user's words that a reply answers; a bot that speaks unasked answers silence."""
    turns = dialogue_rows(run, "turns", dialogue)
    if 0 < turn <= len(turns) and turns["speaker"][turn - 1] == "user":
        return str(turns["text"][turn - 1]).strip() or SILENCE
    return SILENCE


VIEW = _ResponsesView()
