"""A measure of another package: installed for real, named on the command line, and treated like our own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from dialgauge import write
from support.trackers import gold_dialogues, tracker

CODE = dedent(
    '''
    """Wrong slots per turn: a card and a pure function of the counts."""

    from dialgauge.measures import OVER, Card
    from dialgauge.tracking import needing


    def _wrong_slots(counts, settings):
        return counts.errors.astype(float), (counts.gold_size >= 0).astype(float)


    WRONG_SLOTS = Card(
        name="WrongSlots",
        family="tracking",
        title="Wrong slots",
        summary="Slots per turn that are wrong, missed or spurious.",
        formula="V + D + W",
        source="an example",
        rows=_wrong_slots,
        parameters=(OVER,),
        unit="slots",
        upper=float("inf"),
        higher_is_better=False,
        **needing("gold", "values"),
    )
    BROKEN = "no card"
    '''
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the package, as pip would leave it there."""
    folder = tmp_path / "site"
    info = folder / "wrong_slots-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "wrong_slots.py").write_text(CODE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: wrong-slots\nVersion: 1.0\n")
    entries = "WrongSlots = wrong_slots:WRONG_SLOTS\nBroken = wrong_slots:BROKEN\n"
    (info / "entry_points.txt").write_text(f"[dialgauge.measures]\n{entries}")
    return folder


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    gold = gold_dialogues(12)
    content = {"gold": gold, "good": tracker(gold, 0.05, 1), "bad": tracker(gold, 0.4, 2)}
    for name, dialogues in content.items():
        write(dialogues, tmp_path / f"{name}.jsonl", format="native")
    return [str(tmp_path / f"{name}.jsonl") for name in content]


def score(site: Path | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    return dialgauge(site, "score", *arguments)


def dialgauge(site: Path | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site)} if site else dict(os.environ)
    command = [sys.executable, "-m", "dialgauge", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_it_is_scored_stored_and_shown_like_our_own(site: Path, files: list[str], tmp_path: Path) -> None:
    target, store = tmp_path / "out.json", str(tmp_path / "runs")
    done = score(
        site, *files, "--measures", "JGA,wrongslots", "--by", "turn", "--json", str(target), "--run", "--store", store,
        "--worst", "1", "--worst-by", "WrongSlots",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "WrongSlots (slots)" in done.stdout
    systems = json.loads(target.read_text())["systems"]
    good, bad = (system["scores"]["WrongSlots"] for system in systems)
    assert good["value"] < bad["value"] and good["low"] <= good["value"] <= good["high"]
    assert good["signature"].startswith("measure:WrongSlots(over=turns)|profile:canon")
    assert set(systems[0]["by"]["turn"]["0"]["scores"]) == {"JGA", "WrongSlots"}
    ids = [run.name for run in sorted(Path(store).iterdir()) if run.name[:2] == "20"]
    again = score(site, *(word for one in ids for word in ("--from", one)), "--store", store, "--by", "turn")
    assert again.returncode == 0, again.stderr
    assert "WrongSlots" in again.stdout
    without = score(None, "--from", ids[0], "--store", store)
    assert without.returncode == 0 and "WrongSlots (slots)" in without.stdout, "the run says all that a table needs"
    refused = score(None, "--from", ids[0], "--store", store, "--by", "turn")
    assert refused.returncode == 2 and "there is no measure named 'WrongSlots'" in refused.stderr


def test_the_best_is_the_lowest(site: Path, files: list[str], tmp_path: Path) -> None:
    target = tmp_path / "out.md"
    done = score(site, *files, "--measures", "WrongSlots,JGA", "--table", str(target), "--no-intervals")
    assert done.returncode == 0, done.stderr
    rows = [line for line in target.read_text().splitlines() if line.startswith(("| good", "| bad"))]
    assert [row.count("**") for row in rows] == [4, 0]


def test_a_faulty_one_is_named_and_breaks_nothing_else(site: Path, files: list[str]) -> None:
    refused = score(site, *files, "--measures", "Broken")
    assert refused.returncode == 2
    assert "the measure 'Broken' of the package wrong-slots (wrong_slots:BROKEN) cannot be used" in refused.stderr
    listed = dialgauge(site, "explain", "measures")
    assert listed.returncode == 0
    assert "V + D + W" in listed.stdout and "Broken: the measure 'Broken'" in listed.stdout


def test_what_it_needs_is_honoured(site: Path, tmp_path: Path) -> None:
    flags = tmp_path / "flags.jsonl"
    flags.write_text('{"id":"a","turns":[{"speaker":"user","judged":{"hotel":{"area":true}}}]}\n')
    refused = score(site, str(flags), "--measures", "WrongSlots")
    assert refused.returncode == 2
    assert "WrongSlots cannot be computed: it needs predicted values" in refused.stderr
