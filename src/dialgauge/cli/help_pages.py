"""What ``dialgauge COMMAND --help`` prints, from the declarations: plain text in 79 columns.

Typer's own pages name types (``<int range> [x>=0]``) and put options into boxes that leave the text a third of the
screen; docs/decisions/command-line.md.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args, get_origin

from dialgauge.cli.options import HELP_OPTIONS, Argument, OutputFolder
from dialgauge.cli.parse import command_parameters

if TYPE_CHECKING:
    from dialgauge.cli.options import CommandGroup
    from dialgauge.cli.parse import CommandParameter

WIDTH = 79
#: Names that are longer stand on a line of their own.
_NAMES = 26
#: Defaults that say nothing: not given, and flags.
_UNSHOWN = (None, False, inspect.Parameter.empty)
#: A space that no line is broken at.
_GLUE = "\xa0"
_HELP = (", ".join(HELP_OPTIONS), "Show this page.")


def group_page(called: str, group: CommandGroup) -> str:
    """The page of a word with several commands: each with the first paragraph about it."""
    rows = [(name, next(_paragraphs(command), "")) for name, command in group.commands.items()]
    return _page(
        _usage([f"{called} COMMAND ..."]),
        _folded(group.help),
        _rows("Commands", rows),
        _rows("Options", [_HELP]),
        _folded(f"'{called} COMMAND --help' shows what a command takes."),
    )


def command_page(called: str, command: Callable[..., object]) -> str:
    """The page of one command."""
    parameters = command_parameters(command)
    arguments = [one for one in parameters if isinstance(one.declaration, Argument)]
    options = [one for one in parameters if not isinstance(one.declaration, Argument)]
    defaults = {name: one.default for name, one in inspect.signature(command).parameters.items()}
    return _page(
        _usage(_calls(called, arguments, options)),
        *(_folded(paragraph) for paragraph in _paragraphs(command)),
        _rows("Arguments", [(value_name(one), _help(one, defaults[one.name])) for one in arguments]),
        _rows("Options", [*((_names(one), _help(one, defaults[one.name])) for one in options), _HELP]),
    )


def value_name(parameter: CommandParameter) -> str:
    """What stands for the value of an option or argument: as declared, or by its type."""
    declared = parameter.declaration.settings.get("metavar")
    if isinstance(parameter.declaration, Argument):
        name = declared or parameter.name.upper().replace("_", "-")
        name += "..." if parameter.many and "..." not in name and " " not in name else ""
        return name if declared or parameter.required else f"[{name}]"
    if declared is not None:
        return str(declared)
    if get_origin(parameter.type) is Literal:
        return "|".join(map(str, get_args(parameter.type)))
    if parameter.type is Path:
        return "FOLDER" if isinstance(parameter.declaration, OutputFolder) else "FILE"
    return "N" if parameter.type in (int, float) else "TEXT"


def long_name(parameter: CommandParameter) -> str:
    """An option by its long name."""
    return next((name for name in parameter.options if name.startswith("--")), parameter.options[0])


def _calls(called: str, arguments: Sequence[CommandParameter], options: Sequence[CommandParameter]) -> Iterator[str]:
    """How the command is called: a line for each kind of arguments that it takes."""
    needed = [f"{long_name(one)} {value_name(one)}" for one in options if one.required]
    before = " ".join([called, *needed, *(["[OPTIONS]"] if len(needed) < len(options) else [])])
    if len(arguments) == 1:
        yield from (f"{before} {names}" for names in value_name(arguments[0]).split(" | "))
    else:
        yield " ".join([before, *map(value_name, arguments)])


def _names(option: CommandParameter) -> str:
    names = ", ".join(sorted(option.options, key=lambda name: name.startswith("--")))
    return names if option.type is bool else f"{names} {value_name(option)}"


def _help(parameter: CommandParameter, default: object) -> str:
    settings = parameter.declaration.settings
    parts = [_plain(settings.get("help", ""))]
    if "min" in settings and "max" in settings:
        ends = f"{settings['min']:,} {{}} {settings['max']:,}."
        parts.append(f"Between {ends.format('and')}" if settings.get("exclusive") else f"From {ends.format('to')}")
    if parameter.required and not isinstance(parameter.declaration, Argument):
        parts.append("Required.")
    elif settings.get("show_default", True) and default != "" and not any(default is one for one in _UNSHOWN):
        parts.append(f"[default: {default}]".replace(" ", _GLUE))
    return " ".join(part for part in parts if part)


def _paragraphs(command: Callable[..., object]) -> Iterator[str]:
    text = inspect.cleandoc(command.__doc__ or "")
    yield from (" ".join(_plain(paragraph).split()) for paragraph in text.split("\n\n") if paragraph.strip())


def _plain(text: str) -> str:
    """Without the marks that the documentation shows as type."""
    return text.replace("**", "").replace("`", "'")


def _page(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def _usage(calls: Sequence[str] | Iterator[str]) -> str:
    lines = [
        line for place, call in enumerate(calls) for line in _wrapped(call, "       " if place else "Usage: ", " " * 11)
    ]
    return "\n".join(lines)


def _folded(text: str) -> str:
    return "\n".join(_wrapped(text))


def _rows(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """Names and what they mean, in two columns."""
    if not rows:
        return ""
    width = max((len(name) for name, _ in rows if len(name) <= _NAMES), default=_NAMES)
    lines = [f"{title}:"]
    for name, text in rows:
        margin = " " * (width + 4)
        if len(name) > width:
            lines += [f"  {name}", *_wrapped(text, margin, margin)]
        else:
            lines += _wrapped(text, f"  {name:<{width}}  ", margin) or [f"  {name}"]
    return "\n".join(lines)


def _wrapped(text: str, first: str = "", later: str = "") -> list[str]:
    lines = textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=later, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace(_GLUE, " ") for line in lines]
