"""Evaluation of a ranker on a split: per-response and per-dialog accuracy, hits@k, reciprocal rank, by reply class.

    per-response = correct replies / replies           (micro average over the split)
    per-dialog   = dialogs with every reply correct / dialogs

A reply is correct when the first candidate is exactly the gold text; ties at the top go to the candidate that stands
first in the file, and the number of such ties is reported (Bordes et al. 2017, section 5; ties are our choice).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError
from dialgauge.rankers import Episode, Point, Ranker, checked_scores
from dialgauge.stats import ratio_intervals

if TYPE_CHECKING:
    import polars


BATCH = 512
PER_RESPONSE, PER_DIALOG, MRR = "per-response", "per-dialog", "MRR"
HITS = (2, 5, 10)


@dataclass(frozen=True)
class RankingResult:
    """What a ranker answered, reply by reply. Arrays are parallel; ``dialogues`` holds one id per reply."""

    dialogues: list[str]
    turns: NDArray[np.int64]
    classes: list[str]
    gold: NDArray[np.int64]
    chosen: NDArray[np.int64]
    #: Place of the gold reply in the ranking, from 1.
    ranks: NDArray[np.int64]
    #: Replies whose highest score was shared by several candidates.
    tied: NDArray[np.bool_]

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Was the first candidate the gold reply?"""
        return np.equal(self.ranks, 1)

    @property
    def unanswered(self) -> int:
        """Replies for which nothing was chosen, or something that is no candidate."""
        return int((self.chosen < 0).sum())

    @property
    def per_response(self) -> float:
        """Share of replies that are correct."""
        return float(self.correct.mean())

    @property
    def per_dialog(self) -> float:
        """Share of dialogs in which every reply is correct."""
        sums = self.sums()[PER_DIALOG]
        return float(sums[0].sum() / sums[1].sum())

    def value(self, measure: str) -> float:
        """The corpus value of a measure: Σ num / Σ den over dialogs."""
        num, den = self.sums()[measure]
        return float(num.sum() / den.sum())

    def sums(self) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Per measure the numerator and denominator of each dialog, in order of first appearance."""
        order = {name: place for place, name in enumerate(dict.fromkeys(self.dialogues))}
        groups = np.array([order[name] for name in self.dialogues])
        replies = np.bincount(groups).astype(np.float64)
        right = np.bincount(groups, weights=self.correct)

        def total(per_reply: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            return np.bincount(groups, weights=per_reply).astype(np.float64), replies

        return {
            PER_RESPONSE: (right, replies),
            PER_DIALOG: ((right == replies).astype(np.float64), np.ones(len(order))),
            **{f"hits@{k}": total((self.ranks <= k).astype(np.float64)) for k in HITS},
            MRR: total(1.0 / self.ranks),
        }

    def intervals(self, *, resamples: int = 1000, seed: int = 0) -> dict[str, tuple[float, float]]:
        """95% intervals of all measures from resampling dialogs."""
        sums = self.sums()
        num = np.array([pair[0] for pair in sums.values()])
        den = np.array([pair[1] for pair in sums.values()])
        bounds = ratio_intervals(num, den, resamples=resamples, seed=seed)
        return {name: (float(low), float(high)) for name, (low, high) in zip(sums, bounds, strict=True)}

    def by_class(self) -> dict[str, tuple[int, int]]:
        """Per reply class: how many are correct, and how many there are."""
        found: dict[str, tuple[int, int]] = {}
        for name, right in zip(self.classes, self.correct, strict=True):
            done, of = found.get(name, (0, 0))
            found[name] = (done + int(right), of + 1)
        return dict(sorted(found.items()))

    def dialogue_scores(self) -> polars.DataFrame:
        """The table ``dialogue_scores`` of a run: dialogue, measure, num, den."""
        import polars as pl

        names = list(dict.fromkeys(self.dialogues))
        frames = [
            pl.DataFrame({"dialogue": names, "measure": [measure] * len(names), "num": num, "den": den})
            for measure, (num, den) in self.sums().items()
        ]
        return pl.concat(frames)

    def replies(self, candidates: Sequence[str]) -> polars.DataFrame:
        """The per-reply table of a run, with texts."""
        import polars as pl

        return pl.DataFrame(
            {
                "dialogue": self.dialogues,
                "turn": self.turns,
                "class": self.classes,
                "gold": [candidates[place] for place in self.gold],
                "chosen": [candidates[place] if place >= 0 else "" for place in self.chosen],
                "correct": self.correct,
                "rank": self.ranks,
                "tied": self.tied,
            }
        )


def evaluate(ranker: Ranker, dialogs: Sequence[Episode], *, batch: int = BATCH) -> RankingResult:
    """Let a fitted ranker answer every reply of the dialogs, with the gold history before it."""
    return collect(_answers(ranker, dialogs, batch), dialogs)


def collect(answers: Iterator[tuple[int, int, int, bool]], dialogs: Sequence[Episode]) -> RankingResult:
    """An evaluation from (gold, chosen, rank, tied) of every reply, in the dialogs' order."""
    points = [(one.id, turn) for one in dialogs for turn in range(len(one.asked))]
    if not points:
        raise DialgaugeError("there is no reply to predict: the list of dialogs is empty")
    rows = np.array([(gold, chosen, rank, tied) for gold, chosen, rank, tied in answers], dtype=np.int64)
    return RankingResult(
        dialogues=[name for name, _ in points],
        turns=np.array([turn for _, turn in points], dtype=np.int64),
        classes=[name for one in dialogs for name in reply_classes(one)],
        gold=rows[:, 0],
        chosen=rows[:, 1],
        ranks=rows[:, 2],
        tied=rows[:, 3].astype(bool),
    )


