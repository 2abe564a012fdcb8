"""Tasks of tool domains, in four spellings: our ``tasks.jsonl``, τ²'s JSON, τ-bench's as JSON or as its Python file.

The Python file is read, not run: its ``Task(...)`` calls are literals.
"""

from __future__ import annotations

import ast
import gzip
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.formats import as_text
from dialgauge.worlds.desk import Side
from dialgauge.yaml_file import as_record

#: Whose verdict a task is made for: section 4 of the domains' specification, τ-bench, τ²-bench.
Rules: TypeAlias = Literal["own", "tau", "tau2"]
DB, COMMUNICATE, ACTION = "DB", "COMMUNICATE", "ACTION"
ENV_ASSERTION, NL_ASSERTION = "ENV_ASSERTION", "NL_ASSERTION"
_CRITERIA = frozenset(
    {"actions", "acceptable_outcomes", "communicate_info", "env_assertions", "nl_assertions", "reward_basis"}
)
MOST_BYTES = 64 << 20


class ToolCall(Struct, frozen=True, omit_defaults=True):
    """A call to make: the tool, its arguments (anything that is no object is refused), and who makes it.

    Where nobody is named, it is whoever holds the tool.
    """

    name: str
    arguments: Any = {}
    side: Side | None = None


class GoldCall(ToolCall, frozen=True, omit_defaults=True):
    """An expected call; ``compare`` are the arguments that ACTION looks at (None: all)."""

    compare: tuple[str, ...] | None = None
    #: Of τ²: the user is to make it, on its own device.
    by_user: bool = False


