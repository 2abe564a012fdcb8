"""Shell completion: the words, the scripts, and the script in a real shell."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from dialgauge.cli import COMMANDS, command_parameters, completions
from dialgauge.runs import Store, new_run
from support.commands import dialgauge
from support.shells import ShellAtTerminal
from support.small_disk import small_disk
from support.soak import soak, some

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([""], [*COMMANDS]),
        (["rev"], ["review"]),
        (["--ver"], ["--version"]),
        (["lab", "st"], ["study"]),
        (["score", "--fail"], ["--fail-under", "--fail-on-drop"]),
        (["lab", "run", "--level", ""], ["act", "text"]),
        (["babi", "simulate", "--to", "b"], ["babi", "both"]),
        (["score", "--engine", ""], ["local", "pool", "ray"]),
        (["score", "--engine=l"], ["--engine=local"]),
        (["compare", "-p", "tra"], ["trade"]),
        (["score", "-m", "JGA,RS"], ["JGA,RSA"]),
        (["babi", "evaluate", "-m", "MR"], ["MRR"]),
        (["score", "--fail-under", "JG"], ["JGA="]),
        (["score", "--gold-format", "som"], ["som-dst"]),
        (["data", "convert", "--to", "nat"], ["native"]),
        (["users", "find", "--cause", "user"], ["user NLU", "user policy"]),
        (["lab", "run", "--system", "rule-s"], ["rule-system"]),
        (["babi", "table", "--models", "rules,near"], ["rules,nearest"]),
        (["data", "get", "gc"], ["gcdf1"]),
        (["data", "get", "gcdf1", ""], []),
        (["reproduce", "--data", "somewhere", "fg"], ["fga"]),
        (["data", "get", "gcd"], ["gcdf1"]),
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


def test_every_list_of_names_that_is_declared_offers_some() -> None:
    functions = [
        one for name in COMMANDS for one in importlib.import_module(f"dialgauge.cli.{name}").app.commands.values()
    ]
    declared = [one.declaration.settings.get("known") for function in functions for one in command_parameters(function)]
    known = {one for one in declared if one is not None}
    assert len(known) > 20
    assert all(list(one.names()) for one in known)


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


def test_a_full_disk_leaves_the_shell_s_own_file_as_it_was(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "disk"))
    with small_disk(tmp_path / "disk", 64) as disk:
        start = disk / ".bashrc"
        start.write_bytes(b"alias ll='ls -l'\r\n# " + b"x" * 4060)  # one line more takes another page
        start.chmod(0o600)
        assert dialgauge(capsys, "--install-completion", "bash").code == 0
        assert start.read_bytes().startswith(b"alias ll='ls -l'\r\n") and start.stat().st_mode & 0o777 == 0o600
        before = b"alias ll='ls -l'\n# " + b"x" * 4060
        start.write_bytes(before)
        with suppress(OSError), (disk / "filler").open("wb") as filler:
            while True:
                filler.write(bytes(4096))
                filler.flush()
        outcome = dialgauge(capsys, "--install-completion", "bash")
        assert outcome.code == 2 and outcome.err.endswith(": it cannot be written (the disk is full)\n")
        assert start.read_bytes() == before


def test_an_unknown_shell_is_one_sentence(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    outcome = dialgauge(capsys, "--install-completion")
    assert (outcome.code, "'tcsh' is not supported; name one of bash, zsh, fish" in outcome.err) == (2, True)


#: What is typed, and what stands there after the Tab key; in every shell the same.
_TYPED = [
    ("dialgauge sco", "dialgauge score "),
    ("dialgauge lab st", "dialgauge lab study "),
    ("true; dialgauge lab st", "true; dialgauge lab study "),
    ("dialgauge score --fail-on", "dialgauge score --fail-on-drop "),
    ("dialgauge score --engine p", "dialgauge score --engine pool "),
    ("dialgauge score --engine=p", "dialgauge score --engine=pool "),
    ("dialgauge users find --end ", "dialgauge users find --end "),
    ("dialgauge score --fail-under JG", "dialgauge score --fail-under JGA="),
    ("dialgauge score --fail-under=JG", "dialgauge score --fail-under=JGA="),
    ("dialgauge score --fail-under JGA=0.5 --engine p", "dialgauge score --fail-under JGA=0.5 --engine pool "),
    ("dialgauge score -m FGA@0.5,RS", "dialgauge score -m FGA@0.5,RSA "),
    ("dialgauge score --measures=FGA@0.5,RS", "dialgauge score --measures=FGA@0.5,RSA "),
    ("dialgauge score -m 'F1(average=slot),RS", "dialgauge score -m 'F1(average=slot),RSA' "),
    ('dialgauge score -m "F1(average=slot),RS', 'dialgauge score -m "F1(average=slot),RSA" '),
    ("dialgauge score -m F1\\(average=slot\\),RS", "dialgauge score -m F1\\(average=slot\\),RSA "),
    ("dialgauge users find --cause use", "dialgauge users find --cause user\\ "),
    ("dialgauge users find --cause user\\ N", "dialgauge users find --cause user\\ NLU "),
    ("dialgauge users find --cause=user\\ N", "dialgauge users find --cause=user\\ NLU "),
    ("dialgauge users find --cause 'user N", "dialgauge users find --cause 'user NLU' "),
    ('dialgauge users find --cause "user NLU" --verd', 'dialgauge users find --cause "user NLU" --verdict '),
    ("dialgauge score gold", "dialgauge score gold\\ file.json "),
    ("dialgauge score 'gold", "dialgauge score 'gold file.json' "),
    ("dialgauge score it", "dialgauge score it\\'s.json "),
    ("dialgauge score sub/", "dialgauge score sub/x.json "),
    ("dialgauge score --json gold", "dialgauge score --json gold\\ file.json "),
    ("dialgauge score --json=gold", "dialgauge score --json=gold\\ file.json "),
]


@pytest.mark.parametrize("shell", ["bash", soak("zsh"), soak("fish")])
def test_a_shell_completes_after_the_installation(shell: str, tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    for name in ("gold file.json", "it's.json", "sub/x.json"):
        (folder / name).touch()
    environment = _of_a_new_user(home)
    subprocess.run(["dialgauge", "--install-completion", shell], env=environment, check=True, capture_output=True)
    with ShellAtTerminal(shell, home, folder, environment) as opened:
        assert [(typed, opened.after_tab(typed)) for typed, _ in some(_TYPED)] == some(_TYPED)


def test_zsh_completes_from_a_folder_of_functions(tmp_path: Path, capsys: Capture) -> None:
    functions = tmp_path / "functions"
    functions.mkdir()
    (functions / "_dialgauge").write_text(dialgauge(capsys, "--show-completion", "zsh").out)
    (tmp_path / ".zshrc").write_text(f"fpath+=('{functions}'); autoload -Uz compinit && compinit -u\n")
    with ShellAtTerminal("zsh", tmp_path, tmp_path, _of_a_new_user(tmp_path)) as opened:
        assert opened.after_tab("dialgauge lab st") == "dialgauge lab study "


def test_zsh_reads_its_start_file_where_zdotdir_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ZDOTDIR", str(tmp_path / "dots"))
    assert dialgauge(capsys, "--install-completion", "zsh").code == 0
    assert (tmp_path / "dots" / ".zshrc").exists() and not (tmp_path / ".zshrc").exists()


def _of_a_new_user(home: Path) -> dict[str, str]:
    tools = Path(sys.executable).parent
    if not (tools / "dialgauge").exists():
        pytest.skip("dialgauge is not installed beside python")
    home.mkdir(exist_ok=True)
    hidden = {"XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR", "DIALGAUGE_RUNS"}
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    return {**kept, "HOME": str(home), "PATH": f"{tools}:{os.environ['PATH']}"}
