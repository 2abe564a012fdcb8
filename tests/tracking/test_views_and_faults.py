"""Parts of the corpus, error episodes, and the worst dialogues."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from dialgauge import compare, score
from dialgauge.comparison import comparison_figures
from dialgauge.dialogue import Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.measures import parse_measure
from dialgauge.tracking import (
    PreparedInputs,
    SlotErrors,
    TrackedSystem,
    TrackingRuns,
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


def test_by_domain() -> None:
    view = scored("JGA,SA,RSA,F1,FGA@0.5").by("domain")
    assert set(view) == {"hotel", "taxi", "train"}
    assert view["hotel"]["turns"] == 4
    assert view["hotel"]["scores"]["JGA"] == pytest.approx(2 / 4)
    assert view["hotel"]["scores"]["SA"] == pytest.approx(1 - 3 / 30 / 4)
    assert view["hotel"]["scores"]["SA(T=domain)"] == pytest.approx(1 - 3 / 10 / 4)
    # Right, wrong, wrong with nothing new, right again.
    assert view["hotel"]["scores"]["FGA@0.5"] == pytest.approx((2 + 1 - math.exp(-0.5)) / 4)
    assert view["taxi"] == {"dialogues": 0, "turns": 0, "spurious_domain_turns": 1, "scores": {}}
    assert (view["train"]["turns"], view["train"]["spurious_domain_turns"]) == (3, 1)


def test_views_say_what_they_leave_out_and_add_nothing() -> None:
    names = ["JGA", "RSA", "FGA@0.5", "FinalJGA", "F1(average=slot)"]
    system = scored(",".join(names))
    views = {view: system.by(view) for view in ("domain", "service", "slot", "turn", "n-domains")}
    shown = {view: {name for group in groups.values() for name in group["scores"]} for view, groups in views.items()}
    assert shown["domain"] == shown["service"] == {"JGA", "RSA", "FGA@0.5", "FinalJGA"}
    assert shown["turn"] == shown["n-domains"] == {"JGA", "RSA", "FGA@0.5", "FinalJGA"}
    for view in views:
        assert set(system.left_out_of(view)) == set(names) - shown[view]
    assert system.as_dict(["domain", "turn"])["left_out_of_views"] == {
        view: system.left_out_of(view) for view in ("domain", "turn")
    }
    *_, by_domain, by_slot = TrackingRuns([system.run]).tables(by=["domain", "slot"])
    assert "Not by domain: F1(average=slot) (it is a mean over slots or domains" in " ".join(by_domain.notes)
    assert "SA" not in " ".join(by_domain.notes)
    assert "Not by slot: JGA, RSA, FGA@0.5, FinalJGA, F1(average=slot) (a slot has" in " ".join(by_slot.notes)


@pytest.mark.parametrize("seed", range(4))
def test_a_domain_scores_what_dialogues_cut_down_to_it_score(seed: int) -> None:
    """An oracle: the states without the other domains, scored whole, and the turns whose gold has the domain."""
    draw = random.Random(seed)
    names = [f"{service}-{slot}" for service in ("Inn_1", "Inn_2", "cab") for slot in "ab"]
    talks = []
    for _ in range(25):
        states: list[tuple[dict[str, str], dict[str, str]]] = [({}, {})]
        for _ in range(draw.randint(1, 7)):
            pair = (dict(states[-1][0]), dict(states[-1][1]))
            for side in pair:
                for name in draw.sample(names, draw.randint(0, 2)):
                    side.pop(name, None) if draw.random() < 0.3 else side.update({name: draw.choice("xy")})
            states.append(pair)
        talks.append(states[1:])
    measures = ["JGA", "TurnLabel"]
    measures += [f"{name}(rule={rule})" for name in ("FGA@0.5", "TurnMatch") for rule in ("code", "paper", "error-set")]
    view = _scored_talks(talks, measures).by("domain")
    assert set(view) == {"Inn", "cab"}
    for domain, entry in view.items():
        cut = [[(_only(gold, domain), _only(theirs, domain)) for gold, theirs in talk] for talk in talks]
        turns = _scored_talks(cut, measures).run.table("turn_scores")
        having = [bool(state) for talk in cut for state, _ in talk]
        for measure in measures:
            kept = [value for value, there in zip(turns[measure].to_list(), having, strict=True) if there]
            assert entry["scores"][measure] == pytest.approx(sum(kept) / len(kept)), (domain, measure)


def _only(state: dict[str, str], domain: str) -> dict[str, str]:
    return {name: value for name, value in state.items() if name.startswith(domain)}


def _scored_talks(talks: list[list[tuple[dict[str, str], dict[str, str]]]], measures: list[str]) -> TrackedSystem:
    pairs = [pair_of_dialogues(states, f"d{number}") for number, states in enumerate(talks)]
    gold, theirs = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return score(gold, {"it": theirs}, measures=measures, profile="verbatim", intervals=False).systems[0]


def test_each_domain_may_have_a_lambda_of_its_own() -> None:
    results = TrackingRuns([scored("JGA,FGA@0.25,FGA@1").run])
    [view] = results.flexible({"hotel": 0.25, "train": 1.0}).values()
    by_domain = results.systems[0].by("domain")
    assert view["hotel"]["FGA"] == by_domain["hotel"]["scores"]["FGA@0.25"]
    assert view["train"]["FGA"] == by_domain["train"]["scores"]["FGA@1"]
    together = (4 * view["hotel"]["FGA"] + 3 * view["train"]["FGA"]) / 7
    assert view["all of these"] == {"turns": 7, "lambda": None, "FGA": pytest.approx(together)}
    with pytest.raises(DialgaugeError, match=r"no gold state has the domain 'trian'\. Did you mean 'train'"):
        results.flexible({"trian": 1.0})


def test_by_turn_and_number_of_domains() -> None:
    system = scored()
    turns = system.by("turn")
    assert [group["turns"] for group in turns.values()] == [3, 3, 2, 1]
    assert turns["0"]["scores"]["JGA"] == pytest.approx(2 / 3)
    domains = system.by("n-domains")
    assert {name: group["dialogues"] for name, group in domains.items()} == {"1": 3}


def test_by_slot() -> None:
    view = scored().by("slot")
    area = view["hotel-area"]
    assert (area["correct"], area["wrong_value"], area["missed"], area["spurious"]) == (2, 2, 0, 0)
    assert area["scores"]["F1"] == pytest.approx(4 / 8)
    assert area["scores"]["Accuracy"] == pytest.approx(7 / 9)


def test_services_and_domains_of_sgd() -> None:
    gold, theirs = pair_of_dialogues([({"Hotels_1-city": "x", "Hotels_2-city": "y"}, {"Hotels_1-city": "x"})])
    system = score([gold], [theirs], profile="verbatim", intervals=False).systems[0]
    assert set(system.by("service")) == {"Hotels_1", "Hotels_2"}
    assert set(system.by("domain")) == {"Hotels"}
    with pytest.raises(DialgaugeError, match=r"no view by 'domains'\. Did you mean 'domain'"):
        system.by("domains")


def test_a_view_shows_systems_side_by_side() -> None:
    gold, theirs = pair_of_dialogues(FIRST, "A")
    _, perfect = pair_of_dialogues([(right, right) for right, _ in FIRST], "A")
    systems = {"a": [theirs], "b": [perfect]}
    results = score([gold], systems, measures="JGA", intervals=False)
    [_, table] = results.tables(by=["domain"])
    assert [column.title for column in table.columns] == ["domain", "measure", "a", "b"]
    rows = {(row[0].value, row[1].value): [cell.text(table.columns[2]) for cell in row[2:]] for row in table.cells}
    assert rows["hotel", "JGA"] == ["50.00", "100.00"] and rows["hotel", "turns"] == ["4", "4"]
    assert rows["taxi", "spurious domain turns"] == ["1", "–"]
    [_, profiles] = score([gold], systems, measures="JGA", profile=["plain", "canon"], intervals=False).tables(
        by=["turn"]
    )
    assert [column.title for column in profiles.columns][2:] == ["a plain", "b plain", "a canon", "b canon"]


def test_a_view_of_many_systems_has_them_below_each_other() -> None:
    gold, theirs = pair_of_dialogues(FIRST, "A")
    results = score([gold], {name: [theirs] for name in "abcde"}, measures="JGA", intervals=False)
    [_, table] = results.tables(by=["turn"])
    assert [(row[0].value, row[1].value) for row in table.cells][:6] == [*(("0", name) for name in "abcde"), ("1", "a")]


def test_a_domains_slots_do_not_depend_on_other_systems() -> None:
    """Without an inventory T is the slots of the gold states, and of a domain its part of them."""
    gold, theirs = pair_of_dialogues([({"Hotels_1-city": "x", "Hotels_1-stars": "1"}, {"Hotels_1-city": "x"})])
    _, wild = pair_of_dialogues([({}, {f"Hotels_1-{name}": "x" for name in "abcdefgh"})])
    alone = score([gold], {"a": [theirs]}, profile="verbatim", intervals=False)
    beside = score([gold], {"wild": [wild], "a": [theirs]}, profile="verbatim", intervals=False)
    for results in (alone, beside):
        entry = results.by("domain")["a"]["Hotels"]
        assert entry["scores"]["SA(T=domain)"] == entry["scores"]["SA"] == 0.5


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


def test_the_figure_of_first_errors_has_the_numbers_of_the_table() -> None:
    pytest.importorskip("altair")
    pairs = [first_wrong_at(turn, turns) for turn, turns in EVERY_PLACE]
    systems = {name: [theirs for _, theirs in pairs] for name in ("a", "b")}
    compared = compare([gold for gold, _ in pairs], systems, measures="JGA", resamples=10)
    chart = comparison_figures(compared)["error_onset_1_a"]().to_dict()
    drawn = chart["layer"][0]["data"]["values"]
    table = slot_error_tables(TrackedSystem(compared.runs["a"]))[-1]
    assert [row["n"] for row in drawn] == [row[1].value for row in table.cells]


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
        with pytest.raises(DialgaugeError, match="no known format fits it"):
            score(gold, [tmp_path / "empty.json"], intervals=False)
