"""``dialgauge babi simulate`` and ``convert-dstc2``, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.formats import load_candidates
from support.commands import Outcome, dialgauge

Capture = pytest.CaptureFixture[str]


def test_simulate_writes_the_official_files(tmp_path: Path, capsys: Capture) -> None:
    report = tmp_path / "report.json"
    options = ("--seed", 3, "--tasks", "1-2,5", "--dialogues", 4, "--to", "both", "--json", report)
    outcome = dialgauge(capsys, "babi", "simulate", "--out", tmp_path / "a", *options)
    assert outcome.code == 0
    assert "dialog-babi-task5-full-dialogs-tst-OOV.txt" in outcome.out
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert len(names) == 3 + 2 * 3 * 4
    assert {"dialog-babi-candidates.txt", "dialog-babi-kb-all.txt", "dialog-babi-task1-API-calls-trn.txt"} <= set(names)
    written = json.loads(report.read_text())
    assert written["seed"] == 3 and len(written["files"]) == 24
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
    for other in (("--seed", 1), ("--world", "bakery"), ("--accept", 0.5)):
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


LINE = (
    '{"dialogue": "1", "speaker": "user", "text": "hi John"}\n{"dialogue": "1", "speaker": "operator", "text": "hi"}\n'
)


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
    assert outcome.code == 0 and "my town, seed 0" in outcome.out
    assert len(load_candidates(tmp_path / "out" / "dialog-babi-candidates.txt")) == 12 + 400 + 3 * 800


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--tasks", "0-3"), "--tasks expects numbers from 1 to 5"),
        (("--tasks", "3-1"), "--tasks expects numbers from 1 to 5"),
        (("--splits", "train"), "there is no split 'train'"),
        (("--fields", "one"), "--fields expects TASK:FROM-TO"),
        (("--fields", "1:4-2"), "the smaller first"),
        (("--updates", "3:1-2"), "not for task 3"),
        (("--info", "1,2"), "--info expects three numbers"),
        (("--accept", "2"), "'--accept': 2.0"),
        (("--min-results", "9"), "no request of half A has more than"),
        (("--min-results", "4:1"), "not for task 4"),
        (("--min-results", "few"), "--min-results expects a number"),
        (("--min-results", "5:0"), "at least 1"),
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
    target, candidates = tmp_path / "out.txt", tmp_path / "candidates.txt"
    outcome = dialgauge(
        capsys, "babi", "convert-dstc2", tmp_path, "--out", target, "--kb", kb, "--candidates-out", candidates
    )
    assert outcome.code == 0
    assert outcome.out == f"{target}: dialogs 1, API calls 1, different replies 4\n"
    assert target.read_text() == (
        "1 <SILENCE>\tHello\n"
        "2 a cheap place\tapi_call R_cuisine R_location cheap\n"
        "3 cote R_price cheap\n"
        "4 cote R_phone cote_phone\n"
        "5 cote R_rating 10\n"
        "6 <SILENCE>\tcote is nice\n"
        "7 bye\t you are welcome\n\n"
    )
    assert load_candidates(candidates) == (
        "Hello",
        "api_call R_cuisine R_location cheap",
        "cote is nice",
        " you are welcome",
    )


def test_convert_dstc2_without_calls(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "ontology.json").write_text('{"informable": {}}')
    outcome = dialgauge(capsys, "babi", "convert-dstc2", tmp_path, "--out", tmp_path / "out.txt")
    assert outcome.code == 2 and "there is no log.json below this folder" in outcome.err


LOG = """{"dialogue": "a", "speaker": "customer", "text": "hi, John here", "account": 5}
{"dialogue": "a", "speaker": "customer", "text": "a table for 4 at Bellini"}
{"dialogue": "a", "speaker": "operator", "text": "sure John, tomorrow?"}
{"dialogue": "b", "speaker": "customer", "text": "hello"}
{"dialogue": "b", "speaker": "operator", "text": "how can i help"}
"""
