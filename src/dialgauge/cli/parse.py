"""From the words of a command line to the arguments of a command, by the command's own declarations.

A command is a function. Each of its parameters is an option, an argument, or a bundle: a Struct whose fields are
options. What is wrong with a call is one sentence: which option, what it must be, and what was given.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from glob import iglob
from pathlib import Path
from types import FunctionType, NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from dialgauge.cli.options import HELP_OPTIONS, Argument, CommandGroup, Declaration, Option, OutputFile, OutputFolder
from dialgauge.errors import DialgaugeError, nearest

#: Whole numbers from here on are not exact everywhere.
_HUGE = 2**53
_NUMBERS = {
    int: re.compile(r"[+-]?[0-9]+(_[0-9]+)*"),
    float: re.compile(r"[+-]?([0-9]+(_[0-9]+)*(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|nan|inf", re.IGNORECASE),
}
_KINDS = {int: "a whole number", float: "a number"}
#: How alike a misspelt option is to the one that was meant; --figures is not to --measures.
_ALIKE = 0.7
#: The default of a parameter that has none.
REQUIRED = object()


class CommandParameter(NamedTuple):
    """An option or argument of a command."""

    name: str
    declaration: Declaration
    type: Any  # of one value
    many: bool
    default: Any
    #: The parameter of the command that it is a field of; empty where it is one itself.
    bundle: str = ""
    #: The options that it cannot be given together with.
    not_with: tuple[str, ...] = ()

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    @property
    def is_option(self) -> bool:
        return isinstance(self.declaration, Option)

    @property
    def options(self) -> tuple[str, ...]:
        return self.declaration.names or (f"--{self.name.replace('_', '-')}",)

    @property
    def long_name(self) -> str:
        return next((name for name in self.options if name.startswith("--")), self.options[0])

    @property
    def value_name(self) -> str:
        """What stands for the value of an option or argument: as declared, or by its type."""
        declared = self.declaration.settings.get("metavar")
        if not self.is_option:
            name = declared or self.name.upper().replace("_", "-")
            name += "..." if self.many and "..." not in name and " " not in name else ""
            return name if declared or self.required else f"[{name}]"
        if declared is not None:
            return declared
        if get_origin(self.type) is Literal:
            return "|".join(map(str, get_args(self.type)))
        if self.type is Path:
            return "FOLDER" if isinstance(self.declaration, OutputFolder) else "FILE"
        return "N" if self.type in _NUMBERS else "TEXT"


class Words(NamedTuple):
    """The words of a call: options with their values as typed, and arguments."""

    options: list[tuple[CommandParameter, str]]
    places: list[str]
    help: bool

    @property
    def named(self) -> set[str]:
        """The options that were typed, by all their names."""
        return {name for option, _ in self.options for name in option.options}


def command_name(group: CommandGroup, words: Sequence[str]) -> str | None:
    """Which command of a group the words are for; None where the first is no command."""
    if group.single:
        return next(iter(group.own))
    return words[0] if words and group.find(words[0]) else None


@cache
def command_parameters(command: Callable[..., object]) -> tuple[CommandParameter, ...]:
    """The options and arguments of a command, in their order; those of a bundle stand where the bundle does."""
    assert isinstance(command, FunctionType)  # noqa: S101 - what a command is
    count = command.__code__.co_argcount
    optional = command.__code__.co_varnames[count - len(command.__defaults__ or ()) : count]
    defaults = dict(zip(optional, command.__defaults__ or (), strict=True)) | (command.__kwdefaults__ or {})
    parameters: list[CommandParameter] = []
    for name, hint in _hints(command).items():
        if _is_bundle(hint):
            parameters += [parameter._replace(bundle=name) for parameter in _bundle_parameters(hint)]
        elif name != "return":
            parameters.append(_parameter(name, hint, defaults.get(name, REQUIRED)))
    return tuple(parameters)


@cache
def _bundle_parameters(bundle: Any) -> list[CommandParameter]:
    fields = get_type_hints(bundle, include_extras=True)
    given = dict(zip(reversed(bundle.__struct_fields__), reversed(bundle.__struct_defaults__), strict=False))
    not_with = getattr(bundle, "not_with", ())
    return [
        _parameter(field, fields[field], given.get(field, REQUIRED), not_with) for field in bundle.__struct_fields__
    ]


def changed_options(*bundles: Any, **others: object) -> list[str]:
    """The options of bundles that are not at their defaults, then those of others that have a value."""
    options = [
        option.long_name
        for bundle in bundles
        for option in _bundle_parameters(bundle.__class__)
        if getattr(bundle, option.name) != option.default
    ]
    return options + [f"--{name.replace('_', '-')}" for name, value in others.items() if value]


@cache
def _hints(command: Callable[..., object]) -> dict[str, Any]:
    return get_type_hints(command, include_extras=True)


def _is_bundle(hint: Any) -> bool:
    return hasattr(hint, "__struct_fields__")


def _parameter(name: str, hint: Any, default: Any, not_with: tuple[str, ...] = ()) -> CommandParameter:
    declaration = next(fact for fact in hint.__metadata__ if isinstance(fact, Declaration))
    kind = hint.__origin__
    if get_origin(kind) in (Union, UnionType):
        [kind] = (member for member in get_args(kind) if member is not NoneType)
    many = get_origin(kind) is list
    settings = declaration.settings
    others = (*settings.get("not_with", ()), *settings.get("unless", ()), *not_with)
    return CommandParameter(
        name, declaration, get_args(kind)[0] if many else kind, many, default, not_with=tuple(dict.fromkeys(others))
    )


def named_options(command: Callable[..., object]) -> dict[str, CommandParameter]:
    """The options of a command by all their names."""
    return {name: each for each in command_parameters(command) if each.is_option for name in each.options}


def read_words(called: str, command: Callable[..., object], words: Sequence[str]) -> Words:
    """Tell the words of a call apart; what is no option of the command is an error, and so is a missing value.

    As everywhere: ``--name value``, ``--name=value``, ``-n value``, ``-nvalue``, ``-n=value``, several flags as
    ``-ab``, options and arguments in any order, and after ``--`` only arguments.
    """
    known = named_options(command)
    options: list[tuple[CommandParameter, str]] = []
    places: list[str] = []
    help_wanted = False
    left = deque(words)
    while left:
        word = left.popleft()
        if word == "--":
            places += left
            break
        if word == "-" or not word.startswith("-"):
            places.append(word)
            continue
        name, equals, text = word.partition("=")
        if not word.startswith("--"):
            name, equals, text = word[:2], word[2:3] if word[2:3] == "=" else "", word[2:].removeprefix("=")
        option = known.get(name)
        if name not in HELP_OPTIONS and option is None:
            raise DialgaugeError(_unknown_option(name, called, list(known)))
        if option is None or option.type is bool:
            if equals:
                raise DialgaugeError(f"{name} takes no value")
            if text:  # several letters behind one dash
                left.appendleft(f"-{text}")
            help_wanted = help_wanted or option is None
            text = ""
        elif not equals and not text:
            if not left:
                raise DialgaugeError(f"{name} needs a value: {name} {option.value_name}")
            text = left.popleft()
        if option is not None:
            options.append((option, text))
    return Words(options, places, help_wanted)


def unknown_group_option(called: str, words: Sequence[str]) -> None:
    """An error for the first of the words, before any command, that is an option other than that for help."""
    for word in words:
        if not word.startswith("-"):
            return
        if word not in HELP_OPTIONS:
            raise DialgaugeError(_unknown_option(word.partition("=")[0] if word[:2] == "--" else word[:2], called, []))


def _unknown_option(name: str, called: str, options: Sequence[str]) -> str:
    from difflib import get_close_matches

    known = {option.lstrip("-"): option for option in options if option.startswith("--")}
    word = name.lstrip("-").lower()
    begun = [option for option in known if word and option.startswith(word)] if name.startswith("--") else []
    near = (begun or get_close_matches(word, known, n=3, cutoff=_ALIKE))[:3]
    if near:
        return f"unknown option {name}. Did you mean {' or '.join(known[option] for option in near)}?"
    return f"unknown option {name} ('{called} --help' lists the options)"


def given_values(called: str, command: Callable[..., object], words: Words) -> dict[str, Any]:
    """Values by the names of parameters and of fields of bundles; a missing one that is required is an error."""
    parameters = command_parameters(command)
    given: dict[str, Any] = {}
    for option, text in words.options:
        _take(given, option, True if option.type is bool else value_of(option, text))
    places = words.places
    for parameter in parameters:
        if not parameter.is_option:
            taken, places = (places, []) if parameter.many else (places[:1], places[1:])
            for text in taken:
                _take(given, parameter, value_of(parameter, text))
    known = named_options(command)
    see = f" ('{called} --help' shows how to call it)"
    for each in sorted(parameters, key=lambda each: each.is_option):
        others = [known[name] for name in each.declaration.settings.get("unless", ()) if name in known]
        if (each.required or others) and not given.keys() & {either.name for either in (each, *others)}:
            shown = " or ".join(map(_shown, (each, *others))) if each.is_option or others else each.value_name
            raise DialgaugeError(f"{shown} is missing{see}")
    if places:
        raise DialgaugeError(f"unexpected argument '{' '.join(places)}'{see}")
    return given


def keyword_arguments(command: Callable[..., object], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the call: values, and bundles made of them. What was not given has its default."""
    parameters = [parameter for parameter in command_parameters(command) if parameter.name in given]
    made = {parameter.name: given[parameter.name] for parameter in parameters if not parameter.bundle}
    for name, hint in _hints(command).items():
        if _is_bundle(hint):
            made[name] = hint(
                **{parameter.name: given[parameter.name] for parameter in parameters if parameter.bundle == name}
            )
    return made


