"""Two ways from the words of a command line to a call, by the same declarations.

:func:`quick_call` reads correct calls and takes a millisecond. It answers None whenever it is not sure: ``--help``, an
unknown option, a bad or missing value, an uncommon spelling. Then :func:`typer_command` decides, which takes a sixth of
a second. Correct calls mean the same both ways: tests/cli/test_parse.py. Help pages are ``cli/help_pages.py``'s, what
is said of mistakes is ``cli/mistakes.py``'s.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial, wraps
from glob import iglob
from pathlib import Path
from types import FunctionType, NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Union, cast, get_args, get_origin, get_type_hints

from dialgauge.cli.options import HELP_OPTIONS, Argument, CommandGroup, Declaration, Option, OutputFile, OutputFolder

if TYPE_CHECKING:
    import typer.core

#: Settings that change nothing, or only what :func:`_value` heeds.
_SETTINGS = {"help", "metavar", "show_default", "min", "max", "exclusive", "example", "why"}
_BOUNDS = {"min", "max", "exclusive", "example", "why"}
#: Whole numbers from here on are not exact everywhere.
_HUGE = 2**53
_NUMBERS = {int: re.compile(r"[0-9]{1,15}"), float: re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")}


class _UnsureError(Exception):
    """The quick way ends here."""


class CommandParameter(NamedTuple):
    """An option or argument of a command, as both parsers need it."""

    name: str
    declaration: Declaration
    type: Any  # of one value
    many: bool
    required: bool

    @property
    def options(self) -> tuple[str, ...]:
        return self.declaration.names or (f"--{self.name.replace('_', '-')}",)


def command_name(group: CommandGroup, words: Sequence[str]) -> str | None:
    """Which command of a group the words are for; None where the first is no command."""
    if len(group.commands) == 1:
        return next(iter(group.commands))
    return words[0] if words and words[0] in group.commands else None


def quick_call(group: CommandGroup, words: list[str]) -> partial[object] | None:
    """The call these words ask for, or None if that takes typer to say."""
    name = command_name(group, words)
    if name is None:
        return None
    command = group.commands[name]
    try:
        return partial(command, **keyword_arguments(command, words if len(group.commands) == 1 else words[1:]))
    except _UnsureError:
        return None


def check_outputs(command: Callable[..., object], given: Mapping[str, Any]) -> None:
    """An error where a file that the call is to write cannot be written: better now than after the work."""
    for name, declaration in _outputs(command):
        if given.get(name) is not None:
            from dialgauge.files import check_output, check_writable

            check = check_output if isinstance(declaration, OutputFile) else check_writable
            check(Path(given[name]))
            if isinstance(declaration, OutputFile):
                option = next((one for one in declaration.names if one.startswith("--")), f"--{name.replace('_', '-')}")
                others = {other: value for other, value in given.items() if other != name}
                read = [value for other, value in others.items() if _is_argument(command, other)]
                _refuse_input(option, Path(given[name]), list(others.values()), read)


def _is_argument(command: Callable[..., object], name: str) -> bool:
    """Is this what the command reads first of all: files, folders and patterns without an option before them?"""
    return any(isinstance(fact, Argument) for fact in getattr(_hints(command).get(name), "__metadata__", ()))


def _check_numbers(command: Callable[..., object], given: Mapping[str, Any]) -> None:
    """An error for a number out of its bounds, or one that no count or seed can be and that would break arithmetic."""
    from dialgauge.cli.mistakes import unfit_value
    from dialgauge.errors import DialgaugeError

    for one in command_parameters(command):
        value = given.get(one.name)
        if one.type in _NUMBERS and value is not None and not one.many:
            problem = unfit_value(value, one) or (None if abs(value) < _HUGE else f"must be below 2^53 (got {value})")
            if problem:
                raise DialgaugeError(f"{one.options[0]} {problem}")


def check_paths(command: Callable[..., object], words: Sequence[str]) -> None:
    """An error for an empty name of a file or folder: as a path it would be the current folder."""
    if not any(word == "" or word.endswith("=") for word in words):
        return
    from dialgauge.cli.mistakes import given_texts, unfit_value
    from dialgauge.errors import DialgaugeError

    for one in command_parameters(command):
        if isinstance(one.declaration, Option) and one.type is Path and "" in given_texts(one, words):
            raise DialgaugeError(f"{one.options[0]} {unfit_value('', one)}")


def argument_words(command: Callable[..., object], words: Sequence[str]) -> list[str]:
    """Those of the words that are given by their place: no options, and no values of options."""
    options = [one for one in command_parameters(command) if isinstance(one.declaration, Option)]
    valued = {name for one in options if one.type is not bool for name in one.options}
    found, left = [], iter(words)
    for word in left:
        if word in valued:
            next(left, None)
        elif word == "-" or not word.startswith("-"):
            found.append(word)
    return found


def _refuse_input(option: str, output: Path, others: list[Any], read: list[Any]) -> None:
    """An error where a file would be written over one that the command reads: by name, in a folder, by a pattern."""
    from dialgauge.errors import DialgaugeError

    if any(_same_file(output, each) for each in _names(others)) or any(_holds(each, output) for each in _names(read)):
        raise DialgaugeError(
            f"{option} would overwrite an input of this command; choose another file", file=str(output)
        )


def _names(values: list[Any]) -> Iterator[str | Path]:
    for value in values:
        yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str | Path))


def _same_file(one: Path, other: str | Path) -> bool:
    try:
        return one.is_file() and one.samefile(other)
    except (OSError, ValueError):  # a name that is no file
        return False


def _holds(named: str | Path, file: Path) -> bool:
    """Does a folder hold a file that is there already, or does a pattern fit it?"""
    try:
        if not file.is_file():
            return False
        if Path(named).is_dir():
            return Path(named).resolve() in file.resolve().parents
        return any(each in str(named) for each in "*?[") and any(_same_file(file, each) for each in iglob(str(named)))
    except (OSError, ValueError, RuntimeError, re.error):
        return False


def _outputs(command: Callable[..., object]) -> Iterator[tuple[str, Declaration]]:
    for name, hint in _hints(command).items():
        for fact in getattr(hint, "__metadata__", ()):
            if isinstance(fact, OutputFile | OutputFolder):
                yield name, fact


@cache
def _hints(command: Callable[..., object]) -> dict[str, Any]:
    return get_type_hints(command, include_extras=True)


def keyword_arguments(command: Callable[..., object], words: list[str]) -> dict[str, Any]:
    """What the words give the command; what they leave out has its default."""
    parameters = command_parameters(command)
    if any(one.declaration.settings.keys() - _SETTINGS for one in parameters):
        raise _UnsureError
    options = {name: one for one in parameters if isinstance(one.declaration, Option) for name in one.options}
    given: dict[str, Any] = {}
    places: list[str] = []
    left = iter(words)
    for word in left:
        if word.startswith("-") and word != "-":
            _take_option(options, word, left, given)
        else:
            places.append(word)
    _take_arguments([one for one in parameters if isinstance(one.declaration, Argument)], places, given)
    if any(one.required and one.name not in given for one in parameters):
        raise _UnsureError
    return given


def _take_option(options: dict[str, CommandParameter], word: str, left: Iterator[str], given: dict[str, Any]) -> None:
    name, equals, text = word.partition("=")
    one = options.get(name)
    if one is None or (equals and (one.type is bool or not name.startswith("--"))):
        raise _UnsureError
    if one.type is bool:
        given[one.name] = True
        return
    value = _value(one, text if equals else next(left, "--"))
    if one.many:
        given.setdefault(one.name, []).append(value)
    else:
        given[one.name] = value


def _take_arguments(arguments: list[CommandParameter], places: list[str], given: dict[str, Any]) -> None:
    for one in arguments:
        taken, places = (places, []) if one.many else (places[:1], places[1:])
        values = [_value(one, text) for text in taken]
        if values:
            given[one.name] = values if one.many else values[0]
    if places:
        raise _UnsureError


def _value(one: CommandParameter, text: str) -> Any:
    """The text as the parameter's type."""
    if text.startswith("-") and text != "-":
        raise _UnsureError
    if one.type is str:
        return text
    if one.type is Path:
        return Path(text)
    if one.type in _NUMBERS and _NUMBERS[one.type].fullmatch(text):
        number, bounds = one.type(text), one.declaration.settings
        if within(number, bounds):
            return number
    if get_origin(one.type) is Literal and text in get_args(one.type):
        return text
    raise _UnsureError


