"""Is the folder of a tool domain sound? Told without running its ``tools.py``: that is parsed, never imported.

Types are resolved as far as the file itself says what they are (its own TypedDicts and aliases); a parameter whose type
comes from another module is taken as it is, and that is told.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NotRequired, Optional, Required, TypedDict, Union

from msgspec import Struct

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import counted
from dialgauge.worlds.tools.argument_types import unknown_type
from dialgauge.worlds.tools.loading import (
    FILE,
    ToolDomainFile,
    located_records,
    read_domain_file,
    table_contents,
)
from dialgauge.worlds.tools.marking import MARKS, AsGiven
from dialgauge.worlds.tools.task_files import ToolTask, file_bytes, read_tool_tasks
from dialgauge.worlds.tools.tool import (
    CHECK,
    DATA,
    Tool,
    ToolParameter,
    docstring_parts,
    unfit_first,
    unfit_parameter,
    unfit_type,
)
from dialgauge.worlds.tools.world import ToolCall
from dialgauge.yaml_file import read_yaml

OWN_RIGHTS = (
    "{file} is Python code: it was not run here, but it runs with your own rights whenever this domain is named on the "
    "command line; read it before you use a domain from somebody else."
)
_NAMES: dict[str, Any] = {
    "str": str, "int": int, "float": float, "bool": bool, "list": list, "dict": dict, "List": list, "Dict": dict,
    "Literal": Literal, "Optional": Optional, "Union": Union, "Any": Any, "object": object, "AsGiven": AsGiven,
    "Required": Required, "NotRequired": NotRequired, "None": None,
}  # fmt: skip


class Problem(Struct, frozen=True, omit_defaults=True):
    """What is wrong, and where."""

    file: str
    message: str
    line: int | None = None
    severity: Literal["problem", "remark"] = "problem"


class DomainReport(Struct, frozen=True, kw_only=True):
    """What a folder holds, and everything that is wrong with it."""

    folder: str
    domain: str = ""
    tools: dict[str, str] = {}
    tables: dict[str, int] = {}
    tasks: int = 0
    problems: list[Problem] = []
    code: str = ""

    @property
    def sound(self) -> bool:
        return not any(problem.severity == "problem" for problem in self.problems)

    @property
    def summary(self) -> str:
        """One sentence on what there is."""
        kinds = [kind for kind in ("write", "end", "read") if kind in self.tools.values()]
        kind_counts = ", ".join(f"{list(self.tools.values()).count(kind)} {kind}" for kind in kinds)
        tables = ", ".join(f"{name} ({counted(rows, 'record')})" for name, rows in self.tables.items())
        return (
            f"tool domain '{self.domain}': {counted(len(self.tools), 'tool')} ({kind_counts}), tables: {tables}, "
            f"{counted(self.tasks, 'task')}"
        )


def check_tool_domain(folder: Path, root: Path | None = None) -> DomainReport:
    """Look at everything in the folder; nothing of it is run."""
    problems: list[Problem] = []

    def noted(error: DialgaugeError, file: Path) -> None:
        problems.append(Problem(error.file or str(file), error.message, error.line))

    try:
        declared = read_domain_file(folder)
        where, records = located_records(declared, folder, root)
    except DialgaugeError as error:
        noted(error, folder / FILE)
        return DomainReport(folder=str(folder), problems=problems)
    source = _Source(folder / declared.tools)
    problems += source.problems
    tables: dict[str, Any] = {}
    tasks: list[ToolTask] = []
    try:
        tables = table_contents(records, where)
    except DialgaugeError as error:
        noted(error, folder / FILE)
    try:
        tasks = read_tool_tasks(where / records.tasks) if records.tasks else []
    except DialgaugeError as error:
        noted(error, where / records.tasks)
    if not source.unreadable:
        problems += _prose_problems(declared, source.tools, folder)
        for task, line in zip(tasks, _task_lines(where / records.tasks, len(tasks)), strict=False):
            problems += [
                Problem(str(where / records.tasks), f"task {task.id}: {message}", line, severity)
                for message, severity in _task_problems(task, source)
            ]
    return DomainReport(
        folder=str(folder),
        domain=declared.domain,
        tools={name: tool.kind for name, tool in source.tools.items()},
        tables={name: len(table) if isinstance(table, dict | list) else 1 for name, table in tables.items()},
        tasks=len(tasks),
        problems=problems,
        code=OWN_RIGHTS.format(file=folder / declared.tools),
    )


def _task_lines(path: Path, tasks: int) -> list[int | None]:
    """The lines of our own tasks, one each; of other files they are not known."""
    if not path.name.removesuffix(".gz").endswith(".jsonl"):
        return [None] * tasks
    return [number for number, line in enumerate(file_bytes(path).splitlines(), 1) if line.strip()]


def _prose_problems(declared: ToolDomainFile, tools: Mapping[str, Tool], folder: Path) -> list[Problem]:
    line = read_yaml(folder / FILE).line("prose")
    return [
        Problem(str(folder / FILE), f"prose: there is no tool '{name}'.{nearest(name, tools)}", line)
        for name in declared.prose
        if name not in tools
    ]


def _task_problems(task: ToolTask, source: _Source) -> Iterator[tuple[str, Literal["problem", "remark"]]]:
    """Calls of tools that do not exist; and, as a remark, expected calls that will be refused: some tasks mean it."""
    lists: list[tuple[str, tuple[ToolCall, ...]]] = [("start", task.start), ("expected", task.expected or ())]
    for where, calls in lists:
        for number, call in enumerate(calls):
            tool = source.tools.get(call.name)
            if tool is None:
                yield f"{where}[{number}]: there is no tool '{call.name}'.{nearest(call.name, source.tools)}", "problem"
            elif refusal := tool.refusal(call.arguments):
                yield f"{where}[{number}], {call.name}: {refusal}", "problem" if task.rules == "own" else "remark"
    for name in task.assertions:
        if name not in source.checks:
            yield (
                f"assert: there is no function '{name}' that takes only data.{nearest(name, source.checks)}",
                "problem",
            )


class _Source:
    """The tools of a Python file, from its syntax tree."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tools: dict[str, Tool] = {}
        self.checks: set[str] = set()
        self.problems: list[Problem] = []
        self.unreadable = False
        self._types: dict[str, Any] = dict(_NAMES)
        try:
            tree = ast.parse(file_bytes(path))
        except DialgaugeError as error:
            self._note(error.message, None)
            self.unreadable = True
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self._note(f"it is not valid Python ({error})", getattr(error, "lineno", None))
            self.unreadable = True
        else:
            self._read(tree)

    def _note(self, message: str, line: int | None, severity: Literal["problem", "remark"] = "problem") -> None:
        self.problems.append(Problem(str(self.path), message, line, severity))

    def _read(self, tree: ast.Module) -> None:
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                self._read_class(node)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                self._read_alias(node)
            elif isinstance(node, ast.AsyncFunctionDef):
                self._note(f"{node.name} is async; a tool is a plain function", node.lineno)
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                if node.name in self.tools or node.name in self.checks:
                    self._note(f"two functions are named {node.name}", node.lineno)
                self._read_function(node)
        if not self.tools:
            self._note("it defines no tool", None)

    def _read_class(self, node: ast.ClassDef) -> None:
        if not any(isinstance(base, ast.Name) and base.id == "TypedDict" for base in node.bases):
            return
        whole = not any(
            keyword.arg == "total" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False
            for keyword in node.keywords
        )
        fields = {
            field.target.id: self._type(field.annotation)
            for field in node.body
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        }
        self._types[node.name] = TypedDict(node.name, fields, total=whole)  # type: ignore[operator]

    def _read_alias(self, node: ast.Assign | ast.AnnAssign) -> None:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Subscript | ast.BinOp | ast.Name):
            try:
                self._types[target.id] = self._type(node.value)
            except (TypeError, ValueError):
                return  # an ordinary value

    def _read_function(self, node: ast.FunctionDef) -> None:
        given = node.args
        names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
        if node.name.startswith(CHECK) and names == [DATA] and given.vararg is None and given.kwarg is None:
            self.checks.add(node.name)
            return
        if not names or names[0] != DATA:
            self._note(unfit_first(node.name), node.lineno)
            return
        about, described = docstring_parts(ast.get_docstring(node) or "")
        without_default = len(given.args) - len(given.defaults)
        defaults = dict(zip((each.arg for each in given.kwonlyargs), given.kw_defaults, strict=True))
        parameters: dict[str, ToolParameter] = {}
        for index, each in enumerate((*given.args, *given.kwonlyargs)):
            if each.arg == DATA and index == 0:
                continue
            hint = self._parameter_type(node, each)
            required = index < without_default if index < len(given.args) else defaults.get(each.arg) is None
            parameters[each.arg] = ToolParameter(hint, required, described.get(each.arg, ""))
        for each in filter(None, (given.vararg, given.kwarg, *given.posonlyargs)):
            self._note(unfit_parameter(node.name, each.arg), node.lineno)
        marks = frozenset(name for name in map(_decorator, node.decorator_list) if name in MARKS)
        self.tools[node.name] = Tool(name=node.name, about=about, parameters=parameters, marks=marks)

    def _parameter_type(self, node: ast.FunctionDef, parameter: ast.arg) -> Any:
        if parameter.annotation is None:
            self._note(unfit_parameter(node.name, parameter.arg), parameter.lineno)
            return object
        try:
            hint = self._type(parameter.annotation)
        except LookupError as unknown:
            message = (
                f"the type of '{parameter.arg}' of {node.name} ({unknown.args[0]}) is not defined here: not checked"
            )
            self._note(message, parameter.lineno, "remark")
            return object
        except (TypeError, ValueError):
            self._note(unfit_type(node.name, parameter.arg, ast.unparse(parameter.annotation)), parameter.lineno)
            return object
        if odd := unknown_type(hint):
            self._note(unfit_type(node.name, parameter.arg, odd), parameter.lineno)
            return object
        return hint

    def _type(self, node: ast.expr) -> Any:
        """The type that an annotation means; LookupError for a name that the file does not define."""
        if isinstance(node, ast.Constant):
            if node.value is None:
                return None
            if isinstance(node.value, str):
                return self._type(ast.parse(node.value, mode="eval").body)
        if isinstance(node, ast.Attribute):  # typing.Literal
            return self._type(ast.Name(node.attr))
        if isinstance(node, ast.Name):
            if node.id not in self._types:
                raise LookupError(node.id)
            return self._types[node.id]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return Union[self._type(node.left), self._type(node.right)]  # noqa: UP007 - of values
        if isinstance(node, ast.Subscript):
            outer = self._type(node.value)
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            parts = tuple(map(ast.literal_eval, inner)) if outer is Literal else tuple(map(self._type, inner))
            return outer[parts if len(parts) > 1 else parts[0]]
        raise ValueError(ast.dump(node))


def _decorator(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
