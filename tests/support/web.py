"""A real web server on localhost that misbehaves on request."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Answer:
    """How the server treats one request."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    #: Break the connection after that many bytes of the body.
    cut: int | None = None
    #: Say this length whatever the body is.
    claim: int | None = None
    ignore_range: bool = False
    #: Then hold the connection open that many seconds without sending anything.
    stall: float = 0.0


@dataclass
class Site:
    """The file it serves, and what to do with the next requests; after those, it behaves."""

    body: bytes
    answers: list[Answer] = field(default_factory=list)
    #: The ``Range`` header of every request so far.
    ranges: list[str | None] = field(default_factory=list)
    url: str = ""


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    """Serve the site on a free port until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.ranges.append(self.headers.get("Range"))
            answer = site.answers.pop(0) if site.answers else Answer()
            start = 0 if answer.ignore_range else self._start()
            status = 206 if answer.status == 200 and start else answer.status
            body = site.body[start:] if status in (200, 206) else b""
            self.send_response(status)
            if status == 206:
                self.send_header("Content-Range", f"bytes {start}-{len(site.body) - 1}/{len(site.body)}")
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body) if answer.claim is None else answer.claim))
            self.end_headers()
            self.wfile.write(body if answer.cut is None else body[: answer.cut])
            self.wfile.flush()
            time.sleep(answer.stall)
            self.close_connection = True

        def _start(self) -> int:
            return int(self.headers.get("Range", "0").removeprefix("bytes=").removesuffix("-"))

        def log_message(self, format: str, *args: object) -> None:
            """Silence."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that hangs up is part of the play."""

    server = Server(("127.0.0.1", 0), Handler)
    site.url = f"http://127.0.0.1:{server.server_address[1]}/file.bin"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
