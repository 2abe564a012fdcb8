from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialgauge.engine import Done, Unit, WorkerTraceback, WorkPlace, cores, run
from dialgauge.errors import DialgaugeError
from engine.works import Folder, Orders, begun, opened, units_of
from support.soak import soak

MIXED = units_of("a", "sleep 0.2", "fail x.json", "b", "c", "long 300000", "d", "fail y.json", "e")


@pytest.fixture(autouse=True)
def no_worker_is_left() -> Iterator[None]:
    yield
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(("engine", "workers", "chunk"), [("pool", 1, 4), (None, 2, 1), (None, 3, 4), (None, 0, 1)])
def test_results_are_equal_and_in_order_wherever_the_work_runs(
    tmp_path: Path, engine: str | None, workers: int, chunk: int
) -> None:
    here = list(run(Orders(tmp_path), MIXED))
    assert [done.key for done in here] == [unit.key for unit in MIXED]
    assert here[2] == Done("u2", None, "x.json: nothing to be done")
    assert list(run(Orders(tmp_path), MIXED, workers=WorkPlace(engine, workers), chunk=chunk)) == here


@pytest.mark.parametrize("workers", [1, 2])
def test_the_work_is_opened_once_per_worker_and_only_when_there_is_something_to_do(
    tmp_path: Path, workers: int
) -> None:
    assert list(run(Orders(tmp_path), [], workers=workers)) == []
    stored = {unit.key: b"old" for unit in MIXED}
    assert [done.content for done in run(Orders(tmp_path), MIXED, workers=workers, done=stored)] == [b"old"] * 9
    assert opened(tmp_path) == 0
    list(run(Orders(tmp_path), units_of(*"abcdefgh"), workers=workers))
    assert 1 <= opened(tmp_path) <= workers


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_stored_is_not_done_again_and_what_succeeds_is_stored(tmp_path: Path, workers: int) -> None:
    stored = {"u1": b"old"}
    told: list[Done] = []
    units = units_of("a", "bug", "fail x", "b")
    results = list(run(Orders(tmp_path), units, workers=workers, done=stored, on_done=told.append))
    assert [done.content for done in results] == [b"state u0 a", b"old", None, b"state u3 b"]
    assert stored == {"u0": b"state u0 a", "u1": b"old", "u3": b"state u3 b"}
    assert set(begun(tmp_path)) == {"u0", "u2", "u3"}
    assert sorted(told) == sorted(results)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_opening_the_work_is_raised_here(tmp_path: Path, workers: int) -> None:
    (tmp_path / "no opening").touch()
    with pytest.raises(DialgaugeError, match="the model is missing"):
        list(run(Orders(tmp_path), MIXED, workers=workers))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_bug_is_raised_here_and_ends_all_workers_at_once(tmp_path: Path, workers: int) -> None:
    began = time.monotonic()
    with pytest.raises(ValueError, match="a bug of ours") as error:
        list(run(Orders(tmp_path), units_of("a", "bug", "sleep 300", "b", "c", "d"), workers=workers, chunk=2))
    assert time.monotonic() - began < 60
    assert set(begun(tmp_path)) <= {"u0", "u1", "u2"}
    if workers == 2:
        assert isinstance(error.value.__cause__, WorkerTraceback)
        assert "in do" in str(error.value.__cause__)


def test_an_error_that_cannot_travel_is_told_in_words(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="Stubborn: one and two"):
        list(run(Orders(tmp_path), units_of("stubborn"), workers=2))


@pytest.mark.parametrize("workers", [1, 2])
def test_units_are_taken_as_needed_and_closing_ends_the_workers(tmp_path: Path, workers: int) -> None:
    taken: list[str] = []

    def endless() -> Iterator[Unit[str]]:
        while True:
            taken.append(f"u{len(taken)}")
            yield Unit(taken[-1], "a" if len(taken) < 6 else "sleep 300")

    results = run(Orders(tmp_path), endless(), workers=workers)
    assert [next(results).key for _ in range(3)] == ["u0", "u1", "u2"]
    results.close()
    assert len(taken) < 20


def test_one_slow_unit_does_not_keep_the_others_from_being_done(tmp_path: Path) -> None:
    stored = Folder(tmp_path / "stored")
    results = run(Orders(tmp_path), units_of("await 9", *"abcdefgh"), workers=2, done=stored)
    next(results)
    assert len(stored) >= 7
    results.close()