class ToolTask(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a user wants, what should be done for it, and by which rule that is judged."""

    id: str
    instruction: str = ""
    rules: Rules = "own"
    #: What the user knows, by name.
    knows: dict[str, Any] = {}
    #: τ-bench says whose task it is.
    user: str | None = None
    start: tuple[ToolCall, ...] = ()
    #: Records laid over the tables before anything else (τ²).
    start_data: dict[str, Any] = {}
    #: None: the data are not compared; empty: nothing may change.
    expected: tuple[GoldCall, ...] | None = None
    #: Other lists of calls that are as good (forks of τ²).
    alternatives: tuple[tuple[GoldCall, ...], ...] = ()
    outputs: tuple[str, ...] = ()
    assertions: tuple[str, ...] = ()
    env_assertions: tuple[dict[str, Any], ...] | None = None
    nl_assertions: tuple[str, ...] = ()
    #: Of τ²: the parts of the reward; None: not said.
    basis: tuple[str, ...] | None = None
    #: Criteria of forks of τ² that no rule here knows, or that the file lacks: nothing can be said of the reward.
    unknown: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that are judged; as τ² has it, DB and COMMUNICATE where nothing is said."""
        return (DB, COMMUNICATE) if self.basis is None else self.basis

    @property
    def golds(self) -> tuple[tuple[GoldCall, ...], ...]:
        """The expected calls, and what is as good."""
        return (self.expected or (), *self.alternatives)


class _OwnTask(Struct, frozen=True):
    id: str | int
    instruction: str = ""
    knows: dict[str, Any] = {}
    start: list[_OwnCall] = []
    expected: list[_OwnCall] | None = None
    outputs: list[str | int | float] = []
    assertions: list[str] = msgspec.field(default=[], name="assert")


class _OwnCall(Struct, frozen=True):
    name: str
    arguments: dict[str, Any] = {}


def read_tool_tasks(path: Path) -> list[ToolTask]:
    """The tasks in a file, whichever of the spellings it has; ids are texts, and each occurs once."""
    content = file_bytes(path)
    if path.name.removesuffix(".gz").endswith(".py"):
        tasks = [_tau_task(task, number, path) for number, task in enumerate(_python_tasks(content, path))]
    elif path.name.removesuffix(".gz").endswith(".jsonl"):
        tasks = [_own_task(line, number, path) for number, line in enumerate(content.splitlines(), 1) if line.strip()]
    else:
        tasks = json_tasks(json_value(content, path), path)
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise DialgaugeError(f"the task {task.id} stands twice", file=str(path))
        seen.add(task.id)
    return tasks


def read_calls(path: Path) -> list[ToolCall]:
    """The calls in a JSON list of ``{"name", "arguments"}``; ``-`` is standard input."""
    content = sys.stdin.buffer.read(MOST_BYTES) if str(path) == "-" else file_bytes(path)
    try:
        return msgspec.json.decode(content, type=list[ToolCall])
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        message = f'it is not a list of calls such as [{{"name": "track_parcel", "arguments": {{}}}}] ({error})'
        raise DialgaugeError(message, file=str(path)) from error


def json_tasks(entries: Any, path: Path) -> list[ToolTask]:
    """Tasks in the JSON of τ-bench or τ²-bench."""
    entries = entries.get("tasks") if isinstance(entries, dict) else entries
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise DialgaugeError("it is not a list of tasks", file=str(path))
    return [
        tau2_task(entry, path)
        if "evaluation_criteria" in entry or "user_scenario" in entry
        else _tau_task(entry, number, path)
        for number, entry in enumerate(entries)
    ]


def tau2_task(entry: Mapping[str, Any], path: Path) -> ToolTask:
    """A task as τ²-bench writes it."""
    name = str(entry.get("id", "?"))
    criteria = _mapping(entry.get("evaluation_criteria"), "evaluation_criteria", name, path)
    state = _mapping(entry.get("initial_state"), "initial_state", name, path)
    start_data = _mapping(state.get("initialization_data"), "initialization_data", name, path)
    unknown = [each for each, content in criteria.items() if each not in _CRITERIA and content]
    if entry.get("evaluation_criteria") is None:
        unknown.append("evaluation_criteria")
    actions, env = criteria.get("actions"), criteria.get("env_assertions")
    basis = criteria.get("reward_basis")
    scenario = entry.get("user_scenario")
    given = scenario.get("instructions") if isinstance(scenario, dict) else None
    texts = given.values() if isinstance(given, dict) else [given]
    return ToolTask(
        id=name,
        rules="tau2",
        instruction="\n".join(text for text in texts if isinstance(text, str)),
        start=tuple(_start_call(call, name, path) for call in _list(state.get("initialization_actions"), name, path)),
        start_data=_mapping(start_data.get("agent_data"), "agent_data", name, path),
        expected=None if actions is None and env is None else _gold(actions, name, path),
        alternatives=tuple(
            _gold(other.get("actions") if isinstance(other, dict) else other, name, path)
            for other in _list(criteria.get("acceptable_outcomes"), name, path)
        ),
        outputs=tuple(map(as_text, _list(criteria.get("communicate_info"), name, path))),
        env_assertions=None if env is None else tuple(_list(env, name, path)),
        nl_assertions=tuple(map(as_text, _list(criteria.get("nl_assertions"), name, path))),
        basis=None if basis is None else tuple(map(str, _list(basis, name, path))),
        unknown=tuple(unknown),
    )


def _tau_task(entry: Mapping[str, Any], number: int, path: Path) -> ToolTask:
    name = str(entry.get("id", number))
    user = entry.get("user_id")
    return ToolTask(
        id=name,
        rules="tau",
        instruction=str(entry.get("instruction") or ""),
        user=None if user is None else str(user),
        expected=_gold(entry.get("actions"), name, path),
        outputs=tuple(map(as_text, _list(entry.get("outputs"), name, path))),
    )


def _own_task(line: bytes, number: int, path: Path) -> ToolTask:
    try:
        task = as_record(msgspec.json.decode(line), _OwnTask, "a task")
    except DialgaugeError as error:
        raise error.at(file=str(path), line=number) from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise DialgaugeError(f"it is not a task ({error})", file=str(path), line=number) from error
    return ToolTask(
        id=str(task.id),
        instruction=task.instruction,
        knows=task.knows,
        start=tuple(ToolCall(call.name, call.arguments) for call in task.start),
        expected=None
        if task.expected is None
        else tuple(GoldCall(call.name, call.arguments) for call in task.expected),
        outputs=tuple(map(as_text, task.outputs)),
        assertions=tuple(task.assertions),
    )


def _gold(actions: Any, task: str, path: Path) -> tuple[GoldCall, ...]:
    """Expected calls as either benchmark writes them."""
    calls = []
    for action in _list(actions, task, path):
        if not isinstance(action, dict) or not isinstance(action.get("name"), str):
            raise DialgaugeError(f"task {task}: an action has no name", file=str(path))
        arguments = action.get("arguments", action.get("kwargs"))
        compare = action.get("compare_args")
        calls.append(
            GoldCall(
                name=action["name"],
                arguments={} if arguments is None else arguments,
                compare=tuple(map(str, compare)) if isinstance(compare, list) else None,
                by_user=action.get("requestor") == "user",
            )
        )
    return tuple(calls)


def _start_call(call: Any, task: str, path: Path) -> ToolCall:
    if not isinstance(call, dict) or not isinstance(call.get("func_name"), str):
        raise DialgaugeError(f"task {task}: an action of the initial state has no func_name", file=str(path))
    return ToolCall(call["func_name"], call.get("arguments") or {})


def _list(value: Any, task: str, path: Path) -> list[Any]:
    if value is None or isinstance(value, list):
        return value or []
    raise DialgaugeError(f"task {task}: a list is expected where {type(value).__name__} stands", file=str(path))


def _mapping(value: Any, what: str, task: str, path: Path) -> dict[str, Any]:
    if value is None or isinstance(value, dict):
        return value or {}
    raise DialgaugeError(f"task {task}: {what} must be an object", file=str(path))


def _python_tasks(content: bytes, path: Path) -> list[dict[str, Any]]:
    """The arguments of every ``Task(...)`` in a Python file, ``Action(...)`` within them; nothing is run."""
    try:
        tree = ast.parse(content)
        tasks = [
            _literal(node)
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Task"
        ]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DialgaugeError(f"its tasks cannot be read ({error})", file=str(path)) from error
    if not tasks:
        raise DialgaugeError("it has no Task(...)", file=str(path))
    return tasks


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Call):
        if node.args or any(keyword.arg is None for keyword in node.keywords):
            raise ValueError("a Task or Action without names")
        return {str(keyword.arg): _literal(keyword.value) for keyword in node.keywords}
    if isinstance(node, ast.List):
        return [_literal(each) for each in node.elts]
    if isinstance(node, ast.Dict) and None not in node.keys:
        return {_literal(key): _literal(value) for key, value in zip(node.keys, node.values, strict=True) if key}
    return ast.literal_eval(node)


def file_bytes(path: Path) -> bytes:
    """The content of a file of reasonable size, unpacked where its name ends in ``.gz``."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            content: bytes = stream.read(MOST_BYTES + 1)
    except FileNotFoundError as error:
        raise DialgaugeError("there is no such file or folder", file=str(path)) from error
    except (OSError, EOFError) as error:
        raise DialgaugeError(
            f"it cannot be read ({getattr(error, 'strerror', None) or error})", file=str(path)
        ) from error
    if len(content) > MOST_BYTES:
        raise DialgaugeError(f"it is larger than {MOST_BYTES:,} bytes", file=str(path))
    return content.removeprefix(b"\xef\xbb\xbf")


def json_value(content: bytes, path: Path) -> Any:
    """The JSON in a file."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise DialgaugeError(f"it is not valid JSON ({error})", file=str(path)) from error
