"""The page that shows how to add an agent: its example, installed and run through the command line."""

from __future__ import annotations

from pathlib import Path

from support.extend_pages import ExtendPage


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    page = ExtendPage("agent")
    assert len(page.commands) == 2
    page.install(tmp_path)
    page.run(tmp_path)
