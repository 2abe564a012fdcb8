"""How much of a test is left to ``make soak``: examples of property tests, and further parameters."""

from __future__ import annotations

import os
from typing import Any, TypeVar

import pytest

_T = TypeVar("_T")
#: In ``make soak`` and ``make properties``.
MANY = os.environ.get("DIALGAUGE_EXAMPLES") in ("more", "new")


def examples(many: int, share: int = 6) -> int:
    """All of them in ``make soak`` and ``make properties``, a sixth in ``make test``, or a smaller share."""
    return many if MANY else max(10, many // share)


def some(values: list[_T], share: int = 4) -> list[_T]:
    """All of them in ``make soak`` and ``make properties``, every fourth in ``make test``."""
    return values if MANY else values[::share]


def soak(*values: Any) -> Any:
    """Values of parameters that ``make soak`` tries and ``make test`` does not."""
    return pytest.param(*values, marks=pytest.mark.soak)
