"""A real Ray cluster of several nodes on this machine, whose workers and nodes can be killed and brought back."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


class Machines:
    """A head without cores, and nodes of one core each, by name."""

    def __init__(self, *nodes: str) -> None:
        from ray.cluster_utils import Cluster

        # A dead node is noticed in seconds rather than in half a minute.
        pulse = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_timeout_ms": 5000}
        head = {"num_cpus": 0, "include_dashboard": False, "_system_config": pulse}
        self._cluster: Any = Cluster(initialize_head=True, head_node_args=head)
        self._wanted = nodes
        self._nodes: dict[str, Any] = {}
        self.mend()

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    @property
    def living(self) -> list[str]:
        return list(self._nodes)

    def add(self, name: str) -> None:
        self._nodes[name] = self._cluster.add_node(num_cpus=1, object_store_memory=100 << 20)

    def mend(self) -> None:
        """Bring back the nodes that were killed."""
        for name in set(self._wanted) - self._nodes.keys():
            self.add(name)

    def kill_node(self, name: str) -> None:
        """The node's raylet and its workers, by SIGKILL."""
        workers = self.workers(name)
        self._cluster.remove_node(self._nodes.pop(name), allow_graceful=False)
        for worker in workers:
            kill(worker)

    def workers(self, name: str) -> list[int]:
        """The processes that work for us on a node."""
        raylet = self._nodes[name].all_processes["raylet"][0].process.pid
        return [pid for pid in _children(raylet) if _command(pid).startswith("ray::RayWorker")]

    def end(self) -> None:
        self._cluster.shutdown()


@contextmanager
def machines(*nodes: str) -> Iterator[Machines]:
    """A cluster for as long as the block takes."""
    made = Machines(*nodes)
    try:
        yield made
    finally:
        made.end()


def under_fire(
    command: list[str], cluster: Machines, chance: random.Random, kills: int, *, folder: Path, seconds: float = 600
) -> Counter[str]:
    """Run a command line on the cluster while its workers, its nodes and itself are killed, until it ends well.

    A command that was killed, or that says that work is left (any exit code but 0), is run again as a user would. At
    most ``kills`` are done; returned is how many of which, and how often the command was ``started``.
    """
    toll: Counter[str] = Counter()
    patience = time.monotonic() + seconds
    process = _start(command, folder, toll)
    try:
        while (code := process.poll()) != 0:
            if time.monotonic() > patience:
                raise TimeoutError(f"not done after {seconds:.0f} seconds, with {dict(toll)}")
            if code is not None:
                process = _start(command, folder, toll)
            time.sleep(chance.uniform(0.2, 1.2))
            if _killed(toll) < kills and (hit := _strike(cluster, process, chance)):
                toll[hit] += 1
            elif _killed(toll) >= kills:
                cluster.mend()
    finally:
        process.kill()
        process.wait()
    cluster.mend()
    return toll


def _strike(cluster: Machines, process: subprocess.Popen[bytes], chance: random.Random) -> str:
    """Kill something; empty where nobody is at work yet, so that every kill hits work."""
    busy = {pid: name for name in cluster.living for pid in cluster.workers(name)}
    if not busy:
        return ""
    what = chance.choices(("worker", "node", "driver"), (6, 2, 1))[0]
    victim = chance.choice(sorted(busy))
    if what == "worker":
        kill(victim)
    elif what == "driver":
        process.kill()
        process.wait()
    else:
        cluster.kill_node(busy[victim])
        if len(cluster.living) < 2 or chance.random() < 0.5:
            cluster.mend()
    return what


def _start(command: list[str], folder: Path, toll: Counter[str]) -> subprocess.Popen[bytes]:
    toll["started"] += 1
    with (folder / "said").open("ab") as said:
        return subprocess.Popen(command, cwd=folder, stdout=said, stderr=said)


def _killed(toll: Counter[str]) -> int:
    return toll.total() - toll["started"]


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, task.read_text().split())
        except OSError:
            continue
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def python(script: Path, *arguments: str) -> list[str]:
    return [sys.executable, str(script), *arguments]
