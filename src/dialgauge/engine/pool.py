"""Applying a function to many items, in order, on one core or several.

Invariant: the results and their order never depend on the number of workers. The function and its items must be
picklable (a top-level function, plain values) because workers are started afresh, without the parent's memory.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from typing import TypeVar

from dialgauge.errors import DialgaugeError

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Chunks under way per worker: enough to keep all busy, few enough to keep memory bounded.
_AHEAD = 3


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def map_ordered(
    function: Callable[[Item], Result], items: Iterable[Item], *, workers: int | None = None, chunk: int = 1
) -> Iterator[Result]:
    """``function(item)`` for every item, in the items' order.

    ``workers`` is the number of processes (default: this process alone, 0: one per core); ``chunk`` items travel
    together, so that short work is not eaten up by the journey. Items are taken as needed: a stream stays a stream.
    An exception of the function is raised here, and work not yet begun is dropped; Ctrl-C ends the workers too.
    """
    count = 1 if workers is None else workers or cores()
    if count < 0 or chunk < 1:
        raise DialgaugeError(f"workers must be 0 or more and chunk at least 1, not {workers} and {chunk}")
    if count == 1:
        yield from map(function, items)
        return
    context = get_context("spawn")
    ended = context.Event()
    with ProcessPoolExecutor(count, context, _begin, (ended,)) as pool:
        under_way: deque[Future[list[Result]]] = deque()
        chunks = _chunks(iter(items), chunk)
        try:
            for batch in chunks:
                under_way.append(pool.submit(_apply, function, batch))
                if len(under_way) >= count * _AHEAD:
                    yield from under_way.popleft().result()
            while under_way:
                yield from under_way.popleft().result()
        finally:
            ended.set()
            for waiting in under_way:
                waiting.cancel()


#: In a worker: whether nobody waits for results any more. An executor hands out more work than it has workers, and
#: what it has handed out can no longer be cancelled.
_ended: Event


def _begin(ended: Event) -> None:
    global _ended
    _ended = ended


def _apply(function: Callable[[Item], Result], batch: list[Item]) -> list[Result]:
    try:
        return [function(item) for item in batch if not _ended.is_set()]
    except KeyboardInterrupt:
        os._exit(128 + signal.SIGINT)  # an exception would only make the worker take the next piece of work


def _chunks(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    while batch := list(islice(items, size)):
        yield batch
