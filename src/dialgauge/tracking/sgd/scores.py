"""The frame scores of a whole corpus as columns, and every view of them: all, by service, domain, seen and unseen."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.tracking.sgd.cards import SGD_CARDS
from dialgauge.tracking.sgd.frames import SgdCoverage

#: The official evaluation's names for the groups that are not one service or domain.
ALL, SEEN, UNSEEN = "#ALL_SERVICES", "#SEEN_SERVICES", "#UNSEEN_SERVICES"


def domain_of(service: str) -> str:
    """The domain of a service: its name before the underscore.

    >>> domain_of("Hotels_4")
    'Hotels'
    """
    return service.split("_", 1)[0]


@dataclass(frozen=True, eq=False)
class SgdScores:
    """One row a frame. Rows are in the order of dialogues and turns; ``nan`` is "does not apply"."""

    #: Dialogue ids; for each frame the position of its dialogue, the running number of its turn, its service.
    ids: list[str]
    dialogue: NDArray[np.int64]
    turn: NDArray[np.int64]
    service: NDArray[np.str_]
    columns: dict[str, NDArray[np.float64]]
    coverage: SgdCoverage
    #: Services of the training schema, when seen and unseen ones are told apart.
    seen_services: frozenset[str] | None
    fuzzy: bool
    across_turn: bool

    @cached_property
    def groups(self) -> dict[str, NDArray[np.bool_]]:
        """Which frames belong to each group: all, seen and unseen services, each domain, each service."""
        services = np.unique(self.service).tolist()
        groups = {ALL: np.ones(len(self.service), bool)}
        if self.seen_services is not None:
            seen = [service for service in services if service in self.seen_services]
            groups[SEEN] = np.isin(self.service, seen)
            groups[UNSEEN] = ~groups[SEEN]
        for domain in sorted({domain_of(service) for service in services}):
            groups[domain] = np.isin(self.service, [one for one in services if domain_of(one) == domain])
        for service in services:
            groups[service] = self.service == service
        return groups

    def sums(self, measure: str, group: str = ALL) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Numerator and denominator of every dialogue: the sum of its scores, and how many there are.

        What is summed are frames; with ``across_turn``, for joint scores, the products of a turn's frames in the group.
        """
        if measure not in SGD_CARDS:
            raise DialgaugeError(f"there is no SGD score named '{measure}'.{nearest(measure, SGD_CARDS)}")
        if group not in self.groups:
            raise DialgaugeError(f"no scored frame belongs to '{group}'.{nearest(group, self.groups)}")
        values = self.columns[measure]
        kept = self.groups[group] & ~np.isnan(values)
        values, dialogue = values[kept], self.dialogue[kept]
        if self.across_turn and SGD_CARDS[measure].joint and len(values):
            starts = np.flatnonzero(np.diff(self.turn[kept], prepend=-1))
            values, dialogue = np.multiply.reduceat(values, starts), dialogue[starts]
        size = len(self.ids)
        numerator = np.bincount(dialogue, weights=values, minlength=size)
        return numerator.astype(np.float64), np.bincount(dialogue, minlength=size).astype(np.float64)

    def value(self, measure: str, group: str = ALL) -> float:
        """The corpus value: the mean over frames (or turns, see :meth:`sums`) of the group; ``nan`` if none has one."""
        numerator, denominator = self.sums(measure, group)
        total = float(denominator.sum())
        return float(numerator.sum()) / total if total else math.nan

    def values(self, group: str = ALL, measures: Collection[str] = tuple(SGD_CARDS)) -> dict[str, float]:
        """The scores of one group by name, without those that do not apply."""
        found = {measure: self.value(measure, group) for measure in measures}
        return {measure: value for measure, value in found.items() if not math.isnan(value)}

    def official(self) -> dict[str, dict[str, float]]:
        """Every group's scores under the names of the official evaluation."""
        return {
            group: {SGD_CARDS[name].official: value for name, value in self.values(group).items()}
            for group in self.groups
        }

    def dialogue_rows(self) -> Iterator[tuple[str, str, float, float]]:
        """Dialogue, measure, numerator and denominator over all services, as the table ``dialogue_scores`` has them."""
        for measure in SGD_CARDS:
            numerator, denominator = self.sums(measure)
            for place in np.flatnonzero(denominator).tolist():
                yield self.ids[place], measure, float(numerator[place]), float(denominator[place])
