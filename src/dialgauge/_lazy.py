"""Faces that cost nothing: a room's ``__init__`` names what it offers, and each name is imported when first used.

A face ends in ``if not TYPE_CHECKING: __getattr__ = lazy(__name__)``: a type checker that saw it would take every name
for granted. The names stand once, as imports in the face's ``if TYPE_CHECKING:`` block, where editors and type checkers
read them; ``name as name`` says that the face offers it. At run time the same block says which module to import, and
what ``__all__`` is. A name must not equal that of a submodule, which would hide it.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def lazy(package: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a face: imports a name of its ``TYPE_CHECKING`` block when it is first asked for."""
    places: dict[str, str] = {}

    def load(name: str) -> Any:
        if not places:
            places.update(_places(package))
        if name == "__all__":
            return sorted(places)
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(places[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return load


def _places(package: str) -> dict[str, str]:
    """Name to module, from the imports in the face's ``TYPE_CHECKING`` block.

    Read by patterns: importing ``ast`` and parsing would take longer than most of what is then imported.
    """
    import re

    face = sys.modules[package]
    source = face.__loader__.get_data(face.__file__).decode()  # type: ignore[union-attr]
    block = re.search(r"^if TYPE_CHECKING:\n((?:[ \t].*\n|\n)*)", source, re.MULTILINE)
    imports = re.findall(r"^    from (\S+) import (\([^)]*\)|.*)$", block[1] if block else "", re.MULTILINE)
    return {name: module for module, names in imports for name in re.findall(r"\w+", re.sub(r"#.*| as \w+", "", names))}
