"""``dialgauge config``: the project file in effect, checked whole."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from dialgauge import rendering
from dialgauge.cli import COMMANDS
from dialgauge.cli.common import TableOutput
from dialgauge.cli.dispatch import EXIT_ERROR
from dialgauge.cli.options import application
from dialgauge.cli.project_file import (
    DEFAULTS,
    SHARED,
    absence,
    find_project_file,
    parsed_project_file,
    section_problems,
    settable,
    unfit,
    unknown_key,
    unsafe,
)
from dialgauge.cli.screen import err
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.cli.parse import CommandParameter

app = application("The project file in effect.")


@app.command()
def config(output: TableOutput) -> None:
    """Show which dialgauge.toml is in effect and what it sets, after checking every section and value.

    Exit code: 0 no errors, 2 something in it is wrong; each mistake is one line.
    """
    path = find_project_file()
    content = parsed_project_file(path) if path is not None else {}
    if path is not None and (problems := list(dict.fromkeys(_problems(content)))):
        for problem in problems:
            err.print(f"dialgauge: {DialgaugeError(problem, file=str(path))}")
        raise SystemExit(EXIT_ERROR)
    shown = rendering.Table(f"Project file {path}", ["section", "option", "value"])
    for section, key, value in _settings(content):
        shown.add(section, key, ", ".join(map(str, value)) if isinstance(value, list) else str(value))
    if path is None:
        err.print(absence())
    else:
        output.show([shown])
        err.print(f"{path}: {counted(len(shown.cells), 'setting')}, no errors")
    output.document("config", {"file": str(path) if path else None, "settings": shown.records()})


def _settings(content: dict[str, Any]) -> list[tuple[str, str, Any]]:
    rows = []
    for section, items in content.items():
        for key, value in items.items():
            if isinstance(value, dict):
                rows += [(f"{section}.{key}", inner, each) for inner, each in value.items()]
            else:
                rows.append((section, key, value))
    return rows


def _problems(content: dict[str, Any]) -> Iterator[str]:
    """Everything that is wrong with the file, a sentence each."""
    yield from section_problems(content)
    sections = {name: each for name, each in content.items() if isinstance(each, dict) and name in COMMANDS}
    for name, section in sections.items():
        commands = _commands(name)
        if list(commands) == [name]:
            yield from _of_section(name, section, commands[name])
            continue
        for inner, items in section.items():
            full = f"{name} {inner}"
            if full not in commands or not isinstance(items, dict):
                known = [command.replace(" ", ".") for command in commands]
                yield f"unknown section or key '{name}.{inner}'.{nearest(f'{name}.{inner}', known)}"
            else:
                yield from _of_section(full, items, commands[full])
    defaults = content.get(DEFAULTS)
    if isinstance(defaults, dict):
        every = {full: command for name in COMMANDS for full, command in _commands(name).items()}
        for key in (key for key in defaults if key in SHARED):
            yield from _of_default(key, defaults[key], every)


def _commands(name: str) -> dict[str, Callable[..., object]]:
    """The commands under one word, by all their words."""
    group = importlib.import_module(f"dialgauge.cli.{name}").app
    return {
        name if len(group.commands) == 1 else f"{name} {member}": command for member, command in group.commands.items()
    }


def _of_section(command: str, items: dict[str, Any], function: Callable[..., object]) -> Iterator[str]:
    options, section = settable(function), command.replace(" ", ".")
    for key, value in items.items():
        if key not in options:
            yield unknown_key(key, command, options)
        elif problem := _problem(key, value, options[key]):
            yield f"'{key}' in [{section}] {problem}"


def _of_default(key: str, value: Any, every: dict[str, Callable[..., object]]) -> Iterator[str]:
    """What is wrong with a shared default: an error only if every command with that option rejects it."""
    having = [options[key] for function in every.values() if key in (options := settable(function))]
    problems = [_problem(key, value, option) for option in having]
    if problems and all(problems):
        yield f"'{key}' in [{DEFAULTS}] {problems[0]}"


def _problem(key: str, value: Any, option: CommandParameter) -> str | None:
    if problem := unsafe(key, option) or unfit(value, option):
        return problem
    choice = option.declaration.settings.get("known")
    given = [] if choice is None or option.type is bool else value if isinstance(value, list) else [value]
    names = [str(path) for path in given if not str(path).startswith(("./", "../"))]  # files, beside the project file
    return next((problem for name in names if choice and (problem := choice.problem(name))), None)
