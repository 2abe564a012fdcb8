"""The engine of a Ray cluster, on real clusters of this machine: same bytes, and nothing lost whatever dies."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from dialgauge.engine import Done, WorkPlace, run
from dialgauge.errors import DialgaugeError
from engine import ray_works
from engine.test_ends import TESTS, nobody_is_left, session, wait_until
from engine.works import Folder, Orders, begun, units_of
from support.ray_machines import Machines, kill, machines
from support.soak import some

pytest.importorskip("ray", reason="the extra 'ray' is not installed")

MIXED = units_of("a", "sleep 0.2", "fail x.json", "b", "c", "long 300000", "d", "fail y.json", "e")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Machines]:
    with machines("one", "two") as made:
        yield made


@pytest.fixture
def place(cluster: Machines) -> WorkPlace:
    return WorkPlace("ray", address=cluster.address)


def test_results_are_those_of_this_process_in_order(tmp_path: Path, place: WorkPlace) -> None:
    here = list(run(Orders(tmp_path), MIXED))
    assert here[2] == Done("u2", None, "x.json: nothing to be done")
    for workers, chunk in some([(2, 4), (1, 1), (2, 1), (0, 3)]):
        assert list(run(Orders(tmp_path), MIXED, workers=place._replace(workers=workers), chunk=chunk)) == here


def test_a_bug_is_raised_with_the_worker_s_traceback(tmp_path: Path, place: WorkPlace) -> None:
    with pytest.raises(ValueError, match="a bug of ours") as caught:
        list(run(Orders(tmp_path), units_of("a", "bug"), workers=place))
    assert "works.py" in str(caught.value.__cause__)


def test_a_worker_that_dies_loses_nothing_and_a_deadly_unit_fails_alone(tmp_path: Path, place: WorkPlace) -> None:
    payloads = ["a", "die-once", "b", "die", "c", "exit 3"]
    results = list(run(Orders(tmp_path), units_of(*payloads), workers=place))
    assert [done.key for done in results if done.failure] == ["u3", "u5"]
    assert "4 workers died while they worked on it" in (results[3].failure or "")
    assert results[1].content == b"state u1 die-once"
    assert len(begun(tmp_path)["u1"]) == 2 and len(begun(tmp_path)["u3"]) == 4


@pytest.mark.parametrize("address", ["nowhere", "localhost:", ":6379", "127.0.0.1:port"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(DialgaugeError, match="is not the address of a Ray cluster; write HOST:PORT or auto"):
        list(run(Orders(tmp_path), MIXED, workers=WorkPlace("ray", address=address)))


def test_an_address_where_nobody_listens_is_refused(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(DialgaugeError, match=r"there is no Ray cluster at .* \(Connection refused\); start one"):
            list(run(Orders(tmp_path), MIXED, workers=WorkPlace("ray", address=address)))


@pytest.mark.parametrize(
    ("given", "file", "sentence"),
    [
        ({}, False, "it wants a token, and none is set here; set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to its token"),
        (
            {},
            True,
            "it wants a token, and none was sent; set RAY_AUTH_MODE=token to send the one in HOME/.ray/auth_token",
        ),
        (
            {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "x"},
            True,
            "it wants another token than the one in RAY_AUTH_TOKEN",
        ),
        ({"RAY_AUTH_MODE": "token"}, True, "it wants another token than the one in HOME/.ray/auth_token"),
    ],
)
def test_a_cluster_that_wants_a_token_is_refused_without_ray_s_own_words(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    given: dict[str, str],
    file: bool,
    sentence: str,
) -> None:
    said = b"gcs_client.cc: Failed: Unauthenticated: RPC error: InvalidAuthToken\nFailed to connect to Ray cluster"
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 1, b"", said))
    monkeypatch.setattr("dialgauge.engine.ray_cluster._require_listener", lambda *_: None)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    if file:
        (tmp_path / ".ray").mkdir()
        (tmp_path / ".ray" / "auth_token").touch()
    with pytest.raises(DialgaugeError) as refused:
        list(run(Orders(tmp_path), MIXED, workers=WorkPlace("ray", address="127.0.0.1:1")))
    assert f"({sentence.replace('HOME', str(tmp_path))}" in str(refused.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.soak
def test_what_never_answers_as_ray_does_is_given_up_also_where_interrupts_are_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell lets commands that a script starts in the background ignore Ctrl-C."""
    monkeypatch.setattr("dialgauge.engine.ray_cluster.CONNECTING", 4.0)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with socket.create_server(("", 0)) as server:
            callers: list[threading.Thread] = []
            threading.Thread(target=_say_nothing, args=(server, callers), daemon=True).start()
            begun = time.monotonic()
            with pytest.raises(DialgaugeError, match="does not answer as a Ray cluster does"):
                address = f"127.0.0.1:{server.getsockname()[1]}"
                list(run(Orders(tmp_path), MIXED, workers=WorkPlace("ray", address=address)))
            assert time.monotonic() - begun < 20  # Ray looks up every 30 seconds
            assert len(callers) > 1  # we knocked, and Ray tried
            assert wait_until(lambda: not any(one.is_alive() for one in callers))  # nobody is left who tries
    finally:
        signal.signal(signal.SIGINT, before)


