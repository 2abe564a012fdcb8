"""The engine of a Ray cluster, on real clusters of this machine: same bytes, and one sentence whatever dies."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from dialgauge.engine import WorkPlace, run
from dialgauge.errors import DialgaugeError
from engine.works import Folder, Orders, begun, units_of
from support.soak import soak

pytest.importorskip("ray", reason="the extra 'ray' is not installed")

TESTS = Path(__file__).parents[1]
MIXED = "a", "fail x.json", "die-once", "long 300000", "b"

#: Does the units on a cluster (`here`: one of its own), and ends as the command line does.
SCRIPT = """
import sys
from pathlib import Path
from typing import Any
from dialgauge.engine import WorkPlace, run
from dialgauge.errors import DialgaugeError
from engine.works import Folder, Orders, units_of

place = WorkPlace("ray", 2, None if sys.argv[1] == "here" else sys.argv[1])
try:
    for done in run(Orders(Path.cwd()), units_of(*sys.argv[2:]), workers=place, done=Folder(Path("stored"))):
        pass
except (DialgaugeError, ValueError) as error:
    sys.stderr.write(f"{error}\\n")
    sys.exit(2)
"""


def driver(folder: Path, address: str, *payloads: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, address, *payloads],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(TESTS), "HOME": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.soak
def test_results_are_those_of_this_process_and_a_lost_worker_loses_nothing(tmp_path: Path) -> None:
    here = run(Orders(tmp_path), units_of("a", "fail x.json", "b", "long 300000", "b"))
    kept = {done.key: done.content for done in here if done.content is not None}
    for trace in tmp_path.glob("begun-*"):
        trace.unlink()
    process = driver(tmp_path, "here", *MIXED)
    printed, errors = process.communicate(timeout=300)
    stored = Folder(tmp_path / "stored")
    assert (process.returncode, printed, errors) == (0, "", "")
    assert dict(stored) == kept | {"u2": b"state u2 die-once"}
    assert not (tmp_path / ".ray").exists()  # a token there would change clusters that others start later


@pytest.mark.parametrize("payload", [soak("bug"), soak("die")])
def test_what_cannot_be_done_is_one_sentence(tmp_path: Path, payload: str) -> None:
    process = driver(tmp_path, "here", "a", payload)
    printed, errors = process.communicate(timeout=300)
    assert (process.returncode, printed) == (2, "")
    assert ("a bug of ours" if payload == "bug" else "run the same command again") in errors


@pytest.mark.soak
def test_a_head_that_is_gone_is_one_sentence_and_what_is_finished_is_kept(tmp_path: Path) -> None:
    from ray.cluster_utils import Cluster

    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    process = driver(tmp_path, str(cluster.address), "a", "sleep 300")
    patience = time.monotonic() + 200
    while len(begun(tmp_path)) < 2 and time.monotonic() < patience:
        time.sleep(0.1)
    head = cluster.head_node.all_processes["gcs_server"][0].process
    os.kill(head.pid, signal.SIGKILL)
    started = time.monotonic()
    printed, errors = process.communicate(timeout=120)
    assert time.monotonic() - started < 45
    assert (process.returncode, printed) == (2, "")
    assert "run the same command again" in errors and errors.count("\n") == 1
    assert dict(Folder(tmp_path / "stored")) == {"u0": b"state u0 a"}
    cluster.shutdown()


@pytest.mark.parametrize("address", ["nowhere", "localhost:", ":6379", "127.0.0.1:port"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(DialgaugeError, match="is not the address of a Ray cluster; write HOST:PORT or auto"):
        list(run(Orders(tmp_path), units_of("a"), workers=WorkPlace("ray", address=address)))


def test_an_address_where_nobody_listens_is_refused(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(DialgaugeError, match=r"there is no Ray cluster at .* \(Connection refused\)"):
            list(run(Orders(tmp_path), units_of("a"), workers=WorkPlace("ray", address=address)))
