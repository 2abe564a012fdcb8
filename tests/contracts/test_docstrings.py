"""Examples in docstrings show what really comes out."""

from __future__ import annotations

import doctest
import importlib
import shutil
from pathlib import Path

import pytest

import dialgauge

PACKAGE = Path(dialgauge.__file__).parent
#: The files of ``dialgauge init``.
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def modules_with_examples() -> list[str]:
    """By their source, so that nothing is imported before its own test runs."""
    paths = [path for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8")]
    dotted = (path.relative_to(PACKAGE.parent).with_suffix("").parts for path in paths)
    return sorted(".".join(parts).removesuffix(".__init__") for parts in dotted)


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_in_docstrings(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    found = doctest.DocTestFinder().find(module)
    assert any(test.examples for test in found), "its examples are not in docstrings that can be found"
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name", sorted(set(dialgauge.__all__) - {"__version__"}))
def test_help_of_every_public_name_has_an_example(name: str) -> None:
    """Which the test above runs, as it is in a module of ours."""
    public = getattr(dialgauge, name)
    shown = [line for line in (public.__doc__ or "").splitlines() if ">>> " in line]
    assert shown, f"help(dialgauge.{name}) shows no example"
    assert not any("+SKIP" in line for line in shown), f"an example of help(dialgauge.{name}) is not run"
    assert public.__module__ in modules_with_examples()
