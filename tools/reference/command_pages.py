"""The command-line reference, from the declarations of the commands: one page per word after ``dialgauge``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from tools.reference.markdown import code, prose, sections, table
from tools.reference.page_examples import example_of

from dialgauge.cli import COMMANDS, overview
from dialgauge.cli.options import Argument, CommandGroup, Declaration

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
    declared = list(declarations(function))
    arguments = [_argument(*one) for one in declared if isinstance(one[1], Argument)]
    options = [_option(*one) for one in declared if not isinstance(one[1], Argument)]
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


def declarations(function: Callable[..., object]) -> Iterator[tuple[str, Declaration, Any, Any]]:
    """Name, declaration, type and default of everything that a command takes."""
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        for fact in getattr(hints[name], "__metadata__", ()):
            if isinstance(fact, Declaration):
                yield name, fact, hints[name].__origin__, parameter.default


def option_names(name: str, declaration: Declaration) -> tuple[str, ...]:
    """How an option is written."""
    return declaration.names or (f"--{name.replace('_', '-')}",)


def _argument(name: str, declaration: Declaration, kind: Any, default: Any) -> tuple[str, str]:
    return code(declaration.settings.get("metavar") or name.upper()), declaration.settings.get("help", "")


def _option(name: str, declaration: Declaration, kind: Any, default: Any) -> tuple[str, str, str]:
    one = _one(kind)
    value = "" if one is bool else f" {declaration.settings.get('metavar') or _kind_word(one)}"
    shown = "" if default is None or default is False or default is inspect.Parameter.empty else code(default)
    return code(", ".join(option_names(name, declaration)) + value), shown, declaration.settings.get("help", "")


def _one(kind: Any) -> Any:
    """The type of one value: of ``list[str] | None`` it is ``str``."""
    if get_origin(kind) in (Union, UnionType):
        kind = next(member for member in get_args(kind) if member is not NoneType)
    return get_args(kind)[0] if get_origin(kind) is list else kind


def _kind_word(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return "|".join(map(str, get_args(kind)))
    return {int: "N", float: "NUMBER"}.get(kind, "VALUE")
