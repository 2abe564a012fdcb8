from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialgauge.engine import map_ordered
from dialgauge.errors import DialgaugeError


@pytest.mark.parametrize("workers", [None, 1, 2, 0])
@pytest.mark.parametrize("chunk", [1, 7])
def test_results_keep_the_order_whatever_the_workers(workers: int | None, chunk: int) -> None:
    assert list(map_ordered(math.isqrt, range(40), workers=workers, chunk=chunk)) == [math.isqrt(n) for n in range(40)]


@given(st.lists(st.integers(min_value=0)), st.integers(1, 5))
def test_one_process_is_map(items: list[int], chunk: int) -> None:
    assert list(map_ordered(math.isqrt, items, chunk=chunk)) == [math.isqrt(n) for n in items]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_the_function_is_raised_here(workers: int) -> None:
    with pytest.raises(ValueError, match="nonnegative"):
        list(map_ordered(math.isqrt, [4, 1, -1, 9], workers=workers))


def test_items_are_taken_as_needed() -> None:
    taken = []

    def endless() -> Iterator[int]:
        number = 0
        while True:
            taken.append(number)
            yield number
            number += 1

    results = map_ordered(math.isqrt, endless(), workers=2)
    assert [next(results) for _ in range(3)] == [0, 1, 1]
    results.close()  # type: ignore[attr-defined]
    assert len(taken) < 20


#: Eight items in two workers: each leaves a file when it begins; the item FAILS fails, the others take SECONDS.
SCRIPT = """
import sys, time
from pathlib import Path
from dialgauge.engine import map_ordered

def work(number):
    Path(f"begun-{number}").touch()
    if number == FAILS:
        raise ValueError
    time.sleep(SECONDS)

if __name__ == "__main__":
    list(map_ordered(work, range(8), workers=2))
"""


def started(folder: Path, fails: int, seconds: int) -> subprocess.Popen[bytes]:
    """The script at work, with Ctrl-C as in a terminal."""
    script = folder / "script.py"
    script.write_text(SCRIPT.replace("FAILS", str(fails)).replace("SECONDS", str(seconds)))
    return subprocess.Popen(
        [sys.executable, script],
        cwd=folder,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def begun(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("begun-*")}


def test_after_an_error_nothing_new_is_begun(tmp_path: Path) -> None:
    assert started(tmp_path, fails=0, seconds=2).wait(60) == 1
    assert begun(tmp_path) <= {"begun-0", "begun-1", "begun-2"}


def test_the_keyboard_stops_the_workers_and_what_waits_for_them(tmp_path: Path) -> None:
    process = started(tmp_path, fails=-1, seconds=300)
    patience = time.monotonic() + 60
    while len(begun(tmp_path)) < 2 and time.monotonic() < patience:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    try:
        assert process.wait(60) != 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert begun(tmp_path) == {"begun-0", "begun-1"}


@pytest.mark.parametrize(("workers", "chunk"), [(-1, 1), (2, 0)])
def test_impossible_settings_are_refused(workers: int, chunk: int) -> None:
    with pytest.raises(DialgaugeError, match="workers must be 0 or more"):
        list(map_ordered(math.isqrt, [1], workers=workers, chunk=chunk))
