"""What work consists of, where it may run, and what an engine has to offer."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

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


#: Units with their positions in the order they were asked for.
Batch: TypeAlias = list[tuple[int, Unit[Any]]]
#: Results with the positions of their units.
Results: TypeAlias = list[tuple[int, Done]]


class Engine(ABC):
    """What runs work. Entering opens it; leaving it by an error ends whatever is still running at once."""

    #: Units that are worked on at the same time, once it is open.
    workers: int

    @abstractmethod
    def __enter__(self) -> Engine: ...

    @abstractmethod
    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None: ...

    @abstractmethod
    def wants_work(self) -> bool:
        """Whether another batch would begin now; what is given otherwise has to wait."""

    @abstractmethod
    def give(self, batch: Batch) -> None:
        """Take a batch over."""

    @abstractmethod
    def take(self, *, wait: bool) -> Results:
        """Units that are finished, in any order: those there are, or at least one where ``wait`` and some are left.

        Any error but a :class:`DialgaugeError` of a unit is raised here.
        """


def perform(work: Work[State, Payload], state: State, unit: Unit[Payload]) -> Done:
    """Do one unit; what the user can fix becomes its failure."""
    try:
        return Done(unit.key, work.do(state, unit))
    except DialgaugeError as error:
        return Done(unit.key, None, str(error))


class LocalEngine(Engine):
    """Works in this process, one unit at a time."""

    workers = 1

    def __init__(self, work: Work[Any, Any], place: WorkPlace) -> None:
        del place
        self._work = work
        self._state: Any = None
        self._opened = False
        self._waiting: deque[tuple[int, Unit[Any]]] = deque()

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._state = None

    def wants_work(self) -> bool:
        return not self._waiting

    def give(self, batch: Batch) -> None:
        self._waiting.extend(batch)

    def take(self, *, wait: bool) -> Results:
        if not wait or not self._waiting:
            return []
        if not self._opened:
            self._state, self._opened = self._work.open(), True
        position, unit = self._waiting.popleft()
        return [(position, perform(self._work, self._state, unit))]


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
