"""Responses from files to runs: what is refused, what is noted, what warns, what runs hold, and how they compare."""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dialgauge
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Signature
from dialgauge.report import run_page, transcript_of
from dialgauge.runs import Run, Store
from runs.contract import assert_run_contract
from support.town import gold_file, responses, write_town


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write_town(tmp_path)


def write(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def refused(call: Callable[[], Any], *says: str) -> None:
    with pytest.raises(DialgaugeError) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    for part in says:
        assert part in text, text


def scored(gold: Path, dialogues: Any, name: str = "mine", **options: Any) -> Run:
    [run] = dialgauge.score_tasks(gold, {name: dialogues}, **{"measures": "all", "resamples": 20, **options}).runs
    return run


def faulty() -> dict[str, list[dict[str, Any]]]:
    """A system that offers a hotel that does not fit, and tells no address."""
    dialogues = responses()
    for turn in dialogues["mul0001"]:
        turn["state"] = {**turn["state"], "hotel": {"area": "centre"}}
    dialogues["sng0002"][0]["response"] = "it is nice ."
    return dialogues


def without(key: str) -> dict[str, list[dict[str, Any]]]:
    return {name: [{k: turn[k] for k in turn if k != key} for turn in turns] for name, turns in responses().items()}


# Reading


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"sng0002": [{"response": "hello"}, {"state": {}}]}, ["sng0002", "response"]),
        ({"sng0002": [{"response": 3}]}, ["sng0002", "response"]),
        ({"sng0002": [{"response": "", "active_domains": "hotel"}]}, ["sng0002", "active_domains"]),
        ({"SNG0002.json": [{"response": ""}], "sng0002": [{"response": ""}]}, ["sng0002"]),
        ({"x": []}, []),
        ('{"x": [', ["JSON"]),
        ("", ["empty"]),
        ({"MUL0001.json": {"0": {"turn_belief": ["a-b-c"], "pred_bs_ptr": ["a-b-d"]}}}, ["no responses", "'trade'"]),
        ({"mul0003": [{"response": ""}]}, ["no such dialogue", "mul0003"]),
    ],
)
def test_files_that_are_no_responses(gold: Path, tmp_path: Path, content: Any, says: list[str]) -> None:
    path = write(tmp_path / "mine.json", content)
    refused(lambda: dialgauge.score_tasks(gold, path, resamples=0), str(path), *says)


def test_gold_files_that_are_none(tmp_path: Path, gold: Path) -> None:
    changes: list[tuple[Callable[[Any], object], tuple[str, ...]]] = [
        (lambda content: content["SNG0002.json"].pop("goal"), ("SNG0002.json", "no goal")),
        (lambda content: content["SNG0002.json"]["goal"]["restaurant"].update(info={"name": 3}), ("shape",)),
        (lambda content: content["SNG0002.json"]["log"][1]["metadata"].update(hotel=3), ("SNG0002.json", "shape")),
        (lambda content: content.update({"sng0002": content["SNG0002.json"]}), ("same id",)),
        (lambda content: content.clear(), ("no dialogues",)),
        (lambda content: content["SNG0002.json"]["log"][1].update(span_info=[["a"]]), ("SNG0002.json", "span_info")),
    ]
    for change, says in changes:
        content = gold_file()
        change(content)
        path = write(gold.parent / "changed.json", content)
        refused(partial(scored, path, responses()), *says)
    mine = write(tmp_path / "mine.json", responses())
    refused(lambda: scored(mine, responses()), str(mine), "GOLD comes first")
    refused(lambda: scored(gold, gold), str(gold), "comes first")
    dialgauge.write(dialgauge.read(gold).dialogues, tmp_path / "gold.jsonl", format="native")
    refused(lambda: scored(tmp_path / "gold.jsonl", responses()), "'native'", "MultiWOZ file")


def test_options_are_checked(gold: Path, tmp_path: Path) -> None:
    mine = write(tmp_path / "refs.json", {"mul0001": ["a"] * 3})
    wrong: list[tuple[dict[str, Any], tuple[str, ...]]] = [
        ({"mode": "files"}, ("--domains", "file, state or placeholders")),
        ({"missing": "drop"}, ("--unanswered", "skip or fail")),
        ({"references": mine}, ("references_are",)),
        ({"references": mine, "references_are": "cleaned"}, ("references_are", "raw or clean")),
        ({"references_are": "raw"}, ("name their file as references",)),
        ({"references": mine, "references_are": "raw"}, ("sng0002", "lack the dialogue")),
        ({"measures": "Inform[police]"}, ("no goal has the domain 'police'",)),
        ({"measures": "Inform(rules=mine)"}, ("mwzeval, grounded",)),
        ({"measures": "tokens[hotel]"}, ("has no parts",)),
        ({"measures": "Sucess"}, ("Did you mean 'Success'",)),
    ]
    for options, says in wrong:
        refused(partial(scored, gold, responses(), **options), *says)
    refused(lambda: scored(gold, without("active_domains"), mode="file"), "active_domains", "--domains state")


