"""``dialgauge users`` from end to end, and a language model as a judge."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

import dialgauge as package
from dialgauge.dialogue import Task
from dialgauge.runs import Store
from dialgauge.users.faults import KINDS, load_labels
from support.agent_results import tau_file
from support.commands import dialgauge
from support.model_server import model_server, said
from support.talks import mishear, talk

Capture = pytest.CaptureFixture[str]

GOAL = {"hotel": Task(info={"area": "north", "stars": "4"}, requests=("phone",))}
GOOD = talk(GOAL, ("hotel inform area=north", "hotel inform stars=4", "hotel request phone"), (), id="good")
LOOP = talk(GOAL, *([("hotel inform area=north",), ("hotel inform phone=1",)] * 4), id="loop")
BROKEN = msgspec.structs.replace(GOOD, id="broken", goal=None)


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    path = tmp_path / "talks.json"
    misheard = mishear(LOOP, 1, "train inform phone=1")
    package.write([GOOD, misheard], path, format="gcdf1")
    return path


def scores(document: str) -> Any:
    [run] = json.loads(document)["runs"]
    return run["scores"]


def test_scores_are_stored_and_shown(capsys: Capture, talks: Path, tmp_path: Path) -> None:
    result = dialgauge(capsys, "users", "score", talks, "--json", tmp_path / "out.json", "--store", tmp_path / "runs")
    assert result.code == 0
    assert "Scores by domain" in result.out and "Where F1 is lost" in result.out
    assert "stored as run" in result.err
    found = scores((tmp_path / "out.json").read_text())
    assert found["I-GCDF1"]["value"] == found["I-GCDF1[hotel]"]["value"]
    assert found["I-GCDF1"]["value"] == pytest.approx((1.0 + 2 * 0.25 * 0.5 / 0.75) / 2)
    assert "mode:reference" in found["I-GCDF1"]["signature"]
    [manifest] = Store(tmp_path / "runs").list()
    again = ("latest", "--store", tmp_path / "runs")
    assert "repeated-penalised" in dialgauge(capsys, "show", *again, "--dialogue", "loop").out
    assert "Why users repeat" in dialgauge(capsys, "show", *again, "--only", "figure-2").out
    listed = dialgauge(capsys, "users", "find", manifest.id, "--end", "loop", "--store", tmp_path / "runs")
    assert "1 of 2 dialogues" in listed.out
    tree = ("runs", "export", *again, "--to", "gcdf1", "-o", tmp_path / "tree.json")
    assert dialgauge(capsys, *tree).code == 0
    assert json.loads((tmp_path / "tree.json").read_text())["igcd_recall"]["hotel"] == 0.75
    assert dialgauge(capsys, *tree, "--redact").code == 2


def test_options_change_scores(capsys: Capture, talks: Path, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("igcd_f1: {repetitions: {count_fp: false}}\n")
    command = ("users", "score", talks, "--json", "-", "--no-store")
    plain = dialgauge(capsys, *command)
    once = dialgauge(capsys, *command, "--config", tmp_path / "config.yaml")
    also = dialgauge(capsys, *command, "--set", "igcd_f1.repetitions.count_fp=false")
    values = [scores(each.out) for each in (plain, once, also)]
    assert values[1] == values[2]
    assert values[0]["I-GCDF1"]["value"] < values[1]["I-GCDF1"]["value"]
    assert values[0]["I-GCDF1"]["signature"] != values[1]["I-GCDF1"]["signature"]


def test_failed_dialogues_are_named_counted_and_exit_with_1(capsys: Capture, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"talks-\xff")
    folder.mkdir()
    package.write([GOOD, BROKEN], tmp_path / "sound.json", format="gcdf1")
    (tmp_path / "sound.json").rename(folder / os.fsdecode(b"bad-\xfe.json"))
    store = tmp_path / "runs"
    result = dialgauge(capsys, "users", "score", folder, "--store", store, "--resamples", 0)
    assert result.code == 1, result.err
    assert "1 conversation could not be scored" in result.out
    assert "broken" in result.out and "it has no goal" in result.out
    [failure] = Store(store).open("latest").table("failures").to_dicts()
    assert failure["dialogue"] == "broken"
    assert "bad-" in failure["file"]


def answer(message: int, kind: str = "disobeyed") -> str:
    return json.dumps({"faults": [{"kind": kind, "message": message, "sentence": "so I think"}]})


def first_message(path: Path) -> int:
    """The first message of the user in the first conversation of a file."""
    conversation = json.loads(path.read_text())[0]["traj"]
    return next(place for place, message in enumerate(conversation) if message["role"] == "user")


def test_a_judge_adds_and_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tau_file(tmp_path / "r.json", {"a": "+-"})
    with model_server() as server:
        server.reply = lambda question: said(answer(first_message(file)))
        done = dialgauge(capsys, "users", "faults", file, "--judge", server.url, "--judge-set", "model=wise",
                         "--resamples", 0, "--store", tmp_path / "runs")  # fmt: skip
    assert done.code == 0, done.err
    [run] = Store(tmp_path / "runs").survey().runs
    assert set(run.table("faults").filter(run.table("faults")["kind"] == "disobeyed")["by"]) == {"wise"}
    assert "judge:wise" in run.signature


def test_what_a_judge_cannot_say_keeps_what_the_checks_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tau_file(tmp_path / "r.json", {"a": "+-"})
    plain = dialgauge(capsys, "users", "faults", file, "--resamples", 0, "--json", tmp_path / "plain.json")
    with model_server() as server:
        server.reply = lambda question: said("I would rather not say.")
        done = dialgauge(capsys, "users", "faults", file, "--judge", server.url, "--judge-set", "model=shy",
                         "--resamples", 0, "--json", tmp_path / "judged.json")  # fmt: skip
    assert plain.code == done.code == 0
    assert "not judged: 2 of 2" in done.err and "not a verdict" in done.err
    one, other = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("plain", "judged"))
    assert [each["page"]["tables"]["kinds"] for each in (one, one)] == [
        each["page"]["tables"]["kinds"] for each in (one, other)
    ]


def test_agreement_with_the_labels_is_printed(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A judge that marks nothing misses every labelled fault, and is wrong nowhere."""
    file = shared_data / "tau" / "tau2_airline_grok-3.json.gz"
    with model_server() as server:
        server.reply = lambda question: said('{"faults": []}')
        done = dialgauge(capsys, "users", "faults", file, "--judge", server.url, "--judge-set", "model=blind",
                         "--resamples", 0, "--json", tmp_path / "t.json")  # fmt: skip
    assert done.code == 0, done.err
    rows = json.loads((tmp_path / "t.json").read_text("utf-8"))["page"]["tables"]["judge"]["rows"]
    labelled = [label for name in ("first.jsonl", "fresh.jsonl") for label in load_labels(name)]
    own = [label for label in labelled if label.file == file.name]
    missed = {kind.replace("_", " "): count for kind in KINDS if (count := sum(label.has(kind) for label in own))}
    assert {row["fault"]: row["missed"] for row in rows} == missed and missed
    assert all((row["right"], row["wrong"], row["recall"]) == (0, 0, 0) for row in rows)
