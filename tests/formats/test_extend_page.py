"""The page that shows how to add a format: its example, installed and run through the command line."""

from __future__ import annotations

from pathlib import Path

from support.extend_pages import ExtendPage


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    page = ExtendPage("format")
    assert len(page.commands) == 3
    page.install(tmp_path)
    page.run(tmp_path)
    shown = [line.rpartition(",")[0] for line in page.files["calls.csv"].splitlines()]
    assert (tmp_path / "again.csv").read_text() == "\n".join(shown) + "\n"
    code = page.files["call_centre.py"].partition("class CallCentre")[2].splitlines()
    assert len([line for line in code if line.strip()]) < 40
