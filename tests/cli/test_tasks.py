"""``dialgauge tasks score``: what is incomplete or ignored is said, and is in the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.commands import dialgauge
from support.town import responses, write_town


@pytest.mark.usefixtures("own_folder")
def test_what_is_incomplete_or_ignored_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    gold, partial = write_town(tmp_path), tmp_path / "partial.json"
    dialogues = responses()
    del dialogues["sng0002"], dialogues["mul0001"][1]["state"]
    partial.write_text(json.dumps(dialogues))
    result = dialgauge(capsys, "tasks", "score", gold, partial)
    assert result.code == 1
    shown = " ".join(result.out.split())
    assert "1 of 2 dialogues scored; 3 of 4 turns scored" in shown
    assert "no responses for SNG0002.json; under mwzeval a missing dialogue is not counted" in shown
    assert "1 of 3 turns lacks the key 'state', so gold states are used for ALL turns" in shown
    assert dialgauge(capsys, "tasks", "score", gold, partial, "--unanswered", "fail").code == 0
