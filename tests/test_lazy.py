"""Faces: what they name is what Python would import."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import dialgauge
from dialgauge._lazy import _places

ROOT = Path(dialgauge.__file__).parent
FACES = [path for path in sorted(ROOT.rglob("__init__.py")) if "lazy(__name__)" in path.read_text()]


@pytest.mark.parametrize("path", FACES, ids=lambda path: str(path.parent.relative_to(ROOT.parent)))
def test_a_face_finds_the_names_of_its_block(path: Path) -> None:
    package = ".".join(path.parent.relative_to(ROOT.parent).parts)
    blocks = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.If)]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    importlib.import_module(package)
    assert _places(package) == {alias.name: node.module for node in imports for alias in node.names}
    assert not any(alias.asname for node in imports for alias in node.names)
