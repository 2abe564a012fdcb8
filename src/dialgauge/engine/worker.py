"""The life of a worker process: open the work, do the units it is sent, end with the process that started it.

To the worker go the pickled work, then batches of units, then None. From it come :data:`READY` when the work is open,
then one pickled result per unit as soon as it is finished, or a :class:`Crash`, which ends everything.
"""

from __future__ import annotations

import os
import pickle
import signal
import traceback
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from dialgauge.engine.units import perform

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

READY = b"ready"
#: What workers tell polars. Several share the cores, so each takes one thread. Memory that one unit took stays for the
#: next; by default polars returns it after half a second, only to ask for it again.
ENVIRONMENT = {"POLARS_MAX_THREADS": "1", "_RJEM_MALLOC_CONF": "dirty_decay_ms:10000"}


class WorkerTraceback(Exception):
    """Where in a worker an error happened; the cause of that error as it is raised here."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class Crash(NamedTuple):
    """An error that is no failure of a unit: pickled if it can be, with the worker's traceback as text."""

    error: bytes
    traceback: str

    @classmethod
    def of(cls, error: BaseException) -> Crash:
        """What is known of an error where it happened."""
        text = "".join(traceback.format_exception(error)).rstrip()
        try:
            packed = pickle.dumps(error)
            pickle.loads(packed)  # noqa: S301 - some errors cannot be made again from their pickle
        except Exception:
            packed = pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
        return cls(packed, text)

    def reraise(self) -> NoReturn:
        """Raise the error here."""
        raise pickle.loads(self.error) from WorkerTraceback(self.traceback)  # noqa: S301 - from our own worker


def serve(connection: Connection) -> None:
    """Do what comes through the connection until it ends."""
    set_environment()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent answers the keyboard, and ends its workers
    messages: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_listen, args=(connection, messages), daemon=True).start()
    try:
        try:
            _work(connection, messages)
        except BaseException as error:
            connection.send_bytes(pickle.dumps(Crash.of(error)))
    except OSError:
        os._exit(1)  # nobody is there to tell


def set_environment() -> None:
    """Set :data:`ENVIRONMENT` where the user has not set it otherwise."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)


def _work(connection: Connection, messages: SimpleQueue[Any]) -> None:
    work = pickle.loads(messages.get())  # noqa: S301 - from our own parent
    state = work.open()
    connection.send_bytes(READY)
    while (batch := messages.get()) is not None:
        for position, unit in batch:
            connection.send_bytes(pickle.dumps((position, perform(work, state, unit))))


def _listen(connection: Connection, messages: SimpleQueue[Any]) -> None:
    """Listen at all times: the connection breaks when the parent is gone, however it ended, and the worker goes too."""
    try:
        messages.put(connection.recv_bytes())
        while True:
            messages.put(connection.recv())
    except (EOFError, OSError):
        os._exit(1)
