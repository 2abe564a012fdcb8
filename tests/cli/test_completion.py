"""Shell completion: the words, the scripts, and the script in a real shell."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dialgauge.cli import COMMANDS
from dialgauge.cli.completion import completions
from dialgauge.runs import Store, new_run
from support.commands import dialgauge

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([""], [*COMMANDS]),
        (["le"], ["leaderboard"]),
        (["--ver"], ["--version"]),
        (["lab", "st"], ["study"]),
        (["score", "--fail"], ["--fail-under", "--fail-on-drop"]),
        (["lab", "run", "--level", ""], ["act", "text"]),
        (["babi", "simulate", "--to", "b"], ["babi", "both"]),
        (["score", "gold.jso"], []),
        (["score", "--json", ""], []),
        (["nothing", ""], []),
        (["lab", "nothing", ""], []),
    ],
)
def test_words_are_completed(words: list[str], found: list[str], capsys: Capture) -> None:
    assert completions(words) == found
    assert dialgauge(capsys, "--complete", *words).out.splitlines() == found


def test_ids_of_runs_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Store(tmp_path / "here").add(new_run(kind="tracking", name="mine"))
    monkeypatch.setenv("DIALGAUGE_RUNS", str(tmp_path / "here"))
    assert completions(["runs", "show", ""]) == [run.id]
    assert completions(["score", "--from", ""]) == [run.id]
    assert completions(["runs", "show", "--store", str(tmp_path), ""]) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_printed_and_installed_once(
    shell: str, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    start = tmp_path / f".{shell}rc"
    start.write_text("alias ll='ls -l'")
    shown = dialgauge(capsys, "--show-completion", shell)
    assert shown.code == 0 and "dialgauge --complete" in shown.out
    for _ in range(2):
        assert dialgauge(capsys, "--install-completion", shell).code == 0
    scripts = [path for path in tmp_path.rglob("*") if path.is_file() and path.read_text() == shown.out]
    assert len(scripts) == 1
    assert start.read_text().startswith("alias ll='ls -l'")
    assert start.read_text().count("dialgauge completion") == (shell != "fish")


def test_an_unknown_shell_is_one_sentence(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    outcome = dialgauge(capsys, "--install-completion")
    assert (outcome.code, "'tcsh' is not supported; name one of bash, zsh, fish" in outcome.err) == (2, True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_with_it(capsys: Capture, tmp_path: Path) -> None:
    script = dialgauge(capsys, "--show-completion", "bash").out
    tools = Path(sys.executable).parent
    if not (tools / "dialgauge").exists():
        pytest.skip("dialgauge is not installed beside python")
    asked = (
        script + 'COMP_WORDS=(dialgauge lab st); COMP_CWORD=2; compopt() { :; }; _dialgauge; echo "${COMPREPLY[@]}"\n'
    )
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", asked], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "study", done.stderr
