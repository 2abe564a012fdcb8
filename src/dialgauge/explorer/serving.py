"""Starting the server, on this machine alone."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from time import monotonic, sleep
from typing import Protocol

from dialgauge.errors import DialgaugeError, Terminated, missing_extra
from dialgauge.runs import Store

#: Where it listens; the next free port above is taken where nobody asked for one.
HOST, PORT = "127.0.0.1", 8642
_TRIES = 20
_PATIENCE = 20.0


def serve(
    store: Store,
    *,
    port: int | None = None,
    path: str = "/",
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve the pages to this machine until the keyboard stops it; ``ready`` gets the address of ``path``."""
    if store.folder.exists() and not store.folder.is_dir():
        raise DialgaugeError("this is a file, not a run store; name a folder", file=str(store.folder))
    listening = _listening(port)
    at = listening.getsockname()[1]
    server = _server(store, at)
    address = f"http://{HOST}:{at}{path}"
    problems: list[Exception] = []

    def tell() -> None:
        try:
            _tell(server, lambda: ready(address))
        except Exception as problem:  # such as an output that cannot be written; raised where the command can say it
            problems.append(problem)
            server.should_exit = True

    Thread(target=tell, daemon=True).start()
    try:
        with listening:
            server.run(sockets=[listening])
    except Terminated:
        raise
    except KeyboardInterrupt:  # which the server raises once more when it has stopped
        pass
    for problem in problems:
        raise problem


def _server(store: Store, port: int) -> _Server:
    try:
        import uvicorn

        from dialgauge.explorer.guard import Guard, local_hosts
        from dialgauge.explorer.server import create_app
    except ImportError as error:
        raise missing_extra(str(error.name), "explorer", "The explorer") from error
    app = Guard(create_app(store), hosts=local_hosts(port))
    return uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False, server_header=False, lifespan="off"))


class _Server(Protocol):
    """The part of uvicorn's server that is used here."""

    started: bool
    should_exit: bool

    def run(self, sockets: list[socket.socket] | None = None) -> None: ...


def _tell(server: _Server, ready: Callable[[], None]) -> None:
    end = monotonic() + _PATIENCE
    while not server.started and not server.should_exit and monotonic() < end:
        sleep(0.02)
    if server.started:
        ready()


@contextmanager
def served(store: Store) -> Iterator[str]:
    """The pages in a thread of this process, on a free port of this machine: the address, without a closing slash."""
    listening = _listening(0)
    at = listening.getsockname()[1]
    server = _server(store, at)
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    _tell(server, lambda: None)
    try:
        yield f"http://{HOST}:{at}"
    finally:
        server.should_exit = True
        thread.join(_PATIENCE)
        listening.close()


def _listening(port: int | None) -> socket.socket:
    """A socket that listens on the port; without one on the usual port, or the first free one above it."""
    wanted = range(PORT, PORT + _TRIES) if port is None else [port]
    problem: OSError | None = None
    for number in wanted:
        try:
            return socket.create_server((HOST, number))
        except OSError as error:
            problem = error
    reason = os.strerror(problem.errno) if problem and problem.errno and problem.errno > 0 else problem
    where = f"port {port}" if port is not None else f"a port from {PORT} to {PORT + _TRIES - 1}"
    raise DialgaugeError(f"the explorer cannot listen on {where} ({reason}); choose another with --port")
