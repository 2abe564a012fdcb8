"""The built site has no dead link: every page, file and anchor that a page names is there."""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import pytest

#: An attribute that links or can be linked to; the generator quotes all but those without a blank.
_ATTRIBUTE = re.compile(r"""\s(href|src|id|name)=(?:"([^"]*)"|'([^']*)'|([^\s>"']+))(?=[^<]*>)""")


class _Page(NamedTuple):
    links: list[str]
    anchors: set[str]


@cache
def _read(path: Path) -> _Page:
    found = [(name, unescape("".join(texts))) for name, *texts in _ATTRIBUTE.findall(path.read_text("utf-8"))]
    return _Page(
        [value for name, value in found if name in ("href", "src") and value],
        {value for name, value in found if name in ("id", "name")},
    )


def dead_links(site: Path) -> list[str]:
    """What the pages of a site point to inside it and do not find."""
    dead = []
    for path in sorted(site.rglob("*.html")):
        if path.name == "404.html":  # its links are absolute, for wherever it is shown
            continue
        for link in _read(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link.startswith("/"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            there = target.exists()
            anchor = unquote(parts.fragment)
            if there and anchor and target.suffix == ".html":
                there = anchor in _read(target).anchors
            if not there:
                dead.append(f"{path.relative_to(site)}: {link}")
    return dead


def test_no_link_is_dead(site: Path) -> None:
    assert len(list(site.rglob("index.html"))) > 100
    assert dead_links(site) == []


@pytest.mark.parametrize("link", ["missing.html", "#nowhere", "other/#nowhere"])
def test_dead_links_are_found(link: str, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "index.html").write_text("<h1 id='here'>here</h1>")
    (tmp_path / "index.html").write_text(f"<a href='{link}'>x</a><a href='other/#here'>y</a>")
    assert dead_links(tmp_path) == [f"index.html: {link}"]


def test_every_page_can_be_reached_from_the_home_page(site: Path) -> None:
    reached, left = set(), [site / "index.html"]
    while left:
        path = left.pop()
        if path in reached or path.suffix != ".html":
            continue
        reached.add(path)
        for link in _read(path).links:
            parts = urlsplit(link)
            if not (parts.scheme or parts.netloc or link.startswith("/")) and parts.path:
                target = (path.parent / unquote(parts.path)).resolve()
                left.append(target / "index.html" if target.is_dir() else target)
    assert {path for path in site.rglob("*.html") if path.name != "404.html"} <= reached
