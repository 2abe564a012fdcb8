"""Trackers compared: from dialogues, from runs in memory, and from stored runs, with the same result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dialgauge
from dialgauge import compare
from dialgauge.comparison import (
    Comparison,
    ComparisonOptions,
    compare_runs,
    comparison_figures,
    comparison_json,
    comparison_tables,
    divergences,
    view_of,
)
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Store
from dialgauge.tracking import TrackingRuns, sweep_counts
from support.commands import dialgauge as command
from support.trackers import gold_dialogues, tracker

MEASURES = ["JGA", "SA", "RSA", "FGA@0.5"]
EVERYTHING = ComparisonOptions(("spearman",), ("sweep",), show=2)


@pytest.fixture(scope="module")
def compared() -> Comparison:
    gold = gold_dialogues()
    systems = {"good": tracker(gold, 0.05, 1), "bad": tracker(gold, 0.4, 2), "alike": tracker(gold, 0.07, 3)}
    return compare(gold, systems, measures=MEASURES, resamples=400)


def test_it_tells_good_from_bad_and_not_from_alike(compared: Comparison) -> None:
    assert compared.difference("good", "bad", "JGA").significant
    assert not compared.difference("good", "alike", "JGA").significant
    assert compared.corpus_values[:, 0].tolist() == [run.scores["JGA"].value for run in compared.runs.values()]


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


def test_how_predictions_were_read_is_said_as_beside_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = {f"MUL{n}": [{"hotel-area": "north", "hotel-stars": "4"}] * 3 for n in range(8)}
    files = {}
    for name, value in (("numbers", 4), ("texts", "4")):
        state = {"hotel": {"area": ["north", "x"], "stars": value}}
        files[name] = tmp_path / f"{name}.json"
        files[name].write_text(json.dumps({key: {turn: {"pr": state} for turn in range(3)} for key in gold}))
    told = dialgauge.score(gold, files, measures="JGA", intervals=False).reading_notes()
    assert [note.partition(": ")[0] for note in told] == ["numbers"]
    assert told[-1] == "numbers: numbers read as texts: 24 (first in dialogue MUL0, turn 0)"
    found = compare(gold, files, measures="JGA", resamples=100)
    assert [note for note in found.notes if note in told] == found.reading_notes == told
    (tmp_path / "truth.json").write_text(json.dumps(gold))
    said = command(capsys, "compare", tmp_path / "truth.json", *files.values(), "--resamples", 100)
    assert all(f"{note}." in said.err.splitlines() for note in told)


def test_the_same_seed_gives_the_same_bytes() -> None:
    gold = gold_dialogues(20)
    systems = {"a": tracker(gold, 0.1, 1), "b": tracker(gold, 0.2, 2)}
    options = ComparisonOptions(("kendall",), ("sweep",), show=3)
    first, second = (compare(gold, systems, resamples=300, seed=5) for _ in range(2))
    assert json.dumps(comparison_json(first, options)) == json.dumps(comparison_json(second, options))


def test_stored_runs_compare_as_those_in_memory(compared: Comparison, tmp_path: Path) -> None:
    store = Store(tmp_path)
    ids = [store.add(run).id for run in compared.runs.values()]
    stored = compare_runs(ids, store=store, resamples=400)
    first, second = (
        [table.render("csv") for table in comparison_tables(one, EVERYTHING)] for one in (compared, stored)
    )
    assert first == second
    assert set(comparison_figures(stored)) == set(comparison_figures(compared))
    direct, again = (comparison_json(one, EVERYTHING) for one in (compared, stored))
    assert direct["divergences"] == again["divergences"]
    assert direct["sweep"] == again["sweep"]


def test_the_sweep_gives_the_scorers_fga(compared: Comparison) -> None:
    systems = TrackingRuns(compared.runs.values()).systems
    sweep = sweep_counts({system.name: system.counts for system in systems})
    for system in systems:
        flexible = dict(zip(sweep.lambdas, sweep.scores[system.name], strict=True))
        assert [flexible[0.0], flexible[0.5]] == pytest.approx([system["JGA"], system["FGA@0.5"]])


def states(*turns: tuple[str, str]) -> list[Dialogue]:
    user = tuple(
        Turn(
            speaker="user",
            predicted={"hotel": {name: (value,) for name, value in (("area", area), ("stars", stars)) if value}},
        )
        for area, stars in turns
    )
    return [Dialogue(id="D1", turns=user)]


def test_the_first_difference_and_its_slots() -> None:
    spoken = [Turn(speaker="user", state={"hotel": {"area": ("north",)}}), Turn(speaker="system", text="certainly")]
    gold = [Dialogue(id="D1", turns=tuple(spoken * 3))]
    systems = {
        "a": states(("north", ""), ("north", ""), ("north", "")),
        "b": states(("north", ""), ("east", "4"), ("", "")),
    }
    compared = compare(gold, systems, measures="JGA", resamples=20)
    (part,) = divergences(compared, "a", "b", "JGA", 5)
    assert (part.dialogue, part.first) == ("D1", 1.0)
    assert part.second == pytest.approx(1 / 3)
    assert part.size == pytest.approx(2 / 3)
    assert part.turn is not None
    assert (part.turn.turns, part.turn.turn) == (2, 2), "the second user turn is the third of the dialogue"
    shown = {item.item: (item.gold, item.first, item.second) for item in part.turn.items}
    assert shown == {"hotel-area": ("north", "north", "east"), "hotel-stars": ("-", "-", "4")}


def test_right_in_other_words_is_a_difference() -> None:
    """As long as gold accepts both, no score tells them apart, and the states differ all the same."""
    gold = [Dialogue(id="D1", turns=(Turn(speaker="user", state={"hotel": {"name": ("a", "b")}}),))]
    systems = {
        name: [Dialogue(id="d1.json", turns=(Turn(speaker="user", predicted={"hotel": {"name": (name,)}}),))]
        for name in ("a", "b")
    }
    compared = compare(gold, systems, measures="JGA", resamples=20)
    assert compared.corpus_values.tolist() == [[1.0], [1.0]]
    turn = view_of("tracking").divergence(compared.runs["a"], compared.runs["b"], "D1")
    assert turn is not None
    assert [(one.item, one.gold, one.first, one.second) for one in turn.items] == [("hotel-name", "a | b", "a", "b")]


def test_differences_come_largest_first_and_add_up(compared: Comparison) -> None:
    parts = divergences(compared, "good", "bad", "JGA", 1000)
    sizes = [abs(part.size) for part in parts]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(part.size for part in parts) == pytest.approx(compared.difference("good", "bad", "JGA").difference)


def test_equal_systems_do_not_diverge() -> None:
    gold = gold_dialogues(5)
    one = tracker(gold, 0.2, 1)
    same = compare(gold, {"a": one, "b": one}, resamples=20)
    text = "".join(table.render("markdown") for table in comparison_tables(same, ComparisonOptions(show=3)))
    assert "No dialogue has a different JGA" in text
    assert {difference.p_randomisation for difference in same.differences()} == {1.0}


def test_every_table_in_every_format(compared: Comparison, tmp_path: Path) -> None:
    titles = [table.title for table in comparison_tables(compared, EVERYTHING)]
    assert titles[:6] == [
        "Systems by measures",
        "Possible ranks",
        "Differences, first minus second",
        "What this test set can resolve",
        "How far each measure spreads the systems",
        "Do measures rank the systems alike? (Kendall's tau-b)",
    ]
    assert "Flexible goal accuracy by strictness" in titles
    assert "First difference between good and bad" in titles
    assert sum(title.startswith("Spearman over") for title in titles) == 6
    for output in ("markdown", "latex", "csv", "json"):
        for table in comparison_tables(compared, EVERYTHING):
            assert "nan" not in str(table.render(output)).lower().replace("dominan", "")


def test_json_says_everything_in_plain_values(compared: Comparison) -> None:
    content = json.loads(json.dumps(comparison_json(compared, EVERYTHING), allow_nan=False))
    assert [system["name"] for system in content["systems"]] == ["good", "bad", "alike"]
    assert len(content["differences"]) == 3 * len(MEASURES)
    assert content["measures"][0]["measure"] == "JGA"
    assert set(content["correlations"]["spearman"]["turns"]) == {"good", "bad", "alike"}
    assert content["divergences"]["bad"][0]["items"]
    assert set(content["sweep"]) == {"lambdas", "scores", "swaps"}
    assert "seed:0" in content["signature"]


def test_figures(compared: Comparison) -> None:
    pytest.importorskip("altair")
    figures = comparison_figures(compared)
    assert set(figures) == {
        "intervals", "mean_spread", "lambda_sweep", "slots_per_dialogue", "domains_JGA", "domains_RSA",
        *(f"correlation_pearson_{name}" for name in ("1_good", "2_bad", "3_alike")),
        *(f"error_onset_{name}" for name in ("1_good", "2_bad", "3_alike")),
    }  # fmt: skip
    for draw in figures.values():
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
    assert compared.dialogues == ("MUL0000.json", "MUL0002.json")
    assert compared.scores.den[:, 0].tolist()[0] == compared.scores.den[:, 0].tolist()[1]
    assert "FGA@0.5 does not mean the same for all systems" in " ".join(compared.notes)
    assert compared.divergence("a", "c", "MUL0000") is None
    assert compare(gold, {"a": first, "b": first}, resamples=20).notes == ()


def test_with_coverage_empty_no_dialogue_is_left_out() -> None:
    gold = gold_dialogues(3)
    first = tracker(gold, 0.1, 1)
    short = [Dialogue(id=one.id, turns=one.turns[:-1]) for one in first]
    assert len(compare(gold, {"a": first, "b": short}, coverage="empty", resamples=20).dialogues) == 3
    with pytest.raises(DialgaugeError, match="in every dialogue the systems were scored on different turns"):
        compare(gold, {"a": first, "b": short}, resamples=20)


def test_mistakes() -> None:
    gold = gold_dialogues(3)
    with pytest.raises(DialgaugeError, match="at least two systems"):
        compare(gold, {"a": tracker(gold, 0.1, 1)})
    with pytest.raises(DialgaugeError, match="share no dialogue"):
        first = [Dialogue(id=f"A{place}", turns=one.turns) for place, one in enumerate(gold)]
        compare(gold + first, {"a": tracker(gold, 0.1, 1), "b": tracker(first, 0.1, 1)})
