"""What ``dialgauge COMMAND --help`` prints, from the declarations: plain text in 79 columns."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from dialgauge.cli.options import HELP_OPTIONS
from dialgauge.cli.parse import REQUIRED, command_parameters

if TYPE_CHECKING:
    from dialgauge.cli.options import CommandGroup
    from dialgauge.cli.parse import CommandParameter

WIDTH = 79
#: Names that are longer stand on a line of their own.
_NAMES = 26
#: Defaults that say nothing: not given, and flags.
_UNSHOWN = (None, False, REQUIRED)
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
    arguments = [parameter for parameter in parameters if not parameter.is_option]
    options = [parameter for parameter in parameters if parameter.is_option]
    return _page(
        _usage(_calls(called, arguments, options)),
        *(_folded(paragraph) for paragraph in _paragraphs(command)),
        _rows("Arguments", [(argument.value_name, _help(argument)) for argument in arguments]),
        _rows("Options", [*((_names(option), _help(option)) for option in options), _HELP]),
    )


def _calls(called: str, arguments: Sequence[CommandParameter], options: Sequence[CommandParameter]) -> Iterator[str]:
    """How the command is called: a line for each kind of arguments that it takes."""
    needed = [f"{option.long_name} {option.value_name}" for option in options if option.required]
    before = " ".join([called, *needed, *(["[OPTIONS]"] if len(needed) < len(options) else [])])
    if len(arguments) == 1:
        yield from (f"{before} {names}" for names in arguments[0].value_name.split(" | "))
    else:
        yield " ".join([before, *(argument.value_name for argument in arguments)])


def _names(option: CommandParameter) -> str:
    names = ", ".join(sorted(option.options, key=lambda name: name.startswith("--")))
    return names if option.type is bool else f"{names} {option.value_name}"


def _help(parameter: CommandParameter) -> str:
    settings, default = parameter.declaration.settings, parameter.default
    parts = [_plain(settings.get("help", ""))]
    if "min" in settings and "max" in settings:
        ends = f"{settings['min']:,} {{}} {settings['max']:,}."
        parts.append(f"Between {ends.format('and')}" if settings.get("exclusive") else f"From {ends.format('to')}")
    if parameter.required and parameter.is_option:
        parts.append("Required.")
    elif default != "" and not any(default is unshown for unshown in _UNSHOWN):
        parts.append(f"[default: {default}]".replace(" ", _GLUE))
    return " ".join(part for part in parts if part)


def _paragraphs(command: Callable[..., object]) -> Iterator[str]:
    text = inspect.cleandoc(command.__doc__ or "")
    yield from (" ".join(_plain(paragraph).split()) for paragraph in text.split("\n\n") if paragraph.strip())


def _plain(text: str) -> str:
    """The text without the marks of Markdown."""
    return text.replace("**", "").replace("`", "'")


def _page(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def _usage(calls: Sequence[str] | Iterator[str]) -> str:
    lines = [
        line for index, call in enumerate(calls) for line in _wrapped(call, "       " if index else "Usage: ", " " * 11)
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