def check_together(command: Callable[..., object], words: Words) -> None:
    """An error for options that exclude each other, and for one without the option that it needs."""
    known = named_options(command)
    typed = words.named
    arguments = [each for each in command_parameters(command) if not each.is_option][: len(words.places)]
    given = {_shown(argument): argument for argument in arguments}
    given |= {parameter.long_name: parameter for parameter in known.values() if parameter.long_name in typed}
    unfit: dict[str, list[str]] = {}
    for name, parameter in given.items():
        for other in (other for other in parameter.not_with if other in typed):
            if why := known[other].declaration.settings.get("alone"):
                unfit.setdefault(why, []).append(name)
            elif why := parameter.declaration.settings.get("alone"):
                unfit.setdefault(why, []).append(other)
            else:
                raise DialgaugeError(f"{name} and {other} exclude each other; leave one out")
    for why, names in unfit.items():
        raise DialgaugeError(f"{why}; leave out {', '.join(names)}")
    for name, parameter in given.items():
        needed = parameter.declaration.settings.get("needs")
        if needed is not None and needed not in typed:
            raise DialgaugeError(f"{name} needs {_shown(known[needed])}")


def _shown(parameter: CommandParameter) -> str:
    """An option with what stands for its value, or the name of an argument."""
    if not parameter.is_option:
        return re.sub(r"[][]|\.\.\.", "", parameter.value_name).split(" |")[0]
    return parameter.long_name if parameter.type is bool else f"{parameter.long_name} {parameter.value_name}"


