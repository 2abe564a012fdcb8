"""What the tests of users share: the real conversations scored once, and conversations made up on the spot."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.runs import Run
from dialgauge.users import ScoredConversations, UserOptions, score_conversations, users_run


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
