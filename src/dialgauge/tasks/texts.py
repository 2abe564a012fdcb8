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
from functools import cached_property
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

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

_Integers: TypeAlias = NDArray[np.int64]

_ORDERS = 4
#: Matches of each order, n-grams of each order, length of the responses, length of the references.
STATISTICS = 2 * _ORDERS + 2

_DELETED = ("``", "''", "'", ".", ",", "?", "!", ")", "(", "%", "/", "-", "_", "SYM", ":", ";")
_SPACES = re.compile(r"\s+")
_WINDOW = 50


# Richness.


def words(text: str) -> tuple[str, ...]:
    """The words of a cleaned response, as the standard evaluator counts them: an empty response has one, empty, word.

    >>> words("NAME is a PRICE priced hotel.")
    ('name', 'is', 'a', 'price', 'priced', 'hotel')
    """
    for mark in _DELETED:
        if mark in text:
            text = text.replace(mark, "")
    return tuple(_SPACES.sub(" ", text).lower().split(" "))


class _Words(dict[str, int]):
    """Words numbered as they appear, each spelling looked at once."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __missing__(self, spelling: str) -> int:
        word, *more = words(spelling)
        if not word or more:  # what becomes of it, its neighbours say
            raise KeyError(spelling)
        number = self[spelling] = self.numbers.setdefault(word, len(self.numbers))
        return number

    def of(self, text: str) -> list[int]:
        """The numbers of the words of a cleaned response."""
        try:
            return list(map(self.__getitem__, text.split(" ")))
        except KeyError:
            numbers = self.numbers
            return [numbers.setdefault(word, len(numbers)) for word in words(text)]


def richness(texts: Sequence[str]) -> dict[str, float]:
    """How long and how varied cleaned responses are. The order of the responses matters for MSTTR only."""
    known = _Words()
    responses = [known.of(text) for text in texts]
    tokens = np.array(list(chain.from_iterable(responses)), np.int64)
    lengths = np.array([len(response) for response in responses])
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(tokens))
    most, total = len(known.numbers), len(tokens)
    singles = np.bincount(tokens)
    first = np.flatnonzero(left > 1)
    pairs, which = _different(tokens[first] * most + tokens[first + 1])
    third = left[first] > 2
    triples = _firsts(np.sort(which[third] * most + tokens[first[third] + 2]))
    return {
        "tokens": total / len(responses),
        "unigrams": float(most),
        "bigrams": float(len(pairs)),
        "trigrams": float(triples.sum()),
        "entropy": _entropy(singles, np.full(most, total), total),
        "conditional entropy": _entropy(np.bincount(which), singles[pairs // most], total),
        "MSTTR-50": _msttr(tokens.tolist()),
    }


def _different(numbers: _Integers) -> tuple[_Integers, _Integers]:
    """The different numbers, sorted, and for each number which of them it is.

    ``np.unique`` with inverse to the bit; numpy's own imports its masked arrays, 10 ms of a start.
    """
    order = np.argsort(numbers)
    ordered = numbers[order]
    firsts = _firsts(ordered)
    which = np.empty(len(numbers), np.int64)
    which[order] = np.cumsum(firsts) - 1
    return ordered[firsts], which


def _firsts(ordered: _Integers) -> NDArray[np.bool_]:
    """For each of some sorted numbers, whether it is not the one before."""
    return np.concatenate([np.ones(min(len(ordered), 1), np.bool_), ordered[1:] != ordered[:-1]])


def _entropy(counts: _Integers, among: _Integers, total: int) -> float:
    """In bits, of events with these counts, each among so many. The sum is exact, in whatever order."""
    kinds = Counter(zip(counts.tolist(), among.tolist(), strict=True))
    return -math.fsum(
        chain.from_iterable(
            repeat(count / total * math.log2(count / all_), times) for (count, all_), times in kinds.items()
        )
    )


def _msttr(tokens: Sequence[int]) -> float:
    """The share of different words in windows of fifty; the rest that fills no window is left out."""
    if len(tokens) <= _WINDOW:
        return len(set(tokens)) / len(tokens)
    starts = range(0, len(tokens) - _WINDOW + 1, _WINDOW)
    return sum(len(set(tokens[start : start + _WINDOW])) for start in starts) / _WINDOW / len(starts)


# BLEU.


ReferenceKind: TypeAlias = Literal["raw", "clean"]
REFERENCE_KINDS: tuple[ReferenceKind, ...] = ("raw", "clean")


class _Tokeniser(dict[str, tuple[int, ...]]):
    """sacreBLEU's tokeniser, asked once for each word; tokens are numbered as they appear.

    Its rules (13a) look at characters beside each other and never across white space, so the tokens of a text are those
    of its words, but for a word that is hyphenated at the end of a line.
    """

    def __init__(self, tokenise: Callable[[str], str]) -> None:
        self._tokenise = tokenise
        self._numbers: dict[str, int] = {}

    def __missing__(self, word: str) -> tuple[int, ...]:
        tokens = self[word] = self._numbered(word)
        return tokens

    def _numbered(self, text: str) -> tuple[int, ...]:
        numbers = self._numbers
        return tuple([numbers.setdefault(token, len(numbers)) for token in self._tokenise(text).split()])

    def of(self, texts: Iterable[str]) -> _Tokens:
        flat: list[int] = []
        lengths: list[int] = []
        for text in texts:
            before = len(flat)
            if "\n" in text:
                flat += self._numbered(text.rstrip())
            else:
                flat += chain.from_iterable(map(self.__getitem__, text.split()))
            lengths.append(len(flat) - before)
        return _Tokens(np.array(flat, np.int64), np.array(lengths, np.int64))


class _Tokens(NamedTuple):
    """The numbers of the tokens of several texts, one text after the other, and how many each has."""

    numbers: _Integers
    lengths: _Integers


class References:
    """Reference texts by dialogue key and turn, tokenised once."""

    def __init__(self, name: str, texts: Mapping[str, Sequence[str]]) -> None:
        self.name = name
        self.texts = texts

    @cached_property
    def _tokens(self) -> _Tokeniser:
        return _Tokeniser(_bleu().tokenizer)

    @cached_property
    def _known(self) -> dict[str, _Tokens]:
        tokens = self._tokens.of(chain.from_iterable(self.texts.values()))
        before = [0, *np.cumsum(tokens.lengths).tolist()]
        known = {}
        first = 0
        for dialogue, texts in self.texts.items():
            last = first + len(texts)
            known[dialogue] = _Tokens(tokens.numbers[before[first] : before[last]], tokens.lengths[first:last])
            first = last
        return known

    def statistics(self, responses: Mapping[str, Sequence[str]]) -> NDArray[np.float64]:
        """The sums behind BLEU over the turns of each dialogue: (dialogues, sums)."""
        if not responses:
            return np.zeros((0, STATISTICS))
        answered = [self._answered(dialogue, len(texts)) for dialogue, texts in responses.items()]
        tokens = self._tokens.of(chain.from_iterable(responses.values()))
        wanted = _Tokens(
            np.concatenate([each.numbers for each in answered]), np.concatenate([each.lengths for each in answered])
        )
        counts = np.zeros((len(tokens.lengths), STATISTICS), np.int64)
        counts[:, :_ORDERS] = _matches(tokens, wanted)
        counts[:, _ORDERS : 2 * _ORDERS] = np.maximum(tokens.lengths[:, None] - np.arange(_ORDERS), 0)
        counts[:, -2], counts[:, -1] = tokens.lengths, wanted.lengths
        ends = np.cumsum([0, *map(len, responses.values())])
        before = np.concatenate([np.zeros((1, STATISTICS), np.int64), np.cumsum(counts, axis=0)])
        return np.asarray(before[ends[1:]] - before[ends[:-1]], np.float64)

    def _answered(self, dialogue: str, turns: int) -> _Tokens:
        """The references of the first turns of a dialogue."""
        known = self._known.get(dialogue)
        if known is None:
            raise DialgaugeError(f"the references ({self.name}) lack the dialogue", dialogue=dialogue)
        if turns > len(known.lengths):
            raise DialgaugeError(
                f"there are {counted(turns, 'response')} and {counted(len(known.lengths), 'reference')} ({self.name})",
                dialogue=dialogue,
            )
        if turns == len(known.lengths):
            return known
        lengths = known.lengths[:turns]
        return _Tokens(known.numbers[: lengths.sum()], lengths)


def _matches(tokens: _Tokens, wanted: _Tokens) -> _Integers:
    """For each text how many n-grams it shares with its reference, as often as both have them: (texts, orders).

    An n-gram is shared only if the one without its last token is. So an n-gram is that one's number and a token, and
    places whose n-gram is not shared are left behind.
    """
    numbers = np.concatenate([tokens.numbers, wanted.numbers])
    lengths = np.concatenate([tokens.lengths, wanted.lengths])
    texts = np.repeat(np.arange(len(lengths)) % len(tokens.lengths), lengths)
    ends = np.repeat(np.cumsum(lengths), lengths)
    most = int(numbers.max(initial=0)) + 1
    places, shorter = np.arange(len(numbers)), texts
    matches = np.zeros((len(tokens.lengths), _ORDERS), np.int64)
    for order in range(_ORDERS):
        grams, which = _different(shorter * most + numbers[places + order])
        ours = places < len(tokens.numbers)
        both = np.minimum(
            np.bincount(which[ours], minlength=len(grams)), np.bincount(which[~ours], minlength=len(grams))
        )
        owner = np.zeros(len(grams), np.int64)
        owner[which] = texts[places]
        matches[:, order] = np.bincount(owner, weights=both, minlength=len(matches))
        kept = (both[which] > 0) & (places + order + 1 < ends[places])
        places, shorter = places[kept], which[kept]
    return matches


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
