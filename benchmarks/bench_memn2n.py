"""One epoch of a memory network on task 5 at the paper's size (d 32, 3 hops), against a straightforward loop.

    DIALGAUGE_DATA=../shared/data python benchmarks/bench_memn2n.py [--share 0.25] [--tries 7]

The yardstick is the loop one writes first in PyTorch: words are numbered beforehand; every batch becomes dense tensors
padded to the longest history and the longest line of the data, is embedded word by word, summed, masked, and learned
from with Adam. Ours makes its batches in the loop too. Because much of the yardstick's time goes into making tensors
from lists, the same loop over tensors made beforehand is shown apart; that favours the loop, since ours still makes its
own. What favours ours: its batches hold points of similar length, and the loop pads to the longest history of all.

One thread, the same points, batches as large. All three take turns, and the best try of each counts: other work on the
machine only ever adds to CPU seconds, and on a busy machine single tries differ by a third.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from dialgauge.rankers import AnsweredPoint, RankingTask, load_task
from dialgauge.rankers.episode import points_of
from dialgauge.rankers.neural.memn2n import MemN2N
from dialgauge.rankers.neural.training import Training

HOPS, DIM, BATCH, RATE = 3, 32, 64, 3e-3


class Yardstick(nn.Module):
    """The same network over dense, padded tensors."""

    def __init__(self, words: int, memories: int) -> None:
        super().__init__()
        self.inputs = nn.Embedding(words, DIM, padding_idx=0)
        self.outputs = nn.Embedding(words, DIM, padding_idx=0)
        self.times = nn.Embedding(memories + 1, DIM)
        self.speakers = nn.Embedding(2, DIM)
        self.rotation = nn.Linear(DIM, DIM, bias=False)
        for weights in self.parameters():
            nn.init.normal_(weights, std=0.1)

    def forward(
        self, stories: Tensor, speakers: Tensor, times: Tensor, empty: Tensor, queries: Tensor, candidates: Tensor
    ) -> Tensor:
        memories = self.inputs(stories).sum(dim=2) + self.speakers(speakers) + self.times(times)
        query = self.inputs(queries).sum(dim=1)
        for _ in range(HOPS):
            logits = (memories @ query[:, :, None]).squeeze(2).masked_fill(empty, -1e9)
            weights = torch.softmax(logits, dim=1)
            query = query + self.rotation((weights[:, :, None] * memories).sum(dim=1))
        scores: Tensor = query @ self.outputs(candidates).sum(dim=1).T
        return scores


class Dense:
    """Points as lists of word numbers, and as dense padded tensors."""

    def __init__(self, points: list[AnsweredPoint], candidates: tuple[str, ...]) -> None:
        texts = [line.text for point in points for line in point.history] + [point.utterance for point in points]
        words = dict.fromkeys(word for text in (*texts, *candidates) for word in text.lower().split())
        self.index = {word: number for number, word in enumerate(words, start=1)}
        self.width = max(len(text.split()) for text in (*texts, *candidates))
        self.longest = max(len(point.history) for point in points)
        self.candidates = torch.tensor([self._padded(text) for text in candidates])
        self.gold = torch.tensor([candidates.index(point.reply) for point in points])
        numbers = {text: self._padded(text) for text in set(texts)}
        self.stories = [[numbers[line.text] for line in point.history] for point in points]
        self.speakers = [[int(line.kind == "bot") for line in point.history] for point in points]
        self.queries = [numbers[point.utterance] for point in points]

    def _padded(self, text: str) -> list[int]:
        found = [self.index[word] for word in text.lower().split()]
        return found + [0] * (self.width - len(found))

    def batch(self, rows: list[int]) -> tuple[Tensor, ...]:
        """The tensors of some points: stories, speakers, times, which cells are empty, queries."""
        blank, longest = [0] * self.width, self.longest
        stories = [self.stories[row] + [blank] * (longest - len(self.stories[row])) for row in rows]
        speakers = [self.speakers[row] + [0] * (longest - len(self.speakers[row])) for row in rows]
        counts = [len(self.stories[row]) for row in rows]
        times = torch.tensor([[*range(count - 1, -1, -1), *([longest] * (longest - count))] for count in counts])
        queries = torch.tensor([self.queries[row] for row in rows])
        return torch.tensor(stories), torch.tensor(speakers), times, times == longest, queries


def main() -> None:
    """Print seconds per epoch of both, and how many times as fast ours is, as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--share", type=float, default=0.25, help="share of the loop's batches, all alike, that is timed"
    )
    parser.add_argument("--tries", type=int, default=7, help="how often each is timed; the best counts")
    arguments = parser.parse_args()
    root = os.environ.get("DIALGAUGE_DATA", "")
    if not root or not (Path(root) / "babi").is_dir():
        print("no data: set DIALGAUGE_DATA to the folder that holds babi/")
        return
    torch.set_num_threads(1)
    task = load_task(Path(root) / "babi", 5, ("trn", "dev"))
    ours, loop, made_beforehand = _best_of(arguments.tries, [_ours(task), *_yardstick(task, arguments.share)])
    report = {
        "points": len(points_of(task.split("trn"))),
        "CPU seconds per epoch, dialgauge": round(ours, 2),
        "CPU seconds per epoch, straightforward loop": round(loop, 2),
        "CPU seconds per epoch, its tensors made beforehand": round(made_beforehand, 2),
        "times as fast as the loop": round(loop / ours, 1),
        "times as fast as the loop without making tensors": round(made_beforehand / ours, 1),
    }
    print(json.dumps(report, indent=2))