def test_large_units_and_results_pass(tmp_path: Path) -> None:
    units = units_of(*["say " + "x" * 1_000_000] * 6)
    results = list(run(Orders(tmp_path), units, workers=2, chunk=3))
    assert [len(done.content or b"") > 1_000_000 for done in results] == [True] * 6


# -- workers that die ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [1, 5])
def test_the_unit_of_a_worker_that_died_is_done_by_another(tmp_path: Path, chunk: int) -> None:
    payloads = ["a", "die-once", "b", "c", "die-once", "d", "e"]
    results = list(run(Orders(tmp_path), units_of(*payloads), workers=2, chunk=chunk))
    assert [done.content for done in results] == [f"state u{n} {what}".encode() for n, what in enumerate(payloads)]
    assert [len(set(begun(tmp_path)[key])) for key in ("u1", "u4")] == [2, 2]


@pytest.mark.parametrize(("order", "how"), [("die", "by the signal SIGKILL"), ("exit 3", "with the exit code 3")])
@pytest.mark.parametrize("chunk", [1, 5])
def test_a_unit_that_three_workers_died_of_has_failed_and_the_others_have_not(
    tmp_path: Path, order: str, how: str, chunk: int
) -> None:
    units = units_of("a", "b", order, "c", "d")
    results = list(run(Orders(tmp_path), units, workers=2, chunk=chunk))
    assert [done.key for done in results if done.failure] == ["u2"]
    assert f"3 worker processes died while they worked on it, the last {how}" in (results[2].failure or "")
    assert len(begun(tmp_path)["u2"]) == 3


@pytest.mark.parametrize("seed", [0, *map(soak, range(1, 4))])
def test_workers_killed_at_any_moment_lose_nothing(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    units = units_of(*["sleep 0.02"] * 60)
    results, kills, next_kill = [], 0, 0.0
    for done in run(Orders(tmp_path), units, workers=3, chunk=chance.choice([1, 4])):
        results.append(done)
        if time.monotonic() > next_kill and (alive := multiprocessing.active_children()):
            os.kill(chance.choice(alive).pid or 0, signal.SIGKILL)
            kills, next_kill = kills + 1, time.monotonic() + chance.uniform(0, 0.4)
    assert [done.key for done in results] == [unit.key for unit in units]
    failed = [done.failure for done in results if done.content != f"state {done.key} sleep 0.02".encode()]
    # A worker may be killed before it begins the unit it holds; that counts against the unit all the same.
    assert all(failure and failure.startswith("3 worker processes died") for failure in failed)
    assert 2 <= kills >= 3 * len(failed)


def test_workers_that_cannot_begin_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialgauge.engine.pool.serve", os._exit)
    monkeypatch.setattr("dialgauge.engine.pool._Worker.send", lambda self, message: None)
    with pytest.raises(DialgaugeError, match="a worker process ended before it could begin"):
        list(run(Orders(tmp_path), units_of("a"), workers=2))


# -- settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workers", "chunk", "told"),
    [(-1, 1, r"workers must be >= 0 \(got -1\)"), (2, 0, r"chunk must be at least 1 \(got 0\)")],
)
def test_impossible_settings_are_refused(tmp_path: Path, workers: int, chunk: int, told: str) -> None:
    with pytest.raises(DialgaugeError, match=told):
        run(Orders(tmp_path), MIXED, workers=workers, chunk=chunk)


def test_an_unknown_engine_gets_the_nearest_names(tmp_path: Path) -> None:
    with pytest.raises(DialgaugeError, match=r"no engine named 'pol'\. Did you mean 'pool'"):
        run(Orders(tmp_path), MIXED, workers=WorkPlace("pol"))


def test_units_that_would_share_a_result_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two units have the key 'same'"):
        list(run(Orders(tmp_path), [Unit("same", "a"), Unit("same", "b")], done={}))


def test_there_is_a_core() -> None:
    assert cores() >= 1


def test_workers_have_an_environment_of_their_own_and_the_user_has_the_last_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    monkeypatch.setenv("_RJEM_MALLOC_CONF", "dirty_decay_ms:7")
    before = dict(os.environ)
    orders = units_of("tell POLARS_MAX_THREADS", "tell _RJEM_MALLOC_CONF")
    told = [done.content for done in run(Orders(tmp_path), orders, workers=WorkPlace("pool", 1))]
    assert told == [b"1", b"dirty_decay_ms:7"]
    assert dict(os.environ) == before
