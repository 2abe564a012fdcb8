"""Processes that die at any moment, and processes that write at the same time."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dialgauge.runs import Store, new_run
from support.soak import MANY, soak

WRITER = """
import os, sys, polars
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.runs import Store, new_run

store, name, count = Store(sys.argv[1]), sys.argv[2], int(sys.argv[3])
dialogues = [Dialogue(id=str(n), turns=(Turn(speaker="user", text=name),) * 10) for n in range(20)]
frame = polars.DataFrame({"x": range(20_000)})
print("ready", flush=True)
for number in range(count):
    tables = {table: frame for table in ("one", "two", "three")}
    facts = {"config": {"number": number, "writer": os.getpid()}, "details": {"number": number}}
    store.add(new_run(kind="k", name=name, tables=tables, corpus=dialogues, **facts))
    print("stored", flush=True)
"""

#: Does its work in 200 units, and kills itself in the middle of it after as many new ones as it is told.
RESUMING = """
import os, signal, sys
import polars
from dialgauge.runs import Store, new_run

left = int(sys.argv[2])
store = Store(sys.argv[1])
with store.kept_units(kind="lab", name="n", config={}) as parts:
    print("ready", flush=True)
    for number in range(200):
        unit = f"{number:03d}"
        if unit not in parts:
            parts[unit] = unit.encode() * 1000
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    table = polars.DataFrame({"unit": list(parts), "size": [len(part) for part in parts.values()]})
    store.add(new_run(kind="lab", name="n", tables={"units": table}))
"""


def started(script: str, *arguments: object) -> subprocess.Popen[str]:
    """A process that has said that it is ready to write."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert said(process) == "ready\n"
    return process


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def killed(process: subprocess.Popen[str], *, stored: int, after: float) -> None:
    """Kill a writer some time after it has stored some runs, however long that takes it."""
    for _ in range(stored):
        assert said(process) == "stored\n"
    time.sleep(after)
    process.kill()
    process.communicate()


def whole(store: Store) -> int:
    """The number of runs, after a look at every byte of every one of them."""
    runs, problems = store.survey()
    assert not problems
    for run in runs:
        run.verify()
        assert list(run.manifest.tables) == ["dialogue_scores", "one", "two", "three"]
        assert run.details == {"number": run.manifest.config["number"]}
        assert len(list(run.dialogues())) == 20
    return len(runs)


def corpora(store: Store) -> list[str]:
    folder = store.folder / "corpora"
    return [entry.name for entry in folder.iterdir() if entry.is_dir()] if folder.exists() else []


@pytest.mark.parametrize("stride", [13, soak(1)])
def test_death_before_any_step_leaves_whole_runs_only(store: Store, stride: int) -> None:
    program = Path(__file__).with_name("crash_points.py")
    # It forks on purpose, while polars' threads are idle; Python 3.12 and later warn of that.
    forking = "ignore:This process:DeprecationWarning"
    command = [sys.executable, "-W", forking, str(program), str(store.folder), str(stride)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    create, share, resume, remove_shared, remove_last = map(int, result.stdout.split())
    assert create > 40
    assert share > 25
    assert resume > 50
    assert remove_shared > 15
    assert remove_last > 15


def test_a_kill_at_any_moment_leaves_whole_runs_only(store: Store) -> None:
    moments = random.Random(1)
    counts, left_behind = [0], 0
    for attempt in range(60):
        writer = started(WRITER, store.folder, "victim", 10_000)
        killed(writer, stored=moments.randrange(3), after=moments.uniform(0, 0.05))
        left_behind += len(list((store.folder / ".work").glob("*.lock")))
        counts.append(whole(store))
        if attempt >= 7 and left_behind >= 3:
            break
    assert counts == sorted(counts)
    assert left_behind >= 3, "too few processes were killed while they wrote, which tests nothing"
    store.add(new_run(kind="k", name="after"))
    assert list((store.folder / ".work").iterdir()) == []
    assert len(corpora(store)) == (1 if counts[-1] else 0), "a corpus without a run outlived the sweep"


@pytest.mark.soak
def test_writers_at_the_same_time_do_not_clash(store: Store) -> None:
    writers = [started(WRITER, store.folder, "same", 15) for _ in range(4)]
    for writer in writers:
        writer.communicate(timeout=300)
    assert [writer.returncode for writer in writers] == [0] * 4
    assert whole(store) == 60
    assert list((store.folder / ".work").iterdir()) == []
    assert len(corpora(store)) == 1


def test_writers_and_removers_at_the_same_time_never_lose_a_corpus_in_use(store: Store) -> None:
    """All write the same corpus; whoever removes a run may find that it was the last one, or that it was not."""
    writers = [started(WRITER, store.folder, "same", 12) for _ in range(2)]
    removed = 0
    while any(writer.poll() is None for writer in writers):
        for manifest in store.list():
            store.remove(manifest.id)
            removed += 1
    for writer in writers:
        writer.communicate()
    assert [writer.returncode for writer in writers] == [0, 0]
    assert removed
    assert whole(store) == 24 - removed
    for manifest in store.list():
        store.remove(manifest.id)
    assert corpora(store) == []


def test_resumable_work_that_is_killed_goes_on_where_it_stopped(store: Store) -> None:
    step = 37 if MANY else 93
    for done in range(1, 200, step):
        process = started(RESUMING, store.folder, 1 if done == 1 else step)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert len(list(store.folder.glob(".work/resume-*/units/*.done"))) == done
        assert store.list() == [] and store.unfinished()
    process = started(RESUMING, store.folder, step)  # fewer are left
    process.communicate()
    assert process.returncode == 0
    (manifest,) = store.list()
    table = store.open(manifest.id).table("units")
    assert table["unit"].to_list() == [f"{number:03d}" for number in range(200)]
    assert table["size"].to_list() == [3000] * 200


def test_a_second_process_is_refused_the_same_resumable_work(store: Store) -> None:
    holding = RESUMING.replace("for number in range(200):", "import time; time.sleep(600)\n    for number in ():")
    holder = started(holding, store.folder, 0)
    try:
        command = [sys.executable, "-c", RESUMING, str(store.folder), "0"]
        second = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    finally:
        holder.kill()
        holder.communicate()
    assert second.returncode != 0
    assert "another process is working on the same files" in second.stderr
    assert [path.name for path in store.folder.iterdir()] == [".work"]
