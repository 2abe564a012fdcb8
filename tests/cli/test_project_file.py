"""``dialgauge.toml``: defaults of options, found, checked, said, and overruled by what is typed."""

from __future__ import annotations

from pathlib import Path

import pytest

import dialgauge as package
from dialgauge.cli import COMMANDS
from dialgauge.cli.app import commands_of
from dialgauge.cli.project_file import SHARED, TYPED_ONLY, find_project_file
from dialgauge.runs import Store
from support.commands import dialgauge
from support.trackers import gold_dialogues, tracker

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a folder in it, where the commands run."""
    monkeypatch.delenv("DIALGAUGE_RUNS", raising=False)
    (tmp_path / "outer" / "repository" / ".git").mkdir(parents=True)
    root = tmp_path / "outer" / "repository"
    (root / "inner").mkdir()
    gold = gold_dialogues(6)
    for name, dialogues in {"gold": gold, "mine": tracker(gold, 0.2, 1)}.items():
        package.write(dialogues, root / "inner" / f"{name}.jsonl", format="native")
    monkeypatch.chdir(root / "inner")
    return root


def write(folder: Path, text: str) -> Path:
    path = folder / "dialgauge.toml"
    path.write_text(text)
    return path


SCORE = ("score", "gold.jsonl", "mine.jsonl", "--resamples", "0")


def test_it_is_looked_for_up_to_the_root_of_the_repository_and_no_further(project: Path) -> None:
    inner = project / "inner"
    write(project.parent, "")
    assert find_project_file(inner) is None
    above = write(project, "")
    assert find_project_file(inner) == above
    assert find_project_file(inner) == above == find_project_file(project)
    beside = write(inner, "")
    assert find_project_file(inner) == beside
    outside = project.parent / "elsewhere"
    outside.mkdir()
    assert find_project_file(outside) is None


def test_a_folder_that_is_gone_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert find_project_file() is None
    assert dialgauge(capsys, "explain", "canon").code == 0


def test_what_it_sets_is_used_said_and_overruled(capsys: Capture, project: Path) -> None:
    path = write(project, '[defaults]\nstore = "kept"\n[score]\nprofile = ["trade"]\nmeasures = ["JGA"]\n')
    done = dialgauge(capsys, *SCORE)
    assert done.code == 0, done.err
    assert (project / "kept").is_dir(), "paths are relative to the file"
    assert Store(project / "kept").open("latest").details["profile"] == "trade"
    assert "FGA" not in done.out
    [said] = [line for line in done.err.splitlines() if "--no-project-file" in line]
    assert said == (
        f"{path} sets --measures=JGA --profile=trade --store={project / 'kept'} (--no-project-file ignores it)"
    )
    typed = dialgauge(capsys, *SCORE, "-p", "canon", "--measures=F1")
    assert {run.details["profile"] for run in Store(project / "kept").survey().runs} == {"trade", "canon"}
    assert "F1" in typed.out and "JGA" not in typed.out
    ignored = dialgauge(capsys, *SCORE, "--no-project-file")
    assert ignored.code == 0 and str(path) not in ignored.err
    assert len(list((project / "kept").glob("*/run.json"))) == 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[scor]\n", "unknown section [scor]. Did you mean 'score'"),
        ("[defaults]\nstroe = 'x'\n", "unknown key 'stroe' in [defaults]. Did you mean 'store'"),
        ("[score]\nprofil = 'x'\n", "unknown key 'profil' in [score]. Did you mean 'profile'?"),
        ("score = 1\n", "'score' must be a section"),
        ("[score\n", "not valid TOML"),
        ("[score]\nseed = 'x'\n", "'seed'"),
        ("[score]\nseed = -1\n", "'seed'"),
        ("[score]\nresamples = 2000000\n", "'resamples'"),
        ("[score]\nseed = true\n", "'seed' must be a text or a number"),
        ("[score]\nseed = [1]\n", "'seed' must be a text or a number"),
        ("[score]\nsensitivity = 'yes'\n", "'sensitivity' must be true or false"),
        ("[score]\njson = '/tmp/x'\n", "'json' cannot be set in a project file; type --json"),
        ("[score]\nseed = 1\n" + "#" * 200_000, "too large for a project file"),
        ('[score]\nprofile = "a\\u0000b"\n', "'profile' must be"),
        ("[defaults]\nstore = ''\n", "'store'"),
        ('[score]\nmeasures = ["./evil.py:Measure"]\n', "'measures' names code to run; type --measures"),
    ],
)
def test_a_mistake_in_it_is_one_sentence(capsys: Capture, project: Path, text: str, sentence: str) -> None:
    path = write(project, text)
    outcome = dialgauge(capsys, *SCORE)
    assert outcome.code == 2
    assert sentence in outcome.err
    assert len([line for line in outcome.err.splitlines() if line.startswith("dialgauge: ")]) == 1
    assert str(path) in outcome.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[lab.runs]\nexchanges = 9\n", "unknown section or key 'lab.runs'. Did you mean 'lab.run'"),
        ("[lab.run]\nexchange = 9\n", "unknown key 'exchange' in [lab.run]. Did you mean 'exchanges'"),
    ],
)
def test_a_mistake_in_a_section_of_a_group_is_one_sentence(
    capsys: Capture, project: Path, text: str, sentence: str
) -> None:
    write(project, text)
    outcome = dialgauge(capsys, "lab", "run", "-n", "1")
    assert (outcome.code, sentence in outcome.err) == (2, True)


@pytest.mark.parametrize("text", [b"\xff\xfe", b"a = " + b"[" * 50_000, b"\x00"])
def test_bytes_that_are_no_toml_are_one_sentence(capsys: Capture, project: Path, text: bytes) -> None:
    (project / "dialgauge.toml").write_bytes(text)
    outcome = dialgauge(capsys, *SCORE)
    assert (outcome.code, "not valid TOML" in outcome.err) == (2, True)


def test_no_option_that_writes_sends_or_deletes_can_be_set() -> None:
    acting = {"yes", "endpoint", "model", "judge", "run", "system", "domain"}
    assert acting <= TYPED_ONLY
    every = {
        option.removeprefix("--")
        for word in COMMANDS
        for command in commands_of(word).values()
        for one in command.params
        for option in one.opts
    }
    assert set(SHARED) <= every - TYPED_ONLY, "what [defaults] may set exists"
    assert every >= TYPED_ONLY


def test_help_and_other_commands_do_not_depend_on_it(capsys: Capture, project: Path) -> None:
    write(project, "[score]\nprofil = 'x'\n")
    assert dialgauge(capsys, "score", "--help").code == 0
    assert dialgauge(capsys, "data", "check", "gold.jsonl").code == 0
