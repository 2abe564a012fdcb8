"""The parser: what the words of a call mean, in every spelling, and what is said of those that mean nothing."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin

import pytest
from hypothesis import given, settings, strategies as st
from msgspec import Struct

from dialgauge.cli import (
    COMMANDS,
    Argument,
    CommandParameter,
    Option,
    changed_options,
    check_together,
    command_parameters,
    given_values,
    keyword_arguments,
    read_words,
)
from dialgauge.errors import DialgaugeError
from support.commands import dialgauge
from support.soak import examples

GROUPS = {name: importlib.import_module(f"dialgauge.cli.{name}").app for name in COMMANDS}
EVERY = [(f"{name} {command}", one) for name, group in GROUPS.items() for command, one in group.commands.items()]


def parsed(command: Any, words: Sequence[str]) -> dict[str, Any]:
    return keyword_arguments(command, values_of(command, words))


def values_of(command: Any, words: Sequence[str]) -> dict[str, Any]:
    return given_values("dialgauge probe", command, read_words("dialgauge probe", command, words))


def texts(parameter: CommandParameter) -> st.SearchStrategy[str]:
    """Correct values of a parameter."""
    bounds = parameter.declaration.settings
    if get_origin(parameter.type) is Literal:
        return st.sampled_from(get_args(parameter.type))
    if parameter.type is int:
        return st.integers(int(bounds.get("min", 0)), int(bounds.get("max", 10**12))).map(str)
    if parameter.type is float:
        high = bounds.get("max", 1e6)
        if bounds.get("exclusive"):
            return st.floats(0.001, 0.999).map(lambda number: f"{number * high:.6f}")
        return st.floats(0, high).map(lambda number: f"{number:.6f}") | st.sampled_from(["0", "001", "1"])
    word = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)
    return st.sampled_from(["-", "a b.json", "ü", "*.json", "x=y", "-x", "--json", "--"]) | word


def meant(parameter: CommandParameter, text: str) -> object:
    convert = parameter.type if parameter.type in (int, float, Path) else str
    return convert(text)


@st.composite
def correct_calls(draw: st.DrawFn) -> tuple[Any, list[str], list[tuple[CommandParameter, object]]]:
    """A command of the program, correct words after it in any order and spelling, and what they mean."""
    _, command = draw(st.sampled_from(EVERY))
    pieces: list[tuple[list[str], CommandParameter, object]] = []
    places: list[tuple[str, CommandParameter]] = []
    for parameter in command_parameters(command):
        needed = parameter.required or "unless" in parameter.declaration.settings
        count = draw(st.integers(1 if needed else 0, 3 if parameter.many else 1))
        for _ in range(count):
            text = draw(texts(parameter))
            if not parameter.is_option:
                places.append((text, parameter))
                continue
            name = draw(st.sampled_from(parameter.options))
            if parameter.type is bool:
                pieces.append(([name], parameter, True))
                continue
            joined = [f"{name}={text}", *([f"{name}{text}"] if not name.startswith("--") and text[0] != "=" else [])]
            words = draw(st.sampled_from([[name, text], *([one] for one in joined)]))
            pieces.append((words, parameter, meant(parameter, text)))
    ordered = draw(st.permutations(pieces))
    words = [word for piece in ordered for word in piece[0]]
    if places:
        words += ["--", *(text for text, _ in places)]
    values = [(parameter, value) for _, parameter, value in ordered]
    return command, words, values + [(parameter, meant(parameter, text)) for text, parameter in places]


@settings(max_examples=examples(300, 15), deadline=None)
@given(correct_calls())
def test_correct_calls_mean_what_was_typed(
    call: tuple[Any, list[str], list[tuple[CommandParameter, object]]],
) -> None:
    command, words, values = call
    expected: dict[str, Any] = {}
    for parameter, value in values:
        expected[parameter.name] = [*expected.get(parameter.name, []), value] if parameter.many else value
    assert values_of(command, words) == expected


NOISE = ["--help", "--", "-", "-x", "--seed", "--seed=", "--no-such", "", "-1", "-mJGA", "-yy"]
NOISE += ["1e3", "nan", "٣", "1_0", " 1", "+1", "\udc80", "9" * 5000, "\0"]


@settings(max_examples=examples(300), deadline=None)
@given(correct_calls(), st.data())
def test_any_words_are_a_call_or_one_sentence(call: tuple[Any, list[str], Any], data: st.DataObject) -> None:
    command, words, _ = call
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(words)))
        words[place : place + data.draw(st.integers(0, 1))] = data.draw(st.lists(st.sampled_from(NOISE), max_size=1))
    try:
        values_of(command, words)
    except DialgaugeError as error:
        assert "\n" not in str(error)


class Looks(Struct, frozen=True):
    """A bundle."""

    wide: Annotated[bool, Option("--wide", "-w")] = False
    tint: Annotated[Literal["red", "blue"], Option()] = "red"


def probe(
    files: Annotated[list[str], Argument(metavar="FILE...")],
    looks: Looks,
    number: Annotated[int | None, Option("--number", "-n", min=1, max=9)] = None,
    names: Annotated[list[str] | None, Option("--name")] = None,
    bold: Annotated[bool, Option("--bold", "-b")] = False,
    half: Annotated[float, Option()] = 0.5,
) -> None:
    """A probe."""


def copy(source: Annotated[str, Argument()], target: Annotated[Path, Option()]) -> None:
    """Another one."""


@pytest.mark.parametrize(
    "words",
    [
        ["a", "-n", "3", "--half=2", "b", "--name", "x", "--name=y=z", "-w", "-b", "-"],
        ["-bw", "a", "-n3", "--half", "2", "b", "--name=x", "--name", "y=z", "-"],
        ["-wbn=3", "--half=+2e0", "--name", "x", "--name", "y=z", "--", "a", "b", "-"],
        ["--number", "5", "--half", " 2", "a", "b", "--number=3", "--name", "x", "--wide", "-", "--name=y=z", "--bold"],
    ],
)
def test_words_become_arguments_and_bundles(words: list[str]) -> None:
    assert parsed(probe, words) == {
        "files": ["a", "b", "-"], "number": 3, "names": ["x", "y=z"], "bold": True, "half": 2.0, "looks": Looks(True)
    }  # fmt: skip


def test_a_value_may_look_like_an_option() -> None:
    assert parsed(probe, ["a", "--name", "--wide", "--name", "-1", "--", "--bold"]) == {
        "files": ["a", "--bold"], "names": ["--wide", "-1"], "looks": Looks()
    }  # fmt: skip


SEE = r" \('dialgauge probe --help' shows how to call it\)"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], f"FILE... is missing{SEE}"),
        (["a", "--unknown"], r"unknown option --unknown \('dialgauge probe --help' lists the options\)"),
        (["a", "--numbr", "3"], r"unknown option --numbr. Did you mean --number\?"),
        (["a", "--na=x"], r"unknown option --na. Did you mean --name\?"),
        (["a", "-wx"], r"unknown option -x \('dialgauge probe --help' lists the options\)"),
        (["a", "--number"], "--number needs a value: --number N"),
        (["a", "-wn"], "-n needs a value: -n N"),
        (["a", "--number", "x"], r"--number must be a whole number \(got 'x'\)"),
        (["a", "--number", "1.5"], r"--number must be a whole number \(got '1.5'\)"),
        (["a", "--number="], r"--number must be a whole number \(got ''\)"),
        (["a", "--number", "10"], r"--number must be ≤ 9 \(got 10\)"),
        (["a", "--number", "-1"], r"--number must be ≥ 1 \(got -1\)"),
        (["a", "--half", "nan"], r"--half must be a number \(got nan\)"),
        (["a", "--wide=yes"], "--wide takes no value"),
        (["a", "--tint", "green"], r"--tint must be one of red, blue \(got 'green'\)"),
    ],
)
def test_a_wrong_call_is_one_sentence(words: list[str], sentence: str) -> None:
    with pytest.raises(DialgaugeError, match=f"^{sentence}$"):
        parsed(probe, words)


def test_what_is_missing_empty_or_too_much_is_named() -> None:
    with pytest.raises(DialgaugeError, match=f"^SOURCE is missing{SEE}$"):
        parsed(copy, ["--target", "x"])
    with pytest.raises(DialgaugeError, match=f"^--target FILE is missing{SEE}$"):
        parsed(copy, ["x"])
    with pytest.raises(DialgaugeError, match=r"^--target must name a file \(got ''\)$"):
        parsed(copy, ["x", "--target="])
    with pytest.raises(DialgaugeError, match=f"^unexpected argument 'y z'{SEE}$"):
        parsed(copy, ["x", "y", "z", "--target", "t"])


def test_help_is_wanted_wherever_it_stands() -> None:
    assert read_words("", probe, ["--help"]).help
    assert read_words("", probe, ["a", "-wh"]).help
    assert not read_words("", probe, ["--", "--help"]).help
    assert not read_words("", probe, ["--name", "--help"]).help


class Views(Struct, frozen=True):
    """Options that none goes with ``--fast``."""

    not_with: ClassVar = ("--fast",)
    worst: Annotated[int, Option("--worst")] = 0
    by_slot: Annotated[bool, Option()] = False


def either(
    file: Annotated[str | None, Argument(unless=("--from", "--world"))] = None,
    stored: Annotated[str | None, Option("--from", metavar="RUN")] = None,
) -> None:
    """A file, or an option in its place."""


def test_what_must_be_given_in_the_absence_of_another_is_asked_for() -> None:
    with pytest.raises(DialgaugeError, match=f"^FILE or --from RUN is missing{SEE}$"):
        parsed(either, [])
    with pytest.raises(DialgaugeError, match=r"^FILE and --from exclude each other"):
        check_together(either, read_words("", either, ["x", "--from", "y"]))
    assert parsed(either, ["x"]) | parsed(either, ["--from", "y"]) == {"file": "x", "stored": "y"}


def test_changed_options_are_those_that_are_not_at_their_defaults() -> None:
    assert changed_options(Views(), seed=0) == []
    assert changed_options(Views(worst=2, by_slot=True), rating_sheets="x") == [
        "--worst",
        "--by-slot",
        "--rating-sheets",
    ]


def exclusive(
    files: Annotated[list[str] | None, Argument(metavar="[FILE...]", not_with=("--from",))] = None,
    stored: Annotated[str | None, Option("--from", "-f", alone="--from shows what is stored")] = None,
    seed: Annotated[int, Option("--seed", "-s", not_with=("--from", "--elsewhere"))] = 0,
    fast: Annotated[bool, Option("--fast", not_with=("--seed",))] = False,
    rate: Annotated[float, Option("--rate", needs="--seed")] = 0.5,
    *,
    views: Views,
) -> None:
    """Options that do not go together."""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["x", "-f", "run", "-s3"], "--from shows what is stored; leave out FILE, --seed"),
        (["--fast", "--seed=0"], "--fast and --seed exclude each other; leave one out"),
        (["--rate", "1"], "--rate needs --seed N"),
        (["--fast", "--by-slot"], "--by-slot and --fast exclude each other; leave one out"),
    ],
)
def test_options_that_do_not_go_together_are_refused(words: list[str], sentence: str) -> None:
    with pytest.raises(DialgaugeError, match=f"^{sentence}$"):
        check_together(exclusive, read_words("", exclusive, words))


def test_options_that_go_together_are_not() -> None:
    for words in (["x", "--fast"], ["--from", "run", "--fast"], ["-s3", "--rate=1", "x"]):
        check_together(exclusive, read_words("", exclusive, words))


def test_what_is_excluded_or_needed_is_an_option() -> None:
    everywhere = {option for _, one in EVERY for parameter in command_parameters(one) for option in parameter.options}
    for _, command in EVERY:
        own = {option for parameter in command_parameters(command) for option in parameter.options}
        for parameter in command_parameters(command):
            assert set(parameter.not_with) <= everywhere
            assert parameter.declaration.settings.get("needs") in {None, *own}


@pytest.mark.parametrize(("name", "command"), EVERY)
def test_no_name_stands_for_two_things(name: str, command: Any) -> None:
    parameters = command_parameters(command)
    options = [option for one in parameters if one.is_option for option in one.options]
    assert len(set(options)) == len(options)
    assert len({one.name for one in parameters}) == len(parameters)
    places = [one for one in parameters if not one.is_option]
    assert not any(one.many for one in places[:-1])


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
