"""Comparing nested documents of numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

Path = tuple[Any, ...]


def leaves(document: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The path and content of everything that is no mapping or list; empty ones are leaves, too."""
    if isinstance(document, Mapping) and document:
        for name, part in document.items():
            yield from leaves(part, (*path, name))
    elif isinstance(document, list) and document:
        for number, part in enumerate(document):
            yield from leaves(part, (*path, number))
    else:
        yield path, document


def close(found: Any, wanted: Any, tolerance: float = 1e-12) -> bool:
    """True for equal contents; numbers may differ by the tolerance, and only None is None."""
    if isinstance(found, tuple) and isinstance(wanted, tuple):
        return len(found) == len(wanted) and all(map(close, found, wanted, [tolerance] * len(found)))
    if isinstance(found, int | float) and isinstance(wanted, int | float):
        return math.isclose(found, wanted, rel_tol=0, abs_tol=tolerance * max(1.0, abs(wanted)))
    return bool(found == wanted)


def differences(found: Any, wanted: Any, tolerance: float = 1e-12) -> dict[Path, tuple[Any, Any]]:
    """By path what is not close, or is on one side only."""
    left, right = dict(leaves(found)), dict(leaves(wanted))
    return {
        path: (left.get(path, "absent"), right.get(path, "absent"))
        for path in left.keys() | right.keys()
        if path not in left or path not in right or not close(left[path], right[path], tolerance)
    }


def long(value: str) -> Any:
    """A parameter that takes seconds: `make test` tries it, `make check` does not."""
    return pytest.param(value, marks=pytest.mark.long)
