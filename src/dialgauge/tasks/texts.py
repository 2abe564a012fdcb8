"""What the responses are like as texts: BLEU against references, and how rich their words are.

BLEU is sacreBLEU's, by its tokeniser and its formula; n-grams are counted here, dialogue by dialogue, so that a score
has an interval and references are prepared once for all systems.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec
import numpy as np
from msgspec import Struct
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

_DELETED = ("``", "''", "'", ".", ",", "?", "!", ")", "(", "%", "/", "-", "_", "SYM", ":", ";")
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
    tokens = list(chain.from_iterable(responses))
    singles = Counter(tokens)
    pairs = Counter(chain.from_iterable(map(pairwise, responses)))
    triples = set(chain.from_iterable(_grams(response, 3) for response in responses))
    total = sum(singles.values())
    return {
        "tokens": total / len(responses),
        "unigrams": float(len(singles)),
        "bigrams": float(len(pairs)),
        "trigrams": float(len(triples)),
        "entropy": -math.fsum(count / total * math.log2(count / total) for count in singles.values()),
        "conditional entropy": -math.fsum(
            count / total * math.log2(count / singles[first]) for (first, _), count in pairs.items()
        ),
        "MSTTR-50": _msttr(tokens),
    }


def _msttr(tokens: Sequence[str]) -> float:
    """The share of different words in windows of fifty; the rest that fills no window is left out."""
    if len(tokens) <= _WINDOW:
        return len(set(tokens)) / len(tokens)
    starts = range(0, len(tokens) - _WINDOW + 1, _WINDOW)
    return sum(len(set(tokens[start : start + _WINDOW])) for start in starts) / _WINDOW / len(starts)


# BLEU.


ReferenceKind: TypeAlias = Literal["raw", "clean"]
REFERENCE_KINDS: tuple[ReferenceKind, ...] = ("raw", "clean")


class _ReferenceText(Struct, frozen=True, gc=False):
    """A reference: its length, its n-grams of each order, and how often those occur that occur more than once."""

    length: int
    grams: tuple[frozenset[tuple[str, ...]], ...]
    repeated: dict[tuple[str, ...], int]


class _Tokeniser(dict[str, tuple[str, ...]]):
    """sacreBLEU's tokeniser, asked once for each word.

    Its rules (13a) look at characters beside each other and never across white space, so the tokens of a text are those
    of its words, but for a word that is hyphenated at the end of a line.
    """

    def __init__(self, tokenise: Callable[[str], str]) -> None:
        self._tokenise = tokenise

    def __missing__(self, word: str) -> tuple[str, ...]:
        tokens = self[word] = tuple(self._tokenise(word).split())
        return tokens

    def of(self, text: str) -> list[str]:
        """The tokens of a text."""
        if "\n" in text:
            return self._tokenise(text.rstrip()).split()
        return [token for word in text.split() for token in self[word]]


class References:
    """Reference texts by dialogue key and turn, tokenised and counted once."""

    def __init__(self, name: str, texts: Mapping[str, Sequence[str]]) -> None:
        self.name = name
        self.texts = texts
        self._counted: dict[str, list[_ReferenceText]] = {}

    @cached_property
    def _tokens(self) -> _Tokeniser:
        return _Tokeniser(_bleu().tokenizer)

    def of(self, dialogue: str) -> list[_ReferenceText]:
        """The references of a dialogue."""
        if dialogue not in self._counted:
            if dialogue not in self.texts:
                raise DialgaugeError(f"the references ({self.name}) lack the dialogue", dialogue=dialogue)
            self._counted[dialogue] = [_reference(self._tokens.of(text)) for text in self.texts[dialogue]]
        return self._counted[dialogue]

    def statistics(self, dialogue: str, responses: Sequence[str]) -> list[int]:
        """The sums behind BLEU over the turns of one dialogue."""
        references = self.of(dialogue)
        if len(responses) > len(references):
            raise DialgaugeError(
                f"there are {counted(len(responses), 'response')} and {counted(len(references), 'reference')} "
                f"({self.name})",
                dialogue=dialogue,
            )
        sums = [0] * STATISTICS
        for text, reference in zip(responses, references, strict=False):
            tokens = self._tokens.of(text)
            sums[-2] += len(tokens)
            sums[-1] += reference.length
            for order in range(min(len(tokens), _ORDERS)):
                sums[_ORDERS + order] += len(tokens) - order
            for order, known in enumerate(reference.grams):
                # The n-grams of a text are not kept: the intersection meets them as they are made.
                shared = known.intersection(_grams(tokens, order + 1))
                if not shared:
                    break  # and so no longer one is shared
                sums[order] += len(shared)
                if reference.repeated and not shared.isdisjoint(reference.repeated):
                    sums[order] += _repeated_matches(tokens, order + 1, reference.repeated)
        return sums


_FILE = Keyed(list[str])


def read_references(source: str | Path, are: ReferenceKind | None) -> References:
    """References of a user's own: one JSON object, dialogue to list of texts.

    Raw texts have placeholders in brackets and are cleaned as responses are; clean ones are used as they are.
    """
    if are is None:
        raise DialgaugeError(
            "say what these references are with --references-are: raw (placeholders in brackets) or clean (used as "
            "they are); cleaning twice would destroy the classes, so dialgauge does not guess",
            file=str(source),
        )
    texts: dict[str, list[str]] = {}
    for part in resolve(source):
        for name, given in _FILE.decode(part.read(), part, Notes()):
            if dialogue_key(name) in texts:
                raise DialgaugeError("two dialogues have this id (case and .json are ignored)",
                                     file=part.name, dialogue=name)  # fmt: skip
            texts[dialogue_key(name)] = [cleaned(text) for text in given] if are == "raw" else given
    digest = hashlib.sha256(msgspec.json.encode(texts)).hexdigest()[:8]
    return References(f"{system_name(source)}-{are}-{digest}", texts)


def _reference(tokens: list[str]) -> _ReferenceText:
    counts = [Counter(_grams(tokens, order)) for order in range(1, _ORDERS + 1)]
    repeated = {gram: count for each in counts for gram, count in each.items() if count > 1}
    return _ReferenceText(len(tokens), tuple(map(frozenset, counts)), repeated)


def _grams(tokens: Sequence[str], order: int) -> Iterable[tuple[str, ...]]:
    return zip(*[tokens[start:] for start in range(order)], strict=False)


def _repeated_matches(tokens: Sequence[str], order: int, repeated: Mapping[tuple[str, ...], int]) -> int:
    """The matches beyond the first of n-grams that a reference has more than once."""
    said = Counter(gram for gram in _grams(tokens, order) if gram in repeated)
    return sum(min(count, repeated[gram]) - 1 for gram, count in said.items())


def _bleu() -> BLEU:
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise missing_extra("sacrebleu", "tasks", "BLEU") from error
    return BLEU()


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
