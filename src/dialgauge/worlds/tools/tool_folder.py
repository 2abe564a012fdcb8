"""From a folder, or the name of an installed domain, to a :class:`ToolDomain`; and whether a folder is sound.

A path, which has a separator, is a folder; a bare name is an installed domain; never both. ``tools.py`` of a folder
runs with the rights of whoever names the folder; ``data check`` imports it only where that is asked for.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.plugins import DOMAINS, load, names
from dialgauge.text import counted
from dialgauge.worlds.tools.tool_domain import Comparison, ToolDomain
from dialgauge.worlds.tools.tool_tasks import ToolCall, ToolTask, file_bytes, json_value, read_tool_tasks
from dialgauge.worlds.tools.tools import Tool, tools_in
from dialgauge.yaml_file import read_yaml

FILE = "domain.yaml"
PACKS = "dialgauge.worlds.packs"
#: Domains with tools that come with dialgauge.
OUR_DOMAINS = ("airline", "retail", "depot")
#: What a collection of data may call a clone of a benchmark.
CLONES = ("", "tau-bench", "tau2-bench")
#: Keys of ``domain.yaml`` that are about services not about tools.
_SERVICE_KEYS = frozenset({"services", "goals", "words"})


class Records(Struct, frozen=True, forbid_unknown_fields=True):
    """Where records, tasks and policy lie: one file per table, or one file with all tables."""

    data: tuple[str, ...] = ()
    tables: str = ""
    tasks: str = ""
    policy: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(filter(None, (*self.data, self.tables, self.tasks, self.policy)))


class ToolDomainFile(Records, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The keys of ``domain.yaml`` that a tool domain has."""

    domain: str
    title: str
    tools: str = ""
    compare: Comparison = "by-value"
    prose: tuple[str, ...] = ()
    #: Whose logs can be replayed here; empty: anybody's.
    benchmark: Literal["", "tau", "tau2"] = ""
    #: For records that do not ship: places below the data folder, and how to get them.
    elsewhere: tuple[Records, ...] = ()
    get: str = ""


def is_folder(domain: str | os.PathLike[str]) -> bool:
    """Whether a domain is named by its path: it has a separator, or it is a path already."""
    return not isinstance(domain, str) or any(mark in domain for mark in filter(None, (os.sep, os.altsep, "/")))


def domain_folder(domain: str | os.PathLike[str]) -> Path:
    """The folder of a domain, given by path or by name."""
    if is_folder(domain):
        folder = Path(domain)
        if not (folder / FILE).is_file():
            raise DialgaugeError(f"it is not the folder of a domain: it has no {FILE}", file=str(folder))
        return folder
    name = str(domain)
    if name in OUR_DOMAINS:
        return Path(str(importlib.import_module(f"{PACKS}.{name}").__file__)).parent
    if name not in names(DOMAINS, {}):
        hint = (
            f" A folder is given by its path: ./{name}" if Path(name).is_dir() else nearest(name, installed_domains())
        )
        raise DialgaugeError(f"there is no tool domain named '{name}'.{hint}")
    # What is registered is the package of the folder, or the path of the folder itself.
    registered: Any = load(DOMAINS, name, object, {})
    path = getattr(registered, "__file__", None)
    folder = Path(path).parent if path else Path(str(registered))
    return domain_folder(folder)


def installed_domains() -> list[str]:
    """The names of all tool domains: ours and those of other packages."""
    return sorted({*OUR_DOMAINS, *names(DOMAINS, {})})


def is_tool_domain(folder: Path) -> bool:
    """Whether a folder's ``domain.yaml`` names tools."""
    content = read_yaml(folder / FILE, as_text=True).content
    return isinstance(content, dict) and "tools" in content


def names_tool_domain(domain: str) -> bool:
    """Whether a name or path means a domain with tools; one that means nothing does not."""
    try:
        folder = domain_folder(domain)
    except DialgaugeError:
        return False
    return (folder / FILE).is_file() and is_tool_domain(folder)


def load_tool_domain(domain: str | os.PathLike[str], *, root: Path | None = None) -> ToolDomain:
    """The domain of that name or folder. ``root`` is where records that do not ship are looked for."""
    folder = domain_folder(domain)
    declared = read_domain_file(folder)
    if not declared.tools:
        raise error_in_domain_file(folder, "it names no tools ('tools: tools.py'): this is not a tool domain")
    where, records = located_records(declared, folder, root)
    tools, checks = load_functions(folder, declared.tools)
    refuse_unknown_prose(declared, tools, folder)
    return ToolDomain(
        name=declared.domain,
        title=declared.title,
        folder=folder,
        tools=tools,
        records=table_contents(records, where),
        checks=checks,
        tasks=read_tool_tasks(where / records.tasks) if records.tasks else (),
        policy=file_bytes(where / records.policy).decode("utf-8", "replace") if records.policy else "",
        compare=declared.compare,
        prose=frozenset(declared.prose),
        benchmark=declared.benchmark,
        ours=_is_ours(folder),
    )


