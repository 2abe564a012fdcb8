"""Is the folder of a tool domain sound? Its ``tools.py`` is code, and imported only where that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import counted
from dialgauge.worlds.tools.loading import (
    FILE,
    load_functions,
    located_records,
    read_domain_file,
    refuse_unknown_prose,
    require_file,
    table_contents,
)
from dialgauge.worlds.tools.task_files import ToolTask, file_bytes, read_tool_tasks
from dialgauge.worlds.tools.tool import Tool
from dialgauge.worlds.tools.world import ToolCall

NOT_LOADED = (
    "{file} was not imported, and no call of a task was checked: 'dialgauge data check --load-tools' does both. It is "
    "Python code that runs with your own rights whenever this domain is named on the command line; read it before you "
    "use a domain from somebody else."
)


class Problem(Struct, frozen=True, omit_defaults=True):
    """What is wrong, and where."""

    file: str
    message: str
    line: int | None = None
    severity: Literal["problem", "remark"] = "problem"


class DomainReport(Struct, frozen=True, kw_only=True):
    """What a folder holds, and everything that is wrong with it. ``code`` warns of tools that were not imported."""

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
        tools = f"{counted(len(self.tools), 'tool')} ({kind_counts}), " if self.tools else ""
        tables = ", ".join(f"{name} ({counted(rows, 'record')})" for name, rows in self.tables.items())
        return f"tool domain '{self.domain}': {tools}tables: {tables}, {counted(self.tasks, 'task')}"


def check_tool_domain(folder: Path, root: Path | None = None, *, load_tools: bool = False) -> DomainReport:
    """Check what the folder declares, its tables and its tasks; with ``load_tools`` also its code, by importing it."""
    problems: list[Problem] = []

    def noted(error: DialgaugeError, file: Path) -> None:
        problems.append(Problem(error.file or str(file), error.message, error.line))

    try:
        declared = read_domain_file(folder)
        where, records = located_records(declared, folder, root)
        require_file(folder, declared.tools)
    except DialgaugeError as error:
        noted(error, folder / FILE)
        return DomainReport(folder=str(folder), problems=problems)
    tables: dict[str, Any] = {}
    tasks: list[ToolTask] = []
    tools: dict[str, Tool] = {}
    try:
        tables = table_contents(records, where)
    except DialgaugeError as error:
        noted(error, folder / FILE)
    task_file = where / records.tasks
    try:
        tasks = read_tool_tasks(task_file) if records.tasks else []
    except DialgaugeError as error:
        noted(error, task_file)
    if load_tools:
        try:
            tools, checks = load_functions(folder, declared.tools)
            refuse_unknown_prose(declared, tools, folder)
        except DialgaugeError as error:
            noted(error, folder / declared.tools)
        else:
            for task, line in zip(tasks, _task_lines(task_file, len(tasks)), strict=False):
                problems += [
                    Problem(str(task_file), f"task {task.id}: {message}", line, severity)
                    for message, severity in _task_problems(task, tools, checks)
                ]
    return DomainReport(
        folder=str(folder),
        domain=declared.domain,
        tools={name: tool.kind for name, tool in tools.items()},
        tables={name: len(table) if isinstance(table, dict | list) else 1 for name, table in tables.items()},
        tasks=len(tasks),
        problems=problems,
        code="" if load_tools else NOT_LOADED.format(file=folder / declared.tools),
    )


def _task_lines(path: Path, tasks: int) -> list[int | None]:
    """The lines of our own tasks, one each; of other files they are not known."""
    if not path.name.removesuffix(".gz").endswith(".jsonl"):
        return [None] * tasks
    return [number for number, line in enumerate(file_bytes(path).splitlines(), 1) if line.strip()]


def _task_problems(
    task: ToolTask, tools: Mapping[str, Tool], checks: Mapping[str, Callable[..., Any]]
) -> Iterator[tuple[str, Literal["problem", "remark"]]]:
    """Calls of tools that do not exist; and, as a remark, expected calls that will be refused: some tasks mean it."""
    lists: list[tuple[str, tuple[ToolCall, ...]]] = [("start", task.start), ("expected", task.expected or ())]
    for where, calls in lists:
        for number, call in enumerate(calls):
            tool = tools.get(call.name)
            if tool is None:
                yield f"{where}[{number}]: there is no tool '{call.name}'.{nearest(call.name, tools)}", "problem"
            elif refusal := tool.refusal(call.arguments):
                yield f"{where}[{number}], {call.name}: {refusal}", "problem" if task.rules == "own" else "remark"
    for name in task.assertions:
        if name not in checks:
            yield f"assert: there is no function '{name}' that takes only data.{nearest(name, checks)}", "problem"
