"""Fixtures every test may use. The real data is never part of the project; without it, its tests skip and say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.shared import shared_folder


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with the real data (``../shared/data``)."""
    return _folder("data")


@pytest.fixture(scope="session")
def expected() -> Path:
    """The folder with the values the real data must give (``../shared/expected``)."""
    return _folder("expected")


def _folder(name: str) -> Path:
    folder = shared_folder(name)
    if folder is None:
        pytest.skip(f"the real {name} is not here: set DIALGAUGE_DATA to the folder shared/data")
    return folder
