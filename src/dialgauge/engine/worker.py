"""The life of a worker process: open the work, do the units it is sent, end with the process that started it.

To the worker go the pickled work, then batches of units, then None. From it come :data:`READY` when the work is open,
then one pickled result per unit as soon as it is finished, or a :class:`Crash`, which ends everything.
"""

from __future__ import annotations

import os
import pickle
import signal
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from dialgauge.engine.crash import Crash
from dialgauge.engine.units import perform

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

READY = b"ready"
#: What workers tell polars. Several share the cores, so each takes one thread. Memory that one unit took stays for the
#: next; by default polars returns it after half a second, only to ask for it again.
ENVIRONMENT = {"POLARS_MAX_THREADS": "1", "_RJEM_MALLOC_CONF": "dirty_decay_ms:10000"}


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
