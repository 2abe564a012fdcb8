"""The notebook of the tour with its outputs: ``python tools/notebook.py`` runs it here and keeps what the cells show.

No kernel is needed: a cell is run as Python runs it, and its last expression shows itself as it would in Jupyter, a
chart as a picture. ``tests/test_tour_notebook.py`` runs the cells again and compares.
"""

from __future__ import annotations

import ast
import io
import json
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "tour.ipynb"


def with_outputs(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook after its cells ran in order."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, number = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            outputs = _outputs("".join(cell["source"]), names, number)
            cell = {**cell, "execution_count": number, "outputs": outputs}  # noqa: PLW2901 - the same cell, run
        cells.append(cell)
    return {**notebook, "cells": cells}


def _outputs(code: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    value, printed = None, io.StringIO()
    with redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)  # noqa: S102 - our own notebook
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None:
        outputs.append(
            {"data": _shown(value), "execution_count": number, "metadata": {}, "output_type": "execute_result"}
        )
    return outputs


def _shown(value: Any) -> dict[str, list[str]]:
    """The forms of a value, as Jupyter keeps them."""
    if hasattr(value, "_repr_svg_"):
        return {"image/svg+xml": _lines(value._repr_svg_()), "text/plain": [type(value).__name__]}
    plain = {"text/plain": _lines(repr(value))}
    return {"text/html": _lines(value._repr_html_()), **plain} if hasattr(value, "_repr_html_") else plain


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    """Run it, and keep it with what it shows."""
    with tempfile.TemporaryDirectory() as scratch:
        tempfile.tempdir = scratch
        made = with_outputs(json.loads(NOTEBOOK.read_text("utf-8")))
    NOTEBOOK.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
