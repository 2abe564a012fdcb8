"""Fixtures every test may use. The real data is never part of the project; without it, its tests skip and say so."""

from __future__ import annotations

import os

# Before anything imports polars or numpy: two workers of pytest share the processors, and threads that wait for work of
# a few rows only burn them. What a test starts inherits it.
os.environ.update(POLARS_MAX_THREADS="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import gc
import signal
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from dialgauge import plugins
from support.shared import shared_folder

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from support.workbench import Workbench

# No deadline: a busy machine is no fault of the code. `make test` tries the same examples every time, so that
# it says the same of the same code, and few; `make check` tries fewer, `make soak` six times as many, `make properties`
# draws new ones.
settings.register_profile("few", deadline=None, derandomize=True, database=None, max_examples=5)
settings.register_profile("same", deadline=None, derandomize=True, database=None, max_examples=15)
settings.register_profile("more", deadline=None, derandomize=True, database=None)
settings.register_profile("new", deadline=None)
settings.load_profile(os.environ.get("DIALGAUGE_EXAMPLES", "same"))
# All of the house is imported before long, and to look through it for garbage every few hundred objects takes long.
gc.set_threshold(50_000, 20, 50)
# Tests press Ctrl-C, and a shell that starts them in the background has them, and all that they start, ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are stored in the folder of the test."""
    monkeypatch.setenv("DIALGAUGE_RUNS", str(tmp_path / "runs"))


@pytest.fixture
def own_folder(own_store: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test works in its own folder, too."""
    monkeypatch.chdir(tmp_path)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Print, after pytest's own last line, how many tests of tests/numbers ran and how many had no data."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:  # a worker of xdist, whose reports the main process has
        return

    def oracles(*outcomes: str) -> int:
        reports = [report for outcome in outcomes for report in reporter.stats.get(outcome, ())]
        return len({report.nodeid for report in reports if report.nodeid.startswith("tests/numbers/")})

    ran, skipped = oracles("passed", "failed", "error"), oracles("skipped")
    left = [item for item in reporter.stats.get("deselected", ()) if item.get_closest_marker("long")]
    if ran or skipped:
        others = f", {len(left):,} left to make test" if left else ""
        reporter.write_line(f"Oracles: {ran:,} ran, {skipped:,} skipped for lack of data{others}")


@pytest.fixture(scope="session", autouse=True)
def only_plugins_that_tests_install() -> Iterator[None]:
    """Whatever else is installed where the tests run is not seen by them: only folders they put on the path."""
    before = frozenset(sys.path)

    @cache
    def scan(path: tuple[str, ...]) -> list[tuple[str, plugins.Plugin[Any]]]:
        return scan_all(tuple(folder for folder in path if folder not in before))

    scan_all = plugins._scan.__wrapped__
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(plugins, "_scan", scan)
        yield


@pytest.fixture(scope="session", autouse=True)
def real_files_are_read_once() -> Iterator[None]:
    """Reading takes longer than most of what is then asserted of the real data."""
    from support.read_once import real_files_read_once

    with real_files_read_once():
        yield


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    """Files, runs of every kind and sound calls of every command: one folder for the session, which no test changes."""
    from support.workbench import build  # which imports most of the house

    return build(tmp_path_factory.mktemp("workbench"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a session."""
    from support.browser import browsing

    with browsing() as started:
        yield started


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
