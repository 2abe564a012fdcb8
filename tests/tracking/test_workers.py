"""Inputs in many files, read by workers: the same runs as from one file, whatever the engine."""

from __future__ import annotations

from pathlib import Path

import pytest

import dialgauge
from dialgauge.dialogue import Dialogue
from dialgauge.engine import WorkPlace
from dialgauge.errors import DialgaugeError
from dialgauge.formats import write
from dialgauge.runs import Run
from support.trackers import gold_dialogues, tracker

PLACES = [None, WorkPlace("local"), WorkPlace("pool", 2)]
TABLES = ("dialogue_scores", "turn_scores", "slot_scores", "slot_errors", "part_scores", "part_sums", "predictions")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Gold and a tracker, whole and in three files each."""
    gold = gold_dialogues(12)
    for name, dialogues in {"gold": gold, "tracker": tracker(gold, 0.3, 1)}.items():
        write(dialogues, tmp_path / f"{name}.jsonl", format="native")
        parts(dialogues, tmp_path / name)
    return tmp_path


def parts(dialogues: list[Dialogue], folder: Path) -> None:
    folder.mkdir()
    for number in range(3):
        write(dialogues[4 * number : 4 * number + 4], folder / f"part-{number}.jsonl", format="native")


def scored(files: Path, gold: str, predicted: str, place: WorkPlace | None) -> Run:
    named = {"it": str(files / predicted)}
    return dialgauge.score(files / gold, named, measures="default,F1(average=slot)", workers=place).runs[0]


@pytest.mark.parametrize("gold", ["gold.jsonl", "gold"])
@pytest.mark.parametrize("predicted", ["tracker.jsonl", "tracker"])
@pytest.mark.parametrize("place", PLACES)
def test_everything_is_as_from_one_file(files: Path, gold: str, predicted: str, place: WorkPlace | None) -> None:
    one, many = scored(files, "gold.jsonl", "tracker.jsonl", None), scored(files, gold, predicted, place)
    assert many.scores == one.scores and many.signature == one.signature
    assert many.details == one.details and many.coverage == one.coverage
    for name in TABLES:
        assert many.table(name).equals(one.table(name)), name


def test_a_file_that_cannot_be_read_is_named(files: Path) -> None:
    (files / "tracker" / "part-1.jsonl").write_text("{")
    with pytest.raises(DialgaugeError, match=r"part-1\.jsonl"):
        scored(files, "gold.jsonl", "tracker", WorkPlace("local"))
