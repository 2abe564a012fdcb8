"""What work consists of, where it may run, and what an engine has to offer."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Generic, NamedTuple, Self, TypeAlias, TypeVar

from dialgauge.errors import DialgaugeError

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
