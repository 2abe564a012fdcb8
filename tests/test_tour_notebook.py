"""The notebook of the tour: made of the public API, run from top to bottom, kept with what its cells show."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tools.notebook import NOTEBOOK, with_outputs

import dialgauge

#: What the cells show by themselves, in order.
SHOWN = [
    "<h2>gold.jsonl: 100 dialogues",
    "<h2>task5-tst-0001",
    "<h2>Scores",
    "<h2>Scores, best system first",
    ">predicted</th>",
    ">score</th>",
]


def code() -> list[str]:
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def found_in_order(shown: list[str]) -> None:
    place = 0
    for html in shown:
        place += place < len(SHOWN) and SHOWN[place] in html
    assert place == len(SHOWN), f"no cell shows {SHOWN[place]}"


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


def test_it_is_kept_with_what_its_cells_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    kept = json.loads(NOTEBOOK.read_text("utf-8"))
    made = with_outputs(kept)
    assert [steady(cell) for cell in made["cells"]] == [steady(cell) for cell in kept["cells"]], (
        "the notebook shows something else: python tools/notebook.py"
    )
    outputs = [output for cell in made["cells"] for output in cell.get("outputs", ())]
    found_in_order(["".join(output.get("data", {}).get("text/html", "")) for output in outputs])
    assert ["True"] in [output.get("data", {}).get("text/plain") for output in outputs], "a frame gives other scores"
    assert any("image/svg+xml" in output.get("data", {}) for output in outputs)


def steady(cell: dict[str, Any]) -> tuple[str, list[str]]:
    """Code and the words it shows, without what differs from run to run: ids, versions, layout, pictures."""
    shown = [output.get("data", {}) for output in cell.get("outputs", ())]
    text = " ".join("".join(data.get("text/html") or data.get("text/plain", "")) for data in shown)
    text = re.sub(r"<style.*?</style>|<[^>]*>", " ", text, flags=re.DOTALL)
    text = re.sub(r"\d{8}-\d{6}-([\w.-]+?)-[0-9a-f]{4}\b", r"<when>-\1", re.sub(r"\bversion:[\d.]+", "version", text))
    return "".join(cell["source"]), text.split()
