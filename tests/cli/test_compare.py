from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.commands import dialgauge
from support.trackers import gold_dialogues, tracker, write_predictions


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    gold = gold_dialogues()
    return [
        write_predictions(tmp_path / f"{name}.json", gold, tracker(gold, error, seed))
        for seed, (name, error) in enumerate({"good": 0.05, "bad": 0.4, "alike": 0.06}.items())
    ]


def test_compare_prints_the_answer(files: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    outcome = dialgauge(capsys, "compare", "self", *files, "--resamples", 300, "-m", "JGA,RSA")
    assert outcome.code == 0
    assert "good is better" in outcome.out
    assert "could be noise" in outcome.out
    assert "noise floor" in outcome.out
    assert "seed:0" in outcome.out
    assert "good (canon): " in outcome.err


def test_every_output(files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("altair")
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("dialogue,rater,rating\n" + "".join(f"mul{n:04},ann,{n % 2}\n" for n in range(10)))
    outcome = dialgauge(
        capsys, "compare", "self", *files, "--resamples", 100, "-m", "JGA,SA", "--correlation", "kendall", "--sweep",
        "--show", 2, "--show-by", "SA", "--ratings", ratings, "--rated", "bad", "--table", tmp_path / "all.tex",
        "--json", tmp_path / "all.json", "--figures", tmp_path / "drawn", "--format", "markdown",
    )  # fmt: skip
    assert outcome.code == 0
    assert "**Correlation with human ratings: bad**" in outcome.out
    assert r"\toprule" in (tmp_path / "all.tex").read_text(encoding="utf-8")
    content = json.loads((tmp_path / "all.json").read_text())
    assert content["ratings"]["bad"]["correlations"][0]["measure"] == "JGA"
    assert (tmp_path / "drawn" / "lambda_sweep.svg").read_bytes().startswith(b"<svg")


@pytest.mark.parametrize("output", ["markdown", "latex", "csv", "json"])
def test_formats_on_standard_output(output: str, files: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    outcome = dialgauge(capsys, "compare", "self", *files[:2], "--resamples", 50, "--format", output, "-m", "JGA")
    start = {"markdown": "**Systems", "latex": "% needs", "csv": "system,JGA", "json": "["}[output]
    assert outcome.out.startswith(start)
    if output == "json":
        assert json.loads(outcome.out)[0]["title"] == "Systems by measures"


def test_the_hash_seed_does_not_matter(files: list[Path], tmp_path: Path) -> None:
    """Two processes with different hash seeds write the same bytes."""
    outputs = []
    for seed in ("1", "2"):
        command = [
            sys.executable,
            "-m",
            "dialgauge",
            "compare",
            "self",
            *map(str, files),
            "--resamples",
            "200",
            "--json",
            "-",
        ]
        done = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True)
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert [system["name"] for system in json.loads(outputs[0])["systems"]] == ["good", "bad", "alike"]


def test_stored_runs(files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = tmp_path / "runs"
    dialgauge(capsys, "score", "self", *files[:2], "--store", store, "--no-intervals")
    ids = [run["id"] for run in json.loads(dialgauge(capsys, "runs", "list", "--store", store, "--json", "-").out)]
    outcome = dialgauge(capsys, "compare", *ids, "--store", store, "--resamples", 200, "--show", 1, "--sweep")
    assert outcome.code == 0
    assert "good is better" in outcome.out
    assert "First difference between good and bad" in outcome.out


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--correlation", "pearsn"], "Did you mean 'pearson'"),
        (["--show", "2", "--show-by", "XYZ"], "share no measure 'XYZ'"),
        (["--level", "2"], "between 0 and 1"),
        (["--format", "pdf"], "no table format 'pdf'"),
        (["--table", "x.doc"], "choose such an ending"),
        (["--ratings", "absent.csv", "--rated", "good"], "absent.csv: it cannot be read"),
        (["-m", "JGAA"], "no measure named 'JGAA'"),
    ],
)
def test_mistakes_are_sentences(
    extra: list[str], message: str, files: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = dialgauge(capsys, "compare", "self", *files[:2], "--resamples", 20, *extra)
    assert outcome.code == 2
    assert message in outcome.err
    assert "Traceback" not in outcome.err


def test_one_system_is_not_enough(files: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    outcome = dialgauge(capsys, "compare", "self", files[0])
    assert outcome.code == 2
    assert "at least two systems" in outcome.err


def test_a_table_of_systems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    systems = tmp_path / "systems.csv"
    systems.write_text("system,JGA,RSA\na,0.5446,0.8759\nb,0.6131,0.8432\nc,0.5242,0.8695\n")
    outcome = dialgauge(capsys, "compare", "--systems", systems, "--json", "-")
    assert json.loads(outcome.out)["spread"][0]["range"] == pytest.approx(0.0889)
    outcome = dialgauge(capsys, "compare", "--systems", systems)
    assert "Mean and spread of 3 systems" in outcome.out
    refused = dialgauge(capsys, "compare", "gold.json", "--systems", systems, "--sweep", "--show", 2).err
    assert "so leave out GOLD PRED PRED, --sweep, --show" in refused
    assert "name the gold file" in dialgauge(capsys, "compare", "-m", "JGA").err


def test_real_trackers(shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = shared_data / "multiwoz21" / "test.json.gz"
    predictions = [shared_data / "dst_predictions" / f"{name}.json.gz" for name in ("augpt", "dots")]
    target = tmp_path / "out.json"
    outcome = dialgauge(capsys, "compare", gold, *predictions, "-m", "JGA,FGA@1", "--json", target, "--sweep")
    assert outcome.code == 0
    content = json.loads(target.read_text())
    answers = {row["measure"]: (row["difference"] > 0, row["significant"]) for row in content["differences"]}
    # AuGPT has more exact turns, DoTS makes fewer new errors: the order depends on how strict one is.
    assert answers == {"JGA": (True, True), "FGA@1": (False, True)}
    assert [(swap["before"], swap["after"]) for swap in content["sweep"]["swaps"]] == [("augpt", "dots")]
    assert 0.4 < content["sweep"]["swaps"][0]["at"] < 0.6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "markdwn"], "no table format 'markdwn'. Did you mean 'markdown'?"),
        (["--table", "all.doc"], "a table is written as .md, .tex, .html, .csv, .json"),
        (["--figures", "drawn", "--figure-format", "bmp"], "no figure format 'bmp'"),
        (["--correlation", "pearsn"], "no correlation 'pearsn'. Did you mean 'pearson'"),
        (["--show-by", "JGA"], "--show-by needs --show N"),
        (["--rated", "good"], "--rated needs --ratings FILE"),
    ],
)
def test_what_cannot_be_told_is_refused_before_the_work(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The files do not exist, so only the check of the options can be what speaks."""
    for command in (["compare", "self", "absent.json", "other.json"], ["runs", "compare", "one", "two"]):
        outcome = dialgauge(capsys, *command, *options)
        assert outcome.code == 2
        assert message in outcome.err
