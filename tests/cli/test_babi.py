"""``dialgauge babi`` from end to end, and talking to a bot."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from dialgauge.runs import Store
from runs.contract import assert_run_contract
from support.commands import Outcome, dialgauge
from support.soak import soak
from support.tiny_world import tiny_release

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


def test_files_that_no_simulation_wrote_are_never_replaced(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "dialog-babi-task5-full-dialogs-tst.txt.gz").write_bytes(b"released")
    refused = simulated(capsys, tmp_path, "--tasks", 1)
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
    refused = simulated(capsys, other, "--tasks", 1)
    assert (refused.code, (tmp_path / "mine.txt").read_text()) == (2, "mine")


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
    refused(dialgauge(capsys, *train), "a finished model is already there")
    load = ("babi", "evaluate", "--data", data, "--model", folder, "--split", "tst", "--attention", 1, "--json", out)
    assert dialgauge(capsys, *load).code == 0
    shown = dialgauge(capsys, "show", "memn2n-task1-tst", "--dialogue", "task1-tst-0001")
    assert "hop 1" in shown.out
    refused(dialgauge(capsys, *load, "--task", 2), "evaluate --transfer")
    refused(dialgauge(capsys, *load, "--set", "dim=3"), "already trained")
    refused(dialgauge(capsys, "babi", "evaluate", "--data", data, "--model", tmp_path), "it holds no model")
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


NOT_UNDERSTOOD = "sorry i did not understand that could you say it in other words"


@pytest.fixture(scope="module")
def task_5(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_release(tmp_path_factory.mktemp("data"), (5,))


def talk(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, task_5: Path, *said: str) -> Outcome:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(said) + "\n"))
    return dialgauge(capsys, "babi", "chat", "--task", 5, "--data", task_5)


def test_a_whole_booking(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, task_5: Path) -> None:
    outcome = talk(
        capsys,
        monkeypatch,
        task_5,
        "hi",
        "can you book a table in paris with french cuisine for two people in a cheap price range",
        "",
        "",
        "no thanks",
        "exit",
    )
    assert outcome.code == 0, outcome.err
    bot = [line.split("bot> ")[1] for line in outcome.out.splitlines() if "bot> " in line]
    assert bot[0] == "hello what can i help you with today"
    assert bot[1] == "i'm on it"
    assert "api_call french paris two cheap" in bot
    assert " found: resto_paris_cheap_french_" in outcome.out


@pytest.mark.parametrize("model", [soak("memn2n"), soak("typed"), "nearest", soak("tfidf")])
def test_a_model_that_understands_nothing_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, task_5: Path, tmp_path: Path, model: str
) -> None:
    folder = tmp_path / "model"
    quick = () if model in ("nearest", "tfidf") else ("--set", "epochs=4", "--set", "device=cpu")
    train = ("babi", "train", "--data", task_5, "--task", 5, "--model", model, "--out", folder, *quick)
    assert dialgauge(capsys, *train, "--store", tmp_path / "runs").code == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("Xyzzy!\nHello.\nxyzzy plugh\nexit\n"))
    outcome = dialgauge(capsys, "babi", "chat", "--task", 5, "--data", task_5, "--model", folder)
    assert outcome.code == 0, outcome.err
    bot = [line.split("bot> ")[1] for line in outcome.out.splitlines() if "bot> " in line]
    assert [one == NOT_UNDERSTOOD for one in bot] == [True, False, True]
    assert not any(one.startswith("api_call") for one in (bot[0], bot[2]))


def test_a_closed_keyboard_is_told_of(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, task_5: Path
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    outcome = dialgauge(capsys, "babi", "chat", "--task", 5, "--data", task_5)
    assert (outcome.code, "standard input is closed" in outcome.err) == (2, True)
