"""The engine of a Ray cluster: units as remote tasks. Ray itself submits those of a lost worker again.

Whatever else goes wrong (no cluster, a head that is gone, a unit that no worker survives) is one sentence: finished
units are kept, so the same command goes on.
"""

from __future__ import annotations

import logging
import os
import pickle
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from dialgauge.engine.pool import ENVIRONMENT, portable
from dialgauge.engine.units import Done, Engine, Unit, Work, WorkPlace, cores, perform
from dialgauge.errors import DialgaugeError
from dialgauge.source import own_source

_KEPT = "What is finished is kept: run the same command again"
#: Seconds in which a cluster must take a connection, and after which its head is given up.
_PATIENCE, _HEADLESS = 5.0, 10.0
#: How often a unit is submitted again whose worker was lost.
_RETRIES = 3


class RayEngine(Engine):
    """Works on the cluster at an address, or on one of this machine that ends with the work."""

    def __init__(self, work: Work[Any, Any], place: WorkPlace) -> None:
        try:
            import ray
        except ImportError as error:
            raise DialgaugeError("--engine ray needs the extra 'ray': pip install 'dialgauge[ray]'") from error
        self._ray: Any = ray
        # Where the driver finds its modules, and what relative paths mean to it.
        self._setup = (pickle.dumps(work), own_source(), list(sys.path), str(Path.cwd()))
        self._address = place.address
        self.workers = place.workers or cores()
        self._asked = bool(place.workers)
        self._ours = False
        self._undo: list[Callable[[], object]] = []

    def __enter__(self) -> Self:
        if not self._ray.is_initialized():
            self._connect()
        if self._address and not self._asked:
            self.workers = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._given = self._ray.put(self._setup)
        self._task = self._ray.remote(num_cpus=1, max_retries=_RETRIES)(_do)
        host, _, port = str(self._ray.get_runtime_context().gcs_address).rpartition(":")
        self._head = host.strip("[]"), int(port)
        self._answered = time.monotonic()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if self._ours:
            self._ray.shutdown()
        for undo in self._undo:
            undo()

    def start(self, unit: Unit[Any]) -> Future[Done]:
        started: Future[Done] = self._task.remote(self._given, unit).future()
        return started

    def lost(self, error: Exception) -> DialgaugeError | None:
        cause = getattr(error, "cause", None)
        if isinstance(cause, DialgaugeError):  # in opening the work
            return cause
        if isinstance(error, self._ray.exceptions.RayTaskError) or not isinstance(error, self._ray.exceptions.RayError):
            return None
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return DialgaugeError(f"Ray lost a worker {_RETRIES + 1} times or cannot go on ({reason}). {_KEPT}")

    def check(self) -> None:
        now = time.monotonic()
        try:
            socket.create_connection(self._head, _PATIENCE).close()
            self._answered = now
        except OSError as error:
            if now - self._answered > _HEADLESS:
                raise DialgaugeError(
                    f"the head of the Ray cluster is gone ({error.strerror or error}). {_KEPT}"
                ) from error

    def _connect(self) -> None:
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # no network unless asked for
        where: dict[str, Any] = {"address": self._address}
        if self._address is None:
            where = {"address": "local", "num_cpus": self.workers, "include_dashboard": False}
            if not {"RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"} & os.environ.keys():
                # Ray would leave one in the home folder, where every head that is started later finds it.
                os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
                self._undo.append(lambda: [os.environ.pop(name, None) for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_MODE")])
        elif self._address != "auto":
            _require_listener(self._address)
        self._hush()
        self._ours = True
        before = signal.getsignal(signal.SIGTERM)
        try:
            with _stderr_shut():
                self._ray.init(**where, log_to_driver=False, logging_level="ERROR", configure_logging=False)
        except Exception as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            self.__exit__(type(error))
            raise DialgaugeError(f"the Ray cluster cannot be used ({reason})") from error
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)  # Ray answers it with a stack on the terminal

    def _hush(self) -> None:
        """Ray tells of every worker that died on standard output, and of its own affairs in its logger."""
        logging.getLogger("ray").addHandler(logging.NullHandler())
        printer, name = self._ray._private.worker, "print_to_stdstream"
        before = getattr(printer, name, None)
        if before is not None:
            setattr(printer, name, lambda *_, **__: None)
            self._undo.append(lambda: setattr(printer, name, before))


@contextmanager
def _stderr_shut() -> Iterator[None]:
    """What Ray's C++ part writes to standard error while it starts goes nowhere."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _require_listener(address: str) -> None:
    """An error where nobody listens at the address: Ray itself would try for many minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (host and colon and port.isdecimal()):
        raise DialgaugeError(f"'{address}' is not the address of a Ray cluster; write HOST:PORT or auto")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
    except (OSError, OverflowError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise DialgaugeError(
            f"there is no Ray cluster at {address} ({why}); start one there, or leave --address out"
        ) from error


_opened: dict[bytes, tuple[Work[Any, Any], Any]] = {}


def _do(setup: tuple[bytes, str, list[str], str], unit: Unit[Any]) -> Done:
    """Do a unit in a worker of the cluster, which opens the work for the first one."""
    packed, source, path, folder = setup
    try:
        if packed not in _opened:
            if own_source() != source:
                raise DialgaugeError(
                    "a node of the cluster has a different dialgauge from this process, which could give different "
                    "numbers; install the same version on all nodes"
                )
            for name, value in ENVIRONMENT.items():
                os.environ.setdefault(name, value)
            sys.path += [position for position in path if position not in sys.path]
            if Path(folder).is_dir():
                os.chdir(folder)
            work: Work[Any, Any] = pickle.loads(packed)  # noqa: S301 - from our own driver
            _opened.clear()
            _opened[packed] = work, work.open()
        return perform(*_opened[packed], unit)
    except Exception as error:
        raise portable(error) from error
