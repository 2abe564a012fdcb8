"""The source as syntax trees, parsed once for all tests that look at it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def syntax_tree(path: Path) -> ast.Module:
    """The tree of a module; whoever asks must leave it as it is."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def syntax_nodes(path: Path) -> list[ast.AST]:
    """All nodes of the tree of a module: to walk it takes as long as to parse it."""
    return list(ast.walk(syntax_tree(path)))
