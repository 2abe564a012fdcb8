from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars
import pytest
from msgspec.structs import replace

import dialgauge
from dialgauge.comparison import Comparison, ComparisonOptions, compare_runs, divergences
from dialgauge.comparison import comparison_figures as figures_of
from dialgauge.comparison import comparison_json as json_of
from dialgauge.comparison import comparison_tables as tables_of
from dialgauge.comparison.spread import turn_correlations
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Run, Store
from dialgauge.tracking import compare, score
from dialgauge.tracking.comparison_view import VIEW, Swap, Sweep, sweep_table
from support.trackers import gold_dialogues, tracker

MEASURES = ["JGA", "SA", "RSA", "FGA@0.5"]


@pytest.fixture(scope="module")
def compared() -> Comparison:
    gold = gold_dialogues()
    systems = {"good": tracker(gold, 0.05, 1), "bad": tracker(gold, 0.4, 2), "alike": tracker(gold, 0.07, 3)}
    return compare(gold, systems, measures=MEASURES, resamples=400)


def test_it_tells_good_from_bad_and_not_from_alike(compared: Comparison) -> None:
    assert compared.difference("good", "bad", "JGA").significant
    assert not compared.difference("good", "alike", "JGA").significant
    assert compared.values[:, 0].tolist() == [run.scores["JGA"].value for run in compared.runs.values()]


def test_it_is_the_public_function() -> None:
    assert dialgauge.compare is compare


def test_measures_without_a_share_in_each_dialogue_are_named_not_dropped() -> None:
    gold = gold_dialogues(10)
    systems = {"a": tracker(gold, 0.1, 1), "b": tracker(gold, 0.2, 2)}
    found = compare(gold, systems, measures=["JGA", "F1(average=slot)"], resamples=100)
    assert found.measures == ("JGA",)
    assert any("F1(average=slot) cannot be compared" in note for note in found.notes)
    with pytest.raises(DialgaugeError, match="name another measure too"):
        compare(gold, systems, measures=["F1(average=slot)"], resamples=100)


def test_the_same_seed_gives_the_same_bytes() -> None:
    gold = gold_dialogues(20)
    systems = {"a": tracker(gold, 0.1, 1), "b": tracker(gold, 0.2, 2)}
    options = ComparisonOptions(("kendall",), ("sweep",), 3)
    first, second = (json.dumps(json_of(compare(gold, systems, resamples=300, seed=5), options)) for _ in range(2))
    assert first == second


def test_the_sweep_gives_the_scorers_fga(compared: Comparison) -> None:
    sweep = VIEW.documents(compared)["sweep"]()
    places = [sweep["lambdas"].index(at) for at in (0.0, 0.5)]
    for name, run in compared.runs.items():
        values = [sweep["scores"][name][place] for place in places]
        assert values == pytest.approx([run.scores["JGA"].value, run.scores["FGA@0.5"].value])


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


def test_divergences_name_the_first_difference_and_its_slots() -> None:
    gold = [
        Dialogue(id="D1", turns=tuple(Turn(speaker="user", state={"hotel": {"area": ("north",)}}) for _ in range(3)))
    ]
    systems = {
        "a": states(("north", ""), ("north", ""), ("north", "")),
        "b": states(("north", ""), ("east", "4"), ("", "")),
    }
    compared = compare(gold, systems, measures="JGA", resamples=20)
    (found,) = divergences(compared, "a", "b", "JGA", 5)
    assert (found.dialogue, found.first) == ("D1", 1.0)
    assert found.second == pytest.approx(1 / 3)
    assert found.size == pytest.approx(2 / 3)
    assert found.turn is not None
    assert (found.turn.turns, found.turn.turn) == (2, 1)
    shown = {slot.item: (slot.gold, slot.first, slot.second) for slot in found.turn.items}
    assert shown == {"hotel-area": ("north", "north", "east"), "hotel-stars": ("-", "-", "4")}


def test_divergences_come_largest_first_and_add_up(compared: Comparison) -> None:
    parts = divergences(compared, "good", "bad", "JGA", 1000)
    sizes = [abs(part.size) for part in parts]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(part.size for part in parts) == pytest.approx(compared.difference("good", "bad", "JGA").difference)


def test_equal_systems_do_not_diverge() -> None:
    gold = gold_dialogues(5)
    one = tracker(gold, 0.2, 1)
    same = compare(gold, {"a": one, "b": one}, resamples=20)
    text = "".join(table.render("markdown") for table in tables_of(same, ComparisonOptions(show=3)))
    assert "No dialogue has a different JGA" in text
    assert {difference.p_randomisation for difference in same.differences()} == {1.0}


def test_every_table_in_every_format(compared: Comparison, tmp_path: Path) -> None:
    titles = [table.title for table in tables_of(compared, ComparisonOptions(("spearman",), ("sweep",), 2))]
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
        for table in tables_of(compared, ComparisonOptions(("spearman",), ("sweep",), 2)):
            assert "nan" not in str(table.render(output)).lower().replace("dominan", "")


