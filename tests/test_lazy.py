"""Faces: what they name is what Python would import."""

from __future__ import annotations

import ast
import importlib
import importlib.machinery
import importlib.util
import sys
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
