"""The command line itself: overview, version, errors and exit codes, whatever the command."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
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


def modules_of(*calls: Sequence[object], heavy: tuple[str, ...], folder: Path) -> str:
    """The last exit code of some commands in one process, and which of the modules they import."""
    words = [[str(argument) for argument in call] for call in calls]
    script = (
        "import sys\n"
        "from dialgauge.cli import main\n"
        f"for words in {words!r}:\n"
        "    try:\n        main(words)\n    except SystemExit as stop:\n        code = stop.code\n"
        f"    loaded = [name for name in {heavy} if name in sys.modules]\n"
        "    if code or loaded:\n        break\n"
        "print(code, *([words] if loaded else []), *loaded, file=sys.stderr)"
    )
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True, cwd=folder)
    return result.stderr.splitlines()[-1]


def test_the_overview_loads_nothing_heavy(tmp_path: Path) -> None:
    heavy = ("rich", "polars", "duckdb", "numpy", "msgspec", "httpx", "inspect", "typing")
    assert modules_of(["--help"], heavy=heavy, folder=tmp_path) == "0"


@pytest.fixture
def pair(tmp_path: Path) -> list[Path]:
    """Gold and predictions of one turn."""
    files = [tmp_path / "gold.jsonl", tmp_path / "predicted.jsonl"]
    for file, key in zip(files, ("state", "predicted"), strict=True):
        turn = {"speaker": "user", "text": "a cheap hotel please", key: {"hotel": {"pricerange": ["cheap"]}}}
        file.write_text(json.dumps({"id": "d1", "turns": [turn]}) + "\n")
    return files


def test_a_terminal_shows_the_same_table_with_styles(pair: list[Path], tmp_path: Path) -> None:
    command = [*PROGRAM, "score", *map(str, pair), "-m", "JGA,SA"]
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {"TERM": "xterm-256color", "COLUMNS": "80"}
    piped = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True, cwd=tmp_path).stdout
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL, env=environment, cwd=tmp_path) as process:
        os.close(theirs)
        shown = b"".join(iter(lambda: read_terminal(ours), b"")).decode()
    assert process.returncode == 0
    assert "\x1b[1m" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert [line.rstrip() for line in plain.splitlines()] == piped.splitlines()


def read_terminal(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux: nobody writes to this terminal any more
        return b""


def test_a_script_of_somebody_elses_goes_on_after_a_command() -> None:
    script = """
import atexit, sys
from dialgauge.cli import main

atexit.register(print, "the script's own end")
sys.argv = ["dialgauge", "--version"]
try:
    main()
except SystemExit:
    sys.exit(7)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (7, "the script's own end")
