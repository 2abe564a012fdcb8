"""Every number of the four expected files of tracking: compared, or named below with the reason why not.

Notices: the last digit of any value; one dialogue missing; two domains, slots, services or systems swapped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import surface
from documents import close, differences, long
from tracking_corpora import multiwoz_gold
from tracking_oracle import key

HUMAN, SHARED, SGD, PAPERS = (
    "dst_somdst_human100.json", "dst_mwzeval_shared.json", "dst_sgd_synthetic.json", "dst_paper_tables.json",
)  # fmt: skip
#: What is not compared: by file the path, and why.
STATE = "a state of a worked example: the input"
LEFT_OUT = {
    HUMAN: {"/about": "prose"},
    SHARED: {"/about": "prose"},
    SGD: {"/about": "prose", "/how_the_prediction_was_made": "prose"},
    PAPERS: {
        "/about": "prose",
        "*/note": "prose",
        "/fga_paper/predict_nothing_slot_accuracy/recomputed_on_test_999": "test_gold_states_of_multiwoz",
        "/rsa_paper/figure2/expected_share_below_12": "test_gold_states_of_multiwoz",
        "*/turns/*/gold*": STATE,
        "*/turns/*/pred*": STATE,
        "/fga_paper/human_correlation_pearson/raters": "stands in the words of a claim only",
        "/fga_paper/human_correlation_pearson/dialogues": "stands in the words of a claim only",
        "/rsa_paper/table1/*/year": "no number that is measured",
        "/rsa_paper/table1/*/type": "no number that is measured",
        "/rsa_paper/figure1/printed/of": "the reproduction gives only shares of it",
        "/rsa_paper/figure1/printed/model": "no number that is measured",
        "/rsa_paper/figure2/printed": "prose",
        "/rsa_paper/figure2/definition_that_reproduces_it": "prose",
        "/rsa_paper/figure3/printed_claim": "prose",
    },
}

RATES = ("0.25", "0.5", "0.75", "1")
SCORES = {
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
    **{f"fga_{rule}_{rate}": f"FGA@{rate}(rule={rule})" for rule in ("code", "paper") for rate in RATES},
    **{
        f"fga_{rule}_{rate}_dialogue_macro": f"FGA@{rate}(rule={rule},over=dialogues)"
        for rule in ("code", "paper")
        for rate in RATES
    },
}
MATCHES = {rule: f"TurnMatch(rule={rule})" for rule in ("code", "paper")}
MEASURES = [*SCORES.values(), *MATCHES.values(), "FinalJGA", "DialogueExact", "TurnLabel"]
COUNTS = ("correct", "wrong_value", "missed", "spurious")
SYSTEMS = ("augpt", "dots", "mintl", "ubar")


def of_corpus(run: Any) -> dict[str, Any]:
    """What the files say of a whole corpus."""
    values, totals = surface.values(run), surface.totals(run)
    same = ("turns", "dialogues", "exact", *COUNTS, "both_empty", "gold_empty", "turn_label_match")
    matches = {rule: round((values[name] or 0) * totals["turns"]) for rule, name in MATCHES.items()}
    return {
        **{name: values[measure] for name, measure in SCORES.items()},
        **{name: totals[name] for name in same},
        **{f"turn_match_{rule}": count for rule, count in matches.items()},
        **{f"type2_{rule}": count - totals["exact"] for rule, count in matches.items()},
        "final_turn_jga": values["FinalJGA"],
        "dialogue_all_turns_exact": totals["dialogues_exact"],
    }


def of_dialogues(run: Any) -> dict[str, dict[str, Any]]:
    """What they say of every dialogue; a share of nothing is None."""
    sums = {name: surface.by_dialogue(run, measure) for name, measure in SCORES.items()}
    kinds = {"code": surface.error_types(run), "paper": {}}
    match = surface.turn_values(run, MATCHES["paper"])
    turns: dict[str, list[tuple[str, int]]] = {}
    counts = surface.counts(run)
    for place in sorted(counts):
        turns.setdefault(place[0], []).append(place)
        kinds["paper"][place] = "exact" if not any(counts[place][1:]) else "type2" if match[place] else "type1"
    result: dict[str, dict[str, Any]] = {}
    for dialogue, places in turns.items():
        own = [counts[place] for place in places]
        found: dict[str, Any] = {
            "turns": len(own),
            "exact": sum(not any(some[1:]) for some in own),
            **{name: sum(some[number] for some in own) for number, name in enumerate(COUNTS)},
            "both_empty": sum(not any(some) for some in own),
            "gold_empty": sum(not any(some[:3]) for some in own),
        }
        for name, by_dialogue in sums.items():
            above, below = by_dialogue.get(dialogue, (0.0, 0.0))
            found[name] = above / below if below else None
        for rule, types in kinds.items():
            letters = "".join({"exact": "E", "type1": "1", "type2": "2"}[types[place]] for place in places)
            found |= {f"fga_types_{rule}": letters, f"type2_{rule}": letters.count("2")}
            found[f"turn_match_{rule}"] = len(letters) - letters.count("1")
        result[dialogue] = found
    return result


@pytest.fixture(scope="session")
def human_found(shared_data: Path) -> dict[str, Any]:
    path = shared_data / "dst_predictions" / "somdst_human100.tar.gz"
    run = surface.tracking(None, path, profile="plain", measures=MEASURES)
    overall = of_corpus(run)
    percent = {name: round(100 * overall[name], 2) for name in SCORES}
    order = {"jga": "JGA", "sa": "SA", "f1_turn": "F1(average=turn)", "rsa": "RSA", "rsa_one": "RSA(empty=one)"}
    correlated = surface.tracking(None, path, profile="plain", measures=list(order.values()))
    first = surface.dialogue_errors(run)["first_error"]
    ends = {"leave": "leaveat", "arrive": "arriveby"}
    slots = {slot.rpartition("-"): part for slot, part in surface.parts(run, "slot").items()}
    return {
        "overall": overall,
        "authors_script_printout": {
            "Total": overall["turns"],
            "Exact Match": overall["exact"],
            "Turn Match": overall["turn_match_code"],
            "Joint Acc": percent["jga"],
            "Slot Acc": percent["sa"],
            "Avg. Goal Acc": percent["aga"],
            "FGA": {str(float(rate)): percent[f"fga_code_{rate}"] for rate in RATES},
        },
        "per_domain_gold_active_turns": {
            domain: {"turns": part["turns"], "jga": part["JGA"], "sa_T30": part["SA"],
                     "sa_Tdomain": part["SA(T=domain)"], "rsa": part["RSA"]}
            for domain, part in surface.parts(run, "domain").items()
        },
        "turn_correlation_pearson": {"order": list(order), "matrix": surface.turn_correlations(correlated, "pearson")},
        "first_error": {
            "dialogues_with_last_turn_wrong": first["dialogues"],
            "of_those_recovering_in_between": len(first["recovering"]),
            "first_error_turn": first["turn"],
        },
        "per_slot": {
            f"{domain}-{ends.get(slot, slot)}": {name: part[name] for name in COUNTS}
            for (domain, _, slot), part in slots.items()
        },
        "per_dialogue": of_dialogues(run),
    }  # fmt: skip


BOOKING = ("hotel-day", "hotel-people", "hotel-stay", "restaurant-day", "restaurant-people", "restaurant-time",
           "train-people")  # fmt: skip


@pytest.fixture(scope="session")
def shared_found(shared_data: Path) -> dict[str, Any]:
    gold = shared_data / "multiwoz21" / "test.json.gz"
    files = {name: shared_data / "dst_predictions" / f"{name}.json.gz" for name in SYSTEMS}
    found: dict[str, dict[str, Any]] = {name: {} for name in SYSTEMS}
    profiles = ("plain", "plain_nodc", "canon", "canon_nodc")
    same = ("dialogues", "turns", "gold_dialogues", "gold_turns", "n_dialogues_missing", "turn_count_mismatch")
    for (profile, name), run in surface.trackers_under(profiles, gold, files, measures=MEASURES).items():
        found[name][profile] = of_corpus(run)
        covered = surface.coverage(run)
        missing = [key(dialogue) for dialogue in covered["dialogues_missing"]]
        found[name]["coverage"] = {fact: covered[fact] for fact in same} | {"dialogues_missing": missing}
    empty = surface.trackers_under(profiles[::2], gold, {"mintl": files["mintl"]}, measures=MEASURES, coverage="empty")
    for (profile, name), run in empty.items():
        found[name][f"{profile}_missing_as_empty"] = of_corpus(run)
    absent = ("", "none", "not mentioned")
    states = {
        name: [{slot: text for slot, text in state.items() if text not in absent} for state in turns]
        for name, turns in multiwoz_gold(gold).items()
    }
    with_book = {
        name: [{slot.replace("-", "-book") if slot in BOOKING else slot: text for slot, text in state.items()}
               for state in turns]
        for name, turns in states.items()
    }  # fmt: skip
    modes = {"gold_slot_names_unified": states, "gold_slot_names_with_book_prefix": with_book}
    for mode, some in modes.items():
        for name, run in surface.trackers(some, files, profile="mwzeval", measures="JGA,F1,Precision,Recall").items():
            jga, f1, precision, recall = (value or 0.0 for value in surface.values(run).values())
            found[name].setdefault("mwzeval_dst_mode", {})[mode] = {
                "joint_accuracy": 100 * jga, "slot_f1": 100 * f1, "slot_precision": precision, "slot_recall": recall,
            }  # fmt: skip
    for name, scores in surface.response_scores(gold, files).items():
        found[name]["mwzeval"] = _responses(scores)
    return {"systems": found}


def _responses(scores: Mapping[str, float | None]) -> dict[str, Any]:
    domains = ("attraction", "hotel", "restaurant", "taxi", "train")
    names = {
        "tokens": "avg_lengths", "unigrams": "num_unigrams", "bigrams": "num_bigrams", "trigrams": "num_trigrams",
        "entropy": "entropy", "conditional entropy": "cond_entropy", "MSTTR-50": "msttr",
    }  # fmt: skip
    return {
        **{
            name.lower(): {"total": round(100 * (scores[name] or 0), 1)}
            | {domain: round(100 * (scores[f"{name}[{domain}]"] or 0), 1) for domain in domains}
            for name in ("Inform", "Success")
        },
        "richness": {theirs: scores[ours] for ours, theirs in names.items()},
    }


@pytest.fixture(scope="session")
def sgd_found(shared_data: Path) -> dict[str, Any]:
    folder = shared_data / "sgd"
    files = f"{folder}/dev_dialogues_*.json.gz", f"{folder}/synthetic_pred_dialogues_*.json.gz"
    seen = ("--train-schema", str(folder / "train_schema.json.gz"))
    options = {"fuzzy_frame": [], "fuzzy_turn": ["--sgd-across-turn"], "exact_frame": ["--sgd-matching", "exact"]}
    options["exact_turn"] = [*options["fuzzy_turn"], *options["exact_frame"]]
    return {
        name: surface.sgd_scores(*files, folder / "dev_schema.json.gz", *seen, *words)[0]
        for name, words in options.items()
    }


def example_run(example: Any) -> Any:
    gold, predicted = ({"MUL1": [turn[side] for turn in example["turns"]]} for side in ("gold", "pred"))
    return surface.tracking(gold, predicted, profile="plain", measures=MEASURES)


def worked_example(example: Any) -> dict[str, Any]:
    """A worked example recomputed, turn by turn and as a whole."""
    run = example_run(example)
    rates = {str(float(rate)): surface.turn_values(run, f"FGA@{rate}(rule=code)") for rate in RATES}
    names = {"jga": "JGA", "sa": "SA", "aga": "AGA", "rsa": "RSA", "f1_turn": "F1(average=turn)"}
    values = {name: surface.turn_values(run, measure) for name, measure in names.items()}
    turns: list[Any] = []
    last = -1
    for place, kind in surface.error_types(run).items():
        last = place[1] if kind == "type1" else last
        counts = surface.counts(run)[place]
        turns.append({
            "turn": place[1],
            "expected": {
                **{name: by_turn[place] for name, by_turn in values.items()},
                **dict(zip(COUNTS, counts, strict=True)),
                "T_star": sum(counts),
                "fga_type": kind,
                "fga_x": None if kind == "exact" else place[1] - last,
                "fga": {rate: by_turn[place] for rate, by_turn in rates.items()},
            },
        })  # fmt: skip
    wanted = example["conversation"]
    return {"turns": turns, "conversation": {name: value for name, value in of_corpus(run).items() if name in wanted}}


def _rounded(run: Any, measure: str, digits: int) -> list[float]:
    return [round(value or 0.0, digits) for value in surface.turn_values(run, measure).values()]


@pytest.fixture(scope="session")
def papers_found(fact: Callable[[str], Any]) -> dict[str, Any]:
    paper = fact(PAPERS)
    return {"fga_paper": fga_paper(paper["fga_paper"]), "rsa_paper": rsa_paper(paper["rsa_paper"])}


def fga_paper(paper: Any) -> dict[str, Any]:
    theirs = surface.published_fga()
    columns = {"turns": "turns", "exact_M1": "M1", "turn_match_M2": "M2", "jga": "JGA", "sa": "SA", "aga": "AGA"}
    run = example_run(paper["figure1"]["example"])
    values = surface.values(run)
    percent = {name: round(100 * (values[name] or 0), 2) for name in ("JGA", "SA", "AGA")}
    weights, aga = _rounded(run, "FGA@0.5(rule=code)", 2), surface.turn_values(run, "AGA")
    fractions = {turn: Fraction(aga["MUL1", turn] or 0).limit_denominator(30) for turn in (2, 4)}
    second = example_run(paper["figure2_MUL0379"]["example"])
    one_wrong = surface.tracking({"d": [{"taxi-leave": "1"}]}, {"d": [{}]}, profile="plain", measures="SA")
    return {
        "table1_pct": [
            {"model": model, **{name: row[what] for name, what in columns.items()}}
            | {"fga": {rate: row[f"FGA@{rate}"] for rate in RATES}}
            for model, row in theirs["table1"].items()
        ],
        "table2_dataset": [
            {"split": split, "dialogues": row["dialogues"], "turns": row["turns"], "avg_turns": row["mean"]}
            for split, row in theirs["table2"].items()
        ],
        "slot_inventory_size": 1 / (1 - (surface.values(one_wrong)["SA"] or 0)),
        "predict_nothing_slot_accuracy": {"printed_pct": theirs["SA of nothing"]},
        "lambda_rule": [_rate(entry) for entry in paper["lambda_rule"]],
        "human_correlation_pearson": {"jga": theirs["ratings"]["JGA"], "fga_0.5": theirs["ratings"]["FGA@0.5"]},
        "figure1": {
            "printed": {
                "jga_pct": percent["JGA"],
                "sa_turn2_pct": round(100 * _rounded(run, "SA", 10)[2], 2),
                "sa_pct": percent["SA"],
                "aga_turn2": "4/6" if fractions[2] == Fraction(4, 6) else str(fractions[2]),
                "aga_turn4": str(fractions[4]),
                "aga_pct": percent["AGA"],
                "fga_0.5_turns": weights,
                "fga_0.5_pct": round(100 * sum(weights) / len(weights), 2),
                "exact_match": _rounded(run, "JGA", 10),
                "turn_match": _rounded(run, MATCHES["code"], 10),
            },
            "example": worked_example(paper["figure1"]["example"]),
        },
        "figure2_MUL0379": {
            "printed_matched": [value == 1 for value in _rounded(second, "JGA", 10)],
            "example": worked_example(paper["figure2_MUL0379"]["example"]),
        },
    }  # fmt: skip


def _rate(entry: Mapping[str, float]) -> dict[str, float]:
    """Lambda from the weight of a turn that comes right after the one with the error."""
    measure = f"FGA(tf={entry['t_f']},p={entry['p']})"
    run = surface.tracking({"d": [{"taxi-leave": "1"}] * 2}, {"d": [{}] * 2}, measures=measure)
    rate = -math.log1p(-(surface.turn_values(run, measure)["d", 1] or 0.0))
    found = {"t_f": entry["t_f"], "p": entry["p"], "expected": rate, "printed": round(rate, 3)}
    return {name: found[name] for name in entry}


def rsa_paper(paper: Any) -> dict[str, Any]:
    theirs = surface.published_rsa()
    columns = {"jga": "JGA", "sa": "SA", "f1": "F1", "rsa": "RSA"}
    table = {
        model: {name: row[measure] for name, measure in columns.items()} for model, row in theirs["table1"].items()
    }
    spread = surface.spread(table)
    of_measure = {part["measure"]: part for part in spread["spread"]}
    runs = {name: example_run(paper["table3"][name]) for name in ("A", "B")}
    shown = {"jga": "JGA", "aga": "AGA", "rsa": "RSA"}
    examples = {name: paper[name]["example"] for name in paper if name.startswith(("tableA3", "tableA4", "tableA6"))}
    metrics: dict[str, list[str]] = {}
    for method, measures in theirs["measures used"].items():
        metrics.setdefault(",".join(measures), []).append(method)
    found: dict[str, Any] = {
        "table1": [{"model": model, **scores} for model, scores in table.items()],
        "table1_ranges": {
            "printed_sa_range_pct": round(100 * of_measure["sa"]["range"], 2),
            "printed_rsa_range_pct": round(100 * of_measure["rsa"]["range"], 2),
            "expected": {name: of_measure[name]["range"] for name in columns},
        },
        "figure4_mean_std": {
            ours: {name: of_measure[name][fact] for name in columns}
            for ours, fact in (("mean", "mean"), ("std_population", "population_std"), ("std_sample", "sample_std"))
        },
        "table1_model_level_correlation": {
            "order": spread["measures"],
            **{kind: spread["correlations"][kind] for kind in ("pearson", "spearman")},
        },
        "table2_per_domain_somdst": {
            domain: {"jga": row["JGA"], "sa": row["SA"], "rsa": row["RSA"]} for domain, row in theirs["table2"].items()
        },
        "table3": {
            "printed": {
                name: {score: round(surface.values(run)[measure] or 0, 4) for score, measure in shown.items()}
                for name, run in runs.items()
            },
            **{name: worked_example(paper["table3"][name]) for name in runs},
        },
        **{name: {"example": worked_example(example)} for name, example in examples.items()},
        "figure1": {"printed": _counts_of_shares(paper["figure1"]["printed"], theirs)},
        "tableA5_metrics_used": metrics,
    }  # fmt: skip
    for name, example in examples.items():
        run = example_run(example)
        for score in (score for score in ("jga", "sa", "rsa") if f"printed_{score}" in paper[name]):
            found[name][f"printed_{score}"] = _rounded(run, columns[score], 4)
    return found


def _counts_of_shares(counts: Mapping[str, Any], theirs: Mapping[str, float]) -> dict[str, Any]:
    """The counts, if the shares that the reproduction gives are theirs, to three digits."""
    wrong, back = "dialogues_with_last_turn_jga_0", "of_those_with_a_correct_turn_after_the_first_error"
    shares = {wrong: (counts["of"], theirs["ending wrong"]), back: (counts[wrong], theirs["right again"])}
    return {name: counts[name] if round(counts[name] / whole, 3) == share else whole * share
            for name, (whole, share) in shares.items()}  # fmt: skip


FOUND = {HUMAN: "human_found", SHARED: "shared_found", SGD: "sgd_found", PAPERS: "papers_found"}


@pytest.mark.parametrize("file", [long(file) if file in (SHARED, SGD) else file for file in FOUND])
def test_every_number(file: str, request: pytest.FixtureRequest) -> None:
    source = "fact" if file == PAPERS else "expected_values"
    found, wanted = request.getfixturevalue(FOUND[file]), request.getfixturevalue(source)(file)
    assert not differences(found, wanted, LEFT_OUT[file], tolerance=1e-10)


def test_gold_states_of_multiwoz(shared_data: Path, fact: Callable[[str], Any]) -> None:
    """Predicting nothing, and how many slots a dialogue has."""
    paper = fact(PAPERS)
    gold = shared_data / "multiwoz21" / "test.json.gz"
    nothing: dict[str, Sequence[Any]] = {name: [{} for _ in turns] for name, turns in multiwoz_gold(gold).items()}
    run = surface.tracking(gold, nothing, profile="plain", measures="SA", exclude=["PMUL1455"])
    assert (surface.totals(run)["dialogues"], surface.totals(run)["turns"]) == (999, 7368)
    wanted = paper["fga_paper"]["predict_nothing_slot_accuracy"]["recomputed_on_test_999"]
    assert close(surface.values(run)["SA"], wanted, 1e-9)
    sizes = surface.dialogue_errors(run)["slots_per_dialogue"]
    assert close(sum(sizes[:12]) / 999, paper["rsa_paper"]["figure2"]["expected_share_below_12"], 1e-9)
