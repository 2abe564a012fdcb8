"""The explorer as an ASGI application: which address is which page, and what is not there."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from dialgauge.errors import DialgaugeError
from dialgauge.explorer.library import Library, MissingRun
from dialgauge.explorer.links import ExplorerLinks
from dialgauge.explorer.pages import Pages
from dialgauge.explorer.report_file import report_html
from dialgauge.report import Page, csv_page, html_page, stored_as_expected, whole_list
from dialgauge.runs import Store

_HTML = "text/html; charset=utf-8"


def create_app(store: Store) -> Starlette:
    """The pages over a store, as an ASGI application; :class:`Guard` stands in front of it when it is served."""
    library = Library(store)
    pages = Pages(library)

    def shown(make: Callable[[Request], Page]) -> Callable[[Request], object]:
        async def endpoint(request: Request) -> Response:
            return Response(await run_in_threadpool(_made, partial(make, request)), media_type=_HTML)

        return endpoint

    def annotated(make: Callable[[Request], Page]) -> Callable[[Request], object]:
        read = shown(make)

        async def endpoint(request: Request) -> Response:
            if request.method != "POST":
                answer: Response = await read(request)  # type: ignore[misc]
                return answer
            form = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
            given = {name: values[-1] for name, values in form.items()}
            dialogue = request.query_params.get("id", "")
            await run_in_threadpool(partial(pages.annotate, request.path_params["run"], given, dialogue))
            return RedirectResponse(f"{request.url.path}?{request.url.query}#remark", status_code=303)

        return endpoint

    def of_dialogue(request: Request) -> Page:
        return pages.dialogue(request.path_params["run"], request.query_params.get("id", ""), _only(request))

    def of_table(request: Request) -> Page:
        asked = request.query_params
        number = int(asked["page"]) if asked.get("page", "").isdecimal() else 1
        return pages.table(request.path_params["run"], asked.get("name", ""), number)

    def of_comparison(request: Request) -> Page:
        asked = request.query_params
        return pages.compare(asked.getlist("run"), asked.get("measure", ""), asked.get("better", ""))

    def of_sides(request: Request) -> Page:
        return pages.side(request.query_params.getlist("run"), request.query_params.get("id", ""))

    async def export(request: Request) -> Response:
        run = library.run(request.path_params["run"])
        content = await run_in_threadpool(lambda: csv_page(whole_list(run, _only(request))).encode())
        return _download(content, "text/csv; charset=utf-8", "dialogues.csv")

    async def report(request: Request) -> Response:
        runs = [library.run(name) for name in dict.fromkeys(request.query_params.getlist("run"))]
        content = await run_in_threadpool(lambda: report_html(runs).encode("utf-8", "backslashreplace"))
        return _download(content, _HTML, "report.html")

    async def error(request: Request, failure: Exception) -> Response:
        missing = isinstance(failure, MissingRun)
        page = Page(title="Not found" if missing else "That did not work", warnings=[str(failure)])
        content = html_page(page, ExplorerLinks(), home="/")
        return Response(content.encode("utf-8", "backslashreplace"), 404 if missing else 400, media_type=_HTML)

    async def no_page(request: Request, failure: Exception) -> Response:
        return await error(request, MissingRun(f"there is no page {request.url.path}"))

    async def unfit(request: Request, failure: Exception) -> Response:
        return await error(request, DialgaugeError(f"{request.method} is not allowed for {request.url.path}"))

    run = "/runs/{run}"
    routes = [
        Route("/", shown(lambda request: pages.runs(request.query_params))),
        Route(run, annotated(lambda request: pages.run(request.path_params["run"])), methods=["GET", "POST"]),
        Route(f"{run}/dialogues", shown(lambda request: pages.dialogues(request.path_params["run"], _only(request)))),
        Route(f"{run}/dialogues.csv", export),
        Route(f"{run}/dialogue", annotated(of_dialogue), methods=["GET", "POST"]),
        Route(f"{run}/table", shown(of_table)),
        Route(
            f"{run}/side",
            shown(lambda request: pages.chosen(request.path_params["run"], request.query_params.getlist("id"))),
        ),
        Route("/compare", shown(of_comparison)),
        Route("/side", shown(of_sides)),
        Route("/report", report),
    ]
    return Starlette(routes=routes, exception_handlers={DialgaugeError: error, 404: no_page, 405: unfit})


def _made(make: Callable[[], Page]) -> bytes:
    with stored_as_expected():
        return html_page(make(), ExplorerLinks(), home="/").encode("utf-8", "backslashreplace")


def _only(request: Request) -> dict[str, str]:
    """The filters in an address."""
    return {name: value for name, value in request.query_params.items() if value and name != "id"}


def _download(content: bytes, kind: str, name: str) -> Response:
    return Response(content, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
