"""Error episodes, and the worst dialogues."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge import score
from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.measures import parse_measure
from dialgauge.tracking import (
    PreparedInputs,
    SlotErrors,
    TrackedSystem,
    layout,
    profile_sensitivity,
    slot_error_tables,
    slots_per_dialogue,
    worst_ranking,
)
from dialgauge.values import profile_named
from tracking.corpora import pair_of_dialogues

FIRST = [
    ({"hotel-area": "north"}, {"hotel-area": "north"}),
    ({"hotel-area": "north", "hotel-stars": "4"}, {"hotel-area": "south"}),
    ({"hotel-area": "north", "hotel-stars": "4"}, {"hotel-area": "south", "hotel-stars": "4"}),
    ({"hotel-area": "north", "hotel-stars": "4"}, {"hotel-area": "north", "hotel-stars": "4", "taxi-leaveat": "9:00"}),
]
SECOND = [({}, {}), ({"train-day": "monday"}, {"train-day": "monday"})]
THIRD = [
    ({"train-day": "monday"}, {}),
    ({"train-day": "monday"}, {"train-day": "monday"}),
    ({}, {"train-day": "monday"}),
]


def scored(measures: str = "JGA,RSA,FGA@0.5") -> TrackedSystem:
    pairs = [pair_of_dialogues(states, name) for states, name in ((FIRST, "A"), (SECOND, "B"), (THIRD, "C"))]
    gold, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return score(gold, {"it": theirs}, measures=measures, intervals=False).systems[0]


def test_episodes() -> None:
    faults = SlotErrors(scored())
    found = {entry.pair: entry for entry in faults.by_slot()}
    area = found["hotel", "area"]
    assert (area.episodes, area.wrong_value, area.mean_origin, area.mean_turns, area.recovered) == (1, 1, 1.0, 2.0, 1)
    stars = found["hotel", "stars"]
    assert (stars.missed, stars.mean_turns, stars.recovered) == (1, 1.0, 1)
    taxi = found["taxi", "leave"]
    assert (taxi.spurious, taxi.mean_origin, taxi.recovered) == (1, 3.0, 0)
    day = found["train", "day"]
    assert (day.episodes, day.missed, day.spurious, day.recovered) == (2, 1, 1, 1)
    assert faults.confusions()[0] == (("hotel", "area"), "north", "south", 2)
    assert (("train", "day"), "", "monday", 1) in faults.confusions()


def test_first_errors_and_recovery() -> None:
    first = SlotErrors(scored()).first_errors()
    assert first.turn == {"A": 1, "C": 0}
    assert first.position == {"A": 0.25, "C": 0.0}
    assert first.recovering == ["C"]
    assert sum(first.histogram()) == 2
    assert slots_per_dialogue(scored().counts).tolist() == [2, 1, 1]
    assert SlotErrors(scored()).as_dict()["slots_per_dialogue"] == [0, 2, 1]


def first_wrong_at(turn: int, turns: int) -> tuple[Dialogue, Dialogue]:
    """A dialogue that is right up to a turn and wrong from there on."""
    return pair_of_dialogues(
        [({"hotel-area": "north"}, {"hotel-area": "south" if place >= turn else "north"}) for place in range(turns)],
        f"D{turn}-{turns}",
    )


EVERY_PLACE = [(turn, turns) for turns in range(1, 31) for turn in range(turns)]


def test_first_errors_are_counted_by_an_integer_rule() -> None:
    """Every place in dialogues of up to 30 turns, edges such as 3 of 10 and 14 of 20 among them: 10 · t // N."""
    pairs = [first_wrong_at(turn, turns) for turn, turns in EVERY_PLACE]
    system = score(
        [gold for gold, _ in pairs], [theirs for _, theirs in pairs], measures="JGA", intervals=False
    ).systems[0]
    wanted = [sum(10 * turn // turns == part for turn, turns in EVERY_PLACE) for part in range(10)]
    assert system.faults.first_errors().histogram() == wanted
    table = slot_error_tables(system)[-1]
    assert [row[1].value for row in table.cells] == wanted


def test_no_faults_at_all() -> None:
    gold, theirs = pair_of_dialogues(SECOND)
    faults = SlotErrors(score([gold], [theirs], intervals=False).systems[0])
    assert len(faults.episodes) == 0
    assert faults.by_slot() == []
    assert faults.confusions() == []
    assert faults.first_errors().dialogues == 0


def test_the_worst_dialogues_in_the_papers_layout() -> None:
    system = scored()
    worst = worst_ranking(system, parse_measure("JGA"))
    assert (worst.dialogues[:2], worst.values[:2]) == (["A", "C"], [0.25, pytest.approx(1 / 3)])
    text = layout(system, "A")
    assert text.startswith("Dialogue ID : A\n")
    assert text.count("Matched : True\nError   : none; FGA@0.5 weight 1\n\n------") == 1
    assert "Error   : type 1, made in this turn; FGA@0.5 weight 0" in text
    assert "Error   : type 2, carried over, 1 turn after the last new error; FGA@0.5 weight 0.3935" in text
    turns = text.split("Turn: ")
    assert "right    : 1 slot\n\nMatched : True" in turns[1]
    assert "right    : 0 slots\nwrong    : hotel-area: north -> south\nmissed   : hotel-stars: 4\n\nMatched" in turns[2]
    assert "right    : 2 slots\nspurious : taxi-leave: 09:00\n\nMatched : False" in turns[4]
    assert "{" not in text
    with pytest.raises(DialgaugeError, match="no value for single dialogues"):
        worst_ranking(system, parse_measure("F1(average=slot)"))


def test_sensitivity_counts_flips_and_swaps() -> None:
    times = pair_of_dialogues([({"train-leaveat": "09:00"}, {"train-leaveat": "9 : 00"})] * 3, "T")
    cares = pair_of_dialogues([({"train-leaveat": "09:00"}, {"train-leaveat": "09:00", "train-day": "dontcare"})], "T")
    one = [times[1]]
    two = [pair_of_dialogues([({}, {"train-leaveat": "09:00"}), ({}, {}), ({}, {})], "T")[1]]
    study = PreparedInputs([times[0]], {"one": one, "two": two})
    profiles = [profile_named(name) for name in ("plain", "canon")]
    found = profile_sensitivity(study, parse_measure("JGA"), profiles)
    assert found.values == {
        "one": {"plain": 0.0, "canon": 1.0},
        "two": {"plain": pytest.approx(1 / 3), "canon": pytest.approx(1 / 3)},
    }
    assert found.swaps == [("one", "two", "canon", "plain")]
    effect = next(e for e in found.rules if e.rule == "times" and e.system == "one")
    assert (effect.profile, effect.gained, effect.lost, effect.value_without) == ("canon", 3, 0, 0.0)
    both = PreparedInputs([cares[0]], {"it": [cares[1]]})
    found = profile_sensitivity(both, parse_measure("JGA"), [profile_named("canon_nodc")])
    assert next(e for e in found.rules if e.rule == "without dontcare").gained == 1


def test_the_first_error_counted_from_either_end_of_its_turn() -> None:
    north: dict[str, str] = {"hotel-area": "north"}
    right, wrong = (north, north), (north, dict[str, str]())
    gold, theirs = pair_of_dialogues([right, right, wrong, wrong], "D")
    found = SlotErrors(score([gold], [theirs], intervals=False).systems[0]).first_errors()
    assert (found.turn, found.position, found.position_after) == ({"D": 2}, {"D": 0.5}, {"D": 0.75})


def test_dialogues_that_end_wrong_are_listed_in_two_groups() -> None:
    """The RSA paper's Figure 1 and appendix A: an error that stays, and one that was mended before another."""
    right, wrong = {"train-day": "monday"}, {"train-day": "sunday"}
    talks = {"stays": [right, wrong, wrong], "again": [wrong, right, wrong], "ends well": [wrong, wrong, right]}
    pairs = [pair_of_dialogues([(right, state) for state in states], name) for name, states in talks.items()]
    system = score([gold for gold, _ in pairs], {"it": [theirs for _, theirs in pairs]}, intervals=False).systems[0]
    table = slot_error_tables(system)[2]
    assert [[cell.value for cell in row] for row in table.cells] == [
        ["wrong to the end", 1, "stays (user turn 1)"],
        ["exact again", 1, "again (user turn 0)"],
    ]


def test_a_file_with_nothing_in_it_predicts_nothing_where_missing_turns_count_as_empty(tmp_path: Path) -> None:
    """FGA paper, section 2.2: slot accuracy is then (T - |B|) / T."""
    states: list[dict[str, str]] = [{"train-day": "monday"}, {"train-day": "monday", "train-people": "2"}]
    nothing: list[dict[str, str]] = [{}]
    gold = {"a": states, "b": nothing}
    for content in ("{}", " [ ]\n"):
        (tmp_path / "empty.json").write_text(content)
        [system] = score(gold, [tmp_path / "empty.json"], coverage="empty", intervals=False).systems
        assert system["SA"].value == pytest.approx((29 + 28 + 30) / 90)
        assert system["JGA"].value == pytest.approx(1 / 3) and system["F1"].value == 0
        assert system.coverage.missing_turns == 3
        with pytest.raises(DialgaugeError, match="no known layout fits"):
            score(gold, [tmp_path / "empty.json"], intervals=False)
