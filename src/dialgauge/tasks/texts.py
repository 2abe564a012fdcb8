"""What the responses are like as texts: BLEU against references, and how rich their words are.

BLEU is sacreBLEU's, by its own counts of each segment, summed by dialogue so that a score has an interval.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from dialgauge.dialogue import dialogue_key
from dialgauge.errors import DialgaugeError, missing_extra
from dialgauge.formats import Keyed, Notes, resolve, system_name
from dialgauge.tasks.delexical import cleaned
from dialgauge.text import counted

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

_ORDERS = 4
#: Matches of each order, n-grams of each order, length of the responses, length of the references.
STATISTICS = 2 * _ORDERS + 2
ReferenceKind: TypeAlias = Literal["raw", "clean"]
REFERENCE_KINDS: tuple[ReferenceKind, ...] = ("raw", "clean")

_DELETED = ("``", "''", "'", ".", ",", "?", "!", ")", "(", "%", "/", "-", "_", "SYM", ":", ";")
_SPACES = re.compile(r"\s+")
_WINDOW = 50


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
    tokens = [word for response in responses for word in response]
    singles = Counter(tokens)
    pairs = Counter(pair for response in responses for pair in itertools.pairwise(response))
    triples = {each for response in responses for each in zip(response, response[1:], response[2:], strict=False)}
    windows = [tokens[start : start + _WINDOW] for start in range(0, len(tokens) - _WINDOW + 1, _WINDOW)] or [tokens]
    return {
        "tokens": len(tokens) / len(responses),
        "unigrams": float(len(singles)),
        "bigrams": float(len(pairs)),
        "trigrams": float(len(triples)),
        "entropy": _bits((count, len(tokens), len(tokens)) for count in singles.values()),
        "conditional entropy": _bits((count, singles[first], len(tokens)) for (first, _), count in pairs.items()),
        # What fills no window of fifty words is left out.
        "MSTTR-50": sum(len(set(window)) for window in windows) / len(windows[0]) / len(windows),
    }


def _bits(events: Iterable[tuple[int, int, int]]) -> float:
    """The entropy of events in bits, each with how often it occurs, among how many, of how many in all."""
    return -math.fsum(count / total * math.log2(count / among) for count, among, total in events)


class References:
    """Reference texts by dialogue key and turn."""

    def __init__(self, name: str, texts: Mapping[str, Sequence[str]]) -> None:
        self.name = name
        self.texts = texts

    def statistics(self, responses: Mapping[str, Sequence[str]]) -> NDArray[np.float64]:
        """The sums behind BLEU over the turns of each dialogue, (dialogues, sums), as sacreBLEU counts them."""
        ours = [text for texts in responses.values() for text in texts]
        theirs = [text for dialogue, texts in responses.items() for text in self._answered(dialogue, len(texts))]
        sums = np.zeros((len(responses), STATISTICS))
        if ours:
            counts = np.array(_bleu()._extract_corpus_statistics(ours, [theirs]))  # lengths, matches, n-grams
            owners = np.repeat(np.arange(len(responses)), [len(texts) for texts in responses.values()])
            np.add.at(sums, owners, np.roll(counts, -2, axis=1))
        return sums

    def _answered(self, dialogue: str, turns: int) -> Sequence[str]:
        """The references of the first turns of a dialogue."""
        known = self.texts.get(dialogue)
        if known is None:
            raise DialgaugeError(f"the references ({self.name}) lack the dialogue", dialogue=dialogue)
        if turns > len(known):
            raise DialgaugeError(
                f"there are {counted(turns, 'response')} and {counted(len(known), 'reference')} ({self.name})",
                dialogue=dialogue,
            )
        return known[:turns]


_FILE = Keyed(list[str])


def read_references(source: str | Path, are: ReferenceKind | None) -> References:
    """References of a user's own: one JSON object, dialogue to list of texts.

    Raw texts have placeholders in brackets and are cleaned as responses are; clean ones are used as they are.
    """
    if are is None:
        raise DialgaugeError(
            "say what these references are: references_are is raw (placeholders in brackets) or clean (used as they "
            "are); cleaning twice would destroy the classes, so dialgauge does not guess",
            file=str(source),
        )
    texts: dict[str, list[str]] = {}
    for part in resolve(source):
        for name, given in _FILE.read(part, Notes()):
            if dialogue_key(name) in texts:
                raise DialgaugeError("two dialogues have this id (case and .json are ignored)",
                                     file=part.name, dialogue=name)  # fmt: skip
            texts[dialogue_key(name)] = [cleaned(text) for text in given] if are == "raw" else given
    digest = hashlib.sha256(msgspec.json.encode(texts)).hexdigest()[:8]
    return References(f"{system_name(source)}-{are}-{digest}", texts)


def _bleu() -> BLEU:
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise missing_extra("sacrebleu", "tasks", "BLEU") from error
    return BLEU(force=True)


def bleu_obstacle() -> str | None:
    """Why BLEU cannot be computed here, as the end of a sentence; None where it can."""
    try:
        _bleu()
    except DialgaugeError as error:
        return error.message
    return None


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
