"""A store in a folder of its own, and the table every scoring run has."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest

from dialgauge.runs.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs")


@pytest.fixture
def scores() -> polars.DataFrame:
    return polars.DataFrame(
        {"dialogue": ["a", "b"], "measure": ["JGA", "JGA"], "num": [1.0, 3.0], "den": [2.0, 4.0]},
    )
