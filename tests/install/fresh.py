"""A fresh environment with dialgauge and nothing but what it requires, as ``pip install dialgauge`` makes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: What pip says of a registry that it cannot reach, as opposed to one that lacks a package.
_UNREACHABLE = re.compile(
    r"NewConnectionError|ConnectTimeout|ReadTimeout|ProxyError|name resolution|is unreachable|Connection refused"
)
#: Variables that would let the environment of the tests show through.
_HIDDEN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "DIALGAUGE_RUNS", "PYTHONDONTWRITEBYTECODE")


@dataclass(frozen=True)
class BareInstall:
    """The environment, and a way to run its commands in a folder."""

    folder: Path

    def run(self, words: list[str], place: Path) -> subprocess.CompletedProcess[str]:
        """``dialgauge WORDS`` in the folder, offline, with the datasets and the home of nobody."""
        return self._started([str(self.folder / "bin" / "dialgauge"), *words], place)

    def python(self, code: str, place: Path) -> subprocess.CompletedProcess[str]:
        """A line of Python."""
        return self._started([str(self.folder / "bin" / "python"), "-c", code], place)

    def _started(self, command: list[str], place: Path) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if name not in _HIDDEN}
        own = {"HOME": str(place), "DIALGAUGE_DATA": str(place / "data"), "DIALGAUGE_OFFLINE": "1", "COLUMNS": "80"}
        return subprocess.run(
            command, cwd=place, env=kept | own, input="hi\n\nexit\n", capture_output=True, text=True, check=False
        )


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BareInstall]:
    """The environment, made once; the versions are those of our lock, so that the same code gives the same verdict."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, capture_output=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder), "--disable-pip-version-check", "--retries", "1"]
    options = ["--no-compile", "--no-warn-script-location", "--constraint", str(ROOT / "requirements.lock")]
    done = subprocess.run(
        [*pip, "install", *options, str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and _UNREACHABLE.search(done.stderr):
        pytest.skip("a fresh environment cannot be filled: the package registry cannot be reached from here")
    assert done.returncode == 0, done.stderr
    yield BareInstall(folder)
