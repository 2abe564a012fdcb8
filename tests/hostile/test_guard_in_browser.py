"""The guard in front of a small application, as a real browser meets it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from dialgauge.explorer import Guard, local_hosts
from hostile.conftest import Serve
from support.browser import AppFactory, Watch

if TYPE_CHECKING:
    from playwright.sync_api import Page

FORM = '<!doctype html><title>{title}</title>{before}<form method=post action="{target}"><button>Save</button></form>'


def notebook(kept: list[str], *, before: str = "") -> AppFactory:
    """Ten lines of an application: a page with a form, and what the form sends."""

    async def show(request: Request) -> Response:
        return HTMLResponse(FORM.format(title=f"{len(kept)} kept", target="/save", before=before))

    async def save(request: Request) -> Response:
        kept.append(request.url.path)
        return RedirectResponse("/", 303)

    app = Starlette(routes=[Route("/", show), Route("/save", save, methods=["POST"])])
    return lambda port: Guard(app, hosts=local_hosts(port))


def elsewhere(body: str) -> AppFactory:
    """A page of another server, without any guard."""

    async def show(request: Request) -> Response:
        return HTMLResponse(body)

    return lambda port: Starlette(routes=[Route("/", show)])


def test_a_form_of_the_page_itself_is_taken(page: Page, serve: Serve) -> None:
    kept: list[str] = []
    page.goto(serve(notebook(kept)))
    assert page.title() == "0 kept"
    page.get_by_role("button", name="Save").click()
    page.wait_for_function("() => document.title === '1 kept'")
    assert kept == ["/save"]


def test_a_form_or_fetch_of_another_port_is_refused(page: Page, serve: Serve, watch: Watch) -> None:
    kept: list[str] = []
    ours = serve(notebook(kept))
    page.goto(serve(elsewhere(FORM.format(title="another", before="", target=f"{ours}/save"))))
    with page.expect_navigation() as navigation:
        page.get_by_role("button", name="Save").click()
    assert navigation.value is not None
    assert navigation.value.status == 403
    assert "came from elsewhere" in page.inner_text("body")
    watch.expect("status of 403")
    page.go_back()
    script = f"fetch('{ours}/save', {{method: 'POST', mode: 'no-cors', credentials: 'include'}}).catch(String)"
    page.evaluate(script)
    watch.expect(f"{ours}/save")
    assert "Failed to fetch" in page.evaluate(f"fetch('{ours}/').catch(String)")
    watch.expect("CORS policy")
    watch.expect(f"{ours}/")
    assert kept == []


def test_another_page_may_link_and_not_frame(page: Page, serve: Serve, watch: Watch) -> None:
    ours = serve(notebook([]))
    page.goto(serve(elsewhere(f'<!doctype html><a href="{ours}">link</a><iframe src="{ours}"></iframe>')))
    watch.expect("ERR_BLOCKED_BY_RESPONSE")
    watch.expect("403")
    watch.problems.clear()  # what else the browser says of a frame that stays empty
    page.get_by_role("link", name="link").click()
    page.wait_for_function("() => document.title === '0 kept'")


def test_script_and_style_in_the_content_do_nothing(page: Page, serve: Serve, watch: Watch) -> None:
    hostile = (
        "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">"
        "<style>body { display: none }</style><img src=http://127.0.0.2:1/leak.png>"
        "<a href=\"javascript:document.title = 'owned'\">go</a><base href=http://127.0.0.2:1/>"
    )
    page.goto(serve(notebook([], before=hostile)))
    page.get_by_text("go", exact=True).click()
    assert page.title() == "0 kept"
    assert page.locator("body").evaluate("body => getComputedStyle(body).display") == "block"
    watch.expect("Content Security Policy")
    watch.problems.clear()  # the request that the policy stopped is announced before it is stopped
