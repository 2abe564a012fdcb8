"""Tools: functions over data, the marks that they bear, and what their signatures and docstrings say to a model.

``tools.py`` of a domain imports :class:`ToolError`, :func:`writes`, :func:`ends` and :func:`for_user`. Arguments are
checked before a call and nothing is converted: an integer may stand for a float, a truth value for neither.
"""

from __future__ import annotations

import ast
import inspect
import operator
import re
import types
from collections.abc import Callable, Mapping
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import msgspec
from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.worlds.desk import Side

ToolKind: TypeAlias = Literal["read", "write", "end"]
Function = TypeVar("Function", bound=Callable[..., Any])
T = TypeVar("T")

# Marks

WRITES, ENDS, FOR_USER = "writes", "ends", "for_user"
_ATTRIBUTE = "__dialgauge_marks__"


class ToolError(Exception):
    """A call that cannot be carried out; the agent sees the sentence as the result."""


class _Unchecked:
    """The mark of a parameter whose value is taken as it is given."""


#: ``AsGiven[str]`` is advertised as ``str``, but whatever comes is accepted: a value that nothing is computed from.
AsGiven = Annotated[T, _Unchecked()]


def writes(function: Function) -> Function:
    """Mark a tool that changes data."""
    return _marked(function, WRITES)


def ends(function: Function) -> Function:
    """Mark a tool that ends the conversation, such as a transfer to a person."""
    return _marked(function, ENDS)


def for_user(function: Function) -> Function:
    """Mark a tool that the user holds, not the system."""
    return _marked(function, FOR_USER)


def _marks_of(function: Callable[..., Any]) -> frozenset[str]:
    marks: frozenset[str] = getattr(function, _ATTRIBUTE, frozenset())
    return marks


def _marked(function: Function, mark: str) -> Function:
    setattr(function, _ATTRIBUTE, _marks_of(function) | {mark})
    return function


# Tools

#: The first parameter of every tool.
_DATA = "data"
_CHECK = "check_"
_TYPES = "str, int, float, bool, list[…], dict, Literal[…], a TypedDict or any of these with | None"
_ARGUMENT_LINE = re.compile(r"^\s+(\w+)(?: \([^)]*\))?:\s*(.*)$")
_SCALARS = {str: "string", bool: "boolean", int: "integer", float: "number", None: "null", type(None): "null"}
_ANYTHING = (Any, object)


class ToolParameter(Struct, frozen=True):
    """One parameter: its type, and whether it may be left out."""

    type: Any
    schema: dict[str, Any]
    required: bool = True


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

    def refusal(self, arguments: Any) -> str:
        """Why these arguments are refused before the call; "" where they fit."""
        if not isinstance(arguments, dict):
            return "the arguments must be an object"
        required = [name for name, parameter in self.parameters.items() if parameter.required]
        if missing := [name for name in required if name not in arguments]:
            return f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        for name, value in arguments.items():
            if name not in self.parameters:
                return f"there is no parameter {name}"
            hint = self.parameters[name].type
            if get_origin(hint) is Annotated:
                continue
            try:
                msgspec.convert(value, hint, strict=True)
            except msgspec.ValidationError as error:
                return f"{name}: {str(error).replace('`', '')}"
        return ""

    def schema(self) -> dict[str, Any]:
        """Name, description and JSON Schema of the parameters, as models are told."""
        return {
            "name": self.name,
            "description": self.about,
            "parameters": {
                "type": "object",
                "properties": {name: parameter.schema for name, parameter in self.parameters.items()},
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
            tools[name] = _tool_from(name, function, file)
    return tools, checks


def _tool_from(name: str, function: Callable[..., Any], file: str) -> Tool:
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
        try:
            schema = _schema_of(hints[each.name])
        except TypeError as error:
            message = f"the parameter '{each.name}' of the tool {name} has the type {error}; allowed are {_TYPES}"
            raise unfit(message) from error
        if about_it := described.get(each.name):
            schema = {**schema, "description": about_it}
        parameters[each.name] = ToolParameter(hints[each.name], schema, each.default is each.empty)
    return Tool(name=name, about=about, parameters=parameters, marks=_marks_of(function), function=function)


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


def _schema_of(hint: Any) -> dict[str, Any]:
    """The JSON Schema of a type; a TypeError names the part of it that a tool cannot have."""
    if hint in _SCALARS:
        return {"type": _SCALARS[hint]}
    origin, parts = get_origin(hint), get_args(hint)
    if hint in _ANYTHING:
        return {}
    if origin in (Annotated, Required, NotRequired):
        return _schema_of(parts[0])
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema_of(part) for part in parts]}
    if is_typeddict(hint):
        hints = get_type_hints(hint, include_extras=True)
        # Where annotations are texts, the class itself overlooks ``NotRequired``.
        required = [key for key in hints if key in hint.__required_keys__ and get_origin(hints[key]) is not NotRequired]
        return {
            "type": "object",
            "properties": {key: _schema_of(inner) for key, inner in hints.items()},
            "required": required,
        }
    if hint is list or origin is list:
        return {"type": "array", **({"items": _schema_of(parts[0])} if parts else {})}
    if hint is dict or (origin is dict and parts[0] is str):
        return {"type": "object", **({"additionalProperties": _schema_of(parts[1])} if parts else {})}
    raise TypeError(getattr(hint, "__name__", str(hint)))


# ``calculate`` of airline and retail: Python's arithmetic on numbers, without anything else of Python. Values are
# Python's own, whole numbers of any size included; what has more bits than this is far beyond any float.

_CHARACTERS = frozenset("0123456789+-*/(). ")
_MOST_BITS = 1 << 17
_LONGEST = 100_000
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}


def calculated(expression: str) -> str:
    """The value as the text of a float rounded to two decimals."""
    if not _CHARACTERS.issuperset(expression) or len(expression) > _LONGEST:
        raise ToolError("only digits, + - * / ( ) . and spaces can be calculated")
    try:
        value = _value(ast.parse(expression.strip(), mode="eval").body)
        return str(round(float(value), 2))
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError) as error:
        raise ToolError(f"'{expression[:80]}' cannot be calculated ({type(error).__name__})") from error


def _value(node: ast.expr) -> int | float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        value = _value(node.operand)
        return -value if isinstance(node.op, ast.USub) else +value
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        left, right = _value(node.left), _value(node.right)
        if isinstance(left, int) and isinstance(right, int) and _bits(left, right, node.op) > _MOST_BITS:
            raise OverflowError
        result = _BINARY[type(node.op)](left, right)
        if isinstance(result, int | float):
            return result
    raise ValueError("not a number")


def _bits(left: int, right: int, how: ast.operator) -> int:
    if isinstance(how, ast.Pow):
        return left.bit_length() * right if right > 0 and abs(left) > 1 else 0
    return left.bit_length() + right.bit_length()
