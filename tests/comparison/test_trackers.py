from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars
import pytest
from dialgauge.comparison.trackers import TrackerComparison, compare
from dialgauge.comparison.turns import sweep_turns, turn_correlations

import dialgauge
from dialgauge.comparison.divergence import partings
from dialgauge.comparison.document import Wishes, as_json, comparison_tables
from dialgauge.comparison.figures import drawings
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from support.trackers import gold_dialogues, tracker

MEASURES = ["JGA", "SA", "RSA", "FGA@0.5"]


@pytest.fixture(scope="module")
def compared() -> TrackerComparison:
    gold = gold_dialogues()
    systems = {"good": tracker(gold, 0.05, 1), "bad": tracker(gold, 0.4, 2), "alike": tracker(gold, 0.07, 3)}
    return compare(gold, systems, measures=MEASURES, resamples=400)


def test_it_tells_good_from_bad_and_not_from_alike(compared: TrackerComparison) -> None:
    assert compared.difference("good", "bad", "JGA").found
    assert not compared.difference("good", "alike", "JGA").found
    assert compared.values[:, 0].tolist() == [system["JGA"] for system in compared.results]


def test_it_is_the_public_function() -> None:
    assert dialgauge.compare is compare


def test_measures_without_a_share_in_each_dialogue_are_named_not_dropped() -> None:
    gold = gold_dialogues(10)
    systems = {"a": tracker(gold, 0.1, 1), "b": tracker(gold, 0.2, 2)}
    found = compare(gold, systems, measures=["JGA", "F1(average=slot)"], resamples=100)
    assert found.measures == ("JGA",)
    assert any("F1(average=slot) cannot be compared" in note for note in found.scores.notes)
    with pytest.raises(DialgaugeError, match="name another measure too"):
        compare(gold, systems, measures=["F1(average=slot)"], resamples=100)


def test_the_same_seed_gives_the_same_bytes() -> None:
    gold = gold_dialogues(20)
    systems = {"a": tracker(gold, 0.1, 1), "b": tracker(gold, 0.2, 2)}
    wishes = Wishes(("kendall",), True, 3)
    first, second = (json.dumps(as_json(compare(gold, systems, resamples=300, seed=5), wishes)) for _ in range(2))
    assert first == second


def test_the_sweep_gives_the_scorers_fga(compared: TrackerComparison) -> None:
    sweep = sweep_turns(compared.turn_frames, [0.0, 0.5])
    assert sweep is not None
    for system in compared.results:
        assert sweep.scores[system.name] == pytest.approx([system["JGA"], system["FGA@0.5"]])


def test_turn_correlations_leave_out_turns_without_a_score() -> None:
    frame = polars.DataFrame({"JGA": [1.0, 0.0, 1.0, 0.0], "AGA": [1.0, None, 0.5, 0.25], "SA": [1.0] * 4})
    names, matrix = turn_correlations(frame, ["JGA", "AGA", "SA", "F1"], "pearson")
    assert names == ["JGA", "AGA", "SA"]
    assert matrix[0][1] == pytest.approx(np.corrcoef([1, 1, 0], [1, 0.5, 0.25])[0, 1])
    assert matrix[2] == [None, None, None]


def states(*turns: tuple[str, str]) -> list[Dialogue]:
    user = tuple(
        Turn(
            speaker="user",
            predicted={"hotel": {name: (value,) for name, value in (("area", area), ("stars", stars)) if value}},
        )
        for area, stars in turns
    )
    return [Dialogue(id="D1", turns=user)]


def test_partings_name_the_first_difference_and_its_slots() -> None:
    gold = [
        Dialogue(id="D1", turns=tuple(Turn(speaker="user", state={"hotel": {"area": ("north",)}}) for _ in range(3)))
    ]
    systems = {
        "a": states(("north", ""), ("north", ""), ("north", "")),
        "b": states(("north", ""), ("east", "4"), ("", "")),
    }
    compared = compare(gold, systems, measures="JGA", resamples=20)
    (found,) = partings(compared.scores, "a", "b", "JGA", 5, compared.details("a", "b"))
    assert (found.dialogue, found.first) == ("D1", 1.0)
    assert found.second == pytest.approx(1 / 3)
    assert found.size == pytest.approx(2 / 3)
    assert found.detail is not None
    assert (found.detail.turns, found.detail.first_turn) == (2, 1)
    shown = {slot.slot: (slot.gold, slot.first, slot.second) for slot in found.detail.slots}
    assert shown == {"hotel-area": ("north", "north", "east"), "hotel-stars": ("-", "-", "4")}


