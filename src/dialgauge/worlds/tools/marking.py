"""What ``tools.py`` of a tool domain imports: the error a tool raises, and how its functions are marked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
T = TypeVar("T")

WRITES, ENDS, FOR_USER = "writes", "ends", "for_user"
_ATTRIBUTE = "__dialgauge_marks__"


class ToolError(Exception):
    """A call that cannot be carried out; the agent sees the sentence as the result."""


class _Unchecked:
    """The mark of a parameter whose value is taken as it is given."""


UNCHECKED = _Unchecked()
#: ``AsGiven[str]`` is advertised as ``str``, but whatever comes is accepted: a value that nothing is computed from.
AsGiven = Annotated[T, UNCHECKED]


def writes(function: Function) -> Function:
    """Mark a tool that changes data."""
    return _marked(function, WRITES)


def ends(function: Function) -> Function:
    """Mark a tool that ends the conversation, such as a transfer to a person."""
    return _marked(function, ENDS)


def for_user(function: Function) -> Function:
    """Mark a tool that the user holds, not the system."""
    return _marked(function, FOR_USER)


def marks_of(function: Callable[..., Any]) -> frozenset[str]:
    """The marks that a function bears."""
    marks: frozenset[str] = getattr(function, _ATTRIBUTE, frozenset())
    return marks


def _marked(function: Function, mark: str) -> Function:
    setattr(function, _ATTRIBUTE, marks_of(function) | {mark})
    return function
