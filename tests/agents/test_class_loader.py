"""Agents from classes of the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.agents import make_agent
from dialgauge.errors import DialgaugeError

CODE = """
from helper import WORD

class Parrot:
    def __init__(self, word: str = WORD):
        self.word = word
    def start(self, context): ...
    def respond(self, turn): ...

class Mute:
    name = "mute"

NUMBER = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text("WORD = 'hello'\n")
    path = tmp_path / "my_agent.py"
    path.write_text(CODE)
    return path


def test_a_class_of_a_file(file: Path) -> None:
    agent = make_agent(f"{file}:Parrot", {"word": "hi"})
    assert (agent.name, getattr(agent, "word", "")) == ("Parrot", "hi")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("FILE:Parot", "there is no 'Parot' in FILE. Did you mean 'Parrot'"),
        ("FILE:NUMBER", "is int, neither a class nor a function"),
        ("FILE:Mute", "is not an agent"),
        ("nowhere.py:X", "there is no such file with an agent"),
        ("no.such.module:X", "there is no module 'no'"),
        ("what is this:X", "neither a module nor a file that ends in .py"),
        (":X", "write module:Class or file.py:Class"),
    ],
)
def test_mistakes_are_told(file: Path, name: str, sentence: str) -> None:
    with pytest.raises(DialgaugeError) as error:
        make_agent(name.replace("FILE", str(file)))
    assert sentence.replace("FILE", str(file)) in str(error.value)