def within(number: float, bounds: Mapping[str, Any]) -> bool:
    """Whether a number is within the bounds of an option; ``exclusive`` ones do not belong to it."""
    low, high = bounds.get("min", number), bounds.get("max", number)
    return bool(low <= number <= high) and not (bounds.get("exclusive") and number in (low, high))


def command_parameters(command: Callable[..., object]) -> list[CommandParameter]:
    """The options and arguments of a command, in their order."""
    assert isinstance(command, FunctionType)  # noqa: S101 - what a command is
    count = command.__code__.co_argcount
    optional = command.__code__.co_varnames[count - len(command.__defaults__ or ()) : count]
    hints = {name: hint for name, hint in _hints(command).items() if name != "return"}
    return [_parameter(name, hint, required=name not in optional) for name, hint in hints.items()]


def _parameter(name: str, hint: Any, *, required: bool) -> CommandParameter:
    declaration = next((fact for fact in getattr(hint, "__metadata__", ()) if isinstance(fact, Declaration)), None)
    if declaration is None:
        raise _UnsureError
    kind = hint.__origin__
    if get_origin(kind) in (Union, UnionType):
        kind, *others = (member for member in get_args(kind) if member is not NoneType)
        if others:
            raise _UnsureError
    many = get_origin(kind) is list
    return CommandParameter(name, declaration, get_args(kind)[0] if many else kind, many, required)