@cache
def declared_tools(name: str) -> tuple[ToolDomainFile, dict[str, Tool]]:
    """What the file of a domain of ours declares, and its tools: most that are asked for are not needed whole."""
    folder = domain_folder(name)
    declared = read_domain_file(folder)
    return declared, load_functions(folder, declared.tools)[0]


def refuse_unknown_prose(declared: ToolDomainFile, tools: Mapping[str, Tool], folder: Path) -> None:
    """An error for a tool under ``prose`` that does not exist."""
    for index, name in enumerate(declared.prose):
        if name not in tools:
            raise error_in_domain_file(
                folder, f"prose: there is no tool '{name}'.{nearest(name, tools)}", "prose", index
            )


def read_domain_file(folder: Path) -> ToolDomainFile:
    """The tool keys of a folder's ``domain.yaml``."""
    document = read_yaml(folder / FILE)
    content = document.as_mapping("a domain")
    document.content = {key: value for key, value in content.items() if key not in _SERVICE_KEYS}
    return document.as_record(ToolDomainFile, "a tool domain")


def located_records(declared: ToolDomainFile, folder: Path, root: Path | None) -> tuple[Path, Records]:
    """The folder in which the records lie, and their names in it."""
    if not declared.elsewhere:
        for name in declared.files:
            require_file(folder, name)
        return folder, declared
    places = [(root / clone, records) for clone in CLONES for records in declared.elsewhere] if root else []
    for candidate, records in places:
        if all((candidate / name).is_file() for name in records.files):
            return candidate, records
    raise DialgaugeError(" ".join(declared.get.split()) or f"the records of {declared.domain} are not below {root}")


def require_file(folder: Path, name: str) -> None:
    """An error for a file that is not there, or not in the folder of the domain."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise error_in_domain_file(folder, f"'{name}' lies outside the folder of the domain", name)
    if not path.is_file():
        there = [str(other.relative_to(folder)) for other in sorted(path.parent.glob("*")) if other.is_file()]
        raise error_in_domain_file(folder, f"there is no file '{name}'.{nearest(name, there, listed=False)}", name)


def error_in_domain_file(folder: Path, message: str, *location: str | int) -> DialgaugeError:
    """An error in the line of ``domain.yaml`` that a key leads to, or that has a file of that name."""
    document = read_yaml(folder / FILE)
    content = document.content if isinstance(document.content, dict) else {}
    if len(location) == 1:
        for key, value in content.items():
            values = value if isinstance(value, list) else [value]
            if location[0] in values:
                location = (key, values.index(location[0]))
                break
    return DialgaugeError(message, file=document.file, line=document.line(*location))


def table_contents(records: Records, where: Path) -> dict[str, Any]:
    """The tables by name: those of one file, or each file one."""
    if records.tables:
        content = json_value(file_bytes(where / records.tables), where / records.tables)
        if not isinstance(content, dict):
            raise DialgaugeError("it is not an object of tables", file=str(where / records.tables))
        return content
    tables: dict[str, Any] = {}
    for name in records.data:
        table = Path(name).name.removesuffix(".gz").removesuffix(".json")
        if table in tables:
            raise DialgaugeError(f"two files would be the table '{table}'", file=str(where / name))
        tables[table] = json_value(file_bytes(where / name), where / name)
    return tables


def _is_ours(folder: Path) -> bool:
    return folder.parent == Path(__file__).parent.parent / "packs"


def load_functions(folder: Path, file: str) -> tuple[dict[str, Tool], dict[str, Callable[..., Any]]]:
    """The tools and checks of a domain, by importing its code."""
    path = folder / file
    if _is_ours(folder):
        name = f"{PACKS}.{folder.name}.{path.stem}"
        return tools_in(vars(importlib.import_module(name)), name, str(path))
    require_file(folder, file)
    name = f"dialgauge_domain_{folder.resolve().name}_{path.stem}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise DialgaugeError("it is not a Python file", file=str(path))
    module = module_from_spec(spec)
    sys.path.insert(0, str(folder))  # a domain may have modules of its own
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever somebody's module does when it is imported
        raise DialgaugeError(
            f"it cannot be imported: {type(error).__name__}: {error}", file=str(path), line=_raising_line(error, path)
        ) from error
    finally:
        sys.path.remove(str(folder))
    return tools_in(vars(module), name, str(path))


def _raising_line(error: BaseException, path: Path) -> int | None:
    """The line of a file in which an error arose."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return lines[-1] if lines else None


# Checking

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
