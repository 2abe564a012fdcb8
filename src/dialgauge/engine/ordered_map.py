"""``map`` over several processes: for callers that are not written as work and units yet."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from dialgauge.engine.execute import run
from dialgauge.engine.units import Unit, Work
from dialgauge.errors import DialgaugeError

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class _Mapping(Work[None, Any]):
    """The pickled result of a function, or the error that the caller is to get."""

    function: Callable[[Any], Any]

    def open(self) -> None:
        return None

    def do(self, state: None, unit: Unit[Any]) -> bytes:
        try:
            return pickle.dumps((self.function(unit.payload), None))
        except DialgaugeError as error:
            return pickle.dumps((None, error))


def map_ordered(
    function: Callable[[Item], Result], items: Iterable[Item], *, workers: int | None = None, chunk: int = 1
) -> Iterator[Result]:
    """``function(item)`` for every item, in the items' order, on ``workers`` processes (0: one per core).

    An exception of the function is raised here, and work not yet begun is dropped; Ctrl-C ends the workers too.
    """
    if workers in (None, 1) and chunk >= 1:
        yield from map(function, items)
        return
    units = (Unit(str(number), item) for number, item in enumerate(items))
    for done in run(_Mapping(function), units, workers=workers, chunk=chunk):
        if done.content is None:
            raise DialgaugeError(f"item {done.key}: {done.failure}")
        result, error = pickle.loads(done.content)  # noqa: S301 - from our own worker
        if error is not None:
            raise error
        yield result
