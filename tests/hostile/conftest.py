"""For each test a store of its own, and a page in a browser that is watched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dialgauge.runs import Store
from support.browser import PATIENCE, AppFactory, Watch, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

#: Starts a server for an application and gives its address; it stops when the test ends.
Serve = Callable[[AppFactory], str]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs")


@pytest.fixture
def watch() -> Iterator[Watch]:
    """What the pages of a test do wrong; any of it fails the test."""
    watching = Watch()
    yield watching
    assert watching.problems == []


@pytest.fixture
def serve(watch: Watch) -> Iterator[Serve]:
    """Start real servers on free ports."""
    with ExitStack() as running:

        def start(make_app: AppFactory) -> str:
            address = running.enter_context(serving(make_app))
            watch.servers.add(address)
            return address

        yield start


@pytest.fixture
def context(browser: Browser, watch: Watch, serve: Serve) -> Iterator[BrowserContext]:
    """A browser without history, cookies or cache; every page in it is watched, and closed before its server stops."""
    fresh = browser.new_context()
    fresh.set_default_timeout(PATIENCE)
    fresh.on("page", watch.over)
    yield fresh
    fresh.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """An empty page."""
    return context.new_page()