@pytest.mark.parametrize(("key", "states", "mode"), [("state", "gold", "file"), ("active_domains", "file", "state")])
def test_a_key_that_one_turn_lacks_is_ignored_in_all(gold: Path, key: str, states: str, mode: str) -> None:
    dialogues = responses()
    del dialogues["mul0001"][1][key]
    run = scored(gold, dialogues)
    assert f"1 of 4 turns lacks the key '{key}'" in run.notes[0]
    assert (run.details["domains"], run.details["states"]) == (mode, states)


def test_what_is_odd_is_noted(gold: Path) -> None:
    dialogues = responses()
    odd = {"response": "[restaurnat_name] [cost]", "state": {"Restaurant": {}}, "active_domains": []}
    dialogues["sng0002"] = [odd, {"response": "[name]", "state": {}, "active_domains": []}]
    del dialogues["mul0001"][2]
    notes = "\n".join(scored(gold, dialogues).notes)
    assert "unknown class, ignored: [restaurnat_name] 1, [cost] 1" in notes
    assert "domains that MultiWOZ does not have, ignored: 'Restaurant' 1" in notes
    assert "fewer responses than gold turns in 1 dialogue (MUL0001.json 2 of 3)" in notes
    assert "more responses than gold turns in 1 dialogue (SNG0002.json 2 of 1)" in notes


def test_references_of_ones_own(gold: Path, tmp_path: Path) -> None:
    raw = {key.upper(): [turn["response"] for turn in turns] for key, turns in responses().items()}
    run = scored(gold, responses(), references=write(tmp_path / "own.json", raw), references_are="raw")
    assert run["BLEU"] == pytest.approx(100.0)
    assert "references:own-raw-" in run.scores["BLEU"].signature
    assert "references" not in run.scores["Inform"].signature


