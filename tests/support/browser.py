"""A real browser for the tests of web pages, and a real server for it to talk to.

Debian's chromium is driven through Playwright. A page that logs an error, throws, or asks any other server for
anything fails its test, even if nothing else does.
"""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
import uvicorn

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request
    from starlette.types import ASGIApp

#: Makes the application for a server on this port.
AppFactory = Callable[[int], "ASGIApp"]

#: A container has no sandbox of its own to offer; the rest keeps the browser from asking its maker for anything.
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run",
    "--no-default-browser-check", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-default-apps", "--disable-domain-reliability", "--disable-client-side-phishing-detection",
]  # fmt: skip
#: Milliseconds: a busy machine is no fault of a page.
PATIENCE = 60_000
_LOCAL = "127.0.0.1"
#: What a browser asks for by itself where a page names no icon, as one without markup cannot.
_ICON = "/favicon.ico"


def chromium() -> str:
    """Where the browser is; without one the test is skipped."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("there is no chromium on this machine: 'make programs' installs Debian's")
    return path


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser without a window."""
    executable = chromium()
    sync_api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, headless=True, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def serving(make_app: AppFactory) -> Iterator[str]:
    """Serve an application on a free port of this machine until the block ends; its address."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_LOCAL, 0))
        port = int(listener.getsockname()[1])
        config = uvicorn.Config(make_app(port), log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
        server = _Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            if not server.ready.wait(PATIENCE / 1000):
                pytest.fail("the server did not start")
            yield f"http://{_LOCAL}:{port}"
        finally:
            server.should_exit = True
            thread.join(PATIENCE / 1000)
    assert not thread.is_alive(), "the server did not stop"


class _Server(uvicorn.Server):
    """A server that says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@dataclass
class Watch:
    """What went wrong in a page while a test drove it."""

    #: Servers that the page may ask: those that the test started, and ``file://`` where it opens a file.
    servers: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)

    def over(self, page: Page) -> None:
        """Listen to a page."""
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.problems.append(f"the page threw: {error}"))
        page.on("request", self._on_request)
        page.on("requestfailed", self._on_failure)

    def expect(self, part: str) -> None:
        """Take note of problems that the test provoked: there must be some that say this, and they are settled."""
        found = [problem for problem in self.problems if part in problem]
        assert found, f"nothing said '{part}': {self.problems}"
        self.problems = [problem for problem in self.problems if problem not in found]

    def _on_console(self, message: ConsoleMessage) -> None:
        where = str(message.location.get("url", ""))
        if message.type == "error" and not where.endswith(_ICON):
            self.problems.append(f"the page logged: {message.text} ({where})")

    def _on_request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("data", "blob", "about"):
            return
        if f"{parts.scheme}://{parts.netloc}" not in self.servers:
            self.problems.append(f"the page asked another server: {request.url}")

    def _on_failure(self, request: Request) -> None:
        if not request.url.endswith(_ICON) and "ERR_ABORTED" not in (
            request.failure or ""
        ):  # a page that was left before it was whole
            self.problems.append(f"a request failed: {request.url} ({request.failure})")
