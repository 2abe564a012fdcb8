"""Airline and retail against what the original tools did: gold worlds, sequences of calls, the laws of section 8."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from dialgauge.worlds.tools import ToolCall, ToolDomain, canonical, load_tool_domain

#: Ill-typed calls that the originals happen to accept, and that we refuse, as the tools' own pages say.
REFUSED = {
    "exotic: empty texts count as empty lists",
    "exotic: an object counts as the list of its keys",
    "exotic: payments as an empty text are stored as text; the paid bag is then set and charged before the entry "
    "fails: an error that changed the world",
}


@pytest.fixture(scope="module")
def domains(shared_data: Path) -> dict[str, ToolDomain]:
    return {name: load_tool_domain(name, root=shared_data) for name in ("airline", "retail")}


@pytest.fixture(scope="module")
def worlds(expected: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((expected / "tau_gold_worlds.json").read_text())
    return content


@pytest.mark.parametrize("name", ["airline", "retail"])
def test_gold_actions_lead_to_the_worlds_of_the_original_tools(
    name: str, domains: dict[str, ToolDomain], worlds: dict[str, Any]
) -> None:
    domain = domains[name]
    reached = {task.id: domain.target(task).changes() for task in domain.tasks}
    assert {
        task: {
            "sha256": hashlib.sha256(canonical(changes, "as-written").encode()).hexdigest(),
            "changed": sorted(changes),
        }
        for task, changes in reached.items()
    } == worlds[name]


def test_every_sequence_of_calls_does_what_the_originals_did(
    domains: dict[str, ToolDomain], worlds: dict[str, Any]
) -> None:
    other = set()
    for sequence in worlds["sequences"]:
        world = domains[sequence["domain"]].world()
        outcomes = world.call_all(ToolCall(**call) for call in sequence["calls"])
        same = ["ok" if outcome.ok else "error" for outcome in outcomes] == sequence["outcome"]
        same &= canonical(world.changes(), "as-written") == canonical(sequence["changed"], "as-written")
        same &= all(
            without_null(outcome.result) == without_null(result)
            for outcome, result in zip(outcomes, sequence["results"], strict=True)
            if result is not None
        )
        if not same:
            other.add(sequence["note"])
    assert other == REFUSED


def without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_null(each) for key, each in value.items() if each is not None}
    return [without_null(each) for each in value] if isinstance(value, list) else value


def test_verified_tasks_of_the_shop_are_read_and_run(domains: dict[str, ToolDomain], shared_data: Path) -> None:
    from dialgauge.worlds.tools import read_tool_tasks

    tasks = read_tool_tasks(shared_data / "tau_worlds" / "retail" / "tasks_verified.json.gz")
    assert len(tasks) == 114
    assert sum(bool(domains["retail"].target(task).changes()) for task in tasks) > 80


class TestUnits:
    """The unit tests that the specification names."""

    def test_a_certificate_twice_is_an_error_that_has_used_it_up(self, domains: dict[str, ToolDomain]) -> None:
        world = domains["airline"].world()
        booking = self.booking(payment_methods=[{"payment_id": "certificate_7504069", "amount": 25}] * 2)
        outcome = world.call("book_reservation", booking)
        assert outcome.reason == "certificate_7504069 is not a payment method of this user", "the flight costs 50"
        assert list(world.changes()) == ["users/mia_li_3668"]
        assert "certificate_7504069" not in world.changes()["users/mia_li_3668"]["payment_methods"]

    def test_cancelling_twice_doubles_the_history_again(self, domains: dict[str, ToolDomain]) -> None:
        world = domains["airline"].world()
        lengths = [
            len(world.call("cancel_reservation", {"reservation_id": "4WQ150"}).result["payment_history"])
            for _ in range(3)
        ]
        assert lengths == [2, 4, 8]

    def test_the_fourth_booking_overwrites_the_third(self, domains: dict[str, ToolDomain]) -> None:
        world = domains["airline"].world()
        booking = self.booking(flights=[], payment_methods=[])
        ids = [world.call("book_reservation", booking).result["reservation_id"] for _ in range(4)]
        assert ids == ["HATHAT", "HATHAU", "HATHAV", "HATHAV"]
        assert world.changes()["users/mia_li_3668"]["reservations"][-4:] == ids

    def test_two_pairs_of_items_both_ways(self, domains: dict[str, ToolDomain]) -> None:
        pairs = [("9747045638", "3909406921"), ("1096508426", "4068787148")]
        orders = []
        for way in (pairs, pairs[::-1]):
            world = domains["retail"].world()
            given = {"order_id": "#W8557584", "payment_method_id": "credit_card_3577130"}
            lists = {"item_ids": [old for old, _ in way], "new_item_ids": [new for _, new in way]}
            outcome = world.call("modify_pending_order_items", given | lists)
            assert outcome.ok, outcome.reason
            orders.append(outcome.result)
        assert orders[0]["payment_history"] == orders[1]["payment_history"]
        prices = [{item["item_id"]: item["price"] for item in order["items"]} for order in orders]
        assert prices[0]["3909406921"] == prices[0]["4068787148"], "all have the price of the last pair"
        assert prices[0] != prices[1]

    def test_cancelling_after_a_change_of_payment_refunds_thrice(self, domains: dict[str, ToolDomain]) -> None:
        world = domains["retail"].world()
        assert world.call(
            "modify_pending_order_payment", {"order_id": "#W8955613", "payment_method_id": "credit_card_6044108"}
        ).ok
        outcome = world.call("cancel_pending_order", {"order_id": "#W8955613", "reason": "no longer needed"})
        kinds = [entry["transaction_type"] for entry in outcome.result["payment_history"]]
        assert kinds == ["payment", "payment", "refund", "refund", "refund", "refund"]

    def test_100_is_not_100_point_0(self, domains: dict[str, ToolDomain]) -> None:
        given = [
            domains["airline"].world(),
            domains["airline"].world(),
        ]
        for world, amount in zip(given, (100, 100.0), strict=True):
            assert world.call("send_certificate", {"user_id": "mia_li_3668", "amount": amount}).ok
        assert not given[0].equals(given[1])

    @staticmethod
    def booking(**other: Any) -> dict[str, Any]:
        return {
            "user_id": "mia_li_3668",
            "origin": "SFO",
            "destination": "PHL",
            "flight_type": "one_way",
            "cabin": "basic_economy",
            "flights": [{"flight_number": "HAT042", "date": "2024-05-20"}],
            "passengers": [{"first_name": "Mia", "last_name": "Li", "dob": "1990-04-05"}],
            "payment_methods": [],
            "total_baggages": 0,
            "nonfree_baggages": 0,
            "insurance": "no",
            **other,
        }


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
