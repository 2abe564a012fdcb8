"""The best-ranked candidates of a reply: what else a ranker might have said, and how far behind the gold reply was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars

    from dialgauge.responses.evaluation import RankingResult

#: How many candidates of every reply a run keeps.
KEPT = 5


class Shortlist(NamedTuple):
    """The numbers of the best-ranked candidates (-1: no more of them) with their scores, and the gold reply's score."""

    places: NDArray[np.int64]
    scores: NDArray[np.float64]
    gold_score: float


def shortlists(scores: NDArray[np.float64], gold: NDArray[np.int64], keep: int) -> Iterator[Shortlist]:
    """The best candidates of each row of scores, equal ones in file order; minus infinity is no candidate at all."""
    left = scores.copy()
    rows = np.arange(len(left))
    width = min(keep, left.shape[1])
    places = np.full((len(left), width), -1, dtype=np.int64)
    best = np.full((len(left), width), -np.inf)
    # As many passes as there are places: argmax takes the first of equals, which no partition promises, and is faster.
    for index in range(width):
        first = left.argmax(axis=1)
        best[:, index] = left[rows, first]
        places[:, index] = np.where(best[:, index] > -np.inf, first, -1)
        left[rows, first] = -np.inf
    return map(Shortlist, places, best, scores[rows, gold].tolist())


def candidates_frame(result: RankingResult, candidates: Sequence[str]) -> polars.DataFrame:
    """The table ``candidates`` of a run: of every reply the best-ranked candidates, and the gold one where it is lower.

    A reply without an answer has no rows. A score that is not finite is null.
    """
    import polars as pl

    places = np.array([shortlist.places for shortlist in result.shortlists], dtype=np.int64)
    scores = np.array([shortlist.scores for shortlist in result.shortlists], dtype=np.float64)
    golds = np.array([shortlist.gold_score for shortlist in result.shortlists], dtype=np.float64)
    listed, at = np.nonzero(places >= 0)
    lower = np.flatnonzero((result.chosen >= 0) & ~(places == result.gold[:, None]).any(axis=1))
    reply = np.concatenate([listed, lower])
    rank = np.concatenate([at + 1, result.ranks[lower]])
    candidate = np.concatenate([places[listed, at], result.gold[lower]])
    score = np.concatenate([scores[listed, at], golds[lower]])
    order = np.lexsort((rank, reply))
    number = reply[order]
    texts, ids = pl.Series(candidates, dtype=pl.String), pl.Series(result.ids, dtype=pl.String)
    return pl.DataFrame(
        {
            "dialogue": ids.gather(result.dialogue[number]),
            "turn": result.turns[number],
            "rank": rank[order],
            "text": texts.gather(candidate[order]),
            "score": pl.Series(np.where(np.isfinite(score), score, np.nan)[order]).fill_nan(None),
            "gold": candidate[order] == result.gold[number],
        }
    )
