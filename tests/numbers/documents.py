"""Documents of expected values compared leaf by leaf: a leaf is compared, or it is listed with a reason."""

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


def differences(
    ours: Any, theirs: Any, not_compared: Mapping[str, str], *, tolerance: float = 1e-9
) -> list[tuple[str, Any, Any]]:
    """Leaves of their document that ours lacks or has otherwise: path, their value, our value.

    ``not_compared`` names the paths that are left out, each with the reason; one that leaves out nothing is an error.
    """
    mine, wanted = dict(leaves(ours)), dict(leaves(theirs))
    for pattern in not_compared:
        assert any(fnmatchcase(path, pattern) for path in wanted), f"{pattern} leaves out nothing"
    compared = {
        path: value for path, value in wanted.items() if not any(fnmatchcase(path, pattern) for pattern in not_compared)
    }
    assert compared, "nothing is compared"
    return [
        (path, value, mine.get(path, "absent"))
        for path, value in compared.items()
        if path not in mine or not _same(value, mine[path], tolerance)
    ]


def _same(theirs: Any, ours: Any, tolerance: float) -> bool:
    numbers = [isinstance(each, int | float) and not isinstance(each, bool) for each in (theirs, ours)]
    return bool(ours == pytest.approx(theirs, rel=0, abs=tolerance)) if all(numbers) else bool(theirs == ours)
