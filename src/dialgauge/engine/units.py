"""Work in units: what it consists of, where it may run, and doing it in order, without what is done already.

Invariant: what comes out depends on the work and the units alone, never on the engine, the number of workers or how
often the work was broken off and taken up again.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, MutableMapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import Any, Generic, NamedTuple, Self, TypeAlias, TypeVar

from dialgauge.errors import DialgaugeError, nearest

State = TypeVar("State")
Payload = TypeVar("Payload")


class Unit(NamedTuple, Generic[Payload]):
    """One piece of work: a key of its own, and the little that the worker must be told (it is pickled)."""

    key: str
    payload: Payload


class Done(NamedTuple):
    """What came of one unit: its bytes, or why there are none."""

    key: str
    content: bytes | None
    failure: str | None = None


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class WorkPlace(NamedTuple):
    """Where work runs: the engine (None: this process or a pool, as the workers ask for), how many workers (0: one per
    core), and for a cluster its address."""

    engine: str | None = None
    workers: int | None = None
    address: str | None = None

    @property
    def asked(self) -> bool:
        """Whether anybody said where."""
        return self != WorkPlace()

    @property
    def here(self) -> bool:
        """Whether the work is done in this process."""
        return self.engine == "local" or (self.engine is None and self.workers in (None, 1))


#: A place, or only the number of workers.
Workers: TypeAlias = WorkPlace | int | None


def place_of(workers: Workers) -> WorkPlace:
    """The place that was meant."""
    return workers if isinstance(workers, WorkPlace) else WorkPlace(workers=workers)


class Work(ABC, Generic[State, Payload]):
    """What is done with every unit. Picklable and small: it says where things are, and each worker opens them.

    What :meth:`do` returns must depend on the work and the unit alone, not on the worker or on the units before.
    """

    @abstractmethod
    def open(self) -> State:
        """What a worker needs for all of its units (models, databases, ...); called once per worker."""

    @abstractmethod
    def do(self, state: State, unit: Unit[Payload]) -> bytes:
        """The result of one unit. A :class:`DialgaugeError` makes this unit a failed one; the others go on."""


def perform(work: Work[State, Payload], state: State, unit: Unit[Payload]) -> Done:
    """Do one unit; what the user can fix becomes its failure."""
    try:
        return Done(unit.key, work.do(state, unit))
    except DialgaugeError as error:
        return Done(unit.key, None, str(error))


class Engine(ABC):
    """What runs work. Entering opens it; leaving it by an error ends whatever is still running at once."""

    #: Units that are worked on at the same time, once it is open.
    workers = 1

    @abstractmethod
    def __enter__(self) -> Self: ...

    @abstractmethod
    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None: ...

    @abstractmethod
    def start(self, unit: Unit[Any]) -> Future[Done]:
        """Begin to work on a unit."""

    def lost(self, error: Exception) -> DialgaugeError | None:
        """What to say of an error that stands for a lost worker or machine; None for all others."""
        return None

    def check(self) -> None:  # noqa: B027 - most have nothing to look after
        """Raise where nobody is left who could finish; called every second while results are waited for."""


class LocalEngine(Engine):
    """Works in this process, one unit at a time."""

    def __init__(self, work: Work[Any, Any], place: WorkPlace) -> None:
        del place
        self._work = work
        self._state: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._state.clear()

    def start(self, unit: Unit[Any]) -> Future[Done]:
        if not self._state:
            self._state.append(self._work.open())
        done: Future[Done] = Future()
        done.set_result(perform(self._work, self._state[0], unit))
        return done


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
                try:
                    finished[position] = result = future.result()
                except Exception as error:
                    if sentence := engine.lost(error):
                        raise sentence from error
                    raise
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


class Progress:
    """Listens to a long call: override what is to be shown. This one is silent."""

    def say(self, text: str) -> None:
        """A sentence about the work."""

    @contextmanager
    def bar(self, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        """While work in steps lasts; the yielded function is called with the number of steps done."""
        yield lambda steps: None

    def reading(self, total: int | None = None) -> AbstractContextManager[Callable[[int], None]]:
        """While inputs are read that are kept to the end."""
        return self.bar("reading", total)


SILENT = Progress()
