"""The built site in a real browser: its search finds what people look for, and code is copied as it is to be typed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from support.browser import serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def page(site: Path, browser: Browser) -> Iterator[Page]:
    """The home page in a window that lets scripts read what was copied."""
    files = Starlette(routes=[Mount("/", StaticFiles(directory=site, html=True))])
    with serving(lambda _: files) as address:
        context = browser.new_context(base_url=address, permissions=["clipboard-read", "clipboard-write"])
        context.set_default_timeout(20_000)
        page = context.new_page()
        page.goto("/")
        yield page
        context.close()


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("pass^k", "tutorials/logs/"),
        ("jupyter", "howto/notebook/"),
        ("csv", "tutorials/own-domain/"),
        ("FGA@0.5", "reference/measures/"),
    ],
)
def test_the_search_finds_what_people_look_for(page: Page, query: str, wanted: str) -> None:
    box = page.locator("input.md-search__input")
    box.fill("")
    box.press_sequentially(query)  # the search listens to keys
    page.locator(f"a.md-search-result__link[href*='{wanted}']").first.wait_for(state="attached")


def test_a_copied_block_has_commands_alone(page: Page) -> None:
    page.goto("/runs/")
    block = page.locator(".highlight", has_text="runs tag careful").first
    button = block.locator("button.md-clipboard, button[data-clipboard-target], .md-code__button").first
    button.click(force=True)
    copied = str(page.evaluate("navigator.clipboard.readText()"))
    lines = [line for line in copied.splitlines() if line.strip()]
    assert len(lines) > 3 and all(line.startswith("dialgauge ") for line in lines), copied
    assert copied == "\n".join(lines)


def test_wide_code_scrolls_in_its_block(page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    wide = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    scrolls = page.evaluate(
        "[...document.querySelectorAll('.highlight code')].filter(c => c.scrollWidth > c.clientWidth)"
        ".every(c => ['auto', 'scroll'].includes(getComputedStyle(c).overflowX))"
    )
    assert wide and scrolls
