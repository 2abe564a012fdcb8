"""The engine of a Ray cluster, on real clusters of this machine: same bytes, and nothing lost whatever dies."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dialgauge.engine import Done, Place, run
from dialgauge.errors import DialgaugeError
from engine.works import Folder, Orders, begun, units_of

ray = pytest.importorskip("ray", reason="the extra 'ray' is not installed")

MIXED = units_of("a", "sleep 0.2", "fail x.json", "b", "c", "long 300000", "d", "fail y.json", "e")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head without cores for us, and two nodes of one core each."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    made.add_node(num_cpus=1)
    made.add_node(num_cpus=1)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def place(cluster: Any) -> Place:
    return Place("ray", address=cluster.address)


def test_results_are_those_of_this_process_in_order(tmp_path: Path, place: Place) -> None:
    here = list(run(Orders(tmp_path), MIXED))
    assert here[2] == Done("u2", None, "x.json: nothing to be done")
    for workers, chunk in ((1, 1), (2, 1), (2, 4), (0, 3)):
        assert list(run(Orders(tmp_path), MIXED, workers=place._replace(workers=workers), chunk=chunk)) == here


def test_a_bug_is_raised_with_the_worker_s_traceback(tmp_path: Path, place: Place) -> None:
    with pytest.raises(ValueError, match="a bug of ours") as caught:
        list(run(Orders(tmp_path), units_of("a", "bug"), workers=place))
    assert "works.py" in str(caught.value.__cause__)


def test_a_worker_that_dies_loses_nothing_and_a_deadly_unit_fails_alone(tmp_path: Path, place: Place) -> None:
    payloads = ["a", "die-once", "b", "die", "c", "exit 3"]
    results = list(run(Orders(tmp_path), units_of(*payloads), workers=place))
    assert [done.key for done in results if done.failure] == ["u3", "u5"]
    assert "4 workers died while they worked on it" in (results[3].failure or "")
    assert results[1].content == b"state u1 die-once"
    assert len(begun(tmp_path)["u1"]) == 2 and len(begun(tmp_path)["u3"]) == 4
