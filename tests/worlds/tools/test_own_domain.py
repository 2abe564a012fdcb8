"""A folder with tools: what is read from it, what is refused, and what its tools may and may not do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.worlds.domain import load_domain
from dialgauge.worlds.tools import (
    AgentText,
    Conduct,
    ToolDomain,
    check_tool_domain,
    is_told,
    judge,
    load_tool_domain,
)

TOOLS = '''
from __future__ import annotations

import sys
from typing import Literal, NotRequired, TypedDict

from dialgauge.worlds import ToolError, ends, for_user, writes

class Row(TypedDict):
    name: str
    size: NotRequired[float]

Colour = Literal["red", "blue"]

def look(data: dict, key: str, deep: bool = False) -> dict:
    """Look at a thing.

    Args:
        key: Its id.
    """
    if key not in data["things"]:
        raise ToolError(f"no {key}")
    return data["things"][key]

@writes
def put(data: dict, key: str, row: Row, count: int = 1, colour: Colour | None = None, tags: list[str] = []) -> str:
    data["things"][key] = {**row, "count": count, "colour": colour, "tags": tags}
    tags.append("mine")
    return "put"

@writes
def half(data: dict, key: str) -> None:
    data["things"][key] = {}
    raise ToolError("half way")

@ends
def leave(data: dict, why: str) -> str:
    return why

@for_user
def peek(data: dict) -> int:
    return len(data["things"])

def stop(data: dict) -> None:
    sys.exit(3)

def check_two(data: dict) -> bool:
    return len(data["things"]) == 2

def check_broken(data: dict) -> bool:
    raise RuntimeError

def _helper(x): return x
'''
FUTURE = "from __future__ import annotations"
YAML = "domain: shelf\ntitle: a shelf\ntools: tools.py\ndata: [data/things.json]\ntasks: tasks.jsonl\n"
TASKS: list[dict[str, Any]] = [
    {
        "id": "t1",
        "instruction": "Put b.",
        "expected": [{"name": "put", "arguments": {"key": "b", "row": {"name": "b"}}}],
    },
    {"id": "t2", "expected": [], "outputs": ["12.50"]},
    {"id": "t3", "assert": ["check_two"], "start": [{"name": "put", "arguments": {"key": "s", "row": {"name": "s"}}}]},
    {"id": "t4", "expected": [{"name": "leave", "arguments": {"why": "x"}}, {"name": "peek", "arguments": {}}]},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "domain.yaml").write_text(YAML)
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "data" / "things.json").write_text('{"a": {"name": "a", "size": 250}}')
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    return tmp_path


@pytest.fixture
def domain(folder: Path) -> ToolDomain:
    return load_tool_domain(folder)


def test_schemas_come_from_signatures_and_docstrings(domain: ToolDomain) -> None:
    [look, put, *_] = domain.schemas("system")
    assert look == {
        "name": "look",
        "description": "Look at a thing.",
        "parameters": {
            "type": "object",
            "properties": {"key": {"type": "string", "description": "Its id."}, "deep": {"type": "boolean"}},
            "required": ["key"],
            "additionalProperties": False,
        },
    }
    assert put["parameters"]["properties"] == {
        "key": {"type": "string"},
        "row": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "size": {"type": "number"}},
            "required": ["name"],
        },
        "count": {"type": "integer"},
        "colour": {"anyOf": [{"enum": ["red", "blue"]}, {"type": "null"}]},
        "tags": {"type": "array", "items": {"type": "string"}},
    }
    assert [schema["name"] for schema in domain.schemas("user")] == ["peek"]
    assert "_helper" not in domain.tools
    assert "check_two" not in domain.tools


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "key is missing"),
        ({"key": "a", "more": 1}, "no parameter more"),
        ({"key": 1}, "key: Expected str, got int"),
        (["a"], "must be an object"),
    ],
)
def test_arguments_are_checked_before_the_call(domain: ToolDomain, arguments: Any, told: str) -> None:
    outcome = domain.world().call("look", arguments)
    assert (outcome.status, told in outcome.reason) == ("error", True), outcome.reason


@pytest.mark.parametrize(
    ("changed", "fits"),
    [
        ({"count": True}, False),
        ({"row": {"name": "b", "size": 1}}, True),
        ({"row": {"name": "b", "size": "1"}}, False),
        ({"row": {"name": "b", "other": None}}, True),
        ({"colour": "green"}, False),
        ({"tags": ["a", 1]}, False),
    ],
)
def test_types_are_strict_and_nothing_is_converted(domain: ToolDomain, changed: dict[str, Any], fits: bool) -> None:
    assert domain.world().call("put", {"key": "b", "row": {"name": "b"}} | changed).ok == fits


def test_each_world_has_its_own_copy_and_shares_nothing_with_its_callers(domain: ToolDomain) -> None:
    one, other = domain.world(), domain.world()
    given = {"key": "b", "row": {"name": "b"}, "tags": ["x"]}
    assert one.call("put", given).ok
    assert given["tags"] == ["x"]
    given["row"]["name"] = "changed later"  # type: ignore[index]
    assert one.changes() == {"things/b": {"name": "b", "count": 1, "colour": None, "tags": ["x", "mine"]}}
    assert other.changes() == {}
    assert domain.records["things"] == {"a": {"name": "a", "size": 250}}
    one.call("look", {"key": "a"}).result["size"] = 0
    assert list(one.changes()) == ["things/b"]


def test_what_was_changed_before_an_error_stays(domain: ToolDomain) -> None:
    world = domain.world()
    outcome = world.call("half", {"key": "h"})
    assert (outcome.status, outcome.reason, world.changes()) == ("error", "half way", {"things/h": {}})


def test_sides_and_ends(domain: ToolDomain) -> None:
    world = domain.world()
    assert world.call("peek", {}, "system").status == "unknown"
    assert world.call("peek", {}, "user").result == 1
    assert not world.ended
    assert not world.call("leave", {"wrong": 1}).ok
    assert world.ended, "an ill-formed call ends the conversation, too"


def test_a_tool_that_exits_is_an_error_like_any_other(domain: ToolDomain) -> None:
    world = domain.world()
    outcome = world.call("stop", {})
    assert (outcome.status, outcome.reason, world.changes()) == ("error", "SystemExit: 3", {})


class TestVerdicts:
    def verdict(self, domain: ToolDomain, task: str, *calls: tuple[str, dict[str, Any]], said: str = "") -> Any:
        chosen = domain.task(task)
        assert chosen is not None
        world = domain.world(chosen)
        for name, arguments in calls:
            world.call(name, arguments)
        return judge(chosen, Conduct(world=world, said=[AgentText(said)]))

    def test_data(self, domain: ToolDomain) -> None:
        right = {"key": "b", "row": {"name": "b"}}
        assert self.verdict(domain, "t1", ("put", right)).success
        assert self.verdict(domain, "t1", ("put", right | {"count": 2})).parts == {"DB": False}
        assert not self.verdict(domain, "t1").success
        wrong = self.verdict(domain, "t1", ("put", right), ("put", {"key": "c", "row": {"name": "c"}}))
        assert wrong.parts == {"DB": False}

    def test_a_number_counts_by_its_value(self, domain: ToolDomain) -> None:
        arguments = {"key": "a", "row": {"name": "a", "size": 250.0}, "tags": []}
        world, other = domain.world(), domain.world()
        world.call("put", arguments)
        other.call("put", {**arguments, "row": {"name": "a", "size": 250}})
        assert world.equals(other)

    def test_outputs(self, domain: ToolDomain) -> None:
        assert self.verdict(domain, "t2", said="It costs **£12.50**.").success
        assert self.verdict(domain, "t2", said="It costs 12.55.").outputs == {"12.50": False}
        changed = self.verdict(domain, "t2", ("half", {"key": "x"}), said="12.5")
        assert changed.parts == {"DB": False, "OUTPUTS": True}

    def test_assertions_and_start(self, domain: ToolDomain) -> None:
        assert self.verdict(domain, "t3").success, "what the task starts with is there"
        assert not self.verdict(domain, "t3", ("half", {"key": "x"})).success
        assert not domain.world().holds("check_broken")

    def test_calls_that_end_are_no_part_of_the_target(self, domain: ToolDomain) -> None:
        assert self.verdict(domain, "t4").success


@pytest.mark.parametrize(
    ("output", "text", "told"),
    [
        ("15:03", "at 3:03 p.m.", True),
        ("15:03", "at 13:03", False),
        ("00:10", "at 12:10 am", True),
        ("1250", "1,250 in all", True),
        ("1250", "It is 12,500.", False),
        ("4", "4.", True),
        ("4", "14", False),
        ("north gate", "the North  Gate!", True),
        ("gate", "gateway", False),
        ("lost", "Sadly it is _lost_", True),
    ],
)
def test_values_are_told_in_any_usual_spelling(output: str, text: str, told: bool) -> None:
    assert is_told(output, [text]) == told


def test_code_is_imported_only_where_that_is_asked_for(folder: Path) -> None:
    (folder / "tools.py").write_text(f"open({str(folder / 'ran')!r}, 'w').close()\n" + TOOLS.replace(FUTURE, ""))
    page = check_tool_domain(folder)
    assert "your own rights" in page.warnings[0]
    assert not (folder / "ran").exists()
    assert check_tool_domain(folder, load_tools=True).warnings == []
    assert (folder / "ran").exists()


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("tools.py", "def look(data: dict, key: str", "def look(dat: dict, key: str", "first parameter"),
        ("tools.py", "key: str, deep: bool", "key, deep: bool", "needs a name and a type"),
        ("tools.py", "key: str, deep: bool", "key: set, deep: bool", "set"),
        ("tools.py", "def peek(data: dict)", "def peek(data: dict, *more: int)", "needs a name"),
        ("tools.py", "def peek(data: dict)", "def peek(data: dict", "SyntaxError"),
        ("domain.yaml", "tasks:", "toolz: x\ntasks:", "Did you mean 'tools'"),
        ("domain.yaml", "data/things.json", "data/none.json", "no file 'data/none.json'. Did you mean 'data/things"),
        ("domain.yaml", "data/things.json", "../secret.json", "outside"),
        ("domain.yaml", "tools.py", "tool.py", "no file 'tool.py'. Did you mean 'tools.py'?"),
        ("domain.yaml", "tasks:", "compare: roughly\ntasks:", "compare"),
        ("tasks.jsonl", '"t2"', '"t1"', "stands twice"),
        ("tasks.jsonl", '"outputs"', '"output"', "not a task"),
    ],
)
def test_faults_are_told_in_one_sentence(folder: Path, file: str, old: str, new: str, told: str) -> None:
    (folder.parent / "secret.json").write_text("{}")
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))
    with pytest.raises(DialgaugeError, match=re.escape(told)) as error:
        load_tool_domain(folder)
    assert error.value.line or file == "tasks.jsonl"


def test_a_folder_may_have_services_too(folder: Path) -> None:
    service = "services: {thing: {rows: things.csv, name: name}}\n"
    (folder / "domain.yaml").write_text(YAML + service)
    with pytest.raises(DialgaugeError, match="no file 'things"):
        check_tool_domain(folder)
    (folder / "things.csv").write_text("name\na\n")
    assert "content" in check_tool_domain(folder).tables
    assert list(load_domain(folder).services) == ["thing"]


@pytest.mark.parametrize(
    ("task", "told"),
    [
        ({"id": "x", "expected": [{"name": "putt", "arguments": {}}]}, "Did you mean 'put'"),
        ({"id": "x", "expected": [{"name": "look", "arguments": {}}]}, "key is missing"),
        ({"id": "x", "start": [{"name": "look", "arguments": {"key": 1}}]}, "key: Expected str"),
        ({"id": "x", "assert": ["check_too"]}, "check_two"),
    ],
)
def test_faults_in_calls_of_tasks(folder: Path, task: dict[str, Any], told: str) -> None:
    with (folder / "tasks.jsonl").open("a") as file:
        file.write(json.dumps(task) + "\n")
    assert check_tool_domain(folder).warnings
    with pytest.raises(DialgaugeError, match=told):
        check_tool_domain(folder, load_tools=True)


def test_a_bare_name_is_never_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    with pytest.raises(DialgaugeError, match=rf"\./{folder.name}"):
        load_tool_domain(folder.name)
    assert load_tool_domain(f"./{folder.name}").name == "shelf"


def test_records_that_do_not_ship_say_how_to_get_them(tmp_path: Path) -> None:
    for name, where in {"airline": "tau-bench", "retail": "tau2-bench"}.items():
        with pytest.raises(DialgaugeError, match=rf"{where} and set DIALGAUGE_DATA"):
            load_tool_domain(name, root=tmp_path)


def test_the_depot_can_be_solved_and_nothing_else_passes() -> None:
    domain = load_tool_domain("depot")
    assert "refused" not in check_tool_domain(domain.folder, load_tools=True).tables
    assert len(domain.tasks) == 12
    passed_by_nothing = []
    for task in domain.tasks:
        gold, nothing = domain.world(task), domain.world(task)
        outcomes = gold.call_all(task.expected or ())
        assert all(outcome.ok for outcome in outcomes), task.id
        if task.id == "one-vase":
            gold.call("open_claim", {"parcel_id": "P-1008", "damage": "broken"})
        said = [AgentText(f"Here you are: {' and '.join(task.outputs)}.")]
        assert judge(task, Conduct(world=gold, said=said)).success, task.id
        if judge(task, Conduct(world=nothing)).success:
            passed_by_nothing.append(task.id)
    assert passed_by_nothing == ["full-window", "second-change", "unpaid-duty", "other-town"]
