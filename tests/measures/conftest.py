"""Toy families in place of the real ones."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def families(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = {"tracking": "measures.toy", "responses": "measures.toy_responses", "users": "measures.toy_users"}
    monkeypatch.setattr("dialgauge.measures.registry.FAMILIES", modules)
