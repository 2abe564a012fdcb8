"""The program on click: values, help pages, completion, and what a new command takes."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import click
import pytest

from dialgauge.cli import COMMANDS, app as application
from dialgauge.cli.app import commands_of
from dialgauge.cli.options import Advanced, InputPath, Real, Whole, bundle, option, options
from support.commands import dialgauge

Capture = pytest.CaptureFixture[str]
EVERY = {name: command for word in COMMANDS for name, command in commands_of(word).items()}


def completions(monkeypatch: pytest.MonkeyPatch, capsys: Capture, *words: str) -> list[str]:
    """What bash would offer for the last of the words."""
    monkeypatch.setenv("_DIALGAUGE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(["dialgauge", *words[:-1], words[-1]]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    outcome = dialgauge(capsys)
    assert outcome.code == 0, outcome.err
    return [line.partition(",")[2] for line in outcome.out.splitlines()]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["rev"], ["review"]),
        (["lab", "st"], ["study"]),
        (["lab", "run", "--level", ""], ["act", "text"]),
        (["score", "-m", "JGA,RS"], ["JGA,RSA"]),
        (["score", "--fail-under", "JG"], ["JGA="]),
        (["data", "convert", "--to", "nat"], ["native"]),
        (["lab", "run", "--system", "rule-s"], ["rule-system"]),
        (["data", "get", "gc"], ["gcdf1"]),
    ],
)
def test_words_are_completed(
    words: list[str], found: list[str], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert completions(monkeypatch, capsys, *words) == found


@pytest.mark.parametrize("name", EVERY)
def test_no_name_stands_for_two_things(name: str) -> None:
    parameters = EVERY[name].params
    names = [each for one in parameters if isinstance(one, click.Option) for each in one.opts]
    assert len(set(names)) == len(names) and not {"-h", "--help", "--debug", "--no-project-file"} & {*names}
    assert len({one.name for one in parameters}) == len(parameters)


@pytest.mark.parametrize("name", EVERY)
def test_every_number_and_every_file_is_checked(name: str) -> None:
    """Plain numbers of click's would take NaN and 10^400; plain paths an empty name."""
    for one in EVERY[name].params:
        assert not isinstance(one.type, click.types.IntParamType | click.types.FloatParamType) or isinstance(
            one.type, Whole | Real
        ), one.name
        assert not isinstance(one.type, click.Path), one.name


@options
class Looks:
    """A bundle."""

    flat: bool = option("-w", "--flat", is_flag=True, help="Flat.")
    names: tuple[str, ...] = option("--name", multiple=True, help="Names.")
    half: float = option("--half", type=Real(0), default=0.5, cls=Advanced, help="Half.")


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new command: a module, and a line in COMMANDS."""

    @application.command("probe")
    @click.argument("files", nargs=-1, required=True, type=InputPath())
    @click.option("-n", "--number", type=Whole(1, 9), default=1, help="A number.")
    @bundle(looks=Looks)
    def app(files: tuple[Path, ...], number: int, looks: Looks) -> int:
        """Print what was given."""
        click.echo(f"{[str(file) for file in files]} {number} {looks.flat} {looks.names} {looks.half}")
        return 1 if number == 9 else 0

    module = ModuleType("dialgauge.cli.probe")
    module.__dict__["probe"] = app
    monkeypatch.setitem(sys.modules, "dialgauge.cli.probe", module)
    monkeypatch.setitem(COMMANDS, "probe", "a probe")


@pytest.mark.usefixtures("probe")
@pytest.mark.parametrize(
    "words",
    [
        [], ["a", "--nonsense"], ["a", "-Q"], ["a", "--number"], ["a", "--number", "x"], ["a", "--number", "10"],
        ["a", "--number", "1.5"], ["a", "--number=" + "9" * 5000], ["a", "--half", "nan"], ["a", "--half", "1e999"],
        ["a", "--flat=yes"], [""],
    ],
)  # fmt: skip
def test_a_wrong_call_is_one_sentence_and_exit_code_2(words: list[str], capsys: Capture) -> None:
    outcome = dialgauge(capsys, "probe", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("dialgauge: ") and outcome.err.count("\n") == 1


@pytest.mark.usefixtures("probe")
def test_a_new_command_has_a_page_an_exit_code_and_defaults(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = dialgauge(capsys, "probe", "-h").out
    assert page.startswith("Usage: dialgauge probe [OPTIONS] FILES...") and "a probe" in dialgauge(capsys).out
    assert page.index("--name") < page.index("Advanced:") < page.index("--half")
    (tmp_path / "dialgauge.toml").write_text('[probe]\nnumber = 9\nname = ["u", "v"]\n')
    outcome = dialgauge(capsys, "probe", "a", "--name", "typed")
    assert (outcome.code, outcome.out) == (1, "['a'] 9 False ('typed',) 0.5\n")
    assert "sets --number=9 (" in outcome.err
