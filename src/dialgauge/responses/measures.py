"""The measures of replies, as cards. The evidence is a :class:`RankingResult`: a unit is a reply.

A reply is correct when the candidate that the bot puts first is exactly the gold text (Bordes et al. 2017, section 5).
Ties at the top go to the candidate that stands first in the file, which is our choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dialgauge.comparison import Pairing
from dialgauge.measures import (
    Card,
    Count,
    Coverage,
    Measure,
    Parameter,
    Resampling,
    Scores,
    Settings,
    Signature,
    SystemEvidence,
    UnitNumbers,
    parse_measures,
    score_systems,
)

if TYPE_CHECKING:
    import polars

    from dialgauge.responses.evaluation import RankingResult
    from dialgauge.runs import Run

PER_RESPONSE, PER_DIALOG, MRR = "per-response", "per-dialog", "MRR"
#: What an evaluation gives unless other measures are asked for.
DEFAULT = (PER_RESPONSE, PER_DIALOG, "hits@2", "hits@5", "hits@10", MRR)
_BORDES = "Bordes, Boureau and Weston 2017, Learning End-to-End Goal-Oriented Dialog"


def _per_response(replies: RankingResult, settings: Settings) -> UnitNumbers:
    return _floats(replies.correct), _ones(replies)


def _per_dialog(replies: RankingResult, settings: Settings) -> UnitNumbers:
    """The dialogue's verdict stands at its first reply."""
    right = replies.correct if settings["k"] == 1 else replies.ranks <= float(settings["k"])
    wrong = np.bincount(replies.dialogue, weights=~right, minlength=replies.dialogues)
    numbers, first = np.unique(replies.dialogue, return_index=True)
    above, below = np.zeros(len(replies)), np.zeros(len(replies))
    above[first], below[first] = wrong[numbers] == 0, 1.0
    return above, below


def _hits(replies: RankingResult, settings: Settings) -> UnitNumbers:
    return _floats(replies.ranks <= float(settings["k"])), _ones(replies)


def _reciprocal_rank(replies: RankingResult, settings: Settings) -> UnitNumbers:
    return 1.0 / replies.ranks, _ones(replies)


def _floats(values: NDArray[Any]) -> NDArray[np.float64]:
    return values.astype(np.float64)


def _ones(replies: RankingResult) -> NDArray[np.float64]:
    return np.ones(len(replies))


CARDS: tuple[Card[Any], ...] = (
    Card(
        name=PER_RESPONSE,
        family="responses",
        title="per-response accuracy",
        summary="Share of the replies that are exactly the gold reply.",
        formula="correct replies / replies",
        source=_BORDES,
        units=_per_response,
    ),
    Card(
        name=PER_DIALOG,
        family="responses",
        title="per-dialog accuracy",
        summary="Share of the dialogues in which every reply is correct (per-dialog@k: among the first k candidates).",
        formula="dialogues with every reply correct / dialogues",
        source=_BORDES,
        units=_per_dialog,
        cutoff=Parameter("k", 1, summary="how many candidates from the top count", whole=True),
        omit_default_cutoff=True,
    ),
    Card(
        name="hits",
        family="responses",
        title="gold reply in first k",
        summary="Share of the replies whose gold text is among the first k candidates.",
        formula="replies with rank(gold) <= k / replies",
        symbols={"rank(gold)": "the place of the gold reply among the candidates, 1 for the first"},
        source=_BORDES,
        units=_hits,
        cutoff=Parameter("k", 10, summary="how many candidates from the top count", whole=True),
    ),
    Card(
        name=MRR,
        family="responses",
        title="mean reciprocal rank",
        summary="Mean of one over the rank of the gold reply.",
        formula="sum(1 / rank(gold)) / replies",
        symbols={"rank(gold)": "the place of the gold reply among the candidates, 1 for the first"},
        source="Voorhees 1999, The TREC-8 Question Answering Track Report",
        units=_reciprocal_rank,
        unit="reciprocal rank",
    ),
)


def reply_measures(texts: Sequence[str] = ()) -> list[Measure[Any]]:
    """Measures of replies by name, those of other packages too; the usual ones (``default``) unless any is named."""
    return parse_measures(texts or DEFAULT, "responses", lists={"default": DEFAULT})


def score_replies(
    replies: RankingResult,
    measures: Sequence[Measure[Any]] | None = None,
    *,
    signature: Signature | None = None,
    seed: int = 0,
    resamples: int = 1000,
) -> Scores:
    """The scores of what a bot answered; intervals come from resampling dialogues."""
    system = SystemEvidence(
        evidence=replies,
        measures=reply_measures() if measures is None else measures,
        dialogues=replies.ids,
        signature=signature or Signature(),
        coverage=Coverage({"dialogues": _complete(replies.dialogues), "replies": _complete(len(replies))}),
    )
    return score_systems([system], Resampling(resamples, seed))[0]


def _complete(number: int) -> Count:
    return Count(expected=number, read=number, scored=number, failed=0)


class ResponsesPairing(Pairing):
    """Bots may differ in model and seed."""

    own_parts = frozenset({"model", "options", "seed", "fitted", "code"})

    def turn_scores(self, run: Run) -> polars.DataFrame | None:
        """Whether each reply is right, in a column named per-response."""
        import polars as pl

        if "replies" not in run.tables:
            return None
        return run.table("replies").select("dialogue", "turn", pl.col("correct").cast(pl.Float64).alias(PER_RESPONSE))


PAIRING = ResponsesPairing()
