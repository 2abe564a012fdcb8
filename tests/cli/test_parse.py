"""The quick parser beside typer: what it accepts means the same, and what it is not sure of is left to typer."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from functools import cache, partial, wraps
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.exceptions import TyperException

from dialgauge.cli import COMMANDS
from dialgauge.cli.options import Argument, CommandGroup, Option, application
from dialgauge.cli.parse import command_parameters, quick_call, typer_command
from dialgauge.errors import DialgaugeError
from support.commands import dialgauge
from support.soak import examples

Given = dict[str, Any]
GROUPS = {name: importlib.import_module(f"dialgauge.cli.{name}").app for name in COMMANDS}
WORDS = [
    (name, command, function) for name, group in GROUPS.items() for command, function in group.commands.items()
]  # fmt: skip
PARAMETERS = {(name, command): command_parameters(function) for name, command, function in WORDS}


@pytest.fixture(scope="module", autouse=True)
def nothing_is_written() -> Iterator[None]:
    """The names of files here are made up: whether they could be written is not looked at."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dialgauge.cli.parse.check_outputs", lambda command, given: None)
        yield


def quickly(group: CommandGroup, words: list[str]) -> Given | None:
    """All keyword arguments of the call that the quick parser makes of the words."""
    call = quick_call(group, words)
    if call is None:
        return None
    assert isinstance(call, partial)
    bound = inspect.signature(call.func).bind(**call.keywords)
    bound.apply_defaults()
    return bound.arguments


@cache
def recording(group: CommandGroup) -> Any:
    """Typer's commands, each of which only answers what it was given."""
    recorded = CommandGroup(group.help)
    for name, function in group.commands.items():
        recorded.command(name)(wraps(function)(lambda **given: given))
    return typer_command(recorded)


def by_typer(group: CommandGroup, words: list[str]) -> Given:
    command = recording(group)
    with command.make_context("probe", list(words)) as context:
        answer: Given = command.invoke(context)
    return answer


def texts(parameter: Any) -> st.SearchStrategy[str]:
    """Correct values of a parameter."""
    bounds = parameter.declaration.settings
    if get_origin(parameter.type) is Literal:
        return st.sampled_from(get_args(parameter.type))
    if parameter.type is int:
        return st.integers(bounds.get("min", 0), bounds.get("max", 10**12)).map(str)
    if parameter.type is float:
        high = bounds.get("max", 1e6)
        if bounds.get("exclusive"):
            return st.floats(0.001, 0.999).map(lambda number: f"{number * high:.6f}")
        return st.floats(0, high).map(lambda number: f"{number:.6f}") | st.sampled_from(["0", "001", "1"])
    word = st.text(st.characters(exclude_categories=["Cs", "Cc"]))
    return st.sampled_from(["-", "a b.json", "ü", "*.json", "x=y"]) | word.filter(lambda text: text[:1] != "-")


@st.composite
def spelled(draw: st.DrawFn, parameter: Any) -> list[str]:
    """One use of an option."""
    name = draw(st.sampled_from(parameter.options))
    if parameter.type is bool:
        return [name]
    value = draw(texts(parameter))
    return [f"{name}={value}"] if name.startswith("--") and draw(st.booleans()) else [name, value]


@st.composite
def correct_calls(draw: st.DrawFn) -> tuple[CommandGroup, list[str]]:
    """A command of the program with correct words after it, in any order."""
    name, command, _ = draw(st.sampled_from(WORDS))
    pieces: list[list[str]] = []
    for parameter in PARAMETERS[name, command]:
        least, most = int(parameter.required), 3 if parameter.many else 1
        if isinstance(parameter.declaration, Argument):
            pieces += [
                [text] for text in draw(st.lists(texts(parameter), min_size=most if least else 0, max_size=most))
            ]
        else:
            most = draw(st.sampled_from([least, least, most]))
            pieces += draw(st.lists(spelled(parameter), min_size=least, max_size=most))
    words = [word for piece in draw(st.permutations(pieces)) for word in piece]
    return GROUPS[name], words if len(GROUPS[name].commands) == 1 else [command, *words]


