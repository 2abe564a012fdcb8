"""Measures of made-up families, in place of the real ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dialgauge.kinds import BUILT_IN


@pytest.fixture(autouse=True)
def families() -> Iterator[None]:
    real = dict(BUILT_IN)  # put back in its order, which decides whose card a name means
    _fill({name: f"measures.toy:{name.upper()}_KIND" for name in ("tracking", "responses", "users")})
    yield
    _fill(real)


def _fill(kinds: dict[str, str]) -> None:
    BUILT_IN.clear()
    BUILT_IN.update(kinds)
