"""The command-line reference, from the declarations of the commands: one page per word after ``dialgauge``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from tools.reference.markdown import code, prose, sections, table
from tools.reference.page_examples import example_of

from dialgauge.cli import COMMANDS, overview
from dialgauge.cli.options import CommandGroup
from dialgauge.cli.parse import CommandParameter, command_parameters

FOLDER = "reference/cli"


def navigation() -> list[Any]:
    """The part of the site's navigation that names these pages."""
    return [{"All commands": f"{FOLDER}/index.md"}, *({name: f"{FOLDER}/{name}.md"} for name in COMMANDS)]


def command_pages() -> Iterator[tuple[str, str]]:
    """Path and text of every page."""
    rows = [(f"[{code('dialgauge ' + name)}]({name}.md)", line) for name, line in COMMANDS.items()]
    yield f"{FOLDER}/index.md", sections("# Commands", table(("command", ""), rows), f"```text\n{overview()}\n```")
    for name in COMMANDS:
        yield f"{FOLDER}/{name}.md", _page(name, commands_of(name))


def commands_of(word: str) -> dict[str, Callable[..., object]]:
    """The commands behind a word: full name, such as ``data check``, to function."""
    group: CommandGroup = import_module(f"dialgauge.cli.{word}").app
    if len(group.commands) == 1:
        return {word: next(iter(group.commands.values()))}
    return {f"{word} {name}": function for name, function in group.commands.items()}


def _page(word: str, commands: dict[str, Callable[..., object]]) -> str:
    group: CommandGroup = import_module(f"dialgauge.cli.{word}").app
    intro = group.help if len(commands) > 1 else ""
    return sections(f"# dialgauge {word}", intro, *(_command(name, one) for name, one in commands.items()))


def _command(name: str, function: Callable[..., object]) -> str:
    parameters = command_parameters(function)
    arguments = [_argument(one) for one in parameters if not one.is_option]
    options = [_option(one) for one in parameters if one.is_option]
    usage = " ".join(
        ["dialgauge", name, *(row[0].strip("`") for row in arguments), *(["[OPTIONS]"] if options else [])]
    )
    return sections(
        f"## dialgauge {name}" if " " in name else "",
        f"```text\n{usage}\n```",
        prose(function.__doc__),
        table(("argument", "meaning"), arguments),
        table(("option", "default", "meaning"), options),
        _example(name),
    )


def _example(name: str) -> str:
    shown = example_of(name)
    if shown is None:
        return ""
    page, block = shown
    return f"Example, from [{page.stem}](../../{page.as_posix()}):\n\n```console\n{block}```"


def _argument(one: CommandParameter) -> tuple[str, str]:
    return code(one.value_name), one.declaration.settings.get("help", "")


def _option(one: CommandParameter) -> tuple[str, str, str]:
    value = "" if one.type is bool else f" {one.value_name}"
    shown = "" if one.default is None or one.default is False or one.required else code(one.default)
    return code(", ".join(one.options) + value), shown, one.declaration.settings.get("help", "")
