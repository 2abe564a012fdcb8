"""Every regular expression of the package, how it is used, and strings that a careless one takes forever over.

An expression is found where it lives (in a module, a class, a table) or where it is written (a literal in a call of
``re``). What a stranger can give it are long runs; those that matter begin as the expression wants, repeat what one of
its repetitions takes, and then do not end as it wants.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from re import _constants as sre, _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import dialgauge
from support.source_trees import syntax_tree

ROOT = Path(dialgauge.__file__).parent
#: What looks for an expression all over a text, tries it at the beginning, or on the whole.
_METHODS = dict.fromkeys(("search", "sub", "subn", "split", "findall", "finditer"), "findall") | {
    "match": "match",
    "fullmatch": "fullmatch",
}
#: One of each kind of character, and pairs that two neighbouring repetitions share.
RUNS = " \t\n0aA_-.,'\"()[]{}<>/\\:=@é$"
PAIRS = (
    *("a ", "A ", "0 ", ", ", "- ", "\n ", "a\n"),
    *("0-", "a-", "a,", "a.", "0.", "a'", "_a", "(a", "[a", '\\"'),
)
TAILS = ("\0", "")


class Expression(NamedTuple):
    """A compiled expression, where it was found, and the methods by which the package uses it."""

    where: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


def expressions() -> list[Expression]:
    """All of them, each once."""
    found: dict[re.Pattern[Any], tuple[str, set[str]]] = {}
    for where, pattern, methods in (*_held(), *_written()):
        found.setdefault(pattern, (where, set()))[1].update(methods)
    return [
        Expression(where, pattern, frozenset(methods or _METHODS.values()))
        for pattern, (where, methods) in found.items()
    ]


def _held() -> Iterator[tuple[str, re.Pattern[Any], set[str]]]:
    """What modules and classes hold; where nobody calls a method on the name, any may be called."""
    for file, tree in _trees().items():
        if not any(isinstance(node, ast.Import) and node.names[0].name == "re" for node in ast.walk(tree)):
            continue
        name = ".".join(("dialgauge", *Path(file).with_suffix("").parts)).removesuffix(".__init__")
        module, used = importlib.import_module(name), _used(tree)
        holders = [module, *(kind for kind in vars(module).values() if getattr(kind, "__module__", "") == name)]
        for holder in holders:
            for member, value in list(getattr(holder, "__dict__", {}).items()):
                if not member.startswith("__"):
                    methods = used.get(member, set()) if member.startswith("_") else set()
                    for pattern in _inside(value):
                        yield f"{name}.{member}", pattern, methods or set(_METHODS.values())


def _inside(value: object, depth: int = 4) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict):
        for pair in list(value.items()):
            yield from _inside(pair, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _inside(item, depth - 1)


@cache
def _trees() -> dict[str, ast.Module]:
    return {path.relative_to(ROOT).as_posix(): syntax_tree(path) for path in sorted(ROOT.rglob("*.py"))}


def _used(tree: ast.Module) -> dict[str, set[str]]:
    """Names on which methods of an expression are called in a module, to these methods."""
    used: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in _METHODS:
            holder = node.value
            name = holder.id if isinstance(holder, ast.Name) else getattr(holder, "attr", "")
            used.setdefault(name, set()).add(_METHODS[node.attr])
    return used


def _written() -> Iterator[tuple[str, re.Pattern[Any], set[str]]]:
    """Literals in calls such as ``re.sub(r"\\s+", ...)``; what is compiled and kept is also found where it is kept."""
    for file, tree in _trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _of_re(node.func) in {*_METHODS, "compile"}:
                literal, method = node.args[0], _METHODS.get(_of_re(node.func))
                if isinstance(literal, ast.Constant) and isinstance(literal.value, str | bytes):
                    flags = re.NOFLAG
                    for inner in ast.walk(node):
                        if (name := _of_re(inner)).isupper():
                            flags |= getattr(re, name)
                    yield f"{file}:{node.lineno}", re.compile(literal.value, flags), {method} if method else set()


def _of_re(node: ast.AST) -> str:
    """``IGNORECASE`` of ``re.IGNORECASE``."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "re":
        return node.attr
    return ""


def attacks(pattern: re.Pattern[Any], length: int) -> Iterator[Any]:
    """Long strings of the pattern's own type; none for a pattern that repeats nothing, which cannot take long."""
    pumps = set(_pumps(_parser.parse(pattern.pattern, pattern.flags), ""))
    starts = {("", pump) for pump in (*RUNS, *PAIRS)} | pumps if pumps else ()
    for start, pump in sorted(starts):
        run = start + (pump * length)[:length]
        for tail in TAILS:
            text = run + tail
            yield text.encode() if isinstance(pattern.pattern, bytes) else text


def _pumps(items: Iterable[Any], start: str) -> Iterator[tuple[str, str]]:
    """For each repetition: what leads to it, and what it takes."""
    for kind, value in items:
        for inner in _bodies(kind, value):
            yield from _pumps(inner, start)
            if kind in _REPEATS and value[1] > 8:
                taken = _example(inner)
                yield from ((start, pump) for pump in {taken, *_letters(inner)} if pump)
        start += _example([(kind, value)])


_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)


def _bodies(kind: Any, value: Any) -> list[Any]:
    if kind in _REPEATS:
        return [value[2]]
    if kind is sre.SUBPATTERN:
        return [value[3]]
    if kind is sre.BRANCH:
        return list(value[1])
    return [value] if kind is sre.ATOMIC_GROUP else []


def _example(items: Iterable[Any]) -> str:
    """The shortest text that the items take, or nearly so: what looks around is not looked at."""
    text = ""
    for kind, value in items:
        if kind in _REPEATS:
            text += _example(value[2]) * min(value[0], 20)
        elif bodies := _bodies(kind, value):
            text += _example(bodies[0])
        else:
            text += next(iter(_letters([(kind, value)])), "")
    return text


def _letters(items: Iterable[Any]) -> list[str]:
    """The characters, of each kind one, with which the items can be taken, if they take one."""
    for kind, value in items:
        if kind is sre.LITERAL:
            return [chr(value)]
        if kind is sre.ANY:
            return ["a", " "]
        if kind is sre.NOT_LITERAL:
            return [letter for letter in "a b" if ord(letter) != value][:2]
        if kind is sre.IN:
            return [letter for letter in RUNS if _in(letter, value)][:6]
        if kind not in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
            return [letter for body in _bodies(kind, value) for letter in _letters(body)]
    return []


_CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}


def _in(letter: str, choices: list[Any]) -> bool:
    negated, taken = False, False
    for kind, value in choices:
        if kind is sre.NEGATE:
            negated = True
        elif kind is sre.LITERAL:
            taken |= ord(letter) == value
        elif kind is sre.RANGE:
            taken |= value[0] <= ord(letter) <= value[1]
        elif kind is sre.CATEGORY:
            taken |= re.match(_CATEGORIES[value], letter) is not None
    return taken != negated
