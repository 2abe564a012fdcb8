"""The small form of the fuzzing, with the other tests: a few seeded cases of every target. ``make fuzz`` is long."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dialgauge.errors import DialgaugeError
from fuzz import session
from fuzz.session import HangError, Tally, case_content, guarded, run_case, schedule
from fuzz.target import Target
from fuzz.targets import targets
from support.soak import examples

SEED = 20261115


@pytest.mark.parametrize("name", sorted(targets()))
def test_damaged_input_is_read_or_refused(name: str) -> None:
    target, tally = targets()[name], Tally()
    cases = min(target.weight, examples(40))
    for case in range(cases):
        guarded(target, SEED, case, tally)
    assert not tally.findings, "\n\n".join(map(str, tally.findings))
    assert tally.runs[name] == cases


def test_what_is_damaged_was_sound_before() -> None:
    sound = [(name, seed) for name, target in sorted(targets().items()) for seed in target.seeds()]
    assert len({name for name, _ in sound}) > 20
    for name, seed in sound:
        assert run_case(targets()[name], seed) is None, name


def test_a_case_is_made_again_from_its_number() -> None:
    for target in targets().values():
        assert case_content(target, 1, 7) == case_content(target, 1, 7)
        assert len({case_content(target, 1, case) for case in range(20)}) > 1


def test_the_schedule_gives_each_target_its_share_and_no_case_twice() -> None:
    names = ["read:babi", "score", "recognise"]
    weights = {name: targets()[name].weight for name in names}
    cases = [
        (target.name, case)
        for (target, case), _ in zip(schedule(names), range(3 * sum(weights.values())), strict=False)
    ]
    assert len(set(cases)) == len(cases)
    assert {name: sum(one == name for one, _ in cases) for name in names} == {
        name: 3 * weight for name, weight in weights.items()
    }
    assert [cases[40]] == [(target.name, case) for (target, case), _ in zip(schedule(names, 40), "x", strict=False)]


@pytest.mark.skipif(sys.platform != "linux", reason="children and states of processes are read from /proc")
def test_a_working_process_ends_with_the_one_that_watches_it() -> None:
    """Even if the watching one is killed and the working one is stuck: here it is stopped, and can do nothing."""
    command = [sys.executable, "-m", "fuzz", "--seconds", "600", "--target", "read:babi"]
    watching = subprocess.Popen(command, cwd=Path(__file__).parents[1], stdout=subprocess.DEVNULL)
    child = 0
    try:
        child = eventually(lambda: first_child(watching.pid))
        eventually(lambda: cpu_seconds(child) > 1)  # it starts in less
        os.kill(child, signal.SIGSTOP)
        watching.kill()
        watching.wait()
        assert eventually(lambda: state(child) in ("Z", ""))
    finally:
        watching.kill()
        if child and state(child) not in ("Z", ""):
            os.kill(child, signal.SIGKILL)


def eventually(look: Callable[[], Any], tries: int = 600) -> Any:
    for _ in range(tries):
        if answer := look():
            return answer
        time.sleep(0.1)
    return None


def first_child(process: int) -> int:
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return int(children[0]) if children else 0


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def state(process: int) -> str:
    """One letter of proc(5); nothing for a process that is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def noted(run: Target) -> str:
    tally = Tally()
    guarded(run, 0, 0, tally)
    return tally.findings[0].what if tally.findings else ""


def test_the_guard_notices_what_it_is_there_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(session, "FINDINGS", tmp_path)

    class PanicException(BaseException):
        pass

    def target(error: BaseException | None) -> Target:
        def run(content: bytes, folder: object) -> None:
            if error is not None:
                raise error
            while True:
                pass

        return Target("probe", lambda chance: b"", run)

    assert noted(target(DialgaugeError("the file is empty"))) == ""
    assert "KeyError" in noted(target(KeyError("x")))
    assert "PanicException" in noted(target(PanicException("x")))
    assert "an error without a word" in noted(target(DialgaugeError("")))
    monkeypatch.setattr(session, "MOST_SECONDS", 0.05)
    assert HangError.__name__ in noted(target(None))
    monkeypatch.setattr(session, "MOST_MEMORY", 1)
    peaks = iter([10, 11])
    monkeypatch.setattr(session, "peak_memory", lambda: next(peaks))
    assert noted(target(DialgaugeError("the file is empty"))) == "the process grew to 11 bytes"
    peaks = iter([10, 10])
    assert noted(target(DialgaugeError("the file is empty"))) == ""
