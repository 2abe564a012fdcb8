"""A language model as a judge beside the checks: it adds, is held against the labels, and may fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.runs import Store
from dialgauge.users.faults import KINDS, load_labels
from support.agent_results import tau_file
from support.commands import dialgauge
from support.model_server import model_server, said


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
