"""``dialgauge explore`` and ``report``: they serve, open what was asked for, and end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from dialgauge.formats import write
from dialgauge.runs import Run, Store
from support.commands import Outcome, dialgauge
from support.explorer_store import tracked, tracking_store

#: Seconds: a busy machine is no fault of a page.
PATIENCE = 60


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, list[Run]]:
    return tracking_store(tmp_path_factory.mktemp("explore") / "runs", count=12)


#: Runs a command that serves pages, in this process: what it is given looks at the address that the browser gets, then
#: Ctrl-C ends it.
Visit = Callable[..., Outcome]


@pytest.fixture
def visit(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Visit:
    def visited(look: Callable[[str], object], *words: object) -> Outcome:
        seen: list[str] = []

        def opened(address: str) -> None:
            seen.append(address)
            look(address)
            os.kill(os.getpid(), signal.SIGINT)

        monkeypatch.setenv("DISPLAY", ":0")
        monkeypatch.setattr("webbrowser.open", opened)
        outcome = dialgauge(capsys, *words)
        assert outcome.code == 0, outcome.err
        assert seen and seen[0] in outcome.out
        return outcome

    return visited


@contextmanager
def serving(*arguments: object) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The command in a process of its own: the address that it prints, and the process."""
    command = [sys.executable, "-m", "dialgauge", *map(str, arguments)]
    environment = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if address := re.search(r"http://\S+", line):
                yield address[0], process
                break
        else:
            raise AssertionError(process.communicate()[1])
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_it_serves_a_store_until_it_is_stopped(stored: tuple[Store, list[Run]], how: signal.Signals, code: int) -> None:
    with serving("explore", "--store", stored[0].folder, "--port", 0, "--no-open") as (address, process):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        assert "alpha" in httpx.get(address, timeout=PATIENCE).text
        assert httpx.get(address, headers={"host": "evil.example"}).status_code == 403
        process.send_signal(how)
        assert process.wait(30) == code


@pytest.mark.parametrize(("count", "page"), [(1, "/runs/"), (2, "/compare?run=")])
def test_it_opens_the_runs_that_are_named(stored: tuple[Store, list[Run]], visit: Visit, count: int, page: str) -> None:
    names = [run.id for run in stored[1][:count]]

    def look(address: str) -> None:
        assert page in address and all(name in address for name in names)
        assert httpx.get(address, timeout=PATIENCE).status_code == 200

    visit(look, "explore", *names, "--store", stored[0].folder, "--port", 0)


def test_a_report_is_written_as_html_and_markdown(
    stored: tuple[Store, list[Run]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [run.id for run in stored[1]]
    target, summary = tmp_path / "r.html", tmp_path / "r.md"
    where = ("--store", stored[0].folder, "-o", target, "--markdown", summary)
    outcome = dialgauge(capsys, "report", *names, names[0], *where, "-n", 3)
    assert outcome.code == 0 and target.as_uri() in outcome.out
    text = target.read_text("utf-8")
    assert text.count('<section class="dialogue"') == 3
    assert "alpha" in summary.read_text("utf-8") and "| measure |" in summary.read_text("utf-8")
    screen = dialgauge(capsys, "report", names[0], "--store", stored[0].folder, "-o", target, "--markdown", "-")
    assert screen.code == 0 and "file://" not in screen.out and "file://" in screen.err


def test_the_latest_are_all_runs_of_the_last_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, seed in (("one", 1), ("two", 2), ("earlier", 3)):
        write(tracked(8, seed), tmp_path / f"{name}.jsonl", format="native")
    for files in (["earlier.jsonl"], ["one.jsonl", "two.jsonl"]):
        words = ["score", "self", *files, "--resamples", "20"]
        monkeypatch.setattr("sys.argv", ["dialgauge", *words])
        assert dialgauge(capsys, *words).code <= 1
    outcome = dialgauge(capsys, "report", "latest", "-n", 1)
    assert outcome.code == 0
    assert "latest: one, two" in outcome.err
    text = Path("report.html").read_text()
    assert "two" in text and "earlier" not in text
    assert len(Store(tmp_path / "runs").list()) == 3
