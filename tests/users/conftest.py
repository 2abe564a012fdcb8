"""What the tests of users share: the real conversations scored once."""

from __future__ import annotations

from pathlib import Path

import pytest

import dialgauge
from dialgauge.runs import Run


@pytest.fixture(scope="session")
def convlab_run(shared_data: Path) -> Run:
    """The 1,000 conversations, scored in reference mode."""
    folder = shared_data / "gcdf1"
    values = folder / "multiwoz21_canonical_map.json.gz"
    return dialgauge.score_users(folder / "conversations", canonical_map=values, resamples=0)[0]
