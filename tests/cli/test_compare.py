from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dialgauge import compare, score, write
from dialgauge.runs import Store
from support.commands import dialgauge
from support.trackers import gold_dialogues, tracker, write_predictions


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    gold = gold_dialogues()
    return [
        write_predictions(tmp_path / f"{name}.json", gold, tracker(gold, error, seed))
        for seed, (name, error) in enumerate({"good": 0.05, "bad": 0.4, "alike": 0.06}.items())
    ]


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """The gold states alone."""
    path = tmp_path / "gold.jsonl"
    write(gold_dialogues(), path, format="native")
    return path


def test_compare_prints_the_answer(files: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    outcome = dialgauge(capsys, "compare", "self", *files, "--resamples", 300, "-m", "JGA,RSA", "--detail")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert outcome.out.rpartition("\n\n")[2].startswith("JGA names no clear winner: good has the top value, alike is ")
    rows = [line.split()[:3] for line in lines[3:6]]
    assert [(name, letters.replace("·", "")) for name, _, letters in rows] == [
        ("good", "a"),
        ("alike", "a"),
        ("bad", "b"),
    ]
    assert "noise floor" in outcome.out
    assert "good is better" not in outcome.out
    assert "--pairs prints the 6 differences" in outcome.out
    assert len([line for line in outcome.out.splitlines() if line.startswith("Signature: sig:")]) == 1
    assert "2-4:" not in outcome.out and "1-2: no system is significantly better, and 1 other system" in outcome.out
    assert "good (canon): " in outcome.err


def test_every_output(files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("altair")
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("dialogue,rater,rating\n" + "".join(f"mul{n:04},ann,{n % 2}\n" for n in range(10)))
    outcome = dialgauge(
        capsys, "compare", "self", *files, "--resamples", 100, "-m", "JGA,SA", "--correlation", "kendall", "--sweep",
        "--show", 2, "--show-by", "SA", "--ratings", ratings, "--rated", "bad", "--table", tmp_path / "all.tex",
        "--json", tmp_path / "all.json", "--figures", tmp_path / "drawn",
    )  # fmt: skip
    assert outcome.code == 0
    assert "Correlation with human ratings: bad" in outcome.out
    assert r"\toprule" in (tmp_path / "all.tex").read_text(encoding="utf-8")
    content = json.loads((tmp_path / "all.json").read_text())
    assert content["ratings"]["bad"]["correlations"][0]["measure"] == "JGA"
    assert (tmp_path / "drawn" / "lambda_sweep.svg").read_bytes().startswith(b"<svg")
    correlations = sorted(path.stem for path in (tmp_path / "drawn").glob("correlation*"))
    assert correlations and all(name.startswith("correlation_kendall_") for name in correlations)
    assert "Kendall" in (tmp_path / "drawn" / f"{correlations[0]}.svg").read_text(encoding="utf-8")


def test_compared_files_are_stored_on_request(
    files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ("--store", tmp_path / "runs")
    quick = ("--resamples", 20, "-m", "JGA")
    outcome = dialgauge(capsys, "compare", "self", *files[:2], *quick, *place)
    assert outcome.code == 0, outcome.err
    stored = Store(tmp_path / "runs").survey().runs
    assert sorted(run.name for run in stored) == ["bad", "good"]
    assert all(f"stored as run {run.id} in {tmp_path / 'runs'}" in outcome.err for run in stored)
    shown = dialgauge(capsys, "compare", *(run.id for run in stored), *place, "--resamples", 20)
    assert (shown.code, "stored as run" in shown.err) == (0, False)
    assert len(Store(tmp_path / "runs").survey().runs) == 2
    again = dialgauge(capsys, "compare", *(run.id for run in stored), *place, "--resamples", 20, "--run")
    assert (again.code, again.err) == (2, "dialgauge: stored runs are already scored; leave out --run\n")


@pytest.mark.parametrize("ending", ["md", "tex", "csv", "json"])
def test_formats_of_tables(ending: str, files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / f"table.{ending}"
    dialgauge(capsys, "compare", "self", *files[:2], "--resamples", 50, "--table", target, "-m", "JGA")
    start = {"md": "**Systems", "tex": "% needs", "csv": "system,JGA", "json": "["}[ending]
    assert target.read_text().startswith(start)
    if ending == "json":
        assert json.loads(target.read_text())[0]["title"] == "Systems by measures"


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
    dialgauge(capsys, "score", "self", *files[:2], "--run", "--store", store, "--no-intervals")
    ids = [
        run["id"] for run in json.loads(dialgauge(capsys, "runs", "list", "--store", store, "--json", "-").out)["runs"]
    ]
    outcome = dialgauge(capsys, "compare", *ids, "--store", store, "--resamples", 200, "--show", 1, "--sweep")
    assert outcome.code == 0
    assert "good is better" in outcome.out
    assert "First difference between good and bad" in outcome.out


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--correlation", "pearsn"], "'--correlation': 'pearsn'"),
        (["--show", "2", "--show-by", "XYZ"], "share no measure 'XYZ'"),
        (["--confidence", "1"], "'--confidence': 1.0"),
        (["--confidence", "0"], "'--confidence': 0.0"),
        (["--resamples", "0"], "'--resamples': 0"),
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


@pytest.mark.parametrize("arguments", [("aa", "bb"), ("HERE", "bb"), ("self", "bb"), ("bb",), ("self", "HERE", "bb")])
def test_a_missing_file_is_named_before_the_number_of_systems(
    arguments: tuple[str, ...], files: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = dialgauge(capsys, "compare", *(str(files[0]) if one == "HERE" else one for one in arguments))
    missing = next(one for one in arguments if one not in ("self", "HERE"))
    assert (outcome.code, outcome.err.splitlines()[-1]) == (2, f"dialgauge: {missing}: there is no such file or folder")


def test_a_table_of_systems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    systems = tmp_path / "systems.csv"
    systems.write_text("system,JGA,RSA\na,0.5446,0.8759\nb,0.6131,0.8432\nc,0.5242,0.8695\n")
    outcome = dialgauge(capsys, "compare", "--systems", systems, "--json", "-")
    assert json.loads(outcome.out)["spread"][0]["range"] == pytest.approx(0.0889)
    outcome = dialgauge(capsys, "compare", "--systems", systems)
    assert "Mean and spread of 3 systems" in outcome.out
    refused = dialgauge(capsys, "compare", "gold.json", "--systems", systems, "--sweep", "--show", 2).err
    assert "RUN RUN..., --sweep, --show" in refused
    assert "give a gold file" in dialgauge(capsys, "compare", "-m", "JGA").err


@pytest.mark.soak
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
        (["--correlation", "pearsn"], "'--correlation': 'pearsn'"),
    ],
)
def test_what_cannot_be_told_is_refused_before_the_work(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The files do not exist, so only the check of the options can be what speaks."""
    outcome = dialgauge(capsys, "compare", "self", "absent.json", "other.json", *options)
    assert outcome.code == 2
    assert message in outcome.err


def test_the_pairs_are_printed_on_request_and_written_always(
    files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "all.json"
    options = ("--resamples", 300, "-m", "JGA,RSA", "--json", written, "--table", tmp_path / "all.md")
    outcome = dialgauge(capsys, "compare", "self", *files, *options, "--pairs")
    assert "good is better" in outcome.out
    assert "could be noise" in outcome.out
    dialgauge(capsys, "compare", "self", *files, *options)
    assert "good is better" in (tmp_path / "all.md").read_text(encoding="utf-8")
    content = json.loads(written.read_text())
    assert len(content["differences"]) == 6
    standings = {system["name"]: system["standings"]["JGA"] for system in content["systems"]}
    assert standings["good"] == {"letters": "a", "best_rank": 1, "worst_rank": 2}
    assert standings["bad"] == {"letters": "b", "best_rank": 3, "worst_rank": 3}


def test_two_systems_are_one_pair_which_is_always_printed(
    files: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = dialgauge(capsys, "compare", "self", *files[:2], "--resamples", 300)
    assert "good is better" in outcome.out


def test_many_systems_and_measures_fit_80_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = gold_dialogues(30)
    files = [
        write_predictions(tmp_path / f"system-{number}.json", gold, tracker(gold, 0.05 * number, number))
        for number in range(10)
    ]
    outcome = dialgauge(capsys, "compare", "self", *files, "--resamples", 200, "--detail")
    tables_shown, _, verdict = outcome.out.rpartition("\n\n")
    lines = tables_shown.splitlines()
    short = dialgauge(capsys, "compare", "self", *files, "--resamples", 200).out
    assert short.endswith(f"\n\n{verdict}") and short.count("\n") < 25
    assert verdict.startswith("system-0 is ahead of every other system in JGA, of system-1 by 15.2 points")
    tables = lines[: lines.index("Do measures rank the systems alike? (Kendall's tau-b)")]
    rows = [line for line in tables if line.startswith(("system", "─")) or "   " in line]
    assert max(map(len, rows)) <= 80
    assert len(lines) < 110  # 405 differences before


@pytest.fixture
def short(files: list[Path], tmp_path: Path) -> Path:
    """The predictions of 'alike' without nine dialogues of forty."""
    content = json.loads(files[2].read_text())
    path = tmp_path / "short.json"
    path.write_text(json.dumps(dict(list(content.items())[9:])))
    return path


def test_an_incomplete_file_is_named_at_the_top_and_is_exit_1(
    gold: Path, files: list[Path], short: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "out.json"
    outcome = dialgauge(capsys, "compare", gold, *files[:2], short, "--resamples", 50, "-m", "JGA", "--json", written)
    assert outcome.code == 1
    first, second, third, *_ = outcome.out.splitlines()
    assert first == f"short ({short}) lacks 9 of 40 dialogues."
    assert second.startswith("So all systems are compared on the 31 dialogues that all of them have, which moves JGA: ")
    content = json.loads(written.read_text())
    alone = json.loads(dialgauge(capsys, "score", gold, *files[:2], "-m", "JGA", "--json", "-").out)
    for name in ("good", "bad"):
        before, after = (
            100 * next(one for one in content_["systems"] if one["name"] == name)["scores"]["JGA"]["value"]
            for content_ in (alone, content)
        )
        assert f"{name} {before:.2f} -> {after:.2f}" in second
    assert "--missing empty" in third
    assert content["complete"] is False
    assert content["lacking"] == [{"system": "short", "file": str(short), "number": 9, "of": 40, "unit": "dialogues"}]


def test_ways_to_treat_what_is_missing(
    gold: Path, files: list[Path], short: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def compared(how: str) -> tuple[int, str, list[str]]:
        outcome = dialgauge(
            capsys, "compare", gold, *files[:2], short, "--resamples", 50, "-m", "JGA", "--missing", how,
            "--json", "-",
        )  # fmt: skip
        content: dict[str, Any] = json.loads(outcome.out) if outcome.code < 2 else {"systems": [], "dialogues": 0}
        return outcome.code, outcome.err, [str(content["dialogues"]), *(one["name"] for one in content["systems"])]

    assert compared("shared")[::2] == (1, ["31", "good", "bad", "short"])
    code, told, what = compared("empty")
    assert (code, what) == (0, ["40", "good", "bad", "short"])
    assert "short has no prediction for 9 of 40 dialogues: scored as empty." in told
    assert compared("without")[::2] == (0, ["40", "good", "bad"])
    code, told, _ = compared("refuse")
    assert code == 2
    assert f"short ({short}) lacks 9 of 40 dialogues; predict them too, or choose what to do" in told
    assert "'--missing': 'share'" in compared("share")[1]


def test_stored_runs_that_lack_dialogues(
    gold: Path, files: list[Path], short: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "runs"
    dialgauge(capsys, "score", gold, *files[:2], short, "--run", "--store", store, "--no-intervals")
    ids = [
        run["id"] for run in json.loads(dialgauge(capsys, "runs", "list", "--store", store, "--json", "-").out)["runs"]
    ]
    outcome = dialgauge(capsys, "compare", *ids, "--store", store, "--resamples", 50)
    assert outcome.code == 1
    assert "lacks 9 of 40 dialogues." in outcome.out.splitlines()[0]
    assert dialgauge(capsys, "compare", *ids, "--store", store, "--missing", "without").code == 0
    refused = dialgauge(capsys, "compare", *ids, "--store", store, "--missing", "empty")
    assert (refused.code, "score the predictions again with --coverage empty" in refused.err) == (2, True)


def table_titled(text: str, title: str) -> str:
    return text.partition(f"{title}\n")[2].partition("\n\n")[0]


@pytest.mark.parametrize("systems", [2, 3])
def test_all_measures_and_intervals_of_few_systems_fit(
    systems: int, files: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    shown = dialgauge(capsys, "compare", "self", *files[:systems], "--resamples", 300).out
    scores = table_titled(shown, "Scores, best system first")
    measures = ["JGA", "SA", "AGA", "RSA", "F1", "FGA@0.25", "FGA@0.5", "FGA@0.75", "FGA@1"]
    assert [line.split()[0] for line in scores.splitlines() if line.startswith(("J", "S", "A", "R", "F"))][
        :9
    ] == measures
    assert scores.count("[") == 9 * systems and "Left out" not in scores
    assert all(
        len(line) <= 80 for line in scores.splitlines() if not line.startswith(("Systems that share", "--pairs"))
    )


def test_notes_do_not_explain_what_is_left_out(files: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    command = ("compare", "self", *files[:2], "--resamples", 300)
    pairs = table_titled(dialgauge(capsys, *command).out, "Differences, first minus second")
    assert "wins, ties, losses (--wide" in pairs.replace("losses, ties", "ties, losses") and "Wins, ties" not in pairs
    assert "Wins, ties" in table_titled(dialgauge(capsys, *command, "--wide").out, "Differences, first minus second")


def test_one_measure_is_not_correlated_with_itself(files: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    shown = dialgauge(capsys, "compare", "self", *files, "--resamples", 300, "-m", "JGA", "--show", 1, "--wide").out
    assert "Kendall" not in shown
    assert "points of the difference" in shown and "share of the difference" not in shown


def test_the_confidence_is_that_of_every_sentence(files: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    shown = dialgauge(capsys, "compare", "self", *files[:2], "--confidence", "0.9", "--resamples", 200, "--detail").out
    assert "p < 0.1" in shown and "uncorrected p < 0.1 (" in shown
    assert "0.05" not in shown and "95%" not in shown


def test_too_few_dialogues_have_one_sentence_on_intervals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = gold_dialogues(3)
    for name, rate in (("a", 0.1), ("b", 0.5)):
        write_predictions(tmp_path / f"{name}.json", gold, tracker(gold, rate, 1))
    shown = dialgauge(capsys, "compare", "self", tmp_path / "a.json", tmp_path / "b.json", "--pairs").out
    assert "No intervals: 3 dialogues are too few" in shown
    assert "exclude 0" not in shown


def test_a_pipe_does_not_speak_of_bold_print(
    files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("compare", "self", *files[:2], "--resamples", 200)
    assert "Bold" not in dialgauge(capsys, *words).out
    dialgauge(capsys, *words, "--table", tmp_path / "table.md")
    assert "Bold: not worse than the best by this test." in (tmp_path / "table.md").read_text()
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    assert "Bold: not worse than the best by this test." in dialgauge(capsys, *words).out


def test_a_table_of_systems_is_in_percent_on_the_screen_and_raw_in_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "systems.csv"
    source.write_text("system,JGA,BLEU\na,0.25,18.0\nb,75%,17.0\n", encoding="utf-8")
    file = tmp_path / "out.csv"
    shown = dialgauge(capsys, "compare", "--systems", source, "--table", file).out
    assert re.search(r"^JGA +2 +50\.00 +25\.00 +35\.36 +25\.00 +75\.00 +50\.00$", shown, re.MULTILINE), shown
    assert re.search(r"^BLEU +2 +17\.50 +0\.50 ", shown, re.MULTILINE)
    assert "In percent, except BLEU; CSV and JSON have fractions." in shown
    assert "JGA,2,0.5,0.25," in file.read_text(encoding="utf-8")


def test_a_stored_run_has_the_intervals_of_the_comparison(
    files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "kept"
    named = [f"First={files[0]}", *files[1:]]
    done = dialgauge(capsys, "compare", "self", *named, "-m", "JGA,F1", "--resamples", 200, "--run", "--store", store)
    assert done.code == 0
    kept = {run.name: run for run in Store(store).survey().runs}
    assert "First" in kept and len(kept) == len(files)
    compared = compare(None, {"First": files[0], files[1].stem: files[1]}, measures="JGA,F1", resamples=200)
    again = score(None, {"First": files[0]}, measures="JGA,F1")
    for measure in ("JGA", "F1"):
        own, theirs = kept["First"].scores[measure], compared["First"][measure]
        assert (own.low, own.high) == (theirs.low, theirs.high)
        assert own.low is not None
        assert own.signature == again["First"][measure].signature
    assert kept["First"].signature == again["First"].signature


def test_all_that_cannot_be_told_apart_from_the_best_is_bold(
    files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table.tex"
    words = ("compare", "self", *files, "-m", "JGA", "--resamples", 200, "--table", table)
    assert dialgauge(capsys, *words).code == 0
    rows = dict(re.findall(r"^(\w+) & (.*?) \\\\", table.read_text(), re.M))
    letters = {
        name: set(re.findall(r"textsuperscript\{(\w+)\}", row)[0]) for name, row in rows.items() if "text" in row
    }
    best = letters["good"]
    assert {name for name in letters if rows[name].startswith(r"\textbf")} == {
        name for name, own in letters.items() if own & best
    }
    assert re.search(r"\d+ dialogues, profile canon\.", table.read_text())


def test_two_systems_of_one_name_are_refused(files: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    done = dialgauge(capsys, "compare", "self", f"x={files[0]}", f"x={files[1]}")
    assert done.code == 2 and "two systems are called 'x'" in done.err
