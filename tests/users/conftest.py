"""What the tests of users share: the real conversations scored once, and conversations made up on the spot."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from dialgauge.runs import Run
from dialgauge.users import ScoredConversations, UserOptions, score_conversations, users_run


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
def options(shared_data: Path) -> UserOptions:
    return UserOptions(canonical_map=shared_data / "gcdf1" / "multiwoz21_canonical_map.json.gz")


@pytest.fixture(scope="session")
def convlab(shared_data: Path, options: UserOptions) -> ScoredConversations:
    """The 1,000 conversations, scored in reference mode."""
    return score_conversations(shared_data / "gcdf1" / "conversations", options)


@pytest.fixture(scope="session")
def convlab_run(convlab: ScoredConversations) -> Run:
    """The same as a run in memory."""
    return users_run(convlab, resamples=0)
