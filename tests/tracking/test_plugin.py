"""A measure of another package: installed for real, named on the command line, and treated like our own."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from textwrap import dedent

import pytest

from dialgauge import write
from support.commands import Outcome, dialgauge
from support.packages import on_the_path
from support.trackers import gold_dialogues, tracker

pytestmark = pytest.mark.usefixtures("own_folder")

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
        units=_wrong_slots,
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


#: ``dialgauge`` where the package is installed, or is not.
Command = Callable[..., Outcome]


@pytest.fixture
def run(site: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    def called(*words: str, installed: bool = True) -> Outcome:
        with on_the_path(site) if installed else nullcontext():
            return dialgauge(capsys, *words)

    return called


def test_it_is_scored_stored_and_shown_like_our_own(run: Command, files: list[str], tmp_path: Path) -> None:
    target, store = tmp_path / "out.json", ("--store", str(tmp_path / "runs"))
    done = run("score", *files, "--measures", "JGA,wrongslots", "--json", str(target), *store)
    assert done.code == 0, done.err
    assert "WrongSlots" in done.out
    good, bad = (each["scores"]["WrongSlots"] for each in json.loads(target.read_text())["runs"])
    assert good["value"] < bad["value"] and good["low"] <= good["value"] <= good["high"]
    assert good["signature"].startswith("measure:WrongSlots(over=turns)|profile:canon")
    for options in ((), ("--by", "turn"), ("--worst", "1")):
        shown = run("show", "good", *options, *store, installed=False)
        assert shown.code == 0, "the run says all that a table needs"
    assert "WrongSlots" in run("show", "good", "--all", *store, installed=False).out


def test_a_faulty_one_is_named_and_breaks_nothing_else(run: Command, files: list[str]) -> None:
    refused = run("score", *files, "--measures", "Broken")
    assert refused.code == 2
    assert "the measure 'Broken' of the package wrong-slots (wrong_slots:BROKEN) cannot be used" in refused.err
    listed = run("explain", "measures")
    assert listed.code == 0
    assert "V + D + W" in listed.out and "Broken: the measure 'Broken'" in listed.out


def test_what_it_needs_is_honoured(run: Command, tmp_path: Path) -> None:
    flags = tmp_path / "flags.jsonl"
    flags.write_text('{"id":"a","turns":[{"speaker":"user","judged":{"hotel":{"area":true}}}]}\n')
    refused = run("score", str(flags), "--measures", "WrongSlots")
    assert refused.code == 2
    assert "WrongSlots cannot be computed: it needs predicted values" in refused.err
