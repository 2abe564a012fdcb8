"""Processes that die at any moment, and processes that write at the same time."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from turnwise.runs import Store

WRITER = """
import sys, polars
from turnwise.runs import Store

store, name, count = Store(sys.argv[1]), sys.argv[2], int(sys.argv[3])
frame = polars.DataFrame({"x": range(20_000)})
print("ready", flush=True)
for number in range(count):
    with store.create(kind="k", name=name, config={"number": number}) as run:
        for table in ("one", "two", "three"):
            run.table(table, frame)
        run.scores = {"number": number}
"""

RESUMING = """
import sys
import polars
from turnwise.runs import Store

with Store(sys.argv[1]).resumable(kind="lab", name="n", seed=0) as work:
    print("ready", flush=True)
    parts = work.parts("units")
    for number in range(200):
        unit = f"{number:03d}"
        if unit not in parts:
            parts[unit] = unit.encode() * 1000
    work.table("units", polars.DataFrame({"unit": list(parts), "size": [len(part) for part in parts.values()]}))
"""


def started(script: str, *arguments: object) -> subprocess.Popen[bytes]:
    """A process that has said that it is ready to write."""
    process = subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def killed(process: subprocess.Popen[bytes], after: float) -> None:
    time.sleep(after)
    process.kill()
    process.communicate()


def whole(store: Store) -> int:
    """The number of runs, after a look at every byte of every one of them."""
    runs, problems = store.survey()
    assert not problems
    for run in runs:
        run.verify()
        assert list(run.tables) == ["one", "two", "three"]
        assert run.manifest.scores == {"number": run.manifest.config["number"]}
    return len(runs)


def test_death_before_any_step_leaves_whole_runs_only(store: Store) -> None:
    program = Path(__file__).with_name("crash_points.py")
    command = [sys.executable, str(program), str(store.folder)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    create, resume, remove = map(int, result.stdout.split())
    assert create > 15
    assert resume > 20
    assert remove > 5


def test_a_kill_at_any_moment_leaves_whole_runs_only(store: Store) -> None:
    moments = random.Random(1)
    counts = [0]
    left_behind = 0
    for attempt in range(60):  # more than 12 only where the machine is so busy that little is written
        killed(started(WRITER, store.folder, "victim", 10_000), moments.uniform(0.005, 0.15))
        left_behind += len(list((store.folder / ".work").glob("*.lock")))
        counts.append(whole(store))
        if attempt >= 11 and counts[-1] >= 12 and left_behind:
            break
    assert counts == sorted(counts)
    assert counts[-1] >= 12, "the processes were killed before they wrote anything, which tests nothing"
    assert left_behind, "no process was killed while it wrote, which tests nothing"
    with store.create(kind="k", name="after"):
        pass
    assert list((store.folder / ".work").iterdir()) == []


def test_writers_at_the_same_time_do_not_clash(store: Store) -> None:
    writers = [started(WRITER, store.folder, "same", 15) for _ in range(4)]
    for writer in writers:
        writer.communicate(timeout=60)
    assert [writer.returncode for writer in writers] == [0] * 4
    assert whole(store) == 60
    assert list((store.folder / ".work").iterdir()) == []


def test_resumable_work_that_is_killed_goes_on_where_it_stopped(store: Store) -> None:
    done = [0]
    for attempt in range(40):
        process = started(RESUMING, store.folder)
        time.sleep(0.005 * (attempt + 1))  # soon enough on a fast machine, long enough in the end on a slow one
        process.kill()
        process.communicate()
        if not store.unfinished():
            break
        done.append(len(list(store.folder.glob(".work/resume-*/parts/units/*.done"))))
        assert store.list() == []
    else:
        killed(started(RESUMING, store.folder), after=20)
    assert done == sorted(done)
    assert len(done) > 1, "the work was never interrupted, which tests nothing"
    (manifest,) = store.list()
    table = store.open(manifest.id).table("units")
    assert table["unit"].to_list() == [f"{number:03d}" for number in range(200)]
    assert table["size"].to_list() == [3000] * 200


def test_a_second_process_is_refused_the_same_resumable_work(store: Store) -> None:
    holding = RESUMING.replace('parts = work.parts("units")', "import time; time.sleep(60)")
    holder = started(holding, store.folder)
    try:
        command = [sys.executable, "-c", RESUMING, str(store.folder)]
        second = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    finally:
        holder.kill()
        holder.communicate()
    assert second.returncode != 0
    assert "another process is at work on the same run" in second.stderr
    assert [path.name for path in store.folder.iterdir()] == [".work"]
