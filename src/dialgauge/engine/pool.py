"""The engine of several processes.

Invariants
- A worker has one batch at a time, and gets the next when it has answered: work that has not begun can be withdrawn.
- Workers end when this process does, however it ends, because each listens to a connection that breaks with it.
- A worker may die at any moment. What it had not answered is done by another; a unit that three workers died of fails.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import connection as connections, get_context, resource_tracker
from multiprocessing.context import SpawnProcess
from typing import Any

from dialgauge.engine.units import Batch, Done, Engine, Results, Unit, Work, WorkPlace, cores
from dialgauge.engine.worker import ENVIRONMENT, READY, Crash, serve, set_environment
from dialgauge.errors import DialgaugeError

#: Seconds a worker gets to end by itself; one that waits for an answer which is paid for takes up to five.
_PATIENCE = 6.0
#: A unit of which so many workers died has failed.
_DEATHS = 3
#: So many workers in a row that died before they were ready will not be followed by a better one.
_STILLBORN = 5


class _Worker:
    """A process, the connection to it, and the units it has not answered yet."""

    def __init__(self, work: bytes) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(target=serve, args=(theirs,), daemon=True)
        self.ready = False
        self.units: deque[tuple[int, Unit[Any]]] = deque()
        with _keyboard_held(), _environment():
            self.process.start()
        theirs.close()  # so that the connection breaks when the worker dies
        self.send(work)

    def send(self, message: Batch | bytes | None) -> None:
        try:
            if isinstance(message, bytes):
                self.connection.send_bytes(message)
            else:
                self.connection.send(message)
        except OSError:
            pass  # it has died, which shows when it is heard

    def heard(self) -> Iterator[bytes]:
        """The messages that are there; ends with an :class:`EOFError` when the worker has died."""
        try:
            while self.connection.poll():
                yield self.connection.recv_bytes()
        except OSError as error:  # in the middle of a message
            raise EOFError from error
        if not self.process.is_alive() and not self.connection.poll():
            raise EOFError

    def end(self, patience: float = _PATIENCE) -> None:
        self.process.join(patience)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.connection.close()


class PoolEngine(Engine):
    """Works in processes of this machine, started as they are needed."""

    def __init__(self, work: Work[Any, Any], place: WorkPlace) -> None:
        self._work = pickle.dumps(work)
        self.workers = place.workers or cores()
        self._running: list[_Worker] = []
        self._waiting: deque[Batch] = deque()
        self._deaths: Counter[int] = Counter()
        self._stillborn = 0

    def __enter__(self) -> PoolEngine:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        for worker in self._running:
            if kind is None and worker.ready and not worker.units:
                worker.send(None)
            else:
                worker.process.terminate()
        for worker in self._running:
            worker.end()

    def wants_work(self) -> bool:
        return self._busy() + len(self._waiting) < self.workers

    def give(self, batch: Batch) -> None:
        self._waiting.append(batch)
        self._hand_out()

    def take(self, *, wait: bool) -> Results:
        finished: Results = []
        while self._running:
            for worker in self._speaking(None if wait else 0):
                finished += self._hear(worker)
            self._hand_out()
            if finished or not wait:
                break
        return finished

    def _busy(self) -> int:
        return sum(1 for worker in self._running if worker.units)

    def _speaking(self, timeout: float | None) -> list[_Worker]:
        """Those that have said something or died."""
        signs: dict[Any, _Worker] = {}
        for worker in self._running:
            signs[worker.connection] = signs[worker.process.sentinel] = worker
        return list(dict.fromkeys(signs[sign] for sign in connections.wait(list(signs), timeout)))

    def _hand_out(self) -> None:
        """Give waiting batches to free workers, and start as many workers as batches are left over."""
        for worker in self._running:
            if self._waiting and worker.ready and not worker.units:
                batch = self._waiting.popleft()
                worker.units.extend(batch)
                worker.send(batch)
        while len(self._running) < min(self.workers, self._busy() + len(self._waiting)):
            self._running.append(_Worker(self._work))

    def _hear(self, worker: _Worker) -> Results:
        finished: Results = []
        try:
            for message in worker.heard():
                if message == READY:
                    worker.ready, self._stillborn = True, 0
                else:
                    finished.append(self._answer(worker, pickle.loads(message)))  # noqa: S301 - from our own worker
        except EOFError:
            finished += self._bury(worker)
        return finished

    def _answer(self, worker: _Worker, answer: Crash | tuple[int, Done]) -> tuple[int, Done]:
        if isinstance(answer, Crash):
            answer.reraise()
        worker.units.popleft()
        return answer

    def _bury(self, worker: _Worker) -> Results:
        self._running.remove(worker)
        worker.end()
        how = _how_it_ended(worker.process.exitcode)
        if not worker.ready:
            self._stillborn += 1
            if self._stillborn == _STILLBORN or (worker.process.exitcode or 0) >= 0:
                raise DialgaugeError(
                    f"a worker process ended before it could begin ({how}); in a script of your own, call this below "
                    "if __name__ == '__main__', and see that there is memory for all workers"
                )
        return self._return_units(worker.units, how)

    def _return_units(self, units: deque[tuple[int, Unit[Any]]], how: str) -> Results:
        """The first unit is the one the worker died of; it goes to another worker alone, or has failed."""
        if not units:
            return []
        position, unit = units.popleft()
        if units:
            self._waiting.appendleft(list(units))
        self._deaths[position] += 1
        if self._deaths[position] < _DEATHS:
            self._waiting.appendleft([(position, unit)])
            return []
        failure = f"{_DEATHS} worker processes died while they worked on it, the last {how}; does it need more memory?"
        return [(position, Done(unit.key, None, failure))]


def _how_it_ended(code: int | None) -> str:
    if code is not None and code < 0:
        return f"by the signal {signal.Signals(-code).name}"
    return f"with the exit code {code}"


@contextmanager
def _environment() -> Iterator[None]:
    """The workers' environment while one starts: what their main module imports reads it before we can set it there."""
    before = dict(os.environ)
    set_environment()
    try:
        yield
    finally:
        for name in ENVIRONMENT:
            if name not in before:
                del os.environ[name]


@contextmanager
def _keyboard_held() -> Iterator[None]:
    """Hold Ctrl-C back while a worker starts: it inherits that, and cannot be hit before it ignores the keyboard."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its start lets the keyboard through again, so it must not happen below
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
