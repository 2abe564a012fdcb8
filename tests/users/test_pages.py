"""Pages of users runs: said against heard, verdicts with their reasons, loops; and nothing that a file says acts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
import pytest

from dialgauge.dialogue import Dialogue, Task
from dialgauge.explorer import DialogueList, DialogueQuery, Library
from dialgauge.presentation import pages_of
from dialgauge.runs import Run, Store
from dialgauge.users import UserOptions, explanation_record, users_scored
from dialgauge.users.dialogue_page import ActRow, Overview, TalkCell
from support.family_pages import (
    changed,
    dialogue_html,
    run_html,
    view_of_dialogue,
)
from support.talks import mishear, talk

PAGES = pages_of("users")

GOAL = {
    "hotel": Task(info={"area": "north", "stars": "4"}, requests=("phone",)),
    "train": Task(info={"day": "monday"}, requests=("price",)),
}
SAME = ("hotel inform area=north", "hotel inform stars=4")


def looping() -> Dialogue:
    """Four times the same, because the user hears of a train where the system speaks of a hotel."""
    dialogue = talk(GOAL, *([SAME, ("hotel inform phone=1",)] * 4), id="loops")
    dialogue = msgspec.structs.replace(dialogue, domains=("hotel", "train"))
    for position in (1, 3, 5):
        dialogue = mishear(dialogue, position, "train inform phone=1")
    return dialogue


def happy() -> Dialogue:
    task = {"hotel": Task(info={"area": "north"})}
    dialogue = talk(task, SAME[:1], ("hotel recommend name=acorn",), ("general bye",), (), id="happy")
    return msgspec.structs.replace(dialogue, domains=("hotel",))


@cache
def run() -> Run:
    return users_scored([looping(), happy()], UserOptions(), resamples=0, name="two talks")


def cell(place: int, dialogue: str = "loops") -> TalkCell:
    found = view_of_dialogue(run(), dialogue).turns[place].cell
    assert isinstance(found, TalkCell)
    return found


def overview(dialogue: str = "loops", of: Run | None = None) -> Overview:
    found = view_of_dialogue(of or run(), dialogue).overview
    assert isinstance(found, Overview)
    return found


def heard(*acts: str) -> list[ActRow]:
    """What becomes of two acts of the system that are heard as these."""
    said = talk(GOAL, (), ("hotel inform area=north", "hotel inform stars=4"))
    scored = users_scored([mishear(said, 1, *acts)], UserOptions(), resamples=0)
    shown = view_of_dialogue(scored, "d1").turns[1].cell
    assert isinstance(shown, TalkCell)
    return list(shown.acts)


def test_said_stands_beside_heard() -> None:
    north, stars = "Hotel-Inform(area=north)", "Hotel-Inform(stars=4)"
    understood = ActRow("right", north, north, "understood")
    assert heard("hotel inform stars=4", "hotel inform area=north") == [
        understood,
        ActRow("right", stars, stars, "understood"),
    ]
    assert heard("hotel inform area=north") == [understood, ActRow("missed", stars, "", "missed")]
    assert heard("hotel inform area=north", "hotel inform stars=5") == [
        understood,
        ActRow("wrong", stars, "Hotel-Inform(stars=5)", "another value"),
    ]
    assert heard("hotel inform area=north", "hotel inform stars=4", "taxi inform phone=1")[2:] == [
        ActRow("spurious", "", "Taxi-Inform(phone=1)", "never said")
    ]


def test_what_was_not_recorded_is_told_from_what_was_not_understood() -> None:
    deaf = msgspec.structs.replace(
        happy(), turns=tuple(msgspec.structs.replace(turn, heard=None) for turn in happy().turns)
    )
    scored = users_scored([deaf], UserOptions(), resamples=0)
    first = view_of_dialogue(scored, "happy").turns[0]
    assert isinstance(first.cell, TalkCell)
    assert not first.cell.recorded
    assert [row.kind for row in first.cell.acts] == ["plain"]
    assert "what the system heard is not recorded" in dialogue_html(scored, "happy")


def test_every_verdict_stands_once_with_the_reason_that_explain_gives() -> None:
    record = explanation_record(run(), "loops")
    shown = [one for turn in view_of_dialogue(run(), "loops").turns if turn.cell for one in turn.cell.rulings]
    shown += overview().unsaid
    assert sum(len(one.items) for one in shown) == len(record["verdicts"])
    assert {one.reason for one in shown} == {row["because"] for row in record["verdicts"]}
    html = dialogue_html(run(), "loops")
    for row in record["verdicts"]:
        assert row["because"].replace("'", "&#39;") in html


def test_lost_points_name_their_fault_and_mark_the_turn() -> None:
    view = view_of_dialogue(run(), "loops")
    (ruling,) = cell(2).rulings
    assert (ruling.verdict, ruling.items) == ("repeated-penalised", ("area = north", "stars = 4"))
    assert (ruling.points, ruling.fault, ruling.tone) == ("FP 2", "user NLU", "bad")
    assert [badge.text for badge in view.turns[2].badges] == ["2 wrong or missing", "↻ 2 of 4 in a loop"]
    assert view.turns[0].badges[0].text == "2 points won"
    assert [badge.text for badge in view.turns[3].badges] == ["misheard", "↻ inside a loop"]


def test_a_loop_is_told_where_it_begins_and_marked_on_all_its_turns() -> None:
    assert [cell(place).inside for place in range(7)] == [True] * 7
    assert [cell(place).loop is not None for place in range(7)] == [True, *[False] * 6]
    (mark,) = overview().loops
    assert mark == cell(0).loop
    assert (mark.turns, mark.repeats, mark.fault) == ("turns 0–6", 4, "user NLU")
    assert "hotel-inform(phone) heard as train-inform(phone)" in mark.cause
    assert not overview("happy").loops


def test_the_overview_has_scores_lost_points_and_what_was_never_said() -> None:
    (hotel,) = [row for row in overview().scores if (row.measure, row.domain) == ("I-GCDF1", "hotel")]
    assert list(hotel.values) == pytest.approx([0.4, 0.25, 1.0])
    assert (hotel.counts, hotel.lost) == ((2, 6, 0), (6, 0, 0))
    assert [row.domain for row in overview().scores if row.measure == "I-GCDF1"][-1] == "combined"
    missing = {item for one in overview().unsaid for item in one.items if one.verdict == "missing"}
    assert missing == {"day = monday", "train-price"}
    end, other = overview().end, overview("happy").end
    assert end is not None and other is not None
    assert (end.text, other.text) == ("ends in a loop", "ends with a goodbye")


def test_facets_find_the_dialogues(tmp_path: Path) -> None:
    stored = Store(tmp_path).add(run())
    library = Library(runs=[stored])
    listed = DialogueList(library, stored)

    def found(**facets: str) -> list[str]:
        return [row.dialogue for row in listed.page(DialogueQuery(facets=facets)).rows]

    assert (
        found(verdict="missing") == found(end="loop") == found(cause="user NLU") == found(fault="user NLU") == ["loops"]
    )
    assert found(end="goodbye") == ["happy"]
    assert found(behaviour="missed_domain") == ["loops"]
    assert found(slot="hotel-stars") == ["loops"]
    assert found(domain="train") == ["loops"]
    assert listed.columns == ["I-GCDF1", "R-GCDF1"]


def test_the_page_of_a_run_has_its_tables() -> None:
    html = run_html(run())
    for words in ("how the user expresses its goals", "What each fault costs", "Verdicts on single", "Behaviours"):
        assert words in html


def test_bars_say_behaviours_in_words() -> None:
    facet = next(each for each in PAGES.facets if each.name == "behaviour")
    words = set(map(facet.word, run().table("behaviours")["behaviour"]))
    assert any(each.startswith("repeated constraint: ") for each in words)
    assert not any("_" in each or "/" in each for each in words)


def test_signs_and_words_tell_what_colours_tell() -> None:
    html = dialogue_html(run(), "loops")
    for sign, word in (("≠", "another act"), ("✓", "understood")):
        assert f'<span aria-hidden="true">{sign}</span><span class="unseen">{word}</span>' in html
    assert "style=" not in html


def test_a_dialogue_that_failed_says_why() -> None:
    import polars

    def failing(name: str, frame: polars.DataFrame) -> polars.DataFrame:
        if name != "failures":
            return frame.clear()
        row = {"dialogue": ["loops"], "turn": [2], "reason": ["turn 2 has no acts"], "file": ["talks.json"]}
        return polars.DataFrame(row, schema=frame.schema)

    failed = changed(run(), failing)
    assert [badge.text for badge in view_of_dialogue(failed, "loops").badges] == ["not scored"]
    assert "turn 2 has no acts" in dialogue_html(failed, "loops")


@pytest.mark.soak
def test_the_paper_s_conversations(shared_data: Path) -> None:
    folder = shared_data / "gcdf1"
    options = UserOptions(canonical_map=folder / "multiwoz21_canonical_map.json.gz")
    scored = users_scored(folder / "conversations", options, resamples=0)
    library = Library(runs=[scored])
    listed = DialogueList(library, scored)
    assert listed.page(DialogueQuery(facets={"end": "loop"})).found == int(
        (scored.table("conversation_facts")["end"] == "loop").sum()
    )
    view = pages_of("users").dialogue(library, scored, library.dialogue(scored, "PMUL3875"))
    assert [badge.text for badge in view.turns[6].badges] == ["3 wrong or missing", "↻ 2 of 18 in a loop"]
    assert isinstance(view.turns[5].cell, TalkCell)
    assert view.turns[5].cell.acts == (
        ActRow("wrong", "Booking-Book(Ref=00000002)", "Train-OfferBooked(Ref=00000002)", "another act"),
    )
