"""Tasks as runs: the contract of every run, the same output in memory and from the store, explanations, warnings."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import dialgauge
from dialgauge.comparison import divergences
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Signature, cards
from dialgauge.runs import Run, Store, new_run
from dialgauge.tasks import (
    GoldTasks,
    TaskEvaluation,
    TaskOptions,
    TaskRuns,
    as_system,
    doubts,
    explanation,
    predictions_from,
    read_predictions,
    reason_texts,
    score_tables,
    worst_dialogues,
)
from runs.contract import assert_run_contract
from support.town import responses, town, write_town


def faulty() -> dict[str, list[dict[str, Any]]]:
    """A system that offers a hotel that does not fit, and tells no address."""
    dialogues = responses()
    for turn in dialogues["mul0001"]:
        turn["state"] = {**turn["state"], "hotel": {"area": "centre"}}
    dialogues["sng0002"][0]["response"] = "it is nice ."
    return dialogues


def scored(small: GoldTasks, dialogues: dict[str, Any], name: str = "mine", **options: Any) -> Run:
    chosen = TaskOptions(**{"measures": ("all",), "resamples": 20, **options})
    return TaskEvaluation(small, town(), options=chosen).score(predictions_from(name, dialogues))


@pytest.mark.parametrize("missing", ["skip", "fail"])
def test_every_tasks_run_keeps_the_contract(small: GoldTasks, tmp_path: Path, missing: str) -> None:
    dialogues = faulty()
    del dialogues["sng0002"]
    run = scored(small, dialogues, missing=missing)
    assert_run_contract(run)
    stored = Store(tmp_path / "runs").add(run)
    assert_run_contract(stored)
    assert (stored.kind, stored.scores, stored.details) == ("tasks", run.scores, run.details)
    for name in run.tables:
        assert stored.table(name).equals(run.table(name)), name


@pytest.mark.soak
def test_the_contract_holds_for_a_real_system(evaluation: TaskEvaluation, shared_data: Path, tmp_path: Path) -> None:
    run = evaluation.score(read_predictions(shared_data / "dst_predictions" / "mintl.json.gz"))
    assert_run_contract(run)
    assert_run_contract(Store(tmp_path / "runs").add(run))


def everything(run: Run) -> list[Any]:
    """All that is ever shown of a run."""
    ids = run.table("dialogues")["dialogue"].to_list()
    tables = [*score_tables([run]), worst_dialogues(run, 5), *(part for one in ids for part in explanation(run, one))]
    return [*(table.render("markdown") for table in tables), json.dumps(as_system(run)), doubts(run)]


def test_fresh_and_stored_runs_show_the_same(small: GoldTasks, tmp_path: Path) -> None:
    run = scored(small, faulty(), name="lava")
    stored = Store(tmp_path / "runs").add(run)
    assert everything(Store(tmp_path / "runs").open(stored.id)) == everything(run)


def test_from_python(tmp_path: Path) -> None:
    gold = write_town(tmp_path)
    (tmp_path / "mine.json").write_text(json.dumps(responses()))
    results = dialgauge.score_tasks(gold, tmp_path / "mine.json", resamples=10)
    assert (list(results), float(results["mine"]["Success"])) == (["mine"], 1.0)
    named = dialgauge.score_tasks(
        gold, {"a": tmp_path / "mine.json", "b": predictions_from("c", faulty())}, human=False
    )
    assert [each.name for each in named.runs] == ["a", "c"]
    assert named[0].details["human"] == {}
    assert "MUL0001" in str(results.explain("mul0001"))
    assert "Success" in str(results)
    assert "<table" in results._repr_html_()
    assert repr(results).startswith("<RunSet tasks: mine; Inform, Success, ")
    with pytest.raises(DialgaugeError, match="Did you mean 'Success'"):
        results["mine"]["Sucess"]
    with pytest.raises(DialgaugeError, match="nothing to score"):
        dialgauge.score_tasks(gold, [])
    with pytest.raises(DialgaugeError, match="is not a run of 'dialgauge tasks score'"):
        TaskRuns([new_run(kind="users", name="x")])
    with pytest.raises(DialgaugeError, match="there is no measure"):
        dialgauge.score_tasks(gold, tmp_path / "mine.json", measures=["Sucess"])


def test_the_signature_says_what_could_change_a_score(small: GoldTasks) -> None:
    scores = scored(small, responses()).scores
    inform = Signature.parse(scores["Inform(rules=grounded)[hotel]"].signature)
    assert list(inform) == [
        "measure", "domains", "states", "missing", "dialogues", "turns", "gold", "database", "version",
    ]  # fmt: skip
    assert Signature.parse(scores["Inform"].signature)["interval"] == "0.95-one-more-unit"
    assert inform["measure"] == "Inform(rules=grounded)[hotel]"
    assert (inform["domains"], inform["states"], inform["dialogues"], inform["turns"]) == ("file", "file", "2", "4")
    combined = Signature.parse(scores["Combined"].signature)
    assert combined["references"] == "mwz21-span"
    assert combined["bleu"].startswith("nrefs:1,case:mixed,eff:no,tok:13a,smooth:exp,version:")
    other = scored(small, responses(), mode="state", missing="fail").scores["Inform"].signature
    assert "domains:state" in other and "missing:fail" in other


def test_every_measure_has_a_card(small: GoldTasks) -> None:
    known = cards("tasks")
    assert {"Inform", "Success", "BLEU", "Combined", "OfferP", "ReqP", "ReqR", "stuffed", "MSTTR-50"} <= known.keys()
    for card in known.values():
        assert card.title and card.summary and card.formula and card.source
    assert known["stuffed"].higher_is_better is False
    assert known["tokens"].higher_is_better is None
    with pytest.raises(DialgaugeError, match="no goal has the domain 'police'"):
        scored(small, responses(), measures=("Inform[police]",))
    with pytest.raises(DialgaugeError, match="rules must be one of mwzeval, grounded"):
        scored(small, responses(), measures=("Inform(rules=mine)",))


def test_why_something_failed(small: GoldTasks) -> None:
    results = TaskRuns([scored(small, faulty())])
    text = str(results.explain("MUL0001"))
    assert "area=north, parking=yes" in text
    assert "in turn 5 the state led to 1 row" not in text
    assert (
        "in turn 1 the state led to 1 row, 1 of which does not fit the goal, such as cityroomz: area is centre" in text
    )
    assert "under mwzeval a domain cannot succeed while another fails (hotel)" in text
    assert "never told: address" in str(results.explain("SNG0002.json"))
    with pytest.raises(DialgaugeError, match=r"Did you mean 'MUL0001\.json'"):
        results.explain("MUL0002")


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        ({"response": "hello", "state": {}}, "nothing was offered: no response that counts for hotel has a [name]"),
        ({"response": "[hotel_name]", "state": {}}, "does not have hotel"),
        ({"response": "[hotel_name]", "state": {"hotel": {"area": "none"}}}, "fits nothing in the database: area=none"),
    ],
)
def test_reasons_of_a_failed_offer(small: GoldTasks, turn: dict[str, Any], reason: str) -> None:
    dialogues = responses()
    dialogues["mul0001"] = [{**turn, "active_domains": ["hotel"]}] * 3
    texts = reason_texts(scored(small, dialogues).table("reasons").iter_rows(named=True))
    mwzeval, _ = [text for (_, domain, _), text in texts.items() if domain == "hotel"]
    assert reason in mwzeval


def test_missing_dialogues_say_so(small: GoldTasks) -> None:
    dialogues = responses()
    del dialogues["sng0002"]
    rows = scored(small, dialogues).table("reasons").filter(pl.col("dialogue") == "SNG0002.json")
    assert rows.select("rule", "reason").rows() == [("grounded", "no_responses")]


def test_the_worst_come_first(small: GoldTasks) -> None:
    worse = faulty()
    worse["mul0001"][2]["response"] = "no idea ."  # the train fails too: two domains
    for dialogues in (worse, dict(reversed(worse.items()))):
        table = worst_dialogues(scored(small, dialogues), 1)
        assert [(row["dialogue"], row["domain"]) for row in table.records()] == [
            ("MUL0001.json", "hotel"), ("MUL0001.json", "train"),
        ]  # fmt: skip
    assert len(worst_dialogues(scored(small, responses()), 5)) == 0


def test_warnings_of_gamed_numbers(small: GoldTasks) -> None:
    assert doubts(scored(small, responses())) == []
    stuffed = {
        key: [{**turn, "response": "[name] [trainid] [phone] [address] [postcode] [reference]"} for turn in turns]
        for key, turns in responses().items()
    }
    told = doubts(scored(small, stuffed))
    assert any("4 of 4 responses are stuffed" in each for each in told)
    assert any("of what it tells was asked for (human responses: 100%)" in each for each in told)
    five = ["hotel", "train", "taxi", "restaurant", "attraction"]
    claimed = {key: [{**turn, "active_domains": five} for turn in turns] for key, turns in responses().items()}
    assert "claims 5.0 active domains per turn" in doubts(scored(small, claimed))[0]
    plain = {
        key: [{**turn, "response": "[value_name] [value_phone]"} for turn in turns]
        for key, turns in responses().items()
    }
    assert "a silent system would score the same" in doubts(scored(small, plain, mode="placeholders"))[-1]


@pytest.mark.parametrize("measures", ["Inform", "BLEU", "all"])
@pytest.mark.parametrize("human", [True, False])
def test_warnings_do_not_depend_on_what_is_shown(small: GoldTasks, measures: str, human: bool) -> None:
    telling = {
        key: [{**turn, "response": f"{turn['response']} [hotel_phone] [hotel_postcode]"} for turn in turns]
        for key, turns in responses().items()
    }
    evaluation = TaskEvaluation(small, town(), options=TaskOptions(measures=(measures,), resamples=0))
    run = evaluation.score(predictions_from("mine", telling), human=human)
    assert any("of what it tells was asked for (human responses: 100%)" in each for each in doubts(run))


def test_a_mode_that_is_not_the_published_one_is_told(small: GoldTasks) -> None:
    told = doubts(scored(small, responses(), name="DoTS"))
    assert "made with active domains from 'state', this one with 'file'" in told[0]
    assert doubts(scored(small, responses(), name="DoTS", mode="state")) == []
    assert doubts(scored(small, responses(), name="augpt")) == []


def test_policies_and_systems_are_never_ranked_together(small: GoldTasks) -> None:
    policy = {key: [{"response": turn["response"]} for turn in turns] for key, turns in responses().items()}
    runs = [
        scored(small, dialogues, name=name)
        for name, dialogues in (("whole", faulty()), ("policy", policy), ("better", responses()))
    ]
    table = score_tables(runs)[0]
    assert not any(cell.bold for row in table.cells for cell in row)
    assert [row[0].value for row in table.cells] == ["whole", "policy *", "better", "human *"]
    assert table.columns[3].title == "BLEU@mwz21-span"


def test_tables_are_readable_at_80_columns(small: GoldTasks) -> None:
    from rich.console import Console

    run = scored(small, faulty(), name="a-system")
    console = Console(width=80, force_terminal=True, color_system=None, file=io.StringIO())
    for table in [
        *score_tables([run]),
        *explanation(run, run.table("dialogues")["dialogue"][0]),
        worst_dialogues(run, 3),
    ]:
        console.print(table.render("terminal"))
    assert isinstance(console.file, io.StringIO)
    printed = console.file.getvalue()
    assert max(map(len, printed.splitlines())) <= 80
    for word in ("Inform", "Success", "BLEU@mwz21-span", "Combined", "OfferP", "ReqP", "ReqR", "why not"):
        assert word in printed


def test_a_damaged_run_is_a_sentence(small: GoldTasks, tmp_path: Path) -> None:
    stored = Store(tmp_path / "runs").add(scored(small, faulty()))
    [path] = stored.files["task_verdicts"]
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(DialgaugeError, match="damaged"):
        TaskRuns([Store(tmp_path / "runs").open(stored.id)]).explain("MUL0001")


def test_runs_are_compared(small: GoldTasks) -> None:
    runs = [scored(small, dialogues, name=name) for name, dialogues in (("good", responses()), ("bad", faulty()))]
    comparison = dialgauge.compare(runs, resamples=50)
    assert comparison.difference("good", "bad", "Success").difference == 1.0
    assert {"Inform", "Success(rules=grounded)", "ReqP", "Success[hotel]"} <= set(comparison.measures)
    assert any("tokens, " in note and "cannot be compared dialogue by dialogue" in note for note in comparison.notes)
    assert not any("BLEU" in note for note in comparison.notes)
    divergence = comparison.divergence("good", "bad", "SNG0002.json")
    assert divergence is not None
    assert divergence.turn == 1
    items = {item.item: (item.first, item.second) for item in divergence.items}
    assert items["mwzeval restaurant"] == ("done", "never told: address")


def test_the_same_words_with_other_states_diverge_in_their_verdicts(small: GoldTasks) -> None:
    wrong = responses()
    wrong["mul0001"][0]["state"] = wrong["mul0001"][1]["state"] = {"hotel": {"area": "centre"}}
    runs = [scored(small, dialogues, name=name) for name, dialogues in (("good", responses()), ("bad", wrong))]
    comparison = dialgauge.compare(runs, resamples=10)
    divergence = comparison.divergence("good", "bad", "MUL0001.json")
    assert divergence is not None
    assert (divergence.turn, divergence.turns) == (5, 0)
    assert "mwzeval hotel" in {item.item for item in divergence.items}
    assert comparison.divergence("good", "bad", "SNG0002.json") is None


def test_comparing_a_policy_with_a_system_is_told(small: GoldTasks) -> None:
    policy = {key: [{"response": turn["response"]} for turn in turns] for key, turns in responses().items()}
    runs = [scored(small, dialogues, name=name) for name, dialogues in (("whole", responses()), ("policy", policy))]
    assert any("different settings (states)" in note for note in dialgauge.compare(runs, resamples=10).notes)


def test_bleu_and_combined_are_compared(small: GoldTasks, tmp_path: Path) -> None:
    """They have no row in ``dialogue_scores``; their sums are in a table of their own, in memory and in the store."""
    store = Store(tmp_path / "runs")
    runs = [scored(small, dialogues, name=name) for name, dialogues in (("good", responses()), ("bad", faulty()))]
    for compared in (runs, [store.add(run) for run in runs]):
        comparison = dialgauge.compare(compared, resamples=50)
        for measure in ("BLEU", "Combined"):
            difference = comparison.difference("good", "bad", measure)
            values = [run.scores[measure].value for run in runs]
            assert values[0] is not None and values[1] is not None
            assert difference.difference == pytest.approx(values[0] - values[1], abs=1e-9)
            assert 0 < difference.p_randomisation <= 1
            assert "interval:0.95-percentile-1000-0" in comparison.score_signature("good", measure)
        assert (comparison.difference("good", "bad", "Combined").wins) == 2
        assert "interval:0.95-one-more-unit" in comparison.score_signature("good", "Inform")
        shown = divergences(comparison, "good", "bad", "Combined", 5)
        assert {part.dialogue for part in shown} == {"MUL0001.json", "SNG0002.json"}
    alone = [
        scored(small, dialogues, name=name, measures=("BLEU",))
        for name, dialogues in (("good", responses()), ("bad", faulty()))
    ]
    assert dialgauge.compare(alone, resamples=10).measures == ("BLEU",)


def test_a_dialogue_that_one_system_lacks_counts_for_no_system_under_mwzeval(small: GoldTasks) -> None:
    """The one without the dialogue would have an easier set; grounded has it failed."""
    part = faulty()
    del part["sng0002"]
    better = {**part, "sng0002": responses()["sng0002"]}
    runs = [scored(small, dialogues, name=name) for name, dialogues in (("whole", better), ("part", part))]
    assert (runs[0].scores["Success"].value, runs[1].scores["Success"].value) == (0.5, 0.0)
    comparison = dialgauge.compare(runs, resamples=20)
    for measure in ("Inform", "Success", "BLEU", "Combined", "Success[hotel]"):
        assert comparison.difference("whole", "part", measure).difference == 0.0, measure
    assert comparison.difference("whole", "part", "Success(rules=grounded)").difference == 0.5
    assert any(note.startswith("Inform, ") and "without the 1 dialogue" in note for note in comparison.notes)
    failing = [scored(small, each, name=name, missing="fail") for name, each in (("whole", better), ("part", part))]
    assert dialgauge.compare(failing, resamples=20).difference("whole", "part", "Success").difference == 0.5


def test_each_score_says_how_its_interval_was_made(small: GoldTasks) -> None:
    run = scored(small, faulty(), resamples=30)
    assert Signature.parse(run.scores["BLEU"].signature)["interval"] == "0.95-percentile-30-0"
    assert Signature.parse(run.signature)["interval"] == "0.95-studentised-30-0"
    assert "BLEU and Combined: interval:0.95-percentile-30-0" in score_tables([run])[-1].notes
    texts = scored(small, faulty(), resamples=30, measures=("BLEU", "Combined"))
    assert Signature.parse(texts.signature)["interval"] == "0.95-percentile-30-0"
    without = scored(small, faulty(), resamples=0)
    assert "interval" not in Signature.parse(without.scores["BLEU"].signature)


def test_one_dialogue_gives_no_interval(small: GoldTasks) -> None:
    scores = scored(small, {"sng0002": responses()["sng0002"]}).scores
    assert [(scores[name].low, scores[name].high) for name in ("Inform", "BLEU", "Combined")] == [(None, None)] * 3


def test_what_has_no_domains_is_refused_by_domain(small: GoldTasks) -> None:
    """The value of the whole file under the name of a domain would be a lie."""
    for name in ("BLEU", "Combined", "OfferP", "ReqP", "ReqR", "stuffed", "tokens"):
        with pytest.raises(DialgaugeError, match="has no parts"):
            scored(small, responses(), measures=(f"{name}[hotel]",))


def test_lengths_that_differ_from_gold_are_told(small: GoldTasks) -> None:
    empty = {**responses(), "sng0002": []}
    run = scored(small, empty)
    assert any("fewer responses than gold turns in 1 dialogue (SNG0002.json 0 of 1)" in note for note in run.notes)
    assert run.details["missing_dialogues"] == []
    assert (run.coverage["dialogues"].scored, run.coverage.complete) == (2, False)
    assert run.table("dialogue_scores").filter(pl.col("measure") == "Inform")["den"].sum() == 2  # it is in the file
    extra = responses()
    extra["sng0002"].append({"response": "[name] [trainid]", "state": {}, "active_domains": []})
    run = scored(small, extra)
    assert any("more responses than gold turns in 1 dialogue (SNG0002.json 2 of 1)" in note for note in run.notes)
    assert Signature.parse(run.signature)["turns"] == "4"
    assert run.coverage.complete


def test_gold_and_responses_in_a_file_give_the_same_scores_and_tables(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is too large to be held is decoded again when it is asked for."""
    files = {"gold": "multiwoz21/test.json.gz", "ubar": "dst_predictions/ubar.json.gz"}
    whole = {name: json.loads(gzip.decompress((shared_data / file).read_bytes())) for name, file in files.items()}
    some = sorted(whole["ubar"])[:120]
    (tmp_path / "gold.json").write_text(json.dumps({name: whole["gold"][name.upper()] for name in some}))
    (tmp_path / "ubar.json").write_text(json.dumps({name: whole["ubar"][name] for name in some}))
    stored = []
    for name, most, large in (("memory", 1 << 40, 1 << 40), ("file", 20_000, 1000)):
        monkeypatch.setattr("dialgauge.formats.held.MOST_HELD", most)
        monkeypatch.setattr("dialgauge.formats.source.LARGE", large)
        tasks = dialgauge.score_tasks(
            tmp_path / "gold.json", tmp_path / "ubar.json", database=shared_data / "multiwoz21" / "db", resamples=20
        )
        stored.append((Store(tmp_path / name).add(tasks.runs[0]), str(tasks.explain(some[0]))))
    (one, told), (other, told_again) = stored
    assert one.scores == other.scores
    assert (one.coverage, one.details, one.notes, told) == (other.coverage, other.details, other.notes, told_again)
    assert one.manifest.corpus == other.manifest.corpus
    for table in one.tables:
        assert one.table(table).equals(other.table(table)), table
