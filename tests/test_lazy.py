"""Every face offers what its block of imports says, whatever the layout of that block."""

from __future__ import annotations

import ast
import importlib
import importlib.machinery
import importlib.util
import pkgutil
from pathlib import Path

import pytest

import dialgauge
from dialgauge._lazy import _places

ROOMS = ["dialgauge", *(room.name for room in pkgutil.walk_packages(dialgauge.__path__, "dialgauge.") if room.ispkg)]


@pytest.mark.parametrize("room", ROOMS)
def test_the_patterns_read_what_the_parser_reads(room: str) -> None:
    source = Path(importlib.import_module(room).__file__ or "").read_text("utf-8")
    blocks = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    assert _places(room) == {alias.name: node.module for node in imports for alias in node.names}
