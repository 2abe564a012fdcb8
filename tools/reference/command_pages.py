"""The command-line reference, from the declarations of the commands: one page per word after ``dialgauge``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
from tools.reference.markdown import code, prose, sections, table
from tools.reference.page_examples import example_of

from dialgauge.cli import COMMANDS, overview
from dialgauge.cli.app import command_named, commands_of

FOLDER = "reference/cli"


def navigation() -> list[Any]:
    """The part of the site's navigation that names these pages."""
    return [{"All commands": f"{FOLDER}/index.md"}, *({name: f"{FOLDER}/{name}.md"} for name in COMMANDS)]


def command_pages() -> Iterator[tuple[str, str]]:
    """Path and text of every page."""
    rows = [(f"[{code('dialgauge ' + name)}]({name}.md)", line) for name, line in COMMANDS.items()]
    yield f"{FOLDER}/index.md", sections("# Commands", table(("command", ""), rows), f"```text\n{overview()}```")
    for name in COMMANDS:
        yield f"{FOLDER}/{name}.md", _page(name)


def _page(word: str) -> str:
    commands = commands_of(word)
    intro = command_named(word).help or "" if word not in commands else ""
    return sections(f"# dialgauge {word}", intro, *(_command(name, one) for name, one in commands.items()))


def _command(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"dialgauge {name}", **command.context_settings)
    arguments = [
        (code(one.make_metavar(context)), one.help or "") for one in command.params if isinstance(one, click.Argument)
    ]
    options = [_option(one, context) for one in command.params if isinstance(one, click.Option)]
    return sections(
        f"## dialgauge {name}" if " " in name else "",
        f"```text\n{' '.join(['dialgauge', name, *command.collect_usage_pieces(context)])}\n```",
        prose(command.help),
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


def _option(one: click.Option, context: click.Context) -> tuple[str, str, str]:
    value = "" if one.is_flag else f" {one.make_metavar(context)}"
    default = one.get_default(context)
    shown = "" if default in (None, False, "", ()) or not isinstance(default, str | int | float) else code(default)
    return code(", ".join(one.opts) + value), shown, one.help or ""
