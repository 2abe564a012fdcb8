"""``dialgauge users`` from end to end."""

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
from support.commands import dialgauge
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


def test_nothing_a_file_holds_reaches_the_terminal_as_a_command(capsys: Capture, tmp_path: Path) -> None:
    path, store = tmp_path / "talks.jsonl", tmp_path / "runs"
    turns = (msgspec.structs.replace(GOOD.turns[0], text="\x1b[31mred"), *GOOD.turns[1:])
    loud = msgspec.structs.replace(GOOD, turns=turns)
    empty = msgspec.structs.replace(GOOD, id="\x1b[32mempty", turns=())
    package.write([loud, empty, msgspec.structs.replace(BROKEN, id="\x1b[33mbroken")], path, format="native")
    scored = dialgauge(capsys, "users", "score", path, "--store", store)
    shown = dialgauge(capsys, "show", "latest", "--store", store, "--dialogue", "good")
    odd = dialgauge(capsys, "show", "latest", "--store", store, "--only", "odd")
    assert "[31mred" in shown.out
    assert "[32mempty" in odd.out
    assert "[33mbroken" in scored.out
    assert "\x1b" not in shown.out + scored.out + odd.out + scored.err
