"""The elements of a page."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def elements(page: str) -> Iterator[tuple[str, dict[str, str | None]]]:
    """The elements of a page with their attributes."""
    parser = _Elements()
    parser.feed(page)
    return iter(parser.found)
