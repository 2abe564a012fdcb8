"""Options that were renamed: the new ones exist, the old ones are gone and say so."""

from __future__ import annotations

import importlib

import pytest

from dialgauge.cli.options import Option
from dialgauge.cli.parse import command_parameters
from dialgauge.cli.renamed import RENAMED
from support.commands import dialgauge

Capture = pytest.CaptureFixture[str]


def options_of(command: str) -> set[str]:
    name, *inner = command.split()
    commands = importlib.import_module(f"dialgauge.cli.{name}").app.commands
    function = commands[inner[0]] if inner else next(iter(commands.values()))
    parameters = command_parameters(function)
    return {option for one in parameters if isinstance(one.declaration, Option) for option in one.options}


@pytest.mark.parametrize(("command", "option"), RENAMED)
def test_an_old_option_names_the_new_one(command: str, option: str, capsys: Capture) -> None:
    known = options_of(command)
    assert option not in known
    sentence = RENAMED[command, option]
    outcome = dialgauge(capsys, *command.split(), option, "x")
    assert outcome.code == 2
    assert outcome.err == f"dialgauge: 'dialgauge {command}' has no option {option}: {sentence}\n"
    assert isinstance(sentence, str) or f"--{sentence.name}" in known
