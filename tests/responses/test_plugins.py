"""A ranker and a measure of other packages, really installed, named on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialgauge.measures import cards
from dialgauge.rankers import ranker_names
from dialgauge.runs import Store
from runs.contract import assert_run_contract
from support.commands import dialgauge
from support.plugin_packages import Install, plugin_packages
from support.tiny_world import tiny_release

RANKER = """
import numpy as np
from dialgauge.rankers import Ranker

class Longest(Ranker):
    name = "longest"
    summary = "the candidate with the most letters"
    settable = ("sign",)

    def fit(self, task, tell=print):
        self.candidates = task.candidates

    def scores(self, points):
        lengths = [float(self.options.get("sign", 1)) * len(text) for text in self.candidates]
        return np.tile(lengths, (len(points), 1))
"""
MEASURE = """
import numpy as np
from dialgauge.measures import Card, Parameter

def rows(replies, settings):
    counted = replies.turns >= settings["from"]
    return (replies.correct & counted).astype(float), counted.astype(float)

LATE = Card(
    name="late-accuracy", family="responses", title="accuracy late in the dialogue", summary="Later replies only.",
    formula="correct / replies from a turn on", source="nobody", rows=rows, parameters=(Parameter("from", 5),),
)
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    monkeypatch.setenv("DIALGAUGE_RUNS", str(tmp_path / "runs"))
    folder = tmp_path / "site-packages"
    folder.mkdir()
    with plugin_packages(folder, monkeypatch) as make:
        yield make


def test_a_ranker_and_a_measure_by_name(install: Install, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    install("acme_rankers", RANKER, {"dialgauge.rankers": "longest = acme_rankers:Longest"})
    install("acme_measures", MEASURE, {"dialgauge.measures": "late-accuracy = acme_measures:LATE"})
    assert "longest" in ranker_names()
    assert "late-accuracy" in cards("responses")
    listed = dialgauge(capsys, "babi", "models")
    assert "the candidate with the most letters" in listed.out
    data = tiny_release(tmp_path / "data", (1,))
    outcome = dialgauge(
        capsys, "babi", "evaluate", "--data", data, "--model", "longest", "--set", "sign=-1", "--split", "tst",
        "--measures", "default,late-accuracy(from=3)", "--save", tmp_path / "m", "--json", tmp_path / "out.json",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    (system,) = json.loads((tmp_path / "out.json").read_text())["systems"]
    assert {"per-response", "late-accuracy(from=3)"} <= set(system["scores"])
    run = Store().open(system["run"])
    assert_run_contract(run)
    assert run.scores["late-accuracy(from=3)"].signature.startswith(
        "measure:late-accuracy(from=3)|model:longest|options:sign=-1|"
    )
    again = dialgauge(capsys, "babi", "evaluate", "--data", data, "--load", tmp_path / "m", "--split", "tst")
    assert again.code == 0, again.err
    table = dialgauge(capsys, "babi", "table", "--data", data, "--models", "longest", "--tasks", "1", "--no-statistics")
    assert table.code == 0, table.err
    assert "longest" in table.out


def test_a_faulty_ranker_is_named_and_the_others_are_listed(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("acme", "class Longest: pass", {"dialgauge.rankers": "longest = acme:Longest\ntfidf = acme:Longest"})
    listed = dialgauge(capsys, "babi", "models")
    assert listed.code == 0
    assert "nearest" in listed.out
    errors = " ".join(listed.err.split())
    assert "the model 'longest' of the package acme (acme:Longest) cannot be used" in errors
    assert "'tfidf' is the name of dialgauge's own" in errors
