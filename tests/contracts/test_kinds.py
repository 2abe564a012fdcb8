"""A kind of run from another package: one module brings its measures, what is paired, and how its runs are shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars
import pytest

from dialgauge import Dialogue, Store, Turn, compare
from dialgauge.measures import Score, Scores
from dialgauge.runs import Run, new_run
from support.commands import dialgauge
from support.packages import install, on_the_path

JUGGLING = '''
    """Runs of jugglers: how many balls stay in the air."""

    from dialgauge.kinds import Kind
    from dialgauge.measures import Card
    from dialgauge.report import Finding, Table, View, count_table

    CARDS = (
        Card(
            name="Caught", family="juggling", title="balls caught", summary="Balls that were caught.",
            formula="caught / thrown", source="none", units=lambda evidence, settings: evidence,
        ),
        Card(
            name="Root", family="juggling", title="root of the balls", summary="Root of the balls that were caught.",
            formula="root of caught", source="none",
            sums=lambda evidence, settings: evidence[:1], of=lambda sums: sums[..., 0] ** 0.5,
        ),
    )


    def drops(comparison):
        rows = [(name, run.table("throws")["dropped"].sum()) for name, run in comparison.runs.items()]
        return Table("Balls on the floor", ["juggler", "balls"], rows)


    def verdict(run):
        return f"{run.name} keeps the balls up."


    def balls(run):
        return count_table("Balls", run.table("throws").select("dialogue", "turn", "ball"), "ball")


    def findings(run):
        rows = run.table("throws").select("dialogue", "turn", "dropped").iter_rows()
        return {dialogue: Finding(f"dropped {dropped}", turn) for dialogue, turn, dropped in rows}


    def filters(run):
        yield run.table("throws").select("dialogue", "turn", "ball")


    VIEW = View(
        verdict=verdict, tables={"balls": balls}, columns=("Caught",), findings=findings, filters=filters,
        compared={"drops": drops},
    )
    KIND = Kind("juggling", cards="acme_juggling:CARDS", view="acme_juggling:VIEW", headline=("Caught",))
'''
ENTRY = "[dialgauge.kinds]\njuggling = acme_juggling:KIND\n"
IDS = [f"d{number:02}" for number in range(40)]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    install(tmp_path, "acme_juggling", JUGGLING, ENTRY)
    with on_the_path(tmp_path):
        yield tmp_path


def juggled(name: str, caught: float) -> Run:
    ids = np.arange(len(IDS))
    num, den = np.minimum(10.0, np.round(10 * caught) + ids % 3), np.full(len(IDS), 10.0)
    mean = float(num.mean()) / 10
    turns = (Turn(speaker="user", text="throw"), Turn(speaker="system", text="thrown"))
    return new_run(
        kind="juggling",
        name=name,
        scores=Scores(
            dialogues=IDS,
            sums={"Height": (10 - num, den), "Caught": (num, den)},
            scores={
                "Height": Score(value=1 - mean, unit="share", higher_is_better=True, lower=0.0, upper=1.0),
                "Caught": Score(value=mean, unit="share", higher_is_better=True, lower=0.0, upper=1.0),
            },
        ),
        tables={
            "throws": lambda: polars.DataFrame(
                {
                    "dialogue": IDS,
                    "turn": [1] * len(IDS),
                    "ball": ["red", "<i>blue</i>"] * (len(IDS) // 2),
                    "dropped": [int(value) for value in 10 - num],
                }
            )
        },
        corpus=[Dialogue(id=name, turns=turns) for name in IDS],
    )


@pytest.fixture
def stored(folder: Path) -> tuple[Store, list[Run]]:
    store = Store(folder / "runs")
    return store, [store.add(juggled("ada", 0.7)), store.add(juggled("bob", 0.4))]


def test_it_is_compared_by_its_view_with_its_headline_first(stored: tuple[Store, list[Run]]) -> None:
    compared = compare(stored[1], resamples=500)
    assert compared.measures[0] == "Height"
    assert str(compared.verdict).startswith(
        "ada is ahead of bob by 30.0 points in Caught (p = 0.002); in Height bob is"
    )
    assert compared.page(["drops"]).tables["drops"].records()[0]["juggler"] == "ada"


def test_the_commands_show_it(
    folder: Path, stored: tuple[Store, list[Run]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    store, runs = stored
    ids = [one.id for one in runs]

    def run(*arguments: object) -> str:
        outcome = dialgauge(capsys, *arguments)
        assert outcome.code == 0, outcome.err
        return outcome.out + outcome.err

    told = run("compare", *ids, "--store", store.folder, "--resamples", 500, "--all", "--json", folder / "c.json")
    assert "ada is ahead of bob by 30.0 points in Caught" in told
    assert "Balls on the floor" in told
    assert "ada keeps the balls up." in run("show", ids[0], "--store", store.folder)
    assert "dropped 3" in run("show", ids[0], "--worst", 1, "--store", store.folder)
    shown = run("show", ids[0], "--only", "balls", "--store", store.folder)
    assert "<i>blue</i>" in shown and "20" in shown
    document = json.loads((folder / "c.json").read_text())
    assert document["page"]["verdict"] in told.replace("\n", " ")
    run("report", *ids, "--store", store.folder, "--out", folder / "r.html")
    assert "&lt;i&gt;blue&lt;/i&gt;" in (folder / "r.html").read_text().replace("<wbr>", "")
