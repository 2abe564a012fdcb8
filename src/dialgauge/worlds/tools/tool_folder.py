"""From a folder, or the name of an installed domain, to a :class:`ToolDomain`; and whether a folder is sound.

``tools.py`` of a folder runs with the rights of whoever names the folder; ``data check`` imports it only where that is
asked for.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Callable
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.report import Page, Table
from dialgauge.worlds.domain import read_domain
from dialgauge.worlds.folders import DOMAIN_FILE, PACKS, domain_folder, require_file
from dialgauge.worlds.tools.tool_domain import Comparison, ToolDomain
from dialgauge.worlds.tools.tool_tasks import ToolTask, file_bytes, json_value, read_tool_tasks
from dialgauge.worlds.tools.tools import Tool, tools_in
from dialgauge.yaml_file import YamlDocument, read_yaml

#: What a collection of data may call a clone of a benchmark.
CLONES = ("", "tau-bench", "tau2-bench")
_NOT_LOADED = (
    "{file} was not imported, and no call of a task was checked: 'dialgauge data check --load-tools' does both. It is "
    "Python code that runs with your own rights whenever this domain is named on the command line; read it before you "
    "use a domain from somebody else."
)

Functions = tuple[dict[str, Tool], dict[str, Callable[..., Any]]]


class Records(Struct, frozen=True):
    """Where records, tasks and policy lie: one file per table, or one file with all tables."""

    data: tuple[str, ...] = ()
    tables: str = ""
    tasks: str = ""
    policy: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(filter(None, (*self.data, self.tables, self.tasks, self.policy)))


class ToolDomainFile(Records, frozen=True, kw_only=True):
    """``domain.yaml`` of a tool domain."""

    domain: str
    title: str
    tools: str
    compare: Comparison = "by-value"
    prose: tuple[str, ...] = ()
    #: Whose logs can be replayed here; empty: anybody's.
    benchmark: Literal["", "tau", "tau2"] = ""
    #: For records that do not ship: places below the data folder, and how to get them.
    elsewhere: tuple[Records, ...] = ()
    get: str = ""
    #: Keys of a folder that has services, too: ``dialgauge.worlds.domain`` reads them.
    services: Any = None
    goals: Any = None
    words: Any = None


def is_tool_domain(folder: Path) -> bool:
    """Whether a folder's ``domain.yaml`` names tools."""
    content = read_yaml(folder / DOMAIN_FILE, as_text=True).content
    return isinstance(content, dict) and "tools" in content


def names_tool_domain(domain: str) -> bool:
    """Whether a name or path means a domain with tools; one that means nothing does not."""
    try:
        return is_tool_domain(domain_folder(domain))
    except DialgaugeError:
        return False


def load_tool_domain(domain: str | os.PathLike[str], *, root: Path | None = None) -> ToolDomain:
    """The domain of that name or folder. ``root`` is where records that do not ship are looked for."""
    folder = domain_folder(domain)
    if not is_tool_domain(folder):
        raise DialgaugeError(
            "it names no tools ('tools: tools.py'): this is not a tool domain", file=str(folder / DOMAIN_FILE)
        )
    return _loaded(folder, root, load_tools=True)


def _loaded(folder: Path, root: Path | None, *, load_tools: bool) -> ToolDomain:
    document = read_yaml(folder / DOMAIN_FILE)
    declared = document.as_record(ToolDomainFile, "a tool domain")
    require_file(folder, declared.tools, document.line("tools"))
    where, records = _located(declared, document, folder, root)
    tools, checks = _functions(folder, declared.tools) if load_tools else ({}, {})
    for index, name in enumerate(declared.prose if load_tools else ()):
        if name not in tools:
            raise DialgaugeError(
                f"prose: there is no tool '{name}'.{nearest(name, tools)}",
                file=document.file,
                line=document.line("prose", index),
            )
    return ToolDomain(
        name=declared.domain,
        title=declared.title,
        folder=folder,
        tools=tools,
        records=_tables(records, where),
        checks=checks,
        tasks=read_tool_tasks(where / records.tasks) if records.tasks else (),
        policy=file_bytes(where / records.policy).decode("utf-8", "replace") if records.policy else "",
        compare=declared.compare,
        prose=frozenset(declared.prose),
        benchmark=declared.benchmark,
        ours=folder.parent == PACKS,
    )


