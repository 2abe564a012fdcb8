"""``calculate`` of airline and retail: Python's arithmetic on numbers, without anything else of Python.

Values are Python's own, whole numbers of any size included; what has more than ``MOST_BITS`` is far beyond any float,
and is refused before it is computed.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, TypeAlias

from dialgauge.worlds.tools.marking import ToolError

CHARACTERS = frozenset("0123456789+-*/(). ")
MOST_BITS = 1 << 17
LONGEST = 100_000
Number: TypeAlias = int | float

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
    if not CHARACTERS.issuperset(expression) or len(expression) > LONGEST:
        raise ToolError("only digits, + - * / ( ) . and spaces can be calculated")
    try:
        value = _value(ast.parse(expression.strip(), mode="eval").body)
        return str(round(float(value), 2))
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError) as error:
        raise ToolError(f"'{expression[:80]}' cannot be calculated ({type(error).__name__})") from error


def _value(node: ast.expr) -> Number:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        value = _value(node.operand)
        return -value if isinstance(node.op, ast.USub) else +value
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        left, right = _value(node.left), _value(node.right)
        if isinstance(left, int) and isinstance(right, int) and _bits(left, right, node.op) > MOST_BITS:
            raise OverflowError
        result = _BINARY[type(node.op)](left, right)
        if isinstance(result, int | float):
            return result
    raise ValueError("not a number")


def _bits(left: int, right: int, how: ast.operator) -> int:
    if isinstance(how, ast.Pow):
        return left.bit_length() * right if right > 0 and abs(left) > 1 else 0
    return left.bit_length() + right.bit_length()
