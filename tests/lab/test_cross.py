"""Cross-evaluation of stored lab runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.lab import cross_evaluation
from dialgauge.runs import Run, Store
from support.commands import dialgauge
from support.workbench import silently


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("runs")
    for user in ("agenda", "agenda-baseline"):
        for system in ("rule-system", "rule-baseline"):
            words = f"lab run --user {user} --system {system} -n 6 --resamples 0 --channel drop=0.3 --store {folder}"
            silently(*words.split())
    store = Store(folder)
    return [store.open(manifest.id) for manifest in store.list()]


def test_the_matrix_has_the_scores_of_the_runs(runs: list[Run]) -> None:
    made = cross_evaluation(runs, resamples=200)
    assert len(made.users) == len(made.systems) == 2
    for run in runs:
        pair = str(run.manifest.config["user"]), str(run.manifest.config["system"])
        assert made.cells[pair].value == pytest.approx(run.scores["Success(rules=strict)"].value)
    for user in made.users:
        cells = [made.cells[user, system] for system in made.systems]
        assert made.by_user[user].value == pytest.approx(sum(cell.value for cell in cells) / 2)
        low, high = made.by_user[user].low, made.by_user[user].high
        assert low is not None and high is not None
        assert low <= made.by_user[user].value <= high
        assert set(made.gcdf1[user]) == {"I-GCDF1", "R-GCDF1"}
    assert made.notes == []
    assert any("by I-GCDF1" in note for note in made.table().notes)


def test_what_is_missing_or_unlike_is_said(runs: list[Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = cross_evaluation(runs[:3], resamples=0)
    assert len(made.notes) == 1 and made.notes[0].startswith("Not held: ")
    with pytest.raises(DialgaugeError, match="at least two runs"):
        cross_evaluation(runs[:1])
    with pytest.raises(DialgaugeError, match="two runs have the user"):
        cross_evaluation([runs[0], runs[0]])
    with pytest.raises(DialgaugeError, match="has no measure 'Succes'"):
        cross_evaluation(runs, "Succes")
    outcome = dialgauge(capsys, "lab", "cross", "nothing", "--store", tmp_path)
    assert outcome.code == 2
