"""Toy families in place of the real ones."""

from __future__ import annotations

import pytest

from dialgauge.kinds import BUILT_IN


@pytest.fixture(autouse=True)
def families(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(BUILT_IN):
        monkeypatch.delitem(BUILT_IN, name)
    for name in ("tracking", "responses", "users"):
        monkeypatch.setitem(BUILT_IN, name, f"measures.toy:{name.upper()}_KIND")
