from __future__ import annotations

from pathlib import Path
from typing import Any

import polars
import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.errors import DialgaugeError
from dialgauge.runs import Parts, Store
from support.soak import examples


def test_an_error_keeps_what_is_done_and_the_same_call_goes_on(store: Store) -> None:
    done: list[str] = []
    for fails in (True, False):
        with (
            pytest.raises(RuntimeError) if fails else _Nothing(),
            store.resumable(kind="lab", name="rules", config={"b": 1, "a": 2}, seed=0) as work,
        ):
            parts = work.parts("episodes")
            for unit in ("one", "two"):
                if unit not in parts:
                    done.append(unit)
                    parts[unit] = unit.encode()
                if fails:
                    raise RuntimeError
            work.table("episodes", polars.DataFrame({"text": [part.decode() for part in parts.values()]}))
        if fails:
            assert store.list() == []
            assert len(store.unfinished()) == 1
    assert done == ["one", "two"]
    run = store.open(work.id)
    assert run.table("episodes")["text"].to_list() == ["one", "two"]
    assert sorted(path.name for path in run.path.iterdir()) == [
        "dialogue_scores.parquet",
        "episodes.parquet",
        "run.json",
    ]
    assert store.unfinished() == []
    assert list((store.folder / ".work").iterdir()) == []


def test_tables_of_an_attempt_that_failed_are_written_again(store: Store) -> None:
    with pytest.raises(RuntimeError), store.resumable(kind="lab", name="n") as work:
        work.table("first", polars.DataFrame({"x": [1]}))
        raise RuntimeError
    with store.resumable(kind="lab", name="n") as work:
        work.table("second", polars.DataFrame({"x": [2]}))
    assert sorted(path.name for path in store.open(work.id).path.iterdir()) == [
        "dialogue_scores.parquet",
        "run.json",
        "second.parquet",
    ]


def test_units_of_other_code_are_not_taken_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError), store.resumable(kind="lab", name="n") as work:
        work.parts("episodes")["one"] = b"old"
        raise RuntimeError
    monkeypatch.setattr("dialgauge.runs.resumable.own_source", lambda: "edited")
    with store.resumable(kind="lab", name="n") as work:
        assert "one" not in work.parts("episodes")


@pytest.mark.parametrize(
    "changed", [{"kind": "x"}, {"name": "x"}, {"config": {"a": 2}}, {"seed": 1}, {"signature": "s"}, {"inputs": True}]
)
def test_anything_that_changes_the_result_starts_anew(store: Store, tmp_path: Path, changed: dict[str, Any]) -> None:
    data = tmp_path / "data.json"
    data.write_text("1")
    facts = {"kind": "lab", "name": "n", "config": {"a": 1}, "seed": 0, "signature": "", "inputs": [data]}
    _interrupted(store, facts)
    if changed == {"inputs": True}:
        data.write_text("2")
        changed = {}
    _interrupted(store, {**facts, **changed})
    assert len(store.unfinished()) == 2


def test_order_of_keys_place_of_inputs_and_command_line_do_not_matter(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "data.json").write_text("1")
    _interrupted(store, {"kind": "lab", "name": "n", "config": {"a": 1, "b": 2}, "inputs": [tmp_path / "a/data.json"]})
    monkeypatch.setattr("sys.argv", ["other"])
    again = {"config": {"b": 2, "a": 1}, "inputs": [tmp_path / "b/data.json"]}
    _interrupted(store, {"kind": "lab", "name": "n", **again})
    assert len(store.unfinished()) == 1


def test_the_same_work_twice_in_one_process_is_refused(store: Store) -> None:
    with (
        store.resumable(kind="lab", name="n"),
        pytest.raises(DialgaugeError, match="another process is working"),
        store.resumable(kind="lab", name="n"),
    ):
        pytest.fail("the block must not run")


def test_unfinished_work_survives_sweeping_and_can_be_removed(store: Store) -> None:
    _interrupted(store, {"kind": "lab", "name": "n"})
    with store.create(kind="k", name="n") as run:
        pass
    (name,) = store.unfinished()
    assert name.startswith("resume-lab-n-")
    store.remove(name)
    assert store.unfinished() == []
    assert [manifest.id for manifest in store.list()] == [run.id]


@settings(max_examples=examples(60))
@given(st.dictionaries(st.text(max_size=20), st.binary(max_size=50), max_size=5))
def test_parts_are_a_mapping_whatever_the_units_are_called(
    tmp_path_factory: pytest.TempPathFactory, units: dict[str, bytes]
) -> None:
    folder = tmp_path_factory.mktemp("parts") / "units"
    parts = Parts(folder)
    for unit, content in units.items():
        parts[unit] = content
    assert dict(Parts(folder)) == units
    assert list(parts) == sorted(units)
    assert len(parts) == len(units)
    assert {path.parent for path in folder.rglob("*")} <= {folder}
    for unit in units:
        del parts[unit]
    assert not list(parts)


def test_a_write_that_was_cut_off_is_no_unit(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    (tmp_path / ".unit-a.done.xyz.part").write_bytes(b"ha")
    assert list(parts) == []
    with pytest.raises(KeyError):
        parts["a"]
    with pytest.raises(KeyError):
        del parts["a"]


def _interrupted(store: Store, facts: dict[str, Any]) -> None:
    with pytest.raises(RuntimeError), store.resumable(**facts):
        raise RuntimeError


class _Nothing:
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...
