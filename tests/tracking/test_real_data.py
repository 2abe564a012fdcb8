"""Real predictions: the 100 SOM-DST dialogues and four systems on MultiWOZ 2.1, overall, per dialogue and per slot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import dialgauge
from dialgauge.dialogue import dialogue_key
from dialgauge.measures import parse_measure
from dialgauge.stats import correlation_matrix
from dialgauge.tracking import PreparedInputs, error_types, load, slots_per_dialogue
from dialgauge.values import profile_named

MEASURES = {
    "jga": "JGA",
    "sa": "SA",
    "aga": "AGA",
    "aga_jaccard": "AGA(form=jaccard)",
    "rsa": "RSA",
    "rsa_one": "RSA(empty=one)",
    "rsa_skip": "RSA(empty=skip)",
    "f1_micro": "F1",
    "precision_micro": "Precision",
    "recall_micro": "Recall",
    "f1_turn_macro": "F1(average=turn)",
}
for _rule in ("code", "paper"):
    for _rate in ("0.25", "0.5", "0.75", "1"):
        MEASURES[f"fga_{_rule}_{_rate}"] = f"FGA@{_rate}(rule={_rule})"
        MEASURES[f"fga_{_rule}_{_rate}_dialogue_macro"] = f"FGA@{_rate}(rule={_rule},over=dialogues)"
TOTALS = {
    "turns": "turns",
    "exact": "exact",
    "correct": "correct",
    "wrong_value": "wrong_value",
    "missed": "missed",
    "spurious": "spurious",
    "both_empty": "both_empty",
    "gold_empty": "gold_empty",
    "turn_match_code": "turn_match",
    "turn_label_match": "turn_label_match",
    "dialogue_all_turns_exact": "dialogues_exact",
}
SYSTEMS = ["augpt", "dots", "mintl", "ubar"]
TOLERANCE = 1e-9


@pytest.fixture(scope="session")
def human(expected: Path) -> Any:
    return json.loads((expected / "dst_somdst_human100.json").read_text())


@pytest.fixture(scope="session")
def shared(expected: Path) -> Any:
    return json.loads((expected / "dst_mwzeval_shared.json").read_text())["systems"]


@pytest.fixture(scope="session")
def somdst(shared_data: Path) -> PreparedInputs:
    source = load(shared_data / "dst_predictions" / "somdst_human100.tar.gz")
    return PreparedInputs(None, {"som": source.dialogues})


@pytest.fixture(scope="session")
def four_systems(shared_data: Path) -> dict[str, PreparedInputs]:
    gold = dialgauge.read(shared_data / "multiwoz21" / "test.json.gz").dialogues
    files = {name: dialgauge.read(shared_data / "dst_predictions" / f"{name}.json.gz").dialogues for name in SYSTEMS}
    return {policy: PreparedInputs(gold, files, coverage=policy) for policy in ("intersection", "empty")}


@pytest.mark.parametrize("profile", ["plain", "verbatim"])
def test_hundred_dialogues_overall(somdst: PreparedInputs, human: Any, profile: str) -> None:
    """The states compared as printed; plain changes nothing here, and only it knows that there are 30 slots."""
    counts = somdst.comparison("som", profile_named(profile)).counts
    wanted = human["overall"]
    for key, measure in MEASURES.items():
        if key != "sa" or profile == "plain":
            assert parse_measure(measure).value(counts) == pytest.approx(wanted[key], abs=TOLERANCE), measure
    totals = counts.totals()
    for key, name in TOTALS.items():
        assert totals[name] == wanted[key], key
    assert parse_measure("FinalJGA").value(counts) == pytest.approx(wanted["final_turn_jga"], abs=TOLERANCE)
    paper = parse_measure("TurnMatch(rule=paper)").rows(counts)[0]
    assert int(paper.sum()) == wanted["turn_match_paper"]


def test_hundred_dialogues_each(somdst: PreparedInputs, human: Any) -> None:
    comparison = somdst.comparison("som", profile_named("plain"))
    counts, offsets = comparison.counts, comparison.aligned.offsets.tolist()
    by_dialogue = {key: parse_measure(measure).by_dialogue(counts) for key, measure in MEASURES.items()}
    letters = {rule: "".join("E12"[kind] for kind in error_types(counts, rule)) for rule in ("code", "paper")}
    assert len(human["per_dialogue"]) == counts.dialogues
    for number, name in enumerate(comparison.aligned.ids):
        wanted, span = human["per_dialogue"][name], slice(offsets[number], offsets[number + 1])
        assert int(counts.exact[span].sum()) == wanted["exact"]
        assert letters["code"][span] == wanted["fga_types_code"]
        assert letters["paper"][span] == wanted["fga_types_paper"]
        for key, (above, below) in by_dialogue.items():
            if wanted[key] is None:
                assert below[number] == 0, (name, key)
            elif below[number]:
                assert above[number] / below[number] == pytest.approx(wanted[key], abs=TOLERANCE), (name, key)
            else:
                assert wanted[key] == 0, (name, key)


def test_per_domain_per_slot_and_first_errors(somdst: PreparedInputs, human: Any) -> None:
    result = dialgauge.score(None, list(somdst.systems["som"].dialogues), profile="plain", intervals=False).systems[0]
    view = result.by("domain")
    for domain, wanted in human["per_domain_gold_active_turns"].items():
        assert view[domain]["turns"] == wanted["turns"]
        found = view[domain]["scores"]
        names = {"jga": "JGA", "sa_T30": "SA", "sa_Tdomain": "SA(T=domain)", "rsa": "RSA"}
        for key, name in names.items():
            assert found[name] == pytest.approx(wanted[key], abs=TOLERANCE)
    slots = result.by("slot")
    names = {"leaveat": "leave", "arriveby": "arrive"}
    for name, counted in human["per_slot"].items():
        domain, _, slot = name.partition("-")
        found = slots[f"{domain}-{names.get(slot, slot)}"]
        assert {key: found[key] for key in counted} == counted
    first = result.faults.first_errors()
    assert first.dialogues == human["first_error"]["dialogues_with_last_turn_wrong"]
    assert len(first.recovering) == human["first_error"]["of_those_recovering_in_between"]
    assert first.turn == human["first_error"]["first_error_turn"]


def test_turn_correlations(somdst: PreparedInputs, human: Any) -> None:
    counts = somdst.comparison("som", profile_named("plain")).counts
    names = ["JGA", "SA", "F1(average=turn)", "RSA", "RSA(empty=one)"]
    matrix = correlation_matrix([parse_measure(name).rows(counts)[0] for name in names])
    assert np.allclose(np.array(matrix, float), human["turn_correlation_pearson"]["matrix"], atol=1e-9)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("profile", ["plain", "canon", "plain_nodc", "canon_nodc"])
def test_four_systems_under_four_profiles(
    four_systems: dict[str, PreparedInputs], shared: Any, name: str, profile: str
) -> None:
    counts = four_systems["intersection"].comparison(name, profile_named(profile)).counts
    _check(counts, shared[name][profile])


@pytest.mark.parametrize("profile", ["plain", "canon"])
def test_missing_dialogue_scored_as_empty(four_systems: dict[str, PreparedInputs], shared: Any, profile: str) -> None:
    study = four_systems["empty"]
    _check(study.comparison("mintl", profile_named(profile)).counts, shared["mintl"][f"{profile}_missing_as_empty"])
    coverage = study.systems["mintl"].aligned.coverage
    assert [dialogue_key(name) for name in coverage.missing_dialogues] == ["mul0789"]
    assert coverage.missing_turns == 18


def _check(counts: Any, wanted: Any) -> None:
    for key, measure in MEASURES.items():
        assert parse_measure(measure).value(counts) == pytest.approx(wanted[key], abs=TOLERANCE), measure
    totals = counts.totals()
    for key, name in TOTALS.items():
        assert totals[name] == wanted[key], key
    assert parse_measure("FinalJGA").value(counts) == pytest.approx(wanted["final_turn_jga"], abs=TOLERANCE)


def test_papers_claims_about_the_gold_states(shared_data: Path, expected: Path) -> None:
    """Predicting nothing gives a slot accuracy of about 81%; 85% of the dialogues have fewer than 12 slots."""
    tables = json.loads((expected / "dst_paper_tables.json").read_text())
    gold = dialgauge.read(shared_data / "multiwoz21" / "test.json.gz").dialogues
    nothing = [
        dialgauge.Dialogue(
            id=one.id, turns=tuple(dialgauge.Turn(speaker="user", predicted={}) for _ in one.user_turns())
        )
        for one in gold
    ]
    study = PreparedInputs(gold, {"nothing": nothing}, exclude=["PMUL1455"])
    comparison = study.comparison("nothing", profile_named("plain"))
    assert (comparison.counts.dialogues, len(comparison.counts)) == (999, 7368)
    printed = tables["fga_paper"]["predict_nothing_slot_accuracy"]["recomputed_on_test_999"]
    assert parse_measure("SA").value(comparison.counts) == pytest.approx(printed, abs=TOLERANCE)
    share = float((slots_per_dialogue(comparison.counts) < 12).mean())
    assert share == pytest.approx(tables["rsa_paper"]["figure2"]["expected_share_below_12"], abs=TOLERANCE)


@pytest.mark.parametrize("source", ["multiwoz21/test.json.gz", "sgd/dev_dialogues_001.json.gz"])
def test_gold_against_itself_is_perfect(shared_data: Path, source: str) -> None:
    gold = dialgauge.read(shared_data / source)
    profile = "canon" if "multiwoz" in source else "verbatim"
    result = dialgauge.score(gold, gold, measures="all", profile=profile, intervals=False).systems[0]
    for name, score in result.scores.items():
        assert score.value == 1.0 or name == "RSA", name
    empty = result.counts.totals()["both_empty"] / len(result.counts)
    assert result["RSA"] == pytest.approx(1 - empty)


def test_the_gold_of_som_dst_is_the_raw_gold_under_the_profile_trade(shared_data: Path) -> None:
    """SOM-DST's files hold gold states after its preprocessing; the preset repeats it on all 751 turns."""
    processed = [
        msgspec.structs.replace(
            dialogue,
            turns=tuple(msgspec.structs.replace(turn, predicted=turn.state, state=None) for turn in dialogue.turns),
        )
        for dialogue in dialgauge.read(shared_data / "dst_predictions" / "somdst_human100.tar.gz").dialogues
    ]
    raw = shared_data / "multiwoz21" / "test.json.gz"
    trade, plain = dialgauge.score(raw, processed, profile=["trade", "plain"], measures="JGA", intervals=False).systems
    assert trade.coverage.turns == 751
    assert trade["JGA"] == 1.0 > plain["JGA"]
