"""Every face offers what its block of imports says, whatever the layout of that block."""

from __future__ import annotations

import ast
import importlib
import importlib.machinery
import importlib.util
import pkgutil
import sys
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


def test_comments_and_brackets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some_face.py").write_text(
        "if TYPE_CHECKING:\n"
        "    from a.b import one, two  # why\n"
        "\n"
        "    from c import (  # noqa: F401\n        three,  # (not four\n        five,\n    )\n"
        "\n\ndef function():\n    from d import six\n"
        "    TYPE_CHECKING = False\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "some_face", module := importlib.util.module_from_spec(spec_of(tmp_path)))
    assert module.__file__
    assert _places("some_face") == {"one": "a.b", "two": "a.b", "three": "c", "five": "c"}


def spec_of(folder: Path) -> importlib.machinery.ModuleSpec:
    spec = importlib.util.spec_from_file_location("some_face", folder / "some_face.py")
    assert spec is not None
    return spec
