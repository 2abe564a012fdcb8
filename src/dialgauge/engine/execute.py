"""Doing many units: in order, on any engine, without what is done already.

Invariant: what comes out depends on the work and the units alone, never on the engine, the number of workers or how
often the work was broken off and taken up again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, MutableMapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from importlib import import_module
from typing import Any

from dialgauge.engine.units import Done, Engine, Payload, State, Unit, Work, Workers, WorkPlace, place_of
from dialgauge.errors import DialgaugeError, nearest

#: Where work can run: name to ``module:class``, imported when it is chosen.
ENGINES: dict[str, str] = {
    "local": "dialgauge.engine.units:LocalEngine",
    "pool": "dialgauge.engine.pool:PoolEngine",
    "ray": "dialgauge.engine.ray:RayEngine",
}

#: Units per worker that may be ahead of the one whose turn it is: one slow unit keeps no other worker from working,
#: and what waits for it still fits the memory.
_AHEAD = 8


def run(
    work: Work[State, Payload],
    units: Iterable[Unit[Payload]],
    *,
    workers: Workers = None,
    done: MutableMapping[str, bytes] | None = None,
    on_done: Callable[[Done], None] | None = None,
) -> Generator[Done, None, None]:
    """What came of every unit, in the units' order.

    ``workers`` is the number of processes (default: this one alone, 0: one per core), or a :class:`WorkPlace` with
    the engine too. Units are taken as needed. A unit that is in ``done`` is not done again, and one that succeeds is
    put there at once; a unit that fails is not. ``on_done`` is called with every unit when it is finished, which may be
    before its turn.

    An error that is no :class:`DialgaugeError` of a unit is raised here, and like Ctrl-C and closing the generator it
    ends all workers at once. So does a worker that dies: what is finished is in ``done``.
    """
    place = checked_place(place_of(workers))
    module, _, name = ENGINES[str(place.engine)].partition(":")
    engine: Engine = getattr(import_module(module), name)(work, place)
    return _run(engine, units, done, on_done or (lambda _: None))


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


def _run(
    engine: Engine,
    units: Iterable[Unit[Any]],
    stored: MutableMapping[str, bytes] | None,
    on_done: Callable[[Done], None],
) -> Generator[Done, None, None]:
    waiting = _known(units, stored)
    running: dict[Future[Done], int] = {}
    finished: dict[int, Done] = {}
    taken = given = 0
    with engine:
        while True:
            # One unit more than there are workers, so that none waits while results are read.
            most = engine.workers + (engine.workers > 1)
            while len(running) < most and taken - given < engine.workers * _AHEAD:
                unit, content = next(waiting, (None, None))
                if unit is None:
                    break
                if content is None:
                    running[engine.start(unit)] = taken
                else:
                    finished[taken] = Done(unit.key, content)
                    on_done(finished[taken])
                taken += 1
                if engine.workers == 1:
                    break  # no more units than are asked for
            if taken == given:
                return
            if given in finished:
                yield finished.pop(given)
                given += 1
                continue
            for future in wait(running, timeout=1, return_when=FIRST_COMPLETED).done:
                position = running.pop(future)
                finished[position] = result = _result(engine, future)
                if result.content is not None and stored is not None:
                    stored[result.key] = result.content
                on_done(result)
            engine.check()


def _known(
    units: Iterable[Unit[Any]], stored: MutableMapping[str, bytes] | None
) -> Generator[tuple[Unit[Any], bytes | None], None, None]:
    """The units with what is stored of them."""
    keys: set[str] = set()
    for unit in units:
        if stored is not None:
            if unit.key in keys:
                raise ValueError(f"two units have the key {unit.key!r}; their results would be mixed up")
            keys.add(unit.key)
        yield unit, None if stored is None else stored.get(unit.key)


def _result(engine: Engine, future: Future[Done]) -> Done:
    try:
        return future.result()
    except Exception as error:
        if sentence := engine.lost(error):
            raise sentence from error
        raise
