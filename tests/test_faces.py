"""The contract of import-linter that keeps rooms from reaching past each other's face."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def broken_by(imports: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch, *faces: str) -> list[tuple[str, str]]:
    grimp = pytest.importorskip("grimp")
    monkeypatch.syspath_prepend(str(ROOT))
    from tools.faces import FacesContract

    graph = grimp.ImportGraph()
    for importer, imported in imports:
        for module in (importer, imported):
            if module not in graph.modules:
                graph.add_module(module)
        graph.add_import(importer=importer, imported=imported, line_number=3, line_contents="import")
    session = {"root_packages": ["house"]}
    contract = FacesContract(name="faces", session_options=session, contract_options={"faces": list(faces)})
    return [pair[:2] for pair in contract.check(graph, verbose=False).metadata["past"]]


def test_only_faces_are_entered_from_other_rooms(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = [
        ("house.kitchen.oven", "house.cellar"),
        ("house.kitchen.oven", "house.kitchen.pots"),
        ("house.kitchen", "house.kitchen.oven"),
        ("house.kitchen.oven", "house.keys"),
        ("house", "house.kitchen"),
    ]
    past = [("house.kitchen.oven", "house.cellar.wine"), ("house", "house.kitchen.pots")]
    assert broken_by([*allowed, *past], monkeypatch) == sorted(past)
    assert broken_by([*allowed, *past], monkeypatch, "house.cellar.wine") == past[1:]
    of_a_kind = [("house.cellar.wine", "house.cellar.wine.kind")]
    assert broken_by([*allowed, *past, *of_a_kind], monkeypatch) == past[1:]
    sys.modules.pop("tools.faces", None)