class Epoch(NamedTuple):
    """Work to time, and how much of an epoch it is."""

    work: Callable[[], object]
    share: float


def _ours(task: RankingTask) -> Epoch:
    ranker = MemN2N(0)
    # The paper's network and nothing besides, learned from as the yardstick is.
    ranker.options = {
        "preset": "paper",
        "optimiser": "adam",
        "learning_rate": str(RATE),
        "epochs": "1",
        "device": "cpu",
    }
    ranker.options |= {"dim": str(DIM), "hops": str(HOPS), "batch": str(BATCH)}
    ranker.fit(task)
    batches = ranker.training_batches(points_of(task.split("trn")), seed=1)
    training = Training(ranker.module, ranker.config, "", None)
    return Epoch(lambda: training.epoch(batches, ranker.batch_loss), 1.0)


def _yardstick(task: RankingTask, share: float) -> tuple[Epoch, Epoch]:
    """The loop with tensors made in it, and made beforehand."""
    points = points_of(task.split("trn"))
    dense = Dense(points, task.candidates)
    model = Yardstick(len(dense.index) + 1, dense.longest)
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    order = np.random.default_rng(1).permutation(len(points)).tolist()
    cut = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
    some = cut[: round(share * len(cut))]
    ready = [dense.batch(rows) for rows in some]

    def learn(rows: list[int], tensors: tuple[Tensor, ...]) -> float:
        loss = functional.cross_entropy(model(*tensors, dense.candidates), dense.gold[rows])
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 40.0)
        optimiser.step()
        return loss.item()

    in_loop = Epoch(lambda: [learn(rows, dense.batch(rows)) for rows in some], len(some) / len(cut))
    beforehand = Epoch(lambda: [learn(*both) for both in zip(some, ready, strict=True)], len(some) / len(cut))
    return in_loop, beforehand


def _best_of(tries: int, epochs: list[Epoch]) -> list[float]:
    """CPU seconds per epoch of each, the best of some tries that take turns."""
    best = [math.inf] * len(epochs)
    for _ in range(tries):
        for place, epoch in enumerate(epochs):
            start = time.process_time()
            epoch.work()
            best[place] = min(best[place], (time.process_time() - start) / epoch.share)
    return best


if __name__ == "__main__":
    main()
