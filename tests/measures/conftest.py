"""Toy families in place of the real ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dialgauge.measures import registry


@pytest.fixture(autouse=True)
def families(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    modules = {"tracking": "measures.toy", "responses": "measures.toy_responses", "users": "measures.toy_users"}
    registry._family_cards.cache_clear()
    monkeypatch.setattr(registry, "FAMILIES", modules)
    yield
    registry._family_cards.cache_clear()
