"""The explorer as an ASGI application: which address is which page, and what is not there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib.resources import files
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
from dialgauge.explorer.pages import Explorer, assets
from dialgauge.runs import Store

_STATIC = {
    "explorer.css": "text/css; charset=utf-8",
    "explorer.js": "text/javascript; charset=utf-8",
    "charts.js": "text/javascript; charset=utf-8",
    "theme.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_YEAR = 365 * 86_400


def create_app(store: Store) -> Starlette:
    """The pages over a store, as an ASGI application; :class:`Guard` stands in front of it when it is served."""
    explorer = Explorer(store)

    async def answered(make: Callable[[], str]) -> Response:
        return Response(await _made(make), media_type="text/html; charset=utf-8")

    def page(make: Callable[..., str], *names: str) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            given = [request.path_params[name] for name in names]
            return await answered(partial(make, *given, dict(request.query_params)))

        return endpoint

    async def chart(request: Request) -> Response:
        make = partial(explorer.chart, request.path_params["id"], dict(request.query_params))
        return Response(await run_in_threadpool(_specified, make), media_type="application/json")

    def several(make: Callable[..., str]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            asked = request.query_params
            pair = [asked.getlist("pair")] if make == explorer.compare else []
            return await answered(partial(make, asked.getlist("run"), dict(asked), *pair))

        return endpoint

    async def chosen(request: Request) -> Response:
        chosen = request.query_params.getlist("id")
        return await answered(partial(explorer.chosen, request.path_params["id"], chosen))

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
        back = await run_in_threadpool(explorer.annotate, request.path_params["id"], given)
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
