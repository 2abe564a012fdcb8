"""The engine of several processes of this machine.

Workers end when this process does, however it ends. When one of them dies, the work ends with one sentence: finished
units are kept, so the same command goes on.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, connection, get_context, parent_process
from threading import Thread
from typing import Any, Self

from dialgauge.engine.units import Done, Engine, Unit, Work, WorkPlace, cores, perform
from dialgauge.errors import DialgaugeError

#: What workers tell polars. Several share the cores, so each takes one thread. Memory that one unit took stays for the
#: next; by default polars returns it after half a second, only to ask for it again.
ENVIRONMENT = {"POLARS_MAX_THREADS": "1", "_RJEM_MALLOC_CONF": "dirty_decay_ms:10000"}


class PoolEngine(Engine):
    """Works in processes of this machine, started as they are needed."""

    def __init__(self, work: Work[Any, Any], place: WorkPlace) -> None:
        self._work = pickle.dumps(work)
        self.workers = place.workers or cores()

    def __enter__(self) -> Self:
        self._others = set(active_children())
        self._pool = ProcessPoolExecutor(self.workers, get_context("spawn"), _begin, (self._work,))
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None:
            for worker in set(active_children()) - self._others:
                worker.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def start(self, unit: Unit[Any]) -> Future[Done]:
        with _starting():
            return self._pool.submit(_do, unit)

    def lost(self, error: Exception) -> DialgaugeError | None:
        if not isinstance(error, BrokenProcessPool):
            return None
        return DialgaugeError(
            "a worker process died; does it need more memory, or fewer --workers? What is finished is kept: run the "
            "same command again (in a script of your own, below if __name__ == '__main__')"
        )


@contextmanager
def _starting() -> Iterator[None]:
    """While a worker starts: its environment, and Ctrl-C held back, which it inherits: the parent answers it."""
    before = dict(os.environ)
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        if held is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)
        for name in ENVIRONMENT.keys() - before.keys():
            del os.environ[name]


_opened: list[tuple[Work[Any, Any], Any]] = []
_failed: list[Exception] = []


def _begin(work: bytes) -> None:
    """Open the work in a worker; an error is raised by its first unit, as the pool would only say that it broke."""
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        loaded: Work[Any, Any] = pickle.loads(work)  # noqa: S301 - from our own parent
        _opened.append((loaded, loaded.open()))
    except Exception as error:
        _failed.append(error)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _do(unit: Unit[Any]) -> Done:
    try:
        if _failed:
            raise _failed[0]
        return perform(*_opened[0], unit)
    except Exception as error:
        raise portable(error) from error


def portable(error: Exception) -> Exception:
    """The error, or its words where it cannot be made again from its pickle."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