def _say_nothing(server: socket.socket, callers: list[threading.Thread]) -> None:
    """Take every call and say nothing, until the callers hang up."""

    def hold(caller: socket.socket) -> None:
        with caller, suppress(OSError):
            while caller.recv(4096):
                pass

    with suppress(OSError):
        while True:
            callers.append(threading.Thread(target=hold, args=(server.accept()[0],), daemon=True))
            callers[-1].start()


@pytest.mark.soak
def test_workers_of_another_source_are_refused(
    tmp_path: Path, place: WorkPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dialgauge.engine.ray_engine.own_source", lambda: "another")
    with pytest.raises(DialgaugeError, match="has a different dialgauge from this process"):
        list(run(Orders(tmp_path), MIXED, workers=place))
    assert begun(tmp_path) == {}


@pytest.mark.soak
def test_a_lost_head_is_one_sentence_and_what_is_finished_is_kept(
    tmp_path: Path, place: WorkPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dialgauge.engine.ray_engine._PULSE", 0.2)
    monkeypatch.setattr("dialgauge.engine.ray_engine._HEADLESS", 0.5)
    monkeypatch.setattr(
        "dialgauge.engine.ray_cluster.RayConnection.head_answers", lambda self: not begun(tmp_path).get("u1")
    )
    stored = Folder(tmp_path / "stored")
    with pytest.raises(DialgaugeError, match=r"the head of the Ray cluster at .* is gone\. What is finished is kept"):
        list(run(Orders(tmp_path), units_of("a", "sleep 300"), workers=place, done=stored))
    assert dict(stored) == {"u0": b"state u0 a"}


# -- a cluster of this machine ---------------------------------------------------------------------------------------


def driver(folder: Path, *payloads: str) -> subprocess.Popen[str]:
    """The command line in a session of its own, on a cluster it starts for itself."""
    return subprocess.Popen(
        [sys.executable, ray_works.__file__, "here", "out", *payloads],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(TESTS), "HOME": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.soak
def test_nothing_of_ray_s_own_is_printed_when_a_worker_dies(tmp_path: Path) -> None:
    process = driver(tmp_path, "a", "die-once", "b")
    printed, errors = process.communicate(timeout=240)
    assert (process.returncode, printed, errors) == (0, "", "")
    assert (tmp_path / "out").read_bytes() == b"state u0 a\nstate u1 die-once\nstate u2 b"
    assert nobody_is_left(process)
    assert not (tmp_path / ".ray").exists()  # a token there would change clusters that others start later


@pytest.mark.soak
def test_a_raylet_that_dies_is_one_sentence_and_what_is_finished_is_kept(tmp_path: Path) -> None:
    payloads = ["sleep 0.3"] * 40
    process, stored = driver(tmp_path, *payloads), Folder(tmp_path / "stored")
    assert wait_until(lambda: len(stored) >= 2, 240)
    kill(next(pid for pid in session(process) if name_of(pid) == "raylet"))
    printed, errors = process.communicate(timeout=60)
    sentence = (
        "Ray's process on this machine, the raylet, has ended. What is finished is kept: run the same command again"
    )
    assert (process.returncode, printed, errors) == (2, "", f"{sentence}\n")
    assert nobody_is_left(process)
    before = begun(tmp_path)
    assert 2 <= len(stored) < len(payloads)
    kept = set(stored)
    results = list(run(Orders(tmp_path), units_of(*payloads), done=stored))
    assert [done.failure for done in results] == [None] * len(payloads)
    assert all(begun(tmp_path)[key] == before[key] for key in kept)


@pytest.mark.soak
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_driver_that_is_stopped_leaves_nobody_behind(tmp_path: Path, how: signal.Signals) -> None:
    process = driver(tmp_path, *["sleep 300"] * 4)
    assert wait_until(lambda: len(begun(tmp_path)) == 2, 240)
    if how == signal.SIGINT:
        os.killpg(process.pid, how)  # as a terminal does
    else:
        process.terminate()
    printed, errors = process.communicate(timeout=120)
    assert process.returncode != 0 and printed == ""
    assert errors.count("Traceback") == errors.count("KeyboardInterrupt") == (how == signal.SIGINT)
    assert "***" not in errors
    if how == signal.SIGTERM:  # two watchers of Ray's follow a minute later by themselves
        assert wait_until(lambda: not {"raylet", "gcs_server", "ray::RayWorker."} & set(map(name_of, session(process))))
        for watcher in session(process):
            kill(watcher)
    else:
        assert nobody_is_left(process)


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""
