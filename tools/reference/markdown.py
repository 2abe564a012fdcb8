"""Markdown made of Python values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table, or nothing where there are no rows."""
    lines = ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    if not lines:
        return ""
    return "\n".join(["| " + " | ".join(header) + " |", "| " + " | ".join("---" for _ in header) + " |", *lines]) + "\n"


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def code(text: object) -> str:
    """Text as code; nothing for nothing."""
    return f"`{text}`" if str(text) else ""


def slug(name: str) -> str:
    """A file name for a name: ``I-GCDF1 lost to system`` is ``i-gcdf1-lost-to-system``."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def sections(*parts: str) -> str:
    """Paragraphs and headings, the empty ones left out."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def prose(docstring: str | None) -> str:
    """A docstring as Markdown: double backticks become single ones, roles become code, indented examples blocks."""
    import inspect

    text = inspect.cleandoc(docstring or "")
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text)
    text = text.replace("``", "`")
    text = re.sub(r"(?m)^((?:>>>|\.\.\.) .*(?:\n(?!\n).+)*)", r"```pycon\n\1\n```", text)
    return text.replace("<", "&lt;") if "```" not in text else text
