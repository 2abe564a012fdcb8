"""Every file of `layouts/` through the public API: read as it is meant, refused, or wrong, as `truth.csv` says."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

import dialgauge

Cells: TypeAlias = dict[str, str]

FOLDER = Path(__file__).parent / "layouts"
UNKNOWN = "unknown"
with (FOLDER / "truth.csv").open(newline="", encoding="utf-8") as _file:
    TRUTH: list[Cells] = list(csv.DictReader(_file))


def read_states(path: Path, gold: Path) -> Cells:
    """Dialogues, turns and JGA of predictions."""
    [run] = dialgauge.score(gold, {"system": path}, measures="JGA", intervals=False).runs
    scored = {unit: count.scored for unit, count in run.coverage.units.items()}
    return {
        "dialogues": str(scored["dialogues"]),
        "turns": str(scored["turns"]),
        "JGA": f"{run.scores['JGA'].value:.6f}",
    }


def read_log(path: Path) -> Cells:
    """Conversations, turns, tasks and verdicts of a log."""
    [run] = dialgauge.review([path], resamples=0).runs
    trials = run.table("trials").select("task", "success", "turns").rows()
    by_task: dict[str, list[bool]] = {}
    for task, success, _ in trials:
        by_task.setdefault(task, []).extend([] if success is None else [success])
    verdicts = [verdict for several in by_task.values() for verdict in several]
    return {
        "dialogues": str(len(trials)),
        "turns": str(sum(turns for _, _, turns in trials)),
        "tasks": str(len(by_task)),
        "judged": str(len(verdicts)),
        "passed": str(sum(verdicts)),
        "by_task": " ".join(sorted(f"{sum(several)}/{len(several)}" for several in by_task.values())),
    }


def outcome(truth: Cells) -> str:
    """Whether a file is read right, refused or read wrongly."""
    path, is_log = FOLDER / truth["file"], truth["kind"] == "log"
    try:
        seen = read_log(path) if is_log else read_states(path, FOLDER / truth["gold"])
    except dialgauge.DialgaugeError:
        return "refused"
    unscored = is_log and seen["judged"] == "0"  # there is no pass^1
    if unscored and truth["judged"] not in ("0", UNKNOWN):
        return "refused"
    if not unscored and truth["passed" if is_log else "JGA"] == UNKNOWN:
        return "wrong"  # a number that the file does not give
    known = {name: truth[name] for name in seen if truth[name] not in ("", UNKNOWN)}
    return "right" if all(seen[name] == cell for name, cell in known.items()) else "wrong"


@pytest.mark.parametrize("truth", TRUTH, ids=[truth["file"] for truth in TRUTH])
def test_a_layout_is_read_as_truth_says(truth: Cells) -> None:
    assert outcome(truth) == truth["today"]


def test_every_file_stands_in_the_table() -> None:
    named = [FOLDER / truth["file"] for truth in TRUTH]
    ours = {FOLDER / name for name in ("README.md", "truth.csv", *(truth["gold"] for truth in TRUTH if truth["gold"]))}
    files = {path for path in FOLDER.rglob("*") if path.is_file()} - ours
    held = {path for path in files if not path.name.endswith(".map.yaml")}
    assert {path.with_name(path.name.removesuffix(".map.yaml")) for path in files - held} <= held
    inside = {path for path in held if path in named or any(folder in named for folder in path.parents)}
    assert held == inside
    assert all(path.exists() for path in named) and len(set(named)) == len(named)


def test_the_states_of_the_177_layouts_are_there() -> None:
    folders = {"states/people/": 59, "states/models/": 37, "states/odd/": 86}
    counts = {folder: sum(truth["file"].startswith(folder) for truth in TRUTH) for folder in folders}
    assert counts == folders


def test_of_the_177_layouts_at_least_118_are_read_and_none_of_any_wrongly(
    record_property: Callable[[str, object], None],
) -> None:
    folders = ("states/people/", "states/models/", "states/odd/")
    read = [truth["file"] for truth in TRUTH if truth["file"].startswith(folders) and truth["today"] == "right"]
    mapped = [file for file in read if (FOLDER / f"{file}.map.yaml").exists()]
    record_property("layouts read", f"{len(read)}, {len(mapped)} of them by a mapping beside them")
    assert len(read) >= 118
    assert not [truth["file"] for truth in TRUTH if truth["today"] == "wrong"]
