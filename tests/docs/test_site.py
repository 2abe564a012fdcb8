"""The built site has no dead link: every page, file and anchor that a page names is there."""

from __future__ import annotations

import os
import re
from functools import cache
from html import unescape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import pytest

#: An attribute that links or can be linked to; the generator quotes all but those without a blank.
_ATTRIBUTE = re.compile(r"""\s(href|src|id|name)=(?:"([^"]*)"|'([^']*)'|([^\s>"']+))(?=[^<]*>)""")


class _Link(NamedTuple):
    written: str
    #: The file that it leads to, and the place in it.
    target: Path
    anchor: str


class _Page(NamedTuple):
    #: To files of the site.
    links: list[_Link]
    anchors: set[str]


@cache
def _read(path: Path) -> _Page:
    found = [(name, unescape("".join(texts))) for name, *texts in _ATTRIBUTE.findall(path.read_text("utf-8"))]
    links = []
    for link in dict.fromkeys(value for name, value in found if name in ("href", "src") and value):
        parts = urlsplit(link)
        if not (parts.scheme or parts.netloc or link.startswith("/")):
            target = _file(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
            links.append(_Link(link, target, unquote(parts.fragment)))
    return _Page(links, {value for name, value in found if name in ("id", "name")})


@cache
def _file(name: str) -> Path:
    path = Path(name)
    return path / "index.html" if path.is_dir() else path


@cache
def _is_there(path: Path) -> bool:
    return path.exists()


def dead_links(site: Path) -> list[str]:
    """What the pages of a site point to inside it and do not find."""
    dead = []
    for path in sorted(site.rglob("*.html")):
        if path.name == "404.html":  # its links are absolute, for wherever it is shown
            continue
        for link, target, anchor in _read(path).links:
            there = _is_there(target)
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
        left += [link.target for link in _read(path).links]
    assert {path for path in site.rglob("*.html") if path.name != "404.html"} <= reached
