"""What the responses are like as texts: BLEU against references, and how rich their words are.

BLEU is sacreBLEU's, by its tokeniser and its formula; n-grams are counted here, dialogue by dialogue, so that a score
has an interval and references are prepared once for all systems.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError

_ORDERS = 4
#: Matches and n-grams of each order, length of the responses, length of the references.
STATISTICS = 2 * _ORDERS + 2

_DELETED = ("``", "''", "'", ".", ",", "?", "!", ")", "(", "%", "/", "-", "_", "SYM", ":", ";")
_DELETED_MANY = re.compile("|".join(map(re.escape, _DELETED)))
_SPACES = re.compile(r"\s+")
_WINDOW = 50


# Richness.


@lru_cache(1 << 16)
def words(text: str) -> tuple[str, ...]:
    """The words of a cleaned response, as the standard evaluator counts them: an empty response has one, empty, word.

    >>> words("NAME is a PRICE priced hotel.")
    ('name', 'is', 'a', 'price', 'priced', 'hotel')
    """
    for mark in _DELETED:
        if mark in text:
            text = text.replace(mark, "")
    return tuple(_SPACES.sub(" ", text).lower().split(" "))


def richness(texts: Sequence[str]) -> dict[str, float]:
    """How long and how varied cleaned responses are. The order of the responses matters for MSTTR only."""
    responses = [words(text) for text in texts]
    singles = Counter(word for response in responses for word in response)
    pairs = Counter(pair for response in responses for pair in pairwise(response))
    triples = {three for response in responses for three in zip(response, response[1:], response[2:], strict=False)}
    total = sum(singles.values())
    return {
        "tokens": total / len(responses),
        "unigrams": len(singles),
        "bigrams": len(pairs),
        "trigrams": len(triples),
        "entropy": -math.fsum(count / total * math.log2(count / total) for count in singles.values()),
        "conditional entropy": -math.fsum(
            count / total * math.log2(count / singles[first]) for (first, _), count in pairs.items()
        ),
        "MSTTR-50": _msttr([word for response in responses for word in response]),
    }


def _msttr(tokens: Sequence[str]) -> float:
    """The share of different words in windows of fifty; the rest that fills no window is left out."""
    if len(tokens) <= _WINDOW:
        return len(set(tokens)) / len(tokens)
    starts = range(0, len(tokens) - _WINDOW + 1, _WINDOW)
    return sum(len(set(tokens[start : start + _WINDOW])) for start in starts) / _WINDOW / len(starts)


# BLEU.


class References:
    """Reference texts by dialogue and turn, tokenised and counted once."""

    def __init__(self, name: str, texts: Mapping[str, Sequence[str]]) -> None:
        self.name = name
        self.texts = texts
        tokenise = _bleu().tokenizer

        @lru_cache(1 << 16)
        def counted(text: str) -> tuple[int, Counter[tuple[str, ...]]]:
            tokens = tokenise(text).split()
            return len(tokens), _grams(tokens)

        self._counted = counted

    def statistics(self, dialogue: str, responses: Sequence[str]) -> NDArray[np.float64]:
        """The sums behind BLEU over the turns of one dialogue."""
        if dialogue not in self.texts:
            raise DialgaugeError(f"the references ({self.name}) lack the dialogue", dialogue=dialogue)
        references = self.texts[dialogue]
        if len(responses) > len(references):
            raise DialgaugeError(
                f"there are {len(responses)} responses and {len(references)} references ({self.name})",
                dialogue=dialogue,
            )
        sums = [0] * STATISTICS
        for text, wanted in zip(responses, references, strict=False):
            length, grams = self._counted(text)
            reference_length, reference = self._counted(wanted)
            sums[-2] += length
            sums[-1] += reference_length
            for gram in grams.keys() & reference.keys():
                sums[len(gram) - 1] += min(grams[gram], reference[gram])
            for order in range(_ORDERS):
                sums[_ORDERS + order] += max(length - order, 0)
        return np.array(sums, np.float64)


def _grams(tokens: Sequence[str]) -> Counter[tuple[str, ...]]:
    grams: Counter[tuple[str, ...]] = Counter()
    for order in range(1, _ORDERS + 1):
        grams.update(zip(*(tokens[start:] for start in range(order)), strict=False))
    return grams


def _bleu() -> Any:
    try:
        from sacrebleu.metrics import BLEU
    except ImportError as error:
        raise DialgaugeError("BLEU needs the package sacrebleu: pip install 'dialgauge[tasks]'") from error
    return BLEU()


def bleu_signature() -> str:
    """sacreBLEU's own signature for what is computed here: one reference, mixed case, its usual settings."""
    bleu = _bleu()
    bleu.corpus_score(["a"], [["a"]])
    return str(bleu.get_signature()).replace("|", ",")


def bleu_of(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """BLEU, from 0 to 100, of sums of statistics: the last axis holds the statistics.

    sacreBLEU's formula with its usual smoothing: the k-th order without a match counts as 1 / 2^k of a match.
    """
    matches, totals = sums[..., :_ORDERS], sums[..., _ORDERS : 2 * _ORDERS]
    length, reference = sums[..., -2], sums[..., -1]
    empty = (matches == 0) & (totals > 0)
    halved = 2.0 ** -np.cumsum(empty, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        precisions = np.where(empty, halved, matches) / totals
        logs = np.where(totals > 0, np.log(precisions), -np.inf).mean(axis=-1)
        brevity = np.where(length < reference, 1 - reference / length, 0.0)
        score = 100 * np.exp(logs + np.where(length > 0, brevity, -np.inf))
    return np.where((matches.sum(axis=-1) > 0) & (length > 0), score, 0.0)


def total_bleu(dialogues: Iterable[NDArray[np.float64]]) -> float:
    """BLEU over dialogues."""
    return float(bleu_of(np.sum(list(dialogues), axis=0)))
