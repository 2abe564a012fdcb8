"""What the tests of tasks share: the expected values, and the real gold side, read once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialgauge.tasks import GoldTasks, TaskEvaluation, TaskOptions
from support.town import small_gold

SYSTEMS = ("augpt", "dots", "galaxy-policy", "hdsa", "lava", "mintl", "sfn", "ubar")


@pytest.fixture(scope="session")
def e2e(expected: Path) -> Any:
    """What the standard evaluator, and section 15 of the specification, give."""
    return json.loads((expected / "e2e_mwzeval.json").read_bytes())


@pytest.fixture(scope="session")
def evaluation(shared_data: Path) -> TaskEvaluation:
    """The test set of MultiWOZ 2.1, all measures, no intervals."""
    options = TaskOptions(measures=("all",), resamples=0)
    return TaskEvaluation(shared_data / "multiwoz21" / "test.json.gz", options=options)


@pytest.fixture
def small(tmp_path: Path) -> GoldTasks:
    """Two dialogues in a small town."""
    return small_gold(tmp_path)
