"""A contract for import-linter: rooms enter each other through the face, never through a module behind it.

A room is a subpackage of the root package, its face is that subpackage's ``__init__``. Modules directly below the root
are faces of their own, and so are the subpackages that ``faces`` names. Within a room everyone may import everything.
"""

from __future__ import annotations

from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class FacesContract(Contract):
    """Every import from one room into another ends at a face."""

    type_name = "faces"

    #: Further faces: packages inside a room that other rooms may enter.
    faces = fields.SetField(subfield=fields.StringField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """The imports that reach past a face."""
        named: Any = self.faces  # a field until the contract is configured, then its content
        open_to_all: set[str] = set(named or ())
        past = [
            (importer, imported, graph.get_import_details(importer=importer, imported=imported)[0]["line_number"])
            for importer in sorted(graph.modules)
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if _room(importer) != _room(imported) and _is_inside(imported, graph) and imported not in open_to_all
        ]
        return ContractCheck(kept=not past, metadata={"past": past})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """One line for each of them."""
        past: list[tuple[str, str, Any]] = check.metadata["past"]
        for importer, imported, line in past:
            output.print_error(f"{importer} imports {imported} (l.{line}); import from {_room(imported)} instead")


def _room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def _is_inside(module: str, graph: ImportGraph) -> bool:
    """Whether a module of ours stands behind a face; modules of other packages are no concern here."""
    return module.count(".") > 1 and not graph.is_module_squashed(module)
