from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.errors import DialgaugeError
from dialgauge.runs import Parts, Store, new_run
from support.soak import examples


def test_an_error_keeps_what_is_done_and_the_same_call_goes_on(store: Store) -> None:
    done: list[str] = []
    for fails in (True, False):
        with (
            pytest.raises(RuntimeError) if fails else nullcontext(),
            store.kept_units(kind="lab", name="rules", config={"b": 1, "a": 2}) as parts,
        ):
            for unit in ("one", "two"):
                if unit not in parts:
                    done.append(unit)
                    parts[unit] = unit.encode()
                if fails:
                    raise RuntimeError
            assert [part.decode() for part in parts.values()] == ["one", "two"]
        assert len(store.unfinished()) == fails
    assert done == ["one", "two"]
    assert list((store.folder / ".work").iterdir()) == []


def test_units_of_other_code_are_not_taken_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    _interrupted(store, {"kind": "lab", "name": "n", "config": {}})
    monkeypatch.setattr("dialgauge.runs.store.own_source", lambda: "edited")
    with store.kept_units(kind="lab", name="n", config={}) as parts:
        assert "one" not in parts


@pytest.mark.parametrize("changed", [{"kind": "x"}, {"name": "x"}, {"config": {"a": 2}}])
def test_anything_that_changes_the_result_starts_anew(store: Store, changed: dict[str, Any]) -> None:
    facts = {"kind": "lab", "name": "n", "config": {"a": 1}}
    _interrupted(store, facts)
    _interrupted(store, {**facts, **changed})
    assert len(store.unfinished()) == 2


def test_order_of_keys_and_command_line_do_not_matter(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    _interrupted(store, {"kind": "lab", "name": "n", "config": {"a": 1, "b": 2}})
    monkeypatch.setattr("sys.argv", ["other"])
    _interrupted(store, {"kind": "lab", "name": "n", "config": {"b": 2, "a": 1}})
    assert len(store.unfinished()) == 1


def test_the_same_work_twice_in_one_process_is_refused(store: Store) -> None:
    with (
        store.kept_units(kind="lab", name="n", config={}),
        pytest.raises(DialgaugeError, match="another process is working"),
        store.kept_units(kind="lab", name="n", config={}),
    ):
        pytest.fail("the block must not run")


def test_unfinished_work_survives_sweeping_and_can_be_removed(store: Store) -> None:
    _interrupted(store, {"kind": "lab", "name": "n", "config": {}})
    run = store.add(new_run(kind="k", name="n"))
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
    with pytest.raises(RuntimeError), store.kept_units(**facts) as parts:
        parts["one"] = b"old"
        raise RuntimeError
