"""Words that a model never saw, read as the nearest of those it knows.

Likeness is one less the share of letters to be added, dropped, changed or swapped (optimal string alignment over the
longer word). Words with digits or underscores are names and stay what they are, as do very short words.
"""

from __future__ import annotations

from collections.abc import Iterable

#: Shorter words have too many neighbours.
_SHORTEST = 4


class Spelling:
    """Known words, and the nearest of them to any other.

    >>> Spelling(["cuisine", "reservation"], likeness=0.75).corrected("a cusine and two reservations please")
    'a cuisine and two reservation please'
    """

    def __init__(self, known: Iterable[str], *, likeness: float) -> None:
        self._known = frozenset(known)
        self._choices = sorted(word for word in self._known if _is_plain(word))
        self._likeness = likeness
        self._nearest: dict[str, str] = {}

    def corrected(self, text: str) -> str:
        """The text with every unknown word replaced by the nearest known one, if one is near enough."""
        words = text.split(" ")
        return " ".join(map(self._read, words)) if any(word.lower() not in self._known for word in words) else text

    def _read(self, word: str) -> str:
        low = word.lower()
        if low in self._known or not _is_plain(low):
            return word
        if low not in self._nearest:
            self._nearest[low] = self._find(low)
        return self._nearest[low]

    def _find(self, word: str) -> str:
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        near = process.extractOne(
            word, self._choices, scorer=OSA.normalized_similarity, score_cutoff=self._likeness, processor=None
        )
        return str(near[0]) if near is not None else word


def _is_plain(word: str) -> bool:
    return len(word) >= _SHORTEST and all(letter.isalpha() or letter in "'’-" for letter in word)