def _take(given: dict[str, Any], parameter: CommandParameter, value: Any) -> None:
    if parameter.many:
        given.setdefault(parameter.name, []).append(value)
    else:
        given[parameter.name] = value


def value_of(parameter: CommandParameter, text: str) -> Any:
    """The text as the parameter's type; an error where it cannot be, or is out of bounds."""
    value: Any = text
    if parameter.type in _NUMBERS:
        if not _NUMBERS[parameter.type].fullmatch(text.strip()):
            raise DialgaugeError(f"{parameter.long_name} must be {_KINDS[parameter.type]} (got '{text}')")
        value = parameter.type(text) if len(text) < 1000 else float("inf")
    typed = (
        parameter.type in _NUMBERS
        or get_origin(parameter.type) is Literal
        or (parameter.is_option and parameter.type is Path)
    )
    if typed and "\0" not in text and (problem := unfit_value(value, parameter)):
        raise DialgaugeError(f"{parameter.long_name if parameter.is_option else parameter.value_name} {problem}")
    return Path(text) if parameter.type is Path else value


def unfit_value(value: object, option: CommandParameter) -> str | None:
    """Why a value is not of the option's type or not within its bounds, as the end of a sentence."""
    if get_origin(option.type) is Literal:
        return None if value in (known := get_args(option.type)) else _no_choice(value, known)
    if option.type is Path and value == "":
        return f"must name a {option.value_name.lower()} (got '')"
    if option.type not in _NUMBERS:
        fits = isinstance(value, str | int | float) and not isinstance(value, bool) and "\0" not in str(value)
        kind = "a text, a number or a list of these" if option.many else "a text or a number"
        return None if fits else f"must be {kind} (got {value!r})"
    whole = option.type is int
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or value != value:
        return f"must be {_KINDS[option.type]} (got {value!r})"
    bounds = option.declaration.settings
    low, high = bounds.get("min", value), bounds.get("max", value)
    if low <= value <= high and not (bounds.get("exclusive") and value in (low, high)):
        return None if abs(value) < _HUGE else f"must be below 2^53 (got {value})"
    if not whole and {"min", "max"} <= bounds.keys():
        example = f", such as {bounds['example']}" if "example" in bounds else ""
        return f"must be between {low} and {high}{example} (got {f'{value:g}' if example else value})"
    why = f": {bounds['why']}" if "why" in bounds else ""
    return f"must be ≥ {low} (got {value}){why}" if value < low else f"must be ≤ {high} (got {value})"


def _no_choice(value: object, known: Sequence[str]) -> str:
    hint = nearest(str(value), known, likeness=_ALIKE, listed=False)
    near = f".{hint}" if hint else ""
    return f"must be {'one of ' if len(known) > 1 else ''}{', '.join(known)} (got {value!r}){near}"


def check_outputs(command: Callable[..., object], given: Mapping[str, Any]) -> None:
    """An error where a file that the call is to write cannot be written: better now than after the work."""
    parameters = {command_parameter.name: command_parameter for command_parameter in command_parameters(command)}
    for name, parameter in parameters.items():
        if given.get(name) is None or not isinstance(parameter.declaration, OutputFile | OutputFolder):
            continue
        from dialgauge.files import check_output, check_writable

        path = Path(given[name])
        if isinstance(parameter.declaration, OutputFolder):
            check_writable(path)
            continue
        check_output(path)
        others = {other: value for other, value in given.items() if other != name}
        read = [value for other, value in others.items() if isinstance(parameters[other].declaration, Argument)]
        if any(_same_file(path, each) for each in _names(others.values())) or any(
            _holds(each, path) for each in _names(read)
        ):
            raise DialgaugeError(
                f"{parameter.long_name} would overwrite an input of this command; choose another file", file=str(path)
            )


def _names(values: Any) -> Iterator[str | Path]:
    for value in values:
        yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str | Path))


def _same_file(path: Path, other: str | Path) -> bool:
    try:
        return path.is_file() and path.samefile(other)
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
