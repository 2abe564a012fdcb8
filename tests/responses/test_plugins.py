"""A ranker and a measure of other packages, really installed, named on the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialgauge.measures import cards
from dialgauge.rankers import load_task, ranker_class, ranker_names
from dialgauge.responses import CellKey
from dialgauge.runs import Store
from runs.contract import assert_run_contract
from support.commands import dialgauge
from support.packages import install, on_the_path
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
    formula="correct / replies from a turn on", source="nobody", units=rows, parameters=(Parameter("from", 5),),
)
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for packages."""
    monkeypatch.setenv("DIALGAUGE_RUNS", str(tmp_path / "runs"))
    folder = tmp_path / "site-packages"
    folder.mkdir()
    with on_the_path(folder):
        yield folder


def test_a_ranker_and_a_measure_by_name(packages: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    install(packages, "acme_rankers", RANKER, "[dialgauge.rankers]\nlongest = acme_rankers:Longest\n")
    install(packages, "acme_measures", MEASURE, "[dialgauge.measures]\nlate-accuracy = acme_measures:LATE\n")
    assert "longest" in ranker_names()
    assert "late-accuracy" in cards("responses")
    data = tiny_release(tmp_path / "data", (1,))
    outcome = dialgauge(
        capsys, "babi", "evaluate", "--data", data, "--model", "longest", "--set", "sign=-1", "--split", "tst",
        "--measures", "default,late-accuracy(from=3)", "--json", tmp_path / "out.json",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    [manifest] = json.loads((tmp_path / "out.json").read_text())["runs"]
    assert {"per-response", "late-accuracy(from=3)"} <= set(manifest["scores"])
    run = Store().open(manifest["id"])
    assert_run_contract(run)
    assert run.scores["late-accuracy(from=3)"].signature.startswith(
        "measure:late-accuracy(from=3)|model:longest|options:sign=-1|"
    )
    trained = dialgauge(capsys, "babi", "train", "--data", data, "--model", "longest", "--out", tmp_path / "m")
    assert trained.code == 0, trained.err
    again = dialgauge(capsys, "babi", "evaluate", "--data", data, "--model", tmp_path / "m", "--split", "tst")
    assert again.code == 0, again.err
    table = dialgauge(capsys, "babi", "table", "--data", data, "--models", "longest", "--tasks", "1")
    assert table.code == 0, table.err
    assert "longest" in table.out


def test_a_plugin_that_changes_has_other_cells(packages: Path, tmp_path: Path) -> None:
    task, keys = load_task(tiny_release(tmp_path / "data", (1,)), 1), []
    for place, code in enumerate((RANKER, RANKER, RANKER.replace("len(text)", "text.count(' ')"))):
        folder = packages / str(place)
        folder.mkdir()
        with on_the_path(folder):
            install(folder, "acme_rankers", code, "[dialgauge.rankers]\nlongest = acme_rankers:Longest\n")
            keys.append(CellKey.of(ranker_class("longest")(0), task, "tst"))
    assert "/acme_rankers-1.0-" in keys[0].code
    assert keys[0] == keys[1] != keys[2]
