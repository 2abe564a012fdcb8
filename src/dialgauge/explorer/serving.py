"""The explorer as an ASGI application, and starting its server: where it listens, and who may speak to it."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from importlib.resources import files
from threading import Thread
from time import monotonic, sleep
from typing import Any, Protocol
from urllib.parse import parse_qs

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from dialgauge.errors import DialgaugeError, Terminated, missing_extra
from dialgauge.explorer.library import MissingRun, stored_as_expected
from dialgauge.explorer.pages import ChangedMeanwhile, Explorer
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
    name = socket.gethostname() if host in ("0.0.0.0", "::") else _bracketed(host)  # noqa: S104 - asked for
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
        import jinja2  # noqa: F401 - every page needs it
        import uvicorn

        from dialgauge.explorer.guard import Guard, local_hosts
        from dialgauge.explorer.serving import create_app
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
            return socket.create_server((host, number), family=_family(host))
        except OSError as error:
            problem = error
    reason = os.strerror(problem.errno) if problem and problem.errno and problem.errno > 0 else problem
    where = f"port {port}" if port is not None else f"a port from {PORT} to {PORT + _TRIES - 1}"
    raise DialgaugeError(f"the explorer cannot listen on {where} of {host} ({reason}); choose another with --port")


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


_STATIC = {
    "explorer.css": "text/css; charset=utf-8",
    "explorer.js": "text/javascript; charset=utf-8",
    "charts.js": "text/javascript; charset=utf-8",
    "theme.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_DAY = 86_400


def create_app(store: Store) -> Starlette:
    """The pages over a store, as an ASGI application; :class:`Guard` stands in front of it when it is served."""
    explorer = Explorer(store)

    def page(make: Callable[..., str], *names: str) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            given = [request.path_params[name] for name in names]
            made = partial(make, *given, dict(request.query_params))
            return Response(await _made(made), media_type="text/html; charset=utf-8")

        return endpoint

    async def chart(request: Request) -> Response:
        make = partial(explorer.chart, request.path_params["id"], dict(request.query_params))
        return Response(await run_in_threadpool(_specified, make), media_type="application/json")

    def several(make: Callable[..., str]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            asked = request.query_params
            pair = [asked.getlist("pair")] if make == explorer.compare else []
            made = partial(make, asked.getlist("run"), dict(asked), *pair)
            return Response(await _made(made), media_type="text/html; charset=utf-8")

        return endpoint

    async def compare_chart(request: Request) -> Response:
        asked = request.query_params
        make = partial(explorer.compare_chart, asked.getlist("run"), dict(asked))
        return Response(await run_in_threadpool(_specified, make), media_type="application/json")

    async def annotate(request: Request) -> Response:
        form = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
        given = {name: values[-1] for name, values in form.items()}
        try:
            back = await run_in_threadpool(explorer.annotate, request.path_params["id"], given)
        except ChangedMeanwhile as changed:
            return Response(changed.page, status_code=409, media_type="text/html; charset=utf-8")
        return RedirectResponse(back, status_code=303)

    async def error(request: Request, failure: Exception) -> Response:
        status = 404 if isinstance(failure, MissingRun) else 400
        title = "Not found" if status == 404 else "That did not work"
        content = await run_in_threadpool(partial(explorer.page, "error.html", title=title, message=str(failure)))
        return Response(content, status_code=status, media_type="text/html; charset=utf-8")

    async def missing(request: Request, failure: Exception) -> Response:
        return await error(request, MissingRun(f"there is no page {request.url.path}"))

    async def unfit(request: Request, failure: Exception) -> Response:
        return await error(request, DialgaugeError(f"{request.method} is not allowed for {request.url.path}"))

    routes = [
        Route("/", page(explorer.runs)),
        Route("/runs/{id}", page(explorer.run, "id")),
        Route("/runs/{id}/chart", chart),
        Route("/runs/{id}/dialogues", page(explorer.dialogues, "id")),
        Route("/runs/{id}/dialogue", page(explorer.dialogue, "id")),
        Route("/runs/{id}/trials", page(explorer.trials, "id")),
        Route("/runs/{id}/annotate", annotate, methods=["POST"]),
        Route("/compare", several(explorer.compare)),
        Route("/compare/chart", compare_chart),
        Route("/side", several(explorer.side)),
        Route("/sql", page(explorer.sql)),
        Route("/static/{name}", _static),
    ]
    return Starlette(routes=routes, exception_handlers={DialgaugeError: error, 404: missing, 405: unfit})


async def _made(make: Callable[[], str]) -> bytes:
    text = await run_in_threadpool(_checked, make)
    return text.encode("utf-8", "backslashreplace")


def _checked(make: Callable[[], str]) -> str:
    with stored_as_expected():
        return make()


def _specified(make: Callable[[], Mapping[str, Any]]) -> bytes:
    """A chart's specification as JSON, which knows no infinity."""
    with stored_as_expected():
        return msgspec.json.encode(make())


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name == "vega.js":
        return Response(await run_in_threadpool(_vega), media_type="text/javascript; charset=utf-8")
    if name not in _STATIC:
        raise MissingRun(f"there is no file '{name}'")
    content = files("dialgauge.explorer").joinpath("static", name).read_bytes()
    return Response(content, media_type=_STATIC[name], headers={"cache-control": f"private, max-age={_DAY}"})


@cache
def _vega() -> str:
    """Vega-Lite with all it needs, as vl-convert carries it."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle
