"""What several files of these tests need."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.tiny_world import tiny_release


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dialogs of two bAbI tasks in a small world, which no test changes."""
    return tiny_release(tmp_path_factory.mktemp("data"), (1, 2))


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are stored in the folder of the test."""
    monkeypatch.setenv("DIALGAUGE_RUNS", str(tmp_path / "runs"))


@pytest.fixture
def own_folder(own_store: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test works in its own folder, too."""
    monkeypatch.chdir(tmp_path)
