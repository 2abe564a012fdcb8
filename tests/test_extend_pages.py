"""The pages that show how to add something of one's own: their examples, installed and run."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.extend_pages import ExtendPage
from support.soak import soak


@pytest.mark.parametrize(
    ("name", "commands"), [("measure", 3), soak("ranker", 4), ("format", 3), ("agent", 2), ("kind", 2)]
)
def test_the_page_does_what_it_says(name: str, commands: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIALGAUGE_RUNS", str(tmp_path / "runs"))
    page = ExtendPage(name)
    assert len(page.commands) == commands
    page.install(tmp_path)
    page.run(tmp_path)
