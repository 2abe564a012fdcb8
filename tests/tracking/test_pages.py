"""Pages of tracking runs: the states beside each other, as the tables of the run count them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge import Dialogue, Turn, score
from dialgauge.dialogue import State
from dialgauge.explorer import Library
from dialgauge.presentation import pages_of
from dialgauge.runs import Run
from support.explorer_store import tracked
from support.family_pages import (
    view_of_dialogue,
)


def assert_counts_agree(run: Run, most: int | None = None) -> None:
    """What a page shows as right, wrong, missed and spurious is what the run counted, turn by turn."""
    library, pages = Library(runs=[run]), pages_of("tracking")
    for dialogue in list(run.dialogues())[:most]:
        rows = {row["turn"]: row for row in library.rows(run, "turn_scores", dialogue.id)}
        for turn in pages.dialogue(library, run, dialogue).turns:
            if turn.cell is None:
                continue
            slots = [*turn.cell.rows, *turn.cell.rest]
            shown = {kind: sum(one.kind == kind for one in slots) for kind in ("right", "wrong", "missed", "spurious")}
            row = rows[turn.place]
            counted = dict(
                zip(shown, (row["correct"], row["wrong_value"], row["missed"], row["spurious"]), strict=True)
            )
            assert shown == counted, (dialogue.id, turn.place)
            assert len({one.slot for one in slots}) == len(slots)


def test_slots_are_shown_under_the_names_by_which_they_are_compared() -> None:
    """A file may spell a slot otherwise than gold; a wrong slot must not stand there a second time as right."""
    gold: State = {"train": {"leaveAt": ("10:15",), "day": ("monday",)}}
    seen: State = {"train": {"leave at": ("10:00",), "day": ("Monday",)}}
    turns = (Turn(speaker="user", text="a train", state=gold, predicted=seen),)
    [run] = score(None, {"one": [Dialogue(id="d", turns=turns)]}).runs
    [turn] = view_of_dialogue(run, "d").turns
    assert [(row.slot, row.gold, row.predicted, row.kind) for row in turn.cell.rows] == [
        ("train-day", "monday", "monday", "right"),
        ("train-leave", "10:15", "10:00", "wrong"),
    ]
    assert_counts_agree(run)


@pytest.mark.parametrize("profile", ["canon", "verbatim", "trade"])
def test_counts_agree_under_profiles(profile: str) -> None:
    for run in score(tracked(40, 0), {"one": tracked(40, 1)}, profile=profile).runs:
        assert_counts_agree(run)


@pytest.mark.soak
def test_counts_agree_on_real_predictions(shared_data: Path) -> None:
    files = [shared_data / "dst_predictions" / f"{name}.json.gz" for name in ("augpt", "dots")]
    for run in score(shared_data / "multiwoz21" / "test.json.gz", files, resamples=10).runs:
        assert_counts_agree(run, most=150)
