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


def test_a_class_of_a_module() -> None:
    assert make_agent("dialgauge.agents.stand_ins:Silent").name == "silent"


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


@pytest.mark.parametrize(
    ("code", "sentence"),
    [("def x(:", "is not valid Python"), ("import nothing_here", "there is no module"), ("1 / 0", "ZeroDivisionError"),
     ("raise SystemExit(3)", "SystemExit")],
)  # fmt: skip
def test_files_that_cannot_be_loaded(tmp_path: Path, code: str, sentence: str) -> None:
    (tmp_path / "broken.py").write_text(code)
    with pytest.raises(DialgaugeError, match=sentence):
        make_agent(f"{tmp_path / 'broken.py'}:X")
