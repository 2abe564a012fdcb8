"""The page that shows how to connect a system: its files written, its commands run."""

from __future__ import annotations

from pathlib import Path

from support.extend_pages import ExtendPage


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    page = ExtendPage("system")
    assert len(page.commands) == 3
    page.write(tmp_path)
    page.run(tmp_path)
