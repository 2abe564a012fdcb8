"""The command line itself: overview, version, errors and exit codes, whatever the command."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dialgauge.cli import COMMANDS, main
from dialgauge.cli.app import command
from dialgauge.cli.screen import confirm
from dialgauge.errors import DialgaugeError
from support.commands import dialgauge

PROGRAM = [sys.executable, "-m", "dialgauge"]


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Put a command ``probe`` on the command line that calls what the test gives."""

    def put(action: Callable[[], object]) -> None:
        @command("probe")
        def probe() -> object:
            """A probe."""
            return action()

        module = type(sys)("dialgauge.cli.probe")
        module.__dict__["probe"] = probe
        monkeypatch.setitem(sys.modules, "dialgauge.cli.probe", module)
        monkeypatch.setitem(COMMANDS, "probe", "a probe")

    return put


def test_an_unknown_command_gets_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = dialgauge(capsys, "rnus")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "dialgauge: unknown command 'rnus'. Did you mean 'runs'?\n"


def test_an_error_is_one_sentence_with_its_place(
    capsys: pytest.CaptureFixture[str], answers: Callable[[Callable[[], object]], None]
) -> None:
    def fail() -> None:
        raise DialgaugeError("the turns\nare out of \x1b[31morder", file="gold.json", dialogue="MUL0001", turn=3)

    answers(fail)
    outcome = dialgauge(capsys, "probe")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "dialgauge: gold.json, dialogue MUL0001, turn 3: the turns are out of \ufffd[31morder\n"
    for arguments in (["--debug", "probe"], ["probe", "--debug"]):
        with pytest.raises(DialgaugeError):
            main(arguments)


def test_a_bug_is_not_hidden(answers: Callable[[Callable[[], object]], None]) -> None:
    answers(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        main(["probe"])


def test_exits_and_interrupts_have_their_codes(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    answers: Callable[[Callable[[], object]], None],
) -> None:
    def raises(error: BaseException) -> Callable[[], object]:
        def action() -> None:
            raise error

        return action

    answers(raises(SystemExit(1)))
    assert dialgauge(capsys, "probe").code == 1
    for reply in ("n\n", "\n", ""):
        monkeypatch.setattr("sys.stdin", io.StringIO(reply))
        answers(lambda: confirm("Delete?"))
        outcome = dialgauge(capsys, "probe")
        assert outcome.code == 2
        assert outcome.err.startswith("Delete? [y/N]:")
        assert outcome.err.endswith("dialgauge: stopped\n")
    answers(raises(KeyboardInterrupt()))
    outcome = dialgauge(capsys, "probe")
    assert (outcome.code, outcome.err) == (130, "dialgauge: interrupted; what was stored is kept\n")


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["sql", "SELECT 1"], ["sql", "SELECT * FROM range(9000)", "--all"]],
)
def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path, arguments: list[str]) -> None:
    process = subprocess.Popen(
        [*PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, text=True
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert (process.stderr.read(), process.wait(timeout=300)) == ("", 0)


def cpu_seconds(pid: int) -> float:
    """What a process has used of the processors so far (fields 14 and 15 of proc(5), after the name in brackets)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs the process table of Linux")
@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_query_ends_at_once(tmp_path: Path, stop: signal.Signals) -> None:
    query = "SELECT sum(sin(a.range * b.range)) FROM range(1000000) a, range(1000000) b"
    process = subprocess.Popen([*PROGRAM, "sql", query], stderr=subprocess.PIPE, cwd=tmp_path, text=True)
    try:
        while cpu_seconds(process.pid) < 1:  # it starts in less than half of it, and the query never ends
            assert process.poll() is None
            time.sleep(0.1)
        process.send_signal(stop)
        _, told = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, told) == (-stop, "")
