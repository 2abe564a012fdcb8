"""The notebook of the tour: kept without outputs, made of the public API, and run from top to bottom."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

import dialgauge

NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "tour.ipynb"
#: What the cells show by themselves, in order.
SHOWN = [
    "<caption>gold.jsonl: 100 dialogues",
    "<caption>Dialogue task5-tst-0001</caption>",
    "<caption>State-tracking scores (percent)</caption>",
    "<caption>Differences, first minus second</caption>",
    "<th>predicted state</th>",
    "<caption>tracking updating</caption>",
]


def code() -> list[str]:
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def found_in_order(shown: list[str]) -> None:
    place = 0
    for html in shown:
        place += place < len(SHOWN) and SHOWN[place] in html
    assert place == len(SHOWN), f"no cell shows {SHOWN[place]}"


def test_it_is_kept_without_outputs() -> None:
    for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"], cell["metadata"]) == ([], None, {})


def test_it_uses_only_public_names() -> None:
    tree = ast.parse("\n".join(code()))
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "dialgauge"
    }
    ours = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "dialgauge"]
    imported = {alias.name for node in ours for alias in node.names}
    assert used | imported <= set(dialgauge.__all__)
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    modules |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert modules == {"dialgauge", "pathlib", "polars", "tempfile"}


def test_its_cells_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    names: dict[str, Any] = {}
    shown = []
    for cell in code():
        tree = ast.parse(cell)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
    found_in_order(shown)
    assert "True" in shown, "scores of a frame are those of the dialogues"


def test_it_runs_in_a_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient runs notebooks, and is not installed")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    place = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    found_in_order([output.get("data", {}).get("text/html", "") for output in outputs])
