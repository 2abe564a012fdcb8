"""The explorer as an ASGI application: which address is which page, and what is not there."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from time import monotonic
from typing import Any
from urllib.parse import parse_qs

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from dialgauge.errors import DialgaugeError
from dialgauge.explorer.library import MissingRun, stored_as_expected
from dialgauge.explorer.pages import ChangedMeanwhile, Explorer, assets
from dialgauge.runs import Store

_STATIC = {
    "explorer.css": "text/css; charset=utf-8",
    "explorer.js": "text/javascript; charset=utf-8",
    "charts.js": "text/javascript; charset=utf-8",
    "theme.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_YEAR = 365 * 86_400
#: Seconds after which a browser is told what is being computed: for pages of very large runs, and for all others.
_SHORT, _LONG = 0.7, 5.0


def create_app(store: Store, *, patience: float | None = None) -> Starlette:
    """The pages over a store, as an ASGI application; :class:`Guard` stands in front of it when it is served.

    ``patience``: seconds after which a browser is told what is being computed; by the size of runs unless given.
    """
    explorer = Explorer(store)
    slow = SlowPages()

    async def answered(request: Request, make: Callable[[], str], runs: Sequence[str]) -> Response:
        """The page, or one that says what is being computed for it."""
        dialogues, large = await run_in_threadpool(explorer.sizes, runs)
        wait = patience if patience is not None else _SHORT if large else _LONG
        content, seconds = await slow.made(request, lambda: _encoded(make), wait)
        if content is None:
            content = explorer.waiting(int(seconds), dialogues).encode()
        return Response(content, media_type="text/html; charset=utf-8")

    def page(make: Callable[..., str], *names: str) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            given = [request.path_params[name] for name in names]
            return await answered(request, partial(make, *given, dict(request.query_params)), given)

        return endpoint

    async def chart(request: Request) -> Response:
        make = partial(explorer.chart, request.path_params["id"], dict(request.query_params))
        return Response(await run_in_threadpool(_specified, make), media_type="application/json")

    def several(make: Callable[..., str]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            asked = request.query_params
            pair = [asked.getlist("pair")] if make == explorer.compare else []
            runs = asked.getlist("run")
            return await answered(request, partial(make, runs, dict(asked), *pair), runs)

        return endpoint

    async def chosen(request: Request) -> Response:
        run = request.path_params["id"]
        return await answered(request, partial(explorer.chosen, run, request.query_params.getlist("id")), [run])

    async def compare_chart(request: Request) -> Response:
        asked = request.query_params
        make = partial(explorer.compare_chart, asked.getlist("run"), dict(asked))
        return Response(await run_in_threadpool(_specified, make), media_type="application/json")

    async def export(request: Request) -> Response:
        make = partial(explorer.export, request.path_params["id"], dict(request.query_params))
        return _download(await _made(make), "text/csv; charset=utf-8", "dialogues.csv")

    async def report(request: Request) -> Response:
        make = partial(explorer.report, request.query_params.getlist("run"))
        return _download(await _made(make), "text/html; charset=utf-8", "report.html")

    async def annotate(request: Request) -> Response:
        form = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
        given = {name: values[-1] for name, values in form.items()}
        slow.forget()
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
        Route("/runs/{id}/dialogues.csv", export),
        Route("/report", report),
        Route("/runs/{id}/trials", page(explorer.trials, "id")),
        Route("/runs/{id}/side", chosen),
        Route("/runs/{id}/annotate", annotate, methods=["POST"]),
        Route("/compare", several(explorer.compare)),
        Route("/compare/chart", compare_chart),
        Route("/side", several(explorer.side)),
        Route("/sql", page(explorer.sql)),
        Route("/static/{name}", _static),
    ]
    return Starlette(routes=routes, exception_handlers={DialgaugeError: error, 404: missing, 405: unfit})


async def _made(make: Callable[[], str]) -> bytes:
    return await run_in_threadpool(_encoded, make)


def _encoded(make: Callable[[], str]) -> bytes:
    with stored_as_expected():
        return make().encode("utf-8", "backslashreplace")


def _specified(make: Callable[[], Mapping[str, Any]]) -> bytes:
    """A chart's specification as JSON, which knows no infinity."""
    with stored_as_expected():
        return msgspec.json.encode(make())


def _download(content: bytes, kind: str, name: str) -> Response:
    return Response(content, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    # Pages name the version of a file in its address, so a new one has another address.
    kept = f"private, max-age={_YEAR}, immutable" if request.query_params.get("v") == assets() else "no-cache"
    if name == "vega.js":
        content: str | bytes = await run_in_threadpool(_vega)
        return Response(content, media_type="text/javascript; charset=utf-8", headers={"cache-control": kept})
    if name not in _STATIC:
        raise MissingRun(f"there is no file '{name}'")
    content = files("dialgauge.explorer").joinpath("static", name).read_bytes()
    return Response(content, media_type=_STATIC[name], headers={"cache-control": kept})


@cache
def _vega() -> str:
    """Vega-Lite with all it needs, as vl-convert carries it."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle


#: Pages that are being made, or were made and not yet fetched; whoever asks for more waits as long as it takes.
_MOST = 16


class SlowPages:
    """Pages that take long: a browser gets an answer at once, which says what is being computed and asks again.

    Pages are made in threads, and those for which nobody waited are kept until they are asked for again.
    """

    def __init__(self) -> None:
        self._pages: OrderedDict[str, tuple[asyncio.Task[bytes], float]] = OrderedDict()

    async def made(self, request: Request, make: Callable[[], bytes], patience: float) -> tuple[bytes | None, float]:
        """The page, None where it is not ready within so many seconds, and since when it is being made, in seconds.

        Only a browser is told to come back; whoever asks otherwise gets the page itself.
        """
        address = str(request.url)
        known = self._pages.get(address)
        task, begun = known or (_started(make), monotonic())
        if not _is_browser(request) or (known is None and not self._has_room()):
            return await asyncio.shield(task), monotonic() - begun
        self._pages[address] = task, begun
        done, _ = await asyncio.wait({task}, timeout=patience)
        waited = monotonic() - begun
        if not done:
            return None, waited
        self._pages.pop(address, None)
        return task.result(), waited

    def forget(self) -> None:
        """Let go of pages that were made before something changed."""
        self._pages.clear()

    def _has_room(self) -> bool:
        for address in [address for address, (task, _) in self._pages.items() if task.done()]:
            if len(self._pages) < _MOST:
                break
            del self._pages[address]
        return len(self._pages) < _MOST


def _started(make: Callable[[], bytes]) -> asyncio.Task[bytes]:
    task = asyncio.create_task(run_in_threadpool(make))
    # What went wrong may never be asked for, and is no matter for the log then.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return task


def _is_browser(request: Request) -> bool:
    return request.method == "GET" and "text/html" in request.headers.get("accept", "")