@cache
def declared_tools(name: str) -> tuple[ToolDomainFile, dict[str, Tool]]:
    """What the file of a domain of ours declares, and its tools: its records are not read."""
    declared = read_yaml(PACKS / name / DOMAIN_FILE).as_record(ToolDomainFile, "a tool domain")
    return declared, _functions(PACKS / name, declared.tools)[0]


def _located(declared: ToolDomainFile, document: YamlDocument, folder: Path, root: Path | None) -> tuple[Path, Records]:
    """The folder in which the records lie, and their names in it."""
    if not declared.elsewhere:
        for key in ("tables", "tasks", "policy"):
            if name := getattr(declared, key):
                require_file(folder, name, document.line(key))
        for index, name in enumerate(declared.data):
            require_file(folder, name, document.line("data", index))
        return folder, declared
    for place in [root / clone for clone in CLONES] if root is not None else []:
        for records in declared.elsewhere:
            if all((place / name).is_file() for name in records.files):
                return place, records
    raise DialgaugeError(" ".join(declared.get.split()) or f"the records of {declared.domain} are not below {root}")


def _tables(records: Records, where: Path) -> dict[str, Any]:
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


def _functions(folder: Path, file: str) -> Functions:
    """The tools and checks of a domain, by importing its code."""
    path = folder / file
    if folder.parent == PACKS:
        name = f"dialgauge.worlds.packs.{folder.name}.{path.stem}"
        return tools_in(vars(importlib.import_module(name)), name, str(path))
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
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
        raise DialgaugeError(
            f"it cannot be imported: {type(error).__name__}: {error}", file=str(path), line=line
        ) from error
    finally:
        sys.path.remove(str(folder))
    return tools_in(vars(module), name, str(path))


def check_tool_domain(folder: Path, root: Path | None = None, *, load_tools: bool = False) -> Page:
    """Read what a folder declares, its tables and its tasks; with ``load_tools`` also its code, by importing it.

    What is wrong is an error. Expected calls that a tool will refuse are listed: some tasks of benchmarks mean it.
    """
    domain = _loaded(folder, root, load_tools=load_tools)
    if read_yaml(folder / DOMAIN_FILE).as_mapping("a domain").get("services"):
        read_domain(folder)
    content = Table(f"Tool domain {domain.name}", ["what", "name", "count"])
    for kind in ("read", "write", "end") if load_tools else ():
        names = [name for name, tool in domain.tools.items() if tool.kind == kind]
        content.add(f"tools that {kind}", ", ".join(names), len(names))
    for name, table in domain.records.items():
        content.add("records", name, len(table) if isinstance(table, dict | list) else 1)
    content.add("tasks", "", len(domain.tasks))
    refused = Table("Expected calls that are refused", ["task", "call", "why"])
    for task in domain.tasks if load_tools else ():
        for call, why in _refused_calls(domain, task):
            refused.add(task.id, call, why)
    return Page(
        title=f"Domain {domain.name}",
        verdict=f"{domain.name} is sound.",
        warnings=[] if load_tools else [_NOT_LOADED.format(file=folder / "tools.py")],
        tables={"content": content, **({"refused": refused} if refused.rows else {})},
    )


def _refused_calls(domain: ToolDomain, task: ToolTask) -> list[tuple[str, str]]:
    """The expected calls whose arguments their tools refuse; an error for what does not exist, or in our own tasks."""

    def wrong(message: str) -> DialgaugeError:
        return DialgaugeError(f"task {task.id}: {message}")

    refused = []
    for call in (*task.start, *(task.expected or ())):
        tool = domain.tools.get(call.name)
        if tool is None:
            raise wrong(f"there is no tool '{call.name}'.{nearest(call.name, domain.tools)}")
        if refusal := tool.refusal(call.arguments):
            if task.rules == "own":
                raise wrong(f"{call.name}: {refusal}")
            refused.append((call.name, refusal))
    for name in task.assertions:
        if name not in domain.checks:
            raise wrong(f"there is no function '{name}' that takes only data.{nearest(name, domain.checks)}")
    return refused
