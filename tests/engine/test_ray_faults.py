"""A real Ray cluster of several nodes whose parts die: same bytes, at most one batch of work lost."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialgauge.engine import Done, Unit, WorkPlace, run
from engine import ray_works
from engine.ray_works import DeadlyOrders
from engine.test_ends import wait_until
from engine.works import Folder, begun, units_of
from support.ray_machines import Machines, alive, bytes_of, kill, machines, python, under_fire

pytest.importorskip("ray", reason="the extra 'ray' is not installed")
pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads the process table of Linux"),
]


@pytest.fixture(scope="module")
def started() -> Iterator[Machines]:
    with machines("one", "two") as made:
        yield made


@pytest.fixture
def cluster(started: Machines) -> Machines:
    """Both nodes, whatever the test before has killed."""
    started.mend()
    return started


def undisturbed(units: list[Unit[str]]) -> list[bytes]:
    return [f"state {unit.key} {unit.payload}".encode() for unit in units]


def contents(results: list[Done]) -> list[bytes | None]:
    return [done.content for done in results]


def redone(folder: Path) -> int:
    """How many units were begun more often than once, each time counted."""
    return sum(len(workers) - 1 for workers in begun(folder).values())


def test_a_worker_that_is_killed_costs_one_batch(tmp_path: Path, cluster: Machines) -> None:
    units = units_of(*["sleep 0.3"] * 12)
    results, killed = [], False
    for done in run(DeadlyOrders(tmp_path), units, workers=WorkPlace("ray", address=cluster.address), chunk=2):
        results.append(done)
        if not killed and (working := cluster.workers("two")):
            kill(working[0])
            killed = True
    assert killed
    assert contents(results) == undisturbed(units)
    assert redone(tmp_path) <= 2


@pytest.mark.parametrize("order", ["segfault", "hog"])
def test_a_poisoned_unit_fails_alone(tmp_path: Path, cluster: Machines, order: str) -> None:
    units = units_of("a", order, "b", "c")
    results = list(run(DeadlyOrders(tmp_path), units, workers=WorkPlace("ray", address=cluster.address)))
    assert [done.key for done in results if done.failure] == ["u1"]
    assert "4 workers died while they worked on it" in (results[1].failure or "")
    assert [done.content for done in results if done.key != "u1"] == [b"state u0 a", b"state u2 b", b"state u3 c"]


def test_nodes_die_down_to_the_last_and_others_come(tmp_path: Path, cluster: Machines) -> None:
    units = units_of(*["sleep 0.4"] * 24)
    results = []
    for done in run(DeadlyOrders(tmp_path), units, workers=WorkPlace("ray", 2, cluster.address)):
        results.append(done)
        if len(results) == 3:
            cluster.kill_node("two")
        elif len(results) == 8:
            cluster.add("two")
            cluster.kill_node("one")
    assert contents(results) == undisturbed(units)
    assert redone(tmp_path) <= 2


def test_a_killed_driver_takes_its_workers_along_and_is_taken_up_where_it_was(
    tmp_path: Path, cluster: Machines
) -> None:
    payloads = ["sleep 0.3"] * 10
    command = python(Path(ray_works.__file__), cluster.address, "out", *payloads)
    driver = subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])})
    stored = Folder(tmp_path / "stored")
    assert wait_until(lambda: len(stored) >= 3)
    driver.kill()
    driver.wait()
    workers = {int(pid) for pids in begun(tmp_path).values() for pid in pids}
    assert wait_until(lambda: not any(map(alive, workers)))
    before, traces = dict(stored), begun(tmp_path)
    results = list(
        run(DeadlyOrders(tmp_path), units_of(*payloads), workers=WorkPlace("ray", address=cluster.address), done=stored)
    )
    assert contents(results) == undisturbed(units_of(*payloads))
    assert all(begun(tmp_path)[key] == traces[key] for key in before)
    assert redone(tmp_path) <= 2


def test_random_kills_change_no_byte(tmp_path: Path, cluster: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    payloads = [f"sleep {number % 3 / 5}" for number in range(60)]
    command = python(Path(ray_works.__file__), cluster.address, "out", *payloads)
    toll = under_fire(command, cluster, random.Random(6), 6, folder=tmp_path, seconds=300)
    assert toll.total() - toll["started"] >= 2
    assert (tmp_path / "out").read_bytes() == b"\n".join(undisturbed(units_of(*payloads)))
    assert bytes_of(tmp_path / "stored") == {
        unit.key: content for unit, content in zip(units_of(*payloads), undisturbed(units_of(*payloads)), strict=True)
    }
    assert redone(tmp_path) <= toll["worker"] + toll["node"] + 2 * toll["driver"]
