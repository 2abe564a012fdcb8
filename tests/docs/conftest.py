"""The documentation site, built once for all tests that look at it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.doc_pages import ROOT


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site: that of ``make lint`` in ``make test``, else a strict build of its own."""
    if built := os.environ.get("DIALGAUGE_SITE"):
        return Path(built)
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder
