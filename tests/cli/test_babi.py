"""``dialgauge babi``, as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dialgauge.formats import load_candidates
from dialgauge.runs import Store
from runs.contract import assert_run_contract
from support.commands import Outcome, dialgauge

Capture = pytest.CaptureFixture[str]


def test_simulate_writes_the_official_files(tmp_path: Path, capsys: Capture) -> None:
    report = tmp_path / "report.json"
    options = ("--seed", 3, "--tasks", "1-2,5", "--dialogues", 4, "--to", "both", "--json", report)
    outcome = dialgauge(capsys, "babi", "simulate", "--out", tmp_path / "a", *options)
    assert outcome.code == 0
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert len(names) == 3 + 2 * 3 * 4
    assert {"dialog-babi-candidates.txt", "dialog-babi-kb-all.txt", "dialog-babi-task1-API-calls-trn.txt"} <= set(names)
    assert len(json.loads(report.read_text())["page"]["tables"]["files"]["rows"]) == 24
    dialgauge(capsys, "babi", "simulate", "--out", tmp_path / "b", *options)
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def simulated(capsys: Capture, folder: Path, *options: object) -> Outcome:
    return dialgauge(capsys, "babi", "simulate", "--out", folder, "--dialogues", 2, "--splits", "trn", *options)


def test_two_worlds_never_mix_in_one_folder(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "world"
    assert simulated(capsys, folder, "--tasks", 1).code == 0
    assert simulated(capsys, folder, "--tasks", "1,2").code == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for other in (("--seed", 1), ("--world", "bakery")):
        refused = simulated(capsys, folder, "--tasks", 2, *other)
        assert refused.code == 2
        assert (
            "the folder holds another simulation (the restaurant world of the dialog bAbI tasks, seed 0)" in refused.err
        )
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    (folder / "notes.txt").write_text("mine")
    assert simulated(capsys, folder, "--tasks", 2, "--world", "bakery", "--force").code == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "dialog-babi-candidates.txt",
        "dialog-babi-kb-all.txt",
        "dialog-babi-task2-API-refine-trn.txt",
        "notes.txt",
        "simulation.json",
    ]


def test_files_that_no_simulation_wrote_are_never_replaced(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "dialog-babi-task5-full-dialogs-tst.txt.gz").write_bytes(b"released")
    refused = simulated(capsys, tmp_path, "--tasks", 1, "--force")
    assert refused.code == 2
    assert (
        "the folder has dialog files that no simulation wrote (dialog-babi-task5-full-dialogs-tst.txt.gz)"
        in refused.err
    )
    assert [path.name for path in tmp_path.iterdir()] == ["dialog-babi-task5-full-dialogs-tst.txt.gz"]
    other = tmp_path / "other"
    other.mkdir()
    (other / "simulation.json").write_text('{"title": "x", "seed": 0, "world": "y", "files": ["../mine.txt"]}')
    (tmp_path / "mine.txt").write_text("mine")
    refused = simulated(capsys, other, "--tasks", 1, "--force")
    assert (refused.code, (tmp_path / "mine.txt").read_text()) == (2, "mine")


def test_simulate_in_a_world_of_ones_own(tmp_path: Path, capsys: Capture) -> None:
    world = tmp_path / "mine.yaml"
    world.write_text("base: restaurant\ntitle: my town\nprices: [low, high]\n")
    outcome = dialgauge(
        capsys,
        "babi",
        "simulate",
        "--out",
        tmp_path / "out",
        "--world",
        world,
        "--dialogues",
        2,
        "--splits",
        "trn,tst-OOV",
    )
    assert outcome.code == 0
    assert len(load_candidates(tmp_path / "out" / "dialog-babi-candidates.txt")) == 12 + 400 + 3 * 800


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--tasks", "0-3"), "--tasks expects numbers from 1 to 5"),
        (("--tasks", "3-1"), "--tasks expects numbers from 1 to 5"),
        (("--splits", "train"), "there is no split 'train'"),
        (("--world", "restaurnt"), "Did you mean 'restaurant'"),
        (("--dialogues", "0"), "--dialogues"),
    ],
)
def test_simulate_refuses(tmp_path: Path, capsys: Capture, options: tuple[str, ...], said: str) -> None:
    outcome = dialgauge(capsys, "babi", "simulate", "--out", tmp_path / "out", *options)
    assert outcome.code == 2
    assert said in outcome.err and "Traceback" not in outcome.err
    assert outcome.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_split_named_twice_is_written_once(tmp_path: Path, capsys: Capture) -> None:
    outcome = dialgauge(
        capsys, "babi", "simulate", "--out", tmp_path, "--tasks", "1", "--splits", "trn, dev,trn", "--dialogues", "1"
    )
    assert outcome.code == 0, outcome.err
    assert outcome.out.count("-trn.txt") == outcome.out.count("-dev.txt") == 1


def write_calls(folder: Path) -> None:
    call = folder / "calls" / "voip-1"
    call.mkdir(parents=True)
    values = {"food": ["modern european"], "pricerange": ["cheap"], "name": ["cote"]}
    (folder / "ontology.json").write_text(json.dumps({"informable": values}))
    said = [("Hello", []), ("cote is nice", [{"act": "offer", "slots": [["name", "cote"]]}])]
    heard = [("a cheap place", {"pricerange": "cheap"}), ("bye", {"pricerange": "cheap"})]
    log = [{"turn-index": n, "output": {"transcript": t, "dialog-acts": acts}} for n, (t, acts) in enumerate(said)]
    label = [{"turn-index": n, "transcription": t, "goal-labels": goals} for n, (t, goals) in enumerate(heard)]
    (call / "log.json").write_text(json.dumps({"session-id": "voip-1", "turns": log}))
    (call / "label.json").write_text(json.dumps({"session-id": "voip-1", "turns": label}))


def test_convert_dstc2(tmp_path: Path, capsys: Capture) -> None:
    write_calls(tmp_path)
    kb = tmp_path / "kb.txt"
    kb.write_text("1 cote R_price cheap\n1 cote R_phone cote_phone\n1 other R_price expensive\n")
    target = tmp_path / "out.txt"
    outcome = dialgauge(capsys, "babi", "convert", tmp_path, "--out", target, "--kb", kb)
    assert outcome.code == 0
    assert outcome.out.splitlines()[3].split() == ["1", "1", "4"]
    assert target.read_text() == (
        "1 <SILENCE>\tHello\n"
        "2 a cheap place\tapi_call R_cuisine R_location cheap\n"
        "3 cote R_price cheap\n"
        "4 cote R_phone cote_phone\n"
        "5 cote R_rating 10\n"
        "6 <SILENCE>\tcote is nice\n"
        "7 bye\t you are welcome\n\n"
    )


def test_convert_dstc2_without_calls(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "ontology.json").write_text('{"informable": {}}')
    outcome = dialgauge(capsys, "babi", "convert", tmp_path, "--out", tmp_path / "out.txt")
    assert outcome.code == 2 and "there is no log.json below this folder" in outcome.err


# Training and evaluation


QUICK = ("--set", "epochs=2", "--set", "dim=8")


def refused(outcome: Outcome, sentence: str) -> None:
    assert outcome.code == 2
    assert sentence in outcome.err
    assert "Traceback" not in outcome.err


def scores(path: Path) -> list[dict[str, float]]:
    """The values of the runs of a document."""
    runs = json.loads(path.read_text())["runs"]
    return [{name: score["value"] for name, score in run["scores"].items()} for run in runs]


@pytest.mark.usefixtures("own_store")
def test_a_model_is_trained_saved_and_loaded(capsys: Capture, data: Path, tmp_path: Path) -> None:
    folder, out = tmp_path / "m", tmp_path / "out.json"
    train = ("babi", "train", "--data", data, "--out", folder, *QUICK)
    assert dialgauge(capsys, *train).code == 0
    assert {path.name for path in folder.iterdir()} == {"arrays.npz", "ranker.json"}
    [run] = [Store().open(one.id) for one in Store().list()]
    assert_run_contract(run)
    assert (run.kind, run.table("epochs")["epoch"].to_list()) == ("training", [1, 2])
    assert run.scores["per-response"].value == max(run.table("epochs")["dev"])
    refused(dialgauge(capsys, *train), "replace it with --force")
    assert dialgauge(capsys, *train, "--force", "--seed", 1).code == 0
    load = ("babi", "evaluate", "--data", data, "--load", folder, "--split", "tst", "--attention", 1, "--json", out)
    assert dialgauge(capsys, *load).code == 0
    shown = dialgauge(capsys, "show", "memn2n-task1-tst", "--dialogue", "task1-tst-0001")
    assert "hop 1" in shown.out
    refused(dialgauge(capsys, *load, "--task", 2), "evaluate --transfer")
    refused(dialgauge(capsys, *load, "--set", "dim=3"), "already trained")
    refused(dialgauge(capsys, *load, "--model", "rules"), "the folder holds the model memn2n")
    refused(dialgauge(capsys, "babi", "evaluate", "--data", data, "--load", tmp_path), "it holds no model")
    assert dialgauge(capsys, *load[:4], "--task", 2, "--transfer", *load[4:], "--attention", 0).code == 0


@pytest.mark.usefixtures("own_store")
def test_an_interrupted_training_is_resumed(
    capsys: Capture, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def train(folder: str) -> Outcome:
        return dialgauge(capsys, "babi", "train", "--data", data, "--out", tmp_path / folder, *QUICK)

    assert train("whole").code == 0
    with monkeypatch.context() as killed:
        killed.setattr("dialgauge.cli.babi.rankers.save_ranker", lambda *rest: 1 / 0, raising=False)
        with pytest.raises(ZeroDivisionError):
            train("cut")
    assert "resumed after epoch 2" in train("cut").err
    arrays = [np.load(tmp_path / name / "arrays.npz") for name in ("whole", "cut")]
    assert all((arrays[0][name] == arrays[1][name]).all() for name in arrays[0].files)


@pytest.mark.usefixtures("own_store")
def test_evaluate_prints_and_stores(capsys: Capture, data: Path, tmp_path: Path) -> None:
    outcome = dialgauge(capsys, "babi", "evaluate", "--data", data, "--json", tmp_path / "out.json")
    assert outcome.code == 0, outcome.err
    assert {(each["per-response"], each["per-dialog"]) for each in scores(tmp_path / "out.json")} == {(1.0, 1.0)}
    assert [one.config["split"] for one in Store().list()] == ["dev", "tst", "tst-OOV"]
    alone = dialgauge(capsys, "babi", "evaluate", "--data", data, "--model", "nearest", "--split", "tst")
    assert "of the replies right" in alone.out


@pytest.mark.usefixtures("own_store")
def test_a_model_goes_to_other_worlds_and_into_conversation(capsys: Capture, data: Path, tmp_path: Path) -> None:
    folder, out = tmp_path / "model", tmp_path / "out.json"
    assert dialgauge(capsys, "babi", "train", "--data", data, "--model", "nearest", "--out", folder).code == 0
    world = tmp_path / "harbour.yaml"
    world.write_text("base: restaurant\ntitle: a harbour\n")
    load = ("babi", "evaluate", "--load", folder, "--dialogues", 3, "--json", out)
    assert dialgauge(capsys, *load, "--world", world, "--split", "tst").code == 0
    assert len(scores(out)) == 1
    assert dialgauge(capsys, *load, "--world", world, "--live").code == 0
    assert [each["completed"] for each in scores(out)] == [0.0, 0.0]
    talk = dialgauge(capsys, "babi", "evaluate", "--live", "--task", 5, "--dialogues", 3, "--json", out)
    assert talk.code == 0, talk.err
    assert [(each["completed"], each["per-dialog"]) for each in scores(out)] == [(1.0, 1.0)] * 2
    fitted = ("babi", "evaluate", "--data", data, "--model", "tfidf", "--task", 1, "--live", "--dialogues", 2)
    assert dialgauge(capsys, *fitted, "--json", out).code == 0
    assert {one.kind for one in Store().list()} == {"training", "responses", "interaction"}


MAPPING = "reads: conversations\ndialogue: dialogue\nrole: speaker\ncontent: text\nroles: {operator: assistant}\n"


@pytest.mark.usefixtures("own_store")
def test_chat_logs(capsys: Capture, tmp_path: Path) -> None:
    logs, replies = tmp_path / "logs.jsonl", ("a table", "yes", "no")
    (tmp_path / "logs.jsonl.map.yaml").write_text(MAPPING)
    lines = [
        json.dumps({"dialogue": str(number), "speaker": who, "text": f"{who} {replies[number % 3]}"})
        for number in range(30)
        for who in ("user", "operator")
    ]
    logs.write_text("\n".join(lines))
    call = ("babi", "evaluate", "--logs", logs, "--model", "nearest", "--split", "tst", "--json", tmp_path / "o.json")
    assert dialgauge(capsys, *call).code == 0
    assert [each["per-response"] for each in scores(tmp_path / "o.json")] == [1.0]
    refused(dialgauge(capsys, *call, "--task", 1), "chat logs have no tasks; leave out --task")


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (("--url", "http://127.0.0.1:9/", "--set", "dim=8"), "--url names the bot; leave out --set"),
        (("--task", "3"), "no dialog files of task 3"),
        (("--logs", "x.jsonl"), "leave out --logs"),
        (("--model", "memn2n", "--set", "epochs=none"), "wrong kind of value"),
        (("--model", "memn2n", "--preset", "mine"), "'--preset': 'mine'"),
        (("--model", "tfidf", "--device", "cuda"), "there is no setting 'device' of tfidf"),
        (("--model", "memn2n", "--device", "abacus"), "there is no device 'abacus'"),
        (("--model", "memn3n"), "Did you mean 'memn2n'"),
        (("--model", "tfidf", "--transfer"), "give --load FOLDER"),
        (("--model", "tfidf", "--attention", "1"), "no attention"),
        (("--world", "bakery"), "leave out --data"),
        (("--live", "--split", "tst"), "leave out --split"),
        (("--live", "--task", "6"), "task 6 and chat logs have none"),
    ],
)
def test_mistakes_are_sentences(capsys: Capture, data: Path, extra: tuple[str, ...], sentence: str) -> None:
    refused(dialgauge(capsys, "babi", "evaluate", "--data", data, *extra), sentence)


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (("--tasks", "one"), "--tasks expects numbers from 1 to 6, for example 1-6 or 1,3 (got 'one')"),
        (("--splits", "tst,all"), "unknown split 'all'"),
        (("--models", "tfdif"), "Did you mean 'tfidf'"),
    ],
)
def test_mistakes_in_a_table(capsys: Capture, data: Path, extra: tuple[str, ...], sentence: str) -> None:
    refused(dialgauge(capsys, "babi", "table", "--data", data, *extra), sentence)