def _answers(ranker: Ranker, dialogs: Sequence[Episode], batch: int) -> Iterator[tuple[int, int, int, bool]]:
    index = {text: place for place, text in enumerate(ranker.candidates)}
    for points in _batches((point for one in dialogs for point in one.points()), batch):
        gold = np.array([_place(index, point) for point in points])
        yield from ranked(checked_scores(ranker, points), gold)


def ranked(scores: NDArray[np.float64], gold: NDArray[np.int64]) -> Iterator[tuple[int, int, int, bool]]:
    """(gold, chosen, rank of gold, tied at the top) per row; equal scores rank in file order.

    A row without any score above minus infinity is no answer: nothing is chosen (-1) and the gold reply ranks behind
    all candidates.
    """
    count = scores.shape[1]
    own = scores[np.arange(len(gold)), gold][:, None]
    before = np.arange(count)[None, :] < gold[:, None]
    rank = 1 + (scores > own).sum(axis=1) + ((scores == own) & before).sum(axis=1)
    top = scores.max(axis=1, keepdims=True)
    answered = (top > -np.inf).ravel()
    chosen = np.where(answered, scores.argmax(axis=1), -1)
    tied = answered & ((scores == top).sum(axis=1) > 1)
    rank = np.where(answered, rank, count + 1)
    return zip(gold.tolist(), chosen.tolist(), rank.tolist(), tied.tolist(), strict=True)


def _place(index: dict[str, int], point: Point) -> int:
    if point.reply not in index:
        raise DialgaugeError(
            f"the reply {point.reply!r} is not among the model's candidates", dialogue=point.dialogue, turn=point.turn
        )
    return index[point.reply]


def _batches(points: Iterator[Point], size: int) -> Iterator[list[Point]]:
    while batch := list(islice(points, size)):
        yield batch


# Kinds of replies, so that a plateau in a table can be read: which kinds a model gets right and which it never does.
#
# The classes are those of tasks 1-5: fixed sentences, the first and later API calls, options (a restaurant is named),
# phone numbers and addresses. For other data a reply is an API call or a sentence.

FIXED, OPTION, PHONE, ADDRESS = "fixed", "option", "phone", "address"


def reply_classes(episode: Episode) -> list[str]:
    """The class of each reply of a dialog."""
    calls = 0
    found = []
    for at in episode.asked:
        reply = episode.lines[at + 1].text
        if reply.startswith("api_call "):
            calls += 1
            found.append(f"api {calls}")
        else:
            found.append(_of_sentence(reply))
    return found


def _of_sentence(reply: str) -> str:
    last = reply.rsplit(" ", 1)[-1]
    if last.endswith("_phone"):
        return PHONE
    if last.endswith("_address"):
        return ADDRESS
    return OPTION if " option: " in reply else FIXED
