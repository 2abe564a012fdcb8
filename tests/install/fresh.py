"""A fresh environment with dialgauge and nothing but what it requires, as ``pip install dialgauge`` makes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
#: What pip says of a registry that it cannot reach, as opposed to one that lacks a package.
_UNREACHABLE = re.compile(
    r"NewConnectionError|ConnectTimeout|ReadTimeout|ProxyError|name resolution|is unreachable|Connection refused"
)
#: Variables that would let the environment of the tests show through.
_HIDDEN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "DIALGAUGE_RUNS", "PYTHONDONTWRITEBYTECODE")


#: Runs every call of calls.json in this process, with streams of its own, and writes what came of them.
_DRIVER = """
import io, json, os, shutil, sys
from pathlib import Path
from dialgauge.cli import main

outcomes, here = [], Path.cwd()
for number, words in enumerate(json.loads(Path("calls.json").read_text())):
    folder = here / str(number)
    shutil.copytree(sys.argv[1], folder, symlinks=True)
    os.chdir(folder)
    os.environ.update(HOME=str(folder), DIALGAUGE_DATA=str(folder / "data"))
    sys.stdin = io.TextIOWrapper(io.BytesIO(b"hi\\n\\nexit\\n"), encoding="utf-8")
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    try:
        main(words)
    except SystemExit as stop:
        code = stop.code
    except BaseException as error:
        code = repr(error)
    texts = []
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8", "replace"))
    outcomes.append((code or 0, *texts))
os.chdir(here)
Path("outcomes.json").write_text(json.dumps(outcomes))
"""


class CallOutcome(NamedTuple):
    """Exit code, or the error that escaped, and what was printed."""

    code: int | str
    out: str
    err: str


@dataclass(frozen=True)
class BareInstall:
    """The environment, and a way to run its commands in a folder."""

    folder: Path

    def run(self, words: list[str], place: Path) -> subprocess.CompletedProcess[str]:
        """``dialgauge WORDS`` in the folder, offline, with the datasets and the home of nobody."""
        return self._started([str(self.folder / "bin" / "dialgauge"), *words], place)

    def run_all(self, calls: list[list[str]], files: Path, place: Path) -> list[CallOutcome]:
        """The same for many calls, each in a copy of the files; one process, as most of each would be imports."""
        (place / "calls.json").write_text(json.dumps(calls))
        done = self._started([str(self.folder / "bin" / "python"), "-c", _DRIVER, str(files)], place)
        assert done.returncode == 0, done.stderr
        return [CallOutcome(*one) for one in json.loads((place / "outcomes.json").read_text())]

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
    """The environment, made once: our wheel from pip, and links to what it requires, which is here in those versions.

    ``make release-check`` lets pip install all of it.
    """
    folder = tmp_path_factory.mktemp("bare") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, capture_output=True)
    pip = [sys.executable, "-m", "pip", "--python", str(folder), "--disable-pip-version-check", "--retries", "1"]
    done = subprocess.run(
        [*pip, "install", "--no-deps", "--no-compile", "--no-warn-script-location", str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and _UNREACHABLE.search(done.stderr):
        pytest.skip("a fresh environment cannot be filled: the package registry cannot be reached from here")
    assert done.returncode == 0, done.stderr
    [packages] = folder.glob("lib/python*/site-packages")
    [ours] = distributions(name="dialgauge", path=[str(packages)])
    for package in required_by(ours):
        for name in {file.parts[0] for file in package.files or () if file.parts[0] not in ("..", "__pycache__")}:
            (packages / name).symlink_to(str(package.locate_file(name)))
    yield BareInstall(folder)


def required_by(package: Distribution) -> list[Distribution]:
    """What a package requires without any extra, and what that requires in turn."""
    found: dict[str, Distribution] = {}
    waiting = [(package, frozenset({""}))]
    while waiting:
        asking, extras = waiting.pop()
        for line in asking.requires or ():
            needed = Requirement(line)
            name = canonicalize_name(needed.name)
            wanted = needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras)
            if wanted and name not in found:
                found[name] = distribution(name)
                assert found[name].version in needed.specifier, line
                waiting.append((found[name], frozenset({"", *needed.extras})))
    return list(found.values())
