"""Nested documents of numbers compared leaf by leaf."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import pytest


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf with its path; what is empty is a leaf."""
    if isinstance(value, Mapping) and value:
        for key, each in value.items():
            yield from leaves(each, f"{path}/{key}")
    elif isinstance(value, list | tuple) and value:
        for place, each in enumerate(value):
            yield from leaves(each, f"{path}/{place}")
    else:
        yield path, list(value) if isinstance(value, tuple) else value


def close(found: Any, wanted: Any, tolerance: float = 1e-12) -> bool:
    """True for equal contents; numbers may differ by the tolerance, and only None is None."""
    if isinstance(found, int | float) and isinstance(wanted, int | float):
        return bool(found == pytest.approx(wanted, rel=0, abs=tolerance * max(1.0, abs(wanted))))
    return bool(found == wanted)


def differences(
    found: Any, wanted: Any, left_out: Mapping[str, str] | None = None, *, tolerance: float = 1e-12
) -> dict[str, tuple[Any, Any]]:
    """By path what is not close, or is on one side only.

    ``left_out`` names paths that are not compared, each with the reason; one that leaves out nothing is an error. Where
    it is given, what is found may say more than is wanted.
    """
    ours, theirs = dict(leaves(found)), dict(leaves(wanted))
    for pattern in left_out or ():
        assert any(fnmatchcase(path, pattern) for path in theirs), f"{pattern} leaves out nothing"
    compared = theirs.keys() if left_out else theirs.keys() | ours.keys()
    return {
        path: (ours.get(path, "absent"), theirs.get(path, "absent"))
        for path in compared
        if path not in ours or path not in theirs or not close(ours[path], theirs[path], tolerance)
        if not any(fnmatchcase(path, pattern) for pattern in left_out or ())
    }


def long(value: str) -> Any:
    """A parameter that takes seconds: `make test` tries it, `make check` does not."""
    return pytest.param(value, marks=pytest.mark.long)
