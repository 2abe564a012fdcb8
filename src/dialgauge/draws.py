"""Random draws that give the same bytes on every machine and in every version of Python.

Built on ``random()`` alone, the one method whose sequence the standard library promises to keep, seeded with a text
(hashed with SHA-512, so the process's hash seed plays no part).
"""

from __future__ import annotations

from _random import Random
from collections.abc import Sequence
from hashlib import sha512
from typing import TypeVar

T = TypeVar("T")


class Draws:
    """A stream of draws that depends on nothing but its key: the seed and what is drawn for.

    >>> Draws(7, "pool", 1).pick("abc") == Draws(7, "pool", 1).pick("abc")
    True
    """

    def __init__(self, seed: int, *purpose: object) -> None:
        # The project's first name stays in the key: another word would change every simulated corpus.
        key = "/".join(map(str, ("turnwise-babi", seed, *purpose))).encode()
        # What random.Random makes of a text; it would draw its state twice, which takes longer than most conversations'
        # draws.
        self.unit = Random(int.from_bytes(key + sha512(key).digest())).random

    def integer(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        return low + int(self.unit() * (high - low + 1))

    def pick(self, items: Sequence[T]) -> T:
        """One of the items, each equally likely."""
        return items[int(self.unit() * len(items))]

    def weighted(self, weights: Sequence[float]) -> int:
        """An index, with a probability proportional to its weight."""
        left = self.unit() * sum(weights)
        for index, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return index
        return max(index for index, weight in enumerate(weights) if weight > 0)

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in random order (Fisher and Yates)."""
        return self.sample(items, len(items))

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        """``count`` different items in random order: the first of all in random order."""
        mixed, unit = list(items), self.unit
        for last in range(len(mixed) - 1, max(count - 1, 0), -1):  # what comes here is left out
            mixed[int(unit() * (last + 1))] = mixed[last]
        for last in range(min(count, len(mixed)) - 1, 0, -1):
            other = int(unit() * (last + 1))
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed[:count]
