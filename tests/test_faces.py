"""Rooms are entered by their faces: what a face offers, and the contract that keeps others from reaching past it."""

from __future__ import annotations

import ast
import pkgutil
import sys
from importlib import import_module
from pathlib import Path

import pytest

import dialgauge
from dialgauge._lazy import _places

ROOT = Path(__file__).parent.parent
ROOMS = ["dialgauge", *(room.name for room in pkgutil.walk_packages(dialgauge.__path__, "dialgauge.") if room.ispkg)]


@pytest.mark.parametrize("room", ROOMS)
def test_a_face_offers_what_its_imports_say_and_no_module_hides_a_name(room: str) -> None:
    face = import_module(room)
    blocks = [node for node in ast.parse(Path(face.__file__ or "").read_text("utf-8")).body if isinstance(node, ast.If)]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    assert _places(room) == {alias.name: node.module for node in imports for alias in node.names}
    names = set(getattr(face, "__all__", ()))
    assert not names & {module.name for module in pkgutil.iter_modules(face.__path__)}, (
        "once imported, it hides the name"
    )


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
    sys.modules.pop("tools.faces", None)
