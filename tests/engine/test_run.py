"""Results in order with equal bytes on any engine; what is done stays done, whatever dies."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialgauge.engine import Done, Unit, WorkPlace, run
from dialgauge.errors import DialgaugeError
from engine.works import Folder, Orders, begun, opened, units_of

MIXED = units_of("a", "sleep 0.2", "fail x.json", "b", "c", "long 300000", "d", "fail y.json", "e")


@pytest.fixture(autouse=True)
def no_worker_is_left() -> Iterator[None]:
    yield
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(("engine", "workers"), [("pool", 1), (None, 2), (None, 0)])
def test_results_are_equal_and_in_order_wherever_the_work_runs(
    tmp_path: Path, engine: str | None, workers: int
) -> None:
    here = list(run(Orders(tmp_path), MIXED))
    assert [done.key for done in here] == [unit.key for unit in MIXED]
    assert here[2] == Done("u2", None, "x.json: nothing to be done")
    assert list(run(Orders(tmp_path), MIXED, workers=WorkPlace(engine, workers))) == here


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
    before = opened(tmp_path)
    everything = {unit.key: b"old" for unit in MIXED}
    assert [done.content for done in run(Orders(tmp_path), MIXED, workers=workers, done=everything)] == [b"old"] * 9
    assert opened(tmp_path) == before <= workers


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_opening_the_work_is_raised_here(tmp_path: Path, workers: int) -> None:
    (tmp_path / "no opening").touch()
    with pytest.raises(DialgaugeError, match="the model is missing"):
        list(run(Orders(tmp_path), MIXED, workers=workers))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_bug_is_raised_here_and_ends_all_workers_at_once(tmp_path: Path, workers: int) -> None:
    began = time.monotonic()
    with pytest.raises(ValueError, match="a bug of ours") as error:
        list(run(Orders(tmp_path), units_of("a", "bug", "sleep 300", "b", "c", "d"), workers=workers))
    assert time.monotonic() - began < 60
    assert workers == 1 or "in do" in str(error.value.__cause__)
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


@pytest.mark.parametrize("order", ["die-once", "exit 3"])
def test_a_worker_that_dies_is_one_sentence_and_the_same_call_goes_on(tmp_path: Path, order: str) -> None:
    stored = Folder(tmp_path / "stored")
    units = units_of("a", "await 1", order, "b")
    with pytest.raises(DialgaugeError, match=r"a worker process died.*run the same command again"):
        list(run(Orders(tmp_path), units, workers=2, done=stored))
    kept, before = set(stored), begun(tmp_path)
    if order == "exit 3":
        return
    results = list(run(Orders(tmp_path), units, workers=2, done=stored))
    assert [done.content for done in results] == [f"state {unit.key} {unit.payload}".encode() for unit in units]
    assert all(begun(tmp_path)[key] == before[key] for key in kept)


@pytest.mark.parametrize(
    ("place", "told"),
    [
        (WorkPlace(workers=-1), "workers must be >= 0"),
        (WorkPlace("pol"), "no engine named 'pol'. Did you mean 'pool'"),
        (WorkPlace("local", 2), "use --engine pool"),
        (WorkPlace("pool", address="x:1"), "use --engine ray"),
    ],
)
def test_impossible_places_are_refused(tmp_path: Path, place: WorkPlace, told: str) -> None:
    with pytest.raises(DialgaugeError, match=told):
        run(Orders(tmp_path), MIXED, workers=place)


def test_units_that_would_share_a_result_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two units have the key 'same'"):
        list(run(Orders(tmp_path), [Unit("same", "a"), Unit("same", "b")], done={}))
