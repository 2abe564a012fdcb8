"""``dialgauge tasks`` from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.commands import dialgauge
from support.town import responses, write_town

pytestmark = pytest.mark.usefixtures("own_folder")

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write_town(tmp_path)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(responses()))
    return path


@pytest.fixture
def partial(tmp_path: Path) -> Path:
    dialogues = responses()
    del dialogues["sng0002"], dialogues["mul0001"][1]["state"]
    path = tmp_path / "partial.json"
    path.write_text(json.dumps(dialogues))
    return path


def test_what_is_incomplete_or_ignored_is_said(capsys: Capture, gold: Path, partial: Path) -> None:
    result = dialgauge(capsys, "tasks", "score", gold, partial)
    assert result.code == 1
    shown = " ".join(result.out.split())
    assert "1 of 2 dialogues scored; 3 of 4 turns scored" in shown
    assert "no responses for SNG0002.json; under mwzeval a missing dialogue is not counted" in shown
    assert "1 of 3 turns lacks the key 'state', so gold states are used for ALL turns" in shown
    assert dialgauge(capsys, "tasks", "score", gold, partial, "--unanswered", "fail").code == 0
