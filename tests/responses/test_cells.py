"""Cells of the results table: kept as runs, found again, computed anew when anything that matters differs."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialgauge import source
from dialgauge.errors import DialgaugeError
from dialgauge.rankers import (
    Ranker,
    RankingTask,
    code_of,
    fit_model,
    load_ranker,
    load_task,
    log_task,
    ranker_class,
    save_ranker,
)
from dialgauge.responses import (
    CellKey,
    class_table,
    evaluation_run,
    job_cells,
    jobs_of,
    results_table,
    run_jobs,
    run_record,
    split_is_released,
    statistics_table,
    stored_cells,
    training_is_released,
    training_run,
)
from dialgauge.runs import Run, Store, new_run
from runs.contract import assert_run_contract
from support.commands import dialgauge
from support.tiny_world import tiny_release

SPLITS = ("dev", "tst", "tst-OOV")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_release(tmp_path_factory.mktemp("data"), (1, 2))


def runs(store: Path) -> list[str]:
    return [manifest.id for manifest in Store(store).list()]


def table(data: Path, store: Path, *models: str, tasks: tuple[int, ...] = (1,), **changes: object) -> list[Run]:
    seeds = int(str(changes.pop("seeds", 1)))
    jobs = jobs_of(data, models, tasks, SPLITS, seeds, store, **changes)  # type: ignore[arg-type]
    return [cell for some in run_jobs(jobs) for cell in some]


def numbers(cell: Run) -> dict[str, object]:
    """All that a cell says, but for which run it is."""
    return {**run_record(cell), "run": ""}


def ids(found: list[Run]) -> list[str]:
    return [cell.id for cell in found]


def test_finished_cells_are_kept_and_reused(data: Path, tmp_path: Path) -> None:
    first = table(data, tmp_path, "rules", "nearest")
    assert len(first) == len(set(runs(tmp_path))) == 6
    assert set(ids(first)) == set(runs(tmp_path))
    assert ids(table(data, tmp_path, "nearest", "rules")) == ids([*first[3:], *first[:3]])
    assert len(runs(tmp_path)) == 6


def test_fresh_computes_again(data: Path, tmp_path: Path) -> None:
    first = table(data, tmp_path, "rules")
    again = table(data, tmp_path, "rules", fresh=True)
    assert list(map(numbers, first)) == list(map(numbers, again))
    assert len(runs(tmp_path)) == 3  # equal runs are found
    assert ids(table(data, tmp_path, "rules")) == ids(again)


def test_an_interrupted_table_goes_on_where_it_stopped(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fits: list[str] = []

    def until(last: int) -> None:
        """Break down after that many cells of all jobs."""
        done = 0
        whole = job_cells

        def counted(ranker: Ranker, task: RankingTask, *rest: object) -> Iterator[Run]:
            nonlocal done
            fits.append(ranker.name)
            for cell in whole(ranker, task, *rest):  # type: ignore[arg-type]
                yield cell
                done += 1
                if done == last:
                    raise KeyboardInterrupt

        monkeypatch.setattr("dialgauge.responses.cells.job_cells", counted)

    until(4)
    with pytest.raises(KeyboardInterrupt):
        table(data, tmp_path, "rules", "nearest", "tfidf")
    kept = runs(tmp_path)
    assert len(kept) == 4
    monkeypatch.setattr("dialgauge.responses.cells.job_cells", job_cells)
    found = table(data, tmp_path, "rules", "nearest", "tfidf")
    assert len(found) == 9
    assert set(kept) < set(ids(found))
    assert len(runs(tmp_path)) == 9


def test_other_data_is_another_cell(data: Path, tmp_path: Path) -> None:
    table(data, tmp_path / "runs", "rules")
    other = tiny_release(tmp_path / "other", (1,), dialogs=5)
    found = table(other, tmp_path / "runs", "rules")
    assert [cell.coverage["dialogues"].scored for cell in found] == [5, 5, 5]
    assert len(runs(tmp_path / "runs")) == 6


def test_other_options_and_seeds_are_other_cells(data: Path, tmp_path: Path) -> None:
    quick = {"epochs": "1", "dim": "4"}
    one = table(data, tmp_path, "memn2n", options=quick)
    two = table(data, tmp_path, "memn2n", options={**quick, "dim": "5"})
    same = table(data, tmp_path, "memn2n", options={**quick, "device": "cpu"})
    more = table(data, tmp_path, "memn2n", "rules", options=quick, seeds=2)
    assert [CellKey.of_run(cell).options for cell in one] == ["dim=4,epochs=1"] * 3
    assert set(ids(one)).isdisjoint(ids(two))
    assert ids(same) == ids(one)
    keys = [CellKey.of_run(cell) for cell in more]
    assert [(key.model, key.seed) for key in keys] == [("memn2n", 0)] * 3 + [("memn2n", 1)] * 3 + [("rules", 0)] * 3
    assert ids(more[:3]) == ids(one)
    shown = [(row["model"], row["seeds"]) for row in results_table(more).records()]
    assert shown == [("memn2n (dim=4,epochs=1)", 2)] * 3 + [("rules", 1)] * 3


def test_a_cell_is_a_run_with_tables(data: Path, tmp_path: Path) -> None:
    cell = table(data, tmp_path, "memn2n", options={"epochs": "2", "dim": "4"})[1]
    run = Store(tmp_path).open(cell.id)
    assert_run_contract(run)
    assert run.kind == "responses"
    assert run.manifest.config["options"] == "dim=4,epochs=2"
    assert [one.role for one in run.manifest.inputs] == ["dialogues"] * 4 + ["candidates", "facts"]
    assert run.table("epochs")["epoch"].to_list() == [1, 2]
    replies = run.table("replies")
    assert replies.height == run.coverage["replies"].scored
    assert replies["correct"].mean() == pytest.approx(run.scores["per-response"].value)
    assert set(run.details) == {"by_class", "top_ties", "unanswered"}
    turns = run.table("turns").filter(run.table("turns")["speaker"] == "system")
    assert replies.select("dialogue", "turn", text="gold").equals(turns.select("dialogue", "turn", "text"))
    assert set(run.table("dialogue_scores")["measure"]) == {
        "per-response",
        "per-dialog",
        "hits@2",
        "hits@5",
        "hits@10",
        "MRR",
    }
    keys = [
        "model",
        "options",
        "task",
        "split",
        "seed",
        "data",
        "fitted",
        "code",
        "candidates",
        "history",
        "ties",
        "dialogues",
        "replies",
        "interval",
        "version",
    ]
    assert [part.partition(":")[0] for part in run.signature.split("|")] == keys
    assert "model:memn2n|options:dim=4,epochs=2|task:1|split:tst" in run.signature
    shared = run.signature.replace("|interval:0.95-studentised-1000-0", "")
    assert run.scores["hits@5"].signature == f"measure:hits@5|{shared}"


def test_runs_in_memory_are_what_is_stored(data: Path, tmp_path: Path) -> None:
    task = load_task(data, 1)
    for name, made in (("rules", evaluation_run), ("memn2n", evaluation_run), ("memn2n", None), ("nearest", None)):
        model = ranker_class(name)(1)
        model.options = {"epochs": "2", "dim": "4"} if name == "memn2n" else {}
        fit_model(model, task)
        key = CellKey.of(model, task, "tst")
        run = made(key, model, task) if made else training_run(model, task)
        assert run.kind == ("responses" if made else "training")
        assert ("epochs" in run.tables) == (name == "memn2n")
        assert_run_contract(run)
        stored = Store(tmp_path).add(run)
        assert_run_contract(stored)
        assert stored.scores == run.scores
        for table in run.tables:
            assert stored.table(table).equals(run.table(table)), table


def test_cells_of_an_older_evaluation_are_not_used(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table(data, tmp_path, "rules")
    assert len(stored_cells(Store(tmp_path))) == 3
    monkeypatch.setattr("dialgauge.responses.cells.EVALUATION_VERSION", 1_000)
    assert stored_cells(Store(tmp_path)) == {}


def test_a_damaged_cell_counts_as_not_kept(data: Path, tmp_path: Path) -> None:
    sound = table(data, tmp_path, "rules")[0]
    evaluation = {"evaluation": sound.manifest.config["evaluation"]}
    Store(tmp_path).add(new_run(kind="responses", name="odd", config=evaluation, seeds=0, details={"by_class": {}}))
    assert len(stored_cells(Store(tmp_path))) == 3


def test_keys_name_everything_that_matters(data: Path) -> None:
    task = load_task(data, 1)
    ranker = ranker_class("rules")(0)
    key = CellKey.planned(ranker, task, "tst")
    assert key.config() == {
        "model": "rules",
        "task": 1,
        "split": "tst",
        "seed": 0,
        "data": task.digest("tst"),
        "options": "",
        "fitted": task.training_digest(),
        "code": code_of(ranker),
        "released": False,
        "evaluation": 4,
    }


def test_an_edit_of_our_own_code_computes_a_cell_again(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, store = tmp_path / "dialgauge", tmp_path / "runs"
    shutil.copytree(source._PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    own = ids(table(data, store, "nearest"))
    with monkeypatch.context() as patched:
        patched.setattr(source, "_PACKAGE", copy)
        source.own_source.cache_clear()
        assert ids(table(data, store, "nearest")) == own  # another place, the same code
        for room, edited in (("rankers", "nearest.py"), ("responses", "evaluation.py"), ("agents", "rules.py")):
            with (copy / room / edited).open("a") as file:
                file.write("# better\n")
            source.own_source.cache_clear()
            again = ids(table(data, store, "nearest"))
            assert set(again).isdisjoint(own)
            assert ids(table(data, store, "nearest")) == again
    source.own_source.cache_clear()
    assert ids(table(data, store, "nearest")) == own


def test_no_number_of_the_paper_stands_beside_other_data(data: Path, tmp_path: Path) -> None:
    found = table(data, tmp_path, "rules", "nearest")
    shown = results_table(found)
    rows = {(row["model"], row["split"]): row for row in shown.records()}
    assert rows["rules", "tst"]["per-response"] == 1.0
    assert not any("paper" in column or column == "difference" for row in shown.records() for column in row)
    assert "on other dialogues than the released ones" in shown.notes[-1]
    statistics = statistics_table([load_task(data, 1)])
    assert not any("paper" in column for column in statistics.records()[0])
    classes = class_table(found).records()
    assert classes[0]["api 1"] == 1.0


@pytest.mark.soak
def test_results_beside_the_papers(shared_data: Path, tmp_path: Path) -> None:
    released = table(shared_data / "babi", tmp_path / "runs", "nearest")
    other = table(tiny_release(tmp_path / "tiny"), tmp_path / "runs", "nearest")
    rows = results_table([*released, *other]).records()
    theirs = {row["split"]: row for row in rows[:3]}
    assert theirs["tst"]["paper"] == 0.551
    assert theirs["tst-OOV"]["difference"] == pytest.approx(theirs["tst-OOV"]["per-response"] - 0.441)
    assert [row["paper"] for row in (theirs["dev"], *rows[3:])] == [None] * 4
    assert statistics_table([load_task(shared_data / "babi", 1)]).records()[0]["utterances (paper)"] == 12


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


def test_a_model_fitted_on_other_dialogs_never_fills_the_table(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small, folder, store = tiny_release(tmp_path / "small", dialogs=2), tmp_path / "model", tmp_path / "runs"
    assert dialgauge(capsys, "babi", "train", "--data", small, "--model", "nearest", "--out", folder).code == 0
    evaluate = ("babi", "evaluate", "--data", data, "--load", folder, "--store", store)
    assert dialgauge(capsys, *evaluate).code == 0
    loaded = [Store(store).open(name) for name in runs(store)]
    right = table(data, store, "nearest")
    assert set(ids(right)).isdisjoint(ids(loaded))
    assert {CellKey.of_run(cell).fitted for cell in right}.isdisjoint(CellKey.of_run(cell).fitted for cell in loaded)
    assert list(map(numbers, right)) == list(map(numbers, table(data, tmp_path / "other", "nearest")))


def test_a_model_fitted_on_the_same_dialogs_is_the_tables_own(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate = ("babi", "evaluate", "--data", data, "--store", tmp_path)
    assert dialgauge(capsys, *evaluate, "--model", "nearest", "--save", tmp_path / "model").code == 0
    assert dialgauge(capsys, *evaluate, "--load", tmp_path / "model").code == 0
    again = runs(tmp_path)
    assert set(ids(table(data, tmp_path, "nearest"))) <= set(again)
    assert runs(tmp_path) == again


def test_a_model_that_does_not_say_what_it_was_fitted_on_is_nobodys_cell(data: Path, tmp_path: Path) -> None:
    task, model = load_task(data, 1), ranker_class("nearest")(0)
    fit_model(model, task)
    save_ranker(model, tmp_path, 1)
    manifest = json.loads((tmp_path / "ranker.json").read_text())
    del manifest["provenance"]
    (tmp_path / "ranker.json").write_text(json.dumps(manifest))
    key = CellKey.of(load_ranker(tmp_path), task, "tst")
    assert key.fitted.startswith("unknown-")
    assert key != CellKey.planned(model, task, "tst") == CellKey.of(model, task, "tst")
    model.fit(task)
    model.provenance = None
    assert CellKey.of(model, task, "tst").fitted == "unknown"


def test_another_deal_of_the_same_logs_is_another_cell(tmp_path: Path) -> None:
    lines = [
        {"dialogue": str(number), "speaker": speaker, "text": f"{speaker} {number}"}
        for number in range(20)
        for speaker in ("user", "operator")
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    keys = [CellKey.planned(ranker_class("tfidf")(0), log_task(path, seed=seed), "tst") for seed in (0, 0, 1)]
    assert keys[0] == keys[1]
    assert keys[1].data != keys[2].data
    assert keys[1].fitted != keys[2].fitted


def test_a_file_that_an_option_names_is_part_of_the_key(data: Path, tmp_path: Path) -> None:
    world, task, keys = tmp_path / "world.yaml", load_task(data, 1), []
    for title in ("one", "two"):
        world.write_text(f"base: restaurant\ntitle: {title}\n")
        model = ranker_class("rules")(0)
        model.options = {"world": str(world)}
        keys.append(CellKey.planned(model, task, "tst"))
    assert keys[0] != keys[1]


def test_an_unknown_setting_stops_before_any_work(data: Path, tmp_path: Path) -> None:
    with pytest.raises(DialgaugeError, match="no setting 'depth'"):
        jobs_of(data, ["memn2n"], [1], SPLITS, 1, tmp_path, options={"depth": "3"})
