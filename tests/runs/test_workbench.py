"""Folders for half-done work: found again after a failure, gone after success, never shared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialgauge.runs import Store, kept_to_the_end, new_run

FACTS = {"kind": "training", "name": "memn2n", "config": {"seed": 0}}


def interrupted(store: Store) -> None:
    with pytest.raises(KeyboardInterrupt), store.workbench(**FACTS) as folder:  # type: ignore[arg-type]
        assert folder is not None
        (folder / "checkpoint").write_text("epoch 3")
        raise KeyboardInterrupt


def test_what_was_left_is_found_again_and_goes_when_the_work_is_done(store: Store) -> None:
    interrupted(store)
    (name,) = store.unfinished()
    assert name.startswith("resume-training-memn2n-")
    with store.workbench(**FACTS) as folder:  # type: ignore[arg-type]
        assert folder is not None
        assert (folder / "checkpoint").read_text() == "epoch 3"
        store.add(new_run(kind="k", name="n"))
        assert (folder / "checkpoint").exists()
    assert store.unfinished() == []
    assert list((store.folder / ".work").iterdir()) == []
    assert len(store.list()) == 1


def test_other_facts_are_other_work(store: Store) -> None:
    interrupted(store)
    with store.workbench(kind="training", name="memn2n", config={"seed": 1}) as folder:
        assert folder is not None
        assert list(folder.iterdir()) == []
    assert len(store.unfinished()) == 1


def test_fresh_work_begins_with_nothing(store: Store) -> None:
    interrupted(store)
    with store.workbench(**FACTS, fresh=True) as folder:  # type: ignore[arg-type]
        assert folder is not None
        assert list(folder.iterdir()) == []


def test_two_never_share_one(store: Store) -> None:
    with store.workbench(**FACTS) as first, Store(store.folder).workbench(**FACTS) as second:  # type: ignore[arg-type]
        assert first is not None
        assert second is None


def test_a_failure_that_left_nothing_leaves_no_trace(store: Store) -> None:
    with pytest.raises(RuntimeError), store.workbench(**FACTS):  # type: ignore[arg-type]
        raise RuntimeError
    assert store.unfinished() == []


def test_it_can_be_removed_by_its_name(store: Store) -> None:
    interrupted(store)
    store.remove(store.unfinished()[0])
    assert store.unfinished() == []


def test_finished_units_are_kept_until_the_command_ends(tmp_path: Path) -> None:
    """What comes of them is stored after they are done, and may fail."""
    store = Store(tmp_path / "runs")
    asked: dict[str, Any] = {"kind": "shards", "name": "one", "config": {"a": 1}}
    with pytest.raises(KeyError), kept_to_the_end():
        with store.kept_units(**asked) as done:
            done["unit"] = b"done"
        raise KeyError("no room for the run")
    with kept_to_the_end():
        with store.kept_units(**asked) as done:
            assert dict(done) == {"unit": b"done"}
        with store.kept_units(**asked | {"name": "other"}) as others:
            assert dict(others) == {}
    with store.kept_units(**asked) as done:
        assert dict(done) == {}
