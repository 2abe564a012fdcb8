"""Doing many units: in order, on any engine, without what is done already.

Invariant: what comes out depends on the work and the units alone, never on the engine, the number of workers or how
often the work was broken off and taken up again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, MutableMapping
from importlib import import_module
from typing import Any

from dialgauge.engine.units import Batch, Done, Engine, Payload, State, Unit, Work, Workers, WorkPlace, place_of
from dialgauge.errors import DialgaugeError, nearest

#: Where work can run: name to ``module:class``, imported when it is chosen. One more engine is one more line.
ENGINES: dict[str, str] = {
    "local": "dialgauge.engine.units:LocalEngine",
    "pool": "dialgauge.engine.pool:PoolEngine",
    "ray": "dialgauge.engine.ray_engine:RayEngine",
}

#: Batches per worker that may be ahead of the unit whose turn it is: one slow unit keeps no other worker from working,
#: and what waits for it still fits the memory.
_AHEAD = 8


def run(
    work: Work[State, Payload],
    units: Iterable[Unit[Payload]],
    *,
    workers: Workers = None,
    done: MutableMapping[str, bytes] | None = None,
    chunk: int = 1,
    on_done: Callable[[Done], None] | None = None,
) -> Generator[Done, None, None]:
    """What came of every unit, in the units' order.

    ``workers`` is the number of processes (default: this one alone, 0: one per core), or a :class:`WorkPlace` with
    the engine too. Units are taken as needed, ``chunk`` of them travel to a worker together. A unit that is in ``done``
    is not done again, and one that succeeds is put there at once; a unit that fails is not. ``on_done`` is called with
    every unit when it is finished, which may be before its turn.

    An error that is no :class:`DialgaugeError` of a unit is raised here, and like Ctrl-C and closing the generator it
    ends all workers at once.
    """
    store = checked_place(place_of(workers))
    if chunk < 1:
        raise DialgaugeError(f"chunk must be at least 1 (got {chunk})")
    size = 1 if store.engine == "local" else chunk
    return _run(_engine_class(str(store.engine))(work, store), units, done, size, on_done)


def checked_place(place: WorkPlace) -> WorkPlace:
    """The place with its engine named, or an error that says what does not fit together."""
    if place.workers is not None and place.workers < 0:
        raise DialgaugeError(f"workers must be >= 0 (got {place.workers})")
    name = place.engine or ("ray" if place.address else "local" if place.here else "pool")
    if name not in ENGINES:
        raise DialgaugeError(f"there is no engine named '{name}'.{nearest(name, ENGINES)}")
    if place.address and name != "ray":
        raise DialgaugeError(f"--address names a Ray cluster, but the engine is {name}; use --engine ray")
    if name == "local" and place.workers not in (None, 1):
        raise DialgaugeError("the local engine uses this one process; use --engine pool for several workers")
    return place._replace(engine=name)


def _engine_class(name: str) -> Callable[[Work[Any, Any], WorkPlace], Engine]:
    module, _, attribute = ENGINES[name].partition(":")
    chosen: Callable[[Work[Any, Any], WorkPlace], Engine] = getattr(import_module(module), attribute)
    return chosen


def _run(
    engine: Engine,
    units: Iterable[Unit[Any]],
    done: MutableMapping[str, bytes] | None,
    chunk: int,
    on_done: Callable[[Done], None] | None,
) -> Generator[Done, None, None]:
    with engine:
        queue = _Queue(units, done, chunk, chunk * engine.workers * _AHEAD, on_done)
        while True:
            while engine.wants_work() and (batch := queue.batch()):
                engine.give(batch)
            if queue.empty:
                return
            if not queue.blocked:
                yield queue.next()
            for position, finished in engine.take(wait=queue.blocked):
                queue.finish(position, finished)


class _Queue:
    """The units whose turn is yet to come: under way, or finished and waiting for an earlier one."""

    def __init__(
        self,
        units: Iterable[Unit[Any]],
        stored: MutableMapping[str, bytes] | None,
        chunk: int,
        most: int,
        on_done: Callable[[Done], None] | None,
    ) -> None:
        self._units = enumerate(units)
        self._keep = stored is not None
        self._stored = {} if stored is None else stored
        self._chunk, self._most = chunk, most
        self._on_done = on_done
        self._order: deque[int] = deque()
        self._finished: dict[int, Done] = {}
        self._keys: set[str] = set()

    @property
    def empty(self) -> bool:
        return not self._order

    @property
    def blocked(self) -> bool:
        """Whether the unit whose turn it is is still under way."""
        return bool(self._order) and self._order[0] not in self._finished

    def batch(self) -> Batch:
        """The next units to do; none where all are under way or done, or too many wait for their turn."""
        batch: Batch = []
        while len(batch) < self._chunk and len(self._order) < self._most:
            position, unit = next(self._units, (-1, None))
            if unit is None:
                break
            self._order.append(position)
            if self._is_stored(unit.key):
                self._finish(position, Done(unit.key, self._stored[unit.key]))
            else:
                batch.append((position, unit))
        return batch

    def finish(self, position: int, done: Done) -> None:
        if done.content is not None and self._keep:
            self._stored[done.key] = done.content
        self._finish(position, done)

    def next(self) -> Done:
        """What came of the unit whose turn it is."""
        return self._finished.pop(self._order.popleft())

    def _finish(self, position: int, done: Done) -> None:
        self._finished[position] = done
        if self._on_done is not None:
            self._on_done(done)

    def _is_stored(self, key: str) -> bool:
        if not self._keep:
            return False
        if key in self._keys:
            raise ValueError(f"two units have the key {key!r}; their results would be mixed up")
        self._keys.add(key)
        return key in self._stored
