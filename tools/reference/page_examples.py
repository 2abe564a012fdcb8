"""Worked examples of commands: blocks of the hand-written pages, which ``tests/docs`` runs unless they say why not."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"

_BLOCK = re.compile(r"(?P<markers>(?:^<!--[^\n]*-->\n)*)^```console\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
#: Guides come before tutorials, and both before pages whose subject is something else.
_ORDER = ("*.md", "tutorials/*.md", "howto/*.md", "formats/*.md", "tracking/*.md", "explanation/*.md")


@cache
def _blocks() -> tuple[tuple[Path, str, bool], ...]:
    """Page and text of every block of commands, and whether it runs without data."""
    return tuple(
        (page, found["body"], not found["markers"])
        for pattern in _ORDER
        for page in sorted(DOCS.glob(pattern))
        for found in _BLOCK.finditer(page.read_text("utf-8"))
    )


def example_of(command: str) -> tuple[Path, str] | None:
    """The page, relative to docs, and the block that show a command, such as ``data check``.

    The guide of that name comes first, then what runs without data.
    """
    wanted = re.compile(rf"^\$ (?:.*\$\()?dialgauge {re.escape(command)}(?=[ )\n])", re.MULTILINE)
    shown = [
        (2 if page.stem == command.partition(" ")[0] else int(anywhere), page.relative_to(DOCS), body)
        for page, body, anywhere in _blocks()
        if wanted.search(body)
    ]
    if not shown:
        return None
    _, page, body = max(shown, key=lambda one: one[0])
    return page, body
