"""What the tests of tasks share: the real gold side, read once, and a small one."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.tasks import GoldTasks, TaskEvaluation, TaskOptions
from support.town import small_gold


@pytest.fixture(scope="session")
def evaluation(shared_data: Path) -> TaskEvaluation:
    """The test set of MultiWOZ 2.1, all measures, no intervals."""
    options = TaskOptions(measures=("all",), resamples=0)
    return TaskEvaluation(shared_data / "multiwoz21" / "test.json.gz", options=options)


@pytest.fixture
def small(tmp_path: Path) -> GoldTasks:
    """Two dialogues in a small town."""
    return small_gold(tmp_path)
