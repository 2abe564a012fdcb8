"""The engine that is this process: a unit is done when its result is asked for."""

from __future__ import annotations

from collections import deque
from typing import Any

from dialgauge.engine.units import Batch, Engine, Results, Unit, Work, WorkPlace, perform


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
