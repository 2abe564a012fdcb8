"""``dialgauge review -m X`` shows X, of one log and of two."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.comparison import compare_runs
from dialgauge.report import RunSet
from dialgauge.runs import Store
from dialgauge.trials.comparison import TrialsPairing
from support.agent_results import tau_file
from support.commands import dialgauge

MEASURES = ["pass^1", "Reward", "Turns", "ToolCalls"]


@pytest.mark.usefixtures("own_folder")
def test_measures_that_are_named_are_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    one = tau_file(tmp_path / "one.json", {"a": "++", "b": "+-", "c": "--"})
    two = tau_file(tmp_path / "two.json", {"a": "++", "b": "++", "c": "+-"})
    alone = dialgauge(capsys, "review", one, "-m", ",".join(MEASURES), "--resamples", 0)
    beside = dialgauge(capsys, "review", one, two, "-m", ",".join(MEASURES), "--resamples", 20)
    for shown in (alone.out, beside.out):
        rows = {line.split()[0]: line for line in shown.splitlines() if line.split()}
        assert all(name in rows for name in MEASURES)
        assert "50.00" in rows["Reward"]
        assert "--all" not in shown
    runs = [Store().open(one.id) for one in Store().list()][:2]
    assert "ToolCalls" not in compare_runs(runs).measures
    assert "ToolCalls" in compare_runs(RunSet(runs).runs, every_measure=True).measures


def test_another_measure_that_begins_like_one_is_none_of_the_headlines() -> None:
    assert TrialsPairing().headlines(["Costly", "Cost", "Cost(of=agent)", "pass^1"]) == ["pass^1", "Cost"]
