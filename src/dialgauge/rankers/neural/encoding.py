"""Points as integers: distinct lines are numbered once, and a point is a run of line numbers.

A memory is one line of the history (user, bot or fact); the current utterance is the query. Facts count as the
user's (Bordes et al. 2017, appendix A). Time is relative: the newest memory has index 0; indices stop at 999.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from dialgauge.rankers.episode import AnsweredPoint, Point
from dialgauge.rankers.neural.config import TIMES

Ints = NDArray[np.int64]
#: From a text to its words.
Split: TypeAlias = Callable[[str], list[str]]

USER, BOT = 0, 1
PAD = 0


@dataclass(frozen=True)
class EncodedPoints:
    """Points in columns: ``memories[starts[i]:starts[i + 1]]`` are the line numbers of point i's history."""

    starts: Ints
    memories: Ints
    speakers: Ints
    queries: Ints
    gold: Ints

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def lengths(self) -> Ints:
        """How many memories each point has."""
        return np.diff(self.starts)


class Lines:
    """Distinct lines and their words; 0 is the empty line that pads. Words it was not given are left out."""

    def __init__(self, words: dict[str, int], split: Split) -> None:
        self._words, self._split = words, split
        self._numbers: dict[str, int] = {"": PAD}
        #: The word numbers of each line.
        self.tokens: list[list[int]] = [[]]

    def number(self, text: str) -> int:
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.tokens)
            self.tokens.append([self._words[word] for word in self._split(text) if word in self._words])
        return number


def words_of(text: str) -> list[str]:
    """The words of a text."""
    return text.lower().split()


def vocabulary(texts: Iterable[str], split: Split) -> list[str]:
    """The words of the texts, in order of appearance."""
    return list(dict.fromkeys(word for text in dict.fromkeys(texts) for word in split(text)))


def encode(points: Sequence[Point], lines: Lines, index: Mapping[str, int]) -> EncodedPoints:
    """Points as line numbers; ``index`` gives the place of the gold reply (-1 where it is not known)."""
    starts = [0]
    memories: list[int] = []
    speakers: list[int] = []
    for point in points:
        memories.extend(lines.number(line.text) for line in point.history)
        speakers.extend(BOT if line.kind == "bot" else USER for line in point.history)
        starts.append(len(memories))
    return EncodedPoints(
        starts=np.array(starts, dtype=np.int64),
        memories=np.array(memories, dtype=np.int64),
        speakers=np.array(speakers, dtype=np.int64),
        queries=np.array([lines.number(point.utterance) for point in points], dtype=np.int64),
        gold=np.array([_gold(point, index) for point in points], dtype=np.int64),
    )


def _gold(point: Point, index: Mapping[str, int]) -> int:
    return index.get(point.reply, -1) if isinstance(point, AnsweredPoint) else -1


def batches(lengths: Ints, size: int, seed: int | None = None) -> list[Ints]:
    """Points in batches of similar length, so that little is padded; a seed shuffles points and batches.

    Without a seed the order is by length alone. Every point is in exactly one batch.
    """
    order = np.arange(len(lengths))
    if seed is None:
        order = order[np.argsort(lengths, kind="stable")]
        return [order[start : start + size] for start in range(0, len(order), size)]
    draws = np.random.Generator(np.random.PCG64(seed))
    order = draws.permutation(order)
    order = order[np.argsort(lengths[order], kind="stable")]
    cut = [order[start : start + size] for start in range(0, len(order), size)]
    return [cut[index] for index in draws.permutation(len(cut))]


def padded(encoded: EncodedPoints, rows: Ints) -> tuple[Ints, Ints, Ints]:
    """Line numbers, speakers and times of a batch's memories (rows × longest).

    Times of cells that hold no memory are -1.
    """
    starts, lengths = encoded.starts[rows][:, None], encoded.lengths[rows][:, None]
    positions = np.arange(lengths.max(initial=0))
    at, times = starts + positions, np.minimum(lengths - 1 - positions, TIMES - 1)
    outside = times < 0
    ragged = outside.any()
    if ragged:
        at[outside] = 0
    ids, speakers = encoded.memories.take(at), encoded.speakers.take(at)
    if ragged:
        ids[outside], speakers[outside], times[outside] = PAD, 0, -1
    return ids, speakers, times


class WordBags:
    """Texts as bags of word numbers, and for each word the texts that hold it.

    Distinct texts are embedded once per batch of dialogs, however often they occur in it. The gradient is the same
    operation the other way round, over the texts that hold each word, so neither direction sorts or scatters.
    """

    def __init__(self, texts: Sequence[Sequence[int]], words: int, device: torch.device) -> None:
        self._texts, self._vocabulary, self._device = texts, words, device
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        flat = np.array([word for text in texts for word in text], dtype=np.int64)
        by_word = np.argsort(flat, kind="stable")

        def tensor(values: NDArray[Any]) -> Tensor:
            return torch.from_numpy(values.astype(np.int32)).to(device)

        self.words, self.starts = tensor(flat), tensor(_starts(lengths))
        self.texts = tensor(np.repeat(np.arange(len(texts)), lengths)[by_word])
        self.word_starts = tensor(_starts(np.bincount(flat, minlength=words)))

    @cached_property
    def counts(self) -> Tensor:
        """How often each text holds each word, as a sparse matrix (texts × words)."""
        return _sparse(self.starts, self.words, self._vocabulary)

    @cached_property
    def counts_by_word(self) -> Tensor:
        """The same the other way round (words × texts)."""
        return _sparse(self.word_starts, self.texts, len(self._texts))

    def only(self, numbers: Ints) -> WordBags:
        """The bags of some texts, in that order."""
        return WordBags([self._texts[number] for number in numbers], self._vocabulary, self._device)

    def sums(self, weights: Tensor) -> Tensor:
        """Σ of the words' vectors for every text (texts × dim); ``weights`` is words × dim."""
        summed: Tensor = _Sum.apply(weights, self)  # type: ignore[no-untyped-call]
        return summed

    def summed(self, weights: Tensor) -> Tensor:
        """The same without a gradient."""
        # Detached: for weights that want a gradient PyTorch would note which word belongs to which text.
        return functional.embedding_bag(self.words, weights.detach(), self.starts, mode="sum")

    def spread(self, grad: Tensor) -> Tensor:
        """The gradient of the weights (words × dim) from that of the sums (texts × dim)."""
        return functional.embedding_bag(self.texts, grad.contiguous(), self.word_starts, mode="sum")


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else np.zeros(0, dtype=np.int64)


def _sparse(starts: Tensor, columns: Tensor, width: int) -> Tensor:
    """The matrix that counts: row i holds a one for each of ``columns[starts[i]:starts[i + 1]]``."""
    ends = torch.cat([starts, torch.full_like(starts[:1], len(columns))])
    ones = torch.ones(len(columns), device=columns.device)
    with warnings.catch_warnings():  # PyTorch calls such tensors new, and says that it does not check this one
        warnings.simplefilter("ignore", UserWarning)
        return torch.sparse_csr_tensor(ends, columns, ones, (len(starts), width))


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, bags: WordBags) -> Tensor:
        ctx.bags = bags
        return bags.summed(weights)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor, None]:
        return ctx.bags.spread(grads[0]), None
