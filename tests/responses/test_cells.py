"""Cells of the results table: kept as runs, found again, computed anew when anything that matters differs."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from dialgauge import source
from dialgauge.comparison import compare_runs
from dialgauge.errors import DialgaugeError
from dialgauge.rankers import ReplyModel, fit_model, fresh_model, load_ranker, load_task, save_ranker
from dialgauge.responses import (
    CellKey,
    evaluate_bot,
    evaluate_models,
    replies_page,
    split_is_released,
    statistics_table,
    training_is_released,
)
from dialgauge.responses.measures import PAIRING
from dialgauge.runs import Run, Store
from runs.contract import assert_run_contract
from support.tiny_world import tiny_release

SPLITS = ("dev", "tst", "tst-OOV")
QUICK = {"epochs": "1", "dim": "4"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_release(tmp_path_factory.mktemp("data"), (1, 2))


def stored(store: Path) -> list[str]:
    return [manifest.id for manifest in Store(store).list()]


def table(data: Path, store: Path, *models: str, **changes: object) -> list[Run]:
    how = {"tasks": (1,), "splits": SPLITS, "store": store, **changes}
    return evaluate_models(data, models, **how).runs  # type: ignore[arg-type]


def ids(found: list[Run]) -> list[str]:
    return [cell.id for cell in found]


def test_finished_cells_are_kept_and_reused(data: Path, tmp_path: Path) -> None:
    first = table(data, tmp_path, "rules", "nearest")
    assert len(first) == len(set(stored(tmp_path))) == 6
    assert ids(table(data, tmp_path, "nearest", "rules", splits=("tst",))) == [first[4].id, first[1].id]
    table(data, tmp_path, "nearest", "tfidf", workers=2)
    assert len(stored(tmp_path)) == 9
    again = table(data, tmp_path, "rules", fresh=True)
    assert [cell.scores for cell in again] == [cell.scores for cell in first[:3]]


def test_an_interrupted_table_goes_on_where_it_stopped(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(model: ReplyModel, *rest: object) -> None:
        if model.name == "tfidf":
            raise DialgaugeError("the machine is switched off")
        fit_model(model, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as broken:
        broken.setattr("dialgauge.rankers.fit_model", breaks, raising=False)
        with pytest.raises(DialgaugeError, match="switched off"):
            table(data, tmp_path, "nearest", "tfidf")
    kept = stored(tmp_path)
    assert len(kept) == 3
    assert set(kept) < set(ids(table(data, tmp_path, "nearest", "tfidf")))
    assert len(stored(tmp_path)) == 6


def test_what_matters_makes_another_cell(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = table(data, tmp_path, "memn2n", options=QUICK)
    assert [CellKey.of_run(cell).options for cell in one] == ["dim=4,epochs=1"] * 3
    assert ids(table(data, tmp_path, "memn2n", options={**QUICK, "device": "cpu"})) == ids(one)
    more = table(data, tmp_path, "memn2n", "rules", options=QUICK, seeds=2)
    keys = [CellKey.of_run(cell) for cell in more]
    assert [(key.model, key.seed) for key in keys] == [("memn2n", 0)] * 3 + [("memn2n", 1)] * 3 + [("rules", 0)] * 3
    assert ids(more[:3]) == ids(one)
    shown = replies_page(more).tables["accuracy"].records()
    assert [(row["cell"], row["seeds"]) for row in shown[:4:3]] == [
        ("T1 dev memn2n (dim=4,epochs=1)", 2), ("T1 dev rules", 1),
    ]  # fmt: skip
    others = [
        table(data, tmp_path, "memn2n", options={**QUICK, "dim": "5"}),
        table(tiny_release(tmp_path / "other", (1,), dialogs=5), tmp_path, "memn2n", options=QUICK),
    ]
    monkeypatch.setattr("dialgauge.responses.cells.EVALUATION_VERSION", 99)
    others.append(table(data, tmp_path, "memn2n", options=QUICK))
    monkeypatch.setattr(source, "own_source", lambda *rooms: "edited")
    monkeypatch.setattr("dialgauge.rankers.identity.own_source", lambda *rooms: "edited")
    others.append(table(data, tmp_path, "memn2n", options=QUICK))
    assert len({name for found in (one, *others) for name in ids(found)}) == 15


def test_a_cell_is_a_run_with_tables(data: Path, tmp_path: Path) -> None:
    run = table(data, tmp_path, "memn2n", options={**QUICK, "epochs": "2"})[1]
    assert_run_contract(run)
    assert [one.role for one in run.manifest.inputs] == ["dialogues"] * 4 + ["candidates", "facts"]
    assert (set(run.details), run.details["epochs"]) == ({"by_class", "top_ties", "unanswered", "epochs"}, 2)
    replies = run.table("replies")
    assert replies["correct"].mean() == pytest.approx(run.scores["per-response"].value)
    turns = run.table("turns").filter(run.table("turns")["speaker"] == "system")
    assert replies.select("dialogue", "turn", text="gold").equals(turns.select("dialogue", "turn", "text"))
    best = run.table("candidates").filter(rank=1).select("dialogue", "turn", chosen="text")
    assert best.equals(replies.select("dialogue", "turn", "chosen"))
    gold = run.table("candidates").filter(gold=True).select("dialogue", "turn", "rank")
    assert gold.sort("dialogue", "turn").equals(replies.select("dialogue", "turn", "rank").sort("dialogue", "turn"))


def test_attention_is_kept_where_it_is_asked_for(data: Path) -> None:
    task, model = load_task(data, 1), fresh_model("memn2n", 0, QUICK)
    [run] = evaluate_bot(model, task, splits=["tst"], fit=True, attention=2)
    weights = run.table("attention")
    assert weights["dialogue"].n_unique() == 2
    sums = weights.group_by("dialogue", "turn", "hop").agg(pl.col("weight").sum())
    assert sums["weight"].to_list() == pytest.approx([1.0] * sums.height)
    with pytest.raises(DialgaugeError, match="no attention"):
        evaluate_bot(fresh_model("nearest", 0, {}), task, fit=True, attention=1)


def test_a_model_fitted_on_other_dialogs_is_another_cell(data: Path, tmp_path: Path) -> None:
    task, other = load_task(data, 1), load_task(tiny_release(tmp_path / "small", dialogs=2), 1)
    [fresh] = evaluate_bot(fresh_model("nearest", 0, {}), task, splits=["tst"], fit=True, save=tmp_path / "model")
    [loaded] = evaluate_bot(load_ranker(tmp_path / "model", task=task), task, splits=["tst"])
    assert (loaded.scores, CellKey.of_run(loaded)) == (fresh.scores, CellKey.of_run(fresh))
    model = fresh_model("nearest", 0, {})
    fit_model(model, other)
    model.move(task.candidates, task.facts)
    assert CellKey.of(model, task, "tst").fitted != CellKey.of_run(fresh).fitted
    with pytest.raises(DialgaugeError, match="unknown split 'test'; choose from dev, tst"):
        evaluate_bot(model, task, splits=["test"])
    save_ranker(model, tmp_path / "other", 1)


def test_bots_are_compared_reply_by_reply_whatever_their_models(data: Path, tmp_path: Path) -> None:
    runs = table(data, tmp_path, "rules", "nearest", splits=("tst",))
    assert not [note for note in compare_runs(runs, resamples=20).notes if "model" in note]
    frame = PAIRING.turn_scores(runs[0])
    assert frame is not None
    assert frame.columns == ["dialogue", "turn", "per-response"]
    assert frame["per-response"].sum() == runs[0].coverage["replies"].scored


# Beside the paper


def test_no_number_of_the_paper_stands_beside_other_data(data: Path, tmp_path: Path) -> None:
    shown = replies_page(table(data, tmp_path, "rules", "nearest")).tables["accuracy"]
    rows = {row["cell"]: row for row in shown.records()}
    assert rows["T1 tst rules"]["per-response"] == 1.0
    assert not any("paper" in column or column == "difference" for row in shown.records() for column in row)
    assert "on other dialogues than the released ones" in shown.notes[-1]
    assert not any("paper" in column for column in statistics_table([load_task(data, 1)]).records()[0])


def test_the_released_dialogs_are_known_by_their_content(shared_data: Path, tmp_path: Path) -> None:
    for path in (shared_data / "babi").glob("dialog-babi-*.gz"):
        if "-task1-" in path.name or "-task" not in path.name:
            (tmp_path / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    task = load_task(tmp_path, 1)
    assert training_is_released(task)
    assert [split_is_released(task, split) for split in SPLITS] == [False, True, True]
    changed = tmp_path / "dialog-babi-task1-API-calls-tst.txt"
    changed.write_bytes(changed.read_bytes().replace(b"good morning\t", b"hi\t", 1))
    assert [split_is_released(load_task(tmp_path, 1), split) for split in SPLITS] == [False, False, True]
