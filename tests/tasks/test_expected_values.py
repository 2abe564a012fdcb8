"""The real systems: every value and every dialogue's flags of the expected file, under both rule sets."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dialgauge.dialogue import Goal
from dialgauge.runs import Run
from dialgauge.tasks import (
    RULES,
    GoldGoal,
    GoldTask,
    TaskEvaluation,
    TaskPredictions,
    TaskTurn,
    active_domains,
    cleaned,
    estimated_domains,
    fitting_rows,
    human_responses,
    judge_grounded,
    judge_mwzeval,
    predictions_from,
    read_predictions,
    words,
)
from support.soak import soak
from tasks.conftest import SYSTEMS

RICHNESS = {
    "tokens": "avg_lengths", "unigrams": "num_unigrams", "bigrams": "num_bigrams", "trigrams": "num_trigrams",
    "entropy": "entropy", "conditional entropy": "cond_entropy", "MSTTR-50": "msttr",
}  # fmt: skip
GROUNDED = "(rules=grounded)"
#: One with states and one that is a policy; `make soak` takes all.
SOME_SYSTEMS = pytest.mark.parametrize(
    "system",
    [name if name in ("augpt", "galaxy-policy") else soak(name) for name in SYSTEMS],
    indirect=True,
)


def flags(scores: Run, rules: str) -> dict[str, str]:
    """Each dialogue's flags, as the expected file writes them, from the run's table."""
    written: dict[str, list[str]] = {}
    total: dict[str, list[bool]] = {}
    rows = scores.table("task_verdicts").select("dialogue", "rules", "domain", "inform", "success").iter_rows()
    for dialogue, judged, domain, inform, success in rows:
        if judged == rules:
            key = dialogue.lower().removesuffix(".json")
            written.setdefault(key, []).append(f"{domain}:{inform:d}{success:d}")
            inform_all, success_all = total.setdefault(key, [True, True])
            total[key] = [inform_all and inform, success_all and success]
    return {key: " ".join([*sorted(each), "total:{:d}{:d}".format(*total[key])]) for key, each in written.items()}


def ordered(text: str) -> str:
    *domains, total = text.split()
    return " ".join([*sorted(domains), total])


@pytest.fixture(scope="module", params=SYSTEMS)
def system(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def predictions(system: str, shared_data: Path) -> TaskPredictions:
    return read_predictions(shared_data / "dst_predictions" / f"{system}.json.gz")


@pytest.fixture(scope="module")
def scores(predictions: TaskPredictions, evaluation: TaskEvaluation) -> Run:
    return evaluation.score(predictions)


def test_what_the_file_brings(system: str, e2e: Any, predictions: TaskPredictions) -> None:
    expected = e2e["systems"][system]
    assert (len(predictions.dialogues), predictions.turns) == tuple(expected["coverage"].values())
    assert ("file" if predictions.has_states else "gold=mwz21") == expected["states"]
    assert predictions.default_mode == expected["active_domains_default"]


@pytest.mark.parametrize("rules", RULES)
def test_every_dialogues_flags(system: str, e2e: Any, scores: Run, rules: str) -> None:
    expected = {key: ordered(text) for key, text in e2e["systems"][system][rules]["per_dialogue"].items()}
    assert flags(scores, rules) == expected


@pytest.mark.parametrize("rules", RULES)
def test_rates_of_all_and_of_each_domain(system: str, e2e: Any, scores: Run, rules: str) -> None:
    expected = e2e["systems"][system][rules]
    ending = "" if rules == "mwzeval" else GROUNDED
    for aspect in ("inform", "success"):
        for domain, rate in expected[aspect].items():
            part = "" if domain == "total" else f"[{domain}]"
            value = scores[f"{aspect.capitalize()}{ending}{part}"]
            assert value is not None
            assert round(100 * value, 1) == rate, (aspect, domain)


def test_counts(system: str, e2e: Any, scores: Run) -> None:
    expected = e2e["systems"][system]["mwzeval"]["counts_n_inform_success"]
    table = scores.table("dialogue_scores").select("measure", "num", "den")
    by_measure = {measure: (num, den) for measure, num, den in table.group_by("measure").sum().rows()}
    for domain, (count, informed, successful) in expected.items():
        part = "" if domain == "total" else f"[{domain}]"
        assert by_measure[f"Inform{part}"] == (informed, count)
        assert by_measure[f"Success{part}"] == (successful, count)


def test_companions(system: str, e2e: Any, scores: Run) -> None:
    expected = e2e["systems"][system]["grounded"]["companions"]
    for name in ("OfferP", "ReqP", "ReqR"):
        assert scores[name] == pytest.approx(expected[name], abs=1e-12)
    assert scores.details["stuffed_responses"] == expected["stuffed"]


def test_texts_richness_bleu_and_combined(system: str, e2e: Any, predictions: TaskPredictions, scores: Run) -> None:
    expected = e2e["systems"][system]
    texts = [cleaned(turn.response) for turns in predictions.dialogues.values() for turn in turns]
    assert hashlib.sha256("\n".join(texts).encode()).hexdigest() == expected["cleaned_texts_sha256"]
    for name, theirs in RICHNESS.items():
        assert scores[name] == pytest.approx(expected["mwzeval"]["richness"][theirs], abs=1e-9), name
    assert scores["BLEU"] == pytest.approx(expected["bleu_mwz21_span"], abs=1e-6)
    assert scores["Combined"] == pytest.approx(expected["combined_mwz21_span"], abs=1e-6)


@SOME_SYSTEMS
def test_every_mode_of_active_domains(
    system: str, e2e: Any, predictions: TaskPredictions, evaluation: TaskEvaluation
) -> None:
    expected = e2e["systems"][system]["mwzeval"]
    default = {key: ordered(text) for key, text in expected["per_dialogue"].items()}
    assert expected["modes"].keys() >= {"state", "placeholders"}
    for mode, values in expected["modes"].items():
        scores = evaluation.score(predictions, human=False, mode=mode)
        found = flags(scores, "mwzeval")
        if "flags_where_different" in values:
            different = {key: ordered(text) for key, text in values["flags_where_different"].items()}
            assert found == {**default, **different}, mode
        assert len([key for key in found if found[key] != default[key]]) == values["dialogues_that_differ_from_default"]
        informed, successful = (sum(text.endswith(end) for text in found.values()) for end in (("10", "11"), "11"))
        assert [len(found), informed, successful] == values["counts"], mode
        assert scores.details["domains"] == mode


@SOME_SYSTEMS
def test_loopholes_are_as_wide_as_measured(
    system: str, e2e: Any, predictions: TaskPredictions, evaluation: TaskEvaluation
) -> None:
    """Claiming all domains, and stuffing every response with the six classes."""
    probes = e2e["systems"][system]["probes"]
    five = ("attraction", "hotel", "restaurant", "taxi", "train")
    stuffing = " [name] [trainid] [phone] [address] [postcode] [reference]"
    claimed = {
        key: [TaskTurn(turn.response, turn.state, five) for turn in turns]
        for key, turns in predictions.dialogues.items()
    }
    stuffed = {
        key: [TaskTurn(turn.response + stuffing, turn.state, turn.active) for turn in turns]
        for key, turns in predictions.dialogues.items()
    }
    for dialogues, name in ((claimed, "all_five_domains_active"), (stuffed, "six_classes_appended")):
        scores = evaluation.score(TaskPredictions(system, dialogues), human=False)
        assert [round(100 * float(scores[aspect]), 1) for aspect in ("Inform", "Success")] == probes[name], name
    assert scores["Inform(rules=grounded)"] == 0.0


def control(name: str, evaluation: TaskEvaluation) -> TaskPredictions:
    if name == "human_responses":
        return human_responses(evaluation.gold)
    said = "[name] [trainid] [phone] [address] [postcode] [ref]" if name == "constant_response" else ""
    gold = evaluation.gold.dialogues
    return predictions_from(name, {key: [{"response": said}] * len(each.answers) for key, each in gold.items()})


@pytest.mark.parametrize("name", ["human_responses", "constant_response", "empty_response"])
def test_controls(name: str, e2e: Any, evaluation: TaskEvaluation) -> None:
    expected = e2e["controls"][name]
    scores = evaluation.score(control(name, evaluation), human=False)
    for aspect in ("inform", "success"):
        for domain, rate in expected["mwzeval"][aspect].items():
            value = scores[f"{aspect.capitalize()}{'' if domain == 'total' else f'[{domain}]'}"]
            assert round(100 * float(value), 1) == rate
        assert round(100 * float(scores[f"{aspect.capitalize()}{GROUNDED}"]), 1) == expected["grounded"][aspect]
    companions = expected["grounded"]["companions"]
    for companion in ("OfferP", "ReqP", "ReqR"):
        value = companions[companion]
        assert scores[companion].value == (None if value is None else pytest.approx(value, abs=1e-12))
    assert scores.details["stuffed_responses"] == companions["stuffed"]
    for measure, theirs in RICHNESS.items() if "richness" in expected else ():
        assert scores[measure] == pytest.approx(expected["richness"][theirs], abs=1e-9)


def test_human_values_stand_beside_every_system(e2e: Any, scores: Run) -> None:
    expected = e2e["controls"]["human_responses"]
    human = scores.details["human"]
    assert round(100 * human["Success"], 1) == expected["mwzeval"]["success"]["total"]
    assert round(100 * human[f"Success{GROUNDED}"], 1) == expected["grounded"]["success"]
    assert human["ReqP"] == pytest.approx(expected["grounded"]["companions"]["ReqP"], abs=1e-12)
    assert "BLEU" not in human  # the references are the human responses


def synthetic(case: Any) -> tuple[GoldTask, TaskPredictions]:
    goals = {
        domain: GoldGoal.of(part.get("info", {}), part.get("reqt", ()), books=bool(part.get("book")))
        for domain, part in case["goal"].items()
        if part
    }
    booked = [frozenset(domains) for domains in case["booked"]]
    gold = GoldTask("x", Goal(), goals, [""] * len(booked), booked, [{}] * len(booked), [])
    return gold, predictions_from("synthetic", {"x": case["turns"]})


def test_synthetic_dialogues_under_both_rule_sets(e2e: Any, evaluation: TaskEvaluation) -> None:
    assert len(e2e["synthetic_dialogues"]) == 100
    for case in e2e["synthetic_dialogues"]:
        gold, predictions = synthetic(case)
        turns = predictions.dialogues["x"]
        states = [turn.state or {} for turn in turns]
        estimate = estimated_domains(states)
        active = active_domains(turns, estimate, predictions.default_mode)
        fitting = fitting_rows(gold, evaluation.town)
        verdict = judge_mwzeval(gold, fitting, turns, states, active, evaluation.town)
        assert ordered(verdict.flags()) == ordered(case["mwzeval"]), case
        verdict = judge_grounded(gold, fitting, turns, states, estimate, evaluation.town)
        assert ordered(verdict.flags()) == ordered(case["grounded"]), case


def test_references(e2e: Any, evaluation: TaskEvaluation) -> None:
    expected = e2e["reference_mwz21_span"]
    references = evaluation.gold.references
    texts = [text for each in references.values() for text in each]
    assert len(texts) == expected["turns"]
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    assert digest == expected["sha256_of_texts_in_gold_file_order_joined_by_newline"]
    for key, example in expected["examples"].items():
        assert references[key] == example


def test_unit_cases_of_texts_and_domains(e2e: Any) -> None:
    units = e2e["units"]
    for raw, final in units["cleanup_raw_to_final"]:
        assert cleaned(raw) == final
    for text, tokens in units["richness_tokens"]:
        assert list(words(text)) == tokens
    for case in units["active_from_states"]:
        assert [[] if one is None else [one] for one in estimated_domains(case["states"])] == case["active"]


def test_goals_are_counted_as_the_specification_counts_them(evaluation: TaskEvaluation) -> None:
    goals = [each.domains for each in evaluation.gold.dialogues.values()]
    assert Counter(len(each) for each in goals) == {1: 226, 2: 631, 3: 143}
    assert Counter(domain for each in goals for domain in each) == {
        "restaurant": 437, "hotel": 394, "attraction": 396, "train": 495, "taxi": 195,
    }  # fmt: skip
    named = Counter(domain for each in goals for domain, goal in each.items() if "name" in goal.informable)
    assert named == {"hotel": 110, "restaurant": 91, "attraction": 86}
    silent = Counter(domain for each in goals for domain, goal in each.items() if not goal.requestable)
    assert silent == {"train": 171, "attraction": 74, "hotel": 40, "restaurant": 15}
    assert sum("TRAINID" in goal.requestable for each in goals for goal in each.values()) == 72
    hopeless = [
        goal.informable
        for each in goals
        for domain, goal in each.items()
        if domain != "taxi" and not evaluation.town.answer(domain, goal.informable)
    ]
    # "the junction" becomes "junction theatre" (section 4.1), and the database has "the junction".
    assert hopeless == [{"name": "the junction"}] * 2
