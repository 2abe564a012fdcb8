"""Whose code makes a model's numbers: packages with their versions, and a checksum of the source of ours and plugins.

A stored result may stand for a new one only if everything that can change the number is the same. The caller knows
options, seed and data; this module adds the code. Code can change while its version stays, so a checksum of the source
files goes with it; libraries that do the arithmetic are known well enough by their version.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from dialgauge._version import __version__
from dialgauge.plugins import package_of, version_of
from dialgauge.source import own_source

_OURS = "dialgauge"
#: Where a bot's answers and their scores come from. The dialogues are known by their content, however they are read.
_ROOMS = (
    *("agents", "lab", "measures", "rankers", "responses", "stats", "values", "worlds"),
    *("dialogue.py", "intents.py", "text.py"),
)
#: Packages that do the arithmetic.
_ARITHMETIC = ("numpy", "torch")
#: What is told apart otherwise, or needs no telling.
_KNOWN = frozenset({_OURS, "msgspec", *_ARITHMETIC, *sys.stdlib_module_names})


def code_of(made: object) -> str:
    """The code behind an object, in words without blanks: ``dialgauge-0.3.0-3f0c…/numpy-2.4.6/torch-2.11.0``.

    Every class that the object inherits from counts. We and plugins come as ``package-version-checksum``.
    """
    roots = dict.fromkeys(inherited.__module__.partition(".")[0] for inherited in type(made).__mro__)
    others = [f"{package_of(root) or root}-{_checksum(_sources(root))}" for root in roots if root not in _KNOWN]
    return "/".join([f"{_OURS}-{__version__}-{own_source(*_ROOMS)}", *others, *_arithmetic()])


def files_named(options: Mapping[str, str]) -> dict[str, str]:
    """Checksums of the files that options name: a world file may change and keep its name."""
    paths = {name: Path(text) for name, text in options.items() if text}
    return {name: _checksum([path]) for name, path in paths.items() if _is_file(path)}


def _sources(root: str) -> list[Path]:
    """The source files of a top package, or the one of a module."""
    origin = getattr(sys.modules.get(root), "__file__", None)
    if origin is None:
        return []
    path = Path(origin)
    return sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]


def _checksum(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + (path.read_bytes() if _is_file(path) else b""))
    return digest.hexdigest()[:12]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a value that is no name of a file
        return False


@cache
def _arithmetic() -> tuple[str, ...]:
    """The packages that are installed: which of them are loaded by now is chance."""
    versions = {name: version_of(name) for name in _ARITHMETIC}
    return tuple(f"{name}-{version}" for name, version in versions.items() if version)
