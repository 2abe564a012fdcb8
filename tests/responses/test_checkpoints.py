"""Trainings behind tables and evaluations that are cut off: the same command goes on and ends with the same cells."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dialgauge.rankers import ranker_class
from dialgauge.responses import CellKey, checkpointed
from dialgauge.runs import Store
from support.commands import dialgauge
from support.soak import soak
from support.tiny_world import tiny_release, tiny_task

#: Kills its own process, as a power cut would, once three epochs are on the disk.
KILLED = """
import os, signal, sys
from dialgauge.rankers.neural import training
whole = training.Training._save
def save(self):
    whole(self)
    if len(self._progress.log) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
training.Training._save = save
from dialgauge.cli import main
main(sys.argv[1:])
"""
QUICK = ("--set", "epochs=6", "--set", "dim=8", "--set", "learning_rate=0.0005")
TABLE = ("babi", "table", "--models", "memn2n", "--tasks", "1", *QUICK)
EVALUATE = ("babi", "evaluate", "--model", "memn2n", "--task", "1", *QUICK)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_release(tmp_path_factory.mktemp("data"), (1,))


def killed(*command: object) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, *map(str, command)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


def noted_epochs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The epochs that are trained from now on."""
    from dialgauge.rankers.neural import Training

    whole, seen = Training._save, list[int]()

    def save(self: Training) -> None:
        seen.append(len(self._progress.log))
        whole(self)

    monkeypatch.setattr(Training, "_save", save)
    return seen


def cells_in(report: Path) -> list[dict[str, Any]]:
    return [{**cell, "run": ""} for cell in json.loads(report.read_text())["systems"]]


@pytest.mark.parametrize("command", [soak(TABLE), EVALUATE], ids=["table", "evaluate"])
def test_a_killed_training_goes_on_and_ends_with_the_same_cells(
    command: tuple[str, ...],
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = (*command, "--data", data, "--store", tmp_path / "whole", "--json", tmp_path / "whole.json")
    assert "interrupted" not in dialgauge(capsys, *whole).err
    broken = (*command, "--data", data, "--store", tmp_path / "broken", "--json", tmp_path / "broken.json")
    killed(*broken)
    store = Store(tmp_path / "broken")
    assert store.list() == []
    (name,) = store.unfinished()
    listed = dialgauge(capsys, "runs", "list", "--store", store.folder)
    assert listed.code == 0
    assert f"unfinished: {name}" in listed.err
    trained = noted_epochs(monkeypatch)
    again = dialgauge(capsys, *broken)
    assert again.code == 0, again.err
    assert trained == [4, 5, 6]
    assert "memn2n-task1-seed0: resumes from the checkpoint of an interrupted training" in again.err
    assert cells_in(tmp_path / "broken.json") == cells_in(tmp_path / "whole.json")
    assert store.unfinished() == []
    logs = [one.open(one.list()[0].id).table("epochs") for one in (store, Store(tmp_path / "whole"))]
    assert logs[0].equals(logs[1])


@pytest.mark.soak
def test_fresh_does_not_take_up_what_was_left(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = (*TABLE, "--data", data, "--store", tmp_path)
    killed(*command)
    outcome = dialgauge(capsys, *command, "--fresh")
    assert outcome.code == 0, outcome.err
    assert "interrupted" not in outcome.err
    assert Store(tmp_path).unfinished() == []


def test_two_at_once_never_share_a_checkpoint(tmp_path: Path) -> None:
    task, said = tiny_task(1), list[str]()
    first, second = (ranker_class("memn2n")(0) for _ in range(2))
    key = CellKey.planned(first, task, "tst")
    with (
        checkpointed(first, key, Store(tmp_path), said.append),
        checkpointed(second, key, Store(tmp_path), said.append),
    ):
        assert first.checkpoint is not None
        assert second.checkpoint is None
    assert said == ["memn2n-task1-seed0: another process is training it now; this one runs without a checkpoint"]


def test_splits_share_a_training_and_nothing_else_does(tmp_path: Path) -> None:
    task, folders = tiny_task(1), list[str]()
    for model, seed, split in (("memn2n", 0, "tst"), ("memn2n", 0, "dev"), ("memn2n", 1, "tst"), ("typed", 0, "tst")):
        ranker = ranker_class(model)(seed)
        with checkpointed(ranker, CellKey.planned(ranker, task, split), Store(tmp_path), folders.append):
            assert ranker.checkpoint is not None
            folders.append(ranker.checkpoint.parent.name)
    assert folders[0] == folders[1]
    assert len(set(folders)) == 3
