"""What is wrong with a call, in one sentence: which option, what it must be, and what was given.

Typer finds the mistakes; what it says of them ("Input should be greater than or equal to 1") is not passed on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args, get_origin

from dialgauge.cli.options import Option

if TYPE_CHECKING:
    from typer.exceptions import TyperException

    from dialgauge.cli.parse import CommandParameter

#: How alike a misspelt option is to the one that was meant; --figures is not to --measures.
_ALIKE = 0.7
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_EXTRA = re.compile(r"Got unexpected extra argument\S* \((.*)\)")


def unfit_value(value: object, option: CommandParameter) -> str | None:
    """Why a value is not of the option's type or not within its bounds, as the end of a sentence."""
    what = {int: "a whole number", float: "a number"}.get(option.type)
    if get_origin(option.type) is Literal:
        known = get_args(option.type)
        return None if value in known else f"must be one of {', '.join(map(str, known))} (got {value!r})"
    if option.type is Path and value == "":
        from dialgauge.cli.help_pages import value_name

        return f"must name a {value_name(option).lower()} (got '')"
    if what is None:
        fits = isinstance(value, str | int | float) and not isinstance(value, bool) and "\0" not in str(value)
        kind = "a text, a number or a list of these" if option.many else "a text or a number"
        return None if fits else f"must be {kind} (got {value!r})"
    if isinstance(value, bool) or not isinstance(value, int if option.type is int else int | float) or value != value:
        return f"must be {what} (got {value!r})"
    return _out_of_bounds(value, option)


def _out_of_bounds(value: float, option: CommandParameter) -> str | None:
    from dialgauge.cli.parse import within

    bounds = option.declaration.settings
    if within(value, bounds):
        return None
    low, high = bounds.get("min", value), bounds.get("max", value)
    if option.type is float and {"min", "max"} <= bounds.keys():
        example = f", such as {bounds['example']}" if "example" in bounds else ""
        return f"must be between {low} and {high}{example} (got {f'{value:g}' if example else value})"
    why = f": {bounds['why']}" if "why" in bounds else ""
    return f"must be ≥ {low} (got {value}){why}" if value < low else f"must be ≤ {high} (got {value})"


def mistake(error: TyperException, called: str, command: Callable[..., object] | None, words: Sequence[str]) -> str:
    """The sentence for what typer found wrong with the words of a call."""
    from dialgauge.cli.parse import command_parameters

    parameters = [] if command is None else command_parameters(command)
    see = f" ('{called} --help' shows how to call it)"
    name = str(getattr(error, "option_name", ""))
    if name and hasattr(error, "possibilities"):
        return _unknown_option(name, called, parameters)
    if name:
        return _without_value(name, parameters) or error.format_message() + see
    wrong = str(getattr(getattr(error, "param", None), "name", ""))
    parameter = next((one for one in parameters if one.name == wrong), None)
    if parameter is not None and hasattr(error, "param_type"):
        return f"{_shown(parameter)} is missing{see}"
    if parameter is not None and (problem := next(_unfit_texts(parameter, words), None)):
        return problem
    if extra := _EXTRA.fullmatch(error.format_message()):
        return f"unexpected argument '{extra[1]}'{see}"
    return error.format_message() + see


def _unknown_option(name: str, called: str, parameters: Sequence[CommandParameter]) -> str:
    from difflib import get_close_matches

    from dialgauge.cli.renamed import renamed_option

    if instead := renamed_option(called.removeprefix("dialgauge "), name):
        return f"'{called}' has no option {name}: {instead}"
    options = [option for one in parameters if isinstance(one.declaration, Option) for option in one.options]
    known = {option.lstrip("-"): option for option in options if option.startswith("--")}
    word = name.lstrip("-").lower()
    begun = [one for one in known if word and one.startswith(word)] if name.startswith("--") else []
    near = (begun or get_close_matches(word, known, n=3, cutoff=_ALIKE))[:3]
    if near:
        return f"unknown option {name}. Did you mean {' or '.join(known[one] for one in near)}?"
    return f"unknown option {name} ('{called} --help' lists the options)"


def _without_value(name: str, parameters: Sequence[CommandParameter]) -> str | None:
    """An option without the value that it needs, or with one that it does not take."""
    from dialgauge.cli.help_pages import value_name

    option = next((one for one in parameters if name in one.options), None)
    if option is None:
        return None
    return f"{name} takes no value" if option.type is bool else f"{name} needs a value: {name} {value_name(option)}"


def _shown(parameter: CommandParameter) -> str:
    from dialgauge.cli.help_pages import long_name, value_name

    value = value_name(parameter)
    return f"{long_name(parameter)} {value}" if isinstance(parameter.declaration, Option) else value


def _unfit_texts(option: CommandParameter, words: Sequence[str]) -> Iterator[str]:
    """What is wrong with the values that the words give an option."""
    from dialgauge.cli.help_pages import long_name

    what = {int: "a whole number", float: "a number"}.get(option.type)
    for text in given_texts(option, words):
        if get_origin(option.type) is Literal and (problem := unfit_value(text, option)):
            yield f"{long_name(option)} {problem}"
        elif what and not (_NUMBER.fullmatch(text) and (option.type is float or "." not in text)):
            yield f"{long_name(option)} must be {what} (got '{text}')"


def given_texts(option: CommandParameter, words: Sequence[str]) -> Iterator[str]:
    """The values that the words give an option."""
    for place, word in enumerate(words):
        name, equals, text = word.partition("=")
        if name in option.options and equals:
            yield text
        elif word in option.options:
            yield from words[place + 1 : place + 2]
        elif word[:2] in option.options and not word.startswith("--"):
            yield word[2:]
