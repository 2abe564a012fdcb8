"""Toy families in place of the real ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dialgauge.kinds import BUILT_IN
from dialgauge.measures import registry


@pytest.fixture(autouse=True)
def families(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    registry._family_cards.cache_clear()
    for name in list(BUILT_IN):
        monkeypatch.delitem(BUILT_IN, name)
    for name in ("tracking", "responses", "users"):
        monkeypatch.setitem(BUILT_IN, name, f"measures.toy:{name.upper()}_KIND")
    yield
    registry._family_cards.cache_clear()