def test_without_spans_or_sacrebleu_everything_but_bleu_is_scored(gold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def importing(name: str, *others: Any, **more: Any) -> Any:
        if name.startswith("sacrebleu"):
            raise ImportError(name)
        return real(name, *others, **more)

    content = gold_file()
    for dialogue in content.values():
        for entry in dialogue["log"]:
            entry.pop("span_info", None)
    bare = scored(write(gold.parent / "bare.json", content), responses())
    assert (float(bare["Success"]), bare.details["human"], "BLEU" in bare.scores) == (1.0, {}, False)
    refused(lambda: scored(gold.parent / "bare.json", responses(), measures="BLEU"), "BLEU", "references=FILE")
    monkeypatch.setattr(builtins, "__import__", importing)
    run = scored(gold, responses())
    assert (float(run["Success"]), "BLEU" in run.scores) == (1.0, False)
    assert any("pip install 'dialgauge[tasks]'" in note for note in run.notes)
    refused(lambda: scored(gold, responses(), measures="Inform,BLEU"), "pip install")


# Runs


@pytest.mark.parametrize("missing", ["skip", "fail"])
def test_every_run_keeps_the_contract(gold: Path, tmp_path: Path, missing: str) -> None:
    dialogues = faulty()
    del dialogues["sng0002"]
    run = scored(gold, dialogues, missing=missing)
    stored = Store(tmp_path / "runs").add(run)
    for each in (run, stored):
        assert_run_contract(each)
    assert (stored.scores, stored.details, run_page(stored).tables.keys()) == (
        run.scores, run.details, run_page(run).tables.keys(),
    )  # fmt: skip
    assert run.details["missing_dialogues"] == ["SNG0002.json"]
    assert any("no responses for SNG0002.json" in note for note in run.notes)
    rows = run.table("reasons").filter(pl.col("dialogue") == "SNG0002.json", pl.col("rule") == "grounded")
    assert rows["reason"].to_list() == ["no_responses"]


def test_parts_have_signatures_and_rows(gold: Path) -> None:
    run = scored(gold, faulty(), measures="default")
    signature = Signature.parse(run["Inform(rules=grounded)[hotel]"].signature)
    assert list(signature)[:8] == [
        "measure", "domains", "states", "missing", "dialogues", "turns", "gold", "database",
    ]  # fmt: skip
    assert signature["measure"] == "Inform(rules=grounded)[hotel]"
    assert "Success[taxi]" not in run.scores and not any("taxi" in note for note in run.notes)
    rows = run.table("dialogue_scores").filter(measure="Success[hotel]")
    assert rows.select("dialogue", "num", "den").rows() == [("MUL0001.json", 0.0, 1.0)]
    [table] = run_page(run, ["by-domain"]).tables.values()
    assert [row["domain"] for row in table.records()] == ["hotel", "restaurant", "train"]


def test_why_domains_failed(gold: Path) -> None:
    shown = transcript_of(scored(gold, faulty()), "mul0001")
    rows = {(row["domain"], row["rules"]): row["why not"] for row in shown.tables["domains"].records()}
    assert rows["hotel", "mwzeval"] == (
        "in turn 1 the state led to 1 row, 1 of which does not fit the goal, such as cityroomz: area is centre, wanted "
        "north; parking is no, wanted yes"
    )
    assert rows["train", "mwzeval"] == "under mwzeval a domain cannot succeed while another fails (hotel)"
    [reading] = dialgauge.score_tasks(gold, {"mine": faulty()}, resamples=0).explain("SNG0002").dialogues
    assert "never told: address" in {row["why not"] for row in reading[0].tables["domains"].records()}


def test_warnings_of_gamed_numbers(gold: Path) -> None:
    def warnings(response: str, **more: Any) -> str:
        changed = {
            key: [{**turn, "response": response.format(turn["response"]), **more} for turn in turns]
            for key, turns in responses().items()
        }
        run = scored(gold, changed, measures="Inform,ReqP", resamples=0)
        return " ".join(run_page(run).warnings)

    assert warnings("{}") == ""
    assert "4 of 4 responses are stuffed" in warnings("[name] [trainid] [phone] [address] [postcode] [reference]")
    assert "(human responses: 100%)" in warnings("{} [hotel_phone] [hotel_postcode]")
    assert "claims 5.0 active domains" in warnings(
        "{}", active_domains=["hotel", "train", "taxi", "restaurant", "attraction"]
    )
    assert "only its policy is scored" in " ".join(run_page(scored(gold, without("state"))).warnings)


# Comparison


def test_runs_are_compared(gold: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    fresh = [scored(gold, dialogues, name=name) for name, dialogues in (("good", responses()), ("bad", faulty()))]
    for runs in (fresh, [store.add(run) for run in fresh]):
        comparison = dialgauge.compare(runs, resamples=50)
        assert comparison.difference("good", "bad", "Success").difference == 1.0
        for measure in ("BLEU", "Combined"):  # of several sums, which have a table of their own
            values = [float(run.scores[measure]) for run in runs]
            assert comparison.difference("good", "bad", measure).difference == pytest.approx(values[0] - values[1])
        assert {"Inform", "Success(rules=grounded)", "ReqP", "Success[hotel]"} <= set(comparison.measures)


def test_comparing_a_policy_with_a_system_is_told(gold: Path) -> None:
    runs = [scored(gold, each, name) for name, each in (("whole", responses()), ("policy", without("state")))]
    assert any("different settings (states)" in note for note in dialgauge.compare(runs, resamples=10).notes)


def test_a_dialogue_that_one_system_lacks_counts_for_no_system_under_mwzeval(gold: Path) -> None:
    """The one without the dialogue would have an easier set; grounded has it failed."""
    part = faulty()
    del part["sng0002"]
    better = {**part, "sng0002": responses()["sng0002"]}
    runs = [scored(gold, dialogues, name=name) for name, dialogues in (("whole", better), ("part", part))]
    comparison = dialgauge.compare(runs, resamples=20)
    for measure in ("Inform", "Success", "BLEU", "Combined", "Success[hotel]"):
        assert comparison.difference("whole", "part", measure).difference == 0.0, measure
    assert comparison.difference("whole", "part", "Success(rules=grounded)").difference == 0.5
    failing = [scored(gold, each, name=name, missing="fail") for name, each in (("whole", better), ("part", part))]
    assert dialgauge.compare(failing, resamples=20).difference("whole", "part", "Success").difference == 0.5
