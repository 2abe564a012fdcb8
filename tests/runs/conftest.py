"""A store in a folder of its own, and small dialogues with their scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.dialogue import Act, Dialogue, Goal, Outcome, State, Task, Turn
from dialgauge.measures import Scores
from dialgauge.runs import Store
from runs.contract import scores_of


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs")


@pytest.fixture
def dialogues() -> list[Dialogue]:
    """Two dialogues that use every kind of field."""
    north: State = {"hotel": {"area": ("north", "n|orth")}}
    return [
        Dialogue(
            id="a",
            turns=(
                Turn(speaker="user", text="A hotel, bitte: „Zürich“", state=north, predicted={}),
                Turn(speaker="system", text="", acts=(Act("inform", "hotel", "name", ("X",)),), results=()),
            ),
            goal=Goal(tasks={"hotel": Task(info={"area": "north"})}),
            domains=("hotel", "train"),
            outcome=Outcome(success=False, reason="loop", ended_by="user", facts={"loops": "1"}),
        ),
        Dialogue(id="b", turns=(Turn(speaker="user", text="hi"),)),
    ]


@pytest.fixture
def scored() -> Scores:
    """Scores of those dialogues."""
    return scores_of(["a", "b"], {"JGA": ([1.0, 3.0], [2.0, 4.0]), "Exact": ([1.0, 0.0], [1.0, 0.0])})