def test_partings_come_largest_first_and_add_up(compared: TrackerComparison) -> None:
    found = partings(compared.scores, "good", "bad", "JGA", 1000)
    sizes = [abs(parting.size) for parting in found]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(parting.size for parting in found) == pytest.approx(compared.difference("good", "bad", "JGA").difference)


def test_equal_systems_do_not_part() -> None:
    gold = gold_dialogues(5)
    one = tracker(gold, 0.2, 1)
    same = compare(gold, {"a": one, "b": one}, resamples=20)
    text = "".join(table.render("markdown") for table in comparison_tables(same, Wishes(show=3)))
    assert "No dialogue has a different JGA" in text
    assert {difference.p_randomisation for difference in same.differences()} == {1.0}


def test_every_table_in_every_format(compared: TrackerComparison, tmp_path: Path) -> None:
    titles = [table.title for table in comparison_tables(compared, Wishes(("spearman",), True, 2))]
    assert titles[:4] == [
        "Measures by systems",
        "Differences, first minus second",
        "What this test set can resolve, and how far each measure spreads the systems",
        "Do measures rank the systems alike? (Kendall's tau-b)",
    ]
    assert "Flexible goal accuracy by strictness" in titles
    assert "First difference between good and bad" in titles
    assert sum(title.startswith("Spearman over") for title in titles) == 6
    for output in ("markdown", "latex", "csv", "json"):
        for table in comparison_tables(compared, Wishes(("spearman",), True, 2)):
            assert "nan" not in str(table.render(output)).lower().replace("dominan", "")


def test_json_says_everything_in_plain_values(compared: TrackerComparison) -> None:
    content = json.loads(json.dumps(as_json(compared, Wishes(("pearson",), True, 2)), allow_nan=False))
    assert content["systems"] == ["good", "bad", "alike"]
    assert len(content["differences"]) == 3 * len(MEASURES)
    assert content["by_measure"][0]["measure"] == "JGA"
    assert set(content["correlations"]["pearson"]["turns"]) == {"good", "bad", "alike"}
    assert content["partings"]["bad"][0]["detail"]["slots"]
    assert "seed:0" in content["signature"]


def test_drawings(compared: TrackerComparison) -> None:
    pytest.importorskip("altair")
    found = drawings(compared)
    assert set(found) == {
        "intervals", "mean_spread", "lambda_sweep", "slots_per_dialogue", "domains_JGA", "domains_RSA",
        *(f"{kind}_{name}" for kind in ("correlation", "error_onset") for name in ("1_good", "2_bad", "3_alike")),
    }  # fmt: skip
    for draw in found.values():
        assert draw().to_dict()


def test_unlike_scoring_is_said() -> None:
    gold = gold_dialogues(3)
    first = tracker(gold, 0.1, 1)
    short = [Dialogue(id=one.id, turns=one.turns[:-1] if place == 1 else one.turns) for place, one in enumerate(first)]
    judged = [
        Dialogue(id=one.id, turns=tuple(Turn(speaker="user", judged={"hotel": {"area": True}}) for _ in one.turns))
        for one in gold
    ]
    compared = compare(gold, {"a": first, "b": short, "c": judged}, resamples=20)
    assert "1 dialogue left out: the systems were scored on different turns there" in " ".join(compared.scores.notes)
    assert compared.scores.dialogues == ("MUL0000.json", "MUL0002.json")
    assert compared.scores.den[:, 0].tolist()[0] == compared.scores.den[:, 0].tolist()[1]
    assert "FGA@0.5 does not mean the same for all systems" in " ".join(compared.scores.notes)
    assert compared.details("a", "c") is None
    assert compare(gold, {"a": first, "b": first}, resamples=20).scores.notes == ()


def test_with_coverage_empty_no_dialogue_is_left_out() -> None:
    gold = gold_dialogues(3)
    first = tracker(gold, 0.1, 1)
    short = [Dialogue(id=one.id, turns=one.turns[:-1]) for one in first]
    assert len(compare(gold, {"a": first, "b": short}, coverage="empty", resamples=20).scores.dialogues) == 3
    with pytest.raises(DialgaugeError, match="in every dialogue the systems were scored on different turns"):
        compare(gold, {"a": first, "b": short}, resamples=20)


def test_mistakes() -> None:
    gold = gold_dialogues(3)
    with pytest.raises(DialgaugeError, match="at least two systems"):
        compare(gold, {"a": tracker(gold, 0.1, 1)})
    with pytest.raises(DialgaugeError, match="share no dialogue"):
        first = [Dialogue(id=f"A{place}", turns=one.turns) for place, one in enumerate(gold)]
        compare(gold + first, {"a": tracker(gold, 0.1, 1), "b": tracker(first, 0.1, 1)})
