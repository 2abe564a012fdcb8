"""Several commands, three engines, the same bytes; and what each command says when an engine cannot be had."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dialgauge.runs import Store
from support.commands import dialgauge
from support.engine_commands import commands, prepare, stored_content

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("engines") / "files"
    prepare(folder)
    return folder


def all_commands(files: Path, store: Path, *options: str, hash_seed: int) -> dict[str, Any]:
    """What the commands store when they are run with options, in a process with a hash seed of its own."""
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "XDG_CACHE_HOME": str(store.parent / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", "support.engine_commands", str(files), str(store), "all", *options],
        cwd=TESTS, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "ray" not in done.stderr.lower()
    return stored_content(store)


@pytest.fixture(scope="module")
def here(files: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return all_commands(files, tmp_path_factory.mktemp("here") / "store", "--engine", "local", hash_seed=1)


@pytest.mark.soak
@pytest.mark.parametrize("workers", [1, 2])
def test_a_pool_stores_the_same_bytes(files: Path, here: dict[str, Any], tmp_path: Path, workers: int) -> None:
    options = ("--engine", "pool", "--workers", str(workers))
    assert all_commands(files, tmp_path / "store", *options, hash_seed=2 + workers) == here


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    made.add_node(num_cpus=1)
    made.add_node(num_cpus=1)
    yield str(made.address)
    made.shutdown()  # type: ignore[no-untyped-call]


@pytest.mark.soak
def test_a_cluster_of_several_nodes_stores_the_same_bytes(
    files: Path, here: dict[str, Any], tmp_path: Path, cluster: str
) -> None:
    assert all_commands(files, tmp_path / "store", "--engine", "ray", "--address", cluster, hash_seed=9) == here


def test_what_does_not_fit_together_is_one_sentence(
    capsys: pytest.CaptureFixture[str], files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for command in commands(files):
        for options, message in (
            (("--engine", "cloud"), "there is no engine named 'cloud'"),
            (("--engine", "pool", "--address", "a:1"), "--address names a Ray cluster, but the engine is pool"),
            (("--engine", "local", "--workers", 2), "the local engine uses this one process"),
        ):
            outcome = dialgauge(capsys, *command, "--store", tmp_path / "store", *options)
            assert (outcome.code, outcome.out) == (2, ""), command
            assert message in outcome.err and len(outcome.err.splitlines()) == 1
    assert Store(tmp_path / "store").list() == []