def typer_command(group: CommandGroup) -> typer.core.TyperGroup | typer.core.TyperCommand:
    """The same commands as typer's own, with our help pages."""
    import typer
    import typer.core
    import typer.main

    from dialgauge.cli.help_pages import command_page, group_page

    class WithPage(typer.core.TyperCommand):
        def format_help(self, ctx: Any, formatter: Any) -> None:
            formatter.write(command_page(ctx.command_path, group.commands[str(self.name)]))

    class GroupWithPage(typer.core.TyperGroup):
        def format_help(self, ctx: Any, formatter: Any) -> None:
            formatter.write(group_page(ctx.command_path, group))

    helped = {"help_option_names": list(HELP_OPTIONS)}
    made = typer.Typer(help=group.help, add_completion=False, cls=GroupWithPage, context_settings=helped)
    for name, command in group.commands.items():
        made.command(name, cls=WithPage, context_settings=helped)(_with_typer_options(command))
    return cast("typer.core.TyperGroup | typer.core.TyperCommand", typer.main.get_command(made))


def _with_typer_options(command: Callable[..., object]) -> Callable[..., object]:
    """The command as typer reads it. Bounds are looked at here, by :func:`_check_numbers`."""
    import inspect

    import typer

    def declared(hint: Any) -> Any:
        facts = getattr(hint, "__metadata__", ())
        fact = next((fact for fact in facts if isinstance(fact, Declaration)), None)
        if fact is None:
            return hint
        make: Callable[..., Any] = typer.Option if isinstance(fact, Option) else typer.Argument
        settings = {name: value for name, value in fact.settings.items() if name not in _BOUNDS}
        return Annotated[hint.__origin__, make(*fact.names, **settings)]

    @wraps(command)
    def same(**given: Any) -> object:
        _check_numbers(command, given)
        check_outputs(command, given)
        return command(**given)

    hints = _hints(command)
    signature = inspect.signature(command)
    parameters = [one.replace(annotation=declared(hints[one.name])) for one in signature.parameters.values()]
    same.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return same
