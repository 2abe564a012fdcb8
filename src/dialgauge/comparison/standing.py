"""Who stands where: the order of the systems, letters for those that cannot be told apart, and ranges of ranks.

Letters are a compact letter display: two systems share a letter exactly where their difference is not significant.
(Piepho, *An algorithm for a letter-based representation of all-pairwise comparisons*, 2004.)
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dialgauge.comparison.result import Comparison
from dialgauge.stats import Floats

#: Symmetric, (systems, systems): which pairs cannot be told apart; True on the diagonal.
Alike: TypeAlias = NDArray[np.bool_]


class Standing(Struct, frozen=True):
    """One measure: by system its letters, and the best and the worst rank that the tests leave it."""

    letters: tuple[str, ...]
    best: tuple[int, ...]
    worst: tuple[int, ...]

    def ranks(self, system: int) -> str:
        """The range of ranks as people write it: ``3`` or ``2-5``."""
        best, worst = self.best[system], self.worst[system]
        return f"{best}" if best == worst else f"{best}-{worst}"


def order(comparison: Comparison) -> list[int]:
    """The places of the systems, best first by the first measure; undefined values last, equal ones as given."""
    return _ranked(comparison.oriented[:, 0])


def _ranked(values: Floats) -> list[int]:
    return sorted(range(len(values)), key=lambda place: (np.isnan(values[place]), -np.nan_to_num(values[place])))


def standings(comparison: Comparison) -> list[Standing]:
    """The standing of the systems on each measure."""
    return [_standing(comparison, column) for column in range(len(comparison.measures))]


def _standing(comparison: Comparison, column: int) -> Standing:
    values = comparison.oriented[:, column]
    systems = len(values)
    alike = np.ones((systems, systems), bool)
    first, second = np.array(comparison.pairs).T
    alike[first, second] = alike[second, first] = ~comparison.significant[:, column]
    # Differences of values that are undefined are not significant, so no comparison with NaN counts here.
    better = ~alike & (values[None, :] > values[:, None])
    worse = ~alike & (values[None, :] < values[:, None])
    return Standing(
        letters=tuple(letters(alike, _ranked(values))),
        best=tuple((1 + better.sum(axis=1)).tolist()),
        worst=tuple((systems - worse.sum(axis=1)).tolist()),
    )


def letters(alike: Alike, ranked: Sequence[int]) -> list[str]:
    """The letters of each system: two share one exactly where they are alike.

    Each letter is a group of systems that are all alike, grown from a pair that shares none yet, best systems first.
    """
    groups: list[list[int]] = []
    covered = np.zeros_like(alike)
    for index, number in enumerate(ranked):
        for other in ranked[index:]:
            if (
                alike[number, other]
                and not covered[number, other]
                and not (number == other and alike[number].sum() > 1)
            ):
                group = _grown(alike, ranked, number, other)
                covered[np.ix_(group, group)] = True
                groups.append(group)
    names = [_letter(number) for number in range(len(groups))]
    return [
        "".join(name for name, group in zip(names, groups, strict=True) if index in group)
        for index in range(len(alike))
    ]


def _grown(alike: Alike, ranked: Sequence[int], system: int, other: int) -> list[int]:
    group = list(dict.fromkeys((system, other)))
    for candidate in ranked:
        if candidate not in group and alike[candidate, group].all():
            group.append(candidate)
    return group


def _letter(number: int) -> str:
    """``a`` to ``z``, then ``A`` to ``Z``, then both with a number; one sign each as long as there are enough.

    >>> _letter(0), _letter(26), _letter(52)
    ('a', 'A', 'a2')
    """
    both = ascii_lowercase + ascii_lowercase.upper()
    round_, position = divmod(number, len(both))
    return both[position] + (str(round_ + 1) if round_ else "")
