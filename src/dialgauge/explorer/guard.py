"""Who may ask the explorer, and what a browser may do with its answers: an ASGI application around another.

The explorer has no users and no passwords, but what it shows is private, and a browser carries requests for every page
that is open in it. So:

- the ``Host`` must be a name of this server, or a foreign name that was made to point here could read everything
  (DNS rebinding);
- a request that changes something must come from a page of this very server, and no other page may embed or fetch ours;
- a browser runs our one script, known by its checksum, and loads nothing, whatever markup the dialogues hold;
- requests are small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from dialgauge.report import content_policy

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Bytes of a request's body, and of its path with the query.
LARGEST_BODY, LONGEST_ADDRESS = 64 * 1024, 32 * 1024

READING, METHODS = ("GET", "HEAD"), ("GET", "HEAD", "POST")
_HEADERS = {
    b"content-security-policy": content_policy().encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
}
#: What a page of another server would show ours in.
_FRAMES = ("iframe", "frame", "embed", "object", "fencedframe")
_HTTP_PORT = 80


class _Refusal(Exception):
    """A request that is not answered: the status and one sentence."""

    def __init__(self, status: int, sentence: str, *headers: tuple[bytes, bytes]) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.headers = headers


def local_hosts(port: int) -> frozenset[str]:
    """What the ``Host`` header of a request may be for a server on this port of the loopback address."""
    names = {"localhost", "127.0.0.1"}
    return frozenset(f"{name}:{port}" for name in names) | (names if port == _HTTP_PORT else frozenset())


class Guard:
    """Wraps an application. ``hosts`` as :func:`local_hosts` gives them."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, _with_headers(send))
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            _check_size(scope)
            host = self._checked_host(scope)
            if scope["method"] not in METHODS:
                allowed = (b"allow", ", ".join(METHODS).encode())
                raise _Refusal(405, "The explorer answers GET, HEAD and POST only.", allowed)
            _check_origin(scope, host)
            body = await _body(receive)
        except _Refusal as refusal:
            await _refuse(scope, send, refusal)
            return
        if body is not None:
            await self._app(scope, _replay(body, receive), send)

    def _checked_host(self, scope: Scope) -> str:
        given = _values(scope, b"host")
        host = given[0].lower() if len(given) == 1 else ""
        if host not in self._hosts:
            raise _Refusal(403, "This server does not answer to that name: use the address that dialgauge printed.")
        return host


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1").strip() for key, value in scope["headers"] if key.lower() == name]


def _check_size(scope: Scope) -> None:
    path: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
    if len(path) + len(scope["query_string"]) > LONGEST_ADDRESS:
        raise _Refusal(414, f"The address is longer than {LONGEST_ADDRESS:,} bytes.")
    for length in _values(scope, b"content-length"):
        if not (length.isascii() and length.isdigit()):
            raise _Refusal(400, "The request has no valid Content-Length.")
        if len(length) > len(str(LARGEST_BODY)) or int(length) > LARGEST_BODY:
            raise _too_large()


def _too_large() -> _Refusal:
    return _Refusal(413, f"The request is larger than {LARGEST_BODY:,} bytes.")


def _check_origin(scope: Scope, host: str) -> None:
    """Refuse requests from pages of other servers, except following a link to one of ours."""
    site, mode = _values(scope, b"sec-fetch-site"), _values(scope, b"sec-fetch-mode")
    ours = site in (["same-origin"], ["none"])
    if scope["method"] in READING:
        framed = any(value in _FRAMES for value in _values(scope, b"sec-fetch-dest"))
        if site and not ours and (mode != ["navigate"] or framed):
            raise _Refusal(403, "A page on another server requested this; open its address directly instead.")
        return
    own = f"{scope.get('scheme', 'http')}://{host}"
    origins = _values(scope, b"origin")
    if origins:
        welcome = [origin.lower() for origin in origins] == [own]
    elif site:
        welcome = ours
    else:
        welcome = [_origin_of(referer) for referer in _values(scope, b"referer")] == [own]
    if not welcome or (site and not ours):
        raise _Refusal(403, "Only this explorer's own pages may change anything, and this request came from elsewhere.")


def _origin_of(address: str) -> str:
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}".lower()


async def _body(receive: Receive) -> bytes | None:
    """The whole body, which is small; None if whoever asked has gone."""
    body: bytes = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            raise _too_large()
        if not message.get("more_body", False):
            return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """What the application receives: the body that was read, then what else comes."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def read() -> Message:
        return waiting.pop() if waiting else await receive()

    return read


def _with_headers(send: Send) -> Send:
    """The same with our headers on every answer, in the place of what the application set under these names."""

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = [(key.lower(), value) for key, value in message.get("headers", ())]
            ours = dict(_HEADERS)
            known = dict(given)
            if b"cache-control" not in known or known.get(b"content-type", b"").startswith(b"text/html"):
                ours[b"cache-control"] = b"no-store"
            kept = [(key, value) for key, value in given if key not in ours]
            message = {**message, "headers": [*kept, *ours.items()]}
        await send(message)

    return guarded


async def _refuse(scope: Scope, send: Send, refusal: _Refusal) -> None:
    text = f"{refusal.sentence}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(text)).encode())]
    # What is left of the request is not read.
    headers += [(b"connection", b"close"), *refusal.headers]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else text})
