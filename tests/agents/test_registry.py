"""Agents by name: ours, and those that really installed packages bring."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.agents import BUILT_IN, agent_names, make_agent
from dialgauge.errors import DialgaugeError
from support.packages import install, on_the_path

OPTIONS = {
    "http": {"url": "http://127.0.0.1:1"},
    "llm-system": {"endpoint": "http://127.0.0.1:1", "model": "m"},
    "llm-user": {"endpoint": "http://127.0.0.1:1", "model": "m"},
    "corpus-user": {"corpus": "test.json"},
    "corpus-system": {"corpus": "test.json"},
}


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_ours_are_made_by_name(name: str) -> None:
    assert make_agent(name, OPTIONS.get(name)).name == name


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("rulez", {}, "there is no agent named 'rulez'. Did you mean 'rules'"),
        ("rules", {"wrold": "x"}, "there is no setting 'wrold' of rules. Did you mean 'world'"),
        ("http", {}, "the agent http needs the setting url; give it with --set url=…"),
        ("http", {"url": "http://a", "timeout": "soon"}, "the setting timeout of http must be a number (got 'soon')"),
    ],
)
def test_mistakes(name: str, options: dict[str, str], sentence: str) -> None:
    with pytest.raises(DialgaugeError) as error:
        make_agent(name, options)
    assert sentence in str(error.value)


PARROT = """
class Parrot:
    name = "parrot"

    def __init__(self, word="hello"):
        self.word = word

    def start(self, context): ...
    def respond(self, turn): ...

class Mute:
    name = "mute"

def fails():
    raise ValueError("not today")

NUMBER = 3
"""


ENTRIES = """
[dialgauge.agents]
parrot = acme:Parrot
mute = acme:Mute
fails = acme:fails
number = acme:NUMBER
rules = acme:Parrot
"""


def test_agents_of_other_packages(tmp_path: Path) -> None:
    install(tmp_path, "acme", PARROT, ENTRIES)
    with on_the_path(tmp_path):
        assert set(agent_names()) == {*BUILT_IN, "parrot", "mute", "fails", "number"}
        assert make_agent("parrot", {"word": "hi"}).word == "hi"  # type: ignore[attr-defined]
        assert type(make_agent("rules")).__name__ == "RuleAgent"
        for name, sentence in (
            ("mute", r"'mute' is not an agent: Mute lacks name, start\(context\) or respond\(turn\)"),
            ("fails", "the agent fails cannot be made: ValueError: not today"),
            ("number", "the agent 'number' of the package acme .* cannot be used: a Callable is expected"),
        ):
            with pytest.raises(DialgaugeError, match=sentence):
                make_agent(name)
