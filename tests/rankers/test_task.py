from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.rankers import load_task
from support.tiny_world import tiny_release


def test_a_task_has_splits_candidates_and_facts(tmp_path: Path) -> None:
    task = load_task(tiny_release(tmp_path), 1)
    assert {split: len(dialogs) for split, dialogs in task.splits.items()} == dict.fromkeys(
        ("trn", "dev", "tst", "tst-OOV"), 12
    )
    assert task.index[task.candidates[7]] == 7
    assert {fact.relation for fact in task.facts} >= {"R_cuisine", "R_rating"}
    assert len(task.inputs) == 6


def test_a_split_that_is_not_there_is_answered_with_those_that_are(tmp_path: Path) -> None:
    folder = tiny_release(tmp_path)
    (folder / "dialog-babi-task1-API-calls-tst-OOV.txt").unlink()
    with pytest.raises(DialgaugeError, match=r"there is no split 'tst-OOV' in task 1; found: trn, dev, tst$"):
        load_task(folder, 1, ("tst-OOV",))


def test_a_reply_outside_the_candidates_is_named_with_its_file_and_text(tmp_path: Path) -> None:
    folder = tiny_release(tmp_path)
    path = folder / "dialog-babi-task1-API-calls-tst.txt"
    lines = path.read_text().split("\n")
    at = next(
        number for number, line in enumerate(lines) if line.endswith("api_call thai rome two cheap") or number == 9
    )
    user, _, _ = lines[at].partition("\t")
    lines[at] = f"{user}\twhat a lovely day"
    path.write_bytes(gzip.compress("\r\n".join(lines).encode()))
    with pytest.raises(DialgaugeError) as caught:
        load_task(folder, 1)
    assert caught.value.file == str(path)
    assert "'what a lovely day'" in str(caught.value)


def test_a_candidate_that_stands_twice_is_refused(tmp_path: Path) -> None:
    folder = tiny_release(tmp_path)
    path = folder / "dialog-babi-candidates.txt"
    path.write_text(path.read_text() + "1 i'm on it \n")
    with pytest.raises(DialgaugeError, match='candidate "i\'m on it"'):
        load_task(folder, 1)


@pytest.mark.parametrize(
    ("number", "message"),
    [(7, "there is no task 7"), (3, "no dialog files of task 3"), (0, "there is no task 0")],
)
def test_tasks_that_are_not_there(tmp_path: Path, number: int, message: str) -> None:
    with pytest.raises(DialgaugeError, match=message):
        load_task(tiny_release(tmp_path), number)


def test_a_folder_without_candidates(tmp_path: Path) -> None:
    folder = tiny_release(tmp_path)
    (folder / "dialog-babi-candidates.txt").unlink()
    with pytest.raises(DialgaugeError, match="no candidates file"):
        load_task(folder, 1)
    with pytest.raises(DialgaugeError, match="no such folder"):
        load_task(folder / "nowhere", 1)