@settings(max_examples=examples(300), deadline=None)
@given(correct_calls())
def test_correct_calls_mean_the_same_both_ways(call: tuple[CommandGroup, list[str]]) -> None:
    quick = quickly(*call)
    assert quick is not None
    assert quick == by_typer(*call)


NOISE = ["--help", "--", "-", "-x", "--seed", "--seed=", "--no-such", "", "-1", "-mJGA", "-yy"]
NOISE += ["1e3", "nan", "٣", "1_0", " 1", "+1", "\udc80"]


@settings(max_examples=examples(300), deadline=None)
@given(correct_calls(), st.data())
def test_whatever_the_quick_parser_accepts_typer_accepts_too(
    call: tuple[CommandGroup, list[str]], data: st.DataObject
) -> None:
    group, words = call
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.integers(0, len(words)))
        words[place : place + data.draw(st.integers(0, 1))] = data.draw(st.lists(st.sampled_from(NOISE), max_size=1))
    quick = quickly(group, words)
    if quick is not None:
        assert quick == by_typer(group, words)


def probe(
    files: Annotated[list[str], Argument(metavar="FILE...")],
    number: Annotated[int | None, Option("--number", "-n", min=1, max=9)] = None,
    names: Annotated[list[str] | None, Option("--name")] = None,
    wide: Annotated[bool, Option("--wide", "-w")] = False,
    half: Annotated[float, Option()] = 0.5,
) -> None:
    """A probe."""


def set_from_outside(secret: Annotated[str, Option(envvar="PROBE_SECRET")] = "") -> None:
    """A setting that only typer knows."""


GROUP = application("Probes.")
GROUP.command()(probe)
GROUP.command()(set_from_outside)
ALONE = application("A probe.")
ALONE.command()(probe)


@pytest.mark.parametrize("group", [ALONE, GROUP])
def test_words_become_keyword_arguments(group: CommandGroup) -> None:
    words = ["a", "-n", "3", "--half=2", "b", "--name", "x", "--name=y=z", "-w", "-"]
    assert quickly(group, words if group is ALONE else ["probe", *words]) == {
        "files": ["a", "b", "-"], "number": 3, "names": ["x", "y=z"], "wide": True, "half": 2.0
    }  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--help"],
        ["a", "--help"],
        ["a", "--unknown"],
        ["a", "--number"],
        ["a", "--number", "x"],
        ["a", "--number", "10"],
        ["a", "--number", "-1"],
        ["a", "--number="],
        ["a", "-n=3"],
        ["a", "-n3"],
        ["a", "--wide=yes"],
        ["a", "--half", "1e3"],
        ["a", "--", "b"],
    ],
)
def test_unclear_words_are_left_to_typer(words: list[str]) -> None:
    assert quick_call(ALONE, words) is None
    assert quick_call(GROUP, ["probe", *words]) is None


def test_unclear_commands_are_left_to_typer() -> None:
    assert quick_call(GROUP, []) is None
    assert quick_call(GROUP, ["--help"]) is None
    assert quick_call(GROUP, ["-h"]) is None
    assert quick_call(GROUP, ["prob"]) is None
    assert quick_call(GROUP, ["set-from-outside"]) is None
    assert by_typer(GROUP, ["set-from-outside", "--secret", "x"]) == {"secret": "x"}


def test_a_wrong_call_is_refused() -> None:
    with pytest.raises(TyperException):
        by_typer(ALONE, ["a", "--number", "x"])
    with pytest.raises(DialgaugeError, match=r"^--number must be ≤ 9 \(got 10\)$"):
        by_typer(ALONE, ["a", "--number", "10"])


@pytest.mark.parametrize(
    "words",
    [
        ["babi", "simulate", "--out", "made", "--seed", "9" * 23],
        ["users", "find", "talks", "--limit", "9" * 23],
        ["lab", "run", "--seconds", "1e309"],
    ],
)
def test_a_number_beyond_all_counts_is_refused(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    outcome = dialgauge(capsys, *words)
    assert outcome.code == 2
    assert f"must be below 2^53 (got {words[-1].replace('1e309', 'inf')})" in outcome.err
