"""A disk that is full while a command writes: one sentence that says so and where, and nothing half done stays."""

from __future__ import annotations

import json
import random
from itertools import chain
from pathlib import Path

import pytest

from dialgauge.runs import Store
from support.commands import dialgauge
from support.small_disk import small_disk
from support.tiny_world import tiny_release

#: Kilobytes: disks on which a command fails at one step after the other, and the last on which it succeeds.
SIZES = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 4096)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dialogs of the bAbI format, and gold and predictions of a tracker."""
    folder = tiny_release(tmp_path_factory.mktemp("data"), (1, 2))
    draw = random.Random(0)
    lines = []
    for number in range(20):
        texts = [draw.randbytes(20).hex() for _ in range(40)]  # so that nothing makes them much smaller
        turns = [{"speaker": "user", "text": text, "state": {"hotel": {"pricerange": ["cheap"]}}} for text in texts]
        lines.append(json.dumps({"id": f"d{number}", "turns": turns}))
    (folder / "gold.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "pred.jsonl").write_text("\n".join(lines).replace('"state"', '"predicted"') + "\n")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "words",
    [
        "babi simulate --out DISK/release --tasks 1-2 --dialogues 20 --world bakery",
        "babi simulate --out DISK/release --tasks 1 --dialogues 20 --world bakery --to both",
        "data convert DATA/gold.jsonl DISK/out.parquet --to parquet",
        "data convert DATA/gold.jsonl DISK/new/folder/out.jsonl.gz --to native",
    ],
)
def test_all_or_nothing(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path, words: str) -> None:
    outcomes = []
    for size in SIZES:
        with small_disk(tmp_path / "disk", size) as disk:
            call = [word.replace("DISK", str(disk)).replace("DATA", str(data)) for word in words.split()]
            outcome = dialgauge(capsys, *call)
            outcomes.append(outcome.code)
            if outcome.code == 0:
                assert files(disk)
                break
            assert outcome.err.startswith(f"dialgauge: {disk}"), outcome.err
            assert outcome.err.endswith(": it cannot be written (the disk is full)\n")
            assert not list(disk.iterdir())
    assert outcomes[-1] == 0 and 2 in outcomes


def test_a_failed_simulation_leaves_the_one_that_is_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 1000) as disk:
        call = ("babi", "simulate", "--out", disk / "r", "--world", "bakery", "--tasks")
        assert dialgauge(capsys, *call, "1", "--dialogues", 20).code == 0
        before = files(disk)
        outcome = dialgauge(capsys, *call, "1-5", "--dialogues", 300)
        assert outcome.code == 2 and "(the disk is full)" in outcome.err
        assert files(disk) == before


def test_training_leaves_a_whole_model_or_none_and_never_half_a_run(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    seen = []
    for size in chain(range(8, 56, 4), [4096]):
        with small_disk(tmp_path / "disk", size) as disk:
            call = (
                "babi",
                "train",
                "--data",
                data,
                "--out",
                disk / "m",
                "--model",
                "nearest",
                "--store",
                disk / "runs",
            )
            outcome = dialgauge(capsys, *call)
            model = {path.name for path in (disk / "m").iterdir()} if (disk / "m").exists() else set()
            assert model in (set(), {"arrays.npz", "ranker.json"})
            assert bool(model) == ("model saved in" in outcome.err)
            assert len(Store(disk / "runs").list()) == (outcome.code == 0)
            if outcome.code == 0:
                break
            assert outcome.code == 2
            assert "cannot be written (the disk is full)" in outcome.err.splitlines()[-1]
            assert "specification" not in outcome.err
            seen.append(bool(model))
    assert set(seen) == {False, True}
