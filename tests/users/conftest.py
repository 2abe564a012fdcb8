"""What the tests of users share: the real conversations scored once, and conversations made up on the spot."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from dialgauge.users.evaluation import Settings, UserEvaluation, evaluate


def load_json(path: Path) -> Any:
    with gzip.open(path) as stream:
        return json.load(stream)


@pytest.fixture(scope="session")
def baseline(expected: Path) -> Any:
    """The reference evaluator's results on the 1,000 conversations."""
    return load_json(expected / "gcdf1_convlab_baseline.json.gz")


@pytest.fixture(scope="session")
def synthetic(expected: Path) -> Any:
    """The reference evaluator's results on the synthetic cases."""
    return load_json(expected / "gcdf1_synthetic.json.gz")


@pytest.fixture(scope="session")
def settings(shared_data: Path) -> Settings:
    return Settings(canonical_map=shared_data / "gcdf1" / "multiwoz21_canonical_map.json.gz")


@pytest.fixture(scope="session")
def convlab(shared_data: Path, settings: Settings) -> UserEvaluation:
    """The 1,000 conversations, scored in reference mode."""
    return evaluate(shared_data / "gcdf1" / "conversations", settings)
