"""Airline and retail: laws, and the layouts of their files; tests/numbers compares what their tools do."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.worlds.tools import ToolDomain, canonical, load_tool_domain, read_tool_tasks


@pytest.fixture(scope="module")
def domains(shared_data: Path) -> dict[str, ToolDomain]:
    return {name: load_tool_domain(name, root=shared_data) for name in ("airline", "retail")}


def test_verified_tasks_of_the_shop_are_read_and_run(domains: dict[str, ToolDomain], shared_data: Path) -> None:
    tasks = read_tool_tasks(shared_data / "tau_worlds" / "retail" / "tasks_verified.json.gz")
    assert len(tasks) == 114
    assert sum(bool(domains["retail"].target(task).changes()) for task in tasks) > 80


def test_100_is_not_100_point_0(domains: dict[str, ToolDomain]) -> None:
    one, other = domains["airline"].world(), domains["airline"].world()
    for world, amount in ((one, 100), (other, 100.0)):
        assert world.call("send_certificate", {"user_id": "mia_li_3668", "amount": amount}).ok
    assert not one.equals(other)


@pytest.mark.parametrize(
    "expression", ["9**9**9", "9**9**9**9", "(9**9)**(9**9)", "7**7**7 * 0", "1" * 5000, "(" * 900]
)
def test_no_expression_takes_time_or_memory(expression: str, domains: dict[str, ToolDomain]) -> None:
    begun = time.process_time()
    assert not domains["airline"].world().call("calculate", {"expression": expression}).ok
    assert time.process_time() - begun < 0.5


def test_large_whole_numbers_are_python_s_own(domains: dict[str, ToolDomain]) -> None:
    world = domains["airline"].world()
    for expression, value in {"10**400 // 10**399": "10.0", "2**1000 / 2**999": "2.0", "(-8)**3": "-512.0"}.items():
        assert world.call("calculate", {"expression": expression}).result == value


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_reads_never_change_a_world(domains: dict[str, ToolDomain], data: st.DataObject) -> None:
    domain = domains[data.draw(st.sampled_from(["airline", "retail"]))]
    world = domain.world(None)
    before = {name: hash(canonical(dict(list(table.items())[:5]), "as-written")) for name, table in world.data.items()}
    ids = [key for table in world.data.values() for key in list(table)[:20]]
    words = st.sampled_from([*ids, "SFO", "JFK", "LAX", "2024-05-20", "1 + 1", "mia.li3818@example.com", "x"])
    for _ in range(5):
        tool = data.draw(st.sampled_from([tool for tool in domain.tools.values() if tool.kind == "read"]))
        outcome = world.call(tool.name, {name: data.draw(words) for name in tool.parameters})
        if isinstance(outcome.result, dict | list):
            outcome.result.clear()  # whoever gets a result may do with it what he likes
    assert world.changes() == {}
    assert {
        name: hash(canonical(dict(list(table.items())[:5]), "as-written")) for name, table in world.data.items()
    } == before


def test_the_layout_of_a_clone_of_the_benchmark_is_read(tmp_path: Path, shared_data: Path) -> None:
    import gzip

    source = shared_data / "tau_worlds" / "airline"
    clone = tmp_path / "tau-bench" / "tau_bench" / "envs" / "airline"
    (clone / "data").mkdir(parents=True)
    for name in ("flights", "reservations", "users"):
        (clone / "data" / f"{name}.json").write_bytes(gzip.decompress((source / f"{name}.json.gz").read_bytes()))
    (clone / "wiki.md").write_text("Be kind.")
    tasks = json.loads(gzip.decompress((source / "tasks.json.gz").read_bytes()))
    written = [
        f"Task(annotator='0', user_id={task['user_id']!r}, instruction={task['instruction']!r}, actions=["
        + ", ".join(f"Action(name={a['name']!r}, kwargs={a['arguments']!r})" for a in task["actions"])
        + f"], outputs={task['outputs']!r})"
        for task in tasks
    ]
    (clone / "tasks_test.py").write_text(
        "from tau_bench.types import Task, Action\nraise SystemExit('never run')\nTASKS = [\n"
        + ",\n".join(written)
        + "]\n"
    )
    domain = load_tool_domain("airline", root=tmp_path)
    assert domain.policy == "Be kind."
    assert domain.tasks == load_tool_domain("airline", root=shared_data).tasks
    assert load_tool_domain("airline", root=tmp_path / "tau-bench").tasks == domain.tasks
