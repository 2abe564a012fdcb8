"""``dialgauge babi train | attention`` on a small simulated world."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.runs import Store
from runs.contract import assert_run_contract
from support.commands import dialgauge
from support.tiny_world import tiny_release

pytestmark = pytest.mark.usefixtures("own_store")
QUICK = ("--set", "epochs=2", "--set", "dim=8")


def test_train_keeps_model_checkpoint_and_log(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    call = ("babi", "train", "--data", data, "--out", tmp_path / "m", *QUICK, "--json", tmp_path / "t.json")
    outcome = dialgauge(capsys, *call)
    assert outcome.code == 0, outcome.err
    assert {path.name for path in (tmp_path / "m").iterdir()} == {"arrays.npz", "checkpoint.npz", "ranker.json"}
    (report,) = json.loads((tmp_path / "t.json").read_text())["systems"]
    assert [epoch["epoch"] for epoch in report["epochs"]] == [1, 2]
    run = Store().open(report["run"])
    assert run.manifest.kind == "training"
    assert_run_contract(run)
    assert run.scores["per-response"].value == max(epoch["dev"] for epoch in report["epochs"])
    assert report["scores"]["per-response"]["signature"] == run.scores["per-response"].signature
    assert run.table("epochs").columns == ["epoch", "loss", "dev", "seconds"]
    assert "Training of memn2n on task 1" in outcome.out
    before = (tmp_path / "m" / "arrays.npz").read_bytes()
    again = dialgauge(capsys, *call)
    assert "resumed after epoch 2" in again.err
    assert (tmp_path / "m" / "arrays.npz").read_bytes() == before
    assert again.code == 0, again.err


@pytest.fixture
def learned(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> Path:
    """The folder of a memory network of task 1 with seed 0."""
    assert dialgauge(capsys, "babi", "train", "--data", data, "--out", tmp_path / "m", *QUICK).code == 0
    return tmp_path / "m"


def test_a_finished_model_is_replaced_only_when_asked_to(
    capsys: pytest.CaptureFixture[str], data: Path, learned: Path, tmp_path: Path
) -> None:
    call = ("babi", "train", "--out", learned, *QUICK, "--data")
    before = contents(learned)
    for changed in ((data, "--set", "hops=2"), (tiny_release(tmp_path / "other", dialogs=5),)):
        outcome = dialgauge(capsys, *call, *changed)
        assert outcome.code == 2
        assert "a finished model is already there (memn2n on task 1, seed 0)" in outcome.err
        assert contents(learned) == before
    assert dialgauge(capsys, *call, data, "--set", "hops=2", "--force").code == 0
    assert json.loads((learned / "ranker.json").read_text())["options"]["hops"] == "2"
    saved = dialgauge(capsys, "babi", "evaluate", "--data", data, "--load", learned, "--save", learned)
    assert (saved.code, "a loaded model is finished; leave out --save" in saved.err) == (2, True)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("kept", [("ranker.json", "arrays.npz", "checkpoint.npz"), ("checkpoint.npz",)])
@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (("--seed", "1", *QUICK), "memn2n on task 1, seed 1"),
        (("--task", "2", *QUICK), "memn2n on task 2, seed 0"),
        (("--model", "embeddings", "--set", "epochs=2"), "embeddings on task 1, seed 0"),
        (("--model", "nearest"), "nearest on task 1, seed 0"),
    ],
)
def test_another_training_is_not_written_over(
    capsys: pytest.CaptureFixture[str],
    data: Path,
    learned: Path,
    kept: tuple[str, ...],
    asked: tuple[str, ...],
    named: str,
) -> None:
    for path in learned.iterdir():
        if path.name not in kept:
            path.unlink()
    before, runs = contents(learned), len(Store().list())
    outcome = dialgauge(capsys, "babi", "train", "--data", data, "--out", learned, *asked)
    assert outcome.code == 2
    assert f"of another training is already there (memn2n on task 1, seed 0, not {named})" in outcome.err
    assert "choose another folder, or delete this one" in outcome.err
    assert (contents(learned), len(Store().list())) == (before, runs)


@pytest.mark.parametrize(
    ("option", "sentence"),
    [("--out", "nothing can be written there"), ("--store", "the run store cannot be written")],
)
def test_a_place_that_cannot_be_written_is_told_of_before_the_training(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path, option: str, sentence: str
) -> None:
    (tmp_path / "file").write_text("in the way")
    places = {"--out": tmp_path / "m", "--store": tmp_path / "runs"} | {option: tmp_path / "file" / "below"}
    given = [item for pair in places.items() for item in pair]
    outcome = dialgauge(capsys, "babi", "train", "--data", data, *QUICK, *given)
    assert outcome.code == 2
    assert sentence in outcome.err
    assert "epoch 1" not in outcome.err
    assert not (tmp_path / "m").exists()


def test_models_without_epochs_are_trained_too(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    outcome = dialgauge(capsys, "babi", "train", "--data", data, "--model", "nearest", "--out", tmp_path / "m")
    assert outcome.code == 0, outcome.err
    assert "fitted without epochs" in outcome.out


def test_attention_as_table_figure_run_and_json(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    dialgauge(capsys, "babi", "train", "--data", data, "--out", tmp_path / "m", *QUICK)
    outcome = dialgauge(
        capsys, "babi", "attention", "--data", data, "--load", tmp_path / "m", "--dialogue", 2, "--turn", 3,
        "--figures", tmp_path / "maps", "--json", tmp_path / "a.json", "--run",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    assert "Attention in task1-tst-0002, reply 3" in outcome.out
    assert "hop 1" in outcome.out
    assert (tmp_path / "maps" / "attention3.svg").read_text().startswith("<svg")
    few = dialgauge(
        capsys, "babi", "attention", "--data", data, "--load", tmp_path / "m", "--dialogue", 2, "--turn", 3,
        "--limit", 1, "--table", tmp_path / "all.csv",
    )  # fmt: skip
    assert few.code == 0 and len(few.out.splitlines()) < len(outcome.out.splitlines())
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 1 + 4, "files have all rows"
    (system,) = json.loads((tmp_path / "a.json").read_text())["systems"]
    (seen,) = system["attention"]
    assert seen["turn"] == 3
    assert len(seen["hops"][0]) == len(seen["memories"]) == 4
    manifest = Store().list()[-1]
    assert manifest.kind == "attention"
    assert_run_contract(Store().open(manifest.id))
    assert Store().open(manifest.id).table("attention").height == 4


def test_an_evaluation_keeps_attention_where_it_is_asked_for(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    dialgauge(capsys, "babi", "train", "--data", data, "--out", tmp_path / "m", *QUICK)
    asked = ("babi", "evaluate", "--data", data, "--split", "tst", "--attention", 2)
    outcome = dialgauge(capsys, *asked, "--load", tmp_path / "m")
    assert outcome.code == 0, outcome.err
    kept = Store().open(Store().list()[-1].id)
    assert set(kept.table("attention")["dialogue"]) == {"task1-tst-0001", "task1-tst-0002"}
    before = len(Store().list())
    for bot in ("tfidf", "rules"):
        refused = dialgauge(capsys, *asked, "--model", bot)
        assert refused.code == 2
        assert f"the model {bot} has no attention to show; memory networks have" in refused.err
    assert len(Store().list()) == before


def test_attention_in_chat_logs(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    logs = tmp_path / "logs.jsonl"
    (tmp_path / "logs.jsonl.map.yaml").write_text(
        "reads: conversations\ndialogue: dialogue\nrole: speaker\ncontent: text\nroles: {system: assistant}\n"
    )
    said = [("user", "hi"), ("system", "hello"), ("user", "a table please"), ("system", "for when")]
    logs.write_text(
        "".join(
            json.dumps({"dialogue": f"d{number}", "speaker": speaker, "text": text}) + "\n"
            for number in range(10)
            for speaker, text in said
        )
    )
    trained = dialgauge(capsys, "babi", "train", "--logs", logs, "--out", tmp_path / "m", *QUICK)
    assert trained.code == 0, trained.err
    assert "Training of memn2n on chat logs, seed 0" in trained.out
    shown = dialgauge(capsys, "babi", "attention", "--logs", logs, "--load", tmp_path / "m", "--turn", 2)
    assert shown.code == 0, shown.err
    assert "user says: a table please" in shown.out
    unknown = dialgauge(capsys, "babi", "attention", "--logs", logs, "--load", tmp_path / "m", "--split", "tst-OOV")
    assert "there is no split 'tst-OOV' in chat logs; found: trn, dev, tst" in unknown.err
    wrong = dialgauge(capsys, "babi", "attention", "--data", data, "--load", tmp_path / "m")
    assert wrong.code == 2
    assert "the model was trained on chat logs; give them with --logs FILE" in wrong.err


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (("--dialogue", "99"), "has 12 dialogues, so no dialogue 99"),
        (("--turn", "99"), "so no reply 99"),
        (("--split", "tast"), "'--split': 'tast'"),
    ],
)
def test_attention_mistakes(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path, extra: tuple[str, ...], sentence: str
) -> None:
    dialgauge(capsys, "babi", "train", "--data", data, "--out", tmp_path / "m", *QUICK)
    before = len(Store().list())
    outcome = dialgauge(capsys, "babi", "attention", "--data", data, "--load", tmp_path / "m", *extra)
    assert outcome.code == 2
    assert sentence in outcome.err
    assert len(Store().list()) == before


def test_attention_shows_the_best_answers_too(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    dialgauge(capsys, "babi", "train", "--data", data, "--out", tmp_path / "m", *QUICK)
    call = ("babi", "attention", "--data", data, "--load", tmp_path / "m", "--turn", 3)
    outcome = dialgauge(capsys, *call, "--answers", 2)
    assert outcome.code == 0, outcome.err
    _, answers = outcome.out.split("Answers in task1-tst-0001, reply 3")
    assert len([line for line in answers.splitlines() if line.endswith((" yes", " no"))]) in (2, 3)
    assert answers.count(" yes") == 1, "the right answer is among them, or stands below"
    assert "Answers in" not in dialgauge(capsys, *call).out
