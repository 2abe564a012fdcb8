"""The labels, and the record of the checks: what the command prints must be what the labels give today."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from tools.measure_user_faults import RECORD_FILE, Measurement, draw, draw_fresh, measure

from dialgauge.users.faults import (
    KINDS,
    load_labels,
)


def load_record() -> Measurement:
    return msgspec.json.decode(RECORD_FILE.read_bytes(), type=Measurement)


DRAWN = 120
FRESH = "fresh.jsonl"
FRESH_DRAWN = 30
GOOD_ENOUGH = 0.9
SECOND = "second.jsonl"

ROOT = Path(__file__).parents[3]
#: The blame that a label may name; a conversation that passed has none.
BLAME = {"agent", "user", "both", "task", "infrastructure", "unclear", None}
#: No more words in a row of a conversation may stand in a note.
_MOST_WORDS = 5


@pytest.fixture(scope="module")
def tool(shared_data: Path) -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        from tools import measure_user_faults

        yield measure_user_faults


def test_labels_are_as_many_and_of_the_form_that_was_agreed() -> None:
    first, second = load_labels(), load_labels(SECOND)
    assert [one.number for one in first] == list(range(DRAWN))
    assert len(second) >= 40 and {one.key for one in second} <= {one.key for one in first}
    fresh = load_labels(FRESH)
    assert [one.number for one in fresh] == list(range(DRAWN, DRAWN + FRESH_DRAWN))
    assert not {one.key for one in fresh} & {one.key for one in first}
    for one in (*first, *second, *fresh):
        assert one.blame in BLAME
        assert all(fault.kind in KINDS and fault.note for fault in one.faults)
        if one.blame in ("user", "both"):
            assert one.faults, f"{one.key}: blame on the user needs a fault"


def test_no_check_reports_below_the_precision_that_is_asked_for() -> None:
    record = load_record()
    for part in (*record.logs.values(), record.overall, record.against_second):
        for kind, one in part.items():
            assert one.precision.value is None or one.precision.value >= GOOD_ENOUGH, kind


def test_the_stored_record_is_what_the_checks_give(shared_data: Path, tool: ModuleType) -> None:
    keys = {one.key for one in load_labels() + load_labels(FRESH)}
    checked = tool.checked_conversations(shared_data, keys)
    assert measure(checked, on=load_record().measured) == load_record()


def test_the_seed_draws_the_labelled_conversations(shared_data: Path, tool: ModuleType) -> None:
    every = tool.all_conversations(shared_data)
    assert draw(every) == [one.key for one in load_labels()]
    assert draw(reversed(every)) == draw(every)
    assert draw_fresh(reversed(every)) == [one.key for one in load_labels(FRESH)]


def test_marked_messages_are_the_users_and_notes_copy_nothing(shared_data: Path) -> None:
    from dialgauge.formats import read

    talks = {
        (file.name, one.outcome.task, one.outcome.trial): one
        for file in sorted((shared_data / "tau").glob("*.json.gz"))
        for one in read(file).dialogues
        if one.outcome
    }
    for label in (*load_labels(), *load_labels(SECOND), *load_labels(FRESH)):
        talk = talks[label.key]
        said = {turn.source for turn in talk.turns if turn.speaker == "user"}
        assert {fault.message for fault in label.faults} <= said, label.key
        instruction = "\n".join(talk.goal.message if talk.goal else ())
        text = _spaced("\n".join([instruction, *(turn.text for turn in talk.turns)]))
        for note in (*(fault.note for fault in label.faults), label.blame_note or ""):
            told = _spaced(note).split()
            runs = [told[at : at + _MOST_WORDS + 1] for at in range(len(told) - _MOST_WORDS)]
            assert not any(f" {' '.join(run)} " in text for run in runs), (label.key, note)


def _spaced(text: str) -> str:
    letters = "".join(one if one.isalnum() or one == "'" else " " for one in text.lower())
    return f" {' '.join(letters.split())} "


def test_the_page_has_the_figures_of_the_record() -> None:
    page = (ROOT / "docs" / "user-faults.md").read_text("utf-8")
    record = load_record()
    for kind, one in record.overall.items():
        if not (one.right or one.wrong or one.missed):
            continue  # kinds that never occur: the page says so in words
        shares = (
            "–" if each.value is None else f"{each.value:.2f} [{each.low:.2f}, {each.high:.2f}]"
            for each in (one.precision, one.recall)
        )
        cells = (f"`{kind}`", one.right, one.wrong, one.missed, one.same_message, *shares, one.not_checked)
        assert f"| {' | '.join(map(str, cells))} |" in page
    for question, agreed in record.agreement.items():
        if not (agreed.first or agreed.second):
            continue
        kappa = "–" if agreed.kappa is None else f"{agreed.kappa:.2f}"
        name = question if question == "blame" else f"`{question}`"
        assert f"| {name} | {kappa} | {agreed.first} | {agreed.second} | " in page
