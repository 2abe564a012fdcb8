"""``dialgauge babi evaluate | table``, end to end on a small simulated world."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.rankers import fresh_model, load_ranker, load_task
from dialgauge.responses import evaluate_bot
from dialgauge.runs import Store
from support.commands import Outcome, dialgauge
from support.tiny_world import tiny_release

pytestmark = pytest.mark.usefixtures("own_store")


def cells_of(path: Path) -> list[dict[str, Any]]:
    systems: list[dict[str, Any]] = json.loads(path.read_text())["systems"]
    return systems


def value(cell: dict[str, Any], measure: str) -> float | None:
    """The value of a measure in a cell."""
    score: dict[str, Any] = cell["scores"][measure]
    assert {"value", "low", "high", "signature"} <= set(score)
    number: float | None = score["value"]
    return number


def refused(outcome: Outcome, sentence: str) -> None:
    assert outcome.code == 2
    assert sentence in outcome.err
    assert "Traceback" not in outcome.err


def test_a_model_that_lacks_its_package_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    for name in [name for name in sys.modules if name.startswith("dialgauge.rankers.neural.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    evaluated = dialgauge(capsys, "babi", "evaluate", "--data", data, "--model", "memn2n")
    refused(evaluated, "needs the package torch; install it with: pip install 'dialgauge[neural]'")


def test_chat_logs_are_dealt_by_the_seed_of_the_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    logs = tmp_path / "logs.jsonl"
    (tmp_path / "logs.jsonl.map.yaml").write_text(
        "reads: conversations\ndialogue: dialogue\nrole: speaker\ncontent: text\n"
        "roles: {guest: user, operator: assistant}\n"
    )
    logs.write_text(
        "".join(
            json.dumps({"dialogue": str(number), "speaker": speaker, "text": f"{speaker} {number}"}) + "\n"
            for number in range(20)
            for speaker in ("guest", "operator")
        )
    )
    quick = ("--model", "memn2n", "--set", "epochs=1", "--set", "dim=4", "--split", "tst")

    def tested(*more: object) -> list[set[str]]:
        """The dialogues of each cell."""
        written = tmp_path / "out.json"
        outcome = dialgauge(capsys, "babi", "evaluate", "--logs", logs, *more, "--json", written)
        assert outcome.code == 0, outcome.err
        runs = [Store().open(cell["run"]) for cell in cells_of(written)]
        return [set(run.table("replies")["dialogue"]) for run in runs]

    both = tested(*quick, "--seeds", 2, "--save", tmp_path / "m")
    assert both[0] != both[1]
    assert tested(*quick, "--seed", 1) == both[1:]
    assert tested("--load", tmp_path / "m" / "seed1", "--split", "tst") == both[1:]


def test_chat_logs_have_no_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    refused(dialgauge(capsys, "babi", "evaluate", "--logs", "x.jsonl", "--task", 2), "chat logs have no tasks")


def test_tasks_can_be_a_range(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    call = ("babi", "table", "--data", data, "--models", "rules", "--splits", "tst", "--json", tmp_path / "out.json")
    assert dialgauge(capsys, *call, "--tasks", "1-2").code == 0
    assert [cell["task"] for cell in cells_of(tmp_path / "out.json")] == [1, 2]


def test_json_alone_on_standard_output(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    common = ("--data", data, "--json", "-")
    quick = ("--set", "epochs=1", "--set", "dim=4")
    for call in (
        ("evaluate", *common, "--split", "tst", "--run"),
        ("table", *common, "--run", "--models", "rules", "--tasks", "1"),
        ("train", *common, "--run", "--out", tmp_path / "m", *quick),
        ("attention", *common, "--load", tmp_path / "m"),
        ("interact", "--json", "-", "--dialogues", 1, "--task", 1),
        ("simulate", "--out", tmp_path / "s", "--tasks", "1", "--dialogues", 1, "--json", "-"),
    ):
        outcome = dialgauge(capsys, "babi", *call)
        assert outcome.code == 0, outcome.err
        assert isinstance(json.loads(outcome.out), dict)


def test_what_is_loaded_is_not_chosen_again(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    evaluate = ("babi", "evaluate", "--data", data, "--split", "tst")
    assert dialgauge(capsys, *evaluate, "--model", "nearest", "--task", 2, "--save", model).code == 0
    refused(
        dialgauge(capsys, *evaluate, "--load", model, "--model", "tfidf"),
        "the folder holds the model nearest, not tfidf",
    )
    refused(dialgauge(capsys, *evaluate, "--load", model, "--seed", 3), "was trained with seed 0; drop the seed")
    refused(dialgauge(capsys, *evaluate, "--load", model, "--seeds", 2), "leave out --seeds")
    refused(
        dialgauge(capsys, "babi", "chat", "--data", data, "--load", model, "--model", "rules"),
        "the folder holds the model nearest",
    )
    refused(
        dialgauge(capsys, "babi", "interact", "--load", model, "--model", "rules"), "the folder holds the model nearest"
    )
    refused(
        dialgauge(capsys, "babi", "interact", "--load", model, "--task", 1), "was fitted on task 2 and cannot answer"
    )
    own = dialgauge(capsys, *evaluate, "--load", model, "--model", "nearest", "--json", tmp_path / "own.json")
    assert own.code == 0, own.err
    assert [(cell["model"], cell["task"]) for cell in cells_of(tmp_path / "own.json")] == [("nearest", 2)]


def test_evaluate_prints_and_stores(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    outcome = dialgauge(capsys, "babi", "evaluate", "--data", data, "--json", tmp_path / "out.json")
    assert outcome.code == 0, outcome.err
    assert "100.00" in outcome.out and "gets 100.0% of the replies right" in outcome.out
    assert re.search(r"^Signature: (sig:[0-9a-f]{8}\|)?model:rules\|task:1", outcome.out, re.MULTILINE)
    assert (
        "model:rules|task:1|split:tst-OOV" in cells_of(tmp_path / "out.json")[-1]["scores"]["per-response"]["signature"]
    )
    found = cells_of(tmp_path / "out.json")
    assert [cell["split"] for cell in found] == ["dev", "tst", "tst-OOV"]
    assert {(value(cell, "per-response"), value(cell, "per-dialog")) for cell in found} == {(1.0, 1.0)}
    assert [manifest.id for manifest in Store().list()] == [cell["run"] for cell in found]


def test_a_bot_is_evaluated_from_python(data: Path, tmp_path: Path) -> None:
    task, model = load_task(data, 1), tmp_path / "model"
    fresh = evaluate_bot(fresh_model("nearest", 0, {}), task, splits=["tst"], fit=True, save=model, store=tmp_path)
    loaded = evaluate_bot(load_ranker(model, task=task), task, splits=["tst"], store=tmp_path)
    assert loaded[0].scores == fresh[0].scores and fresh[0].stored
    everything = evaluate_bot(fresh_model("rules", 0, {}), task, fit=True, store=tmp_path)
    assert [run.manifest.config["split"] for run in everything.runs] == ["dev", "tst", "tst-OOV"]
    assert everything.frame()["value"].drop_nulls().min() == 1.0
    with pytest.raises(DialgaugeError, match="unknown split 'test'; choose from dev, tst"):
        evaluate_bot(fresh_model("rules", 0, {}), task, splits=["test"], store=tmp_path)


def test_save_and_load(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    common = ("babi", "evaluate", "--data", data, "--split", "tst", "--json", tmp_path / "out.json")
    dialgauge(capsys, *common, "--model", "nearest", "--save", tmp_path / "model")
    first = cells_of(tmp_path / "out.json")
    dialgauge(capsys, *common, "--load", tmp_path / "model")
    again = cells_of(tmp_path / "out.json")
    assert first[0]["scores"] == again[0]["scores"]
    assert first[0]["model"] == again[0]["model"] == "nearest"
    refused(dialgauge(capsys, *common, "--task", "2", "--load", tmp_path / "model"), "fitted on task 1")
    refused(dialgauge(capsys, *common, "--load", tmp_path / "model", "--set", "dim=3"), "already trained")
    refused(dialgauge(capsys, *common, "--load", tmp_path), "it holds no model")


def test_another_model_is_not_saved_over(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    common = (
        "babi",
        "evaluate",
        "--data",
        data,
        "--split",
        "tst",
        "--store",
        tmp_path / "runs",
        "--save",
        tmp_path / "m",
    )
    assert dialgauge(capsys, *common, "--model", "nearest", "--task", 1).code == 0
    kept = (tmp_path / "m" / "ranker.json").read_bytes()
    outcome = dialgauge(capsys, *common, "--model", "tfidf", "--task", 1)
    assert outcome.code == 2
    assert (
        "the model of another training is already there (nearest on task 1, seed 0, not tfidf on task 1" in outcome.err
    )
    assert (tmp_path / "m" / "ranker.json").read_bytes() == kept


def test_a_split_named_twice_is_evaluated_once(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    written = tmp_path / "out.json"
    asked = ("--split", "tst", "--split", "dev", "--split", "tst")
    assert dialgauge(capsys, "babi", "evaluate", "--data", data, *asked, "--json", written).code == 0
    assert [cell["split"] for cell in cells_of(written)] == ["tst", "dev"]


def test_several_seeds_with_settings(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    outcome = dialgauge(
        capsys, "babi", "evaluate", "--data", data, "--model", "memn2n", "--split", "tst", "--seeds", 2,
        "--set", "epochs=1", "--set", "dim=4", "--device", "cpu", "--save", tmp_path / "m",
        "--json", tmp_path / "out.json",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    assert [(cell["seed"], cell["options"]) for cell in cells_of(tmp_path / "out.json")] == [
        (0, "dim=4,epochs=1"),
        (1, "dim=4,epochs=1"),
    ]
    assert sorted(path.name for path in (tmp_path / "m").iterdir()) == ["seed0", "seed1"]


def test_table_keeps_and_reuses_cells(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    call = (
        "babi", "table", "--data", data, "--models", "rules,nearest", "--tasks", "1,2", "--json", tmp_path / "t.json",
    )  # fmt: skip
    outcome = dialgauge(capsys, *call, "--table", tmp_path / "t.html")
    assert outcome.code == 0, outcome.err
    for name in ("t.md", "t.tex"):
        assert dialgauge(capsys, *call, "--table", tmp_path / name).code == 0
    first = cells_of(tmp_path / "t.json")
    assert {(cell["task"], cell["split"], cell["model"]) for cell in first} == {
        (task, split, model) for task in (1, 2) for split in ("dev", "tst", "tst-OOV") for model in ("rules", "nearest")
    }
    assert set(first[0]) >= {"name", "run", "scores", "coverage", "top_ties", "unanswered", "by_class"}
    assert set(first[0]["scores"]) == {"per-response", "per-dialog", "hits@2", "hits@5", "hits@10", "MRR"}
    assert "Statistics of the tasks" in outcome.out
    page = (tmp_path / "t.html").read_text()
    assert "<table>" in page
    assert "<title>Response selection on the dialog bAbI tasks</title>" in page
    assert page.count("Statistics of the tasks") == 1
    assert (tmp_path / "t.tex").read_text().count(r"\begin{tabular}") == 1
    assert "| T1 | tst | rules |" in (tmp_path / "t.md").read_text()
    dialgauge(capsys, *call)
    assert [cell["run"] for cell in cells_of(tmp_path / "t.json")] == [cell["run"] for cell in first]
    dialgauge(capsys, *call, "--fresh")
    assert {cell["run"] for cell in cells_of(tmp_path / "t.json")}.isdisjoint({cell["run"] for cell in first})


@pytest.mark.soak
def test_workers_change_nothing(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    found = []
    for workers in (1, 2):
        dialgauge(
            capsys, "babi", "table", "--data", data, "--models", "rules,tfidf", "--tasks", "1", "--workers", workers,
            "--store", tmp_path / str(workers), "--json", tmp_path / "t.json",
        )  # fmt: skip
        found.append([{**cell, "run": ""} for cell in cells_of(tmp_path / "t.json")])
    assert found[0] == found[1]


def test_chat_logs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    logs = tmp_path / "logs.jsonl"
    (tmp_path / "logs.jsonl.map.yaml").write_text(
        "reads: conversations\ndialogue: dialogue\nrole: speaker\ncontent: text\n"
        "roles: {guest: user, operator: assistant}\n"
    )
    lines = []
    for number in range(20):
        for speaker, text in (
            ("guest", "hi"),
            ("operator", "hello!"),
            ("guest", f"q{number % 3}"),
            ("operator", f"a{number % 3}"),
        ):
            lines.append(json.dumps({"dialogue": str(number), "speaker": speaker, "text": text}))
    logs.write_text("\n".join(lines))
    outcome = dialgauge(
        capsys, "babi", "evaluate", "--logs", logs, "--model", "nearest", "--json", tmp_path / "out.json"
    )
    assert outcome.code == 0, outcome.err
    assert "hits@10" in outcome.out
    found = cells_of(tmp_path / "out.json")
    assert [(cell["task"], cell["split"], value(cell, "per-response"), value(cell, "hits@10")) for cell in found] == [
        (0, "dev", 1.0, 1.0),
        (0, "tst", 1.0, 1.0),
    ]
    assert "logs" in outcome.out


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (("--model", "rulez"), "'rulez'. Did you mean 'rules'"),
        (("--split", "test"), "'--split': 'test'"),
        (("--set", "dim"), "--set expects NAME=VALUE"),
        (("--set", "dim=3"), "there is no setting 'dim' of rules"),
        (("--url", "http://127.0.0.1:9/"), "the bot at http://127.0.0.1:9/ did not answer"),
        (("--url", "http://127.0.0.1:9/", "--load", "model"), "--url names the bot; leave out --load"),
        (("--url", "http://127.0.0.1:9/", "--save", "model"), "--url names the bot; leave out --save"),
        (("--url", "http://127.0.0.1:9/", "--set", "dim=8"), "--url names the bot; leave out --set"),
        (("--task", "3"), "no dialog files of task 3"),
        (("--logs", "x.jsonl"), "leave out --logs"),
        (("--model", "memn2n", "--set", "epochs=none"), "wrong kind of value"),
        (("--model", "memn2n", "--preset", "mine"), "'--preset': 'mine'"),
        (("--model", "tfidf", "--device", "cuda"), "there is no setting 'device' of tfidf"),
        (("--model", "tfidf", "--preset", "paper"), "there is no setting 'preset' of tfidf"),
        (("--model", "memn2n", "--device", "abacus"), "there is no device 'abacus'"),
    ],
)
def test_mistakes_are_sentences(
    capsys: pytest.CaptureFixture[str], data: Path, extra: tuple[str, ...], sentence: str
) -> None:
    refused(dialgauge(capsys, "babi", "evaluate", "--data", data, *extra), sentence)


def test_a_loaded_model_that_does_not_learn_has_no_device(
    capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    call = ("babi", "evaluate", "--data", data, "--split", "dev")
    assert dialgauge(capsys, *call, "--model", "nearest", "--save", tmp_path / "m").code == 0
    outcome = dialgauge(capsys, *call, "--load", tmp_path / "m", "--device", "cpu")
    refused(outcome, "there is no setting 'device' of nearest")


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (("--tasks", "one"), "--tasks expects numbers from 1 to 6, for example 1-6 or 1,3 (got 'one')"),
        (("--tasks", "3-1"), "(got '3-1')"),
        (("--tasks", "9"), "--tasks expects numbers from 1 to 6"),
        (("--models", ","), "names nothing"),
        (("--splits", "tst,all"), "unknown split 'all'"),
    ],
)
def test_mistakes_in_a_table(
    capsys: pytest.CaptureFixture[str], data: Path, extra: tuple[str, ...], sentence: str
) -> None:
    refused(dialgauge(capsys, "babi", "table", "--data", data, *extra), sentence)


def test_a_model_goes_to_other_data_and_worlds(capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path) -> None:
    folder, other = tmp_path / "model", tmp_path / "other"
    store = ("--store", tmp_path / "runs", "--json", tmp_path / "out.json")
    train = ("babi", "train", "--data", data, "--task", 1, "--model", "tfidf", "--out", folder)
    assert dialgauge(capsys, *train, "--store", tmp_path / "runs").code == 0
    world = tmp_path / "harbour.yaml"
    world.write_text("base: restaurant\ntitle: a harbour\nprices: [low, high]\n")
    written = ("babi", "simulate", "--world", world, "--dialogues", 5, "--tasks", "1,2", "--out", other)
    assert dialgauge(capsys, *written).code == 0
    load = ("babi", "evaluate", "--load", folder, "--split", "tst", *store)
    refused = dialgauge(capsys, *load, "--data", other)
    assert (refused.code, "evaluate --transfer" in refused.err) == (2, True)
    refused = dialgauge(capsys, *load, "--data", other, "--task", 2)
    assert (refused.code, "evaluate --transfer" in refused.err) == (2, True)
    assert dialgauge(capsys, *load, "--data", other, "--transfer").code == 0
    (in_folder,) = cells_of(tmp_path / "out.json")
    outcome = dialgauge(capsys, *load, "--world", world, "--dialogues", 5)
    assert outcome.code == 0, outcome.err
    (in_world,) = cells_of(tmp_path / "out.json")
    assert in_folder["scores"]["per-response"]["value"] == in_world["scores"]["per-response"]["value"]
    assert in_folder["data"] == in_world["data"]
    assert in_world["fitted"] == load_task(data, 1).training_digest() != load_task(other, 1).training_digest()
    assert "tfidf was trained on task 1 elsewhere" in outcome.err
    assert dialgauge(capsys, *load, "--data", other, "--task", 2, "--transfer").code == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--transfer",), "give --load FOLDER"),
        (("--world", "bakery"), "--world simulates the dialogues; leave out --data"),
    ],
)
def test_transfer_needs_a_model_and_one_place(
    capsys: pytest.CaptureFixture[str], data: Path, options: tuple[str, ...], sentence: str
) -> None:
    outcome = dialgauge(capsys, "babi", "evaluate", "--data", data, "--task", 1, *options)
    assert (outcome.code, sentence in outcome.err) == (2, True)


def test_a_world_has_nothing_to_fit_a_model_on(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = dialgauge(capsys, "babi", "evaluate", "--world", "bakery", "--dialogues", 2, "--model", "tfidf")
    assert (outcome.code, "--world has no training dialogues" in outcome.err) == (2, True)


def test_a_table_has_one_short_signature_and_files_the_long_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tiny_release(tmp_path / "babi")
    outcome = dialgauge(capsys, "babi", "evaluate", "--data", "babi", "--model", "tfidf", "--table", "out.md")
    assert outcome.code == 0, outcome.err
    signed = [line for line in outcome.out.splitlines() if "model:tfidf" in line]
    assert len(signed) == 1 and signed[0].startswith("Signature: ")
    assert "|v:0" in signed[0] and "version:" not in outcome.out and "split:" not in signed[0]
    assert "version:" in Path("out.md").read_text().replace("\\", "")
