"""A tool: a function over data, with what its signature and docstring say to a model."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, get_type_hints

from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.worlds.desk import Side
from dialgauge.worlds.tools.argument_types import mismatch, missing_or_surplus, schema_of, unknown_type
from dialgauge.worlds.tools.marking import ENDS, FOR_USER, WRITES, marks_of

ToolKind: TypeAlias = Literal["read", "write", "end"]
#: The first parameter of every tool.
_DATA = "data"
_CHECK = "check_"
_TYPES = "str, int, float, bool, list[…], dict, Literal[…], a TypedDict or any of these with | None"
_ARGUMENT_LINE = re.compile(r"^\s+(\w+)(?: \([^)]*\))?:\s*(.*)$")


class ToolParameter(Struct, frozen=True):
    """One parameter: its type, and whether it may be left out."""

    type: Any
    required: bool = True
    about: str = ""


class Tool(Struct, frozen=True, kw_only=True):
    """A function with its name, parameters and marks."""

    name: str
    about: str = ""
    parameters: Mapping[str, ToolParameter] = {}
    marks: frozenset[str] = frozenset()
    function: Callable[..., Any]

    @property
    def writes(self) -> bool:
        return WRITES in self.marks

    @property
    def ends(self) -> bool:
        return ENDS in self.marks

    @property
    def side(self) -> Side:
        return "user" if FOR_USER in self.marks else "system"

    @property
    def kind(self) -> ToolKind:
        """What a call of it may do to the world: change it, end the conversation, or neither."""
        return "write" if self.writes else "end" if self.ends else "read"

    def refusal(self, arguments: Any) -> str | None:
        """Why these arguments are refused before the call; None where they fit."""
        if not isinstance(arguments, dict):
            return "the arguments must be an object"
        known = {name: parameter.required for name, parameter in self.parameters.items()}
        if problem := missing_or_surplus(arguments, known):
            return problem
        problems = (mismatch(value, self.parameters[name].type, name) for name, value in arguments.items())
        return next((problem for problem in problems if problem), None)

    def schema(self) -> dict[str, Any]:
        """Name, description and JSON Schema of the parameters, as models are told."""
        properties = {
            name: {**schema_of(parameter.type), **({"description": parameter.about} if parameter.about else {})}
            for name, parameter in self.parameters.items()
        }
        return {
            "name": self.name,
            "description": self.about,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": [name for name, parameter in self.parameters.items() if parameter.required],
                "additionalProperties": False,
            },
        }


def tools_in(
    namespace: Mapping[str, Any], module: str, file: str
) -> tuple[dict[str, Tool], dict[str, Callable[..., Any]]]:
    """The tools and the ``check_`` functions that are defined in a module."""
    tools: dict[str, Tool] = {}
    checks: dict[str, Callable[..., Any]] = {}
    for name, function in namespace.items():
        if name.startswith("_") or not inspect.isfunction(function) or function.__module__ != module:
            continue
        if name.startswith(_CHECK) and list(inspect.signature(function).parameters) == [_DATA]:
            checks[name] = function
        else:
            tools[name] = tool_from(name, function, file)
    return tools, checks


def tool_from(name: str, function: Callable[..., Any], file: str) -> Tool:
    """A function as a tool; an error for a signature that no schema can be made of."""

    def unfit(message: str) -> DialgaugeError:
        return DialgaugeError(message, file=file, line=function.__code__.co_firstlineno)

    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception as error:  # whatever evaluating an annotation raises
        raise unfit(f"the types of {name} cannot be understood: {error}") from error
    about, described = _docstring_parts(inspect.getdoc(function) or "")
    declared = list(inspect.signature(function).parameters.values())
    if not declared or declared[0].name != _DATA:
        raise unfit(
            f"the first parameter of the tool {name} must be '{_DATA}'; a helper's name begins with an underscore"
        )
    parameters = {}
    for each in declared[1:]:
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD, each.POSITIONAL_ONLY) or each.name not in hints:
            raise unfit(f"the parameter '{each.name}' of the tool {name} needs a name and a type: {_TYPES}")
        if odd := unknown_type(hints[each.name]):
            raise unfit(f"the parameter '{each.name}' of the tool {name} has the type {odd}; allowed are {_TYPES}")
        parameters[each.name] = ToolParameter(
            hints[each.name], each.default is each.empty, described.get(each.name, "")
        )
    return Tool(name=name, about=about, parameters=parameters, marks=marks_of(function), function=function)


def _docstring_parts(text: str) -> tuple[str, dict[str, str]]:
    """The description of a tool, and of its parameters from the lines below ``Args:``."""
    about, _, rest = text.partition("\nArgs:\n")
    described: dict[str, str] = {}
    for line in rest.splitlines():
        if line.strip() and not line[0].isspace():
            break
        if entry := _ARGUMENT_LINE.match(line):
            described[entry[1]] = entry[2]
    return about.strip(), described
