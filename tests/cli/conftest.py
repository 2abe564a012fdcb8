"""What several files of these tests need."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.tiny_world import tiny_release


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dialogs of two bAbI tasks in a small world, which no test changes."""
    return tiny_release(tmp_path_factory.mktemp("data"), (1, 2))