def test_json_says_everything_in_plain_values(compared: Comparison) -> None:
    content = json.loads(json.dumps(json_of(compared, ComparisonOptions(("pearson",), ("sweep",), 2)), allow_nan=False))
    assert [system["name"] for system in content["systems"]] == ["good", "bad", "alike"]
    assert len(content["differences"]) == 3 * len(MEASURES)
    assert content["measures"][0]["measure"] == "JGA"
    assert set(content["correlations"]["pearson"]["turns"]) == {"good", "bad", "alike"}
    assert content["divergences"]["bad"][0]["items"]
    assert "seed:0" in content["signature"]


def test_figures(compared: Comparison) -> None:
    pytest.importorskip("altair")
    found = figures_of(compared)
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
    assert "1 dialogue left out: the systems were scored on different turns there" in " ".join(compared.notes)
    assert compared.scores.dialogues == ("MUL0000.json", "MUL0002.json")
    assert compared.scores.den[:, 0].tolist()[0] == compared.scores.den[:, 0].tolist()[1]
    assert "FGA@0.5 does not mean the same for all systems" in " ".join(compared.notes)
    assert compared.divergence("a", "c", "MUL0000") is None
    assert compare(gold, {"a": first, "b": first}, resamples=20).notes == ()


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


def test_runs_give_what_their_files_give(tmp_path: Path) -> None:
    """Stored runs alone, without gold and predictions: the same tables, JSON and figures, turn by turn."""
    gold = gold_dialogues()
    systems = {"good": tracker(gold, 0.05, 1), "bad": tracker(gold, 0.3, 2)}
    direct = compare(gold, systems, resamples=200)
    store = Store(tmp_path)
    ids = [store.add(run).id for run in score(gold, systems, intervals=False).runs]
    stored = compare_runs(ids, store=store, resamples=200)
    assert stored.systems == ("good", "bad")
    assert list(stored.differences()) == list(direct.differences())
    options = ComparisonOptions(("pearson",), ("sweep",), show=2)
    rendered = [[table.render("json") for table in tables_of(one, options)] for one in (stored, direct)]
    assert rendered[0] == rendered[1]
    assert "First difference between good and bad" in rendered[0][-1]
    theirs, ours = json_of(direct, options), json_of(stored, options)
    assert [system.pop("run") for system in ours["systems"]] == ids
    assert [system.pop("run") for system in theirs["systems"]] == [None, None]
    assert ours == theirs
    pytest.importorskip("altair")
    drawn, again = figures_of(direct), figures_of(stored)
    assert list(drawn) == list(again)
    assert {name: draw().to_dict() for name, draw in drawn.items()} == {
        name: draw().to_dict() for name, draw in again.items()
    }


def test_other_turns_and_other_gold_are_said() -> None:
    def runs_of(gold: list[Dialogue], name: str, predicted: list[Dialogue]) -> list[Run]:
        return score(gold, {name: predicted}, measures=["JGA"], intervals=False).runs

    usual, other = gold_dialogues(), gold_dialogues(seed=5)
    (mine,) = runs_of(usual, "mine", tracker(usual, 0.1, 1))
    (theirs,) = runs_of(other, "other", tracker(other, 0.1, 1))
    compared = compare_runs([mine, theirs], resamples=20)
    assert any("left out: the systems were scored on different turns" in note for note in compared.notes)
    empty = [replace(one, turns=tuple(replace(turn, state={}) for turn in one.turns)) for one in usual]
    (again,) = runs_of(empty, "again", tracker(usual, 0.1, 1))
    notes = compare_runs([mine, again], resamples=20).notes
    assert any(note.startswith("the runs were scored with a different gold") for note in notes)


def test_crossings_are_interpolated() -> None:
    sweep = Sweep((0.0, 1.0, 2.0), {"a": [0.5, 0.6, 0.7], "b": [0.4, 0.6, 0.9], "c": [0.0, 0.1, 0.8]})
    first, second = sweep.swaps()
    assert (first.before, first.after) == ("a", "b")
    # The gap goes from 0.1 over 0 to -0.2: a tie is passed over, not counted, and the line between its neighbours used.
    assert first.at == pytest.approx(2 / 3)
    assert second == Swap(pytest.approx(1 + 0.5 / 0.6), "a", "c")  # type: ignore[arg-type]


def test_touching_and_equal_lines_are_no_crossing() -> None:
    assert Sweep((0.0, 1.0, 2.0), {"a": [0.5, 0.6, 0.8], "b": [0.4, 0.6, 0.7], "c": [0.4, 0.6, 0.7]}).swaps() == []


def test_table_says_who_passes_whom() -> None:
    table = sweep_table(Sweep((0.0, 1.0), {"a": [0.5, 0.6], "b": [0.4, 0.7]}))
    assert table.notes == ["b passes a at λ = 0.50."]
    assert [column.title for column in table.columns] == ["system", "λ = 0", "λ = 1"]
    assert "No two systems" in sweep_table(Sweep((0.0, 1.0), {"a": [0.5, 0.6], "b": [0.4, 0.5]})).notes[0]
