"""Output that fails, streams that are closed, names that are no text: one sentence, before the work where possible."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.commands import dialgauge
from support.examples import EXAMPLES
from support.soak import soak

PROGRAM = f"{sys.executable} -m dialgauge"
needs_dev_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Gold and predictions of one turn."""
    for name, key in (("gold", "state"), ("pred", "predicted")):
        turn = {"speaker": "user", "text": "a cheap hotel please", key: {"hotel": {"pricerange": ["cheap"]}}}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "d1", "turns": [turn]}) + "\n")
    return tmp_path


def shell(folder: Path, line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A line as a person types it; ``dialgauge`` is this one."""
    command = line.replace("dialgauge", PROGRAM)
    return subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        cwd=folder,
        env={**os.environ, **environment},
        timeout=300,
        check=False,
    )


SCORE = "dialgauge score gold.jsonl pred.jsonl --resamples 0"


@needs_dev_full
@pytest.mark.parametrize(
    "line",
    [
        f"{SCORE} >/dev/full",
        f"{SCORE} --json - >/dev/full",
        "dialgauge --help >/dev/full",
        "dialgauge runs --help >/dev/full",
        "dialgauge sql 'SELECT 1' >/dev/full",
        "dialgauge data convert gold.jsonl - --to native >/dev/full",
        f"{SCORE} --json /dev/full",
        f"{SCORE} >&-",
    ],
)
def test_output_that_cannot_be_written_is_one_sentence_and_exit_code_2(folder: Path, line: str) -> None:
    done = shell(folder, line)
    said = done.stderr.decode().splitlines()
    assert done.returncode == 2
    assert re.fullmatch(r"dialgauge: .*(the disk is full\)|standard output is closed.*)", said[-1])
    assert sum("dialgauge:" in text for text in said) == 1
    assert not any("Traceback" in text or "Exception ignored" in text for text in said)


@needs_dev_full
def test_nobody_can_be_told_but_the_exit_code_says_it(folder: Path) -> None:
    for line in (f"{SCORE} 2>/dev/full", f"{SCORE} >&- 2>&-", f"{SCORE} <&- >&- 2>&-"):
        done = shell(folder, line)
        assert (done.returncode, done.stderr) == (2, b"")
    missing = shell(folder, "dialgauge score gold.jsonl missing.json 2>/dev/full")
    assert missing.returncode == 2


def test_a_closed_standard_error_silences_notices_and_nothing_else(folder: Path) -> None:
    done = shell(folder, f"{SCORE} 2>&-")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"JGA" in done.stdout


def test_a_closed_stream_leaves_its_number_to_no_file(folder: Path) -> None:
    """With standard error closed, the next file that is opened would be where errors are written to."""
    done = shell(folder, f"{SCORE} --json scores.json --store runs 2>&-")
    assert done.returncode == 0
    assert json.loads((folder / "scores.json").read_text())
    assert shell(folder, "dialgauge show 2 --store runs").returncode == 0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("dialgauge score - pred.jsonl <&-", "standard input is closed; name a file"),
        ("dialgauge data check - <&-", "standard input is closed; name a file"),
        ("dialgauge sql - <&-", "standard input is closed; pass the query"),
        (f"{SCORE} --store r && dialgauge runs rm 2 --store r <&-", "add --yes to skip it"),
    ],
)
def test_a_closed_standard_input_is_one_sentence(folder: Path, line: str, words: str) -> None:
    done = shell(folder, line)
    assert done.returncode == 2
    assert words in done.stderr.decode().splitlines()[-1]
    assert "Traceback" not in done.stderr.decode()


@pytest.mark.parametrize("encoding", ["ascii", soak("cp1252"), soak("latin-1")])
def test_an_encoding_without_our_characters_replaces_them(folder: Path, encoding: str) -> None:
    line = json.dumps(
        {"id": "Ω—日本\U0001f600", "turns": [{"speaker": "user", "text": "Ω", "state": {"Ω": {"日": ["x"]}}}]}
    )
    (folder / "odd.jsonl").write_text(line + "\n", encoding="utf-8")
    for command in ("dialgauge data check odd.jsonl", "dialgauge explain measures", "dialgauge runs --help"):
        done = shell(folder, command, PYTHONIOENCODING=encoding)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
    missing = shell(folder, "dialgauge score gold.jsonl '日本.json'", PYTHONIOENCODING=encoding)
    assert (missing.returncode, b"Traceback" in missing.stderr) == (2, False)
    report = shell(folder, "dialgauge data check odd.jsonl --json -", PYTHONIOENCODING=encoding)
    assert "Ω" in json.dumps(json.loads(report.stdout), ensure_ascii=False)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["score", "gold.jsonl", "pred.jsonl", "--table", "gold.jsonl/x.md"], "cannot be written"),
        (["data", "list", "--json", "gold.jsonl/x"], "cannot be written"),
        (["score", "gold.jsonl", "pred.jsonl", "--store", "gold.jsonl"], "the run store cannot be written"),
        (["users", "score", "gold.jsonl", "--store", "gold.jsonl"], "the run store cannot be written"),
        (["demo", "--out", "gold.jsonl"], "nothing can be written there"),
        (["score", "gold.jsonl", "pred.jsonl", "--json", "a\0b"], "a name cannot hold the character 0"),
        (["score", "gold.jsonl", "pred.jsonl", "--json", "x" * 300], "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_work(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(folder)
    outcome = dialgauge(capsys, *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert len(outcome.err.splitlines()) == 1  # nothing was read before
    assert sorted(path.name for path in folder.iterdir()) == ["gold.jsonl", "pred.jsonl"]


HOSTILE = "\x1b[31mred\x07\u202e"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Every text in the files would act on a terminal, and is markup that rich stumbles over."""

    def written(name: str, content: bytes) -> None:
        odd = json.dumps(HOSTILE)[1:-1].encode()
        (tmp_path / name).write_bytes(
            content.replace(b"d1", b"[/bold]" + odd).replace(b"east", odd).replace(b"hi", odd)
        )

    written("gold.jsonl", EXAMPLES["native"])
    written("talks.json", EXAMPLES["gcdf1"].replace(b"a hotel in the", b"hi"))
    written("\x1b[31m[bold].jsonl", EXAMPLES["native"].replace(b'"state"', b'"predicted"'))
    written("log.jsonl", EXAMPLES["messages"])
    return tmp_path


COMMAND_LINES = [
    ["data", "check", "."],
    ["score", "gold.jsonl", "\x1b[31m[bold].jsonl", "-p", "verbatim"],
    ["users", "score", "talks.json", "--table", "[/bold]\x1b[31m.md"],
    ["babi", "simulate", "--out", "[/bold]\x1b[31m", "--tasks", "1", "--dialogues", "2"],
    ["data", "convert", "gold.jsonl", "[/bold]\x1b[31m", "--to", "native"],
    ["runs", "list", "--store", "[/bold]\x1b[31m"],
    ["score", "[/bold]\x1b[31m", "x"],
    ["show", "[/bold]\x1b[31m"],
    ["data", "check", "--[/bold]\x1b[31m"],
    ["[/bold]\x1b[31m"],
]


@pytest.mark.parametrize(
    "words", COMMAND_LINES, ids=lambda words: " ".join(words[:2]).encode("unicode_escape").decode()
)
def test_nothing_in_files_or_names_acts_on_the_terminal(
    capsys: pytest.CaptureFixture[str], hostile: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(hostile)
    outcome = dialgauge(capsys, *words)
    assert outcome.code in (0, 1, 2)
    shown = outcome.out + outcome.err
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown)
    assert "Traceback" not in shown


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text here")
def test_names_that_are_not_utf8_are_read_written_and_stored(
    capsys: pytest.CaptureFixture[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    odd = os.fsdecode(b"odd\xff")
    (folder / "pred.jsonl").rename(folder / f"{odd}.jsonl")
    words = ["score", "gold.jsonl", f"{odd}.jsonl", "--resamples", "0"]
    outputs = ["--json", f"{odd}.json", "--table", f"{odd}.csv", "--store", f"{odd}-runs"]
    outcome = dialgauge(capsys, *words, *outputs)
    assert outcome.code == 0, outcome.err
    assert json.loads((folder / f"{odd}.json").read_bytes())["runs"][0]["name"].startswith("odd")
    assert b"JGA" in (folder / f"{odd}.csv").read_bytes()
    for ending in ("md", "tex", "html", "json"):
        assert dialgauge(capsys, *words, "--table", f"{odd}.{ending}").code == 0
        assert (folder / f"{odd}.{ending}").read_bytes()
    for more in (["runs", "list"], ["show", "2"], ["sql", "SELECT * FROM runs"]):
        assert dialgauge(capsys, *more, "--store", f"{odd}-runs").code == 0
