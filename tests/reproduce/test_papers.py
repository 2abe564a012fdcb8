"""The five papers: what is printed, what is judged, and what cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dialgauge
from dialgauge.errors import DialgaugeError
from dialgauge.reproduce import PAPERS, ClaimTables, ReportedValue, Reproduction, judge, reproduce, shipped
from dialgauge.reproduce.benchmark import published_rows
from support.commands import dialgauge as run_command

IMPOSSIBLE = "cannot be computed"


@pytest.fixture(scope="module")
def fga(shared_data: Path) -> Reproduction:
    return reproduce("fga", shared_data)


@pytest.fixture(scope="module")
def rsa(shared_data: Path) -> Reproduction:
    return reproduce("rsa", shared_data)


@pytest.fixture(scope="module")
def gcdf1(shared_data: Path) -> Reproduction:
    return reproduce("gcdf1", shared_data)


@pytest.fixture(scope="module")
def mwzeval(shared_data: Path) -> Reproduction:
    return reproduce("mwzeval", shared_data)


@pytest.fixture(scope="module")
def babi() -> Reproduction:
    """Without the released dialogs, of which the learned models need none."""
    return reproduce("babi", Path(__file__).parent)


def lines(record: Reproduction, part: str) -> dict[str, ReportedValue]:
    return {line.what: line for line in record.lines if line.part == part}


@pytest.mark.parametrize("name", PAPERS)
def test_every_claim_on_measured_evidence_cannot_be_computed_without_it(name: str) -> None:
    """Sentences about the print alone hold without data; no other line may be decided by its absence."""
    paper = shipped(name)
    with ClaimTables({}) as nothing:
        judged = judge(paper, nothing)
    printed = {*paper.facts, *(grid.name for grid in paper.grids if grid.name)}
    own = [claim for claim in paper.claims if any(f"{table}" in claim.source for table in printed)]
    decided = [line for line in judged if line.verdict != IMPOSSIBLE]
    named = (*(claim.says for claim in own), "train, turns / conversations", "SA, largest", "RSA, largest")
    assert judged and all(line.what.startswith(named) for line in decided), [line.what for line in decided]
    assert all(line.why for line in judged if line.verdict == IMPOSSIBLE)


def test_no_query_of_ours_is_wrong(
    fga: Reproduction, rsa: Reproduction, gcdf1: Reproduction, babi: Reproduction
) -> None:
    for record in (fga, rsa, gcdf1, babi):
        assert not [line.what for line in record.lines if "Error" in line.why]
        assert all(line.why for line in record.lines if line.verdict == "differs")


def test_our_files_say_what_the_papers_say(expected: Path) -> None:
    theirs = json.loads((expected / "dst_paper_tables.json").read_text())
    grids = {(name, grid.name): grid for name in ("fga", "rsa") for grid in shipped(name).grids}

    def numbers(paper: str, grid: str, row: str) -> list[float]:
        return [float(text.rstrip("%")) for text in grids[paper, grid].rows[row]]

    for row in theirs["fga_paper"]["table1_pct"]:
        scores = [row["jga"], row["sa"], row["aga"], *row["fga"].values()]
        assert numbers("fga", "table1", row["model"]) == [7368, row["exact_M1"], row["turn_match_M2"], *scores]
    for row in theirs["rsa_paper"]["table1"]:
        assert numbers("rsa", "table1", row["model"]) == [row["jga"], row["sa"], row["f1"], row["rsa"]]
    for domain, row in theirs["rsa_paper"]["table2_per_domain_somdst"].items():
        assert numbers("rsa", "table2", domain) == [row["jga"], row["sa"], row["rsa"]]
    systems = json.loads((expected / "e2e_mwzeval.json").read_bytes())["systems"]
    rows = {system: figures for kind, system, figures in published_rows() if kind != "human"}
    assert len(rows) == 16
    for name, system in systems.items():
        figures, printed = rows[name], system["published"]
        assert figures["bleu"] == printed["bleu_mwz22"] and figures["mode"] == printed["mode"]
        assert (figures["inform"], figures["success"]) == (printed["inform"], printed["success"])


def test_fga(fga: Reproduction, expected: Path) -> None:
    differing = {name for name, line in lines(fga, "Figure 1").items() if line.verdict == "differs"}
    assert differing == {"FGA@0.5 of the conversation"}
    assert lines(fga, "Figure 1")["FGA@0.5 of the conversation"].ours == pytest.approx(0.4644897801)
    sample = lines(fga, "Table 1, SOM-DST")
    values = json.loads((expected / "dst_somdst_human100.json").read_text())["overall"]
    keys = {"JGA": "jga", "SA": "sa", "AGA": "aga", "FGA@0.5": "fga_code_0.5", "FGA@1": "fga_code_1"}
    for name, key in keys.items():
        assert sample[name].ours == pytest.approx(values[key], abs=1e-9)
        assert sample[name].verdict == "within spread"
    assert sample["M2 / turns"].ours == pytest.approx(608 / 751)
    assert (sample["exact matches (M1)"].ours, sample["exact matches (M1)"].verdict) == (375, "computed")
    assert {line.verdict for line in lines(fga, "Figure 2, MUL0379.json").values()} == {"exact", "holds"}
    assert fga.tally() == {
        "exact": 24, "holds": 44, "within spread": 8, "computed": 9, "differs": 8, "cannot be computed": 45,
    }  # fmt: skip


def test_rsa(rsa: Reproduction, expected: Path) -> None:
    values = json.loads((expected / "dst_somdst_human100.json").read_text())["per_domain_gold_active_turns"]
    table = lines(rsa, "Table 2")
    for domain, row in values.items():
        for measure, key in (("JGA", "jga"), ("SA", "sa_T30"), ("RSA", "rsa")):
            assert table[f"{domain}, {measure}"].ours == pytest.approx(row[key], abs=1e-9)
    onset = lines(rsa, "Figure 1")
    assert onset["share of dialogues that end wrong"].ours == pytest.approx(0.76)
    assert onset["of those, share that is exact again after the first error"].ours == pytest.approx(7 / 76)
    correlation = lines(rsa, "Section 4.1")["over turns, JGA correlates less with RSA than with SA"]
    assert correlation.ours == "SA 0.746, RSA 0.548, RSA(empty=one) 0.697, turns 751"
    assert lines(rsa, "Section 1")["MultiWOZ is the most used dataset"].ours == "MultiWOZ 19, the next 5"
    assert rsa.tally() == {
        "exact": 32, "holds": 51, "within spread": 20, "computed": 8, "differs": 5, "cannot be computed": 40,
    }  # fmt: skip


def test_first_errors_are_judged_on_whole_test_sets(rsa: Reproduction) -> None:
    """100 dialogues of SOM-DST are too few to tell an early error from chance: they were judged to differ."""
    said = lines(rsa, "Section 2.1")
    early = said["the first error falls mainly into the beginning of the dialogue"]
    assert early.verdict == "holds" and "augpt, dots, mintl and ubar" in early.note
    own = said["the first error falls mainly into the beginning of the dialogue (SOM-DST)"]
    assert own.verdict == "computed" and "too few" in own.note
    assert str(own.ours).startswith("first half 60.53%, from 48.93%, to 71.31%, by chance 52.85%")


def test_gcdf1(gcdf1: Reproduction) -> None:
    assert {line.what for line in gcdf1.lines if line.verdict == "differs" and line.part.startswith("Table")} == {
        "attraction", "restaurant",
    }  # fmt: skip
    assert gcdf1.tally() == {
        "exact": 117, "holds": 48, "within spread": 0, "computed": 0, "differs": 15, "cannot be computed": 10,
    }  # fmt: skip
    surface = lines(gcdf1, "Section 3.1")["not accounting for surface forms would decrease I-GCDF1"]
    assert (surface.verdict, surface.ours) == ("holds", "without the map 92.93%, with it 93.66%")
    [loops] = [line for line in gcdf1.lines if "despite the answer, errors" in line.what]
    assert loops.verdict == "differs" and "of attraction-type 0, of a reference 10" in str(loops.ours)


def test_mwzeval(mwzeval: Reproduction) -> None:
    """Specification, section 13: gold states of 2.1 for 2.2 in policies, references, and the human responses of 2.1."""
    assert mwzeval.tally() == {
        "exact": 40, "holds": 0, "within spread": 0, "computed": 22, "differs": 0, "cannot be computed": 56,
    }  # fmt: skip
    assert {line.verdict for line in lines(mwzeval, "Human responses (gold states)").values()} == {"computed"}
    bleu = [line for line in mwzeval.lines if line.what.endswith("BLEU") and line.ours is not None]
    assert len(bleu) == 8 and all("mwz21-span" in line.note for line in bleu)


def test_learned_cells_have_a_verdict_from_three_whole_trainings_on(babi: Reproduction) -> None:
    cells = {line.what: line for part in ("Table 2", "Table 10") for line in lines(babi, part).values()}
    one = cells["memn2n (paper's training), T5: per-response"]
    assert (one.verdict, one.note) == ("computed", "1 seed: no verdict")
    assert cells["memn2n-type (paper's training), T5: per-response"].note == "cut short: no verdict"
    assert cells["memn2n (paper's training), T4: per-response"].note == "3 seeds, least to most"
    unjudged = {what.partition(":")[0] for what, line in cells.items() if "no verdict" in line.note}
    assert len(unjudged) == 16


def test_100_and_0_are_printed_to_a_tenth(babi: Reproduction) -> None:
    """They had been read as 100 ± 0.5: four cells were within spread that are not."""
    table = lines(babi, "Table 2")
    for what in (
        "embeddings (paper's training), T1: per-response",
        "embeddings (paper's training), T1: per-dialog",
        "memn2n, T6: per-dialog",
        "memn2n-type (paper's training), T6: per-dialog",
    ):
        assert table[what].verdict == "differs", what


@pytest.mark.long
def test_sentences_on_all_columns_are_judged_on_all_of_them(shared_data: Path) -> None:
    record = reproduce("babi", shared_data)
    said = lines(record, "Section 5")
    memory = said["memory networks do better than retrieval and embeddings on all tasks"]
    assert (memory.verdict, memory.ours) == ("differs", "7 of 11 columns, over nearest 8, over embeddings 7")
    types = said["match types noticeably improve TF-IDF match"]
    assert types.verdict == "holds" and str(types.ours).startswith("6 of 11 columns") and "more than half" in types.note
    near = [line for line in record.lines if line.what.startswith("per-response cells of Tables 2 and 10")]
    assert len(near) == 2 and all(str(line.ours).endswith("of 99") for line in near)
    failing = [line for line in record.lines if line.verdict == "differs" and "in print it holds" in line.note]
    assert len(failing) == 7
    assert record.tally() == {
        "exact": 202, "holds": 58, "within spread": 25, "computed": 34, "differs": 167, "cannot be computed": 33,
    }  # fmt: skip


# Systems of one's own: files found by their names, or stored runs.


def multiwoz_file(states: list[dict[str, dict[str, str]]]) -> dict[str, object]:
    """One dialogue of MultiWOZ 2.1 whose turns have these states (domain to slot to value)."""
    log: list[dict[str, object]] = []
    for state in states:
        log.append({"text": "hello", "metadata": {}})
        log.append({"text": "hello", "metadata": {name: {"semi": slots, "book": {}} for name, slots in state.items()}})
    return {"MUL0001.json": {"goal": {}, "log": log}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    states = [{"taxi": {"leaveAt": "9:15"}}, {"taxi": {"leaveAt": "9:15", "destination": "ely"}}]
    (tmp_path / "multiwoz21").mkdir()
    (tmp_path / "dst_predictions").mkdir()
    (tmp_path / "multiwoz21/test.json").write_text(json.dumps(multiwoz_file(states)))
    return tmp_path


FLAGS = {"MUL0001.json": {"0": [1] * 30, "1": [1, 0] + [1] * 28}}


@pytest.mark.parametrize("paper", ["fga", "rsa"])
def test_flags_are_scored_with_the_gold_states_of_the_test_set(paper: str, folder: Path) -> None:
    """``reproduce rsa`` refused them: RSA needs states, which the gold file has."""
    (folder / "dst_predictions/trippy_result.json").write_text(json.dumps(FLAGS))
    record = reproduce(paper, folder)
    if paper == "fga":
        row = lines(record, "Table 1, Trippy")
        assert (row["AGA"].ours, row["JGA"].ours, row["exact matches (M1)"].ours) == (0.75, 0.5, 1)
    else:
        row = lines(record, "Table 1")
        assert row["TripPy, JGA"].ours == 0.5 and row["TripPy, RSA"].ours == 0.75


@pytest.mark.parametrize("paper", ["fga", "rsa"])
def test_a_file_that_lacks_a_turn_is_scored_on_the_others(paper: str, folder: Path) -> None:
    predicted = {"mul0001": [{"state": {"taxi": {"leave": "9:15"}}}]}
    (folder / "dst_predictions/TRADE.json").write_text(json.dumps(predicted))
    record = reproduce(paper, folder)
    row = lines(record, "Table 1, TRADE")["JGA"] if paper == "fga" else lines(record, "Table 1")["TRADE, JGA"]
    assert row.ours == 1.0 and "1 of the 7,368 turns" in row.note


@pytest.mark.parametrize("paper", ["fga", "rsa"])
def test_a_run_under_any_name_gets_every_line_that_a_model_of_the_paper_gets(paper: str, folder: Path) -> None:
    gold = folder / "multiwoz21/test.json"
    predicted = {"mul0001": [{"state": {"taxi": {"leave": "9:15"}}}, {"state": {}}]}
    (folder / "mine.json").write_text(json.dumps(predicted))
    run = dialgauge.score(gold, {"mine": folder / "mine.json"}, profile="canon").runs[0]
    known = {"fga": "Trippy", "rsa": "TripPy"}[paper]
    of_ours, of_theirs = (reproduce(paper, folder, runs={name: run}) for name in ("mine", known.lower()))
    for measure in ("JGA", "SA"):
        own = {line.what: line for line in of_ours.lines}[f"a run of yours (mine, {measure})"]
        model = lines(of_theirs, f"Table 1, {known}")[measure] if paper == "fga" else lines(of_theirs, "Table 1")[
            f"{known}, {measure}"
        ]  # fmt: skip
        assert own.ours == f"{model.ours:.2%}"


def test_no_data_is_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in PAPERS:
        record = reproduce(name, tmp_path)
        assert record.missing and record.absent
        assert {line.verdict for line in record.lines} - {"exact", "holds", "computed", "differs", "within spread"}
    outcome = run_command(capsys, "reproduce", "fga", "--data", tmp_path / "absent")
    assert outcome.code == 2 and "no such folder" in outcome.err


# The command


def test_one_screen_by_default_and_parts_on_request(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = run_command(capsys, "reproduce", "rsa", "--data", shared_data)
    assert short.code == 1 and len(short.out.splitlines()) < 60
    part = run_command(capsys, "reproduce", "rsa", "--data", shared_data, "--only", "Table A6", "--json", "-")
    tables = json.loads(part.out)["page"]["tables"]
    assert list(tables) == ["table-a6-pmul4648-json"]
    assert {row["verdict"] for row in tables["table-a6-pmul4648-json"]["rows"]} == {"exact", "holds", "computed"}
    unknown = run_command(capsys, "reproduce", "rsa", "--data", shared_data, "--only", "Table 77")
    assert unknown.code == 2 and "no part 'Table 77'" in unknown.err


def test_figures_and_page(shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn, page = tmp_path / "drawn", tmp_path / "page.md"
    words = ("reproduce", "rsa", "--data", shared_data, "--all", "--figures", drawn, "--table", page)
    assert run_command(capsys, *words).code == 1
    assert "figure-1-where-the-first-error-falls.svg" in {path.name for path in drawn.iterdir()}
    assert "within spread" in page.read_text(encoding="utf-8")


MINE = """
title: Mine
grids:
- part: Table 1
  columns: [JGA]
  rows: {one: ["100%"], two: ["50%"]}
  ours: select run as row, measure as col, value as ours from scores
