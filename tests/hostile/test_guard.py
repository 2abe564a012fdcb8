"""What the guard lets through, by calling it as a server would."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from dialgauge.explorer import Guard, local_hosts
from dialgauge.report import content_policy
from support.event_loop import completed

LARGEST_BODY = 64 * 1024
LONGEST_ADDRESS = 32 * 1024

HOST = "localhost:8123"
OWN = f"http://{HOST}"
Headers = dict[str, str] | list[tuple[str, str]]


async def page(request: Request) -> Response:
    return HTMLResponse(f"{request.url.path} {sorted(request.query_params.multi_items())}")


async def change(request: Request) -> Response:
    return PlainTextResponse(f"{len(await request.body())} bytes")


async def asset(request: Request) -> Response:
    return Response("body {}", media_type="text/css", headers={"Cache-Control": "max-age=60"})


async def loose(request: Request) -> Response:
    return HTMLResponse("x", headers={"Content-Security-Policy": "default-src *", "Cache-Control": "public"})


ROUTES = [
    Route("/style.css", asset),
    Route("/loose", loose),
    Route("/change", change, methods=["POST"]),
    Route("/{path:path}", page),
]


def ask(
    method: str = "GET",
    path: str = "/",
    headers: Headers | None = None,
    *,
    content: bytes | AsyncIterator[bytes] | None = None,
) -> httpx.Response:
    async def send() -> httpx.Response:
        guarded = Guard(Starlette(routes=ROUTES), hosts=local_hosts(8123))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(guarded), base_url=OWN) as client:
            pairs = headers.items() if isinstance(headers, dict) else headers or ()
            sent = [(name.encode(), value.encode("latin-1")) for name, value in pairs]
            return await client.request(method, path, headers=sent, content=content)

    return completed(send())


def refused(response: httpx.Response, status: int) -> bool:
    """One plain sentence with that status, and the headers that every answer has."""
    assert response.headers["content-security-policy"] == content_policy()
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.text.endswith(".\n")
    assert response.text.count("\n") == 1
    return response.status_code == status


@pytest.mark.parametrize("host", ["localhost:8123", "127.0.0.1:8123", "LocalHost:8123"])
def test_the_names_of_this_server_are_answered(host: str) -> None:
    assert ask(headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:8123", "localhost", "localhost:80", "localhost:81234", "localhost.:8123",
        "me@localhost:8123", "localhost:8123@evil.example", "localhost:8123.evil.example", "127.0.0.1.nip.io:8123",
        "0.0.0.0:8123", "127.1:8123", "2130706433:8123", "::1:8123", "[::1%25lo]:8123", "[::ffff:127.0.0.1]:8123",
        "localhost:8123, evil.example", "localhost:8123/", "localhost :8123", "loc\xe4lhost:8123", "",
    ],
)  # fmt: skip
def test_other_names_are_refused(host: str) -> None:
    assert refused(ask(headers=[("Host", host)]), 403)
    assert refused(ask("POST", "/change", [("Host", host), ("Origin", f"http://{host}")]), 403)


def test_two_hosts_or_none_are_refused() -> None:
    for hosts in ([HOST, "evil.example"], ["evil.example", HOST], [HOST, HOST], []):
        assert refused(raw([("host", host) for host in hosts]), 403)


def raw(headers: Iterable[tuple[str, str]], *, method: str = "GET", **facts: Any) -> httpx.Response:
    """The answer to a request that no client library would send."""
    told: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        told.append(message)

    scope = {
        "type": "http", "method": method, "path": "/", "raw_path": b"/", "query_string": b"", "scheme": "http",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers], **facts,
    }  # fmt: skip
    guarded = Guard(Starlette(routes=ROUTES), hosts=local_hosts(8123))
    completed(guarded(scope, receive, send))
    body = b"".join(message.get("body", b"") for message in told[1:])
    return httpx.Response(told[0]["status"], headers=told[0]["headers"], content=body)


def test_names_of_a_server_follow_its_port() -> None:
    assert local_hosts(80) >= {"localhost", "localhost:80", "127.0.0.1"}
    assert "localhost" not in local_hosts(8123) and "127.0.0.1:8123" in local_hosts(8123)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": OWN},
        {"Origin": OWN.upper().replace("HTTP", "http")},
        {"Origin": OWN, "Sec-Fetch-Site": "same-origin", "Referer": "http://evil.example/"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {"Referer": f"{OWN}/runs/x?y=1"},
    ],
)
def test_our_own_pages_may_change_something(headers: dict[str, str]) -> None:
    response = ask("POST", "/change", headers, content=b"note=1")
    assert (response.status_code, response.text) == (200, "6 bytes")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "http://localhost:9999"},
        {"Origin": "http://localhost"},
        {"Origin": "http://127.0.0.1:8123"},
        {"Origin": f"https://{HOST}"},
        {"Origin": f"{OWN}.evil.example"},
        {"Origin": f"{OWN}/"},
        {"Origin": f"{OWN}@evil.example"},
        {"Origin": f"{OWN} http://evil.example"},
        {"Origin": "null", "Referer": f"{OWN}/"},
        {"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"},
        {"Origin": OWN, "Sec-Fetch-Site": "cross-site"},
        {"Origin": OWN, "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "SAME-ORIGIN, cross-site"},
        {"Sec-Fetch-Site": "cross-site", "Referer": f"{OWN}/"},
        {"Referer": "http://evil.example/http://localhost:8123/"},
        {"Referer": f"http://evil.example@{HOST}/"},
        {"Referer": f"{OWN}@evil.example/"},
        {"Referer": "http://[::1/"},
        {"Referer": "/relative"},
    ],
)
def test_other_pages_may_not(headers: dict[str, str]) -> None:
    assert refused(ask("POST", "/change", headers, content=b"note=1"), 403)


def test_two_origins_are_refused() -> None:
    for origins in ([OWN, "http://evil.example"], [OWN, OWN]):
        headers = [("Host", HOST), *(("Origin", origin) for origin in origins)]
        assert refused(raw(headers, method="POST", path="/change"), 403)


def test_another_site_may_link_here_and_not_fetch() -> None:
    for site in ("cross-site", "same-site"):
        assert ask(headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}).status_code == 200
        for mode in ("no-cors", "cors", "same-origin", "websocket", ""):
            assert refused(ask(headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}), 403)
        assert refused(ask(headers={"Sec-Fetch-Site": site}), 403)
    assert ask(headers={"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}).status_code == 200
    assert ask(headers={"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}).status_code == 200


def test_every_answer_has_the_headers_that_confine_a_browser() -> None:
    answers = [
        ask(), ask(path="/style.css"), ask(path="/loose"), ask("POST", "/change", {"Origin": OWN}), ask("PUT"),
        ask("HEAD"), ask(headers={"Host": "x"}), ask("POST"),
        ask("POST", "/page-without-post", {"Origin": OWN}),
    ]  # fmt: skip
    for answer in answers:
        assert answer.headers.get_list("content-security-policy") == [content_policy()]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        is_asset = answer.headers.get("content-type", "").startswith("text/css")
        assert answer.headers.get_list("cache-control") == ["max-age=60" if is_asset else "no-store"]
    assert "unsafe" not in content_policy()


def test_large_bodies_are_refused_whether_they_say_so_or_not() -> None:
    async def pieces(count: int) -> AsyncIterator[bytes]:
        for _ in range(count):
            yield b"x" * 1024

    own = {"Origin": OWN}
    assert ask("POST", "/change", own, content=b"x" * LARGEST_BODY).text == f"{LARGEST_BODY} bytes"
    assert refused(ask("POST", "/change", own, content=b"x" * (LARGEST_BODY + 1)), 413)
    assert ask("POST", "/change", own, content=pieces(64)).text == f"{LARGEST_BODY} bytes"
    assert refused(ask("POST", "/change", own, content=pieces(65)), 413)
    for length, status in (("9" * 5000, 413), ("-1", 400), ("1e9", 400), ("", 400), ("²", 400), ("5, 5", 400)):
        assert refused(raw([("Host", HOST), ("Content-Length", length)]), status)


def test_long_addresses_are_refused() -> None:
    fitting = "/" + "a" * (LONGEST_ADDRESS - 1)
    assert ask(path=fitting).status_code == 200
    assert refused(ask(path=f"{fitting}a"), 414)
    assert refused(ask(path=f"/?q={'a' * LONGEST_ADDRESS}"), 414)
    assert refused(ask(path=f"/?q={'%41' * (LONGEST_ADDRESS // 3)}"), 414)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "BREW"])
def test_other_methods_are_refused(method: str) -> None:
    response = raw([("Host", HOST), ("Origin", OWN)], method=method)
    assert refused(response, 405)
    assert response.headers["allow"] == "GET, HEAD, POST"


def test_a_refused_head_has_no_body() -> None:
    assert raw([("Host", "evil.example")], method="HEAD").content == b""


def test_sockets_are_closed_and_the_life_of_the_server_passes() -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    told: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        told.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    guarded = Guard(app, hosts=local_hosts(8123))
    for kind in ("websocket", "lifespan"):
        completed(guarded({"type": kind, "headers": []}, receive, send))
    assert seen == ["lifespan"]
    assert [message["type"] for message in told] == ["websocket.close"]


def test_whoever_left_before_the_body_was_read_is_not_answered() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        pytest.fail("half a body must not be taken for a whole one")

    async def gone() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        pytest.fail("nobody is there")

    scope = {
        "type": "http", "method": "POST", "path": "/", "raw_path": b"/", "query_string": b"", "scheme": "http",
        "headers": [(b"host", HOST.encode()), (b"origin", OWN.encode())],
    }  # fmt: skip
    completed(Guard(app, hosts=local_hosts(8123))(scope, gone, send))
