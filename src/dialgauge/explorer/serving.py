"""Starting the server: where it listens, who may speak to it, and opening the browser."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from time import monotonic, sleep
from typing import Protocol

from dialgauge.errors import DialgaugeError, Terminated, missing_extra
from dialgauge.runs import Store

#: Where it listens unless told otherwise; the next free port above is taken where nobody asked for one.
HOST, PORT = "127.0.0.1", 8642
_TRIES = 20
_PATIENCE = 20.0


def serve(
    store: Store,
    *,
    host: str = HOST,
    port: int | None = None,
    allow_remote: bool = False,
    path: str = "/",
    ready: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve the pages until the keyboard stops it; ``ready`` gets the address of ``path`` once it answers.

    Any address but this machine's own needs ``allow_remote``, and then a token that is part of the address.
    """
    if store.folder.exists() and not store.folder.is_dir():
        raise DialgaugeError("this is a file, not a run store; name a folder", file=str(store.folder))
    if not host.strip():
        raise DialgaugeError("name an address to listen on, such as 127.0.0.1")
    local = _is_local(host)
    if not local and not allow_remote:
        raise DialgaugeError(
            f"listening on {host} would let other machines read this store; "
            "add --allow-remote if that is intended (the address then includes a token)"
        )
    listening = _listening(host, port)
    at = listening.getsockname()[1]
    token = None if local else secrets.token_urlsafe(24)
    server = _server(store, host, at, token)
    # All addresses of a machine have no name of their own; its own name leads there from elsewhere.
    written = f"[{host}]" if ":" in host else host
    name = socket.gethostname() if host in ("0.0.0.0", "::") else written  # noqa: S104 - asked for
    shown = f"http://{name}:{at}{path}"
    address = f"{shown}{'&' if '?' in path else '?'}token={token}" if token else shown
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


def _server(store: Store, host: str, port: int, token: str | None) -> _Server:
    try:
        import uvicorn

        from dialgauge.explorer.guard import Guard, local_hosts
        from dialgauge.explorer.server import create_app
    except ImportError as error:
        raise missing_extra(str(error.name), "explorer", "The explorer") from error
    app = Guard(create_app(store), hosts=local_hosts(port, host), token=token)
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
    listening = _listening(HOST, 0)
    at = listening.getsockname()[1]
    server = _server(store, HOST, at, None)
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    _tell(server, lambda: None)
    try:
        yield f"http://{HOST}:{at}"
    finally:
        server.should_exit = True
        thread.join(_PATIENCE)
        listening.close()


def _listening(host: str, port: int | None) -> socket.socket:
    """A socket that listens on the port; without one on the usual port, or the first free one above it."""
    wanted = range(PORT, PORT + _TRIES) if port is None else [port]
    problem: OSError | None = None
    for number in wanted:
        try:
            return socket.create_server((host, number), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        except OSError as error:
            problem = error
    reason = os.strerror(problem.errno) if problem and problem.errno and problem.errno > 0 else problem
    where = f"port {port}" if port is not None else f"a port from {PORT} to {PORT + _TRIES - 1}"
    raise DialgaugeError(f"the explorer cannot listen on {where} of {host} ({reason}); choose another with --port")


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
