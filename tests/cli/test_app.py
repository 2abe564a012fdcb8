"""The program on click: values, help pages, completion, and what a new command takes."""

from __future__ import annotations

import click
import pytest

from dialgauge.cli import COMMANDS
from dialgauge.cli.app import commands_of
from dialgauge.cli.options import Real, Whole
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
