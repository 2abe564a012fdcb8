"""How work ends that is not allowed to finish: real processes, real signals, and nobody left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from dialgauge.engine import run
from engine.works import Folder, Orders, begun, opened, units_of
from support.soak import soak

TESTS = Path(__file__).parents[1]

SCRIPT = """
import sys
from pathlib import Path
from dialgauge.engine import run
from engine.works import Folder, Orders, units_of

if __name__ == "__main__":
    payloads = sys.argv[1:]
    for done in run(Orders(Path.cwd()), units_of(*payloads), workers=3, done=Folder(Path("stored"))):
        print(done, flush=True)
"""


def start(folder: Path, *payloads: str) -> subprocess.Popen[str]:
    """The script at work in a session of its own, with Ctrl-C as in a terminal."""
    (folder / "script.py").write_text(SCRIPT)
    return subprocess.Popen(
        [sys.executable, "script.py", *payloads],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> bool:
    patience = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > patience:
            return False
        time.sleep(0.02)
    return True


def session(process: subprocess.Popen[str]) -> list[int]:
    """The living processes of the script's session, whoever their parent is now."""
    members = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, number = stat.read_text().rpartition(")")[2].split()[:4]
        except (OSError, ValueError):
            continue
        if int(number) == process.pid and state != "Z":
            members.append(int(stat.parent.name))
    return members


def nobody_is_left(process: subprocess.Popen[str]) -> bool:
    gone = wait_until(lambda: not session(process), 20)
    for survivor in session(process):
        os.kill(survivor, signal.SIGKILL)
    return gone


pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads the process table of Linux")


@pytest.mark.parametrize("moment", [soak(0.05), 0.15, soak(0.3), soak("opened"), "begun"])
def test_workers_end_when_their_parent_is_killed(tmp_path: Path, moment: float | str) -> None:
    process = start(tmp_path, *["sleep 300"] * 5)
    if isinstance(moment, float):
        time.sleep(moment)
    elif moment == "opened":
        assert wait_until(lambda: opened(tmp_path) > 0)
    else:
        assert wait_until(lambda: len(begun(tmp_path)) == 3)
        assert len(session(process)) >= 4
    process.kill()
    process.communicate(timeout=60)
    assert nobody_is_left(process)


@pytest.mark.parametrize("moment", ["started", "begun"])
def test_the_keyboard_stops_everything_with_one_traceback_at_most(tmp_path: Path, moment: str) -> None:
    process = start(tmp_path, *["sleep 300"] * 8)
    wait_until(lambda: len(session(process)) > 3 if moment == "started" else len(begun(tmp_path)) == 3)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert errors.count("Traceback") == errors.count("KeyboardInterrupt") == 1
    assert nobody_is_left(process)
    assert len(begun(tmp_path)) <= 3


@pytest.mark.parametrize("finished", [soak(1), 4, soak(9)])
def test_after_a_kill_only_what_is_missing_is_done(tmp_path: Path, finished: int) -> None:
    payloads = ["sleep 0.1", "fail x.json", *["sleep 0.1"] * 12]
    whole = tmp_path / "whole"
    whole.mkdir()
    expected = list(run(Orders(whole), units_of(*payloads)))

    process = start(tmp_path, *payloads)
    stored = Folder(tmp_path / "stored")
    assert wait_until(lambda: len(stored) >= finished)
    process.kill()
    process.communicate(timeout=60)
    assert nobody_is_left(process)
    before = dict(stored)
    for trace in tmp_path.glob("begun-*"):
        trace.unlink()
    assert list(run(Orders(tmp_path), units_of(*payloads), workers=2, done=stored)) == expected
    assert set(begun(tmp_path)) == {f"u{number}" for number in range(len(payloads))} - set(before)
    assert dict(stored) == {done.key: done.content for done in expected if done.content is not None}
