"""The workbench: files, runs and sound calls of every command, made once."""

from __future__ import annotations

import pytest

from support.workbench import Workbench, build


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    """One folder for all tests of the session, which none of them changes."""
    return build(tmp_path_factory.mktemp("workbench"))
