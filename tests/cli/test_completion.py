"""Shell completion: the words, the scripts, and the script in a real shell."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dialgauge.cli import COMMANDS
from dialgauge.cli.choices import _CHOICES
from dialgauge.cli.completion import completions
from dialgauge.cli.options import Option
from dialgauge.cli.parse import command_parameters
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
        (["score", "--engine", ""], ["local", "pool", "ray"]),
        (["score", "--engine=l"], ["--engine=local"]),
        (["score", "--engine", "=", "l"], ["local"]),
        (["compare", "-p", "tra"], ["trade"]),
        (["score", "-m", "JGA,RS"], ["JGA,RSA"]),
        (["babi", "evaluate", "-m", "MR"], ["MRR"]),
        (["score", "--fail-under", "JG"], ["JGA="]),
        (["score", "--gold-format", "som"], ["som-dst"]),
        (["data", "convert", "--to", "nat"], ["native"]),
        (["compare", "--figure-format", "svg,p"], ["svg,png", "svg,pdf"]),
        (["users", "find", "--cause", "user"], ["user NLU", "user policy"]),
        (["lab", "run", "--system", "rule-s"], ["rule-system"]),
        (["babi", "table", "--models", "rules,near"], ["rules,nearest"]),
        (["data", "get", "gc"], ["gcdf1"]),
        (["data", "get", "gcdf1", ""], []),
        (["reproduce", "--data", "somewhere", "fg"], ["fga"]),
        (["schema", "runs-l"], ["runs-list"]),
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


def test_every_choice_is_of_a_parameter_that_exists_and_offers_names() -> None:
    known = set()
    for name in COMMANDS:
        group = importlib.import_module(f"dialgauge.cli.{name}").app.commands
        for command, function in group.items():
            full = name if len(group) == 1 else f"{name} {command}"
            for one in command_parameters(function):
                for parameter in one.options if isinstance(one.declaration, Option) else (one.name,):
                    known |= {parameter, f"{name} {parameter}", f"{full} {parameter}"}
    assert set(_CHOICES) <= known
    for key, choice in _CHOICES.items():
        assert list(choice.names()), key


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
@pytest.mark.parametrize(
    ("words", "found"),
    [("lab st", "study"), ("score --engine p", "pool"), ("users find --cause 'user N'", "user\\ NLU")],
)
def test_bash_completes_with_it(words: str, found: str, capsys: Capture, tmp_path: Path) -> None:
    script = dialgauge(capsys, "--show-completion", "bash").out
    tools = Path(sys.executable).parent
    if not (tools / "dialgauge").exists():
        pytest.skip("dialgauge is not installed beside python")
    asked = (
        f"{script}COMP_WORDS=(dialgauge {words}); "
        'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); compopt() { :; }; _dialgauge; echo "${COMPREPLY[@]}"\n'
    )
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", asked], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == found, done.stderr