claims:
- {part: Section 1, says: all turns are right, source: turn_scores, every: run, share: exact}
- {part: Section 2, says: it is fast, source: timings, holds: count(*) > 0}
"""


def test_anybodys_paper_is_judged_by_stored_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from dialgauge.runs import Store

    gold: dict[str, list[dict[str, Any]]] = {"d1": [{"hotel-area": "north"}, {"hotel-area": "south"}]}
    wrong = {"d1": [{"hotel-area": "north"}, {"hotel-area": "east"}]}
    store = Store(tmp_path / "runs")
    for run in dialgauge.score(gold, {"right": gold, "half": wrong}, measures="JGA").runs:
        store.add(run)
    (tmp_path / "mine.yaml").write_text(MINE)
    words = ("reproduce", tmp_path / "mine.yaml", "--store", tmp_path / "runs", "--all", "--json", "-")
    done = run_command(capsys, *words, "--run", "one=right", "--run", "two=half")
    tables = json.loads(done.out)["page"]["tables"]
    assert done.code == 0
    assert [row["verdict"] for row in tables["table-1"]["rows"]] == ["exact", "exact"]
    assert [row["verdict"] for row in tables["section-1"]["rows"]] == ["differs"]
    [absent] = tables["section-2"]["rows"]
    assert absent["verdict"] == IMPOSSIBLE and "timings" in absent["note"]
    for extra, message in ((("--run", "right"), "--run expects NAME=RUN"), (("--run", "a=nothing"), "nothing")):
        outcome = run_command(capsys, *words, *extra)
        assert outcome.code == 2 and message in outcome.err
    with pytest.raises(DialgaugeError, match="no paper 'fgaa'"):
        reproduce("fgaa")
